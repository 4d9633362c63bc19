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
    fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 1);
    fabric.the_switch.port(1).out().Set(impairment);
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

// The reference's numbers (https://prng.di.unimi.it/splitmix64.c).
TEST(Random, IsSplitMix64) {
  Random random(1234567);
  for (const uint64_t number : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                4593380528125082431u, 16408922859458223821u}) {
    EXPECT_EQ(random.Next(), number);
  }
  EXPECT_EQ(Random(1234567).Below(1000), 317u);
  EXPECT_EQ(SeedOf(1234567, 0), Random(6457827717110365317u).Next());
  EXPECT_EQ(SeedOf(1234567, 5), Random(6457827717110365322u).Next());
}

TEST(Random, ChancesAreOf32Bits) {
  EXPECT_EQ(ChanceOf(0), 0u);
  EXPECT_EQ(ChanceOf(0.5), 1u << 31);
  EXPECT_EQ(ChanceOf(1), UINT32_MAX);
  Random random(1);
  uint32_t happened = 0;
  for (int i = 0; i < 10000; ++i) {
    EXPECT_FALSE(random.Chance(0));
    EXPECT_TRUE(random.Chance(UINT32_MAX));
    happened += random.Chance(ChanceOf(0.25)) ? 1 : 0;
  }
  EXPECT_NEAR(happened, 2500, 150);
}

TEST(Impairment, EachFaultAloneIsOne) {
  const auto of_class = [](uint32_t c, ImpairmentParams::OfClass own) {
    ImpairmentParams params;
    params.of_class[c] = own;
    return params;
  };
  EXPECT_TRUE(ImpairmentParams().is_clean());
  const ImpairmentParams faults[] = {{.rate_bps = 1},
                                     {.delay = Duration(1)},
                                     {.jitter = Duration(1)},
                                     {.loss = 1},
                                     {.to_bad = 1},
                                     {.reorder = 1},
                                     {.duplicate = 1},
                                     {.bad_fcs = 1},
                                     {.flip = 1},
                                     {.max_bytes = 9000},
                                     {.down = true},
                                     {.hole_classes = 1},
                                     {.hole_destinations = {1}},
                                     {.rewrite = {.dscp = 0}},
                                     {.rewrite = {.ecn = 0}},
                                     {.rewrite = {.pcp = 0}},
                                     {.rewrite = {.hop_limit = 0}},
                                     {.strip_tag = true},
                                     of_class(5, {.rewrite = {.pcp = 0}}),
                                     of_class(0, {.delay = Duration(1)}),
                                     of_class(7, {.loss = 1}),
                                     of_class(3, {.reorder = 1})};
  Fabric fabric(ParamsOf(1));
  Impairment& in = fabric.the_switch.port(0).in();
  for (const ImpairmentParams& each : faults) {
    const auto number = &each - faults;
    EXPECT_FALSE(each.is_clean()) << number;
    ImpairmentParams params = each;
    in.Swap(params);
    EXPECT_FALSE(in.is_clean()) << number;
    EXPECT_TRUE(params.is_clean()) << "the former ones";
    in.Swap(params);
    EXPECT_TRUE(in.is_clean()) << number;
    EXPECT_FALSE(params.is_clean()) << number;
  }
}

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

TEST(Impairment, JitterIsAnywhereUpToItsBound) {
  Line line({.delay = std::chrono::microseconds(10), .jitter = std::chrono::microseconds(30)});
  int64_t min = 1000;
  int64_t max = 0;
  for (int64_t began = 0; began < 100'000; began += 100) {
    line.Send(1, At(began));
    int64_t us = 0;
    while (line.Got(At(began + us)).empty()) ASSERT_LE(++us, 40);
    min = std::min(min, us);
    max = std::max(max, us);
  }
  EXPECT_EQ(min, 11);  // the first microsecond that is not before it
  EXPECT_EQ(max, 40);
}

TEST(Impairment, FramesOfOneTimeKeepTheirOrder) {
  Line line({.delay = std::chrono::microseconds(3)});
  std::vector<uint32_t> sent;
  for (uint32_t i = 0; i < 20; ++i) {
    line.Send(i, At(0));
    sent.push_back(i);
  }
  EXPECT_TRUE(line.Got(At(0)).empty());
  EXPECT_EQ(line.Got(At(3)), sent);
}

TEST(Impairment, ACableTakesSoManyFramesAndNoMore) {
  for (const bool duplicates : {false, true}) {
    SwitchParams params = Line::Params(1);
    params.max_on_cable = 3;
    Fabric fabric(params);
    fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 1);
    fabric.the_switch.port(1).out().Set(
        {.delay = std::chrono::microseconds(100), .duplicate = duplicates ? ChanceOf(1) : 0});
    const uint32_t sent = duplicates ? 2 : 5;
    for (uint32_t i = 0; i < sent; ++i) fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
    fabric.Out(1, At(0));
    EXPECT_EQ(fabric.the_switch.port(1).out().on_cable(), 3u);
    EXPECT_EQ(fabric.the_switch.frames_inside(), 3u);
    EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kImpairFull), duplicates ? 0u : 2u);
    EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kImpairDuplicated), duplicates ? 1u : 0u);
    EXPECT_EQ(fabric.Out(1, At(1000)).size(), 3u);
  }
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

// Both directions of a port duplicate, each for itself.
TEST(Impairment, AFrameIsDuplicatedOnItsWayInAsOnItsWayOut) {
  Line line({.duplicate = ChanceOf(1)});
  line.fabric.the_switch.port(0).in().Set({.duplicate = ChanceOf(1)});
  line.Send(1, At(1));
  std::vector<uint32_t> got;
  for (int us = 1; us < 1000; ++us) {
    for (const uint32_t number : line.Got(At(us))) got.push_back(number);
  }
  EXPECT_EQ(got, (std::vector<uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(line.fabric.Count(0, SwitchPortCounter::kImpairDuplicated), 1u);
}

// Gilbert-Elliott: bursts of 20 frames on average, 1 % of all frames.
TEST(Impairment, LossInBursts) {
  Line line({.to_bad = ChanceOf(0.01 / 20 / 0.99), .to_good = ChanceOf(0.05)});
  const auto got = line.Run(100000);
  const double lost = static_cast<double>(line.Count(SwitchPortCounter::kImpairBurst));
  EXPECT_NEAR(lost / 100000, 0.01, 0.004);
  uint32_t bursts = 0;
  for (size_t i = 1; i < got.size(); ++i) bursts += got[i] != got[i - 1] + 1 ? 1 : 0;
  EXPECT_NEAR(lost / bursts, 20, 8);
}

// A bad time does not outlive the setting that has begun it.
TEST(Impairment, BurstsEndWithTheirSetting) {
  Line line({.to_bad = ChanceOf(1), .to_good = 0});
  EXPECT_LE(line.Run(100).size(), 1u);
  Impairment& out = line.fabric.the_switch.port(1).out();
  out.Set({.delay = std::chrono::microseconds(1)});
  EXPECT_EQ(line.Run(100).size(), 100u);
  out.Set({.to_bad = 1, .to_good = 0});
  EXPECT_EQ(line.Run(100).size(), 100u);
  // The loss in a burst, and outside.
  out.Set({.to_bad = ChanceOf(1), .to_good = 0, .loss_in_bad = ChanceOf(0.25)});
  EXPECT_NEAR(static_cast<double>(line.Run(2000).size()), 1500, 100);
}

TEST(Impairment, TheSameSeedGivesTheSameRun) {
  const ImpairmentParams params{.jitter = std::chrono::microseconds(5),
                                .loss = ChanceOf(0.1),
                                .reorder = ChanceOf(0.1),
                                .duplicate = ChanceOf(0.1)};
  EXPECT_EQ(Line(params, 7).Run(3000), Line(params, 7).Run(3000));
  EXPECT_NE(Line(params, 7).Run(3000), Line(params, 8).Run(3000));
}

// One more than a seed is another seed, and not the same numbers from the second one on.
TEST(Impairment, SeedsAreIndependent) {
  const ImpairmentParams params{.loss = ChanceOf(0.5)};
  const auto lost = [&](uint64_t seed) {
    const auto got = Line(params, seed).Run(1000);
    std::vector<bool> all(1000, true);
    for (const uint32_t number : got) all[number] = false;
    return all;
  };
  for (const uint64_t seed : {1, 7}) {
    const auto one = lost(seed);
    const auto other = lost(seed + 1);
    for (int shift = -3; shift <= 3; ++shift) {
      uint32_t same = 0;
      for (int i = 3; i < 997; ++i) same += one[i + shift] == other[i] ? 1 : 0;
      EXPECT_NEAR(same, 497, 90) << shift;
    }
  }
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

TEST(Impairment, AnyBitOfAFrameMayFlip) {
  Line line({.flip = ChanceOf(1)});
  const auto sent = BytesOf({.from = 1, .to = 2});
  std::vector<uint8_t> flipped(sent.size());
  for (int i = 0; i < 12'000; ++i) {
    line.fabric.In(0, sent, At(i));
    const auto got = line.fabric.Out(1, At(i));
    ASSERT_EQ(got.size(), 1u);
    for (size_t at = 0; at < sent.size(); ++at) {
      flipped[at] |= static_cast<uint8_t>(sent[at] ^ got[0][at]);
    }
  }
  EXPECT_EQ(flipped, std::vector<uint8_t>(sent.size(), 0xff));
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairFlipped), 12'000u);
}

TEST(Impairment, AnEmptyFrameHasNoBitToFlip) {
  Line line({});
  line.fabric.the_switch.port(0).in().Set({.flip = ChanceOf(1)});
  line.fabric.In(0, std::vector<uint8_t>{}, At(0));
  EXPECT_TRUE(line.Got(At(0)).empty());
  EXPECT_EQ(line.fabric.Count(0, SwitchPortCounter::kRxRunt), 1u);
}

TEST(Impairment, HolesAndOneWay) {
  Line line({.hole_destinations = {MacNumber(2)}});
  EXPECT_TRUE(line.Run(5).empty());
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairHole), 5u);
  line.fabric.the_switch.port(1).out().Set({.hole_classes = 1});
  EXPECT_TRUE(line.Run(5).empty());
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairHole), 10u);
  line.fabric.the_switch.port(1).out().Set({.down = true});
  EXPECT_TRUE(line.Run(5).empty());
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairDown), 5u);
  line.fabric.the_switch.port(1).out().Set({});
  EXPECT_EQ(line.Run(5).size(), 5u);
  // The same faults on the way in.
  Impairment& in = line.fabric.the_switch.port(0).in();
  in.Set({.hole_destinations = {MacNumber(7), MacNumber(2)}});
  EXPECT_TRUE(line.Run(5).empty());
  EXPECT_EQ(line.fabric.Count(0, SwitchPortCounter::kImpairHole), 5u);
  in.Set({.hole_classes = 0xfe, .hole_destinations = {MacNumber(7)}});
  EXPECT_EQ(line.Run(5).size(), 5u);
}

TEST(Impairment, ALinkLosesFramesThatAreLongerThanItTakes) {
  const auto bytes = static_cast<uint32_t>(BytesOf({.from = 1, .to = 2, .bytes = 64}).size());
  Line line({.max_bytes = bytes});
  line.Send(1, At(0), 64);
  line.Send(2, At(0), 66);
  EXPECT_EQ(line.Got(At(0)), std::vector<uint32_t>{1});
  EXPECT_EQ(line.Count(SwitchPortCounter::kImpairLong), 1u);
}

TEST(Impairment, ClassesHaveDelaysAndLossOfTheirOwn) {
  Fabric fabric(Line::Params(1));
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 1);
  ImpairmentParams params{.delay = std::chrono::microseconds(1)};
  params.of_class[1].delay = std::chrono::microseconds(5);
  params.of_class[2].loss = ChanceOf(1);
  fabric.the_switch.port(0).in().Set(params);
  const auto send = [&](int traffic_class, Time now) {
    fabric.In(0,
              {.from = static_cast<uint32_t>(traffic_class + 1),
               .traffic_class = {.dscp = static_cast<uint8_t>(traffic_class * 8)}},
              now);
  };
  for (const int c : {1, 2, 0, 1}) send(c, At(0));
  send(0, At(1));
  std::vector<int> came;
  for (int us = 0; us < 10; ++us) {
    for (const auto& frame : fabric.Out(1, At(us))) came.push_back(frame[11] - 1);
  }
  // Each class keeps its order, and class 0 overtakes class 1.
  EXPECT_EQ(came, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kImpairLoss), 1u);
  params = {};
  params.of_class[3].reorder = ChanceOf(1);
  fabric.the_switch.port(0).in().Set(params);
  for (const int c : {3, 0, 0}) send(c, At(20));
  EXPECT_EQ(fabric.Out(1, At(20)).size(), 2u);
  EXPECT_EQ(fabric.Out(1, At(40)).size(), 1u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kImpairReordered), 1u);
}

// The delay of its class holds for a frame that is held back, and for a copy.
TEST(Impairment, EveryFrameOfAClassHasItsDelay) {
  for (const bool duplicates : {false, true}) {
    ImpairmentParams params{.delay = std::chrono::microseconds(10),
                            .reorder = duplicates ? 0 : ChanceOf(1),
                            .reorder_delay = Duration(1),
                            .duplicate = duplicates ? ChanceOf(1) : 0};
    params.of_class[0].delay = std::chrono::microseconds(5);
    Line line(params);
    line.Send(1, At(0));
    EXPECT_TRUE(line.Got(At(0)).empty());
    EXPECT_TRUE(line.Got(At(14)).empty());
    EXPECT_EQ(line.Got(At(16)).size(), duplicates ? 2u : 1u);
  }
}

TEST(Impairment, OfTheInput) {
  Line line({});
  line.fabric.the_switch.port(0).in().Set({.delay = std::chrono::microseconds(100)});
  line.Send(1, At(0));
  EXPECT_TRUE(line.Got(At(99)).empty());
  EXPECT_EQ(line.Got(At(100)), std::vector<uint32_t>{1});
}

}  // namespace
}  // namespace suede::fabric
