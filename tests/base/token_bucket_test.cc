// SPDX-License-Identifier: Apache-2.0
#include "base/token_bucket.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

TEST(TokenBucketTest, PermitsABurstAndThenTheRate) {
  TokenBucket bucket(10'000, 64);
  const Time start = TimeFromNs(123'456'789);
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(bucket.Take(start)) << i;
  EXPECT_FALSE(bucket.Take(start));
  EXPECT_FALSE(bucket.Take(start + microseconds(100) - Duration(1)));
  EXPECT_TRUE(bucket.Take(start + microseconds(100)));
  EXPECT_FALSE(bucket.Take(start + microseconds(100)));
  // Unused tokens are there again, but never more than the burst.
  const Time later = start + seconds(10);
  int permitted = 0;
  while (bucket.Take(later)) ++permitted;
  EXPECT_EQ(permitted, 64);
}

TEST(TokenBucketTest, ABurstOfOneSpacesEvenly) {
  TokenBucket bucket(1000, 1);
  const Time start = TimeFromNs(5);
  EXPECT_TRUE(bucket.Take(start));
  EXPECT_FALSE(bucket.Take(start + microseconds(999)));
  EXPECT_TRUE(bucket.Take(start + microseconds(1000)));
}

TEST(TokenBucketTest, AQuarterOfASecondsEventsAtOnce) {
  TokenBucket bucket = TokenBucket::QuarterAtOnce(100);
  int64_t now_ms = 1'000'000;
  int taken = 0;
  while (bucket.Take(TimeFromMs(now_ms))) ++taken;
  EXPECT_EQ(taken, 25);
  for (int ms = 0; ms < 1000; ++ms) taken += bucket.Take(TimeFromMs(++now_ms)) ? 1 : 0;
  EXPECT_EQ(taken, 125);
  EXPECT_FALSE(bucket.Take(TimeFromMs(now_ms - 500))) << "a clock that goes back gives nothing";
  TokenBucket slow = TokenBucket::QuarterAtOnce(2);
  EXPECT_TRUE(slow.Take(TimeFromMs(now_ms))) << "at least one";
  EXPECT_FALSE(slow.Take(TimeFromMs(now_ms + 499)));
}

// Twice the rate is offered: exactly the rate passes, and the burst on top.
TEST(TokenBucketTest, HalfOfTwiceTheRatePasses) {
  TokenBucket bucket(10'000, 64);
  const Time start = TimeFromNs(1'000'000'000);
  int passed = 0;
  for (int i = 0; i < 20'000; ++i) passed += bucket.Take(start + microseconds(50) * i) ? 1 : 0;
  // The last is offered 50 us before the second is over.
  EXPECT_EQ(passed, 10'000 + 63);
}

// At any times, no window sees more than rate * T + burst, and with enough offered it is
// used.
TEST(TokenBucketTest, NoWindowSeesMore) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto burst = static_cast<uint32_t>(1 + random() % 128);
    TokenBucket bucket(10'000, burst);
    std::vector<int64_t> passed;
    int64_t now = random() % 1'000'000'000;
    for (int i = 0; i < 5000; ++i) {
      if (bucket.Take(TimeFromNs(now))) passed.push_back(now);
      now += random() % 10 == 0 ? random() % 5'000'000 : random() % 100'000;
    }
    ASSERT_GT(passed.size(), burst);
    for (size_t first = 0; first < passed.size(); first += 7) {
      for (size_t last = first; last < passed.size(); last += 5) {
        const int64_t max = (passed[last] - passed[first]) / 100'000 + burst;
        ASSERT_LE(static_cast<int64_t>(last - first + 1), max) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace suede
