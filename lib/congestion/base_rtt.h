// SPDX-License-Identifier: Apache-2.0
// The round trip through an empty network: the smallest of the last two periods, so that it grows
// again if a path became longer. The expected round trip counts as measured before the first
// period: a source that starts together with others measures their queue.
#ifndef SUEDE_CONGESTION_BASE_RTT_H_
#define SUEDE_CONGESTION_BASE_RTT_H_

#include <algorithm>

#include "base/time.h"

namespace suede {

class BaseRtt {
 public:
  explicit BaseRtt(Duration expected = Duration(1)) : current_(expected), previous_(expected) {}

  // `period`: 0 keeps the smallest sample for ever.
  void OnSample(Duration sample, Duration period, Time now) {
    sample = std::max(sample, Duration(1));
    if (now < period_end_) [[likely]] {
      current_ = std::min(current_, sample);
      return;
    }
    previous_ = current_;
    current_ = sample;
    period_end_ = period == Duration(0) ? kNever : now + period;
  }

  Duration value() const { return std::min(previous_, current_); }

 private:
  Duration current_;
  Duration previous_;  // of the period before
  Time period_end_{};  // the first sample begins a period
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_BASE_RTT_H_
