// SPDX-License-Identifier: Apache-2.0
// The window of NSCC: from round trips, marks and losses (docs/congestion.md).
#ifndef SUEDE_CONGESTION_NSCC_WINDOW_H_
#define SUEDE_CONGESTION_NSCC_WINDOW_H_

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "congestion/params.h"

namespace suede {

class NsccWindow {
 public:
  NsccWindow(const CongestionParams& params, const PathLimits& path, Time now);

  // An acknowledgement of `octets`; `rtt` where it was measured.
  struct Ack {
    uint32_t octets = 0;
    std::optional<Duration> rtt;
    bool marked = false;
    int64_t in_flight = 0;  // of all that is still on its way
  };
  void OnAck(const Ack& ack, Duration base_rtt, const CongestionParams& params, Time now);
  // PDUs were lost, and are sent again.
  void OnLoss(bool timeout, Duration base_rtt, const CongestionParams& params, Time now);

  // In octets; may be less than a PDU.
  double octets() const { return octets_; }

 private:
  double octets_ = 0;
  double per_ns_ = 0;  // octets that the plane carries in a nanosecond
  uint32_t largest_ = 0;
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_NSCC_WINDOW_H_
