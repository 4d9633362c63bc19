// SPDX-License-Identifier: Apache-2.0
// Prefetches the state that the checks and the delivery of a burst's PDUs use: with many peers it
// is in no near cache, and each PDU would wait for one line after the other.
#ifndef SUEDE_RECEIVE_LOOK_AHEAD_H_
#define SUEDE_RECEIVE_LOOK_AHEAD_H_

#include "lcore/lcore.h"
#include "receive/received_burst.h"

namespace suede {

// Returns whether the peers have so much state that LookAhead is worth its instructions: as much as
// 192 peers with one connection each.
inline bool HasManyPeers(const Lcore& lcore) {
  constexpr uint32_t kTimersOfPeer = 4;  // with one connection; more with planes or sessions
  return lcore.timers.count() >= 192 * kTimersOfPeer;
}

// Prefetches for all frames of the burst.
void LookAhead(const Lcore& lcore, const ReceivedBurst& burst);

}  // namespace suede

#endif  // SUEDE_RECEIVE_LOOK_AHEAD_H_
