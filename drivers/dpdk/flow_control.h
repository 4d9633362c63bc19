// SPDX-License-Identifier: Apache-2.0
// The priority flow control of a device, as DPDK is asked for it. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_FLOW_CONTROL_H_
#define SUEDE_DPDK_FLOW_CONTROL_H_

#include <rte_ethdev.h>

#include <vector>

#include "dpdk/dpdk_port.h"

namespace suede::internal {

// A request for each class: pauses in both directions. `present` is the device's flow control as it
// is: its thresholds stay.
std::vector<rte_eth_pfc_conf> PfcRequests(const DevicePfc& pfc, const rte_eth_fc_conf& present);

// Whether the driver pauses queues by class, and whole ports by class not.
bool PausesQueuesOnly(uint16_t port);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_FLOW_CONTROL_H_
