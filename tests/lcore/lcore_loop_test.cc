// SPDX-License-Identifier: Apache-2.0
// The loop around the turns: its counters, and when it waits.
#include "lcore/lcore_loop.h"

#include <gtest/gtest.h>

#include <vector>

namespace suede {
namespace {

// Each reading is 10 cycles after the one before; a cycle is 2 ns.
struct StepClock {
  uint64_t Cycles() const { return cycles += 10; }
  Time TimeAt(uint64_t c) const { return TimeFromNs(static_cast<int64_t>(2 * c)); }
  mutable uint64_t cycles = 1000;
};

struct CountingWaiter {
  void Pause() { ++pauses; }
  void Yield() {
    ++yields;
    if (clock != nullptr) clock->cycles += 500;
  }
  void Sleep(Duration time) {
    sleeps.push_back(time);
    if (clock != nullptr) clock->cycles += static_cast<uint64_t>(time.count()) / 2;
  }
  const StepClock* clock = nullptr;  // advanced by sleeping, and by 1 us in each yield
  uint32_t pauses = 0;
  uint32_t yields = 0;
  std::vector<Duration> sleeps;
};

// Finds work in the first `busy` of its turns and stops the loop in the last of `turns`.
class Script {
 public:
  Script(uint32_t busy, uint32_t turns, std::atomic<bool>& stop)
      : busy_(busy), turns_(turns), stop_(stop) {}
  virtual ~Script() = default;
  virtual bool Poll(Time now) {
    times.push_back(now);
    if (times.size() == turns_) stop_ = true;
    return times.size() <= busy_;
  }
  void CountCycles(bool busy, uint64_t cycles) { (busy ? busy_cycles : idle_cycles) += cycles; }
  std::vector<Time> times;
  uint64_t busy_cycles = 0;
  uint64_t idle_cycles = 0;

 private:
  const uint32_t busy_;
  const uint32_t turns_;
  std::atomic<bool>& stop_;
};

TEST(RunLoop, CountsTheCyclesOfEachTurnAsBusyOrIdle) {
  std::atomic<bool> stop = false;
  Script script(3, 8, stop);
  const StepClock clock;
  CountingWaiter waiter;
  RunLoop(script, clock, waiter, IdleStrategy::kSpin, stop);
  // The clock is read once before the loop, then once a turn; the last turn is not counted.
  EXPECT_EQ(script.busy_cycles, 30);
  EXPECT_EQ(script.idle_cycles, 50);
  ASSERT_EQ(script.times.size(), 8);
  EXPECT_EQ(script.times[0], TimeFromNs(2 * 1020));
  EXPECT_EQ(script.times[7], TimeFromNs(2 * 1090));
  EXPECT_EQ(waiter.pauses, 5);
}

TEST(RunLoop, StaysAwakeForAMomentThenSleepsForAnEighthOfTheIdleTime) {
  std::atomic<bool> stop = false;
  Script script(0, 200, stop);
  const StepClock clock;
  CountingWaiter waiter;
  waiter.clock = &clock;
  RunLoop(script, clock, waiter, IdleStrategy::kSleep, stop);
  EXPECT_GE(waiter.yields, 45);
  EXPECT_LE(waiter.yields, 50);
  ASSERT_EQ(waiter.sleeps.size(), 200 - 63 - waiter.yields);
  EXPECT_EQ(waiter.sleeps.front() / 1000, std::chrono::nanoseconds(6));
  EXPECT_EQ(waiter.sleeps.back(), std::chrono::milliseconds(1));
  for (size_t i = 0; i < waiter.sleeps.size(); ++i) {
    const Duration idle = script.times[63 + waiter.yields + i] - script.times[0];
    EXPECT_LE(waiter.sleeps[i], idle / 8) << i;
    if (i != 0) {
      EXPECT_GE(waiter.sleeps[i], waiter.sleeps[i - 1]) << i;
    }
  }
}

TEST(RunLoop, LetsOtherThreadsRunWhileNothingComes) {
  std::atomic<bool> stop = false;
  Script script(0, 70, stop);
  CountingWaiter waiter;
  RunLoop(script, StepClock(), waiter, IdleStrategy::kYield, stop);
  EXPECT_EQ(waiter.yields, 70u - 63);
  EXPECT_EQ(waiter.pauses, 70u);
  EXPECT_TRUE(waiter.sleeps.empty());
}

// Finds work in one of its turns.
class BusyOnce : public Script {
 public:
  BusyOnce(uint32_t busy, uint32_t turns, std::atomic<bool>& stop)
      : Script(0, turns, stop), busy_(busy) {}
  bool Poll(Time now) override {
    Script::Poll(now);
    return times.size() == busy_;
  }

 private:
  const uint32_t busy_;
};

TEST(RunLoop, WorkEndsTheSleepingAndItsLength) {
  std::atomic<bool> stop = false;
  BusyOnce script(167, 167 + 64 + 50, stop);
  const StepClock clock;
  CountingWaiter waiter;
  waiter.clock = &clock;
  RunLoop(script, clock, waiter, IdleStrategy::kSleep, stop);
  ASSERT_GT(waiter.sleeps.size(), 40u);
  EXPECT_GT(waiter.sleeps[40], std::chrono::microseconds(100));
  EXPECT_LT(waiter.sleeps.back(), std::chrono::microseconds(10));
}

}  // namespace
}  // namespace suede
