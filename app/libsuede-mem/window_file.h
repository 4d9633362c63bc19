// SPDX-License-Identifier: Apache-2.0
// A memfd that contains windows served by the lcore (docs/memory.md).
#ifndef SUEDE_LIBSUEDE_MEM_WINDOW_FILE_H_
#define SUEDE_LIBSUEDE_MEM_WINDOW_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>

namespace suede::mem {

// Maps the whole file, shared by all of its windows, because a sealed memfd cannot be mapped for
// writing again. Requires the target's lock.
class WindowFile {
 public:
  // Maps the file of `fd`. `is_read_only`: falls back to a read-only mapping. Returns 0 or a
  // negative errno.
  static int Map(int fd, bool is_read_only, std::shared_ptr<WindowFile>* file);
  ~WindowFile();
  WindowFile(const WindowFile&) = delete;
  WindowFile& operator=(const WindowFile&) = delete;

  bool IsOf(int fd) const;
  int fd() const { return fd_; }  // duplicate, owned
  uint8_t* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  bool is_writable() const { return is_writable_; }

  // If the memfd is sealed, replaces it by a new one that another daemon can map: copies the
  // contents and replaces all shared mappings of this process in place. No thread may access them
  // meanwhile. Returns 0 or a negative errno.
  int RenewIfSealed();

 private:
  WindowFile(int fd, uint64_t bytes, uint64_t page_bytes)
      : fd_(fd), bytes_(bytes), page_bytes_(page_bytes) {}
  int Copy(int to);
  int MoveMappings(int to);

  int fd_;
  const uint64_t bytes_;  // multiple of the page size
  const uint64_t page_bytes_;
  uint8_t* base_ = nullptr;
  bool is_writable_ = false;
};

}  // namespace suede::mem

#endif  // SUEDE_LIBSUEDE_MEM_WINDOW_FILE_H_
