// SPDX-License-Identifier: Apache-2.0
#include "daemon/eal_start.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/device_string.h"
#include "daemon/version.h"
#include "dpdk/hugepages.h"
#include "preflight/preflight.h"

namespace suede {
namespace {

// Returns EAL's memory without hugepages, in MiB: for pools, captures and devices. Twice the pools,
// as frames do not cross 4 KiB pages, which may be half empty; unused memory is not allocated.
uint32_t PlainMemoryMb(const std::vector<uint64_t>& pools) {
  constexpr uint64_t kMinMb = 512;
  constexpr uint64_t kOthersMb = 128;
  const uint64_t sum = std::accumulate(pools.begin(), pools.end(), uint64_t{0});
  return static_cast<uint32_t>(std::max(kMinMb, (2 * sum >> 20) + kOthersMb));
}

// Whether to run without hugepages if the configuration permits both.
bool LacksHugepages(const EalNeeds& needs, const DaemonLog& log) {
  uint64_t free_bytes = 0;
  for (const auto& pages : ReadHugepages()) free_bytes += pages.free * pages.page_bytes;
  // Without hugetlbfs only root uses hugepages: other users' limits rarely permit it.
  const bool lacks = free_bytes < HugepageBytes(Hugepages::kAuto, needs.pool_bytes) ||
                     (geteuid() != 0 && HugetlbfsMount().empty());
  if (lacks) {
    // Only info: eal.hugepages permits both, and --check warns.
    log(EalLogLevel::kInfo, "eal",
        "too few free hugepages: running without; reserve some with "
        "'echo 512 > /proc/sys/vm/nr_hugepages'");
  }
  return lacks;
}

}  // namespace

absl::StatusOr<std::string> StartEalFor(const EalNeeds& needs, const DaemonLog& log) {
  EalOptions options;
  options.file_prefix = needs.file_prefix;
  options.memory_mb = needs.eal.memory_mb;
  options.extra = needs.eal.args;
  options.no_huge = needs.eal.hugepages == Hugepages::kOff;
  if (const uint32_t files = RemoveDeadHugepageFiles(); files != 0) {
    log(EalLogLevel::kInfo, "eal",
        absl::StrCat("removed ", files, " hugepage files of endpoints that were killed"));
  }
  if (needs.eal.hugepages == Hugepages::kAuto) options.no_huge = LacksHugepages(needs, log);
  if (options.no_huge && options.memory_mb == 0) {
    options.memory_mb = PlainMemoryMb(needs.pool_bytes);
  }
  for (const LcoreConfig& lcore : needs.lcores) options.cpus.push_back(lcore.cpu);
  std::vector<std::string> memifs;
  for (const std::string& device : needs.devices) {
    (IsMemif(device) ? memifs : IsVdev(device) ? options.vdevs : options.pci).push_back(device);
  }
  options.log = [log](EalLogLevel level, std::string_view line) { log(level, "eal", line); };
  const absl::StatusOr<std::vector<std::string>> arguments = EalArguments(options);
  if (!arguments.ok()) return arguments.status();
  std::string joined = JoinArguments(*arguments);
  log(EalLogLevel::kInfo, "suede",
      absl::StrCat("starting version=", kVersion, " commit=", kRevision, " dpdk=\"", DpdkVersion(),
                   "\" eal=\"", joined, "\"",
                   memifs.empty() ? "" : absl::StrCat(" memif=\"", JoinArguments(memifs), "\"")));
  if (absl::Status status = StartEal(options); !status.ok()) return status;
  return joined;
}

}  // namespace suede
