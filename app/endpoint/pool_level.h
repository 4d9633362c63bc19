// SPDX-License-Identifier: Apache-2.0
// Detects when the frames of a port run low.
#ifndef SUEDE_APP_ENDPOINT_POOL_LEVEL_H_
#define SUEDE_APP_ENDPOINT_POOL_LEVEL_H_

#include <cstdint>

namespace suede {

// Detects a low pool, with hysteresis between low and recovered to avoid repeated reports.
class PoolLevel {
 public:
  enum class Change : uint8_t { kNone, kLow, kRecovered };
  Change Check(uint64_t free, uint64_t frames) {
    if (!low_ && free * 8 < frames) {
      low_ = true;
      return Change::kLow;
    }
    if (low_ && free * 4 >= frames) {
      low_ = false;
      return Change::kRecovered;
    }
    return Change::kNone;
  }

 private:
  bool low_ = false;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_POOL_LEVEL_H_
