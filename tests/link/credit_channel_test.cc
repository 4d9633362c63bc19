// SPDX-License-Identifier: Apache-2.0
// Credit between two ends over thousands of bad channels. SUEDE_CREDIT_SEEDS sets how many.
#include "credit_channel.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace suede {
namespace {

TEST(CreditChannel, AllFramesPassAndNoBufferIsOverrun) {
  const char* const given = std::getenv("SUEDE_CREDIT_SEEDS");
  const uint64_t seeds = given != nullptr ? std::strtoull(given, nullptr, 10) : 300;
  CreditChannelResult sum;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const CreditChannelResult result = CreditChannel(seed).Run();
    ASSERT_EQ(result.error, "") << "seed " << seed;
    sum.frames += result.frames;
    sum.lost_frames += result.lost_frames;
    sum.updates += result.updates;
    sum.lost_updates += result.lost_updates;
    sum.late_updates += result.late_updates;
    sum.repaired += result.repaired;
    sum.restarts += result.restarts;
    sum.stalls += result.stalls;
    sum.max_held = std::max(sum.max_held, result.max_held);
  }
  std::printf(
      "%llu seeds: %llu frames, %llu lost; %llu updates, %llu lost, %llu late; "
      "%llu credits repaired, %llu restarts; a buffer was full to %.1f %%\n",
      static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(sum.frames),
      static_cast<unsigned long long>(sum.lost_frames),
      static_cast<unsigned long long>(sum.updates),
      static_cast<unsigned long long>(sum.lost_updates),
      static_cast<unsigned long long>(sum.late_updates),
      static_cast<unsigned long long>(sum.repaired), static_cast<unsigned long long>(sum.restarts),
      static_cast<double>(sum.max_held) / 10);
  // The seeds have played all that the test is about.
  EXPECT_GT(sum.lost_frames, 0u);
  EXPECT_GT(sum.lost_updates, 0u);
  EXPECT_GT(sum.late_updates, 0u);
  EXPECT_GT(sum.repaired, 0u);
  EXPECT_GT(sum.restarts, 0u);
  EXPECT_GT(sum.stalls, 0u);
  EXPECT_EQ(sum.max_held, 1000u) << "some buffer was full, and none more than that";
}

}  // namespace
}  // namespace suede
