// SPDX-License-Identifier: Apache-2.0
// The counters of the reasons for which wire/encap.h refuses a frame, and lib/seal a sealed PDU.
#ifndef SUEDE_RECEIVE_DROP_COUNTER_H_
#define SUEDE_RECEIVE_DROP_COUNTER_H_

#include "seal/sealed_peer.h"
#include "stats/counters.h"
#include "wire/encap.h"

namespace suede {

constexpr Counter DropCounter(FrameError error) {
  switch (error) {
    case FrameError::kTruncated:
      return Counter::kRxTruncated;
    case FrameError::kIpHeader:
      return Counter::kRxIpHeader;
    case FrameError::kIpChecksum:
      return Counter::kRxIpChecksum;
    case FrameError::kUdpChecksum:
      return Counter::kRxUdpChecksum;
    case FrameError::kShimVersion:
      return Counter::kRxShimVersion;
    case FrameError::kNextHeader:
      return Counter::kRxNextHeader;
    case FrameError::kHopLimit:
      return Counter::kRxHopLimit;
    case FrameError::kMulticast:
      return Counter::kRxMulticast;
    case FrameError::kNone:
    case FrameError::kNotSue:
      break;
  }
  return Counter::kRxNotSue;
}

// The counter of a reason for which a sealed PDU is not accepted.
constexpr Counter DropCounter(SealError error) {
  switch (error) {
    case SealError::kNone:
    case SealError::kMalformed:
      break;
    case SealError::kKey:
      return Counter::kRxSealKey;
    case SealError::kBudget:
      return Counter::kRxSealBudget;
    case SealError::kTag:
      return Counter::kRxSealTag;
    case SealError::kReplay:
      return Counter::kRxSealReplay;
    case SealError::kPlane:
      return Counter::kRxSealPlane;
  }
  return Counter::kRxSealMalformed;
}

}  // namespace suede

#endif  // SUEDE_RECEIVE_DROP_COUNTER_H_
