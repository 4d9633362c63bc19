// SPDX-License-Identifier: Apache-2.0
// Session groups behind links of which some are hot, in virtual time: shares and ratios of runs
// that are the same on every machine, never the speed of this one.
#include <gtest/gtest.h>

#include "fast_crc.h"
#include "hot_links_run.h"

namespace suede {
namespace {

using std::chrono::microseconds;

class HotLinksTest : public testing::Test {
 protected:
  HotLinksTest() { InstallFastCrc(); }
  static HotLinksOptions Loaded(uint64_t seed) {
    return {.control = CongestionControl::kNscc,
            .calm_load = 0.5,
            .seed = seed,
            .warm_up = microseconds(2000),
            .window = microseconds(2000)};
  }
};

TEST_F(HotLinksTest, ALinkCarriesWhatTheBackgroundLeaves) {
  HotLinksOptions options = Loaded(1);
  options.sessions = 1;
  options.hot = 0;
  const HotGoodput half = MeasureHotGoodput(options);
  EXPECT_EQ(half.failure, "");
  EXPECT_LT(half.goodput_bps, 50e9);
  EXPECT_GT(half.goodput_bps, 35e9);
  options.calm_load = 0;
  const HotGoodput whole = MeasureHotGoodput(options);
  EXPECT_EQ(whole.failure, "");
  EXPECT_GT(whole.goodput_bps, 85e9);
}

TEST_F(HotLinksTest, AFullQueueLosesFramesAndAllCommandsArrive) {
  HotLinksOptions options = Loaded(1);
  options.control = CongestionControl::kFixed;
  options.calm_load = 0.9;
  const HotGoodput goodput = MeasureHotGoodput(options);
  EXPECT_EQ(goodput.failure, "");
  EXPECT_GT(goodput.lost, 0u);
}

// Two links of eight have background of 90 %, the others of 50 %.
TEST_F(HotLinksTest, SessionGroupsCarryMoreThanOneSession) {
  double groups = 0;
  double ones = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    HotLinksOptions options = Loaded(seed);
    const HotGoodput group = MeasureHotGoodput(options);
    EXPECT_EQ(group.failure, "") << "seed " << seed;
    EXPECT_LE(group.hot_share, 0.05) << "seed " << seed;
    EXPECT_GT(group.open, 1u);
    options.sessions = 1;
    const HotGoodput one = MeasureHotGoodput(options);
    EXPECT_EQ(one.failure, "") << "seed " << seed;
    groups += group.goodput_bps;
    ones += one.goodput_bps;
    if (!one.begins_hot) continue;
    EXPECT_GE(group.goodput_bps, 5 * one.goodput_bps) << "seed " << seed;
  }
  EXPECT_GE(groups, 1.8 * ones);
}

TEST_F(HotLinksTest, LinksThatBecomeHotAreAvoided) {
  double round_trips = 0;
  constexpr uint64_t kSeeds = 12;  // one seed takes 2.5 to 7.5, 40 of them 4.6 on average
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    HotLinksOptions options = Loaded(seed);
    options.pairs = 8;
    options.calm_load = 0.2;
    options.warm_up = microseconds(4000);
    const HotReaction reaction = MeasureHotReaction(options);
    EXPECT_EQ(reaction.failure, "") << "seed " << seed;
    EXPECT_GT(reaction.share_before, 0.2);
    EXPECT_TRUE(reaction.is_avoided) << "seed " << seed;
    EXPECT_LE(reaction.share_after, kFewShare);
    round_trips += static_cast<double>(reaction.avoided.count()) /
                   static_cast<double>(reaction.round_trip.count());
  }
  EXPECT_LE(round_trips / kSeeds, 5);
}

TEST_F(HotLinksTest, WithoutCongestionControlASessionThatMovesSendsNothingAgain) {
  HotLinksOptions options = Loaded(1);
  options.control = CongestionControl::kFixed;
  options.calm_load = 0.2;
  options.links.queue_bytes = 16'000'000;
  const HotGoodput goodput = MeasureHotGoodput(options);
  EXPECT_EQ(goodput.failure, "");
  EXPECT_EQ(goodput.lost, 0u);
  EXPECT_GT(goodput.moves, 8u);
  EXPECT_EQ(goodput.retransmissions, 0u);
}

// The first session of these hashes takes a link that loses 1 % of the frames, and delays none.
TEST_F(HotLinksTest, ALinkThatLosesFramesIsLeft) {
  for (const uint64_t seed : {5, 12}) {
    HotLinksOptions options = Loaded(seed);
    options.calm_load = 0;
    options.hot_load = 0.5;
    options.hot_loss = 0.01;
    options.warm_up = microseconds(4000);
    options.window = microseconds(4000);
    const HotGoodput goodput = MeasureHotGoodput(options);
    EXPECT_EQ(goodput.failure, "") << "seed " << seed;
    EXPECT_TRUE(goodput.begins_hot) << "seed " << seed;
    EXPECT_GT(goodput.lost, 0u) << "seed " << seed;
    EXPECT_LE(goodput.hot_share, 0.05) << "seed " << seed;
    EXPECT_GE(goodput.goodput_bps, 90e9) << "seed " << seed;
  }
}

TEST_F(HotLinksTest, ASeedIsARun) {
  const HotGoodput first = MeasureHotGoodput(Loaded(3));
  EXPECT_EQ(MeasureHotGoodput(Loaded(3)).goodput_bps, first.goodput_bps);
}

}  // namespace
}  // namespace suede
