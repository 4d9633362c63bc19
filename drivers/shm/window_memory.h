// SPDX-License-Identifier: Apache-2.0
// Memory of a client's window, which the daemon maps from the client's descriptor
// (docs/memory.md, "Windows that the lcore serves").
#ifndef SUEDE_SHM_WINDOW_MEMORY_H_
#define SUEDE_SHM_WINDOW_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "shm/sigbus.h"

namespace suede {

// Mapped, and registered with the SIGBUS guard for its whole life: pages that the client makes
// vanish harm no lcore.
class WindowMemory {
 public:
  struct Part {
    int fd = -1;          // of the client; the caller closes it
    uint64_t offset = 0;  // a multiple of the page size of what it names
    uint64_t bytes = 0;   // at least 1
    bool is_writable = false;
  };
  // Takes a memfd that cannot shrink, or a file on hugetlbfs; refuses all else. Asks no file system
  // that a user's program serves.
  static absl::StatusOr<std::unique_ptr<WindowMemory>> Map(const Part& part);
  ~WindowMemory();
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;

  uint8_t* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }  // mapped: whole pages
  uint64_t page_bytes() const { return page_bytes_; }

  // Faults further pages in, so that no lcore has to: about `bytes` at a time. True once all are
  // there. An error where there is no memory for them.
  absl::StatusOr<bool> Populate(uint64_t bytes);

  // Whether a page has vanished. Any thread.
  bool broken() const { return SigbusGuard::IsBroken(guard_); }
  // The NUMA node of the first page; -1: not known.
  int NumaNode() const;

 private:
  WindowMemory(uint8_t* base, uint64_t bytes, uint64_t page_bytes, bool is_writable)
      : base_(base), bytes_(bytes), page_bytes_(page_bytes), is_writable_(is_writable) {}

  uint8_t* const base_;
  const uint64_t bytes_;
  const uint64_t page_bytes_;
  const bool is_writable_;
  uint64_t populated_ = 0;
  int guard_ = -1;
};

}  // namespace suede

#endif  // SUEDE_SHM_WINDOW_MEMORY_H_
