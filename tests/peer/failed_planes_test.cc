// SPDX-License-Identifier: Apache-2.0
// A plane that has failed to one peer: which others are asked, and what they are told
// (docs/planes.md, "One plane, many peers").
#include "peer_bench.h"

namespace suede {
namespace {

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
  const PlaneReport report{.planes = 1, .is_reported = true, .hops = 9};
  EXPECT_EQ(Do([&](Effects& e) { peer->probes().OnFailedPlanes(report, now, e); }),
            Lines{"say 1 PLANE up failed {0} 9"});
  EXPECT_EQ(peer->session(0).deadline(), now);
  // Nothing is in flight. The other plane is asked when the first question had no answer.
  const Time asked = now;
  while (peer->session(0).up()) {
    ASSERT_LE(now - asked, params.hello_interval * (params.hello_multiplier + 1));
    SessionDue(0);
    if (peer->session(1).deadline() <= now) peer->health().OnProof(1, now + Duration(1));
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
  const PlaneReport report{.planes = 1, .is_reported = true};
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
