// SPDX-License-Identifier: Apache-2.0
#include "shm/window_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <numaif.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace suede {
namespace {

constexpr uint64_t kBasePage = 4096;

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
constexpr int MADV_POPULATE_WRITE = 23;
#endif

absl::Status Refused(const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat("a window that the lcore serves: ", reason));
}

absl::Status NoMemory(const char* call, const char* mend) {
  return absl::ResourceExhaustedError(absl::StrCat("a window that the lcore serves: ", call, ": ",
                                                   std::strerror(errno), "; ", mend));
}

// The page size of what the descriptor names, if it is memory that cannot be taken away, or of
// which the guard sees to it.
absl::StatusOr<uint64_t> PageBytes(int fd) {
  if (fd < 0) return Refused("no descriptor came with it");
  // Only memory has seals: this is answered without any file system.
  const int seals = fcntl(fd, F_GET_SEALS);
  struct statfs system;
  if (seals < 0 || fstatfs(fd, &system) != 0) {
    return Refused("the descriptor is neither a memfd nor a file on hugetlbfs");
  }
  if (static_cast<uint64_t>(system.f_type) == HUGETLBFS_MAGIC) {
    return static_cast<uint64_t>(system.f_bsize);
  }
  if ((seals & F_SEAL_SHRINK) == 0) {
    return Refused("the memfd may shrink; seal it with fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)");
  }
  return kBasePage;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WindowMemory>> WindowMemory::Map(const Part& part) {
  const absl::StatusOr<uint64_t> page = PageBytes(part.fd);
  if (!page.ok()) return page.status();
  struct stat file;
  if (fstat(part.fd, &file) != 0) return Refused(std::strerror(errno));
  const auto size = static_cast<uint64_t>(file.st_size);
  if (part.offset % *page != 0) {
    return Refused(absl::StrCat("fd_offset is a multiple of the page size, ", *page));
  }
  if (part.bytes == 0 || part.offset > size || part.bytes > size - part.offset) {
    return Refused("it is longer than what its descriptor names");
  }
  const uint64_t bytes = (part.bytes + *page - 1) / *page * *page;
  const int access = PROT_READ | (part.is_writable ? PROT_WRITE : 0);
  // Hugepages are reserved here: where there are too few, this fails and no access does later.
  void* base = mmap(nullptr, bytes, access, MAP_SHARED, part.fd, static_cast<off_t>(part.offset));
  if (base == MAP_FAILED && (errno == EACCES || errno == EPERM)) {
    return Refused("its rights permit writes, its descriptor does not");
  }
  if (base == MAP_FAILED) return NoMemory("mmap", "reserve more hugepages, or free some memory");
  std::unique_ptr<WindowMemory> memory(
      new WindowMemory(static_cast<uint8_t*>(base), bytes, *page, part.is_writable));
  memory->guard_ = SigbusGuard::Register(base, bytes, *page);
  if (memory->guard_ < 0) {
    return absl::ResourceExhaustedError("a window that the lcore serves: too many at a time");
  }
  return memory;
}

WindowMemory::~WindowMemory() {
  SigbusGuard::Unregister(guard_);
  munmap(base_, bytes_);
}

absl::StatusOr<bool> WindowMemory::Populate(uint64_t bytes) {
  const uint64_t step =
      std::min(bytes_ - populated_, std::max(bytes / page_bytes_, uint64_t{1}) * page_bytes_);
  const int advice = is_writable_ ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(base_ + populated_, step, advice) != 0) {
    if (errno == EINTR || errno == EAGAIN) return false;
    // An older kernel (EINVAL) leaves the pages to the first access.
    if (errno != EINVAL) return NoMemory("its pages", "free some memory");
  }
  populated_ += step;
  return populated_ == bytes_;
}

int WindowMemory::NumaNode() const {
  int node = -1;
  return get_mempolicy(&node, nullptr, 0, base_, MPOL_F_NODE | MPOL_F_ADDR) == 0 ? node : -1;
}

}  // namespace suede
