// SPDX-License-Identifier: Apache-2.0
// A limit on the rate of an event: a number per second, and up to a burst at once. Over any
// time T the limit permits no more than rate * T + burst.
#ifndef SUEDE_BASE_TOKEN_BUCKET_H_
#define SUEDE_BASE_TOKEN_BUCKET_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace suede {

class TokenBucket {
 public:
  // Both at least 1. The bucket begins full.
  TokenBucket(uint32_t per_second, uint32_t burst)
      : interval_(Duration(1'000'000'000 / per_second)), slack_(interval_ * (burst - 1)) {}

  // A quarter of a second's events may happen at once.
  static TokenBucket QuarterAtOnce(uint32_t per_second) {
    return {per_second, std::max(1u, per_second / 4)};
  }

  // Whether it may happen now; times do not go back.
  bool Take(Time now) {
    if (due_ - slack_ > now) return false;
    due_ = std::max(due_, now) + interval_;
    return true;
  }

 private:
  // Instead of tokens: the time of the next event if all were spaced evenly. A permitted event may
  // be early by a burst.
  const Duration interval_;
  const Duration slack_;
  Time due_{};
};

}  // namespace suede

#endif  // SUEDE_BASE_TOKEN_BUCKET_H_
