// SPDX-License-Identifier: Apache-2.0
// The rules of docs/sessions.md on congestion and the choice of a session, by name.
#include <gtest/gtest.h>

#include "path/session_group.h"
#include "session_groups.h"

namespace suede {
namespace {

// ---- Marks.

TEST_F(SessionGroups, WhatSwitchesMarkIsCongested) {
  Open(2);
  for (int i = 0; i < 8; ++i) {
    for (auto& fact : facts) fact.tx_pdus += 16;
    group.OnMarked(2, 16);
    Evaluate();
  }
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).marks, SessionSlot::kWeightOne * 16 / 17);
  EXPECT_GT(group.slot(1).weight, 3 * SessionSlot::kWeightOne) << "(1 + 1/2) to the third power";
  EXPECT_LT(group.slot(1).weight, 4 * SessionSlot::kWeightOne);
  EXPECT_GT(group.slot(1).delay, SessionSlot::kWeightOne * 19 / 10);
}

TEST_F(SessionGroups, MarksThatAllHaveAreNoReasonToMoveButToOpenAnother) {
  Open(2);
  SlotMask requests = 0;
  for (int i = 0; i < 8; ++i) {
    for (auto& fact : facts) fact.tx_pdus += 16;
    group.OnMarked(3, 32);
    requests |= Evaluate();
  }
  EXPECT_EQ(group.slot(0).weight, group.slot(1).weight);
  EXPECT_NE(requests, 0u);
  EXPECT_EQ(requests & group.open(), 0u);
}

TEST_F(SessionGroups, AFewPdusWithoutMarksDoNotMakeAPathFree) {
  Open(2);
  facts[1].tx_pdus += 16;
  group.OnMarked(2, 16);
  Evaluate();
  const uint32_t before = group.slot(1).marks;
  Evaluate();  // one PDU
  EXPECT_LT(group.slot(1).marks, before);
  EXPECT_GT(group.slot(1).marks, before * 9 / 10);
}

// A peer may say what it likes: it weighs no more than that all was marked.
TEST_F(SessionGroups, MarksAreDividedAmongTheirSessions) {
  Open(2);
  group.OnMarked(2, 1);
  EXPECT_EQ(group.slot(1).marked, 1u);
  group.OnMarked(3, 6);
  EXPECT_EQ(group.slot(0).marked, 3u);
  EXPECT_EQ(group.slot(1).marked, 4u);
  group.OnMarked(3, 1);
  EXPECT_EQ(group.slot(0).marked, 4u) << "one at least";
}

TEST_F(SessionGroups, MarksOfNoSessionAndMoreThanWereSentAreHarmless) {
  Open(2);
  group.OnMarked(~SlotMask{0}, UINT32_MAX);
  group.OnMarked(0xc, 1u << 20);
  group.OnMarked(0, 5);
  Evaluate();
  EXPECT_LE(group.slot(0).marks, SessionSlot::kWeightOne);
  EXPECT_LE(group.slot(1).marks, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(2).marked, 0u);
  group.Begin(1, kNumbers, now);
  group.OnMarked(1, 7);
  EXPECT_EQ(group.slot(0).marked, 0u) << "one session is not weighed";
}

TEST_F(SessionGroups, WhatNothingIsSentOnIsNotCongested) {
  Open(2);
  facts[1].srtt = microseconds(50);
  for (int i = 0; i < 100; ++i) {
    group.OnTraffic(now, params);
    now = std::max(now, group.deadline());
    ++facts[0].tx_pdus;
    facts[0].unacked_pdus = 1;
    facts[1].unacked_pdus = 0;
    EXPECT_EQ(group.OnTimer(facts, params, waits, random, now), 0u);
  }
}

// The less it is used, the less is known of it; what is in flight is in use.
TEST_F(SessionGroups, WhatNothingIsSentOnBecomesFree) {
  Open(2);
  facts[1].srtt = microseconds(14);
  Evaluate();
  const uint32_t used = group.slot(1).weight;
  EXPECT_GT(used, 2 * SessionSlot::kWeightOne);
  for (const bool in_flight : {true, false}) {
    for (int i = 0; i < 60; ++i) {
      group.OnTraffic(now, params);
      now = std::max(now, group.deadline());
      ++facts[0].tx_pdus;
      facts[1].unacked_pdus = in_flight ? 1 : 0;
      group.OnTimer(facts, params, waits, random, now);
    }
    EXPECT_EQ(group.slot(1).weight, in_flight ? used : SessionSlot::kWeightOne);
  }
}

TEST_F(SessionGroups, CongestionBeyondTenTimesTheRoundTripIsAllTheSame) {
  Open(2);
  facts[1].srtt = microseconds(99);
  Evaluate();
  EXPECT_LT(group.slot(1).weight, 1000 * SessionSlot::kWeightOne);
  for (const int rtt : {110, 1000, 200'000}) {
    facts[1].srtt = microseconds(rtt);
    Evaluate();
    EXPECT_EQ(group.slot(1).weight, 1000 * SessionSlot::kWeightOne) << rtt;
  }
}

TEST_F(SessionGroups, RetransmissionsWeighLikeTwiceTheDelay) {
  ++facts[0].retransmissions;
  Evaluate();
  EXPECT_EQ(group.slot(0).weight, 2 * SessionSlot::kWeightOne);
  Evaluate();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne * 3 / 2);
}

// ---- Choice.

TEST_F(SessionGroups, WhatAllSessionsWaitForIsNoReasonToPreferOne) {
  Open(2);
  facts[0].srtt = microseconds(400);
  facts[1].srtt = microseconds(400);
  Evaluate();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(0).delay, 40 * SessionSlot::kWeightOne);
  facts[1].srtt = microseconds(410);
  Evaluate();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).weight, 8 * SessionSlot::kWeightOne) << "as on an empty port";
}

TEST_F(SessionGroups, ANewOneIsNoReasonToMoveUntilItWasMeasured) {
  facts[0].srtt = microseconds(20);
  facts[1] = {};
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne) << "there is no other one";
  EXPECT_TRUE(Answer(1));
  Evaluate();
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  facts[1].srtt = microseconds(20);
  Evaluate();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(0).state, State::kOpen) << "that was no reason to move";
}

// ---- Runs.

TEST_F(SessionGroups, SmallPdusFollowOneSessionForAWhileWhereNoneIsBetter) {
  Open(2);
  EXPECT_FALSE(group.InRun());
  group.BeginRun(1);
  group.OnTaken(1, 40);
  uint32_t followed = 0;
  for (; group.InRun(); ++followed) {
    EXPECT_EQ(group.run_slot(), 1u);
    EXPECT_EQ(group.MaxInRun(), 7 - followed);
    group.OnTaken(1, 40);
  }
  EXPECT_EQ(followed, 7u);
  group.BeginRun(1);
  group.OnTaken(1, 4000);
  EXPECT_FALSE(group.InRun()) << "a large one is a run by itself";
  EXPECT_EQ(group.MaxInRun(), 1u);
}

TEST_F(SessionGroups, ARunEndsWithALookAndWithItsSession) {
  Open(2);
  group.BeginRun(1);
  EXPECT_TRUE(group.InRun());
  Evaluate();
  EXPECT_FALSE(group.InRun());
  group.BeginRun(1);
  facts[1].srtt = microseconds(11);
  params.idle_intervals = 1;
  for (int i = 0; i < 1000 && group.open() == 3u; ++i) Evaluate();
  ASSERT_EQ(group.open(), 1u);
  EXPECT_FALSE(group.InRun());
}

TEST_F(SessionGroups, NoRunTakesASessionThatIsWorseThanAnother) {
  Open(2);
  facts[1].srtt = microseconds(14);
  Evaluate();
  group.BeginRun(1);
  EXPECT_FALSE(group.InRun());
  EXPECT_EQ(group.MaxInRun(), 1u);
  group.BeginRun(0);
  EXPECT_TRUE(group.InRun());
}

TEST_F(SessionGroups, ARunTakesTheBestSessionHoweverCongestedAllAre) {
  Open(2);
  for (auto& fact : facts) ++fact.retransmissions;
  Evaluate();
  ASSERT_EQ(group.slot(1).weight, 2 * SessionSlot::kWeightOne);
  group.BeginRun(1);
  EXPECT_TRUE(group.InRun());
}

// ---- Acknowledgements that wait for another PDU.

TEST_F(SessionGroups, TheTimeThatAnAcknowledgementWaitsIsNoCongestion) {
  Open(2);
  waits.ack = microseconds(125);
  params.idle_intervals = 1000;
  facts[1].srtt = microseconds(130);
  // A PDU on each in 100 us: its acknowledgement may wait for the next one.
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Evaluate(), 0u);
    EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  }
  // Many PDUs: acknowledgements come at once, and the path takes the time.
  for (int i = 0; i < 3; ++i) {
    for (SessionFacts& each : facts) each.tx_pdus += 1000;
    Evaluate();
  }
  EXPECT_GT(group.slot(1).weight, 100 * SessionSlot::kWeightOne);
}

TEST_F(SessionGroups, WhatTakesLongerThanAnAcknowledgementMayWaitIsCongestion) {
  Open(2);
  waits.ack = microseconds(125);
  facts[1].srtt = microseconds(200);
  for (int i = 0; i < 3; ++i) Evaluate();
  EXPECT_GT(group.slot(1).weight, 100 * SessionSlot::kWeightOne);
}

TEST_F(SessionGroups, AnAcknowledgementWaitsForTwiceTheGapAtMost) {
  Open(2);
  waits.ack = std::chrono::milliseconds(1);
  for (int i = 0; i < 20; ++i) Evaluate();
  ASSERT_EQ(group.slot(1).gap, params.interval);
  facts[1].srtt = 2 * params.interval + microseconds(20);
  Evaluate();
  EXPECT_EQ(group.slot(1).weight, 8 * SessionSlot::kWeightOne) << "ten of them beyond the path";
}

// Counts of PDUs wrap, and a session is in use for longer than half of their range.
TEST_F(SessionGroups, CongestionIsSeenHoweverManyPdusASessionHasSent) {
  Open(2);
  constexpr uint32_t kStep = 1u << 28;
  const auto send = [this](Duration rtt_of_1) {
    for (SessionFacts& each : facts) {
      each.tx_pdus += kStep;
      each.srtt = microseconds(10);
    }
    facts[1].srtt = rtt_of_1;
    Evaluate();
  };
  for (int step = 0; step < 9; ++step) send(microseconds(10));
  ASSERT_GT(facts[1].tx_pdus, 1u << 31);
  ASSERT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  for (int i = 0; i < 3; ++i) send(microseconds(100));
  EXPECT_GT(group.slot(1).weight, 100 * SessionSlot::kWeightOne);
}

// ---- The pace of evaluations.

TEST_F(SessionGroups, WhileMuchIsSentThereIsALookInEachRoundTrip) {
  for (int i = 0; i < 3; ++i) {
    facts[0].tx_pdus += 1000;
    Evaluate();
  }
  EXPECT_EQ(group.deadline() - now, microseconds(10));
}

TEST_F(SessionGroups, TheLessIsSentTheFewerLooksThereAre) {
  const auto pace = [&](uint32_t pdus) {
    for (int i = 0; i < 20; ++i) {
      facts[0].tx_pdus += pdus * static_cast<uint32_t>((group.deadline() - now) / microseconds(10));
      now = group.deadline();
      facts[0].unacked_pdus = 1;
      group.OnTimer(facts, params, waits, random, now);
    }
    return group.deadline() - now;
  };
  group.OnTraffic(now, params);
  EXPECT_EQ(pace(0), params.interval);
  EXPECT_EQ(pace(16), microseconds(10));
  EXPECT_EQ(pace(4), microseconds(40));
}

// It doubles at most, however little was sent meanwhile.
TEST_F(SessionGroups, LooksBecomeRarerStepByStep) {
  for (int i = 0; i < 3; ++i) {
    facts[0].tx_pdus += 1000;
    Evaluate();
  }
  ASSERT_EQ(group.deadline() - now, microseconds(10));
  for (const int pace : {20, 40, 80, 100, 100}) {
    now = group.deadline() + std::chrono::milliseconds(5);
    facts[0].unacked_pdus = 1;
    group.OnTimer(facts, params, waits, random, now);
    EXPECT_EQ(group.deadline() - now, microseconds(pace));
  }
}

}  // namespace
}  // namespace suede
