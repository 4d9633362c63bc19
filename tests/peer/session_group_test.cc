// SPDX-License-Identifier: Apache-2.0
// The rules of docs/sessions.md, by name.
#include "peer/session_group.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

namespace suede {
namespace {

using std::chrono::microseconds;
using State = SessionSlot::State;

constexpr uint32_t kCount = 4;
constexpr uint32_t kNumbers = 16384;
constexpr Duration kAskEvery = microseconds(300);
constexpr Duration kSlow = microseconds(15);  // beyond that the path of a number is slow
constexpr SlotMask kTwo = 6;                  // the slots that are asked for first

class SessionGroups : public ::testing::Test {
 protected:
  SessionGroups() {
    group.SetSlots(slots.data());
    group.Begin(kCount, kNumbers, now);
    facts.fill({.srtt = microseconds(10), .min_rtt = microseconds(10)});
  }
  // PDUs are in flight on those that are open.
  void Use() {
    for (SessionIndex slot = 0; slot < kCount; ++slot) {
      facts[slot].unacked_pdus = (group.open() >> slot & 1) != 0 ? 1 : 0;
      ++facts[slot].tx_pdus;
    }
  }
  SlotMask Look() {
    Use();
    group.OnTraffic(now, params);
    now = std::max(now, group.deadline());
    const SlotMask asks = group.OnTimer(facts, params, waits, random, now);
    group.CheckInvariants();
    return asks;
  }
  SlotMask LookTimes(int times) {
    SlotMask asks = 0;
    for (int i = 0; i < times && asks == 0; ++i) asks = Look();
    return asks;
  }
  SessionGroup::Answer AnswerTo(SessionNumber request) {
    request.answer = true;
    const SessionGroup::Answer answer = group.OnAnswer(request, params, random, now);
    group.CheckInvariants();
    return answer;
  }
  bool Answer(SessionIndex slot) {
    return AnswerTo(group.RequestOf(slot)) == SessionGroup::Answer::kTaken;
  }
  // Opens `count` sessions, as if all were congested.
  void Open(uint32_t count) {
    params.open_percent = 101;
    while (static_cast<uint32_t>(std::popcount(group.open())) < count) {
      for (auto& fact : facts) fact.srtt = microseconds(20);
      const SlotMask asks = Look();
      if (asks != 0) {
        EXPECT_TRUE(Answer(Lowest<SessionIndex>(asks)));
      }
    }
    params = kParams;
    for (auto& fact : facts) fact.srtt = microseconds(10);
    for (int i = 0; i < 12; ++i) Look();
  }

  // Looks are often enough for ages of milliseconds, and twelve of them are too few to close one.
  static constexpr SessionParams kParams{.interval = microseconds(100), .idle_intervals = 100};
  SessionParams params = kParams;
  SessionGroup::Waits waits{.ask_again = kAskEvery, .ack = {}};
  std::array<SessionSlot, kCount> slots;
  SessionGroup group;
  std::array<SessionFacts, kCount> facts{};
  SecretNumbers random{SecretKey{1, 2}};
  Time now = TimeFromNs(1'000'000'000);
};

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
  for (int i = 0; i < 1000 && group.fencing() == 0; ++i) Look();
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
  Look();
  EXPECT_EQ(group.deadline(), now + microseconds(10)) << "much was sent since it began";
}

TEST_F(SessionGroups, TheOnlyOtherNumberIsTaken) {
  group.Begin(kCount, 2 * kCount, now);
  EXPECT_TRUE(group.OnStall(0, random, now));
  EXPECT_EQ(group.RequestOf(0).number, kCount);
}

TEST_F(SessionGroups, WhereThereIsOneSessionNumbersAreIgnored) {
  group.Begin(1, kNumbers, now);
  EXPECT_TRUE(group.Accepts(4711));
  EXPECT_EQ(group.SlotOf(4711), 0u);
  EXPECT_FALSE(group.OnTraffic(now, params));
  EXPECT_FALSE(group.OnStall(0, random, now));
}

TEST_F(SessionGroups, WithoutCongestionThereIsOne) {
  EXPECT_EQ(LookTimes(1000), 0u);
  EXPECT_EQ(group.open(), 1u);
}

TEST_F(SessionGroups, WhenAllAreCongestedOneMoreIsOpenedAndNotUsedBeforeItIsAnswered) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(LookTimes(3), kTwo);
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
  ASSERT_EQ(LookTimes(3), kTwo);
  const SessionNumber first = group.RequestOf(1);
  for (uint32_t numbers = 1; numbers <= 14; ++numbers) {
    const Time asked = now;
    ASSERT_EQ(LookTimes(1000), kTwo);
    const int doublings = std::clamp(static_cast<int>(numbers) - 6, 0, 6);
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

TEST_F(SessionGroups, OneThatOpensInVainRestsForAWhile) {
  waits.rest = std::chrono::seconds(1);
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(LookTimes(3), kTwo);
  for (int i = 0; i < 10'000 && group.slot(1).state == State::kOpening; ++i) Look();
  ASSERT_EQ(group.slot(1).state, State::kIdle);
  EXPECT_EQ(group.slot(1).rest_until, now + waits.rest);
  EXPECT_EQ(group.slot(2).state, State::kIdle);
  EXPECT_EQ(LookTimes(3), 8u) << "another one may lead there";
  EXPECT_EQ(group.slot(1).state, State::kIdle);
}

TEST_F(SessionGroups, NumbersAreThoseThatHeadersTellApart) {
  constexpr uint32_t kFew = 64;
  group.Begin(kCount, kFew, now);
  facts[0].srtt = microseconds(16);
  SlotMask seen = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_NE(LookTimes(1000), 0u);
    const SessionNumber request = group.RequestOf(1);
    ASSERT_LT(request.number, kFew);
    EXPECT_EQ(request.number % kCount, 1);
    EXPECT_NE(request.number, 1) << "another one than it has";
    seen |= SlotMask{1} << request.number;
  }
  EXPECT_GT(std::popcount(seen), 2);
}

TEST_F(SessionGroups, WhereNoRoundTripIsKnownNoPathIsSlow) {
  facts.fill({});
  facts[0].stalled = true;
  EXPECT_TRUE(group.OnStall(0, random, now));
  for (int i = 0; i < 1000 && group.slot(1).state != State::kOpening; ++i) Look();
  ASSERT_EQ(group.slot(1).state, State::kOpening);
  now += microseconds(200);
  EXPECT_TRUE(Answer(1));
}

TEST_F(SessionGroups, ANumberWhosePathIsSlowIsNotTaken) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(LookTimes(3), kTwo);
  for (int slow = 0; slow < 3; ++slow) {
    const SessionNumber request = group.RequestOf(1);
    now += kSlow + microseconds(1);
    EXPECT_EQ(AnswerTo(request), SessionGroup::Answer::kSlow);
    EXPECT_EQ(group.open(), 1u);
    EXPECT_NE(group.RequestOf(1).number, request.number);
    EXPECT_EQ(group.deadline(), now) << "the next number is asked for at once";
    ASSERT_NE(Look() & 2u, 0u);
  }
  now += kSlow + microseconds(1);
  EXPECT_TRUE(Answer(1)) << "all paths may be like that";
}

TEST_F(SessionGroups, ANumberWhosePathIsFastIsTaken) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(LookTimes(3), kTwo);
  now += kSlow;
  EXPECT_TRUE(Answer(2));
}

// All paths take long, as at a busy peer: a path on which the request takes no longer is good.
TEST_F(SessionGroups, OneThatMovesTakesAPathAsFastAsTheFastest) {
  Open(2);
  facts[0].srtt = microseconds(40);
  facts[1].srtt = microseconds(400);
  params.open_percent = 1000;
  ASSERT_EQ(LookTimes(20), 2u);
  now += microseconds(101);
  EXPECT_EQ(AnswerTo(group.RequestOf(1)), SessionGroup::Answer::kSlow);
  ASSERT_NE(Look() & 2u, 0u);
  params.open_percent = 150;
  now += microseconds(40);
  EXPECT_TRUE(Answer(1));
}

// A request for another reason than congestion takes the first path that leads there.
TEST_F(SessionGroups, AStalledOneTakesAPathThatIsSlow) {
  Look();
  EXPECT_TRUE(group.OnStall(0, random, now));
  EXPECT_EQ(Look(), 1u);
  now += microseconds(200);
  EXPECT_TRUE(Answer(0));
}

// A session that was slow several times in a row, and has a number, is asked for as often again.
TEST_F(SessionGroups, EachMoveMayRefuseSlowPaths) {
  Open(2);
  for (int move = 0; move < 2; ++move) {
    facts[1].srtt = microseconds(50);
    ASSERT_EQ(LookTimes(200), 2u);
    ASSERT_EQ(group.slot(1).state, State::kMoving);
    for (int slow = 0; slow < 3; ++slow) {
      now += kSlow + microseconds(1);
      EXPECT_EQ(AnswerTo(group.RequestOf(1)), SessionGroup::Answer::kSlow) << move;
      ASSERT_NE(Look() & 2u, 0u);
    }
    now += kSlow + microseconds(1);
    EXPECT_TRUE(Answer(1));
  }
}

TEST_F(SessionGroups, OneThatMovesAsksAgainForTheSameReason) {
  Open(2);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(LookTimes(20), 2u);
  ASSERT_EQ(LookTimes(1000), 2u) << "there was no answer";
  now += kSlow + microseconds(1);
  EXPECT_EQ(AnswerTo(group.RequestOf(1)), SessionGroup::Answer::kSlow);
}

// Three numbers in vain, one after the other, end in a fence.
TEST_F(SessionGroups, AnAnswerEndsTheCountOfNumbersInVain) {
  Open(2);
  facts[1].stalled = true;
  for (int stall = 0; stall < 3; ++stall) {
    ASSERT_TRUE(group.OnStall(1, random, now));
    for (int number = 0; number < 3; ++number) {
      ASSERT_EQ(LookTimes(1000), 2u);
      ASSERT_EQ(group.slot(1).state, State::kMoving) << stall << ", " << number;
    }
    EXPECT_TRUE(Answer(1));
  }
}

// ---- Marks.

TEST_F(SessionGroups, WhatSwitchesMarkIsCongested) {
  Open(2);
  for (int i = 0; i < 8; ++i) {
    for (auto& fact : facts) fact.tx_pdus += 16;
    group.OnMarked(2, 16);
    Look();
  }
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).marks, SessionSlot::kWeightOne * 16 / 17);
  EXPECT_GT(group.slot(1).weight, 3 * SessionSlot::kWeightOne) << "(1 + 1/2) to the third power";
  EXPECT_LT(group.slot(1).weight, 4 * SessionSlot::kWeightOne);
  EXPECT_GT(group.slot(1).delay, SessionSlot::kWeightOne * 19 / 10);
}

TEST_F(SessionGroups, MarksThatAllHaveAreNoReasonToPreferOneButToOpenAnother) {
  Open(2);
  SlotMask asks = 0;
  for (int i = 0; i < 8; ++i) {
    for (auto& fact : facts) fact.tx_pdus += 16;
    group.OnMarked(3, 32);
    asks |= Look();
  }
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  EXPECT_NE(asks, 0u);
}

TEST_F(SessionGroups, AFewPdusWithoutMarksDoNotMakeAPathFree) {
  Open(2);
  facts[1].tx_pdus += 16;
  group.OnMarked(2, 16);
  Look();
  const uint32_t before = group.slot(1).marks;
  Look();  // one PDU
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
  Look();
  EXPECT_LE(group.slot(0).marks, SessionSlot::kWeightOne);
  EXPECT_LE(group.slot(1).marks, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(2).marked, 0u);
  group.Begin(1, kNumbers, now);
  group.OnMarked(1, 7);
  EXPECT_EQ(group.slot(0).marked, 0u) << "one session is not weighed";
}

TEST_F(SessionGroups, NoMoreThanAgreedAreOpened) {
  Open(kCount);
  facts.fill({.srtt = microseconds(50), .min_rtt = microseconds(10)});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Look(), 0u);
}

TEST_F(SessionGroups, TheMostCongestedIsDrainedAfterCalm) {
  Open(3);
  facts[1].srtt = microseconds(11);
  for (int i = 0; i < 1000 && group.open() == 7u; ++i) Look();
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
    for (int i = 0; i < 10'000 && group.open() == before; ++i) Look();
    ASSERT_NE(group.open(), before);
    at = now;
  }
  EXPECT_GE(drained[1] - drained[0], params.idle_intervals * params.interval);
}

TEST_F(SessionGroups, OneThatIsMuchMoreCongestedThanTheBestMovesWhileItIsUsed) {
  Open(2);
  facts[1].srtt = microseconds(50);
  const uint16_t before = group.slot(1).number;
  ASSERT_EQ(LookTimes(20), 2u);
  EXPECT_EQ(group.slot(1).state, State::kMoving);
  EXPECT_EQ(group.open(), 3u);  // make before break
  EXPECT_EQ(group.slot(1).number, before);
  EXPECT_GT(group.slot(1).delay, SessionSlot::kWeightOne);
  group.OnMarked(2, 16);
  Look();
  EXPECT_GT(group.slot(1).marks, 0u);
  group.OnMarked(2, 1);
  EXPECT_TRUE(Answer(1));
  EXPECT_NE(group.slot(1).number, before);
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).measured, SessionSlot::kWeightOne);
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
  EXPECT_EQ(LookTimes(20), 0u);
  EXPECT_EQ(group.slot(1).state, State::kOpen);
  params.max_age = now - group.slot(1).since;
  EXPECT_EQ(Look() & 2u, 0u) << "however old it is";
  EXPECT_EQ(group.open() & 2u, 2u);
  facts[1].on_former_path = false;
  EXPECT_EQ(LookTimes(20) & 2u, 2u);
}

TEST_F(SessionGroups, AMoveThatEndsWithThePlaneIsFollowedByAnotherAfterTwoLooks) {
  Open(2);
  for (SessionIndex slot = 0; slot < 2; ++slot) EXPECT_EQ(group.slot(slot).high_intervals, 0u);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(LookTimes(20), 2u);
  group.OnPlaneDown();
  ASSERT_EQ(group.slot(1).state, State::kOpen);
  EXPECT_EQ(Look(), 0u);
  EXPECT_EQ(Look(), 2u);
}

// A far end that is busy with others answers sessions unevenly: that is no reason to move for ever.
TEST_F(SessionGroups, MovesThatDoNotHelpBecomeRare) {
  Open(2);
  params.open_percent = 200;
  facts[1].srtt = microseconds(50);
  // 100 PDUs in each look, and a move done at the next look.
  const auto moves_in = [&](int looks) {
    int moves = 0;
    for (int i = 0; i < looks; ++i) {
      for (SessionFacts& each : facts) each.tx_pdus += 100;
      for (SlotMask asks = Look(); asks != 0; asks &= asks - 1) {
        moves += Answer(Lowest<SessionIndex>(asks)) ? 1 : 0;
      }
    }
    return moves;
  };
  EXPECT_GE(moves_in(100), 8);
  EXPECT_LE(moves_in(1000), 10);
  // Looks are 10 us apart, and two moves 64 intervals at most.
  const auto intervals = static_cast<int>(microseconds(200'000) / params.interval);
  EXPECT_LE(moves_in(20'000), intervals / 64 + 4);
  EXPECT_GE(moves_in(20'000), intervals / 64 - 1);
  // When all have been alike for some time, the next congestion is left at once.
  facts[1].srtt = microseconds(10);
  EXPECT_EQ(moves_in(20), 0);
  facts[1].srtt = microseconds(50);
  EXPECT_GE(moves_in(50), 4);
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
  Look();
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
  Look();
  EXPECT_LT(group.slot(1).measured, 1000 * SessionSlot::kWeightOne);
  for (const int rtt : {110, 1000, 200'000}) {
    facts[1].srtt = microseconds(rtt);
    Look();
    EXPECT_EQ(group.slot(1).measured, 1000 * SessionSlot::kWeightOne) << rtt;
  }
}

TEST_F(SessionGroups, RetransmissionsWeighLikeTwiceTheDelay) {
  ++facts[0].retransmissions;
  Look();
  EXPECT_EQ(group.slot(0).weight, 2 * SessionSlot::kWeightOne);
  Look();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne * 3 / 2);
}

TEST_F(SessionGroups, AStalledOneMoves) {
  EXPECT_TRUE(group.OnStall(0, random, now));
  EXPECT_FALSE(group.OnStall(0, random, now));
  EXPECT_EQ(Look(), 1u);
  EXPECT_EQ(group.open(), 1u);
  EXPECT_TRUE(Answer(0));
  EXPECT_NE(group.slot(0).number, 0);
}

TEST_F(SessionGroups, AnOldOneIsReplacedBeforeItEnds) {
  params.max_age = microseconds(8000);
  const Time begun = now;
  SlotMask asks = 0;
  while (asks == 0 && now - begun < params.max_age) asks = Look();
  EXPECT_EQ(asks, 1u);
  EXPECT_LT(now - begun, params.max_age);
  EXPECT_TRUE(Answer(0));
  EXPECT_EQ(group.slot(0).since, now);
}

TEST_F(SessionGroups, AtItsAgeNothingTakesItUntilItIsReplacedIfThereIsAnother) {
  Open(2);
  params.max_age = microseconds(2000);
  const Time begun = now;
  while (now - begun < 2 * params.max_age) Look();
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
  ASSERT_EQ(LookTimes(3), kTwo);
  group.OnPlaneDown();
  EXPECT_EQ(group.deadline(), kNever);
  EXPECT_EQ(group.slot(1).state, State::kIdle);
  group.CheckInvariants();
}

// ---- Choice.

TEST_F(SessionGroups, WhatAllSessionsWaitForIsNoReasonToPreferOne) {
  Open(2);
  facts[0].srtt = microseconds(400);
  facts[1].srtt = microseconds(400);
  Look();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(0).delay, 40 * SessionSlot::kWeightOne);
  facts[1].srtt = microseconds(410);
  Look();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(1).weight, 8 * SessionSlot::kWeightOne) << "as on an empty port";
}

TEST_F(SessionGroups, ANewOneCountsAsFreeUntilItWasMeasured) {
  facts[0].srtt = microseconds(20);
  facts[1] = {};
  ASSERT_EQ(LookTimes(3), kTwo);
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne) << "there is no other one";
  EXPECT_TRUE(Answer(1));
  EXPECT_EQ(group.slot(0).weight, 8 * SessionSlot::kWeightOne);
  Look();
  EXPECT_EQ(group.slot(0).weight, 8 * SessionSlot::kWeightOne);
  facts[1].srtt = microseconds(20);
  Look();
  EXPECT_EQ(group.slot(0).weight, SessionSlot::kWeightOne);
  EXPECT_EQ(group.slot(0).state, State::kOpen) << "that was no reason to move";
}

TEST_F(SessionGroups, OneThatLeavesASlowPathTakesNothingBeforeWhatIsInFlightHasArrived) {
  Open(2);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(LookTimes(20), 2u);
  EXPECT_GT(group.slot(1).weight, 1000 * SessionSlot::kWeightOne - 1) << "it is the last choice";
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
  // The round trip is that of the former path, and says nothing yet.
  EXPECT_EQ(LookTimes(10), 0u);
  EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  int pdus = 10;
  for (; pdus < 100 && group.slot(1).weight == SessionSlot::kWeightOne; ++pdus) Look();
  EXPECT_EQ(pdus, 16) << "it is known after sixteen PDUs";
}

TEST_F(SessionGroups, TheLastOneThatLeavesASlowPathStaysOpen) {
  Open(2);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(LookTimes(20), 2u);
  params.max_age = now - group.slot(0).since;  // the other one ends
  Look();
  ASSERT_EQ(group.open(), 2u);
  EXPECT_TRUE(Answer(1));
  EXPECT_EQ(group.slot(1).state, State::kOpen);
  EXPECT_EQ(group.open(), 2u);
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
  Look();
  EXPECT_FALSE(group.InRun());
  group.BeginRun(1);
  facts[1].srtt = microseconds(11);
  params.idle_intervals = 1;
  for (int i = 0; i < 1000 && group.open() == 3u; ++i) Look();
  ASSERT_EQ(group.open(), 1u);
  EXPECT_FALSE(group.InRun());
}

TEST_F(SessionGroups, NoRunTakesASessionThatIsWorseThanAnother) {
  Open(2);
  facts[1].srtt = microseconds(14);
  Look();
  group.BeginRun(1);
  EXPECT_FALSE(group.InRun());
  EXPECT_EQ(group.MaxInRun(), 1u);
  group.BeginRun(0);
  EXPECT_TRUE(group.InRun());
}

TEST_F(SessionGroups, ARunTakesTheBestSessionHoweverCongestedAllAre) {
  Open(2);
  for (auto& fact : facts) ++fact.retransmissions;
  Look();
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
    EXPECT_EQ(Look(), 0u);
    EXPECT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  }
  // Many PDUs: acknowledgements come at once, and the path takes the time.
  for (int i = 0; i < 3; ++i) {
    for (SessionFacts& each : facts) each.tx_pdus += 1000;
    Look();
  }
  EXPECT_GT(group.slot(1).weight, 100 * SessionSlot::kWeightOne);
}

TEST_F(SessionGroups, WhatTakesLongerThanAnAcknowledgementMayWaitIsCongestion) {
  Open(2);
  waits.ack = microseconds(125);
  facts[1].srtt = microseconds(200);
  for (int i = 0; i < 3; ++i) Look();
  EXPECT_GT(group.slot(1).weight, 100 * SessionSlot::kWeightOne);
}

TEST_F(SessionGroups, AnAcknowledgementWaitsForTwiceTheGapAtMost) {
  Open(2);
  waits.ack = std::chrono::milliseconds(1);
  for (int i = 0; i < 20; ++i) Look();
  ASSERT_EQ(group.slot(1).gap, params.interval);
  facts[1].srtt = 2 * params.interval + microseconds(20);
  Look();
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
    Look();
  };
  for (int step = 0; step < 9; ++step) send(microseconds(10));
  ASSERT_GT(facts[1].tx_pdus, 1u << 31);
  ASSERT_EQ(group.slot(1).weight, SessionSlot::kWeightOne);
  for (int i = 0; i < 3; ++i) send(microseconds(100));
  EXPECT_GT(group.slot(1).weight, 100 * SessionSlot::kWeightOne);
}

// ---- The pace of looks.

TEST_F(SessionGroups, WhileMuchIsSentThereIsALookInEachRoundTrip) {
  for (int i = 0; i < 3; ++i) {
    facts[0].tx_pdus += 1000;
    Look();
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
    Look();
  }
  ASSERT_EQ(group.deadline() - now, microseconds(10));
  for (const int pace : {20, 40, 80, 100, 100}) {
    now = group.deadline() + std::chrono::milliseconds(5);
    facts[0].unacked_pdus = 1;
    group.OnTimer(facts, params, waits, random, now);
    EXPECT_EQ(group.deadline() - now, microseconds(pace));
  }
}

// ---- Acknowledgements.

TEST_F(SessionGroups, WhereThePeerMovesTwiceOurAcknowledgementsTakeAnotherPath) {
  EXPECT_FALSE(group.OnPeerMoved(2, true, random, now));
  now += microseconds(5000);
  EXPECT_TRUE(group.OnPeerMoved(2, true, random, now));
  EXPECT_EQ(group.slot(2).state, State::kMoving);
  EXPECT_EQ(group.open(), 1u);
  now = std::max(now, group.deadline());
  EXPECT_EQ(group.OnTimer(facts, params, waits, random, now), 4u);
  ASSERT_EQ(LookTimes(1000), 4u) << "there was no answer";
  EXPECT_TRUE(Answer(2));
  EXPECT_NE(group.slot(2).number, 2);
  EXPECT_EQ(group.open(), 1u) << "it carries acknowledgements alone";
  Look();
  EXPECT_EQ(group.slot(2).state, State::kIdle);
  EXPECT_FALSE(group.OnPeerMoved(2, true, random, now)) << "two moves since then are needed";
  // From then on it is a session like the others.
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(LookTimes(3), kTwo);
  EXPECT_TRUE(Answer(2));
  EXPECT_EQ(group.open(), 5u);
}

TEST_F(SessionGroups, OneMoveOfThePeersOrOneOfLongAgoIsNoReason) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(group.OnPeerMoved(1, true, random, now));
    now += std::chrono::milliseconds(101);
  }
}

TEST_F(SessionGroups, OurOwnDataSaysWhetherThePathIsDead) {
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(group.OnPeerMoved(0, false, random, now));
}

// ---- A peer that asks without end.

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

// ---- The peer's numbers.

TEST_F(SessionGroups, ThePeersNewNumberAndTheFormerOneAreAccepted) {
  EXPECT_TRUE(group.OnRequest({.slot = 2, .number = 4002, .in_use = 2, .turn = 1}));
  EXPECT_TRUE(group.Accepts(4002));
  EXPECT_TRUE(group.Accepts(2));
  EXPECT_TRUE(group.OnRequest({.slot = 2, .number = 6002, .in_use = 4002, .turn = 2}));
  EXPECT_FALSE(group.Accepts(2));
  EXPECT_TRUE(group.Accepts(4002));
}

TEST_F(SessionGroups, ANumberThatLeadsNowhereDoesNotEndTheOneInUse) {
  EXPECT_TRUE(group.OnRequest({.slot = 2, .number = 4002, .in_use = 2, .turn = 1}));
  EXPECT_TRUE(group.OnRequest({.slot = 2, .number = 6002, .in_use = 2, .turn = 2}));
  EXPECT_TRUE(group.Accepts(2));
  EXPECT_TRUE(group.Accepts(6002));
  EXPECT_FALSE(group.Accepts(4002));
}

TEST_F(SessionGroups, StragglersAndNumbersOfAnotherSlotChangeNothing) {
  EXPECT_TRUE(group.OnRequest({.slot = 2, .number = 4002, .in_use = 2, .turn = 7}));
  EXPECT_TRUE(group.OnRequest({.slot = 2, .number = 4002, .in_use = 2, .turn = 7})) << "repeated";
  EXPECT_FALSE(group.OnRequest({.slot = 2, .number = 6002, .in_use = 2, .turn = 6}));
  EXPECT_FALSE(group.OnRequest({.slot = 2, .number = 6002, .in_use = 2, .turn = 7}));
  EXPECT_FALSE(group.OnRequest({.slot = 2, .number = 6001, .in_use = 2, .turn = 8}));
  EXPECT_FALSE(group.OnRequest({.slot = 2, .number = 6002, .in_use = 1, .turn = 8}));
  EXPECT_FALSE(group.OnRequest({.slot = 60, .number = 60, .in_use = 60, .turn = 8}));
  EXPECT_TRUE(group.Accepts(4002));
  EXPECT_FALSE(group.Accepts(6002));
}

// ---- Turns.

TEST_F(SessionGroups, AFenceCountsWhereItsTurnIsNewOrItIsARepetition) {
  EXPECT_TRUE(group.OnFence({.slot = 2, .turn = 1})) << "the next turn is new";
  EXPECT_TRUE(group.OnFence({.slot = 2, .turn = 1})) << "repeated";
  EXPECT_FALSE(group.OnFence({.slot = 2, .turn = 0}));
  EXPECT_TRUE(group.OnRequest({.slot = 2, .number = 4002, .in_use = 2, .turn = 2, .anew = true}));
  EXPECT_FALSE(group.OnFence({.slot = 2, .turn = 2})) << "the session is open since that turn";
  EXPECT_TRUE(group.OnFence({.slot = 2, .turn = 3}));
}

}  // namespace
}  // namespace suede
