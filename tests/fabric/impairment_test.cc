// SPDX-License-Identifier: Apache-2.0
#include "fabric/impairment.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

// A switch of two ports whose output 1 is impaired: numbered frames in, the numbers that come out.
struct Line {
  explicit Line(const ImpairmentParams& impairment, uint64_t seed = 1) : fabric(Params(seed)) {
    fabric.the_switch.AddAddress(Switch::MacKey(MacNumber(2), 0), 1);
    fabric.the_switch.impairment_out(1).Set(impairment);
  }
  static SwitchParams Params(uint64_t seed) {
    SwitchParams params = ParamsOf(2);
    params.seed = seed;
    params.learns = false;
    return params;
  }
  void Send(uint32_t number, Time now, uint32_t bytes = 64) {
    SueFrame sue{.from = 1, .to = 2, .bytes = bytes};
    auto frame = BytesOf(sue);
    StoreBe32(frame.data() + 46, number);  // in the RH and the commands
    fabric.In(0, frame, now);
  }
  std::vector<uint32_t> Got(Time now) {
    std::vector<uint32_t> numbers;
    for (const auto& frame : fabric.Out(1, now)) numbers.push_back(LoadBe32(frame.data() + 46));
    return numbers;
  }
  // 1 us apart.
  std::vector<uint32_t> Run(uint32_t count) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < count + 1000; ++i) {
      if (i < count) Send(i, At(i));
      const auto got = Got(At(i));
      all.insert(all.end(), got.begin(), got.end());
    }
    return all;
  }
  uint64_t Count(SwitchPortCounter id) { return fabric.Count(1, id); }

  Fabric fabric;
};

TEST(Impairment, DelayAndRate) {
  ImpairmentParams params{.rate_bps = 1'000'000'000, .delay = std::chrono::microseconds(50)};
  Line line(params);
  line.Send(1, At(0), 976 - 54);
  line.Send(2, At(0), 976 - 54);
  // 976 bytes and 24 of gaps: 8 us each at 1 Gb/s.
  EXPECT_TRUE(line.Got(At(0)).empty());
  EXPECT_EQ(line.fabric.the_switch.deadline(At(0)), At(8));
  EXPECT_TRUE(line.Got(At(8)).empty());
  EXPECT_TRUE(line.Got(At(57)).empty());
  EXPECT_EQ(line.fabric.the_switch.deadline(At(57)), At(58));
  EXPECT_EQ(line.Got(At(58)), std::vector<uint32_t>{1});
  EXPECT_TRUE(line.Got(At(65)).empty());
  EXPECT_EQ(line.Got(At(66)), std::vector<uint32_t>{2});
  EXPECT_EQ(line.fabric.the_switch.deadline(At(66)), kNever);
}

TEST(Impairment, JitterKeepsTheOrder) {
  Line line({.delay = std::chrono::microseconds(10), .jitter = std::chrono::microseconds(30)});
  const auto got = line.Run(2000);
  ASSERT_EQ(got.size(), 2000u);
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
}

TEST(Impairment, ReorderingLosesNothing) {
  Line line({.reorder = ChanceOf(0.1)});
  auto got = line.Run(2000);
  ASSERT_EQ(got.size(), 2000u);
  EXPECT_FALSE(std::is_sorted(got.begin(), got.end()));
  std::sort(got.begin(), got.end());
  for (uint32_t i = 0; i < 2000; ++i) ASSERT_EQ(got[i], i);
  EXPECT_NEAR(static_cast<double>(line.Count(SwitchPortCounter::kImpairReordered)), 200, 60);
}

TEST(Impairment, UniformLossAndDuplication) {
  Line line({.loss = ChanceOf(0.1), .duplicate = ChanceOf(0.05)});
  const auto got = line.Run(10000);
  const auto lost = line.Count(SwitchPortCounter::kImpairLoss);
  const auto doubled = line.Count(SwitchPortCounter::kImpairDuplicated);
  EXPECT_NEAR(static_cast<double>(lost), 1000, 150);
  EXPECT_NEAR(static_cast<double>(doubled), 450, 100);
  EXPECT_EQ(got.size(), 10000 - lost + doubled);
}

// Gilbert-Elliott: bursts of 20 frames on average, 1 % of all frames.
TEST(Impairment, LossInBursts) {
  Line line({.to_bad = ChanceOf(0.01 / 20 / 0.99), .to_good = ChanceOf(0.05)});
  const auto got = line.Run(200000);
  const double lost = static_cast<double>(line.Count(SwitchPortCounter::kImpairBurst));
  EXPECT_NEAR(lost / 200000, 0.01, 0.004);
  uint32_t bursts = 0;
  for (size_t i = 1; i < got.size(); ++i) bursts += got[i] != got[i - 1] + 1 ? 1 : 0;
  EXPECT_NEAR(lost / bursts, 20, 8);
}

TEST(Impairment, TheSameSeedGivesTheSameRun) {
  const ImpairmentParams params{.jitter = std::chrono::microseconds(5),
                                .loss = ChanceOf(0.1),
                                .reorder = ChanceOf(0.1),
                                .duplicate = ChanceOf(0.1)};
  EXPECT_EQ(Line(params, 7).Run(3000), Line(params, 7).Run(3000));
  EXPECT_NE(Line(params, 7).Run(3000), Line(params, 8).Run(3000));
}

TEST(Impairment, BitErrors) {
  Line bad_fcs({.bad_fcs = ChanceOf(1)});
  EXPECT_TRUE(bad_fcs.Run(10).empty());
  EXPECT_EQ(bad_fcs.Count(SwitchPortCounter::kImpairBadFcs), 10u);
  Line flipped({.flip = ChanceOf(1)});
  const auto sent = BytesOf({.from = 1, .to = 2});
  flipped.fabric.In(0, sent, At(0));
  const auto got = flipped.fabric.Out(1, At(0));
  ASSERT_EQ(got.size(), 1u);
  uint32_t bits = 0;
  for (size_t i = 0; i < sent.size(); ++i) {
    bits += static_cast<uint32_t>(std::popcount(static_cast<uint8_t>(sent[i] ^ got[0][i])));
  }
  EXPECT_EQ(bits, 1u);
}

TEST(Impairment, HolesAndOneWay) {
  Line line({.hole_destinations = {MacNumber(2)}});
  EXPECT_TRUE(line.Run(5).empty());
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairHole), 5u);
  line.fabric.the_switch.impairment_out(1).Set({.hole_classes = 1});
  EXPECT_TRUE(line.Run(5).empty());
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairHole), 10u);
  line.fabric.the_switch.impairment_out(1).Set({.down = true});
  EXPECT_TRUE(line.Run(5).empty());
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairDown), 5u);
  line.fabric.the_switch.impairment_out(1).Set({});
  EXPECT_EQ(line.Run(5).size(), 5u);
}

TEST(Impairment, OfTheInput) {
  Line line({});
  line.fabric.the_switch.impairment_in(0).Set({.delay = std::chrono::microseconds(100)});
  line.Send(1, At(0));
  EXPECT_TRUE(line.Got(At(99)).empty());
  EXPECT_EQ(line.Got(At(100)), std::vector<uint32_t>{1});
}

}  // namespace
}  // namespace suede::fabric
