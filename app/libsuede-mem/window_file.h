// SPDX-License-Identifier: Apache-2.0
// A memfd with windows that the lcore serves (docs/memory.md).
#ifndef SUEDE_LIBSUEDE_MEM_WINDOW_FILE_H_
#define SUEDE_LIBSUEDE_MEM_WINDOW_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>

namespace suede::mem {

// Mapped whole, because a sealed memfd cannot be mapped for writing again: all windows in it share
// the mapping. Under the target's lock.
class WindowFile {
 public:
  // Maps what `fd` names; with `is_read_only`, memory that cannot be written too. 0 or a negative
  // errno.
  static int Map(int fd, bool is_read_only, std::shared_ptr<WindowFile>* file);
  ~WindowFile();
  WindowFile(const WindowFile&) = delete;
  WindowFile& operator=(const WindowFile&) = delete;

  bool IsOf(int fd) const;
  int fd() const { return fd_; }  // own
  uint8_t* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  bool is_writable() const { return is_writable_; }

  // Moves to a new memfd where this one is sealed, so that a daemon that has not mapped it can: the
  // contents are copied, and all shared mappings of this process are replaced where they are. No
  // thread may access them meanwhile. 0 or a negative errno.
  int RenewIfSealed();

 private:
  WindowFile(int fd, uint64_t bytes, uint64_t page_bytes)
      : fd_(fd), bytes_(bytes), page_bytes_(page_bytes) {}
  int Copy(int to);
  int MoveMappings(int to);

  int fd_;
  const uint64_t bytes_;  // whole pages
  const uint64_t page_bytes_;
  uint8_t* base_ = nullptr;
  bool is_writable_ = false;
};

}  // namespace suede::mem

#endif  // SUEDE_LIBSUEDE_MEM_WINDOW_FILE_H_
