// SPDX-License-Identifier: Apache-2.0
#include "congestion/nscc_window.h"

#include <algorithm>
#include <cmath>

#include "congestion/bandwidth_delay.h"

namespace suede {
namespace {

// The network for which uet-htsim's gains are defined: 100 Gb/s and a round trip of 12 us.
constexpr double kReferenceNs = 12'000;
constexpr double kReferenceOctets = 150'000;
constexpr double kProportionalGain = 4;
constexpr double kFairGain = 5;
constexpr double kEtaGain = 0.15;
// Delay, in targets, from which on the window is replaced by the measured one.
constexpr double kQuickDelay = 4;
constexpr double kQuickWindow = 0.125;  // unless the window carries this part of the largest window
constexpr double kMaxFlowScale = 4;
constexpr int64_t kEpochPdus = 4;  // over which the rate is measured,
constexpr double kEpochMost = 64;  // but for max this many epochs
constexpr uint32_t kSettlePdus = 8;

double Ns(Duration time) { return static_cast<double>(time.count()); }

}  // namespace

NsccWindow::NsccWindow(const CongestionParams& params, const PathLimits& path, Time now)
    : octets_(path.largest_octets),
      per_ns_(static_cast<double>(path.rate_bps) / 8e9),
      largest_(path.largest_octets),
      settled_at_(now),
      eta_at_(now),
      decreased_at_(now - params.base_rtt),
      epoch_begin_(now) {
  octets_ = LawOf(params.base_rtt, params).largest;
}

void NsccWindow::SetRate(uint64_t rate_bps, Duration base_rtt, const CongestionParams& params) {
  per_ns_ = static_cast<double>(rate_bps) / 8e9;
  octets_ = std::min(octets_, LawOf(base_rtt, params).largest);
}

// Returns a factor of the target delay, which is larger for smaller windows: the windows of many
// sources are less than a PDU, and would otherwise depend on chance and yield to larger windows.
double NsccWindow::FlowScale(double bdp) const {
  return std::clamp(std::sqrt(std::sqrt(bdp / (2 * octets_))), 1.0, kMaxFlowScale);
}

NsccWindow::Law NsccWindow::LawOf(Duration base_rtt, const CongestionParams& params) const {
  const double bdp = std::min(per_ns_ * Ns(base_rtt), static_cast<double>(kLargestBdp));
  return {.bdp = bdp,
          .base_ns = Ns(base_rtt),
          .target_ns = Ns(base_rtt) * params.target_percent / 100 * FlowScale(bdp),
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
  if (AdaptQuickly(ack, law, now)) return;
  if (ignored_ > 0) {
    // PDUs of the previous window, whose delays are no evidence about this window.
    ignored_ -= ack.octets;
    average_ns_ = std::min(delay_ns_, law.target_ns);
    return;
  }
  if (!ack.marked) {
    Increase(ack, law, params);
  } else if (delay_ns_ >= law.target_ns) {
    Decrease(law, params, base_rtt, now);
  }
  Settle(law, base_rtt, params, now);
}

bool NsccWindow::AdaptQuickly(const Ack& ack, const Law& law, Time now) {
  const double took = Ns(now - epoch_begin_);
  const double fair_ns = law.base_ns + law.target_ns;
  // The rate is measured over a few PDUs: over a shorter time it would be random.
  if (took < fair_ns ||
      (achieved_ < kEpochPdus * int64_t{largest_} && took < kEpochMost * fair_ns)) {
    return false;
  }
  const double window = static_cast<double>(achieved_) / took * fair_ns;
  achieved_ = 0;
  epoch_begin_ = now;
  if (delay_ns_ <= kQuickDelay * law.target_ns || window >= kQuickWindow * law.largest) {
    return false;
  }
  octets_ = std::max(std::min(window, octets_), law.smallest);
  increase_ = 0;
  ignored_ = ack.in_flight;
  return true;
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
  // A decrease takes effect a round trip later, including the present queue; and while the queue
  // shrinks, the windows are small enough.
  if (Ns(now - decreased_at_) < Ns(base_rtt) + delay_ns_ || delay_ns_ < average_ns_) return;
  if (average_ns_ <= law.target_ns) return;
  const double excess = (average_ns_ - law.target_ns) / average_ns_;
  octets_ *= std::max(1 - excess * params.decrease_percent / 100, 0.5);
  decreased_at_ = now;
}

void NsccWindow::Settle(const Law& law, Duration base_rtt, const CongestionParams& params,
                        Time now) {
  double grown = octets_;
  if (unsettled_ >= kSettlePdus * largest_ || now - settled_at_ >= base_rtt) {
    grown += increase_ / octets_;
    increase_ = 0;
    unsettled_ = 0;
    settled_at_ = now;
  }
  if (now - eta_at_ >= base_rtt) {
    grown += kEtaGain * params.eta_percent / 100 * largest_ * law.scale;
    eta_at_ = now;
  }
  // A window of less than a PDU has an acknowledgement once in several round trips, and grows for
  // all of these at once: up to twice its size, as the queue in between is unknown.
  if (octets_ < largest_) grown = std::min(grown, 2 * octets_);
  octets_ = std::clamp(grown, law.smallest, law.largest);
}

void NsccWindow::OnLoss(Duration base_rtt, const CongestionParams& params, Time now) {
  // One congestion may cause the loss of several PDUs, one after the other.
  if (Ns(now - decreased_at_) < Ns(base_rtt) + delay_ns_) return;
  octets_ = std::max(octets_ / 2, LawOf(base_rtt, params).smallest);
  increase_ = 0;
  ignored_ = 0;
  decreased_at_ = now;
}

Duration NsccWindow::TimeOf(uint32_t octets, Duration base_rtt) const {
  return Duration(static_cast<int64_t>(Ns(base_rtt) * octets / octets_));
}

}  // namespace suede
