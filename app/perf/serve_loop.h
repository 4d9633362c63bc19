// SPDX-License-Identifier: Apache-2.0
// The loop of a server over libsuede-mem. Runs until a signal or the end of its duration, and
// yields the CPU while idle.
#ifndef SUEDE_APP_PERF_SERVE_LOOP_H_
#define SUEDE_APP_PERF_SERVE_LOOP_H_

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/time.h"
#include "perf/clock.h"
#include "perf/options.h"

namespace suede::perf {

enum class Served : uint8_t { kSomething, kNothing, kOver };

// Calls serve() until it returns kOver. Calls sleep(), which waits for events, after 10 ms without
// work, or without that delay if `by_others`: another thread or the lcore serves. sleep() returns
// false to end the loop.
template <class Serve, class Sleep>
void ServeUntilEnd(const Options& options, const std::atomic<bool>& stop, bool by_others,
                   const Serve& serve, const Sleep& sleep) {
  constexpr uint32_t kPollsToYield = 64;
  constexpr Duration kTimeToSleep = std::chrono::milliseconds(10);
  const TscClock clock = TscClock::Calibrate();
  const Time until = options.duration_s > 0 ? clock.Now() + Seconds(options.duration_s) : kNever;
  uint32_t idle_polls = 0;
  Time last_work = clock.Now();
  while (!stop) {
    const Served served = serve();
    if (served == Served::kOver) return;
    if (served == Served::kSomething) {
      idle_polls = 0;
      continue;
    }
    if (++idle_polls < kPollsToYield) continue;
    const Time now = clock.Now();
    if (idle_polls == kPollsToYield) last_work = now;
    if (now >= until) return;
    if (options.spin && !by_others) continue;
    if (!by_others && now - last_work < kTimeToSleep) {
      sched_yield();
    } else if (!sleep()) {
      return;
    }
  }
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_SERVE_LOOP_H_
