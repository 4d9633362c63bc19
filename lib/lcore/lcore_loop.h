// SPDX-License-Identifier: Apache-2.0
// The loop that an lcore runs until it is stopped.
#ifndef SUEDE_LCORE_LCORE_LOOP_H_
#define SUEDE_LCORE_LCORE_LOOP_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace suede {

// The strategy for a poll iteration without work.
enum class IdleStrategy : uint8_t {
  kSpin,   // poll again at once: lowest latency, a whole CPU
  kYield,  // let other threads of the CPU run
  kSleep,  // sleep, longer and longer: for machines with more XPUs than CPUs
};

// Worker has CountCycles and Poll, like Pipeline. The loop reads the clock once in a poll
// iteration: Clock has Cycles() and TimeAt(cycles). The cycles of an iteration are counted when the
// next begins. Waiter has Pause(), Yield() and Sleep(nanoseconds).
template <typename Worker, typename Clock, typename Waiter>
void RunLoop(Worker& worker, const Clock& clock, Waiter& waiter, IdleStrategy idle,
             const std::atomic<bool>& stop) {
  constexpr uint32_t kPollsBeforeWaiting = 64;
  constexpr int64_t kMinSleepNs = 1000;
  constexpr int64_t kMaxSleepNs = 64'000;
  uint32_t idle_polls = 0;
  int64_t sleep_ns = kMinSleepNs;
  bool busy = false;
  uint64_t last = clock.Cycles();
  while (!stop.load(std::memory_order_relaxed)) {
    const uint64_t cycles = clock.Cycles();
    worker.CountCycles(busy, cycles - last);
    last = cycles;
    busy = worker.Poll(clock.TimeAt(cycles));
    if (busy) {
      idle_polls = 0;
      sleep_ns = kMinSleepNs;
      continue;
    }
    waiter.Pause();
    if (idle == IdleStrategy::kSpin || ++idle_polls < kPollsBeforeWaiting) continue;
    if (idle == IdleStrategy::kYield) {
      waiter.Yield();
    } else {
      waiter.Sleep(sleep_ns);
      sleep_ns = std::min(sleep_ns * 2, kMaxSleepNs);
    }
  }
}

}  // namespace suede

#endif  // SUEDE_LCORE_LCORE_LOOP_H_
