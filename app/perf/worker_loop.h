// SPDX-License-Identifier: Apache-2.0
// Worker threads of suede-perf as a client process, and their loop.
#ifndef SUEDE_APP_PERF_WORKER_LOOP_H_
#define SUEDE_APP_PERF_WORKER_LOOP_H_

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "base/time.h"
#include "perf/clock.h"
#include "perf/load_run.h"
#include "perf/options.h"
#include "perf/progress.h"

namespace suede::perf {

struct Yield {
  void operator()() const { sched_yield(); }
};

// Calls step(now) until done(), and yields the CPU while idle, unless `spin`. Calls sleep(), which
// waits for events, after 10 ms without work. `endpoint`: an endpoint, or a clock.
template <class E, class Step, class Done, class Sleep = Yield>
void RunLoop(E& endpoint, bool spin, const Step& step, const Done& done, const Sleep& sleep = {}) {
  constexpr uint32_t kPollsToYield = 64;
  constexpr uint32_t kPollsToCheck = 1 << 16;
  constexpr Duration kTimeToSleep = std::chrono::milliseconds(10);
  Time last_work = endpoint.Now();
  uint32_t idle_polls = 0;
  while (!done()) {
    const Time now = endpoint.Now();
    if (step(now)) {
      last_work = now;
      idle_polls = 0;
      continue;
    }
    ++idle_polls;
    if constexpr (requires { endpoint.CheckConnection(); }) {
      if (idle_polls % kPollsToCheck == 0) endpoint.CheckConnection();
    }
    if (spin || idle_polls < kPollsToYield) continue;
    if (now - last_work > kTimeToSleep)
      sleep();
    else
      sched_yield();
  }
}

// Calls a server's step(now) until a signal, the end of its duration, or is_lost().
template <class E, class Step, class IsLost, class Sleep>
void ServeUntilEnd(const Options& options, E& endpoint, const std::atomic<bool>& stop,
                   const Step& step, const IsLost& is_lost, const Sleep& sleep) {
  const Time until = options.duration_s > 0 ? endpoint.Now() + Seconds(options.duration_s) : kNever;
  bool is_over = false;
  RunLoop(
      endpoint, options.spin,
      [&](Time now) {
        is_over = now >= until;
        return step(now);
      },
      [&] { return stop || is_over || is_lost(); }, sleep);
}

// Runs body(0) in this thread, and body(1) to body(count - 1) in new threads. Pins worker i to
// cpus[i], if present.
void InWorkers(uint32_t count, const std::vector<uint32_t>& cpus,
               const std::function<void(uint32_t)>& body);

// Performs the runs of one size, each in a worker, whose endpoint or clock is endpoint_of(worker).
// Returns their combined result.
template <class Run, class EndpointOf>
RunResult RunInWorkers(const Options& options, uint32_t data_bytes, std::deque<Run>& runs,
                       const EndpointOf& endpoint_of, const RunBoard* board = nullptr) {
  const auto count = static_cast<uint32_t>(runs.size());
  Progress progress(options, data_bytes, count);
  std::vector<const LoadRecord*> records;
  for (uint32_t worker = 0; worker < count; ++worker) {
    runs[worker].ReportTo(progress.worker(worker));
    records.push_back(&runs[worker].record());
  }
  InWorkers(count, options.cpus, [&](uint32_t worker) {
    Run& run = runs[worker];
    RunLoop(
        endpoint_of(worker), options.spin, [&](Time now) { return run.Poll(now); },
        [&] { return run.done(); });
  });
  return Combine(records, board);
}

// As above, one run, which is constructed from the options' plan, `stop` and `args`.
template <class Run, class E, class... Args>
RunResult RunInOne(const Options& options, uint32_t data_bytes, E& endpoint, const RunBoard* board,
                   const std::atomic<bool>& stop, Args&&... args) {
  std::deque<Run> runs;
  runs.emplace_back(PlanOf(options, data_bytes), stop, std::forward<Args>(args)...);
  return RunInWorkers(
      options, data_bytes, runs, [&](uint32_t) -> E& { return endpoint; }, board);
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_WORKER_LOOP_H_
