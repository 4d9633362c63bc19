// SPDX-License-Identifier: Apache-2.0
// Credit of 24 bits: wrapping, overtaking, loss.
#include "congestion/credit.h"

#include <gtest/gtest.h>

#include <random>

namespace suede {
namespace {

constexpr int64_t kUnit = kCreditUnitOctets;

TEST(Credit24, CountsWholeUnitsAndBegunOnes) {
  EXPECT_EQ(Credit24::Floor(0).value(), 0u);
  EXPECT_EQ(Credit24::Floor(255).value(), 0u);
  EXPECT_EQ(Credit24::Floor(256).value(), 1u);
  EXPECT_EQ(Credit24::Ceil(0).value(), 0u);
  EXPECT_EQ(Credit24::Ceil(1).value(), 1u);
  EXPECT_EQ(Credit24::Ceil(257).value(), 2u);
}

TEST(Credit24, HasTwentyFourBits) {
  EXPECT_EQ(Credit24(0xFF123456).value(), 0x123456u);
  EXPECT_EQ(Credit24::Floor(int64_t{1} << 32).value(), 0u);
  EXPECT_EQ(Credit24::Floor((int64_t{1} << 32) + 256).value(), 1u);
}

TEST(Credit24, ComparesModuloItsSize) {
  EXPECT_TRUE(Credit24(1).IsAfter(Credit24(0xFFFFFF)));
  EXPECT_FALSE(Credit24(0xFFFFFF).IsAfter(Credit24(1)));
  EXPECT_EQ(Credit24(5).DistanceFrom(Credit24(0xFFFFFB)), 10);
  EXPECT_EQ(Credit24(0x800000).DistanceFrom(Credit24(0)), -(1 << 23));
  EXPECT_EQ(Credit24(0x7FFFFF).DistanceFrom(Credit24(0)), (1 << 23) - 1);
}

TEST(Credit24, ExtendsToTheNearestNumber) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto units = static_cast<int64_t>(random() >> (9 + random() % 40));
    const int64_t apart = static_cast<int64_t>(random() % (1 << 24)) - (1 << 23);
    const int64_t near = units * kUnit + static_cast<int64_t>(random() % kUnit);
    if (units + apart < 0) continue;
    const Credit24 credit = Credit24::Floor((units + apart) * kUnit);
    ASSERT_EQ(credit.Octets(near), (units + apart) * kUnit) << units << ' ' << apart;
    ASSERT_EQ(credit.IsAfter(Credit24::Floor(near)), apart > 0);
  }
}

// One end follows the count of the other through wraps, whatever is lost or overtakes.
TEST(Credit24, IsFollowedThroughLossAndOvertaking) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    int64_t counted = 0;
    int64_t followed = 0;
    Credit24 straggler;
    for (int i = 0; i < 1000; ++i) {
      counted +=
          static_cast<int64_t>(random() % (int64_t{1} << (10 + random() % 20))) / kUnit * kUnit;
      const Credit24 credit = Credit24::Floor(counted);
      if (random() % 4 == 0) straggler = credit;
      const bool lost = counted - followed < kCreditSpan / 2 && random() % 3 == 0;
      if (!lost) {
        followed = std::max(followed, credit.Octets(followed));
        ASSERT_EQ(followed, counted);
      }
      if (counted - straggler.Octets(counted) < kCreditSpan / 2) {
        followed = std::max(followed, straggler.Octets(followed));
        ASSERT_LE(followed, counted);
      }
    }
    ASSERT_GT(counted, int64_t{1} << 33);  // it has wrapped
  }
}

}  // namespace
}  // namespace suede
