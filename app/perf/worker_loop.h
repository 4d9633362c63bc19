// SPDX-License-Identifier: Apache-2.0
// Worker threads of suede-perf as a client process, and their loop.
#ifndef SUEDE_APP_PERF_WORKER_LOOP_H_
#define SUEDE_APP_PERF_WORKER_LOOP_H_

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"

namespace suede::perf {

// Calls a workload's step until it is done, and yields the CPU while idle, unless `spin`.
template <class E>
class WorkerLoop {
 public:
  WorkerLoop(E& endpoint, bool spin) : endpoint_(endpoint), spin_(spin) {}

  // Calls step(now) until done(). Calls sleep(), which waits for events, after 10 ms without work.
  template <class Step, class Done, class Sleep>
  void Run(const Step& step, const Done& done, const Sleep& sleep) {
    Time last_work = endpoint_.Now();
    uint32_t idle_polls = 0;
    while (!done()) {
      const Time now = endpoint_.Now();
      if (step(now)) {
        last_work = now;
        idle_polls = 0;
        continue;
      }
      if (++idle_polls % kPollsToCheck == 0) endpoint_.CheckConnection();
      if (spin_ || idle_polls < kPollsToYield) continue;
      if (now - last_work > kTimeToSleep) {
        sleep();
      } else {
        sched_yield();
      }
    }
  }
  // As above, but yields instead of sleeping.
  template <class Step, class Done>
  void Run(const Step& step, const Done& done) {
    Run(step, done, [] { sched_yield(); });
  }

 private:
  static constexpr uint32_t kPollsToYield = 64;
  static constexpr uint32_t kPollsToCheck = 1 << 16;
  static constexpr Duration kTimeToSleep = std::chrono::milliseconds(10);

  E& endpoint_;
  const bool spin_;
};

// Runs body(0) in this thread, and body(1) to body(count - 1) in new threads. Pins worker i to
// cpus[i], if present.
void InWorkers(uint32_t count, const std::vector<uint32_t>& cpus,
               const std::function<void(uint32_t)>& body);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_WORKER_LOOP_H_
