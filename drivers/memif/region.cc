// SPDX-License-Identifier: Apache-2.0
#include "memif/region.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "local/passing.h"
#include "local/sigbus.h"

namespace suede::memif {
namespace {

constexpr uint64_t kHugepageBytes = 2 << 20;
// Seals of mapped memory: no process can remove its pages, or punch holes, at which an lcore would
// wait in the kernel. Mappings stay writable.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

bool Region::MapWhole(uint64_t page_bytes) {
  void* const at =
      mmap(nullptr, RoundUp(bytes_, page_bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (at == MAP_FAILED) return false;
  base_ = static_cast<uint8_t*>(at);
  bytes_ = RoundUp(bytes_, page_bytes);
  guard_ = SigbusGuard::Register(base_, bytes_, page_bytes);
  return guard_ >= 0;
}

void Region::Unmap() {
  SigbusGuard::Unregister(guard_);
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
  guard_ = -1;
}

bool Region::Seal() {
  return fcntl(fd_.get(), F_ADD_SEALS, kSeals) == 0 ||
         (fcntl(fd_.get(), F_GET_SEALS) & kSeals) == kSeals;
}

bool Region::broken() const { return SigbusGuard::IsBroken(guard_); }

std::optional<Region> Region::Create(uint64_t bytes) {
  constexpr unsigned kUsual = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const uint64_t plain = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  for (const uint64_t page : {kHugepageBytes, plain}) {
    const unsigned flags = page == plain ? kUsual : kUsual | MFD_HUGETLB | MFD_HUGE_2MB;
    Region region;
    region.fd_ = Fd(memfd_create("suede_memif", flags));
    region.bytes_ = RoundUp(bytes, page);
    // Hugepages are reserved by the mapping, which fails if there are too few.
    if (region.fd_.ok() && ftruncate(region.fd_.get(), static_cast<off_t>(region.bytes_)) == 0 &&
        fcntl(region.fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 &&
        region.MapWhole(page)) {
      return region;
    }
  }
  return std::nullopt;
}

std::optional<Region> Region::Map(Fd fd, uint64_t bytes) {
  struct stat file {};
  struct statfs system {};
  if (fstat(fd.get(), &file) != 0 || fstatfs(fd.get(), &system) != 0 || !S_ISREG(file.st_mode) ||
      file.st_size < 0 || static_cast<uint64_t>(file.st_size) < bytes) {
    return std::nullopt;
  }
  const auto type = static_cast<uint64_t>(system.f_type);
  if (type != TMPFS_MAGIC && type != HUGETLBFS_MAGIC) return std::nullopt;
  Region region;
  region.fd_ = std::move(fd);
  region.bytes_ = bytes;
  const uint64_t page = type == HUGETLBFS_MAGIC ? static_cast<uint64_t>(system.f_bsize)
                                                : static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (!region.MapWhole(page) || !region.Seal()) return std::nullopt;
  return region;
}

std::optional<Region> Region::MapUnsealed(Fd fd, uint64_t bytes) {
  struct stat file {};
  if (!IsPlainFile(fd.get()) || fstat(fd.get(), &file) != 0 || file.st_size < 0 ||
      static_cast<uint64_t>(file.st_size) < bytes) {
    return std::nullopt;
  }
  Region region;
  region.fd_ = std::move(fd);
  region.bytes_ = bytes;
  // The block of a file in hugepages is one of them.
  const uint64_t page = std::max(static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
                                 static_cast<uint64_t>(file.st_blksize));
  if (!region.MapWhole(page)) return std::nullopt;
  return region;
}

}  // namespace suede::memif
