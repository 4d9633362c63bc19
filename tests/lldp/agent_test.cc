// SPDX-License-Identifier: Apache-2.0
// The agent under simulated time: when frames leave, and when neighbours come, change and go.
#include "lldp/agent.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sample.h"

namespace suede::lldp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Change = Report::Change;

class AgentTest : public ::testing::Test {
 protected:
  AgentTest() : agent_(FullPdu(), kSource, {}, &counters_) {}

  void Hear(const Lldpdu& pdu) { agent_.OnFrame(Encode(pdu, kSource), now_); }
  // Lets time pass in steps of 100 ms. Returns the seconds after which frames left.
  std::vector<int64_t> Run(seconds time) {
    std::vector<int64_t> sent;
    const Time start = now_;
    for (const Time end = now_ + time; now_ < end; now_ += milliseconds(100)) {
      agent_.Poll(now_);
      if (!agent_.TakeFrame(now_).empty()) {
        sent.push_back(std::chrono::duration_cast<seconds>(now_ - start).count());
      }
    }
    return sent;
  }
  uint64_t Count(LldpCounter counter) const { return counters_.Get(counter); }
  uint64_t Gauge(LldpGauge gauge) const { return counters_.Cell(gauge).load(); }

  LldpCounters counters_;
  Agent agent_;
  Time now_ = TimeFromMs(1'000'000);
};

TEST_F(AgentTest, SendsNothingWithoutLink) {
  EXPECT_TRUE(Run(seconds(100)).empty());
  EXPECT_EQ(agent_.deadline(), kNever);
}

TEST_F(AgentTest, SendsQuicklyAtFirst) {
  agent_.OnLink(true, now_);
  EXPECT_EQ(Run(seconds(100)), (std::vector<int64_t>{0, 1, 2, 3, 33, 63, 93}));
}

TEST_F(AgentTest, FramesHaveTheTtlOfTheIntervals) {
  agent_.OnLink(true, now_);
  const std::span<const uint8_t> frame = agent_.TakeFrame(now_);
  Lldpdu expected = FullPdu();
  expected.ttl_s = 4 * 30 + 1;
  EXPECT_EQ(Decode(frame).pdu, expected);
}

TEST_F(AgentTest, NewNeighbourHasAnswerSoon) {
  agent_.OnLink(true, now_);
  Run(seconds(20));
  Hear(SmallPdu());
  EXPECT_EQ(Run(seconds(40)), (std::vector<int64_t>{1, 2, 3, 4, 34}));
}

TEST_F(AgentTest, ReportsNeighbourOnce) {
  Hear(FullPdu());  // the own frame
  EXPECT_EQ(Count(LldpCounter::kRxOwn), 1u);
  EXPECT_FALSE(agent_.TakeReport().has_value());
  Hear(SmallPdu());
  Hear(SmallPdu());
  const auto report = agent_.TakeReport();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->change, Change::kNew);
  EXPECT_EQ(report->neighbour.pdu, SmallPdu());
  EXPECT_FALSE(agent_.TakeReport().has_value());
  EXPECT_EQ(Count(LldpCounter::kRxFrames), 2u);
  EXPECT_EQ(Gauge(LldpGauge::kNeighbours), 1u);
}

TEST_F(AgentTest, ReportsDifferencesThatAppear) {
  Lldpdu far = SmallPdu();
  far.max_frame_bytes = 9018;
  Hear(far);
  EXPECT_EQ(agent_.TakeReport()->appeared,
            (std::vector<Difference>{{"max_frame_bytes", "1518", "9018"}}));
  EXPECT_EQ(Gauge(LldpGauge::kDifferences), 1u);
  far.pfc = Pfc{};
  Hear(far);
  const auto report = agent_.TakeReport();
  EXPECT_EQ(report->change, Change::kChanged);
  EXPECT_EQ(report->appeared, (std::vector<Difference>{{"pfc_classes", "0,1,2,3,6", "none"}}));
  EXPECT_EQ(report->neighbour.differences.size(), 2u);
  EXPECT_EQ(Gauge(LldpGauge::kDifferences), 2u);
  far.max_frame_bytes = 1518;
  far.pfc = FullPdu().pfc;
  Hear(far);
  EXPECT_TRUE(agent_.TakeReport()->appeared.empty());
  EXPECT_EQ(Gauge(LldpGauge::kDifferences), 0u);
}

TEST_F(AgentTest, AnotherTtlIsNoChange) {
  Lldpdu far = SmallPdu();
  Hear(far);
  agent_.TakeReport();
  far.ttl_s = 5;
  Hear(far);
  EXPECT_FALSE(agent_.TakeReport().has_value());
  EXPECT_EQ(agent_.neighbours().front().pdu.ttl_s, 5);
}

TEST_F(AgentTest, NeighbourAges) {
  Hear(SmallPdu());
  agent_.TakeReport();
  EXPECT_EQ(agent_.deadline(), now_ + seconds(100));
  now_ += seconds(99);
  Hear(SmallPdu());
  now_ += seconds(99);
  agent_.Poll(now_);
  EXPECT_FALSE(agent_.TakeReport().has_value());
  now_ += seconds(1);
  agent_.Poll(now_);
  const auto report = agent_.TakeReport();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->change, Change::kGone);
  EXPECT_EQ(report->reason, "ttl");
  EXPECT_EQ(Count(LldpCounter::kAged), 1u);
  EXPECT_EQ(Gauge(LldpGauge::kNeighbours), 0u);
  Hear(SmallPdu());
  EXPECT_EQ(agent_.TakeReport()->change, Change::kNew);
}

TEST_F(AgentTest, LastFrameEndsTheNeighbour) {
  Agent far(SmallPdu(), kSource, {}, &counters_);
  Hear(SmallPdu());
  agent_.TakeReport();
  agent_.OnFrame(far.LastFrame(), now_);
  const auto report = agent_.TakeReport();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->change, Change::kGone);
  EXPECT_EQ(report->reason, "shutdown");
  agent_.OnFrame(far.LastFrame(), now_);  // of an unknown neighbour
  EXPECT_FALSE(agent_.TakeReport().has_value());
  EXPECT_TRUE(agent_.neighbours().empty());
}

TEST_F(AgentTest, LinkDownForgetsNeighbours) {
  agent_.OnLink(true, now_);
  Hear(SmallPdu("a"));
  Hear(SmallPdu("b"));
  agent_.OnLink(false, now_);
  EXPECT_TRUE(agent_.neighbours().empty());
  EXPECT_EQ(agent_.TakeReport()->change, Change::kNew);
  EXPECT_EQ(agent_.TakeReport()->change, Change::kNew);
  EXPECT_EQ(agent_.TakeReport()->reason, "link");
  EXPECT_EQ(agent_.TakeReport()->reason, "link");
  EXPECT_TRUE(Run(seconds(60)).empty());
  agent_.OnLink(true, now_);
  EXPECT_EQ(Run(seconds(5)), (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST_F(AgentTest, FurtherNeighboursAreCounted) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) Hear(SmallPdu(name));
  EXPECT_EQ(agent_.neighbours().size(), 4u);
  EXPECT_EQ(Count(LldpCounter::kRxNeighbours), 2u);
  Hear(SmallPdu("a"));
  EXPECT_EQ(Count(LldpCounter::kRxFrames), 5u);
}

TEST_F(AgentTest, FloodIsBounded) {
  for (int i = 0; i < 10'000; ++i) Hear(SmallPdu(std::to_string(i)));
  EXPECT_EQ(Count(LldpCounter::kRxRate), 9'990u);
  EXPECT_EQ(Count(LldpCounter::kRxFrames) + Count(LldpCounter::kRxNeighbours), 10u);
  EXPECT_EQ(agent_.neighbours().size(), 4u);
  now_ += seconds(1);
  Hear(SmallPdu("0"));
  EXPECT_EQ(Count(LldpCounter::kRxFrames), 5u);
}

TEST_F(AgentTest, ReportsThatNobodyTakesAreBounded) {
  Lldpdu far = SmallPdu();
  for (int i = 0; i < 1000; ++i, now_ += seconds(1)) {
    far.system_name = std::to_string(i);
    Hear(far);
  }
  uint32_t reports = 0;
  while (agent_.TakeReport()) ++reports;
  EXPECT_EQ(reports, Agent::kMaxReports);
}

TEST_F(AgentTest, EachFaultHasItsCounter) {
  const auto hear = [this](std::initializer_list<Tlv> tlvs, size_t cut = 0) {
    std::vector<uint8_t> frame = FrameOf(tlvs);
    frame.resize(frame.size() - cut);
    agent_.OnFrame(frame, now_);
  };
  hear({kPort, kChassis, kTtl, kEnd});
  hear({{1, {7}}, kPort, kTtl, kEnd});
  hear({kChassis, kPort, kTtl, kTtl, kEnd});
  hear({kChassis, kPort, kTtl});
  hear({kChassis, kPort, kTtl, kEnd}, 1);
  hear({kChassis,
        kPort,
        kTtl,
        {5, std::vector<uint8_t>(300)},
        {99, {}},
        {5, {}},
        {5, {}},
        {127, {0x00, 0x80, 0xc2, 11, 9, 0}},
        kEnd});
  for (const LldpCounter counter :
       {LldpCounter::kRxOrder, LldpCounter::kRxMandatory, LldpCounter::kRxDuplicate,
        LldpCounter::kRxNoEnd, LldpCounter::kRxTruncated, LldpCounter::kRxFrames,
        LldpCounter::kRxTlvLength, LldpCounter::kRxTlvUnknown, LldpCounter::kRxTlvDuplicate,
        LldpCounter::kRxTlvValue}) {
    EXPECT_EQ(Count(counter), 1u) << LldpCounterRows()[static_cast<size_t>(counter)].name;
  }
}

}  // namespace
}  // namespace suede::lldp
