// SPDX-License-Identifier: Apache-2.0
// Runs of incast_bench, never their speed: everything arrives once and in order, nothing is left
// over, and a run is the same twice.
#include <gtest/gtest.h>

#include "fast_crc.h"
#include "incast_figures.h"
#include "incast_losses.h"
#include "incast_reference.h"

namespace suede {
namespace {

class IncastTest : public testing::TestWithParam<const Scheme*> {
 protected:
  void SetUp() override { InstallFastCrc(); }
  static IncastOptions Short() {
    return {.senders = 4,
            .commands = 512,
            .warm_up = std::chrono::microseconds(200),
            .window = std::chrono::milliseconds(1),
            .takes_digest = true};
  }
};

TEST_P(IncastTest, SendersThatEndArriveOnceAndInOrder) {
  const IncastFigures figures = Measure(*GetParam(), Short());
  EXPECT_EQ(figures.failure, "");
  EXPECT_GT(figures.efficiency, 0);
  EXPECT_LE(figures.efficiency, 1);
  EXPECT_GT(figures.jain, 0.25);
  EXPECT_LE(figures.jain, 1);
  EXPECT_LE(figures.p50_ns, figures.p99_ns);
  EXPECT_LE(figures.p99_ns, figures.max_ns);
  EXPECT_GT(figures.queue.max, 0u);
  EXPECT_GE(figures.counts.pdus, 4u * 512 / 15);
}

TEST_P(IncastTest, EndlessSendersAndRequestsArriveOnceAndInOrder) {
  IncastOptions options = Short();
  options.commands = IncastClient::kEndless;
  options.requests = true;
  const IncastFigures figures = Measure(*GetParam(), options);
  EXPECT_EQ(figures.failure, "");
  EXPECT_GT(figures.goodput_bps, 0);
  EXPECT_LE(figures.efficiency, 1);
  EXPECT_GT(figures.near.count, 10u);
  EXPECT_GT(figures.far.count, 10u);
}

TEST_P(IncastTest, ASeedIsARun) {
  IncastOptions options = Short();
  const uint64_t digest = Measure(*GetParam(), options).digest;
  EXPECT_EQ(Measure(*GetParam(), options).digest, digest);
  options.seed = 2;
  EXPECT_NE(Measure(*GetParam(), options).digest, digest);
}

// The switch treats the frames as the name of the scheme says.
TEST_P(IncastTest, TheSwitchDoesWhatTheSchemeSays) {
  fabric::SwitchParams params = IncastSwitch(8, 1);
  GetParam()->fabric(params);
  EXPECT_GE(fabric::SharedBuffer::SharedBytes(params), int64_t{kIncastBufferBytes});
  IncastOptions options = Short();
  options.commands = 2048;
  const IncastCounts counts = Measure(*GetParam(), options).counts;
  EXPECT_EQ(counts.trimmed != 0, params.trim.on);
  EXPECT_EQ(counts.marked != 0, params.of_class[kIncastData].ecn.most_bytes != UINT32_MAX);
  if (!params.of_class[kIncastData].lossless) {
    EXPECT_EQ(counts.pfc, 0u);
    return;
  }
  EXPECT_EQ(counts.dropped, 0u);
  EXPECT_EQ(counts.sent_twice, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, IncastTest, testing::ValuesIn([] {
                           std::vector<const Scheme*> schemes;
                           for (const Scheme& scheme : Schemes()) schemes.push_back(&scheme);
                           return schemes;
                         }()),
                         [](const auto& scheme) { return std::string(scheme.param->name); });

TEST(IncastSettings, AnUnloadedRequestTakesABaseRoundTrip) {
  InstallFastCrc();
  const IncastFigures figures = Measure(Schemes()[0], {.senders = 1,
                                                       .commands = 0,
                                                       .requests = true,
                                                       .warm_up = {},
                                                       .window = std::chrono::milliseconds(2)});
  EXPECT_EQ(figures.failure, "");
  const auto base = static_cast<double>(kIncastRtt.count());
  EXPECT_NEAR(static_cast<double>(figures.near.p50_ns), base, 0.05 * base);
  EXPECT_NEAR(static_cast<double>(figures.far.p50_ns), base, 0.05 * base);
}

// A full buffer pauses hosts, and loses nothing.
TEST(IncastSettings, PfcPausesHosts) {
  InstallFastCrc();
  const IncastFigures figures = Measure(*FindScheme("pfc"), {.senders = 16});
  EXPECT_EQ(figures.failure, "");
  EXPECT_NE(figures.counts.pfc, 0u);
  EXPECT_EQ(figures.counts.dropped, 0u);
  EXPECT_EQ(figures.counts.sent_twice, 0u);
}

TEST(IncastSettings, WireBytes) {
  // 15 commands of 264 octets fill a PDU: 4 times 60 + 78, and one of 1.
  EXPECT_EQ(IncastWireBytes(15), 15u * 264 + 42 + 8 + 4 + 24);
  EXPECT_EQ(IncastWireBytes(16), 16u * 264 + 2 * 78);
}

TEST(IncastSettings, ReferencesHaveSchemes) {
  for (const IncastReference& reference : kIncastReferences) {
    EXPECT_NE(FindScheme(reference.name), nullptr) << reference.name;
    EXPECT_EQ(ReferenceOf(reference.name, reference.senders), &reference);
  }
}

// One frame of a thousand is lost on each cable, in each direction.
TEST(LossOnLinks, RetryKeepsTheGoodput) {
  InstallFastCrc();
  const IncastOptions options{.loss = 1e-3, .window = std::chrono::milliseconds(10)};
  for (const LossPattern& pattern : LossPatterns()) {
    const LossRow row = MeasureLosses(*FindScheme("pfc"), pattern, options);
    EXPECT_EQ(row.Failure(), "");
    EXPECT_GT(row.with.counts.lost, 50u);
    EXPECT_LT(row.RatioWithout(), 0.8);
    EXPECT_GE(row.RatioWith(), pattern.senders == 1 ? 0.99 : 0.975) << LineOf(row);
  }
}

}  // namespace
}  // namespace suede
