// SPDX-License-Identifier: Apache-2.0
#include "window_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "planes/planes.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif

namespace suede::mem {
namespace {

constexpr uint64_t kSmallPage = 4096;
constexpr int kPageSizeShift = 26;  // MFD_HUGE_SHIFT

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  int access = 0;
};

// Returns this process's shared mappings of the file with status `info`.
std::vector<Mapping> MappingsOf(const struct stat& info) {
  std::vector<Mapping> all;
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return all;
  char line[4352];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin, end, offset, inode;
    unsigned major_number, minor_number;
    char rights[5];
    if (std::sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &begin, &end, rights, &offset, &major_number,
                    &minor_number, &inode) != 7 ||
        inode != info.st_ino || makedev(major_number, minor_number) != info.st_dev ||
        rights[3] != 's') {
      continue;
    }
    all.push_back(
        {.begin = begin,
         .end = end,
         .offset = offset,
         .access = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0)});
  }
  std::fclose(maps);
  return all;
}

}  // namespace

int WindowFile::Map(int fd, bool is_read_only, std::shared_ptr<WindowFile>* file) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Fail(-errno, "fstat of the window's descriptor failed");
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return Fail(-errno, "fstatfs of the window's descriptor failed");
  const bool is_huge = static_cast<uint64_t>(system.f_type) == HUGETLBFS_MAGIC;
  const uint64_t page = is_huge ? static_cast<uint64_t>(system.f_bsize) : kSmallPage;
  const uint64_t bytes = (static_cast<uint64_t>(info.st_size) + page - 1) / page * page;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return Fail(-errno, "no copy of the window's descriptor");
  std::shared_ptr<WindowFile> mapped(new WindowFile(own, bytes, page));
  const int seals = fcntl(fd, F_GET_SEALS);
  const bool is_sealed = seals >= 0 && (seals & F_SEAL_FUTURE_WRITE) != 0;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  mapped->is_writable_ = base != MAP_FAILED;
  if (base == MAP_FAILED && is_read_only) {
    base = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  }
  if (base == MAP_FAILED && is_sealed) {
    return Fail(-EPERM,
                "cannot add the window: its memfd is sealed, as one that was served before; use a "
                "new memfd");
  }
  if (base == MAP_FAILED) return Fail(-errno, "mmap of the window's descriptor failed");
  mapped->base_ = static_cast<uint8_t*>(base);
  *file = std::move(mapped);
  return 0;
}

WindowFile::~WindowFile() {
  if (base_ != nullptr) munmap(base_, bytes_);
  close(fd_);
}

bool WindowFile::IsOf(int fd) const {
  struct stat own, other;
  return fstat(fd_, &own) == 0 && fstat(fd, &other) == 0 && own.st_dev == other.st_dev &&
         own.st_ino == other.st_ino;
}

int WindowFile::Copy(int to) {
  if (ftruncate(to, static_cast<off_t>(bytes_)) != 0 ||
      fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return Fail(-errno, "the new memfd of a window has no size");
  }
  void* copy = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
  if (copy == MAP_FAILED) return Fail(-errno, "mmap of the new memfd of a window failed");
  std::memcpy(copy, base_, bytes_);
  munmap(copy, bytes_);
  return MoveMappings(to);
}

int WindowFile::MoveMappings(int to) {
  struct stat info;
  if (fstat(fd_, &info) != 0) return Fail(-errno, "fstat of the window's descriptor failed");
  for (const Mapping& each : MappingsOf(info)) {
    if (mmap(reinterpret_cast<void*>(each.begin), each.end - each.begin, each.access,
             MAP_SHARED | MAP_FIXED, to, static_cast<off_t>(each.offset)) == MAP_FAILED) {
      return Fail(-errno, "a mapping of a window could not be moved to its new memfd");
    }
  }
  return 0;
}

int WindowFile::RenewIfSealed() {
  const int seals = fcntl(fd_, F_GET_SEALS);
  if (!is_writable_ || seals < 0 || (seals & F_SEAL_FUTURE_WRITE) == 0) return 0;
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  if (page_bytes_ > kSmallPage) {
    flags |= MFD_HUGETLB | static_cast<unsigned>(std::countr_zero(page_bytes_)) << kPageSizeShift;
  }
  const int to = memfd_create("suede-window", flags);
  if (to < 0) return Fail(-errno, "no new memfd for a window");
  if (const int error = Copy(to); error != 0) {
    close(to);
    return error;
  }
  close(fd_);
  fd_ = to;
  return 0;
}

}  // namespace suede::mem
