// SPDX-License-Identifier: Apache-2.0
// The rules of docs/sessions.md on the opening, moving and closing of sessions, by name.
#include "path/session_group.h"

#include <gtest/gtest.h>

#include <bit>

#include "session_groups.h"

namespace suede {
namespace {

TEST_F(SessionGroups, BeginsWithOneSessionThatHasNumberZero) {
  EXPECT_EQ(group.open(), 1u);
  EXPECT_EQ(group.slot(0).number, 0);
  EXPECT_EQ(group.deadline(), kNever);
  for (uint16_t number = 0; number < kCount; ++number) EXPECT_TRUE(group.Accepts(number));
  EXPECT_FALSE(group.Accepts(kCount));
}

TEST_F(SessionGroups, AnotherAssociationBeginsAnew) {
  Open(2);
  facts[1].stalled = true;
  ASSERT_TRUE(group.OnStall(1, random, now));
  for (int i = 0; i < 1000 && group.fencing() == 0; ++i) Evaluate();
  ASSERT_EQ(group.fencing(), 2u);
  group.BeginRun(0);
  now += std::chrono::seconds(1);
  group.Begin(kCount, kNumbers, now);
  group.CheckInvariants();
  EXPECT_EQ(group.fencing(), 0u);
  EXPECT_EQ(group.open(), 1u);
  EXPECT_EQ(group.slot(0).since, now);
  EXPECT_FALSE(group.InRun());
  EXPECT_EQ(group.deadline(), kNever);
  facts[1].stalled = false;
  EXPECT_TRUE(group.OnTraffic(now, params));
  EXPECT_EQ(group.deadline(), now + params.interval / 16) << "the first looks come soon";
  facts[0].tx_pdus += 1000;
  Evaluate();
  EXPECT_EQ(group.deadline(), now + microseconds(10)) << "much was sent since it began";
}

TEST_F(SessionGroups, WhereThereIsOneSessionNumbersAreIgnored) {
  group.Begin(1, kNumbers, now);
  EXPECT_TRUE(group.Accepts(4711));
  EXPECT_EQ(group.SlotOf(4711), 0u);
  EXPECT_FALSE(group.OnTraffic(now, params));
  EXPECT_FALSE(group.OnStall(0, random, now));
}

TEST_F(SessionGroups, WithoutCongestionThereIsOne) {
  EXPECT_EQ(EvaluateUntilMove(1000), 0u);
  EXPECT_EQ(group.open(), 1u);
}

TEST_F(SessionGroups, WhenAllAreCongestedOneMoreIsOpenedAndNotUsedBeforeItIsAnswered) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  EXPECT_EQ(group.open(), 1u);
  EXPECT_EQ(group.slot(1).state, State::kOpening);
  EXPECT_EQ(group.slot(2).state, State::kOpening);
  const SessionNumber request = group.RequestOf(1);
  EXPECT_EQ(request.number % kCount, 1);
  EXPECT_NE(request.number, 1);  // another one than it had
  EXPECT_EQ(request.in_use, 1);
  EXPECT_TRUE(Answer(1));
  EXPECT_EQ(group.open(), 3u);
  EXPECT_EQ(group.slot(1).number, request.number);
  EXPECT_EQ(group.slot(2).state, State::kIdle) << "the first that is answered is enough";
  EXPECT_EQ(AnswerTo(group.RequestOf(2)), SessionGroup::Answer::kStale);
}

// The path of a number is known to be slow after twice the time that a good one takes at most. From
// the fourth on it may be the peer that is late, and later than the wait.
TEST_F(SessionGroups, AsksAgainForAnotherNumberWhereNoAnswerComes) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  const SessionNumber first = group.RequestOf(1);
  for (uint32_t numbers = 1; numbers <= 10; ++numbers) {
    const Time asked = now;
    ASSERT_EQ(EvaluateUntilMove(1000), kTwo);
    const int doublings = std::max(static_cast<int>(numbers) - 6, 0);
    const Duration wait = numbers <= 3 ? 2 * kSlow : kAskEvery * (1 << doublings);
    EXPECT_GE(now - asked, wait) << numbers;
    EXPECT_LT(now - asked, wait + 2 * params.interval / 16) << numbers;
    EXPECT_EQ(group.RequestOf(1).turn, first.turn + numbers);
  }
  EXPECT_NE(first.number, group.RequestOf(1).number);
  EXPECT_EQ(AnswerTo(first), SessionGroup::Answer::kStale);
  EXPECT_TRUE(Answer(1));
  EXPECT_FALSE(Answer(1)) << "once";
}

TEST_F(SessionGroups, OneThatMovesInVainAsksAgainWithinABound) {
  facts[0].stalled = true;
  ASSERT_TRUE(group.OnStall(0, random, now));
  Time asked = now;
  Duration wait{};
  for (int numbers = 0; numbers < 12; asked = now, ++numbers) {
    while ((Evaluate() & 1) == 0) {
    }
    wait = now - asked;
  }
  EXPECT_GE(wait, kAskEvery * 64);
  EXPECT_LT(wait, kAskEvery * 64 + 2 * params.interval / 16);
}

TEST_F(SessionGroups, OneThatOpensInVainRestsForAWhile) {
  waits.rest = std::chrono::seconds(1);
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  for (int i = 0; i < 10'000 && group.slot(1).state == State::kOpening; ++i) Evaluate();
  ASSERT_EQ(group.slot(1).state, State::kIdle);
  EXPECT_EQ(group.slot(1).rest_until, now + waits.rest);
  EXPECT_EQ(group.slot(2).state, State::kIdle);
  EXPECT_EQ(EvaluateUntilMove(3), 8u) << "another one may lead there";
  EXPECT_EQ(group.slot(1).state, State::kIdle);
}

TEST_F(SessionGroups, NoMoreThanAgreedAreOpened) {
  Open(kCount);
  facts.fill({.srtt = microseconds(50), .min_rtt = microseconds(10)});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Evaluate(), 0u);
}

TEST_F(SessionGroups, TheMostCongestedIsDrainedAfterCalm) {
  Open(3);
  facts[1].srtt = microseconds(11);
  for (int i = 0; i < 1000 && group.open() == 7u; ++i) Evaluate();
  EXPECT_EQ(group.open(), 5u);
  EXPECT_EQ(group.slot(1).state, State::kDraining);
  facts[1].unacked_pdus = 1;
  now += params.interval;
  group.OnTimer(facts, params, waits, random, now);
  EXPECT_EQ(group.slot(1).state, State::kDraining);
  facts[1].unacked_pdus = 0;
  now += params.interval;
  group.OnTimer(facts, params, waits, random, now);
  EXPECT_EQ(group.slot(1).state, State::kIdle);
}

TEST_F(SessionGroups, OneIsDrainedAfterTheOther) {
  Open(3);
  Time drained[2];
  for (Time& at : drained) {
    const SlotMask before = group.open();
    for (int i = 0; i < 10'000 && group.open() == before; ++i) Evaluate();
    ASSERT_NE(group.open(), before);
    at = now;
  }
  EXPECT_GE(drained[1] - drained[0], params.idle_intervals * params.interval);
}

TEST_F(SessionGroups, OneThatIsMuchMoreCongestedThanTheBestMovesWhileItIsUsed) {
  Open(2);
  facts[1].srtt = microseconds(50);
  const uint16_t before = group.slot(1).number;
  ASSERT_EQ(EvaluateUntilMove(20), 2u);
  EXPECT_EQ(group.slot(1).state, State::kMoving);
  EXPECT_EQ(group.open(), 3u);  // make before break
  EXPECT_EQ(group.slot(1).number, before);
  EXPECT_GT(group.slot(1).delay, SessionSlot::kWeightOne);
  group.OnMarked(2, 16);
  Evaluate();
  EXPECT_GT(group.slot(1).marks, 0u);
  group.OnMarked(2, 1);
  EXPECT_TRUE(Answer(1));
  EXPECT_NE(group.slot(1).number, before);
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).delay, SessionSlot::kWeightOne) << "nothing is known of the new path";
  EXPECT_EQ(group.slot(1).marks, 0u);
  EXPECT_EQ(group.slot(1).marked, 0u);
  EXPECT_EQ(group.slot(1).high_intervals, 0u);
  EXPECT_EQ(group.slot(1).since, now);
}

// The receiver accepts two numbers, so PDUs under a third one would be dropped.
TEST_F(SessionGroups, OneThatHasPdusWithItsFormerNumberUnderWayTakesNoOther) {
  Open(2);
  facts[1].srtt = microseconds(50);
  facts[1].on_former_path = true;
  EXPECT_EQ(EvaluateUntilMove(20), 0u);
  EXPECT_EQ(group.slot(1).state, State::kOpen);
  params.max_age = now - group.slot(1).since;
  EXPECT_EQ(Evaluate() & 2u, 0u) << "however old it is";
  EXPECT_EQ(group.open() & 2u, 2u);
  facts[1].on_former_path = false;
  EXPECT_EQ(EvaluateUntilMove(20) & 2u, 2u);
}

TEST_F(SessionGroups, AMoveThatEndsWithThePlaneIsFollowedByAnotherAfterTwoLooks) {
  Open(2);
  for (SessionIndex slot = 0; slot < 2; ++slot) EXPECT_EQ(group.slot(slot).high_intervals, 0u);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(EvaluateUntilMove(20), 2u);
  group.OnPlaneDown();
  ASSERT_EQ(group.slot(1).state, State::kOpen);
  EXPECT_EQ(Evaluate(), 0u);
  EXPECT_EQ(Evaluate(), 2u);
}

TEST_F(SessionGroups, AStalledOneMoves) {
  EXPECT_TRUE(group.OnStall(0, random, now));
  EXPECT_FALSE(group.OnStall(0, random, now));
  EXPECT_EQ(Evaluate(), 1u);
  EXPECT_EQ(group.open(), 1u);
  EXPECT_TRUE(Answer(0));
  EXPECT_NE(group.slot(0).number, 0);
}

// All numbers of the only open session lead to a dead link. The one that opens for its PDUs is
// calm, as it carries none yet.
TEST_F(SessionGroups, OneThatOpensForAStalledOneStaysUntilThatIsFenced) {
  facts[0].stalled = true;
  ASSERT_TRUE(group.OnStall(0, random, now));
  while (group.slot(1).state != State::kOpening) Evaluate();
  ASSERT_EQ(group.open(), 1u);
  params.idle_intervals = 1;
  ASSERT_TRUE(Answer(1));
  EXPECT_EQ(Evaluate() & 1u, 1u);
  EXPECT_EQ(group.slot(0).state, State::kFencing);
  EXPECT_EQ(group.slot(1).state, State::kOpen);
  EXPECT_EQ(group.open(), 2u);
}

TEST_F(SessionGroups, NothingTakesAStalledOneOnceAnotherOneIsOpen) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  facts[0].stalled = true;
  ASSERT_TRUE(group.OnStall(0, random, now));
  ASSERT_TRUE(Answer(1));
  EXPECT_EQ(group.open(), 3u);
  Evaluate();
  EXPECT_EQ(group.open(), 2u);
  EXPECT_EQ(group.slot(0).state, State::kMoving);
  EXPECT_TRUE(Answer(0));
  EXPECT_EQ(group.open(), 3u);
}

TEST_F(SessionGroups, AnOldOneIsReplacedAtItsAge) {
  params.max_age = microseconds(8000);
  const Time begun = now;
  SlotMask requests = 0;
  while (requests == 0 && now - begun < 2 * params.max_age) requests = Evaluate();
  EXPECT_EQ(requests, 1u);
  EXPECT_GE(now - begun, params.max_age);
  EXPECT_LE(now - begun, params.max_age + params.interval);
  EXPECT_EQ(group.open(), 1u) << "there is no other one";
  EXPECT_TRUE(Answer(0));
  EXPECT_EQ(group.slot(0).since, now);
}

TEST_F(SessionGroups, AtItsAgeNothingTakesItUntilItIsReplacedIfThereIsAnother) {
  Open(2);
  params.max_age = microseconds(2000);
  const Time begun = now;
  while (now - begun < 2 * params.max_age) Evaluate();
  EXPECT_EQ(std::popcount(group.open()), 1) << "the last one stays";
  const auto closed = static_cast<uint32_t>(std::countr_one(group.open()));
  EXPECT_EQ(group.slot(SessionIndex(closed)).state, State::kMoving);
  EXPECT_TRUE(Answer(SessionIndex(closed)));
  EXPECT_EQ(group.open(), 3u);
}

TEST_F(SessionGroups, AtItsAgeItIsClosedToTheInstant) {
  Open(2);
  for (const bool is_old : {false, true}) {
    Use();
    group.OnTraffic(now, params);
    now = std::max(now, group.deadline());
    params.max_age = now - group.slot(0).since + (is_old ? Duration(0) : Duration(1));
    group.OnTimer(facts, params, waits, random, now);
    EXPECT_EQ((group.open() & 1) == 0, is_old);
  }
}

// Two ends that send nothing would keep each other moving otherwise: the peer that moves twice
// makes us ask, and what we ask for is a move to it.
TEST_F(SessionGroups, WithNothingInFlightNoneIsTooOld) {
  Open(2);
  for (auto& fact : facts) fact.unacked_pdus = 0;
  params.max_age = microseconds(1000);
  now += 2 * params.max_age;
  EXPECT_FALSE(group.OnPeerMoved(3, true, random, now));
  EXPECT_TRUE(group.OnPeerMoved(3, true, random, now));
  EXPECT_EQ(group.OnTimer(facts, params, waits, random, now), 8u) << "that one alone";
  EXPECT_EQ(group.open(), 3u);
}

TEST_F(SessionGroups, WithNothingInFlightThereIsNoTimer) {
  Open(2);
  for (auto& fact : facts) fact.unacked_pdus = 0;
  now = group.deadline();
  group.OnTimer(facts, params, waits, random, now);
  EXPECT_EQ(group.deadline(), kNever);
}

TEST_F(SessionGroups, APlaneThatIsDownAsksForNothing) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  group.OnPlaneDown();
  EXPECT_EQ(group.deadline(), kNever);
  EXPECT_EQ(group.slot(1).state, State::kIdle);
  group.CheckInvariants();
}

TEST_F(SessionGroups, OneThatLeavesASlowPathTakesNothingBeforeWhatIsInFlightHasArrived) {
  Open(2);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(EvaluateUntilMove(20), 2u);
  EXPECT_TRUE(Answer(1));
  EXPECT_EQ(group.slot(1).state, State::kClearing);
  EXPECT_EQ(group.open(), 1u);
  facts[1].unacked_pdus = 1;
  now = std::max(now, group.deadline());
  group.OnTimer(facts, params, waits, random, now);
  EXPECT_EQ(group.open(), 1u);
  facts[1].unacked_pdus = 0;
  facts[1].tx_pdus += 100;  // on the former path
  ++facts[1].retransmissions;
  now = std::max(now, group.deadline());
  group.OnTimer(facts, params, waits, random, now);
  group.CheckInvariants();
  EXPECT_EQ(group.slot(1).state, State::kOpen);
  EXPECT_EQ(group.open(), 3u);
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
}

TEST_F(SessionGroups, TheLastOneThatLeavesASlowPathStaysOpen) {
  Open(2);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(EvaluateUntilMove(20), 2u);
  params.max_age = now - group.slot(0).since;  // the other one ends
  Evaluate();
  ASSERT_EQ(group.open(), 2u);
  EXPECT_TRUE(Answer(1));
  EXPECT_EQ(group.slot(1).state, State::kOpen);
  EXPECT_EQ(group.open(), 2u);
}

// ---- A peer that requests without end.

TEST_F(SessionGroups, RequestsWithoutEndOpenNothing) {
  uint32_t accepted = 0;
  for (uint32_t turn = 1; turn <= 100'000; ++turn) {
    const SessionIndex slot(turn % kCount);
    const auto number = static_cast<uint16_t>((turn * kCount + slot) % kNumbers);
    EXPECT_TRUE(group.OnRequest({.slot = static_cast<uint8_t>(slot),
                                 .number = number,
                                 .in_use = static_cast<uint16_t>(slot),
                                 .turn = turn}));
    group.OnPeerMoved(slot, true, random, now);
    if (turn % 1000 == 0) group.CheckInvariants();
  }
  EXPECT_EQ(group.open(), 1u);
  for (uint32_t number = 0; number < kNumbers; ++number) {
    accepted += group.Accepts(static_cast<uint16_t>(number)) ? 1 : 0;
  }
  EXPECT_LE(accepted, 2 * kCount) << "two of each slot: the last one asked for, and that in use";
}

}  // namespace
}  // namespace suede
