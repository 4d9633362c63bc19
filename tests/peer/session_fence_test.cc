// SPDX-License-Identifier: Apache-2.0
// Fences of sessions (docs/sessions.md, "Fences"): facts in, effects compared.
#include <algorithm>

#include "peer_bench.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using State = SessionSlot::State;

class SessionFences : public PeerBench {
 protected:
  // The deadline of plane 0's group.
  Lines Evaluate() {
    groups[0].OnTraffic(now, params.sessions);
    now = std::max(now + microseconds(1), groups[0].deadline());
    return Do([&](Effects& e) { peer->probes().OnDeadline(0, Hold::kNone, now, e); });
  }
  // The first two sessions of plane 0 are open.
  void OpenTwo(const Shape& shape) {
    params.sessions.open_percent = 100;
    Make(shape);
    BringAllUp();
    for (int i = 0; i < 100 && groups[0].slot(1).state != State::kOpening; ++i) Evaluate();
    Evaluate();
    AnswerNumber(1);
    ASSERT_EQ(peer->group(0).open() & 3, 3u);
    params.sessions.open_percent = 1000;
  }
  void AnswerNumber(SessionIndex slot) {
    SessionNumber answer = groups[0].RequestOf(slot);
    answer.answer = true;
    Hears(0, answer);
  }
  // Timeouts in a row on a connection, until its session asks for another number.
  void Stall(SessionIndex slot) {
    const uint32_t number = own->map.Number(slot, 0);
    for (int i = 0; i < 10 && groups[0].slot(slot).state == State::kOpen; ++i) {
      ConnectionDue(0, PathConnection(number));
    }
    ASSERT_EQ(peer->group(0).slot(slot).state, State::kMoving);
  }
  // Evaluates, and nothing is answered, until a fence is said.
  SessionNumber WaitForFence() {
    for (int i = 0; i < 1000; ++i) {
      Evaluate();
      const auto* fence = Said<SessionNumber>();
      if (fence != nullptr && fence->fence) return *fence;
    }
    ADD_FAILURE() << "no fence";
    return {};
  }
  // The peer acknowledges so many PDUs of the second session of plane 0, as the data path hears it.
  void Acknowledge(uint32_t count) {
    PduList acked;
    connections[1].tx().OnAck(At(0, 1).in_flight().oldest_psn().Plus(static_cast<int>(count) - 1),
                              now, transport, acked);
    if (connections[1].tx().has_aside()) peer->flight().TakeBack(0, 1);
    for (; !acked.empty(); acked.PopFront()) {
      paths.OnEnd(0, 100);
      own->inflight_bytes[0] -= 100;
    }
    if (At(0, 1).in_flight().count() == 0) own->OnIdle(0);
  }
};

TEST_F(SessionFences, WhereNoNumberIsAnsweredPdusMoveOnce) {
  OpenTwo({.planes = 1, .sessions = 2});
  Put(0, 0, 5, 1);
  const Psn oldest = At(0, 1).in_flight().oldest_psn();
  Stall(1);
  EXPECT_EQ(peer->group(0).open(), 1u) << "nothing new takes it";
  const Time stalled = now;
  const uint32_t turn = groups[0].RequestOf(1).turn;
  SessionNumber fence = WaitForFence();
  EXPECT_EQ(fence.number, fence.in_use);
  EXPECT_EQ(fence.turn, turn + 3) << "newer than each of them";
  // Three numbers in vain, and the longest time from evaluation to evaluation.
  EXPECT_LE(now - stalled, 3 * params.hello_interval + 2 * params.sessions.interval);
  EXPECT_EQ(fence.slot, 1);
  EXPECT_FALSE(fence.anew);
  EXPECT_TRUE(At(0, 1).tx().frozen());
  fence.answer = true;
  fence.psns[0] = oldest.Plus(2);
  EXPECT_EQ(Hears(0, fence), (Lines{"acknowledged 0/1 2", "count session_fences_total",
                                    "requeue 0 3", "unblock {0123}"}));
  EXPECT_FALSE(At(0, 1).tx().frozen());
  EXPECT_EQ(At(0, 1).in_flight().count(), 0u);
  EXPECT_EQ(paths.inflight_bytes[0], 0u);
  EXPECT_EQ(peer->group(0).slot(1).state, State::kIdle);
  EXPECT_EQ(Hears(0, fence), Lines{"count rx_session_stale_total"}) << "once";
}

// One of two sessions leads nowhere, and the plane does lead there.
TEST_F(SessionFences, WhatIsStuckInASessionIsNoLoadOfItsPlane) {
  OpenTwo({.planes = 2, .sessions = 2});
  Put(0, 0, 5, 1);
  now += microseconds(1);
  Do([&](Effects&) { peer->health().OnProof(0, now); });
  ConnectionDue(0, 1);
  EXPECT_EQ(paths.inflight_bytes[0], 0u);
  EXPECT_EQ(own->inflight_bytes[0], 0u);
  EXPECT_EQ(own->aside_bytes[0], 500u);
  EXPECT_EQ(paths.InFlightOn(0), 500u);
  Put(0, 0, 1, 0);
  EXPECT_EQ(paths.inflight_bytes[0], 100u) << "the other session's";
  Acknowledge(2);
  EXPECT_EQ(paths.inflight_bytes[0], 400u) << "it leads there again";
  EXPECT_EQ(own->aside_bytes[0], 0u);
}

TEST_F(SessionFences, WhereThePlaneWasNotHeardSinceItIsItsLoad) {
  OpenTwo({.planes = 2, .sessions = 2});
  Do([&](Effects&) { peer->health().OnProof(0, now); });
  Put(0, 0, 5, 1);
  ConnectionDue(0, 1);
  EXPECT_EQ(At(0, 1).tx().tries(), 1u);
  EXPECT_EQ(paths.inflight_bytes[0], 500u);
}

TEST_F(SessionFences, WhatIsStuckInTheOnlyOpenSessionIsALoad) {
  params.sessions.open_percent = 1000;
  Make({.planes = 2, .sessions = 2});
  BringAllUp();
  Put(0, 0, 5);
  now += microseconds(1);
  Do([&](Effects&) { peer->health().OnProof(0, now); });
  ConnectionDue(0, 0);
  EXPECT_EQ(At(0, 0).tx().tries(), 1u);
  EXPECT_EQ(paths.inflight_bytes[0], 500u);
}

TEST_F(SessionFences, ItIsRepeatedAsItIs) {
  OpenTwo({.planes = 1, .sessions = 2});
  Put(0, 0, 1, 1);
  Stall(1);
  const SessionNumber first = WaitForFence();
  const Time said_at = now;
  EXPECT_EQ(WaitForFence().turn, first.turn);
  EXPECT_GE(now - said_at, params.hello_interval);
}

TEST_F(SessionFences, WhatIsAcknowledgedMeanwhileIsNotFenced) {
  OpenTwo({.planes = 1, .sessions = 2});
  Put(0, 0, 5, 1);
  Stall(1);
  Acknowledge(1);
  for (int i = 0; i < 100; ++i) {
    Evaluate();
    const auto* said_one = Said<SessionNumber>();
    EXPECT_TRUE(said_one == nullptr || !said_one->fence);
  }
}

TEST_F(SessionFences, TheOnlySessionOpensAnotherOneFirst) {
  params.sessions.open_percent = 1000;
  Make({.planes = 1, .sessions = 2});
  BringAllUp();
  Put(0, 0, 3);
  Stall(0);
  EXPECT_EQ(peer->group(0).open(), 1u);
  for (int i = 0; i < 100 && groups[0].slot(1).state != State::kOpening; ++i) Evaluate();
  ASSERT_EQ(peer->group(0).slot(1).state, State::kOpening);
  AnswerNumber(1);
  EXPECT_EQ(WaitForFence().slot, 0);
}

TEST_F(SessionFences, ItRestsAndIsOpenedAnewWithOtherPsns) {
  OpenTwo({.planes = 1, .sessions = 2});
  Put(0, 0, 3, 1);
  const Psn before = At(0, 1).in_flight().next_psn();
  Stall(1);
  SessionNumber fence = WaitForFence();
  fence.answer = true;
  fence.psns[0] = At(0, 1).in_flight().oldest_psn();
  Hears(0, fence);
  const Time fenced = now;
  params.sessions.open_percent = 100;
  for (int i = 0; i < 1000 && groups[0].slot(1).state != State::kOpening; ++i) Evaluate();
  EXPECT_GE(now - fenced, params.hold_down);
  const SessionNumber request = groups[0].RequestOf(1);
  EXPECT_TRUE(request.anew);
  EXPECT_NE(request.number, fence.number);
  EXPECT_EQ(At(0, 1).in_flight().next_psn(), before.Plus(3 << 13));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].psns[0], At(0, 1).in_flight().next_psn());
  AnswerNumber(1);
  EXPECT_EQ(peer->group(0).open(), 3u);
  EXPECT_FALSE(groups[0].RequestOf(1).anew);
}

TEST_F(SessionFences, APlaneThatDiesMeanwhileIsFencedAsAWhole) {
  OpenTwo({.planes = 2, .sessions = 2});
  Put(0, 0, 2, 1);
  Stall(1);
  WaitForFence();
  Acknowledge(2);
  own->SetPort(0, false);
  Do([&](Effects& e) { peer->health().OnPlaneChange(0, PlaneDownReason::kLink, now, e); });
  const Fence* said_one = Said<Fence>();
  ASSERT_NE(said_one, nullptr) << "its connection stands still, though nothing is in flight";
  Fenced fenced{.plane = 0,
                .generation = said_one->generation,
                .expected = said_one->oldest,
                .more = said_one->more};
  Hears(1, fenced);
  EXPECT_FALSE(At(0, 1).tx().frozen());
  EXPECT_EQ(peer->group(0).slot(1).state, State::kIdle);
}

TEST_F(SessionFences, TheReceiverAcceptsNothingMoreUntilItIsTold) {
  Make({.planes = 2, .per_vc = true, .sessions = 4});
  BringAllUp();
  connections[16 + 13].rx().Accept();
  const Psn expected = At(1, 13).rx().expected();
  ASSERT_FALSE(At(1, 13).rx().closed());
  const SessionNumber fence{.slot = 3, .number = 3, .in_use = 3, .turn = 5, .fence = true};
  for (int i = 0; i < 2; ++i) {
    Hears(1, fence);
    const auto* answer = Said<SessionNumber>();
    ASSERT_NE(answer, nullptr);
    EXPECT_TRUE(answer->answer && answer->fence);
    EXPECT_EQ(answer->psns[1], expected);
    EXPECT_TRUE(At(1, 13).rx().closed());
  }
  EXPECT_FALSE(At(1, 9).rx().closed()) << "of another session";
  EXPECT_FALSE(At(0, 13).rx().closed()) << "of another plane";
  Hears(1, SessionNumber{.slot = 3, .number = 4003, .in_use = 3, .turn = 4, .anew = true});
  EXPECT_TRUE(At(1, 13).rx().closed()) << "that was sent before the fence";
  SessionNumber anew{.slot = 3, .number = 5003, .in_use = 3, .turn = 6, .anew = true};
  anew.psns = {Psn(1), Psn(2), Psn(3), Psn(4)};
  Hears(1, anew);
  EXPECT_FALSE(At(1, 13).rx().closed());
  EXPECT_EQ(At(1, 13).rx().expected(), Psn(2));
  EXPECT_TRUE(peer->group(1).Accepts(5003));
  EXPECT_FALSE(peer->group(1).Accepts(3)) << "frames of before the fence";
  connections[16 + 13].rx().Accept();
  Hears(1, anew);
  EXPECT_EQ(At(1, 13).rx().expected(), Psn(3)) << "a repetition changes nothing";
  Hears(1, fence);
  EXPECT_FALSE(At(1, 13).rx().closed()) << "nor does a fence that comes late";
}

TEST_F(SessionFences, WhereThereIsOneSessionAFenceIsAStraggler) {
  Make({.planes = 2});
  BringAllUp();
  EXPECT_EQ(Hears(0, SessionNumber{.turn = 1, .fence = true}),
            Lines{"count rx_session_stale_total"});
  EXPECT_FALSE(At(0).rx().closed());
}

TEST_F(SessionFences, PsnsThatWereNeverSentEndTheAssociation) {
  OpenTwo({.planes = 1, .sessions = 2});
  Put(0, 0, 2, 1);
  Stall(1);
  SessionNumber fence = WaitForFence();
  fence.answer = true;
  fence.psns[0] = At(0, 1).in_flight().next_psn().Plus(7);
  const Lines lines = Hears(0, fence);
  EXPECT_EQ(lines.front(), "count rx_rpsn_invalid_total");
  EXPECT_EQ(At(0, 1).in_flight().count(), 0u);
}

TEST_F(SessionFences, APlaneIsNotOwedWhatItsSessionCouldNotCarry) {
  OpenTwo({.planes = 2, .sessions = 2});
  Put(0, 0, 2, 1);
  Stall(1);
  SessionNumber fence = WaitForFence();
  fence.answer = true;
  fence.psns[0] = At(0, 1).in_flight().oldest_psn();
  paths.carried[1] = paths.carried[0] + 5000;
  Hears(0, fence);
  EXPECT_EQ(paths.carried[0], paths.carried[1]);
}

TEST_F(SessionFences, WhatWasSetAsideEndsWithTheFence) {
  OpenTwo({.planes = 2, .sessions = 2});
  Put(0, 0, 5, 1);
  now += microseconds(1);
  Do([&](Effects&) { peer->health().OnProof(0, now); });
  Stall(1);
  ASSERT_EQ(own->aside_bytes[0], 500u);
  SessionNumber fence = WaitForFence();
  fence.answer = true;
  fence.psns[0] = At(0, 1).in_flight().oldest_psn();
  Hears(0, fence);
  EXPECT_EQ(own->aside_bytes[0], 0u);
  EXPECT_EQ(own->inflight_bytes[0], 0u);
  EXPECT_EQ(paths.InFlightOn(0), 0u);
  EXPECT_EQ(own->busy[0], 0u);
}

TEST_F(SessionFences, AFlowThatWaitsForAFencedSessionMoves) {
  OpenTwo({.planes = 2, .ordering = Ordering::kStrict, .sessions = 2});
  Weigh(1, 0);
  ASSERT_EQ(paths.home[0], 0);
  Put(0, 0, 2, 1);
  Weigh(1, 1);
  Stall(1);
  SessionNumber fence = WaitForFence();
  Weigh(0, 0);
  ASSERT_EQ(paths.choice[0], 0);
  fence.answer = true;
  fence.psns[0] = At(0, 1).in_flight().oldest_psn();
  EXPECT_EQ(Hears(0, fence), (Lines{"count session_fences_total", "requeue 0 2", "home 1 {0123}",
                                    "unblock {0123}", "unblock {0123}"}));
}

TEST_F(SessionFences, QueuesGoOnWhenASessionHasLeftItsSlowPath) {
  OpenTwo({.planes = 1, .sessions = 2});
  params.sessions.idle_intervals = 1'000'000;
  const auto carry = [&](uint32_t slot, Duration rtt) {
    Put(0, 0, 1, SessionIndex(slot));
    now += rtt;
    PduList acked;
    connections[slot].tx().OnAck(At(0, PathConnection(slot)).in_flight().oldest_psn(), now,
                                 transport, acked);
    paths.OnEnd(0, 100);
    own->inflight_bytes[0] -= 100;
    own->OnIdle(0);
  };
  for (int i = 0; i < 1000 && groups[0].slot(1).state == State::kOpen; ++i) {
    carry(0, microseconds(10));
    carry(1, std::chrono::milliseconds(2));
    peer->health().OnProof(0, now);
    Evaluate();
  }
  ASSERT_EQ(groups[0].slot(1).state, State::kMoving);
  Put(0, 0, 1, 1);
  AnswerNumber(1);
  ASSERT_EQ(groups[0].slot(1).state, State::kClearing);
  Acknowledge(1);
  const Lines lines = Evaluate();
  EXPECT_EQ(peer->group(0).open(), 3u);
  EXPECT_NE(std::find(lines.begin(), lines.end(), "unblock {0123}"), lines.end());
}

}  // namespace
}  // namespace suede
