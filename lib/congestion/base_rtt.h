// SPDX-License-Identifier: Apache-2.0
// The round trip through an empty network: the smallest one of the last two periods, so that it
// grows again where a path became longer.
#ifndef SUEDE_CONGESTION_BASE_RTT_H_
#define SUEDE_CONGESTION_BASE_RTT_H_

#include <algorithm>

#include "base/time.h"

namespace suede {

class BaseRtt {
 public:
  BaseRtt() = default;
  explicit BaseRtt(Duration expected) : expected_(expected) {}

  // `period`: 0 keeps the smallest one for ever.
  void OnSample(Duration sample, Duration period, Time now) {
    sample = std::max(sample, Duration(1));
    if (now >= period_end_) {
      previous_ = current_;
      current_ = sample;
      period_end_ = period == Duration(0) ? kNever : now + period;
      return;
    }
    current_ = std::min(current_, sample);
  }

  bool measured() const { return current_ != kNone; }
  Duration value() const { return measured() ? std::min(previous_, current_) : expected_; }

 private:
  static constexpr Duration kNone = Duration::max();

  Duration expected_{1};  // while none was measured
  Duration current_ = kNone;
  Duration previous_ = kNone;  // of the period before
  Time period_end_{};
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_BASE_RTT_H_
