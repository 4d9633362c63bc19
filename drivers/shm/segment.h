// SPDX-License-Identifier: Apache-2.0
// The memory of a client's segment, as the daemon holds it.
#ifndef SUEDE_SHM_SEGMENT_H_
#define SUEDE_SHM_SEGMENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/segment.h"
#include "shm/sigbus.h"

namespace suede {

enum class HugePages : uint8_t {
  kNever,
  kAuto,    // where there are free ones
  kAlways,  // or fail
};

// A memfd that can neither grow nor shrink, mapped for its whole life. A client that has its
// descriptor can punch holes into it until it has sealed it. A thread that touches it meanwhile
// waits in the kernel, so none does before CheckSealed and Prepare.
class Segment {
 public:
  // Allocates all pages. `numa_node` -1: any.
  static absl::StatusOr<std::unique_ptr<Segment>> Create(const SegmentShape& shape, int numa_node,
                                                         HugePages huge_pages);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // Refuses a segment from which the client can take pages away, or has. Never waits.
  absl::Status CheckSealed() const;
  // Maps all pages, so that no lcore has to, and formats them. Once.
  absl::Status Prepare();

  void* base() const { return base_; }
  const SegmentShape& shape() const { return shape_; }
  const SegmentOffsets& offsets() const { return offsets_; }
  // Bytes of the memfd: at least offsets().bytes.
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
