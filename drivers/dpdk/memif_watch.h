// SPDX-License-Identifier: Apache-2.0
// Makes a peer's death harmless to an lcore that polls a memif port. Private to drivers/dpdk.
//
// When a memif peer goes away, or comes, the driver unmaps and maps the shared rings on EAL's
// interrupt thread, with no regard for a burst that is copying from them: that burst would fault.
// The driver has no hook before it does so, but it logs each control message, a hang-up included,
// before it acts on it, in the same thread. So its log is enabled down to debug, and from inside
// the log call the gates of all memif ports are closed. An alarm opens them: alarms run on the
// interrupt thread too, hence after the driver's handler has returned.
#ifndef SUEDE_DPDK_MEMIF_WATCH_H_
#define SUEDE_DPDK_MEMIF_WATCH_H_

#include <cstdint>

#include "dpdk/burst_gate.h"

namespace suede::internal {

// After rte_eal_init().
void StartMemifWatch();

// Adds and removes a memif port's gate.
void WatchMemifGate(BurstGate* gate);
void UnwatchMemifGate(BurstGate* gate);

// From the log stream, with the type of the message that is being written.
void OnDriverLog(int log_type);

}  // namespace suede::internal

#endif  // SUEDE_DPDK_MEMIF_WATCH_H_
