// SPDX-License-Identifier: Apache-2.0
// The hugepages of the machine, and the message when they are not enough.
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

// Every hugepage size that the kernel offers; `root` is /sys/kernel/mm/hugepages but in tests.
std::vector<HugepageSize> ReadHugepages(const std::string& root = "/sys/kernel/mm/hugepages");

// The mount point of a hugetlbfs that this process may write to; empty: none.
std::string HugetlbfsMount();

// Removes files of killed endpoints in a directory of hugetlbfs (empty: the one that has this
// process's own), so that their pages are free again. Returns the number of files. As DPDK does it
// at the end of its own search for pages, which comes too late: each file of a process that lives
// is locked.
uint32_t RemoveDeadHugepageFiles(std::string directory = "");

// FailedPrecondition, with the command that mends it, if fewer than `bytes` are free.
absl::Status CheckHugepages(uint64_t bytes, const std::string& root = "/sys/kernel/mm/hugepages");

}  // namespace suede

#endif  // SUEDE_DPDK_HUGEPAGES_H_
