// SPDX-License-Identifier: Apache-2.0
// Computes the time when a port will have received all that its senders were granted, if it
// receives at its rate without a pause: the next grant is due then.
//
// The PDU of a grant reaches the port a round trip after the grant. So a clock that is a round trip
// late keeps one bandwidth-delay product granted in front of the port.
#ifndef SUEDE_CONGESTION_GRANT_PACER_H_
#define SUEDE_CONGESTION_GRANT_PACER_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace suede {

class GrantPacer {
 public:
  explicit GrantPacer(uint64_t rate_bps) : full_cost_(CostOf(rate_bps)), cost_(full_cost_) {}

  // The port has another rate, from the next SetShare on.
  void SetRate(uint64_t rate_bps) { full_cost_ = CostOf(rate_bps); }

  // Takes the part `own`, min 1, of `all`. The time by which the clock is ahead of now counts at
  // the new share from the next CatchUp on.
  void SetShare(uint32_t own, uint32_t all) {
    own = std::max<uint32_t>(own, 1);
    const double share = static_cast<double>(std::max(own, all)) / own;
    const double cost = static_cast<double>(full_cost_) * share;
    rescale_ *= cost / static_cast<double>(cost_);
    cost_ = static_cast<uint64_t>(cost);
  }

  // The time in which the port receives this many octets, at its share.
  Duration TimeOf(uint32_t octets) const {
    return Duration(static_cast<int64_t>((cost_ >> (kUnitBits - kTimeBits)) * octets >> kTimeBits));
  }
  Time due() const { return due_; }
  // The rate at the share.
  uint64_t rate_bps() const {
    return static_cast<uint64_t>(8e9 * kUnit / static_cast<double>(cost_));
  }
  // Advances the clock, so that it is at most `limit` behind `now`.
  void CatchUp(Time now, Duration limit) {
    if (rescale_ != 1) [[unlikely]]
      Rescale(now);
    due_ = std::max(due_, now - limit);
  }
  // The port will receive this many more octets; up to 2^30.
  void Charge(uint32_t octets) {
    const uint64_t whole = cost_ >> kUnitBits;
    const uint64_t part = (cost_ & (kUnit - 1)) * octets + fraction_;
    due_ += Duration(static_cast<int64_t>(whole * octets + (part >> kUnitBits)));
    fraction_ = static_cast<uint32_t>(part & (kUnit - 1));
  }

 private:
  static constexpr int kUnitBits = 32;
  static constexpr int kTimeBits = 16;  // fewer, where the product has to fit
  static constexpr uint64_t kUnit = uint64_t{1} << kUnitBits;

  static uint64_t CostOf(uint64_t rate_bps) {
    return static_cast<uint64_t>(8e9 * kUnit / static_cast<double>(rate_bps));
  }
  void Rescale(Time now) {
    const auto ahead = static_cast<double>((due_ - now).count());
    if (ahead > 0) due_ = now + Duration(static_cast<int64_t>(ahead * rescale_));
    rescale_ = 1;
  }

  uint64_t full_cost_;  // of an octet, in 2^-32 ns
  uint64_t cost_;       // at the share
  uint32_t fraction_ = 0;
  double rescale_ = 1;  // see SetShare
  Time due_{};
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_GRANT_PACER_H_
