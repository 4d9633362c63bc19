// SPDX-License-Identifier: Apache-2.0
#include "base/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace suede {
namespace {

constexpr Time At(int64_t tick) { return TimeFromNs(tick * TimerWheel::kTickNs); }

class TimerWheelTest : public ::testing::Test {
 protected:
  TimerWheelTest() { wheel.Resize(4); }
  std::vector<uint32_t> Advance(Time now) {
    std::vector<uint32_t> fired;
    const bool any = wheel.Advance(now, [&](uint32_t owner) { fired.push_back(owner); });
    EXPECT_EQ(any, !fired.empty());
    return fired;
  }
  using Owners = std::vector<uint32_t>;
  TimerWheel wheel;
};

TEST_F(TimerWheelTest, FiresSoonAfterTheDeadlineAndNotBefore) {
  wheel.Arm(1, At(10));
  EXPECT_EQ(Advance(At(10)), Owners{});
  EXPECT_EQ(Advance(At(11)), Owners{1});
  EXPECT_EQ(Advance(At(20)), Owners{});
}

TEST_F(TimerWheelTest, NeverIsNotArmed) {
  wheel.Arm(1, kNever);
  EXPECT_EQ(Advance(At(5000)), Owners{});
}

TEST_F(TimerWheelTest, DeadlineInThePastFiresAtTheNextTick) {
  Advance(At(100));
  wheel.Arm(2, At(3));
  EXPECT_EQ(Advance(At(101)), Owners{2});
}

TEST_F(TimerWheelTest, EarlierDeadlineReplacesALaterOne) {
  wheel.Arm(1, At(500));
  wheel.Arm(1, At(5));
  EXPECT_EQ(Advance(At(6)), Owners{1});
  EXPECT_EQ(Advance(At(600)), Owners{});
}

// Each of several owners in one place moves away from it: the first, one between, the last.
TEST_F(TimerWheelTest, EarlierDeadlineLeavesOthersOfTheOldPlaceThere) {
  for (uint32_t moved = 0; moved < 3; ++moved) {
    wheel = TimerWheel();
    wheel.Resize(4);
    for (uint32_t owner = 0; owner < 3; ++owner) wheel.Arm(owner, At(9));
    wheel.Arm(moved, At(3));
    EXPECT_EQ(Advance(At(9)), Owners{moved});
    Owners others = Advance(At(10));
    std::ranges::sort(others);
    Owners expected{0, 1, 2};
    expected.erase(expected.begin() + moved);
    EXPECT_EQ(others, expected) << moved;
  }
}

TEST_F(TimerWheelTest, LaterDeadlineKeepsThePlaceAndIsAskedAgain) {
  wheel.Arm(1, At(5));
  wheel.Arm(1, At(50));
  EXPECT_EQ(Advance(At(6)), Owners{1});  // the owner sees that it is early, and arms again
  wheel.Arm(1, At(50));
  EXPECT_EQ(Advance(At(50)), Owners{});
  EXPECT_EQ(Advance(At(51)), Owners{1});
}

TEST_F(TimerWheelTest, DeadlineBeyondOneTurnIsAskedOnTheWay) {
  wheel.Arm(1, At(5000));
  EXPECT_EQ(Advance(At(1022)), Owners{});
  EXPECT_EQ(Advance(At(1023)), Owners{1});
}

// Within a turn an owner is first asked once its deadline has come; beyond, it is asked before.
TEST_F(TimerWheelTest, ReachesDeadlinesWithinATurn) {
  for (const int64_t now : {0, 1, 5000}) {
    Advance(At(now));
    for (const int64_t ahead : {-5, 0, 1, 1021, 1022, 1023, 1024, 100'000}) {
      const Time deadline = At(now + ahead) + Duration(1);
      EXPECT_EQ(wheel.Reaches(deadline), ahead < 1023) << now << " " << ahead;
      TimerWheel copy = wheel;
      copy.Arm(1, deadline);
      bool early = false;
      copy.Advance(At(now + ahead), [&](uint32_t) { early = true; });
      EXPECT_EQ(early, ahead >= 1023) << now << " " << ahead;
    }
    EXPECT_FALSE(wheel.Reaches(kNever));
  }
}

TEST_F(TimerWheelTest, LongPauseFiresEverythingOnce) {
  wheel.Arm(0, At(3));
  wheel.Arm(1, At(900));
  wheel.Arm(2, At(900));
  EXPECT_EQ(Advance(At(100'000)).size(), 3u);
}

TEST_F(TimerWheelTest, OwnersOfOneTickMayArmAgainFromWithinTheCall) {
  for (uint32_t owner = 0; owner < 4; ++owner) wheel.Arm(owner, At(2));
  int fired = 0;
  wheel.Advance(At(3), [&](uint32_t owner) {
    ++fired;
    wheel.Arm(owner, At(9));
  });
  EXPECT_EQ(fired, 4);
  EXPECT_EQ(Advance(At(10)).size(), 4u);
}

// After a pause of several ticks an owner arms far ahead from within the call: its place must not
// be the slot that is being emptied, or the call would never end.
TEST_F(TimerWheelTest, ArmingFarAheadAfterAPauseEnds) {
  for (int64_t late = 0; late < 1100; late += 1) {
    TimerWheel w;
    w.Resize(1);
    w.Arm(0, At(4));  // comes up at tick 5
    for (int64_t ahead = 0; ahead < 2; ++ahead) {
      int fired = 0;
      w.Advance(At(5 + late + 2000 * ahead), [&](uint32_t owner) {
        if (++fired < 10) w.Arm(owner, At(5 + late + 2000 * ahead + 1500));
      });
      ASSERT_LE(fired, 2) << late;
    }
  }
}

}  // namespace
}  // namespace suede
