// SPDX-License-Identifier: Apache-2.0
// Queries the machine's hugepages, and reports a shortage.
#ifndef SUEDE_DPDK_HUGEPAGES_H_
#define SUEDE_DPDK_HUGEPAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace suede {

struct HugepageSize {
  uint64_t page_bytes = 0;
  uint64_t total = 0;
  uint64_t free = 0;
};

// Returns every hugepage size of the kernel. `root` differs only in tests.
std::vector<HugepageSize> ReadHugepages(const std::string& root = "/sys/kernel/mm/hugepages");

// Returns the mount point of a hugetlbfs in which this process may write; empty if there is none.
std::string HugetlbfsMount();

// Removes files of killed endpoints in a hugetlbfs directory (empty: HugetlbfsMount()), so that
// their pages are free again. Returns the number of files. DPDK does the same only after its own
// search for pages, which is too late. The files of a live process are locked.
uint32_t RemoveDeadHugepageFiles(std::string directory = "");

// Returns FailedPrecondition, with the command that reserves more, if fewer than `bytes` are free.
absl::Status CheckHugepages(uint64_t bytes, const std::string& root = "/sys/kernel/mm/hugepages");

}  // namespace suede

#endif  // SUEDE_DPDK_HUGEPAGES_H_
