// SPDX-License-Identifier: Apache-2.0
// Sizes in octets that follow from a rate and a time. For set-up, as they divide.
#ifndef SUEDE_CONGESTION_BANDWIDTH_DELAY_H_
#define SUEDE_CONGESTION_BANDWIDTH_DELAY_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "congestion/credit.h"

namespace suede {

inline constexpr int64_t kLargestBdp = 1 << 28;

// Octets that a port of this rate carries in `time`: 1 to kLargestBdp.
inline int64_t BandwidthDelayOctets(uint64_t rate_bps, Duration time) {
  const double octets = static_cast<double>(rate_bps) * static_cast<double>(time.count()) / 8e9;
  return static_cast<int64_t>(std::clamp(octets, 1.0, static_cast<double>(kLargestBdp)));
}

// Rounds octets up to a count that credit can express.
inline constexpr int64_t RoundUpToCredit(int64_t octets) {
  return (octets + kCreditUnitOctets - 1) / kCreditUnitOctets * kCreditUnitOctets;
}

// Octets that a source may send without a grant: a whole number of largest PDUs, min one, as no
// part of a PDU can leave.
inline uint32_t ReserveOctets(int64_t bdp, uint32_t percent, uint32_t largest_octets) {
  const int64_t part = std::min(bdp * percent / 100, kLargestBdp);
  const int64_t pdus = std::max<int64_t>(part / largest_octets, 1);
  return static_cast<uint32_t>(RoundUpToCredit(pdus * largest_octets));
}

}  // namespace suede

#endif  // SUEDE_CONGESTION_BANDWIDTH_DELAY_H_
