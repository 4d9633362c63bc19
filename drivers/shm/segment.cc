// SPDX-License-Identifier: Apache-2.0
#include "shm/segment.h"

#include <fcntl.h>
#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace suede {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2u << 20;

#ifndef F_SEAL_FUTURE_WRITE
constexpr int F_SEAL_FUTURE_WRITE = 0x10;
#endif
#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

struct Mapping {
  int fd = -1;
  void* base = nullptr;
  uint64_t bytes = 0;
};

absl::Status Failed(const char* what, uint64_t bytes, const char* mend) {
  return absl::ResourceExhaustedError(absl::StrCat("client segment of ", bytes, " bytes: ", what,
                                                   ": ", std::strerror(errno), "; ", mend));
}

// Prefers memory on `node`; best effort, as a segment works on any.
void Place(const Mapping& mapping, int node) {
  if (node < 0 || numa_available() < 0 || node > numa_max_node()) return;
  bitmask* nodes = numa_allocate_nodemask();
  numa_bitmask_setbit(nodes, static_cast<unsigned>(node));
  mbind(mapping.base, mapping.bytes, MPOL_PREFERRED, nodes->maskp, nodes->size + 1, 0);
  numa_bitmask_free(nodes);
}

// Maps all pages, and allocates missing ones.
bool Populate(const Mapping& mapping, uint64_t page) {
  while (madvise(mapping.base, mapping.bytes, MADV_POPULATE_WRITE) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno != EINVAL) return false;
    for (uint64_t at = 0; at < mapping.bytes; at += page) {  // an older kernel
      static_cast<volatile uint8_t*>(mapping.base)[at] = 0;
    }
    break;
  }
  return true;
}

absl::StatusOr<Mapping> Map(uint64_t bytes, bool huge, int node) {
  const uint64_t page = huge ? kHugePage : kPage;
  Mapping mapping{.bytes = (bytes + page - 1) / page * page};
  mapping.fd = memfd_create("suede-client",
                            MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge ? unsigned{MFD_HUGETLB} : 0u));
  if (mapping.fd < 0) return Failed("memfd_create", bytes, "raise the open file limit");
  if (ftruncate(mapping.fd, static_cast<off_t>(mapping.bytes)) != 0 ||
      fcntl(mapping.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    const absl::Status status = Failed("sizing the memfd", bytes, "free some memory");
    close(mapping.fd);
    return status;
  }
  // mmap reserves hugepages: if too few are free, it fails instead of a later access.
  mapping.base = mmap(nullptr, mapping.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mapping.fd, 0);
  if (mapping.base == MAP_FAILED) {
    const absl::Status status =
        Failed("mmap", bytes, huge ? "reserve more 2 MB hugepages" : "free some memory");
    close(mapping.fd);
    return status;
  }
  Place(mapping, node);
  if (!huge) madvise(mapping.base, mapping.bytes, MADV_HUGEPAGE);
  if (!Populate(mapping, page)) {
    const absl::Status status = Failed("populating it", bytes, "free some memory");
    munmap(mapping.base, mapping.bytes);
    close(mapping.fd);
    return status;
  }
  // Unmaps the pages until Prepare, so that a hole punched by the client sends no TLB shootdown to
  // an lcore's CPU.
  madvise(mapping.base, mapping.bytes, MADV_DONTNEED);
  return mapping;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Segment>> Segment::Create(const SegmentShape& shape, int numa_node,
                                                         HugePages huge_pages) {
  if (!shape.IsValid()) return absl::InvalidArgumentError("client segment: shape out of range");
  const uint64_t bytes = SegmentOffsets(shape).bytes;
  bool huge = huge_pages != HugePages::kNever;
  absl::StatusOr<Mapping> mapping = Map(bytes, huge, numa_node);
  if (!mapping.ok() && huge_pages == HugePages::kAuto) {
    huge = false;
    mapping = Map(bytes, huge, numa_node);
  }
  if (!mapping.ok()) return mapping.status();
  return std::unique_ptr<Segment>(
      new Segment(shape, mapping->fd, mapping->base, mapping->bytes, huge));
}

absl::Status Segment::CheckSealed() const {
  const int seals = fcntl(fd_, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_FUTURE_WRITE) == 0) {
    return absl::InvalidArgumentError(
        "cannot serve the segment: it is not sealed; map it, then seal it with fcntl(fd, "
        "F_ADD_SEALS, F_SEAL_FUTURE_WRITE)");
  }
  // Rejects holes: pages allocated by the daemon would come from NUMA nodes of the client's choice.
  struct stat file;
  if (fstat(fd_, &file) != 0 || static_cast<uint64_t>(file.st_blocks) < bytes_ / 512) {
    return absl::InvalidArgumentError(
        "cannot serve the segment: pages are missing; punch no holes into it");
  }
  return absl::OkStatus();
}

absl::Status Segment::Prepare() {
  const uint64_t page = is_huge_ ? kHugePage : kPage;
  guard_ = SigbusGuard::Register(base_, bytes_, page);
  if (guard_ < 0) {
    return absl::ResourceExhaustedError("client segment: too many segments at a time");
  }
  if (!Populate({.base = base_, .bytes = bytes_}, page)) {
    return Failed("mapping it", bytes_, "free some memory");
  }
  FormatSegment(base_, shape_);
  return absl::OkStatus();
}

Segment::~Segment() {
  SigbusGuard::Unregister(guard_);
  munmap(base_, bytes_);
  close(fd_);
}

}  // namespace suede
