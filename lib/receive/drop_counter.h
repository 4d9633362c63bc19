// SPDX-License-Identifier: Apache-2.0
// The counters of the reasons for which wire/encap.h refuses a frame, and lib/seal a sealed PDU.
#ifndef SUEDE_RECEIVE_DROP_COUNTER_H_
#define SUEDE_RECEIVE_DROP_COUNTER_H_

#include <cstddef>
#include <iterator>

#include "seal/sealed_peer.h"
#include "stats/counters.h"
#include "wire/encap.h"

namespace suede {

constexpr Counter DropCounter(FrameError error) {
  using enum Counter;
  constexpr Counter kCounters[] = {kRxNotSue /* of kNone */,
                                   kRxNotSue,
                                   kRxTruncated,
                                   kRxIpHeader,
                                   kRxIpChecksum,
                                   kRxUdpChecksum,
                                   kRxShimVersion,
                                   kRxNextHeader,
                                   kRxHopLimit,
                                   kRxMulticast,
                                   kRxRevision};
  static_assert(std::size(kCounters) == kFrameErrorNames.size());
  return kCounters[static_cast<size_t>(error)];
}

// The counter of a reason for which a sealed PDU is not accepted.
constexpr Counter DropCounter(SealError error) {
  using enum Counter;
  constexpr Counter kCounters[] = {kRxSealMalformed /* of kNone */,
                                   kRxSealMalformed,
                                   kRxSealKey,
                                   kRxSealBudget,
                                   kRxSealTag,
                                   kRxSealReplay,
                                   kRxSealPlane};
  static_assert(std::size(kCounters) == static_cast<size_t>(SealError::kPlane) + 1);
  return kCounters[static_cast<size_t>(error)];
}

}  // namespace suede

#endif  // SUEDE_RECEIVE_DROP_COUNTER_H_
