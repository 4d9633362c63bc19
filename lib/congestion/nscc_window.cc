// SPDX-License-Identifier: Apache-2.0
#include "congestion/nscc_window.h"

#include <algorithm>

#include "congestion/bandwidth_delay.h"

namespace suede {
namespace {

// The network to which the gains of uet-htsim belong: 100 Gb/s and a round trip of 12 us.
constexpr double kReferenceNs = 12'000;
constexpr double kReferenceOctets = 150'000;
constexpr double kProportionalGain = 4;
constexpr double kFairGain = 5;
constexpr double kEtaGain = 0.15;
// A delay of so many targets is so far from them that the window has to be found anew.
constexpr double kQuickDelay = 4;
constexpr double kQuickWindow = 0.125;  // unless it carries so much of the largest one
constexpr uint32_t kSettlePdus = 8;

double Ns(Duration time) { return static_cast<double>(time.count()); }

}  // namespace

NsccWindow::NsccWindow(const CongestionParams& params, const PathLimits& path, Time now)
    : per_ns_(static_cast<double>(path.rate_bps) / 8e9),
      largest_(path.largest_octets),
      settled_at_(now),
      eta_at_(now),
      decreased_at_(now - params.base_rtt),
      epoch_end_(now + 2 * params.base_rtt) {
  octets_ = LawOf(params.base_rtt, params).largest;
}

NsccWindow::Law NsccWindow::LawOf(Duration base_rtt, const CongestionParams& params) const {
  const double bdp = std::min(per_ns_ * Ns(base_rtt), static_cast<double>(kLargestBdp));
  return {.bdp = bdp,
          .target_ns = Ns(base_rtt) * params.target_percent / 100,
          .scale = bdp / kReferenceOctets,
          .largest = std::max<double>(bdp * params.window_max_percent / 100, largest_),
          .smallest = static_cast<double>(largest_) * params.window_min_permille / 1000};
}

void NsccWindow::OnAck(const Ack& ack, Duration base_rtt, const CongestionParams& params,
                       Time now) {
  const Law law = LawOf(base_rtt, params);
  if (ack.rtt) {
    delay_ns_ = std::max(0.0, Ns(*ack.rtt - base_rtt));
    average_ns_ += (delay_ns_ - average_ns_) * ack.octets / (ack.octets + octets_);
  }
  achieved_ += ack.octets;
  if (AdaptQuickly(ack, law, base_rtt, now)) return;
  if (ignored_ > 0) {
    ignored_ -= ack.octets;
    return;
  }
  if (!ack.marked) {
    Increase(ack, law, params);
  } else if (delay_ns_ >= law.target_ns) {
    Decrease(law, params, base_rtt, now);
  }
  Settle(law, base_rtt, params, now);
}

bool NsccWindow::AdaptQuickly(const Ack& ack, const Law& law, Duration base_rtt, Time now) {
  if (now < epoch_end_) return false;
  const bool far = delay_ns_ > kQuickDelay * law.target_ns &&
                   static_cast<double>(achieved_) < kQuickWindow * law.largest;
  if (far) {
    octets_ = std::max(std::min(static_cast<double>(achieved_), octets_), law.smallest);
    increase_ = 0;
    ignored_ = ack.in_flight;
  }
  achieved_before_ = achieved_;
  achieved_ = 0;
  epoch_end_ = now + base_rtt + Duration(static_cast<int64_t>(law.target_ns));
  return far;
}

void NsccWindow::Increase(const Ack& ack, const Law& law, const CongestionParams& params) {
  const double octets = ack.octets;
  const double unit = largest_ * law.scale;
  unsettled_ += ack.octets;
  if (delay_ns_ >= law.target_ns) {
    increase_ += kFairGain * params.fair_percent / 100 * unit * octets;
    return;
  }
  const double left = 1 - delay_ns_ / law.target_ns;
  const double gain = kProportionalGain * params.proportional_percent / 100;
  increase_ += gain * unit * (law.target_ns / kReferenceNs) * left * octets;
}

void NsccWindow::Decrease(const Law& law, const CongestionParams& params, Duration base_rtt,
                          Time now) {
  if (average_ns_ <= law.target_ns || now - decreased_at_ < base_rtt) return;
  const double excess = (average_ns_ - law.target_ns) / average_ns_;
  octets_ *= std::max(1 - excess * params.decrease_percent / 100, 0.5);
  decreased_at_ = now;
}

void NsccWindow::Settle(const Law& law, Duration base_rtt, const CongestionParams& params,
                        Time now) {
  if (unsettled_ >= kSettlePdus * largest_ || now - settled_at_ >= base_rtt) {
    octets_ += increase_ / octets_;
    increase_ = 0;
    unsettled_ = 0;
    settled_at_ = now;
  }
  if (now - eta_at_ >= base_rtt) {
    octets_ += kEtaGain * params.eta_percent / 100 * largest_ * law.scale;
    eta_at_ = now;
  }
  octets_ = std::clamp(octets_, law.smallest, law.largest);
}

void NsccWindow::OnLoss(bool timeout, Duration base_rtt, const CongestionParams& params, Time now) {
  const Law law = LawOf(base_rtt, params);
  const auto achieved = static_cast<double>(std::max(achieved_, achieved_before_));
  const double found = timeout ? std::min(achieved, octets_ / 2) : achieved;
  octets_ = std::max(std::min(found, octets_), law.smallest);
  increase_ = 0;
  ignored_ = 0;
  decreased_at_ = now;
}

Duration NsccWindow::TimeOf(uint32_t octets, Duration base_rtt) const {
  return Duration(static_cast<int64_t>((Ns(base_rtt) + average_ns_) * octets / octets_));
}

}  // namespace suede
