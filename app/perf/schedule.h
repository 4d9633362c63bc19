// SPDX-License-Identifier: Apache-2.0
// Intended send times of a fixed-rate load.
#ifndef SUEDE_APP_PERF_SCHEDULE_H_
#define SUEDE_APP_PERF_SCHEDULE_H_

#include <cmath>
#include <cstdint>

#include "base/time.h"

namespace suede::perf {

// Command k is due at start + k / rate, even if earlier commands are late: a delayed sender catches
// up, and latency measured from the intended time includes the delay (no coordinated omission).
class RateSchedule {
 public:
  RateSchedule() = default;
  RateSchedule(Time start, double commands_per_second)
      : start_(start), per_ns_(commands_per_second / 1e9), interval_ns_(1 / per_ns_) {}

  // Returns the number of commands due by `now`.
  uint64_t DueBy(Time now) const {
    const int64_t elapsed_ns = (now - start_).count();
    if (elapsed_ns < 0) return 0;
    return static_cast<uint64_t>(static_cast<double>(elapsed_ns) * per_ns_) + 1;
  }
  Time IntendedTime(uint64_t k) const {
    return start_ + Duration(std::llround(static_cast<double>(k) * interval_ns_));
  }

 private:
  Time start_;
  double per_ns_ = 1;
  double interval_ns_ = 1;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_SCHEDULE_H_
