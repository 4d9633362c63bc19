// SPDX-License-Identifier: Apache-2.0
// Memory of a client's window, mapped by the daemon from the client's descriptor (docs/memory.md,
// "Windows that the lcore serves").
//
// A client may hold the lock of its memfd's inode indefinitely (by a write whose source never
// becomes available), so no call here takes that lock: none adds a seal, seeks, or allocates or
// frees by descriptor.
#ifndef SUEDE_SHM_WINDOW_MEMORY_H_
#define SUEDE_SHM_WINDOW_MEMORY_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "absl/status/statusor.h"
#include "local/fd.h"
#include "local/sigbus.h"

namespace suede {

// A client's memfd, mapped whole. Once it is sealed, it cannot be mapped for writing again, so all
// windows in it share the mapping. Owned by the control thread.
struct WindowFile {
  WindowFile(uint8_t* base, uint64_t bytes, uint64_t page_bytes, bool is_writable)
      : base(base), bytes(bytes), page_bytes(page_bytes), is_writable(is_writable) {}
  ~WindowFile();
  WindowFile(const WindowFile&) = delete;
  WindowFile& operator=(const WindowFile&) = delete;

  uint8_t* const base;
  const uint64_t bytes;  // whole pages
  const uint64_t page_bytes;
  const bool is_writable;
};

// Memory sealed so that no page can vanish, and registered with SigbusGuard for its whole life: a
// page that fails in hardware does not crash an lcore.
class WindowMemory {
 public:
  ~WindowMemory();
  WindowMemory(const WindowMemory&) = delete;
  WindowMemory& operator=(const WindowMemory&) = delete;

  uint8_t* base() const { return file_->base + offset_; }
  uint64_t bytes() const { return bytes_; }  // whole pages
  const std::shared_ptr<const WindowFile>& file() const { return file_; }

  // Maps further pages, which the client has allocated, so that lcores take no page faults: about
  // `bytes` per call. Returns true once all are mapped. Returns PERMISSION_DENIED if a page was
  // missing although the file's block count did not show it: the daemon has then allocated at most
  // kStepBytes, or one page.
  static constexpr uint64_t kStepBytes = 64u << 10;
  absl::StatusOr<bool> Populate(uint64_t bytes);

  // Whether a page has vanished. Any thread.
  bool broken() const { return SigbusGuard::IsBroken(guard_); }
  // Returns the NUMA node of the first page; -1: unknown.
  int NumaNode() const;

 private:
  friend class WindowFiles;
  struct Range {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  WindowMemory(std::shared_ptr<const WindowFile> file, Range range, int fd)
      : file_(std::move(file)), offset_(range.offset), bytes_(range.bytes), fd_(fd) {}

  const std::shared_ptr<const WindowFile> file_;
  const uint64_t offset_;
  const uint64_t bytes_;
  Fd fd_;  // until all pages are mapped
  int64_t blocks_ = -1;
  uint64_t populated_ = 0;
  int guard_ = -1;
};

class WindowFiles {
 public:
  struct Part {
    int fd = -1;          // of the client; the caller closes it
    uint64_t offset = 0;  // a multiple of the page size
    uint64_t bytes = 0;   // min 1
    bool is_writable = false;
    uid_t uid = 0;                      // of the client; only clients of one user share a mapping
    uint64_t max_bytes = ~uint64_t{0};  // max size of a file that is not mapped yet
  };
  // Maps a part of a sealed memfd that has all its pages; rejects any other descriptor.
  // FAILED_PRECONDITION: pages are missing, or the file is not sealed but mapped, as `*unsealed`.
  // The client is expected to mend that and to retry.
  absl::StatusOr<std::unique_ptr<WindowMemory>> Map(const Part& part,
                                                    std::shared_ptr<const WindowFile>* unsealed);
  // Returns the total bytes of all mapped files.
  uint64_t bytes() const;

 private:
  using Key = std::tuple<dev_t, ino_t, uid_t>;
  absl::StatusOr<std::shared_ptr<const WindowFile>> FileOf(const Part& part, int seals);

  std::map<Key, std::weak_ptr<const WindowFile>> files_;
};

}  // namespace suede

#endif  // SUEDE_SHM_WINDOW_MEMORY_H_
