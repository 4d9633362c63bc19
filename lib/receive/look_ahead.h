// SPDX-License-Identifier: Apache-2.0
// Prefetches the state that the checks and the delivery of a burst's PDUs use: with many peers it
// is in no near cache, and each PDU would wait for one line after the other.
#ifndef SUEDE_RECEIVE_LOOK_AHEAD_H_
#define SUEDE_RECEIVE_LOOK_AHEAD_H_

#include "lcore/lcore.h"
#include "receive/received_burst.h"

namespace suede {

// Returns whether the lcore has so many peers that LookAhead is worth its instructions.
inline bool HasManyPeers(const Lcore& lcore) {
  constexpr uint32_t kMany = 256;  // timers: at least three for a peer
  return lcore.timers.count() >= 3 * kMany;
}

// Prefetches for all frames of the burst.
void LookAhead(const Lcore& lcore, const ReceivedBurst& burst);

}  // namespace suede

#endif  // SUEDE_RECEIVE_LOOK_AHEAD_H_
