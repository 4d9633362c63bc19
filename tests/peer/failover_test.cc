// SPDX-License-Identifier: Apache-2.0
// Fences, a transition for each test: facts in, effects compared.
#include "peer_bench.h"

namespace suede {
namespace {

class Failover : public PeerBench {
 protected:
  // Kills a plane with `count` PDUs in flight, and says which FENCE went out.
  Fence Kill(PlaneIndex plane, uint32_t count, Vc vc = 0) {
    Put(plane, vc, count);
    own->SetPort(plane, false);
    Do([&](Effects& e) { peer->health().OnPlaneChange(plane, PlaneDownReason::kLink, now, e); });
    const Fence* fence = Said<Fence>();
    EXPECT_NE(fence, nullptr);
    return fence != nullptr ? *fence : Fence{};
  }
  static Fenced AnswerTo(const Fence& fence, int accepted) {
    Fenced fenced{.plane = fence.plane, .generation = fence.generation, .expected = fence.oldest};
    fenced.expected[0] = fence.oldest[0].Plus(accepted);
    return fenced;
  }
};

TEST_F(Failover, APlaneThatDiesWithPdusInDoubtIsFenced) {
  Make({});
  BringAllUp();
  Put(0, 0, 3);
  own->SetPort(0, false);
  EXPECT_EQ(
      Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kLink, now, e); }),
      (Lines{"count plane_deaths_total", "tell plane down 0 for 2", "tell fence opened 0",
             "say 1 FENCE 0", "unblock {0123}", "unblock {0123}"}));
  EXPECT_TRUE(At(0).tx().frozen());
  EXPECT_EQ(Said<Fence>()->oldest[0], At(0).in_flight().oldest_psn());
}

TEST_F(Failover, AFenceIsSaidAgainUntilItIsAnswered) {
  Make({});
  BringAllUp();
  Kill(0, 1);
  EXPECT_EQ(SessionDue(0), Lines{"say 1 FENCE 0"});
  EXPECT_EQ(SessionDue(0), Lines{"say 1 FENCE 0"});
}

TEST_F(Failover, NowAndThenOverTheDeadPlaneItself) {
  Make({});
  BringAllUp();
  Put(0, 0, 1);
  Hears(0, PlaneOfTheirs(0, PlaneState::kDown));
  Lines said;
  for (int i = 0; i < 4; ++i) {
    const Lines lines = SessionDue(0);
    said.insert(said.end(), lines.begin(), lines.end());
  }
  EXPECT_NE(std::find(said.begin(), said.end(), "say 0 FENCE 0 own"), said.end());
}

TEST_F(Failover, WhatWasAcceptedIsDoneAndTheRestMoves) {
  Make({});
  BringAllUp();
  const uint16_t generation = peer->session(0).tx_generation();
  const Fence fence = Kill(0, 5);
  SessionDue(0);
  const Psn before = At(0).in_flight().next_psn();
  EXPECT_EQ(Hears(1, AnswerTo(fence, 2)),
            (Lines{"acknowledged 0/0 2", "requeue 0 3", "unblock {0123}"}));
  EXPECT_FALSE(At(0).tx().frozen());
  EXPECT_EQ(At(0).in_flight().next_psn(), before.Plus(1 << 15))
      << "the next generation is far away";
  EXPECT_EQ(peer->session(0).tx_generation(), generation + 1);
  EXPECT_EQ(paths.inflight_bytes[0], 0u);
  EXPECT_EQ(own->inflight_bytes[0], 0u);
  EXPECT_EQ(own->busy[0], 0u);
}

TEST_F(Failover, EachVcIsFencedByItself) {
  Make({.per_vc = true});
  BringAllUp();
  Put(0, 2, 3);
  const Fence fence = Kill(0, 1, 0);
  Fenced fenced = AnswerTo(fence, 1);
  fenced.expected[2] = fence.oldest[2].Plus(1);
  EXPECT_EQ(Hears(1, fenced),
            (Lines{"acknowledged 0/0 1", "acknowledged 0/2 1", "requeue 0 2", "unblock {0123}"}));
}

TEST_F(Failover, AnAnswerToAnotherFenceIsAStraggler) {
  Make({});
  BringAllUp();
  const Fence fence = Kill(0, 1);
  Fenced old = AnswerTo(fence, 1);
  --old.generation;
  EXPECT_EQ(Hears(1, old), Lines{"count rx_plane_stale_total"});
  Fenced nowhere = AnswerTo(fence, 1);
  for (const int plane : {2, 3}) {
    nowhere.plane = static_cast<uint8_t>(plane);
    EXPECT_EQ(Hears(1, nowhere), Lines{"count rx_plane_stale_total"});
  }
  Hears(1, AnswerTo(fence, 1));
  EXPECT_EQ(Hears(1, AnswerTo(fence, 1)), Lines{"count rx_plane_stale_total"}) << "it is over";
}

TEST_F(Failover, AnAnswerThatCannotBeTwiceBeginsAnotherAssociation) {
  Make({});
  BringAllUp();
  const Fence fence = Kill(0, 1);
  EXPECT_EQ(Hears(1, AnswerTo(fence, 9)), Lines{"count rx_rpsn_invalid_total"});
  const uint64_t identity = peer->handshake().identities().own;
  EXPECT_EQ(Hears(1, AnswerTo(fence, 9)),
            (Lines{"count rx_rpsn_invalid_total", "count desynchronized_total",
                   "give up 0/0 1 reset", "credit end", "count peer_reset_total", "tell reset"}));
  EXPECT_NE(peer->handshake().identities().own, identity);
  EXPECT_FALSE(paths.sessions);
}

TEST_F(Failover, TheirFenceIsAnsweredAndThePlaneIsDead) {
  Make({});
  BringAllUp();
  const Psn expected = At(0).rx().expected();
  EXPECT_EQ(Hears(1, Fence{.plane = 0, .generation = 1}),
            (Lines{"count rx_fences_total", "say 1 FENCED 0", "count plane_deaths_total",
                   "tell plane down 0 for 4", "unblock {0123}"}));
  ASSERT_NE(Said<Fenced>(), nullptr);
  EXPECT_EQ(Said<Fenced>()->expected[0], expected);
  EXPECT_TRUE(At(0).rx().closed());
  EXPECT_EQ(Hears(1, Fence{.plane = 0, .generation = 1}),
            (Lines{"count rx_fences_total", "say 1 FENCED 0"}))
      << "the answer was lost";
}

TEST_F(Failover, AFenceForAnotherGenerationNamesItsFirstPsns) {
  Make({});
  BringAllUp();
  Fence fence{.plane = 1, .own = true, .generation = 2};
  fence.oldest[0] = Psn(4711);
  Hears(1, fence);
  ASSERT_NE(Said<Fenced>(), nullptr);
  EXPECT_EQ(Said<Fenced>()->expected[0], Psn(4711)) << "nothing of it had come";
  fence.generation = 1;
  EXPECT_EQ(Hears(1, fence), Lines{"count rx_plane_stale_total"});
}

TEST_F(Failover, AFenceOfAPlaneThatWeCannotTell) {
  Make({});
  Associate();
  EXPECT_EQ(Hears(1, Fence{.plane = 3, .generation = 0}),
            (Lines{"count rx_fences_total", "say 1 FENCED 3"}))
      << "nothing was accepted on any that it could be";
  EXPECT_EQ(Hears(1, Fence{.plane = 3, .generation = 1}), Lines{"count rx_plane_stale_total"});
}

TEST_F(Failover, GenerationZeroIsFencedOnceThePeerAnswersPlanes) {
  Make({});
  theirs.answers_planes = theirs.sends_generations = false;
  Associate();
  Put(0, 0, 2);
  theirs.answers_planes = true;
  Hears(0, Answer());
  EXPECT_TRUE(paths.sessions);
  EXPECT_TRUE(At(0).tx().frozen());
  EXPECT_EQ(SessionDue(0), Lines{"say 0 FENCE 0 own"}) << "no plane is up, and they go by turns";
}

// The peer has numbers of its own: one of the planes on which it has sent no PLANE is meant.
TEST_F(Failover, GenerationZeroEndsOnAllPlanesThatCouldBeMeant) {
  for (const bool accepted : {false, true}) {
    Make({});
    theirs.sends_generations = false;
    Associate();
    Hears(0, PlaneOfTheirs(0, PlaneState::kInit));
    connections[own->map.At(0, 0, 0)].rx().Accept();
    if (accepted) connections[own->map.At(0, 1, 0)].rx().Accept();
    EXPECT_EQ(Hears(1, Fence{.plane = 3, .generation = 0}),
              accepted ? Lines{"count rx_plane_stale_total"}
                       : (Lines{"count rx_fences_total", "say 1 FENCED 3"}));
    EXPECT_FALSE(At(0).rx().closed()) << "it is known by a PLANE";
    EXPECT_EQ(At(1).rx().closed(), !accepted);
    Clear();
  }
}

TEST_F(Failover, AFlowOfWhichNothingHadArrivedLeavesItsHome) {
  Make({.ordering = Ordering::kStrict});
  BringAllUp();
  const PlaneIndex home(paths.home[0]);
  const PlaneIndex other(1 - home);
  const Fence fence = Kill(home, 2);
  EXPECT_EQ(paths.choice[0], 0);
  EXPECT_EQ(Hears(other, AnswerTo(fence, 0)), (Lines{"requeue " + std::to_string(home) + " 2",
                                                     "home " + std::to_string(other) + " {0123}",
                                                     "unblock {0123}", "unblock {0123}"}));
}

}  // namespace
}  // namespace suede
