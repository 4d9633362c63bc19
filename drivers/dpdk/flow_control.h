// SPDX-License-Identifier: Apache-2.0
// Builds DPDK's requests for the priority flow control of a device. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_FLOW_CONTROL_H_
#define SUEDE_DPDK_FLOW_CONTROL_H_

#include <rte_ethdev.h>

#include <vector>

#include "dpdk/dpdk_port.h"

namespace suede::internal {

// Returns one request per class, for pauses in both directions. `present`: the device's current
// flow control, whose thresholds are kept.
std::vector<rte_eth_pfc_conf> PfcRequests(const DevicePfc& pfc, const rte_eth_fc_conf& present);

// Whether the driver supports PFC by queue, but not for the whole port.
bool PausesQueuesOnly(uint16_t port);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_FLOW_CONTROL_H_
