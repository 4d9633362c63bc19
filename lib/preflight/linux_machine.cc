// SPDX-License-Identifier: Apache-2.0
#include "preflight/linux_machine.h"

#include <fcntl.h>
#include <mntent.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "local/socket_state.h"

namespace suede {
namespace {

namespace fs = std::filesystem;

uint64_t NumberIn(const fs::path& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  file >> value;
  return file ? value : 0;
}

std::string LineIn(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Whether a kernel list ("0-3,8") contains the number.
bool ListHas(std::string_view list, uint32_t number) {
  for (const std::string_view part : Split(list, ',')) {
    uint32_t first = 0;
    uint32_t last = 0;
    const int read = std::sscanf(std::string(part).c_str(), "%u-%u", &first, &last);
    if (read < 1) continue;
    if (number >= first && number <= (read == 2 ? last : first)) return true;
  }
  return false;
}

// Returns the value of the line "NAME:   VALUE"; empty: no such line.
std::string FieldIn(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const size_t value = line.find_first_not_of(" \t", name.size() + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

void AddPools(const fs::path& directory, int node, std::vector<HugepagePool>& pools) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    unsigned long kib = 0;
    const std::string name = entry.path().filename();
    if (std::sscanf(name.c_str(), "hugepages-%lukB", &kib) != 1) continue;
    pools.push_back({.node = node,
                     .page_bytes = uint64_t{kib} * 1024,
                     .total = NumberIn(entry.path() / "nr_hugepages"),
                     .free = NumberIn(entry.path() / "free_hugepages"),
                     .directory = entry.path()});
  }
}

int KernelNumber(Capability capability) {
  switch (capability) {
    case Capability::kNetAdmin:
      return 12;
    case Capability::kNetRaw:
      return 13;
    case Capability::kIpcLock:
      break;
  }
  return 14;
}

}  // namespace

std::string LinuxMachine::User() const {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return StrCat(geteuid());
}

bool LinuxMachine::Has(Capability capability) const {
  const std::string mask = FieldIn(root_ + "/proc/self/status", "CapEff");
  return (std::strtoull(mask.c_str(), nullptr, 16) >> KernelNumber(capability) & 1) != 0;
}

uint64_t LinuxMachine::MemlockLimit() const {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

uint64_t LinuxMachine::AvailableMemory() const {
  return std::strtoull(FieldIn(root_ + "/proc/meminfo", "MemAvailable").c_str(), nullptr, 10) *
         1024;
}

std::vector<HugepagePool> LinuxMachine::Hugepages() const {
  std::vector<HugepagePool> pools;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root_ + "/sys/devices/system/node", error)) {
    int node = 0;
    const std::string name = entry.path().filename();
    if (std::sscanf(name.c_str(), "node%d", &node) != 1) continue;
    AddPools(entry.path() / "hugepages", node, pools);
  }
  // Kernel without NUMA.
  if (pools.empty()) AddPools(root_ + "/sys/kernel/mm/hugepages", 0, pools);
  std::sort(pools.begin(), pools.end(), [](const HugepagePool& a, const HugepagePool& b) {
    return a.node != b.node ? a.node < b.node : a.page_bytes < b.page_bytes;
  });
  return pools;
}

std::vector<std::string> LinuxMachine::HugetlbfsMounts() const {
  std::vector<std::string> mounts;
  FILE* table = setmntent((root_ + "/proc/self/mounts").c_str(), "r");
  if (table == nullptr) return mounts;
  while (const mntent* entry = getmntent(table)) {
    if (std::string_view(entry->mnt_type) == "hugetlbfs") mounts.emplace_back(entry->mnt_dir);
  }
  endmntent(table);
  return mounts;
}

CpuFacts LinuxMachine::Cpu(uint32_t cpu) const {
  const std::string directory = root_ + "/sys/devices/system/cpu/";
  CpuFacts facts;
  facts.online = ListHas(LineIn(directory + "online"), cpu);
  facts.isolated = ListHas(LineIn(directory + "isolated"), cpu);
  facts.allowed = ListHas(FieldIn(root_ + "/proc/self/status", "Cpus_allowed_list"), cpu);
  return facts;
}

bool LinuxMachine::SharesBySession() const {
  int major = 0;
  int minor = 0;
  const std::string release = LineIn(root_ + "/proc/sys/kernel/osrelease");
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2) return false;
  const bool is_eevdf = major > 6 || (major == 6 && minor >= 6);
  return is_eevdf && NumberIn(root_ + "/proc/sys/kernel/sched_autogroup_enabled") != 0;
}

std::optional<PciFacts> LinuxMachine::Pci(const std::string& address) const {
  const fs::path device = fs::path(root_ + "/sys/bus/pci/devices") / address;
  std::error_code error;
  if (!fs::exists(device, error)) return std::nullopt;
  PciFacts facts;
  facts.driver = fs::read_symlink(device / "driver", error).filename();
  const std::string group = fs::read_symlink(device / "iommu_group", error).filename();
  if (!group.empty()) facts.iommu_group = std::atoi(group.c_str());
  const std::string node = LineIn(device / "numa_node");
  if (!node.empty()) facts.numa_node = std::atoi(node.c_str());
  return facts;
}

std::optional<InterfaceFacts> LinuxMachine::Interface(const std::string& name) const {
  // The kernel limits the length; a name is not a path.
  if (name.empty() || name.size() >= IFNAMSIZ || name.find('/') != std::string::npos ||
      name.starts_with(".")) {
    return std::nullopt;
  }
  const fs::path directory = fs::path(root_ + "/sys/class/net") / name;
  std::error_code error;
  if (!fs::exists(directory, error)) return std::nullopt;
  const uint64_t flags = std::strtoull(LineIn(directory / "flags").c_str(), nullptr, 16);
  return InterfaceFacts{.mtu = static_cast<uint32_t>(NumberIn(directory / "mtu")),
                        .up = (flags & IFF_UP) != 0,
                        .is_tap = fs::exists(directory / "tun_flags", error)};
}

FileFacts LinuxMachine::File(const std::string& path) const {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    // Without permission the file counts as existing, of an unusable kind.
    return {.kind = errno == EACCES ? FileFacts::Kind::kOther : FileFacts::Kind::kAbsent};
  }
  FileFacts facts{.kind = FileFacts::Kind::kOther};
  if (S_ISDIR(info.st_mode)) facts.kind = FileFacts::Kind::kDirectory;
  if (S_ISSOCK(info.st_mode)) facts.kind = FileFacts::Kind::kSocket;
  facts.readable = faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
  facts.writable = faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
  return facts;
}

// Binds the address briefly without listening, so that no client can connect meanwhile.
std::string LinuxMachine::ListenError(const ListenAddress& listen) const {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::strerror(errno);
  const int on = 1;  // as a server does: old connections may still linger
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(listen.port);
  address.sin_addr.s_addr = htonl(listen.ip);
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const std::string why = bound ? "" : std::strerror(errno);
  close(fd);
  return why;
}

uint64_t LinuxMachine::DescriptorLimit() const {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

bool LinuxMachine::IsServed(const std::string& socket_path) const {
  const SocketState state = StateOfSocket(socket_path);
  return state == SocketState::kHeld || state == SocketState::kUnknown;
}

bool LinuxMachine::IsAbstractNameHeld(const std::string& name) const {
  return suede::IsAbstractNameHeld(name, (root_ + "/proc/net/unix").c_str());
}

}  // namespace suede
