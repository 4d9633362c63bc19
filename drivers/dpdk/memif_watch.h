// SPDX-License-Identifier: Apache-2.0
// Protects an lcore that polls a memif port from its peer's end. Private to drivers/dpdk.
//
// When a memif peer disconnects or connects, the driver unmaps or maps the shared rings on EAL's
// interrupt thread, even while a burst copies from them: the burst would fault. The driver has no
// hook, but logs each control message and each hang-up in the same thread before it acts. So its
// log is enabled down to debug, and the log call closes the gates of all memif ports. An alarm
// opens them: alarms run on the interrupt thread too, hence after the driver's handler has
// returned.
#ifndef SUEDE_DPDK_MEMIF_WATCH_H_
#define SUEDE_DPDK_MEMIF_WATCH_H_

#include <cstdint>

#include "port/burst_gate.h"

namespace suede::internal {

// To be called after rte_eal_init().
void StartMemifWatch();

// Adds or removes a memif port's gate.
void WatchMemifGate(BurstGate* gate);
void UnwatchMemifGate(BurstGate* gate);

// Called by the log stream, with the type of the message being written.
void OnDriverLog(int log_type);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_MEMIF_WATCH_H_
