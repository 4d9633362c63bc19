// SPDX-License-Identifier: Apache-2.0
// Checks of hugepages, memory, and the limit of locked memory.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/device_string.h"
#include "base/text.h"
#include "preflight/preflight.h"

namespace suede {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSegmentPage = 2 * kMiB;
// Memory of EAL and the devices in addition to frame pools: rings, descriptors, bookkeeping.
constexpr uint64_t kEalBytes = 32 * kMiB;

uint64_t ToMiB(uint64_t bytes) { return (bytes + kMiB - 1) / kMiB; }

uint64_t AllPools(const PreflightSubject& s) {
  return std::accumulate(s.needs.pool_bytes.begin(), s.needs.pool_bytes.end(), uint64_t{0});
}

int NodeOf(const PreflightSubject& s, const PortConfig& port) {
  if (IsVdev(port.device)) return -1;
  const auto pci = s.machine.Pci(PciAddress(port.device));
  return pci ? pci->numa_node : -1;
}

struct Need {
  uint64_t bytes = 0;
  std::vector<std::string> ports;
};

// Returns the command that adds at least `missing` bytes to the pool.
std::string Reserve(const HugepagePool& pool, uint64_t missing) {
  const uint64_t pages = (missing + pool.page_bytes - 1) / pool.page_bytes;
  return StrCat("echo ", pool.total + pages, " > ", pool.directory, "/nr_hugepages");
}

struct NodeSum {
  uint64_t free = 0;
  const HugepagePool* smallest = nullptr;
};

void Add(NodeSum& sum, const HugepagePool& pool) {
  sum.free += pool.free * pool.page_bytes;
  if (sum.smallest == nullptr || pool.page_bytes < sum.smallest->page_bytes) sum.smallest = &pool;
}

// Checks the free hugepages of a node; node -1: of the whole machine.
void CheckNode(int node, const Need& need, const NodeSum& sum, bool only_warn,
               std::vector<Finding>& findings) {
  if (sum.free >= need.bytes) return;
  const std::string where = node < 0 ? "any NUMA node" : StrCat("NUMA node ", node);
  Finding finding{.severity = only_warn ? Finding::Severity::kWarning : Finding::Severity::kError};
  finding.problem = StrCat("eal.hugepages: ", ToMiB(need.bytes), " MiB are needed on ", where, " (",
                           StrJoin(need.ports, ", "), ") and ", sum.free / kMiB, " MiB are free",
                           only_warn ? ", so that it runs without hugepages" : "");
  finding.mend = sum.smallest == nullptr
                     ? std::string("set eal.hugepages: off, as this kernel has none there")
                     : Reserve(*sum.smallest, need.bytes - sum.free);
  findings.push_back(std::move(finding));
}

}  // namespace

uint64_t HugepageBytes(Hugepages mode, const std::vector<uint64_t>& pool_bytes) {
  constexpr uint64_t kMinOfAuto = 256 * kMiB;
  const uint64_t needed =
      std::accumulate(pool_bytes.begin(), pool_bytes.end(), uint64_t{kEalBytes});
  return mode == Hugepages::kAuto ? std::max(needed, kMinOfAuto) : needed;
}

void CheckHugepageNeeds(const PreflightSubject& s, std::vector<Finding>& findings) {
  if (s.config.eal.hugepages == Hugepages::kOff) return;
  std::map<int, Need> needs;
  for (size_t i = 0; i < s.config.ports.size(); ++i) {
    Need& need = needs[NodeOf(s, s.config.ports[i])];
    need.bytes += s.needs.pool_bytes[i];
    need.ports.push_back(
        StrCat("port ", s.config.ports[i].name, " ", ToMiB(s.needs.pool_bytes[i])));
  }
  const std::vector<HugepagePool> pools = s.machine.Hugepages();
  std::map<int, NodeSum> sums;
  NodeSum all;
  for (const HugepagePool& pool : pools) {
    Add(sums[pool.node], pool);
    Add(all, pool);
  }
  const bool only_warn = s.config.eal.hugepages == Hugepages::kAuto;
  Need total{.bytes = HugepageBytes(s.config.eal.hugepages, s.needs.pool_bytes), .ports = {}};
  for (const auto& [node, need] : needs) {
    total.ports.insert(total.ports.end(), need.ports.begin(), need.ports.end());
    if (node >= 0) CheckNode(node, need, sums[node], only_warn, findings);
  }
  total.ports.push_back(StrCat("DPDK ", ToMiB(total.bytes - AllPools(s))));
  const bool a_node_has_too_few = std::any_of(findings.begin(), findings.end(),
                                              [](const Finding& f) { return f.check.empty(); });
  if (!a_node_has_too_few) CheckNode(-1, total, all, only_warn, findings);
}

void CheckHugetlbfs(const PreflightSubject& s, std::vector<Finding>& findings) {
  if (s.config.eal.hugepages != Hugepages::kOn) return;
  const std::vector<std::string> mounts = s.machine.HugetlbfsMounts();
  const bool writable = std::any_of(mounts.begin(), mounts.end(), [&](const std::string& mount) {
    return s.machine.File(mount).writable;
  });
  if (writable) return;
  findings.push_back({.severity = Finding::Severity::kWarning,
                      .problem = mounts.empty() ? "eal.hugepages: no hugetlbfs is mounted"
                                                : StrCat("eal.hugepages: ", s.machine.User(),
                                                         " may not write to the hugetlbfs at ",
                                                         StrJoin(mounts, ", ")),
                      .mend = StrCat("mkdir -p /run/suede/hugepages && mount -t hugetlbfs -o uid=",
                                     s.machine.User(), " hugetlbfs /run/suede/hugepages")});
}

void CheckSegments(const PreflightSubject& s, std::vector<Finding>& findings) {
  if (s.config.clients.hugepages != Hugepages::kOn) return;
  NodeSum sum;
  const std::vector<HugepagePool> pools = s.machine.Hugepages();
  for (const HugepagePool& pool : pools) {
    if (pool.page_bytes == kSegmentPage) Add(sum, pool);
  }
  const uint64_t taken = s.config.eal.hugepages == Hugepages::kOn ? AllPools(s) + kEalBytes : 0;
  const uint64_t needed = taken + s.needs.segment_bytes;
  if (sum.free >= needed) return;
  findings.push_back(
      {.problem = StrCat("clients.hugepages: a client's segment takes ",
                         ToMiB(s.needs.segment_bytes), " MiB in pages of 2 MiB",
                         taken == 0 ? "" : StrCat(" beside ", ToMiB(taken), " MiB of DPDK's"),
                         ", and ", sum.free / kMiB, " MiB are free"),
       .mend = sum.smallest == nullptr ? "set clients.hugepages: off, as this kernel has none"
                                       : Reserve(*sum.smallest, needed - sum.free)});
}

void CheckMemory(const PreflightSubject& s, std::vector<Finding>& findings) {
  if (s.config.eal.hugepages != Hugepages::kOff) return;
  const uint64_t pools = AllPools(s);
  const uint64_t given = s.config.eal.memory_mb * kMiB;
  if (given != 0 && pools > given) {
    findings.push_back({.problem = StrCat("eal.memory_mb: the ports' pools take ", ToMiB(pools),
                                          " MiB, and DPDK is given ", given / kMiB),
                        .mend = StrCat("set eal.memory_mb: ", ToMiB(pools + kEalBytes))});
  }
  const uint64_t needed = pools + kEalBytes;
  if (needed <= s.machine.AvailableMemory()) return;
  findings.push_back(
      {.problem = StrCat("the ports' pools take ", ToMiB(needed), " MiB, and ",
                         s.machine.AvailableMemory() / kMiB, " MiB of memory are available"),
       .mend = "lower transport.inflight_pdus or ports[].rx_descriptors, or free "
               "memory"});
}

void CheckMemlock(const PreflightSubject& s, std::vector<Finding>& findings) {
  const bool has_pci = std::any_of(s.config.ports.begin(), s.config.ports.end(),
                                   [](const PortConfig& port) { return !IsVdev(port.device); });
  const uint64_t needed = AllPools(s) + kEalBytes;
  if (!has_pci || s.machine.Has(Capability::kIpcLock) || s.machine.MemlockLimit() >= needed) return;
  findings.push_back({.problem = StrCat("ports[].device: VFIO locks ", ToMiB(needed),
                                        " MiB in memory, and this process may lock ",
                                        s.machine.MemlockLimit() / kMiB, " MiB"),
                      .mend = "ulimit -l unlimited (in a unit: LimitMEMLOCK=infinity)"});
}

}  // namespace suede
