// SPDX-License-Identifier: Apache-2.0
// The virtual devices that DPDK has, known without starting it.
#ifndef SUEDE_DPDK_VDEV_DRIVERS_H_
#define SUEDE_DPDK_VDEV_DRIVERS_H_

#include <string>
#include <vector>

namespace suede {

// Names of drivers without PCI ids ("net_memif"), sorted: those of the plugins that EAL loads at
// its start, which say it in their files, and those that are linked into this program.
std::vector<std::string> VdevDrivers();
// VdevDrivers() with the plugins in a directory.
std::vector<std::string> VdevDriversOf(const std::string& directory);

}  // namespace suede

#endif  // SUEDE_DPDK_VDEV_DRIVERS_H_
