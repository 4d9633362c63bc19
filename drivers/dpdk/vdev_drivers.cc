// SPDX-License-Identifier: Apache-2.0
#include "dpdk/vdev_drivers.h"

#include <fcntl.h>
#include <rte_build_config.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string_view>

namespace suede {
namespace {

namespace fs = std::filesystem;

// Returns the beginning of a driver's description, as written by DPDK's buildtools. Joined at run
// time, so that this program does not contain the text itself.
std::string Mark() { return std::string("PMD_INFO_") + "STRING= {\"name\": \""; }

void AddDrivers(std::string_view text, std::set<std::string>& names) {
  static const std::string mark = Mark();
  constexpr std::string_view kNoIds = "\"pci_ids\": []";
  constexpr size_t kMaxName = 64;
  for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at)) {
    at += mark.size();
    const std::string_view rest = text.substr(at, text.find('\0', at) - at);
    const size_t end = rest.find('"');
    if (end > kMaxName || rest.find(kNoIds) == std::string_view::npos) continue;
    names.emplace(rest.substr(0, end));
  }
}

void AddDriversOf(const fs::path& path, std::set<std::string>& names) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto size = static_cast<size_t>(info.st_size);
    void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED) {
      AddDrivers({static_cast<const char*>(memory), size}, names);
      munmap(memory, size);
    }
  }
  close(fd);
}

}  // namespace

std::vector<std::string> VdevDrivers() { return VdevDriversOf(RTE_EAL_PMD_PATH); }

std::vector<std::string> VdevDriversOf(const std::string& directory) {
  std::set<std::string> names;
  AddDriversOf("/proc/self/exe", names);
  // EAL loads files that end in .so or in .so.VERSION; links without a version belong to
  // development packages only. Each file is read once, however many links it has.
  std::set<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().find(".so") == std::string::npos) continue;
    if (fs::path file = fs::canonical(entry.path(), error); !error) files.insert(std::move(file));
  }
  for (const fs::path& file : files) AddDriversOf(file, names);
  return {names.begin(), names.end()};
}

}  // namespace suede
