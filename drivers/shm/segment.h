// SPDX-License-Identifier: Apache-2.0
// The memory of a client's segment in the daemon.
#ifndef SUEDE_SHM_SEGMENT_H_
#define SUEDE_SHM_SEGMENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/segment.h"
#include "local/sigbus.h"

namespace suede {

enum class HugePages : uint8_t {
  kNever,
  kAuto,    // if hugepages are free
  kAlways,  // fails if too few are free
};

// A memfd of fixed size, mapped for its whole life. A client with its descriptor can punch holes
// until it has sealed the memfd. A thread that accesses it meanwhile may block in the kernel, so no
// thread does before CheckSealed and Prepare.
class Segment {
 public:
  // Allocates all pages. `numa_node` -1: any.
  static absl::StatusOr<std::unique_ptr<Segment>> Create(const SegmentShape& shape, int numa_node,
                                                         HugePages huge_pages);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // Rejects a segment whose pages the client can remove, or has removed. Does not block.
  absl::Status CheckSealed() const;
  // Maps all pages, so that lcores take no page faults, and formats the segment. To be called once.
  absl::Status Prepare();

  void* base() const { return base_; }
  const SegmentShape& shape() const { return shape_; }
  const SegmentOffsets& offsets() const { return offsets_; }
  // Returns the bytes of the memfd: at least offsets().bytes.
  uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_; }
  bool is_huge() const { return is_huge_; }

  // Whether a page has failed. Any thread.
  bool broken() const { return SigbusGuard::IsBroken(guard_); }

 private:
  Segment(const SegmentShape& shape, int fd, void* base, uint64_t bytes, bool is_huge)
      : shape_(shape), offsets_(shape), fd_(fd), base_(base), bytes_(bytes), is_huge_(is_huge) {}

  const SegmentShape shape_;
  const SegmentOffsets offsets_;
  const int fd_;
  void* const base_;
  const uint64_t bytes_;
  const bool is_huge_;
  int guard_ = -1;
};

}  // namespace suede

#endif  // SUEDE_SHM_SEGMENT_H_
