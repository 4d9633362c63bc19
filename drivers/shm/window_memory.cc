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
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace suede {
namespace {

constexpr uint64_t kBasePage = 4096;

#ifndef F_SEAL_FUTURE_WRITE
constexpr int F_SEAL_FUTURE_WRITE = 0x10;
#endif
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

constexpr char kMissing[] =
    "cannot serve a window: pages of its memfd are missing; write to each page, or call "
    "madvise(MADV_POPULATE_WRITE), and ask again";
constexpr int kFixedSize = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr int kNoHoles = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;

// Returns the page size of a memfd with the seals `seals`. Only memory files have seals: other
// descriptors are rejected without a query to their file system, which a user's program may serve.
absl::StatusOr<uint64_t> PageBytes(int fd, int seals) {
  struct statfs system;
  if (seals < 0 || fstatfs(fd, &system) != 0) return Refused("the descriptor is not a memfd");
  const bool is_huge = static_cast<uint64_t>(system.f_type) == HUGETLBFS_MAGIC;
  if ((seals & F_SEAL_SHRINK) == 0) {
    return Refused(
        is_huge && (seals & F_SEAL_SEAL) != 0
            ? "a file on hugetlbfs cannot be sealed; use a memfd with MFD_HUGETLB"
            : "the memfd may shrink; seal it with fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)");
  }
  return is_huge ? static_cast<uint64_t>(system.f_bsize) : kBasePage;
}

}  // namespace

WindowFile::~WindowFile() { munmap(base, bytes); }

// Returns the user's existing mapping of the file, or maps it.
absl::StatusOr<std::shared_ptr<const WindowFile>> WindowFiles::FileOf(const Part& part, int seals) {
  const absl::StatusOr<uint64_t> page = PageBytes(part.fd, seals);
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
  std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
  const bool may_write = (fcntl(part.fd, F_GETFL) & O_ACCMODE) == O_RDWR;
  if (part.is_writable && !may_write)
    return Refused("its rights permit writes, its descriptor does not");
  std::weak_ptr<const WindowFile>& known = files_[{file.st_dev, file.st_ino, part.uid}];
  const std::shared_ptr<const WindowFile> before = known.lock();
  if (before != nullptr && (before->is_writable || !part.is_writable)) return before;
  if (part.is_writable && (seals & kNoHoles) != 0) {
    return Refused((seals & F_SEAL_WRITE) != 0
                       ? "its rights permit writes, its memfd is sealed with F_SEAL_WRITE"
                       : "its memfd was sealed before the daemon mapped it; use a new memfd");
  }
  if (size > part.max_bytes) {
    return absl::ResourceExhaustedError(
        "cannot serve a window: its memfd is larger than the rest of clients.window_mb or "
        "clients.windows_total_mb; remove windows, or raise the limit");
  }
  const uint64_t bytes = (size + *page - 1) / *page * *page;
  if (static_cast<uint64_t>(file.st_blocks) < bytes / 512) {
    return absl::FailedPreconditionError(kMissing);
  }
  const bool is_writable = may_write && (seals & kNoHoles) == 0;
  void* base = mmap(nullptr, bytes, PROT_READ | (is_writable ? PROT_WRITE : 0),
                    MAP_SHARED | MAP_NORESERVE, part.fd, 0);
  if (base == MAP_FAILED) return NoMemory("mmap", "free some memory");
  auto mapped =
      std::make_shared<const WindowFile>(static_cast<uint8_t*>(base), bytes, *page, is_writable);
  known = mapped;
  return mapped;
}

absl::StatusOr<std::unique_ptr<WindowMemory>> WindowFiles::Map(
    const Part& part, std::shared_ptr<const WindowFile>* unsealed) {
  if (part.fd < 0) return Refused("no descriptor came with it");
  absl::StatusOr<std::shared_ptr<const WindowFile>> file =
      FileOf(part, fcntl(part.fd, F_GET_SEALS));
  if (!file.ok()) return file.status();
  // Reads the seals again: they count only if set after the mapping.
  const int seals = fcntl(part.fd, F_GET_SEALS);
  if ((seals & kFixedSize) != kFixedSize || (seals & kNoHoles) == 0) {
    if ((seals & F_SEAL_SEAL) != 0)
      return Refused("its memfd has F_SEAL_SEAL and cannot be sealed");
    *unsealed = *std::move(file);
    return absl::FailedPreconditionError(
        "cannot serve a window yet: its memfd is mapped, but not sealed; seal it with "
        "F_SEAL_FUTURE_WRITE and F_SEAL_GROW, and ask again");
  }
  const uint64_t page = (*file)->page_bytes;
  std::unique_ptr<WindowMemory> memory(
      new WindowMemory(*std::move(file), {part.offset, (part.bytes + page - 1) / page * page},
                       fcntl(part.fd, F_DUPFD_CLOEXEC, 0)));
  if (!memory->fd_.ok()) return NoMemory("its descriptor", "raise the open file limit");
  memory->guard_ = SigbusGuard::Register(memory->base(), memory->bytes(), page);
  if (memory->guard_ < 0) {
    return absl::ResourceExhaustedError("a window that the lcore serves: too many at a time");
  }
  return memory;
}

uint64_t WindowFiles::bytes() const {
  uint64_t sum = 0;
  for (const auto& [key, known] : files_) {
    if (const auto file = known.lock(); file != nullptr) sum += file->bytes;
  }
  return sum;
}

WindowMemory::~WindowMemory() { SigbusGuard::Unregister(guard_); }

// Maps further pages and checks the block count. The file can neither grow nor lose pages up to its
// end, so its blocks change only if a page was missing, or if the client frees pages behind the
// end. The client can do that only once, as all of them are freed together, so it can hide at most
// one step.
absl::StatusOr<bool> WindowMemory::Populate(uint64_t bytes) {
  const int advice = file_->is_writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  const uint64_t end = std::min(bytes_, populated_ + std::max(bytes, file_->page_bytes));
  struct stat info;
  if (blocks_ < 0) {
    blocks_ = fstat(fd_.get(), &info) == 0 ? info.st_blocks : 0;
    if (static_cast<uint64_t>(blocks_) < file_->bytes / 512) {
      return absl::FailedPreconditionError(kMissing);
    }
  }
  while (populated_ < end) {
    const uint64_t step = std::min(bytes_ - populated_, std::max(kStepBytes, file_->page_bytes));
    if (madvise(base() + populated_, step, advice) != 0) {
      if (errno == EINTR || errno == EAGAIN) return false;
      // An older kernel (EINVAL) maps the pages at the first access.
      if (errno != EINVAL) return NoMemory("its pages", "free some memory");
    }
    if (fstat(fd_.get(), &info) != 0 || info.st_blocks != blocks_) {
      return absl::PermissionDeniedError("a window that the lcore serves: a page was missing");
    }
    populated_ += step;
  }
  if (populated_ < bytes_) return false;
  fd_.Reset();
  return true;
}

int WindowMemory::NumaNode() const {
  int node = -1;
  return get_mempolicy(&node, nullptr, 0, base(), MPOL_F_NODE | MPOL_F_ADDR) == 0 ? node : -1;
}

}  // namespace suede
