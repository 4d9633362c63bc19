// SPDX-License-Identifier: Apache-2.0
// Round trips that the acknowledgements of a connection have measured, and the retransmission
// timeout that follows from them (wire profile §6, "Sender"; the filter is that of RFC 6298).
#ifndef SUEDE_TRANSPORT_ROUND_TRIP_H_
#define SUEDE_TRANSPORT_ROUND_TRIP_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/time.h"
#include "pdu/pdu.h"
#include "transport/params.h"

namespace suede {

// Returns the round trip measured by an acknowledgement of `newest` and the PDUs before it;
// nullopt: `newest` was sent twice (Karn), or has waited there for PDUs before it.
inline std::optional<Duration> RttSample(const Pdu& newest, Time now) {
  return newest.retransmitted || newest.arrived ? std::nullopt
                                                : std::optional<Duration>(now - newest.sent_at);
}

// Owned by the lcore of its connection.
class RoundTrip {
 public:
  // Smoothed round trip; 0 until the first sample of the present path.
  Duration srtt() const { return Duration(srtt_ns_); }
  // The smallest recent round trip; 0 until the first sample.
  Duration min_rtt() const { return Duration(min_rtt_ns_); }
  // Retransmission timeout without back-off: rto_initial until the first sample of the present
  // path, then between rto_min and rto_max.
  Duration rto(const TransportParams& params) const {
    if (srtt_ns_ == 0) return params.rto_initial;
    // The far side may delay its acknowledgement for the local ack_delay, too.
    const Duration measured = Duration(srtt_ns_) + 4 * Duration(rttvar_ns_) + params.ack_delay;
    return std::clamp(measured, params.rto_min, params.rto_max);
  }

  // Takes a measured round trip into account; samples beyond rto_max count as rto_max.
  [[gnu::always_inline]] void OnSample(Duration sample, const TransportParams& params) {
    const int64_t rtt = std::clamp<int64_t>(sample.count(), 1, params.rto_max.count());
    UpdateMin(rtt);
    if (srtt_ns_ == 0) {
      srtt_ns_ = static_cast<uint32_t>(rtt);
      rttvar_ns_ = static_cast<uint32_t>(rtt / 2);
      return;
    }
    const int64_t error = rtt - srtt_ns_;
    rttvar_ns_ = static_cast<uint32_t>(rttvar_ns_ + (std::abs(error) - int64_t{rttvar_ns_}) / 4);
    srtt_ns_ = static_cast<uint32_t>(std::max<int64_t>(1, srtt_ns_ + error / 8));
  }
  // Forgets the smoothed round trip, because frames take another path. The smallest round trip
  // remains: it adapts by itself.
  void OnNewPath() { srtt_ns_ = 0; }

 private:
  // Lets the smallest round trip grow by 1/256 with each sample, in case the path has become
  // longer.
  [[gnu::always_inline]] void UpdateMin(int64_t rtt) {
    constexpr int kGrowthShift = 8;
    const auto ns = static_cast<uint32_t>(std::clamp<int64_t>(rtt, 1, UINT32_MAX));
    const uint32_t grown = min_rtt_ns_ + (min_rtt_ns_ >> kGrowthShift) + 1;
    min_rtt_ns_ = min_rtt_ns_ == 0 ? ns : std::min(grown, ns);
  }

  uint32_t srtt_ns_ = 0;    // 0: no sample
  uint32_t rttvar_ns_ = 0;  // valid while srtt_ns_ is not 0
  uint32_t min_rtt_ns_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_ROUND_TRIP_H_
