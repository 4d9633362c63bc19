// SPDX-License-Identifier: Apache-2.0
// The benchmark's clock: the time stamp counter, scaled to nanoseconds.
#ifndef SUEDE_APP_PERF_CLOCK_H_
#define SUEDE_APP_PERF_CLOCK_H_

#include <x86intrin.h>

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede::perf {

inline Duration Seconds(double s) { return Duration(static_cast<int64_t>(s * 1e9)); }

// A read takes some 10 ns, a third of clock_gettime. Copies share one origin and scale, so times
// are comparable between threads.
class TscClock {
 public:
  // Measures the counter's rate against CLOCK_MONOTONIC, for 20 ms.
  static TscClock Calibrate() {
    using Monotonic = std::chrono::steady_clock;
    const auto start = Monotonic::now();
    const uint64_t start_ticks = __rdtsc();
    auto end = start;
    while (end - start < std::chrono::milliseconds(20)) end = Monotonic::now();
    const uint64_t ticks = __rdtsc() - start_ticks;
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
    return TscClock(start_ticks, static_cast<double>(ns) / static_cast<double>(ticks));
  }

  Time Now() const {
    return TimeFromNs(
        static_cast<int64_t>(static_cast<double>(__rdtsc() - origin_) * ns_per_tick_));
  }

 private:
  TscClock(uint64_t origin, double ns_per_tick) : origin_(origin), ns_per_tick_(ns_per_tick) {}

  uint64_t origin_;
  double ns_per_tick_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_CLOCK_H_
