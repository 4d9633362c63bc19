// SPDX-License-Identifier: Apache-2.0
// Limits the rate of an event to a number per second, with bursts. Over any time T it permits at
// most rate * T + burst events.
#ifndef SUEDE_BASE_TOKEN_BUCKET_H_
#define SUEDE_BASE_TOKEN_BUCKET_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace suede {

class TokenBucket {
 public:
  // Both arguments are at least 1. The bucket starts full.
  TokenBucket(uint32_t per_second, uint32_t burst)
      : interval_(Duration(1'000'000'000 / per_second)), slack_(interval_ * (burst - 1)) {}

  // Permits a burst of a quarter of a second's events.
  static TokenBucket QuarterAtOnce(uint32_t per_second) {
    return {per_second, std::max(1u, per_second / 4)};
  }

  // Whether an event is permitted now; if so, it is counted. `now` must not decrease.
  bool Take(Time now) {
    if (due_ - slack_ > now) return false;
    due_ = std::max(due_, now) + interval_;
    return true;
  }

 private:
  // Instead of tokens: the time of the next event if all were evenly spaced. An event may be early
  // by the slack, which is one burst.
  const Duration interval_;
  const Duration slack_;
  Time due_{};
};

}  // namespace suede

#endif  // SUEDE_BASE_TOKEN_BUCKET_H_
