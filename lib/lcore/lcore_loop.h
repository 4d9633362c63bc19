// SPDX-License-Identifier: Apache-2.0
// The loop that an lcore runs until it is stopped.
#ifndef SUEDE_LCORE_LCORE_LOOP_H_
#define SUEDE_LCORE_LCORE_LOOP_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace suede {

// The strategy for a poll iteration without work.
enum class IdleStrategy : uint8_t {
  kSpin,   // poll again at once: lowest latency, a whole CPU
  kYield,  // let other threads of the CPU run
  kSleep,  // yield for a moment, then sleep for a part of the time without work: for machines with
           // more XPUs than CPUs
};

// Worker has CountCycles and Poll, like Pipeline. The loop reads the clock once in a poll
// iteration: Clock has Cycles() and TimeAt(cycles). The cycles of an iteration are counted when the
// next begins. Waiter has Pause(), Yield() and Sleep(Duration).
template <typename Worker, typename Clock, typename Waiter>
void RunLoop(Worker& worker, const Clock& clock, Waiter& waiter, IdleStrategy idle,
             const std::atomic<bool>& stop) {
  constexpr uint32_t kPollsBeforeWaiting = 64;
  // Even a short sleep may take as long. Answers to what the lcore has just sent find it awake.
  constexpr Duration kAwake = std::chrono::microseconds(50);
  // A command that ends the idle time waits for at most an eighth of it.
  constexpr int kSleptPart = 8;
  // No timeout is late by more than an eighth either: it was set before the idle time began.
  constexpr Duration kMaxSleep = std::chrono::milliseconds(1);
  uint32_t idle_polls = 0;
  Time idle_since{};
  bool busy = false;
  uint64_t last = clock.Cycles();
  while (!stop.load(std::memory_order_relaxed)) {
    const uint64_t cycles = clock.Cycles();
    worker.CountCycles(busy, cycles - last);
    last = cycles;
    const Time now = clock.TimeAt(cycles);
    busy = worker.Poll(now);
    if (busy) {
      idle_polls = 0;
      continue;
    }
    waiter.Pause();
    if (idle == IdleStrategy::kSpin) continue;
    if (++idle_polls == 1) idle_since = now;
    if (idle_polls < kPollsBeforeWaiting) continue;
    if (idle == IdleStrategy::kYield || now - idle_since < kAwake) {
      waiter.Yield();
    } else {
      waiter.Sleep(std::min((now - idle_since) / kSleptPart, kMaxSleep));
    }
  }
}

}  // namespace suede

#endif  // SUEDE_LCORE_LCORE_LOOP_H_
