// SPDX-License-Identifier: Apache-2.0
// Exponential back-off of timeouts and pauses (wire profile §6, "Sender").
#ifndef SUEDE_TRANSPORT_BACKOFF_H_
#define SUEDE_TRANSPORT_BACKOFF_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede {

// Max wait that a NOT_READY requests (docs/control-pdus.md, type 9).
inline constexpr Duration kMaxPause = std::chrono::seconds(10);

// Returns `base`, doubled `times` times, but `limit` at most. Doubles 16 times at most: configured
// limits are reached before.
inline Duration Backoff(Duration base, int times, Duration limit) {
  constexpr int kMaxDoublings = 16;
  return std::min(limit, base * (int64_t{1} << std::min(times, kMaxDoublings)));
}

}  // namespace suede

#endif  // SUEDE_TRANSPORT_BACKOFF_H_
