// SPDX-License-Identifier: Apache-2.0
// The output of suedectl ping for answers.
#include <gtest/gtest.h>

#include "suedectl/ping_command.h"

namespace suede::ctl {
namespace {

Json Plane(uint32_t number, const char* state, const Json& rtt_us) {
  return Json{{"plane", number},      {"port", "p" + std::to_string(number)},
              {"state", state},       {"rtt_us", rtt_us},
              {"disagrees", nullptr}, {"own", nullptr},
              {"theirs", nullptr}};
}
Json Of(const std::vector<Json>& planes) {
  return Json{{"xpu", 3}, {"instance", 1}, {"peer", 4}, {"planes", planes}};
}

TEST(PingTest, EachPlaneHasALineAndAllHaveASummary) {
  PingTally tally;
  EXPECT_EQ(tally.Take(Of({Plane(0, "answered", 12.34), Plane(1, "no_link", nullptr)}), 1),
            "XPU 4 from 3.1 plane 0 (p0): seq=1 time=12.3 us\n"
            "XPU 4 from 3.1 plane 1 (p1): seq=1 no link\n");
  EXPECT_EQ(tally.Take(Of({Plane(0, "probe_answered", 20.0), Plane(1, "no_answer", nullptr)}), 2),
            "XPU 4 from 3.1 plane 0 (p0): seq=2 time=20.0 us (answers a probe, and speaks no HELLO "
            "so far)\n"
            "XPU 4 from 3.1 plane 1 (p1): seq=2 no answer in time\n");
  EXPECT_EQ(tally.Summary(4),
            "--- XPU 4 ---\n4 asked, 2 answered, 50% lost\nrtt min/avg/max = 12.3/16.2/20.0 us\n");
  EXPECT_EQ(tally.ToJson()["asked"], 4);
  EXPECT_TRUE(tally.End(4).ok());
}

TEST(PingTest, NamesTheXpu) {
  PingTally tally({{4, "gpu4"}});
  EXPECT_EQ(tally.Take(Of({Plane(0, "no_link", nullptr)}), 1),
            "XPU 4 (gpu4) from 3.1 plane 0 (p0): seq=1 no link\n");
  EXPECT_EQ(tally.Summary(4), "--- XPU 4 (gpu4) ---\n1 asked, 0 answered, 100% lost\n");
  EXPECT_EQ(tally.End(4), absl::UnavailableError("XPU 4 (gpu4) did not answer: no link"));
}

TEST(PingTest, WithoutAnAnswerItSaysWhy) {
  const std::pair<const char*, const char*> kReasons[] = {
      {"no_answer", "no answer in time"},
      {"no_link", "no link"},
      {"no_mac", "its MAC address is not resolved"},
      {"down", "port, plane or instance is set down"},
      {"no_room", "the port takes no frame"}};
  for (const auto& [state, reason] : kReasons) {
    PingTally tally;
    EXPECT_EQ(tally.Take(Of({Plane(0, state, nullptr)}), 1),
              std::string("XPU 4 from 3.1 plane 0 (p0): seq=1 ") + reason + "\n");
    EXPECT_EQ(tally.Summary(4), "--- XPU 4 ---\n1 asked, 0 answered, 100% lost\n");
    EXPECT_EQ(tally.End(4), absl::UnavailableError(std::string("XPU 4 did not answer: ") + reason));
    EXPECT_EQ(tally.ToJson()["rtt_min_us"], nullptr);
  }
}

TEST(PingTest, WhatDoesNotAgreeIsToldWithBothValues) {
  Json plane = Plane(0, "answered", 9.0);
  plane["disagrees"] = "transport.psn_scope";
  plane["own"] = "port";
  plane["theirs"] = "vc";
  PingTally tally;
  EXPECT_EQ(tally.Take(Of({plane}), 1),
            "XPU 4 from 3.1 plane 0 (p0): seq=1 time=9.0 us, but does not agree: "
            "transport.psn_scope is port here and vc there\n");
  EXPECT_EQ(tally.End(4),
            absl::AbortedError("XPU 4 answers, but does not agree: transport.psn_scope "
                               "is port here and vc there; give both ends the same"));
}

TEST(PingTest, NonsenseOfTheDaemonIsNoHarm) {
  PingTally tally;
  EXPECT_EQ(tally.Take(Json{{"planes", 7}}, 1), "");
  EXPECT_EQ(tally.Take(Json::object(), 1), "");
  EXPECT_EQ(tally.Take(Json{{"planes", {1, "x"}}}, 1), "");
  EXPECT_EQ(tally.Take(Json{{"planes", {{{"rtt_us", "soon"}}}}}, 1),
            "XPU ? from ?.? plane ? (): seq=1 no answer in time\n");
  EXPECT_EQ(tally.End(4), absl::UnavailableError("XPU 4 did not answer: no answer in time"));
}

}  // namespace
}  // namespace suede::ctl
