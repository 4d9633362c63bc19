// SPDX-License-Identifier: Apache-2.0
#include "dpdk/hugepages.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace suede {
namespace {

uint64_t ReadNumber(const std::filesystem::path& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  file >> value;
  return file ? value : 0;
}

constexpr uint64_t kMiB = 1 << 20;

}  // namespace

std::vector<HugepageSize> ReadHugepages(const std::string& root) {
  std::vector<HugepageSize> sizes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    unsigned long kib = 0;
    if (std::sscanf(entry.path().filename().c_str(), "hugepages-%lukB", &kib) != 1) continue;
    sizes.push_back({uint64_t{kib} * 1024, ReadNumber(entry.path() / "nr_hugepages"),
                     ReadNumber(entry.path() / "free_hugepages")});
  }
  std::sort(sizes.begin(), sizes.end(), [](const HugepageSize& a, const HugepageSize& b) {
    return a.page_bytes < b.page_bytes;
  });
  return sizes;
}

std::string HugetlbfsMount() {
  FILE* mounts = setmntent("/proc/self/mounts", "r");
  if (mounts == nullptr) return "";
  std::string found;
  while (const mntent* entry = getmntent(mounts)) {
    if (std::string_view(entry->mnt_type) != "hugetlbfs") continue;
    if (access(entry->mnt_dir, W_OK) != 0) continue;
    found = entry->mnt_dir;
    break;
  }
  endmntent(mounts);
  return found;
}

uint32_t RemoveDeadHugepageFiles(std::string directory) {
  if (directory.empty()) directory = HugetlbfsMount();
  if (directory.empty()) return 0;
  // EAL holds this lock between creating its files and locking them.
  const int lock = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) return 0;
  uint32_t removed = 0;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("suede_") || name.find("map_") == std::string::npos) continue;
      const int fd = openat(lock, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0) continue;
      const bool dead = flock(fd, LOCK_EX | LOCK_NB) == 0;
      if (dead && unlinkat(lock, name.c_str(), 0) == 0) ++removed;
      close(fd);
    }
  }
  close(lock);
  return removed;
}

absl::Status CheckHugepages(uint64_t bytes, const std::string& root) {
  uint64_t free_bytes = 0;
  HugepageSize smallest;
  for (const HugepageSize& size : ReadHugepages(root)) {
    free_bytes += size.free * size.page_bytes;
    if (smallest.page_bytes == 0) smallest = size;
  }
  if (free_bytes >= bytes) return absl::OkStatus();
  if (smallest.page_bytes == 0) {
    return absl::FailedPreconditionError(
        "this kernel has no hugepages: set eal.hugepages: off in the configuration");
  }
  const uint64_t missing = (bytes - free_bytes + smallest.page_bytes - 1) / smallest.page_bytes;
  return absl::FailedPreconditionError(absl::StrCat(
      "hugepages: ", bytes / kMiB, " MiB needed, ", free_bytes / kMiB,
      " MiB free; reserve more: echo ", smallest.total + missing, " > ", root, "/hugepages-",
      smallest.page_bytes / 1024, "kB/nr_hugepages (as root), or set eal.hugepages: off"));
}

}  // namespace suede
