// SPDX-License-Identifier: Apache-2.0
// Time in protocol code: nanoseconds on a clock that the caller reads.
//
// Protocol rooms never read a clock; each call passes a Time, and they return deadlines. On DPDK
// the clock is the TSC, in the simulator it is virtual.
#ifndef SUEDE_BASE_TIME_H_
#define SUEDE_BASE_TIME_H_

#include <chrono>
#include <cstdint>

namespace suede {

// A monotonic clock of unspecified origin. It has no now(): see above.
struct EndpointClock {
  using rep = int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<EndpointClock, duration>;
  static constexpr bool is_steady = true;
};

using Duration = EndpointClock::duration;
using Time = EndpointClock::time_point;

inline constexpr Time kNever = Time::max();

constexpr Time TimeFromNs(int64_t ns) { return Time(Duration(ns)); }
constexpr Time TimeFromMs(int64_t ms) { return Time(std::chrono::milliseconds(ms)); }
constexpr int64_t ToNs(Time t) { return t.time_since_epoch().count(); }

}  // namespace suede

#endif  // SUEDE_BASE_TIME_H_
