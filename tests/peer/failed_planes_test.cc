// SPDX-License-Identifier: Apache-2.0
// A plane that has failed to one peer: which others are asked, how often, and what they are told
// (docs/planes.md, "One plane, many peers").
#include "peer/failed_planes.h"

#include <set>

#include "peer_bench.h"

namespace suede {
namespace {

constexpr Duration kBetween = std::chrono::milliseconds(100);
constexpr Time kStart = TimeFromNs(1'000'000'000);

TEST(FailedPlanes, AllPeersAreAskedOnceFromTheFirstOneOn) {
  FailedPlanes failed(7);
  EXPECT_FALSE(failed.has_work());
  failed.OnFound(1, kStart, kBetween);
  EXPECT_EQ(failed.report().planes, 2);
  EXPECT_TRUE(failed.report().is_told);
  EXPECT_EQ(failed.report().hops, FailedPlanes::kMaxHops);
  std::vector<uint32_t> asked;
  while (failed.has_work()) asked.push_back(failed.NextPeer(5));
  EXPECT_EQ(asked, (std::vector<uint32_t>{2, 3, 4, 0, 1}));
  failed.End();
  EXPECT_EQ(failed.report().planes, 0);
}

TEST(FailedPlanes, AnotherPlaneMeanwhileBeginsAnew) {
  FailedPlanes failed(0);
  failed.OnReported(0, 3, kStart, kBetween);
  EXPECT_EQ(failed.report().hops, 2);
  failed.NextPeer(4);
  failed.OnFound(2, kStart, kBetween);
  EXPECT_EQ(failed.report().planes, 5);
  EXPECT_EQ(failed.report().hops, FailedPlanes::kMaxHops);
  std::set<uint32_t> asked;
  while (failed.has_work()) asked.insert(failed.NextPeer(4));
  EXPECT_EQ(asked.size(), 4u);
}

// However often a peer says so.
TEST(FailedPlanes, AReportCountsOnceInAnInterval) {
  FailedPlanes failed(0);
  uint32_t times = 0;
  for (Time now = kStart; now < kStart + 10 * kBetween; now += kBetween / 50) {
    failed.OnReported(1, FailedPlanes::kMaxHops, now, kBetween);
    if (!failed.has_work()) continue;
    ++times;
    while (failed.has_work()) failed.NextPeer(1023);
    failed.End();
  }
  EXPECT_EQ(times, 10u);
}

// A liar's reports take nothing from what the endpoint finds itself; the echo of that is ignored.
TEST(FailedPlanes, WhatIsFoundCountsBesideReports) {
  FailedPlanes failed(0);
  failed.OnReported(1, 0, kStart, kBetween);
  EXPECT_FALSE(failed.report().is_told) << "it has come to its last hop";
  failed.NextPeer(1);
  failed.End();
  failed.OnFound(1, kStart + kBetween / 2, kBetween);
  EXPECT_TRUE(failed.has_work());
  failed.NextPeer(1);
  failed.End();
  failed.OnReported(1, 9, kStart + kBetween, kBetween);
  failed.OnFound(1, kStart + kBetween, kBetween);
  EXPECT_FALSE(failed.has_work());
}

TEST(FailedPlanes, WhatIsFoundCountsAgainAfterAnInterval) {
  FailedPlanes failed(0);
  for (int i = 0; i < 3; ++i) {
    failed.OnFound(1, kStart + i * kBetween, kBetween);
    EXPECT_TRUE(failed.has_work()) << i;
    failed.NextPeer(1);
    failed.End();
  }
}

class FailedPlanesOfPeer : public PeerBench {
 protected:
  // Both planes have answered, and the next questions are far away.
  void BringUpAndIdle() {
    params.hello_idle = std::chrono::seconds(60);
    BringAllUp();
    for (const uint32_t plane : {0u, 1u}) {
      SessionDue(PlaneIndex(plane));
      peer->health().OnProof(PlaneIndex(plane), now);
      SessionDue(PlaneIndex(plane));
    }
    now += 2 * params.hello_interval;
  }
};

TEST_F(FailedPlanesOfPeer, APeerIsAskedAtOnceAndTold) {
  Make({});
  BringUpAndIdle();
  const PlaneReport report{.planes = 1, .is_told = true, .hops = 9};
  EXPECT_EQ(Do([&](Effects& e) { peer->probes().OnFailedPlanes(report, now, e); }),
            Lines{"say 1 PLANE up failed {0} 9"});
  EXPECT_EQ(peer->session(0).deadline(), now);
  // Nothing is in flight. The other plane is asked when the first question had no answer.
  const Time asked = now;
  while (peer->session(0).up()) {
    ASSERT_LE(now - asked, params.hello_interval * (params.hello_multiplier + 1));
    SessionDue(0);
    if (peer->session(1).deadline() <= now) peer->health().OnProof(1, now);
  }
  EXPECT_EQ(paths.usable, 2);
}

TEST_F(FailedPlanesOfPeer, APeerThatAnswersIsNotAskedAgain) {
  Make({});
  BringUpAndIdle();
  Do([&](Effects& e) { peer->probes().OnFailedPlanes({.planes = 1}, now, e); });
  EXPECT_EQ(SessionDue(0), Lines{"say 0 PLANE up asks"});
  peer->health().OnProof(0, now);
  const Time answered = now;
  EXPECT_EQ(SessionDue(0), Lines{});
  EXPECT_EQ(peer->session(0).deadline(), answered + params.hello_idle);
}

TEST_F(FailedPlanesOfPeer, APeerWithoutGenerationsOrSessionsIsNotTold) {
  const PlaneReport report{.planes = 1, .is_told = true};
  Make({});
  EXPECT_EQ(Do([&](Effects& e) { peer->probes().OnFailedPlanes(report, now, e); }, true), Lines{});
  theirs.sends_generations = false;
  BringAllUp();
  EXPECT_EQ(Do([&](Effects& e) { peer->probes().OnFailedPlanes(report, now, e); }), Lines{});
}

TEST_F(FailedPlanesOfPeer, AReportKillsNothing) {
  Make({.planes = 4});
  BringAllUp();
  PlaneHello hello = PlaneOfTheirs(1, PlaneState::kUp);
  hello.failed = 0b1010;  // and the one that it comes on
  hello.hops = 5;
  EXPECT_EQ(Hears(1, hello), (Lines{"count rx_plane_reports_total", "ask on failed planes"}));
  EXPECT_EQ(own->failed.report().planes, 0b1000);
  EXPECT_EQ(own->failed.report().hops, 4);
  EXPECT_EQ(paths.usable, 15);
  hello.sequence = 0;
  EXPECT_EQ(Hears(1, hello), Lines{"count rx_plane_stale_total"});
}

TEST_F(FailedPlanesOfPeer, SilenceAndTimeoutsAreReportedAndNothingElse) {
  for (const bool silence : {true, false}) {
    Make({});
    BringAllUp();
    Put(0, 0, 1);
    if (silence) {
      for (int i = 0; i < 10 && peer->session(0).up(); ++i) {
        peer->health().OnProof(1, now + params.hello_interval);
        SessionDue(0);
      }
    } else {
      own->SetPort(0, false);
      Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kLink, now, e); });
    }
    EXPECT_FALSE(peer->session(0).up());
    EXPECT_EQ(own->failed.has_work(), silence);
    for (Connection& connection : connections) {
      PduList left;
      connection.tx().Abandon(left);
      connection = {};
    }
    paths = {};
    sessions = {};
    heard = {};
  }
}

}  // namespace
}  // namespace suede
