// SPDX-License-Identifier: Apache-2.0
// Strict: which plane each flow takes (docs/planes.md, "Flows").
#include <numeric>

#include "peer_bench.h"

namespace suede {
namespace {

class Homes : public PeerBench {
 protected:
  // A flow for each VC, on planes of the same weight.
  void MakeFlows(uint32_t planes) {
    Make({.planes = planes, .per_vc = true, .ordering = Ordering::kStrict});
    BringAllUp();
    std::array<uint32_t, kMaxPlanes> usual{};
    std::fill_n(usual.begin(), planes, PlaneShares::kOne / planes);
    own->shares.Begin(usual);
    for (PlaneIndex plane = 0; plane < planes; ++plane) Weigh(plane, 4);
  }
  uint32_t Begin(Vc vc) {
    const bool moves = peer->choice().placement().OnFlowBegins(vc);
    EXPECT_FALSE(moves && peer->choice().placement().OnFlowBegins(vc)) << "it has moved already";
    const PlaneIndex home(paths.home[vc]);
    Put(home, vc, 1);
    return home;
  }
  // Acknowledges all that the flow has in flight on the plane.
  Lines End(PlaneIndex plane, Vc vc) {
    PduList acked;
    Connection& ended = connections[own->map.At(0, plane, own->map.Number(0, vc))];
    const uint32_t bytes = ended.in_flight().bytes();
    ended.tx().OnAck(ended.in_flight().next_psn().Plus(-1), now, transport, acked);
    EXPECT_EQ(ended.in_flight().bytes(), 0u);
    paths.OnEnd(plane, bytes);
    own->inflight_bytes[plane] -= bytes;
    own->OnIdle(plane);
    if (paths.moving == 0) return {};
    return Do([&](Effects& e) { peer->choice().OnEnded(e); });
  }
  // Flows of other peers.
  void Others(const std::array<uint32_t, kMaxPlanes>& busy) {
    for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) own->busy[plane] += busy[plane];
  }
  // A PLANE is due on the plane, and there was an answer to the last one.
  Lines ReachDeadline(PlaneIndex plane) {
    Do([&](Effects&) { peer->health().OnProof(plane, now); });
    now = std::max(now, sessions[plane].deadline());
    return Do([&](Effects& e) { peer->probes().OnDeadline(plane, Hold::kNone, now, e); });
  }
  uint32_t Moving() const { return static_cast<uint32_t>(std::popcount(paths.moving)); }
};

TEST_F(Homes, FlowsThatBeginTakeAPlaneEach) {
  MakeFlows(4);
  uint32_t taken = 0;
  for (Vc vc = 0; vc < kVcCount; ++vc) taken |= 1u << Begin(vc);
  EXPECT_EQ(taken, 0xfu);
}

TEST_F(Homes, FlowsThatBeginGoByTheWeights) {
  MakeFlows(2);
  const uint32_t light = 0;
  Weigh(light, 1);
  std::array<uint32_t, 2> taken{};
  for (Vc vc = 0; vc < kVcCount; ++vc) ++taken[Begin(vc)];
  EXPECT_LE(taken[light], 1u) << "one there is as much as four on the other";
  EXPECT_GE(taken[1], 3u);
}

// The bytes of the next PDU are compared with the window when the PDU is about to leave.
TEST_F(Homes, AQueueMayGoOnUnlessTheWindowOfItsHomeIsExceeded) {
  MakeFlows(2);
  transport.window_bytes = 300;
  const PlaneIndex home(Begin(0));
  const PathConnection number = own->map.Number(0, 0);
  for (int pdus = 1; pdus <= 4; ++pdus, Put(home, 0, 1)) {
    EXPECT_EQ(peer->choice().placement().MaySend(home, number), pdus <= 3) << pdus;
    EXPECT_FALSE(peer->choice().placement().MaySend(PlaneIndex(1 - home), number));
  }
}

TEST_F(Homes, AFlowWithPdusInFlightBeginsNothing) {
  MakeFlows(2);
  const PlaneIndex home(Begin(0));
  Others({home == 0 ? 9u : 0u, home == 1 ? 9u : 0u});
  EXPECT_FALSE(peer->choice().placement().OnFlowBegins(0));
  EXPECT_EQ(paths.home[0], home);
  End(home, 0);
  EXPECT_TRUE(peer->choice().placement().OnFlowBegins(0));
  EXPECT_EQ(paths.home[0], 1 - home);
  EXPECT_EQ(paths.choice[0], 1u << (1 - home));
  EXPECT_FALSE(peer->choice().placement().OnFlowBegins(0)) << "the other one is too loaded";
}

// One flow at a time: no flow is busy when the next one begins.
TEST_F(Homes, FlowsThatBeginShareByTheWeightsHoweverFewAreBusy) {
  MakeFlows(4);
  Weigh(0, 2);
  Weigh(1, 4);
  std::array<int, kMaxPlanes> flows{};
  for (int i = 0; i < 1400; ++i) {
    const Vc vc(static_cast<uint32_t>(i) % kVcCount);
    const PlaneIndex home(Begin(vc));
    ++flows[home];
    End(home, vc);
  }
  EXPECT_NEAR(flows[0], 200, 2);
  for (uint32_t plane = 1; plane < kMaxPlanes; ++plane) EXPECT_NEAR(flows[plane], 400, 2);
}

TEST_F(Homes, AFlowThatBeginsAloneGoesOnWhereOnePlaneIsLeft) {
  MakeFlows(2);
  Weigh(0, 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(peer->choice().placement().OnFlowBegins(0));
    EXPECT_EQ(paths.home[0], 1);
  }
}

TEST_F(Homes, AsManyFlowsMoveAsTheWeightsAsk) {
  MakeFlows(2);
  std::array<std::vector<Vc>, 2> at;
  for (Vc vc = 0; vc < kVcCount; ++vc) at[Begin(vc)].push_back(vc);
  ASSERT_EQ(at[0].size(), 2u);
  // 2 : 2 flows for 4 : 4 become 1 : 3 for 1 : 3 (the nearest).
  EXPECT_EQ(Weigh(1, 12), Lines{"count flow_moves_total"});
  EXPECT_EQ(Moving(), 1u);
  const auto moved = Lowest<Vc>(paths.moving);
  EXPECT_EQ(paths.choice[moved], 0) << "it stands still until nothing is in flight";
  EXPECT_EQ(End(0, moved), (Lines{"home 1 {" + std::to_string(moved) + "}", "unblock {0123}"}));
  EXPECT_EQ(paths.home[moved], 1);
  EXPECT_EQ(paths.moving, 0);
  EXPECT_EQ(own->LoadOf(0), 1u);
  // Nothing asks for another move.
  Begin(moved);
  EXPECT_EQ(Weigh(1, 12), Lines{});
  EXPECT_EQ(paths.moving, 0);
}

// A flow with gaps chooses anew after each gap: it need not stand still in the midst of a burst.
TEST_F(Homes, BusyFlowsMoveWhereTheyHaveNoGaps) {
  MakeFlows(2);
  for (int burst = 0; burst < 10; ++burst) {
    const PlaneIndex home(Begin(0));
    own->busy[home] += 9;
    ReachDeadline(home);
    ReachDeadline(home);
    EXPECT_EQ(paths.moving, 0) << "it has begun since the look before the last";
    own->busy[home] -= 9;
    End(home, 0);
  }
  const PlaneIndex home(Begin(0));
  own->busy[home] += 9;
  for (int i = 0; i < 3; ++i) ReachDeadline(home);
  EXPECT_EQ(paths.moving, 1);
}

TEST_F(Homes, FlowsThatMoveCountWhereTheyGo) {
  MakeFlows(2);
  Others({8, 8});
  for (Vc vc = 0; vc < kVcCount; ++vc) Begin(vc);
  Weigh(1, 40);
  EXPECT_EQ(Moving(), 2u) << "none of ours is left on plane 0";
  EXPECT_EQ(own->LoadOf(0), 8u);
  EXPECT_EQ(own->LoadOf(1), 12u);
  EXPECT_EQ(own->busy[0], 10u);
}

// Half of the other destinations lack plane 0: the load in flight is as even as it can be.
TEST_F(Homes, APlaneThatOthersLackIsNoEmptierForAFlowThatBegins) {
  MakeFlows(2);
  own->shares.OnUneven(true);
  for (int i = 0; i < 4096; ++i)
    own->shares.Note({PlaneShares::kOne / 4, PlaneShares::kOne / 4 * 3});
  Others({4, 12});
  std::array<int, kMaxPlanes> flows{};
  for (int i = 0; i < 100; ++i) {
    const PlaneIndex home(Begin(0));
    ++flows[home];
    End(home, 0);
  }
  EXPECT_NEAR(flows[0], flows[1], 4);
}

TEST_F(Homes, FlowsShareByWhatTheySend) {
  MakeFlows(2);
  std::array<uint32_t, kMaxPlanes> bytes{};
  for (uint32_t i = 0; i < 200; ++i) {
    const Vc vc(i % kVcCount);
    PlaneIndex home(Begin(vc));
    // The flows of every second VC are long.
    for (uint32_t more = 0; vc % 2 == 0 && more < 9; ++more) Put(home, vc, 1);
    bytes[home] += vc % 2 == 0 ? 10 : 1;
    End(home, vc);
  }
  EXPECT_NEAR(bytes[0], bytes[1], 20);
}

TEST_F(Homes, TheFlowsOfAPlaneThatDiesMoveAndStay) {
  MakeFlows(2);
  std::array<std::vector<Vc>, 2> at;
  for (Vc vc = 0; vc < kVcCount; ++vc) at[Begin(vc)].push_back(vc);
  Weigh(0, 0);
  EXPECT_EQ(Moving(), 2u);
  for (const Vc vc : at[0]) End(0, vc);
  for (Vc vc = 0; vc < kVcCount; ++vc) EXPECT_EQ(paths.home[vc], 1);
  for (const Vc vc : at[0]) Begin(vc);
  // The route is back: half of them have more room there.
  Weigh(0, 4);
  EXPECT_EQ(Moving(), 2u);
  EXPECT_EQ(own->LoadOf(0), own->LoadOf(1));
}

TEST_F(Homes, AMoveEndsWithTheAssociation) {
  MakeFlows(2);
  for (Vc vc = 0; vc < kVcCount; ++vc) Begin(vc);
  Weigh(0, 0);
  ASSERT_NE(paths.moving, 0);
  theirs.identities.own = 0x7f;
  Associate();
  EXPECT_EQ(paths.moving, 0);
  EXPECT_EQ(own->busy[0] + own->busy[1], 0u);
  EXPECT_EQ(own->LoadOf(0) + own->LoadOf(1), 0u);
}

// Each PDU chooses, or few flows do.
TEST_F(Homes, WhatAPlaneIsOwedStaysOwedWhereFlowsChoose) {
  MakeFlows(2);
  EXPECT_TRUE(paths.flows);
}

TEST_F(Homes, WhatAPlaneIsOwedIsForgottenWherePdusChoose) {
  Make({.planes = 2});
  EXPECT_FALSE(paths.flows);
}

TEST_F(Homes, AFlowStaysWhereAnotherPlaneWouldHaveAsMuch) {
  MakeFlows(2);
  const PlaneIndex home(Begin(0));
  for (const uint32_t there : {1u, 0u}) {
    own->busy[home] = 2;
    own->busy[1 - home] = there;
    Weigh(home, 4);
    EXPECT_EQ(Moving(), there == 0 ? 1u : 0u);
  }
  own->busy[home] = 1;
}

TEST_F(Homes, AFlowThatMovesTakesThePlaneWithTheLeastLoad) {
  for (const auto& busy : {std::array<uint32_t, 3>{5, 1, 3}, {1, 5, 3}, {3, 5, 1}}) {
    MakeFlows(4);
    const PlaneIndex home(Begin(0));
    uint32_t least = 0;
    for (uint32_t plane = 0, i = 0; plane < 4; ++plane) {
      if (plane == home) continue;
      own->busy[plane] = busy[i];
      if (busy[i] == 1) least = plane;
      ++i;
    }
    own->busy[home] = 9;
    Weigh(home, 4);
    EXPECT_EQ(Moving(), 1u);
    EXPECT_EQ(paths.moves[0].to, least);
    Clear();
  }
}

TEST_F(Homes, AFlowThatBeginsLeavesALoadedPlaneThatHasCarriedLess) {
  MakeFlows(2);
  for (const uint32_t loaded : {0u, 1u}) {
    own->busy = {};
    own->busy[loaded] = 9;
    paths.carried[loaded] = paths.carried[1 - loaded] - 5000;
    peer->choice().placement().OnFlowBegins(0);
    EXPECT_EQ(paths.home[0], 1 - loaded);
  }
}

// Only flows that wait for the end of their PDUs choose, and only when that comes.
TEST_F(Homes, TheEndOfPdusMovesNoOtherFlow) {
  MakeFlows(2);
  const PlaneIndex first(Begin(0));
  own->busy[first] += 9;
  Weigh(first, 4);
  ASSERT_EQ(Moving(), 1u);
  for (const uint32_t lighter : {0u, 1u}) {
    for (Vc vc = 1; vc < kVcCount; ++vc) {
      own->busy[0] += own->LoadOf(1) - own->LoadOf(0);
      paths.carried[lighter] = paths.carried[1 - lighter] - 500'000'000;
      const PlaneIndex home(Begin(vc));
      EXPECT_EQ(home, lighter);
      EXPECT_EQ(End(home, vc), Lines{});
      EXPECT_EQ(paths.home[vc], home);
    }
  }
  EXPECT_EQ(Moving(), 1u);
}

}  // namespace
}  // namespace suede
