// SPDX-License-Identifier: Apache-2.0
// The cold part of connections, a transition for each test: facts in, effects compared.
#include <algorithm>
#include <string>

#include "peer_bench.h"

namespace suede {
namespace {

class Connections : public PeerBench {
 protected:
  // Lets the tries of a connection be used up.
  Lines GiveUp(PlaneIndex plane) {
    Lines lines;
    for (uint32_t i = 0; i <= transport.max_tries; ++i) lines = ConnectionDue(plane);
    return lines;
  }
};

TEST_F(Connections, ATimeoutSendsAgain) {
  Make({.planes = 1});
  Associate();
  Put(0, 0, 2);
  EXPECT_EQ(ConnectionDue(0), (Lines{"count rto_total", "retransmit 0/0"}));
  EXPECT_EQ(At(0).tx().tries(), 1u);
}

TEST_F(Connections, ATimeoutWhileADeviceIsHeldIsNone) {
  Make({.planes = 1});
  Associate();
  Put(0, 0, 2);
  for (const Hold hold : {Hold::kOwn, Hold::kPeers, Hold::kNeighbour}) {
    EXPECT_EQ(ConnectionDue(0, 0, hold), Lines{});
    EXPECT_EQ(At(0).tx().tries(), 0u);
  }
  EXPECT_EQ(ConnectionDue(0, 0, Hold::kTooLong), (Lines{"count rto_total", "retransmit 0/0"}));
}

TEST_F(Connections, TriesThatAreUsedUpEndAPlane) {
  Make({});
  BringAllUp();
  Put(0, 0, 2);
  EXPECT_EQ(GiveUp(0),
            (Lines{"count plane_deaths_total", "tell plane down 0 for 1", "ask on failed planes",
                   "tell fence opened 0", "say 1 FENCE 0", "unblock {0123}"}));
}

TEST_F(Connections, WithoutSessionsTheyLoseTheConnection) {
  Make({.planes = 1});
  Associate();
  Put(0, 0, 2);
  EXPECT_EQ(GiveUp(0),
            (Lines{"count peer_unreachable_total", "tell unreachable",
                   "give up 0/0 2 in doubt hold", "lost {0123}", "give up queued {0123}"}));
  EXPECT_EQ(ConnectionDue(0),
            (Lines{"say 0 HELLO asks", "probe lost 0/0", "lost {0123}", "give up queued {0123}"}));
  EXPECT_EQ(Do([&](Effects& e) { peer->reach().OnResumed(0, 0, e); }),
            (Lines{"found {0123}", "tell reachable"}));
}

TEST_F(Connections, AnotherPlaneTakesWhatIsQueued) {
  for (const PlaneIndex lost : {PlaneIndex(0), PlaneIndex(1)}) {
    Make({});
    theirs.answers_planes = theirs.sends_generations = false;
    Associate();
    Put(lost, 0, 1);
    const std::string at = std::to_string(lost) + "/0";
    EXPECT_EQ(GiveUp(lost), (Lines{"count peer_unreachable_total",
                                   lost == 0 ? "tell unreachable" : "tell unreachable 1/0",
                                   "give up " + at + " 1 in doubt hold"}));
    EXPECT_EQ(peer->reach().lost_vcs(), 0);
    Clear();
  }
}

TEST_F(Connections, AHomeThatIsLostIsLeft) {
  Make({.ordering = Ordering::kStrict});
  theirs.answers_planes = theirs.sends_generations = false;
  Associate();
  const PlaneIndex home(paths.home[0]);
  Put(home, 0, 1);
  const Lines lines = GiveUp(home);
  EXPECT_EQ(lines[lines.size() - 2], "home " + std::to_string(1 - home) + " {0123}");
  EXPECT_EQ(lines.back(), "unblock {0123}");
}

TEST_F(Connections, OnlyTheVcsOfALostConnectionAreGivenUp) {
  Make({.planes = 1, .per_vc = true});
  Associate();
  Put(0, 2, 1);
  for (uint32_t i = 0; i < transport.max_tries; ++i) ConnectionDue(0, 2);
  EXPECT_EQ(ConnectionDue(0, 2),
            (Lines{"count peer_unreachable_total", "tell unreachable 0/2",
                   "give up 0/2 1 in doubt hold", "lost {2}", "give up queued {2}"}));
  EXPECT_EQ(peer->reach().lost_vcs(), 4);
}

TEST_F(Connections, OutOfStepBeginsAnotherAssociation) {
  Make({.planes = 1});
  Associate();
  Put(0, 0, 1);
  connections[0].tx().OnImplausible();
  EXPECT_EQ(ConnectionDue(0), (Lines{"count rto_total", "retransmit 0/0", "say 0 HELLO asks"}))
      << "it may be another peer";
  Lines lines;
  for (uint32_t i = 0; i < transport.max_tries; ++i) lines = ConnectionDue(0);
  EXPECT_EQ(lines, (Lines{"count desynchronized_total", "give up 0/0 1 reset", "credit end",
                          "count peer_reset_total", "tell reset"}));
  EXPECT_FALSE(peer->handshake().open());
}

TEST_F(Connections, AReceiverWithoutRoomPauses) {
  Make({});
  BringAllUp();
  Put(0, 0, 3);
  now += params.hello_interval;
  EXPECT_EQ(
      Hears(0, NotReady{.expected = At(0).in_flight().oldest_psn().Plus(1), .backoff_us = 500}),
      (Lines{"acknowledged 0/0 1", "count not_ready_received_total"}));
  EXPECT_TRUE(At(0).tx().paused());
  EXPECT_EQ(peer->session(0).last_received(), now) << "it proves the way";
  EXPECT_EQ(own->inflight_bytes[0], 200u);
  EXPECT_EQ(own->busy[0], 1u);
  EXPECT_EQ(Hears(0, NotReady{.expected = At(0).in_flight().next_psn().Plus(7)}),
            (Lines{"count rx_rpsn_invalid_total", "count not_ready_received_total"}));
}

TEST_F(Connections, ANotReadyThatRefusesNothingInFlightIsAnAcknowledgement) {
  Make({.planes = 1});
  Associate();
  Put(0, 0, 3);
  EXPECT_EQ(Hears(0, NotReady{.expected = At(0).in_flight().next_psn()}),
            (Lines{"acknowledged 0/0 3", "count not_ready_received_total", "unblock {0123}"}));
  EXPECT_FALSE(At(0).tx().paused());
  EXPECT_EQ(own->busy[0], 0u) << "an instance without sessions counts none";
}

TEST_F(Connections, AFlowMovesWhenItsLastPdusAreAcknowledged) {
  Make({.ordering = Ordering::kStrict});
  BringAllUp();
  const PlaneIndex home(paths.home[0]);
  const PlaneIndex other(1 - home);
  Put(home, 0, 2);
  Weigh(home, 0);
  ASSERT_EQ(paths.choice[0], 0);
  EXPECT_EQ(Hears(home, NotReady{.expected = At(home).in_flight().next_psn()}),
            (Lines{"acknowledged " + std::to_string(home) + "/0 2",
                   "home " + std::to_string(other) + " {0123}", "unblock {0123}",
                   "count not_ready_received_total"}));
}

TEST_F(Connections, APeerThatBeginsToAnswerPlanesIsLostNoLonger) {
  Make({});
  theirs.answers_planes = theirs.sends_generations = false;
  Associate();
  for (const uint32_t plane : {0u, 1u}) {
    Put(PlaneIndex(plane), 0, 1);
    GiveUp(PlaneIndex(plane));
  }
  ASSERT_EQ(peer->reach().lost_vcs(), Reach::kAllVcs);
  theirs.answers_planes = true;
  const Lines lines = Hears(0, Answer());
  EXPECT_NE(std::find(lines.begin(), lines.end(), "found {0123}"), lines.end());
  EXPECT_NE(std::find(lines.begin(), lines.end(), "tell reachable"), lines.end());
  EXPECT_EQ(peer->reach().lost_vcs(), 0);
}

TEST_F(Connections, AReceiverWithRoomIsLookedAtAtOnce) {
  Make({.planes = 1});
  Associate();
  Put(0, 0, 1);
  Hears(0, NotReady{.expected = At(0).in_flight().oldest_psn(), .backoff_us = 500});
  EXPECT_EQ(Hears(0, Ready{.expected = At(0).in_flight().oldest_psn()}), Lines{"look at 0/0"});
  EXPECT_EQ(At(0).deadline(), now);
  EXPECT_EQ(ConnectionDue(0), Lines{"retransmit 0/0"}) << "and that is no timeout";
}

TEST_F(Connections, AnAcknowledgementIsOwedOverAGap) {
  Make({.planes = 1});
  Associate();
  connections[0].rx().OnAnnounced(At(0).rx().expected().Plus(1), now, transport);
  EXPECT_EQ(ConnectionDue(0), Lines{"owe ack 0/0"});
}

}  // namespace
}  // namespace suede
