// SPDX-License-Identifier: Apache-2.0
// Groups of sessions of both ends of a peer (docs/sessions.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "peer_bench.h"

namespace suede {
namespace {

class PeerGroups : public PeerBench {
 protected:
  // A PDU of plane 0 is acknowledged after `rtt`.
  void Carry(SessionIndex slot, Vc vc, Duration rtt) {
    Put(0, vc, 1, slot);
    now += rtt;
    Connection& one = connections[own->map.Number(slot, vc)];
    PduList acked;
    one.tx().OnAck(one.in_flight().oldest_psn(), now, transport, acked);
    paths.OnEnd(0, 100);
    own->inflight_bytes[0] -= 100;
    own->OnIdle(0);
  }
  void EvaluateGroup() {
    peer->health().OnProof(0, now);
    groups[0].OnTraffic(now, params.sessions);
    now = std::max(now, groups[0].deadline());
    Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kNone, now, e); });
  }
};

TEST_F(PeerGroups, TheSmallerNumberOfBothEndsCounts) {
  Make({.planes = 2, .sessions = 8});
  EXPECT_EQ(peer->group(0).count(), 1u);
  theirs.sessions = 4;
  Associate();
  EXPECT_EQ(peer->group(0).count(), 4u);
  EXPECT_EQ(peer->group(1).count(), 4u);
}

TEST_F(PeerGroups, ARestartOfThePeerLeavesOneWithItsFirstNumber) {
  Make({.planes = 2, .sessions = 2});
  BringAllUp();
  theirs.identities.own = 0x80;
  EXPECT_EQ(Hears(0, Answer()),
            (Lines{"credit end", "renumber 0/0", "renumber 0/1", "renumber 1/0", "renumber 1/1"}));
  EXPECT_EQ(peer->group(0).count(), 1u);
  EXPECT_EQ(peer->group(1).count(), 1u);
}

TEST_F(PeerGroups, APeerThatDoesNotSendInGenerationsHasOne) {
  Make({.planes = 2, .sessions = 8});
  theirs.sends_generations = false;
  Associate();
  EXPECT_EQ(peer->group(0).count(), 1u);
}

TEST_F(PeerGroups, PlaneFenceAndFencedNameThePsnsOfAllConnections) {
  Make({.planes = 2, .per_vc = true, .sessions = 4});
  Associate();
  now = std::max(now, peer->session(0).deadline());
  Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kNone, now, e); });
  const auto* plane = Said<PlaneHello>();
  ASSERT_NE(plane, nullptr);
  EXPECT_EQ(plane->more.count, 12);
  EXPECT_EQ(plane->more.psns[0], At(0, 4).in_flight().oldest_psn());
}

TEST_F(PeerGroups, APlaneThatDoesNotNameThemAllIsIgnored) {
  Make({.planes = 2, .sessions = 4});
  Associate();
  PlaneHello plane = PlaneOfTheirs(0, PlaneState::kInit);
  --plane.more.count;
  const Lines effects = Hears(0, plane);
  EXPECT_EQ(peer->session(0).peer_plane(), PlaneSession::kUnknownPlane);
}

TEST_F(PeerGroups, ASessionIsAnsweredAndASecondOneOnlyOnce) {
  Make({.planes = 2, .sessions = 4});
  Associate();
  EXPECT_EQ(Hears(1, SessionNumber{.slot = 3, .number = 4003, .in_use = 3, .turn = 1}),
            (Lines{"count rx_sessions_total", "say 1 other"}));
  const auto* answer = Said<SessionNumber>();
  ASSERT_NE(answer, nullptr);
  EXPECT_TRUE(answer->answer);
  EXPECT_EQ(answer->number, 4003);
  EXPECT_EQ(answer->psns, VcPsns{});
  EXPECT_TRUE(peer->group(1).Accepts(4003));
  EXPECT_FALSE(peer->group(0).Accepts(4003)) << "of its plane alone";
  Hears(1, SessionNumber{.slot = 3, .number = 5003, .in_use = 3, .turn = 0});
  EXPECT_EQ(Said<SessionNumber>(), nullptr);
}

// Its timer would be due at once again and again otherwise.
TEST_F(PeerGroups, APeerThatMovesWhereThePlaneIsNotUpYetMovesNoneOfOurs) {
  Make({.planes = 2, .sessions = 4});
  Associate();
  ASSERT_FALSE(peer->session(1).up());
  for (uint16_t turn = 1; turn <= 4; ++turn) {
    const auto number = static_cast<uint16_t>(3 + 4 * turn);
    Hears(1, SessionNumber{.slot = 3, .number = number, .in_use = 3, .turn = turn});
    EXPECT_TRUE(peer->group(1).Accepts(number));
  }
  EXPECT_EQ(peer->group(1).deadline(), kNever);
}

// The PDUs that the peer does not get may be our acknowledgements.
TEST_F(PeerGroups, APeerThatMovesTwiceHasOurNumberMovedToo) {
  Make({.planes = 2, .sessions = 4});
  BringAllUp();
  for (uint16_t turn = 1; turn <= 2; ++turn) {
    const auto number = static_cast<uint16_t>(3 + 4 * turn);
    Hears(1, SessionNumber{.slot = 3, .number = number, .in_use = 3, .turn = turn});
  }
  EXPECT_EQ(peer->group(1).slot(3).state, SessionSlot::State::kMoving);
  EXPECT_EQ(peer->group(1).deadline(), now) << "it is asked for at once";
}

// The timeouts of the former path say nothing of the new one.
TEST_F(PeerGroups, WhatASessionCouldNotCarryIsSentAgainOnItsNewNumber) {
  Make({.planes = 2, .sessions = 4});
  BringAllUp();
  Put(1, 0, 1, 1);
  Put(1, 0, 3);
  EXPECT_EQ(ConnectionDue(1, 1), (Lines{"count rto_total", "retransmit 1/1"}));
  EXPECT_EQ(ConnectionDue(1), (Lines{"count rto_total", "retransmit 1/0"}));
  now = At(1).deadline();
  peer->health().OnProof(1, now);
  SessionDue(1);
  ASSERT_GT(peer->session(1).deadline(), now);
  EXPECT_EQ(ConnectionDue(1), (Lines{"count rto_total", "count session_stalls_total",
                                     "tell session stalled 1/0", "retransmit 1/0"}));
  const SessionNumber request = groups[1].RequestOf(0);
  now = std::max(now, groups[1].deadline());
  const Lines lines = Do([&](Effects& e) { peer->probes().OnDeadline(1, Hold::kNone, now, e); });
  EXPECT_NE(std::find(lines.begin(), lines.end(),
                      "say from " + std::to_string(request.number) + "say 1 other"),
            lines.end());
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].psns, VcPsns{}) << "its PSNs go on";
  paths.carried[0] = paths.carried[1] + 5000;
  const Time before = At(1).deadline();
  SessionNumber answer = request;
  answer.answer = true;
  EXPECT_EQ(Hears(1, answer), (Lines{"count session_moves_total", "tell session moved 1/0",
                                     "renumber 1/0", "retransmit 1/0", "unblock {0123}"}));
  EXPECT_EQ(At(1).tx().tries(), 0u);
  EXPECT_EQ(At(1, 1).tx().tries(), 1u) << "of another session";
  EXPECT_EQ(paths.carried[1], paths.carried[0]) << "the plane is not owed what it did not carry";
  EXPECT_LT(At(1).deadline(), before) << "the doubled wait ends with its path";
  EXPECT_EQ(Hears(1, answer), Lines{"count rx_session_stale_total"}) << "once";
}

TEST_F(PeerGroups, NotReadyOfASessionThatWasNotAgreedIsDropped) {
  Make({.planes = 2, .sessions = 4});
  Associate();
  const Lines effects = Hears(0, NotReady{.vc = 0, .expected = Psn(0)}, {.slot = Peer::kNoSlot});
  EXPECT_EQ(effects.size(), 1u);
}

// With PSNs of each VC, what a VC took before it fell idle is no delay of the path that others
// take.
TEST_F(PeerGroups, TheRoundTripOfAnIdleVcIsForgotten) {
  Make({.planes = 2, .per_vc = true, .sessions = 4});
  BringAllUp();
  const auto carry = [&](Vc vc, Duration rtt) {
    Carry(0, vc, rtt);
    EvaluateGroup();
  };
  carry(1, std::chrono::microseconds(100));
  for (int i = 0; i < 10; ++i) carry(0, std::chrono::milliseconds(5));
  EXPECT_GT(slots[0].delay, 2 * SessionSlot::kWeightOne);
  for (int i = 0; i < 200; ++i) carry(1, std::chrono::microseconds(100));
  EXPECT_LT(slots[0].delay, 3 * SessionSlot::kWeightOne / 2);
}

// The path of a session that nothing is sent on for a while is no new one.
TEST_F(PeerGroups, TheRoundTripOfAnIdleSessionIsKnown) {
  Make({.planes = 2, .sessions = 2});
  BringAllUp();
  const auto carry = [&](SessionIndex slot, Duration rtt) {
    Carry(slot, 0, rtt);
    EvaluateGroup();
  };
  carry(0, std::chrono::microseconds(100));
  for (int i = 0; i < 10; ++i) carry(0, std::chrono::milliseconds(5));
  SessionNumber answer = groups[0].RequestOf(1);
  answer.answer = true;
  Hears(0, answer);
  ASSERT_EQ(groups[0].open(), 3u);
  carry(1, std::chrono::microseconds(100));
  for (int i = 0; i < 20; ++i) carry(0, std::chrono::milliseconds(5));
  EXPECT_GT(slots[0].weight, 8 * SessionSlot::kWeightOne) << "it is slower than the idle one";
}

TEST_F(PeerGroups, RetransmissionsOfEachVcCountForTheirSession) {
  Make({.planes = 2, .per_vc = true, .sessions = 4});
  BringAllUp();
  Put(0, 2, 1);
  connections[own->map.Number(0, 2)].tx().CountRetransmission();
  groups[0].OnTraffic(now, params.sessions);
  now = groups[0].deadline();
  Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kNone, now, e); });
  EXPECT_EQ(slots[0].weight, 2 * SessionSlot::kWeightOne);
  EXPECT_NE(groups[0].deadline(), kNever) << "PDUs are in flight";
}

// The peer accepts two numbers of a session: PDUs with the first one would be lost.
TEST_F(PeerGroups, ASessionTakesNoThirdNumberWhilePdusWithItsFirstOneAreUnderWay) {
  params.sessions.max_age = std::chrono::seconds(1);
  Make({.planes = 2, .sessions = 2});
  BringAllUp();
  Put(0, 0, 1);
  const auto evaluate = [&] {
    now += params.sessions.max_age;
    peer->health().OnProof(0, now);
    peer->health().OnProof(1, now);
    groups[0].OnTraffic(now, params.sessions);
    now = std::max(now, groups[0].deadline());
    Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kNone, now, e); });
    return groups[0].slot(0).state;
  };
  ASSERT_EQ(evaluate(), SessionSlot::State::kMoving);
  SessionNumber answer = groups[0].RequestOf(0);
  answer.answer = true;
  Hears(0, answer);
  EXPECT_EQ(evaluate(), SessionSlot::State::kOpen);
  EXPECT_EQ(evaluate(), SessionSlot::State::kOpen);
  PduList acked;
  connections[0].tx().OnAck(At(0).in_flight().oldest_psn(), now, transport, acked);
  paths.OnEnd(0, 100);
  own->inflight_bytes[0] -= 100;
  Put(0, 0, 1);
  EXPECT_EQ(evaluate(), SessionSlot::State::kMoving);
}

// A peer whose acknowledgements do not wait says so, where our congestion control asks for it.
TEST_F(PeerGroups, TheTimeThatAnAcknowledgementMayWaitIsNoDelay) {
  constexpr Duration kPath = std::chrono::microseconds(100);
  const Duration wait = transport.ack_bound() * 9 / 8;
  for (const auto& [wants, answers] : {std::pair{true, false}, {false, true}, {true, true}}) {
    Make({.planes = 2, .per_vc = true, .sessions = 4});
    own->hello.wants_echoes = wants;
    theirs.answers_congestion = answers;
    BringAllUp();
    for (int i = 0; i < 5; ++i) {
      Carry(0, 1, kPath);
      Carry(0, 0, 2 * kPath + wait);
      now += 2 * wait;
      EvaluateGroup();
    }
    const Duration rtt = 2 * kPath + (wants && answers ? wait : Duration(0));
    EXPECT_EQ(slots[0].delay, static_cast<uint32_t>(rtt * SessionSlot::kWeightOne / kPath));
    Clear();
  }
}

}  // namespace
}  // namespace suede
