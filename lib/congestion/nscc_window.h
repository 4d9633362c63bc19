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

  // PDUs are larger from now on.
  void RaiseLargest(uint32_t octets) { largest_ = octets; }

  // The plane has another rate: the window adapts, and is at most the largest window of that rate.
  void SetRate(uint64_t rate_bps, Duration base_rtt, const CongestionParams& params);

  // An acknowledgement of `octets`.
  struct Ack {
    uint32_t octets = 0;
    std::optional<Duration> rtt;  // none: not measured
    bool marked = false;
    int64_t in_flight = 0;  // octets still in flight
  };
  void OnAck(const Ack& ack, Duration base_rtt, const CongestionParams& params, Time now);
  // PDUs were lost, and are retransmitted.
  void OnLoss(Duration base_rtt, const CongestionParams& params, Time now);

  // In octets; may be less than a PDU.
  double octets() const { return octets_; }
  // The time in which the window permits this many octets.
  Duration TimeOf(uint32_t octets, Duration base_rtt) const;

 private:
  // Values that follow from the base RTT.
  struct Law {
    double bdp;
    double base_ns;
    double target_ns;  // queueing delay to aim at
    double scale;      // htsim's a: BDP over the BDP of 100 Gb/s and 12 us
    double largest;    // the largest window,
    double smallest;   // and the smallest window
  };
  double FlowScale(double bdp) const;
  Law LawOf(Duration base_rtt, const CongestionParams& params) const;
  // Ends an elapsed epoch. Returns whether the window was set to the achieved rate.
  bool AdaptQuickly(const Ack& ack, const Law& law, Time now);
  void Increase(const Ack& ack, const Law& law, const CongestionParams& params);
  void Decrease(const Law& law, const CongestionParams& params, Duration base_rtt, Time now);
  void Settle(const Law& law, Duration base_rtt, const CongestionParams& params, Time now);

  double octets_;
  double per_ns_;           // octets that the plane carries in a nanosecond
  double increase_ = 0;     // pending increase of the window, times the window
  double delay_ns_ = 0;     // queueing delay, of the last round trip
  double average_ns_ = 0;   // and of the last window
  int64_t achieved_ = 0;    // octets acknowledged in this epoch
  int64_t ignored_ = 0;     // octets to be acknowledged before the law resumes
  uint32_t largest_;        // octets of the largest PDU
  uint32_t unsettled_ = 0;  // octets acknowledged since the increase was last added
  Time settled_at_;
  Time eta_at_;
  Time decreased_at_;
  Time epoch_begin_;
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_NSCC_WINDOW_H_
