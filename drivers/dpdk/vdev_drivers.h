// SPDX-License-Identifier: Apache-2.0
// Lists DPDK's virtual device drivers without starting EAL.
#ifndef SUEDE_DPDK_VDEV_DRIVERS_H_
#define SUEDE_DPDK_VDEV_DRIVERS_H_

#include <string>
#include <vector>

namespace suede {

// Returns the sorted names of drivers without PCI ids ("net_memif"): of the plugins that EAL loads
// at its start, as recorded in their files, and of those linked into this program.
std::vector<std::string> VdevDrivers();
// Returns VdevDrivers() for the plugins of a directory.
std::vector<std::string> VdevDriversOf(const std::string& directory);

}  // namespace suede

#endif  // SUEDE_DPDK_VDEV_DRIVERS_H_
