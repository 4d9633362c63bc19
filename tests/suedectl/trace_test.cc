// SPDX-License-Identifier: Apache-2.0
// suedectl trace show: tables of each direction, and rows of both ends joined.
#include <gtest/gtest.h>

#include "base/text.h"
#include "mgmt/endpoint_rows.h"
#include "suedectl/trace_rows.h"

namespace suede::ctl {
namespace {

constexpr int64_t kStart = 1'800'000'000'000'000'000;

TraceRowView Sent(uint32_t psn, int64_t at) {
  return {.xpu = 0,
          .direction = "tx",
          .peer = 1,
          .vc = 2,
          .psn = psn,
          .state = "acked",
          .at_ns = kStart + at,
          .staged_ns = 100,
          .sent_ns = 250,
          .acked_ns = 9000,
          .bytes = 64,
          .commands = 2,
          .transmissions = 1};
}
TraceRowView Received(uint32_t psn, int64_t at) {
  return {.xpu = 1,
          .direction = "rx",
          .peer = 0,
          .vc = 2,
          .psn = psn,
          .state = "read",
          .at_ns = kStart + at,
          .delivered_ns = 500,
          .read_ns = 2500};
}
Json Listed(std::vector<TraceRowView> rows) { return TraceListView{std::move(rows)}.ToJson(); }

TEST(TraceRowsTest, ATableForEachDirection) {
  const std::string text = TraceText(
      TraceJson(
          Listed({Sent(7, 0),
                  {.xpu = 0, .direction = "rx", .peer = 1, .state = "kept", .at_ns = kStart}}),
          nullptr),
      100);
  for (const char* part : {"acked_us", "9.00", "0.25", "kept", "read_us", "docs/trace.md"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_NE(TraceText(TraceJson(Listed({}), nullptr), 100).find("trace add"), std::string::npos);
}

TEST(TraceRowsTest, WaysJoinBothEnds) {
  const Json far = Listed({Received(7, 4250), Received(9, 0), Sent(8, 0)});
  const Json trace = TraceJson(Listed({Sent(7, 0), Sent(8, 0)}), &far);
  ASSERT_EQ(trace["ways"].size(), 1u) << Dump(trace);
  const Json& way = trace["ways"][0];
  EXPECT_EQ(way["from"], 0u);
  EXPECT_EQ(way["to"], 1u);
  EXPECT_EQ(way["psn"], 7u);
  EXPECT_EQ(way["sender_us"], 0.25);
  EXPECT_EQ(way["network_us"], 4.0);
  EXPECT_EQ(way["receiver_us"], 0.5);
  EXPECT_EQ(way["ring_to_ring_us"], 4.75);
  EXPECT_EQ(way["program_us"], 2.0);
  const std::string text = TraceText(trace, 100);
  EXPECT_NE(text.find("ring_to_ring_us"), std::string::npos) << text;
}

// A PSN comes again after 65,536 PDUs, and a PDU that is not delivered has no way.
TEST(TraceRowsTest, ARepeatedPsnIsJoinedByTime) {
  TraceRowView dropped = Received(7, 300);
  dropped.state = "ahead";
  dropped.delivered_ns.reset();
  dropped.read_ns.reset();
  const Json far = Listed({dropped, Received(7, 1'000'000), Received(7, 4250)});
  const Json trace = TraceJson(Listed({Sent(7, 0), Sent(7, 999'000)}), &far);
  ASSERT_EQ(trace["ways"].size(), 2u);
  EXPECT_EQ(trace["ways"][0]["network_us"], 4.0);
  EXPECT_EQ(trace["ways"][1]["network_us"], 0.75);
}

TEST(TraceRowsTest, TimesAreMedians) {
  TraceTimes times;
  EXPECT_FALSE(times.queued_to_acked_us() || times.delivered_to_read_us());
  TraceRowView slow = Sent(1, 0);
  slow.acked_ns = 1'000'000;
  TraceRowView open = Sent(2, 0);
  open.acked_ns.reset();
  times.Add(Listed({Sent(7, 0), slow, open, Received(3, 0)}));
  times.Add(Listed({Sent(8, 0)}));
  times.Add(Json::array());  // not a result
  EXPECT_EQ(times.acked(), 3u);
  EXPECT_EQ(times.queued_to_acked_us(), 9.0);
  EXPECT_EQ(times.read(), 1u);
  EXPECT_EQ(times.delivered_to_read_us(), 2.0);
}

}  // namespace
}  // namespace suede::ctl
