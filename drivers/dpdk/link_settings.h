// SPDX-License-Identifier: Apache-2.0
// Speeds and FEC of a device's link, in DPDK's terms. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_LINK_SETTINGS_H_
#define SUEDE_DPDK_LINK_SETTINGS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "dpdk/dpdk_port.h"

namespace suede::internal {

// Returns rte_eth_conf::link_speeds for the options; an error names the speeds in `capable`, a
// bitmap of RTE_ETH_LINK_SPEED_…, and the mend.
absl::StatusOr<uint32_t> LinkSpeedBits(const PortOptions& options, uint32_t capable);

// Returns the speeds of a bitmap of RTE_ETH_LINK_SPEED_… in Gbit/s, as in "10, 25"; empty: none.
std::string SpeedsText(uint32_t capable);

// Returns the modes of a bitmap as text, as in "off or rs"; "none" if it has none.
std::string FecText(uint32_t capable);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_LINK_SETTINGS_H_
