// SPDX-License-Identifier: Apache-2.0
#include "fare/damper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace suede::fare {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class DamperTest : public ::testing::Test {
 protected:
  void Tell(double share) { damper.OnShare(share, now, params); }

  DampingParams params;
  Damper damper;
  Time now = TimeFromNs(1'000'000'000);
};

TEST_F(DamperTest, TheFirstShareIsNoFlap) {
  EXPECT_FALSE(damper.begun());
  Tell(5);
  EXPECT_TRUE(damper.begun());
  EXPECT_EQ(damper.share(), 5);
  EXPECT_EQ(damper.PenaltyAt(now, params), 0);
  Tell(5);
  EXPECT_EQ(damper.PenaltyAt(now, params), 0) << "nothing has changed";
}

TEST_F(DamperTest, OneOutageIsForgiven) {
  Tell(5);
  Tell(0);
  EXPECT_EQ(damper.share(), 0);
  now += milliseconds(100);
  Tell(5);
  EXPECT_EQ(damper.share(), 5);
  EXPECT_EQ(damper.deadline(), kNever);
  EXPECT_NEAR(damper.PenaltyAt(now, params), 2000, 20);
  EXPECT_NEAR(damper.PenaltyAt(now + params.half_life, params), 1000, 10);
}

TEST_F(DamperTest, GoodNewsOfOneThatFlapsWaits) {
  Tell(5);
  Tell(0);
  Tell(5);
  Tell(0);
  Tell(5);
  EXPECT_EQ(damper.share(), 0);
  EXPECT_TRUE(damper.holds());
  // 4000 decays to 1000 in two half-lives.
  EXPECT_GE(damper.deadline(), now + 2 * params.half_life);
  EXPECT_LE(damper.deadline(), now + 2 * params.half_life + milliseconds(1));
  now = damper.deadline() - milliseconds(1);
  damper.OnTime(now, params);
  EXPECT_EQ(damper.share(), 0);
  now = damper.deadline();
  damper.OnTime(now, params);
  EXPECT_EQ(damper.share(), 5);
  EXPECT_EQ(damper.deadline(), kNever);
}

TEST_F(DamperTest, BadNewsNeverWaits) {
  Tell(8);
  for (const double share : {4.0, 8.0, 4.0, 8.0, 4.0, 8.0}) Tell(share);
  EXPECT_EQ(damper.share(), 4);
  Tell(2);
  EXPECT_EQ(damper.share(), 2);
  Tell(3);
  EXPECT_EQ(damper.share(), 2) << "more than it uses is good news";
  Tell(0);
  EXPECT_EQ(damper.share(), 0);
}

TEST_F(DamperTest, AnotherScaleIsNoFlapAndKeepsThePartThatIsHeldBack) {
  Tell(8);
  damper.Rescale(3);
  EXPECT_EQ(damper.share(), 3);
  EXPECT_EQ(damper.PenaltyAt(now, params), 0);
  for (const double share : {8.0, 4.0, 8.0}) Tell(share);
  EXPECT_EQ(damper.share(), 4);
  damper.Rescale(2000);
  EXPECT_EQ(damper.share(), 1000);
  EXPECT_EQ(damper.offered(), 2000);
  now = damper.deadline();
  damper.OnTime(now, params);
  EXPECT_EQ(damper.share(), 2000);
}

TEST_F(DamperTest, ThePenaltyIsBounded) {
  Tell(5);
  for (int i = 0; i < 1000; ++i) Tell(i % 2);
  EXPECT_EQ(damper.PenaltyAt(now, params), params.max);
  // 12000 decays to 1000 in less than four half-lives.
  EXPECT_LT(damper.deadline(), now + 4 * params.half_life);
}

TEST_F(DamperTest, WithoutAHalfLifeNothingIsDamped) {
  params.half_life = {};
  for (int i = 0; i < 100; ++i) {
    Tell(i % 7);
    EXPECT_EQ(damper.share(), i % 7);
  }
}

// Whatever happens, no more is used than the routes give, and all of it after a time of quiet.
TEST_F(DamperTest, AnyScheduleEndsWithWhatTheRoutesGive) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    Damper one;
    double share = 0;
    for (int step = 0; step < 40; ++step) {
      now += milliseconds(random() % 3000);
      if (random() % 2 == 0) {
        share = static_cast<double>(random() % 4);
        one.OnShare(share, now, params);
      } else if (one.begun()) {
        one.OnTime(now, params);
      }
      ASSERT_LE(one.share(), share);
      ASSERT_EQ(one.holds(), one.deadline() != kNever);
      if (one.holds()) {
        ASSERT_GT(one.deadline(), now);
      }
    }
    if (one.holds()) {
      ASSERT_LE(one.deadline(), now + seconds(20));
      now = one.deadline();
      one.OnTime(now, params);
    }
    ASSERT_EQ(one.share(), share);
  }
}

}  // namespace
}  // namespace suede::fare
