// SPDX-License-Identifier: Apache-2.0
// The rules of docs/sessions.md on the numbers of sessions, ours and the peer's, by name.
#include <gtest/gtest.h>

#include <bit>

#include "path/session_group.h"
#include "session_groups.h"

namespace suede {
namespace {

TEST_F(SessionGroups, TheOnlyOtherNumberIsTaken) {
  group.Begin(kCount, 2 * kCount, now);
  EXPECT_TRUE(group.OnStall(0, random, now));
  EXPECT_EQ(group.RequestOf(0).number, kCount);
}

TEST_F(SessionGroups, NumbersAreThoseThatHeadersTellApart) {
  constexpr uint32_t kFew = 64;
  group.Begin(kCount, kFew, now);
  facts[0].srtt = microseconds(16);
  SlotMask seen = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_NE(EvaluateUntilMove(1000), 0u);
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
  for (int i = 0; i < 1000 && group.slot(1).state != State::kOpening; ++i) Evaluate();
  ASSERT_EQ(group.slot(1).state, State::kOpening);
  now += microseconds(200);
  EXPECT_TRUE(Answer(1));
}

TEST_F(SessionGroups, ANumberWhosePathIsSlowIsNotTaken) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  for (int slow = 0; slow < 3; ++slow) {
    const SessionNumber request = group.RequestOf(1);
    now += kSlow + microseconds(1);
    EXPECT_EQ(AnswerTo(request), SessionGroup::Answer::kSlow);
    EXPECT_EQ(group.open(), 1u);
    EXPECT_NE(group.RequestOf(1).number, request.number);
    EXPECT_EQ(group.deadline(), now) << "the next number is asked for at once";
    ASSERT_NE(Evaluate() & 2u, 0u);
  }
  now += kSlow + microseconds(1);
  EXPECT_TRUE(Answer(1)) << "all paths may be like that";
}

TEST_F(SessionGroups, ANumberWhosePathIsFastIsTaken) {
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
  now += kSlow;
  EXPECT_TRUE(Answer(2));
}

// All paths take long, as at a busy peer: a path on which the request takes no longer is good.
TEST_F(SessionGroups, OneThatMovesTakesAPathAsFastAsTheFastest) {
  Open(2);
  facts[0].srtt = microseconds(40);
  facts[1].srtt = microseconds(400);
  params.open_percent = 1000;
  ASSERT_EQ(EvaluateUntilMove(20), 2u);
  now += microseconds(101);
  EXPECT_EQ(AnswerTo(group.RequestOf(1)), SessionGroup::Answer::kSlow);
  ASSERT_NE(Evaluate() & 2u, 0u);
  params.open_percent = 150;
  now += microseconds(40);
  EXPECT_TRUE(Answer(1));
}

// A request for another reason than congestion takes the first path that leads there.
TEST_F(SessionGroups, AStalledOneTakesAPathThatIsSlow) {
  Evaluate();
  EXPECT_TRUE(group.OnStall(0, random, now));
  EXPECT_EQ(Evaluate(), 1u);
  now += microseconds(200);
  EXPECT_TRUE(Answer(0));
}

// A session that was slow several times in a row, and has a number, is asked for as often again.
TEST_F(SessionGroups, EachMoveMayRefuseSlowPaths) {
  Open(2);
  for (int move = 0; move < 2; ++move) {
    facts[1].srtt = microseconds(50);
    ASSERT_EQ(EvaluateUntilMove(200), 2u);
    ASSERT_EQ(group.slot(1).state, State::kMoving);
    for (int slow = 0; slow < 3; ++slow) {
      now += kSlow + microseconds(1);
      EXPECT_EQ(AnswerTo(group.RequestOf(1)), SessionGroup::Answer::kSlow) << move;
      ASSERT_NE(Evaluate() & 2u, 0u);
    }
    now += kSlow + microseconds(1);
    EXPECT_TRUE(Answer(1));
  }
}

TEST_F(SessionGroups, OneThatMovesAsksAgainForTheSameReason) {
  Open(2);
  facts[1].srtt = microseconds(50);
  ASSERT_EQ(EvaluateUntilMove(20), 2u);
  ASSERT_EQ(EvaluateUntilMove(1000), 2u) << "there was no answer";
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
      ASSERT_EQ(EvaluateUntilMove(1000), 2u);
      ASSERT_EQ(group.slot(1).state, State::kMoving) << stall << ", " << number;
    }
    EXPECT_TRUE(Answer(1));
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
  ASSERT_EQ(EvaluateUntilMove(1000), 4u) << "there was no answer";
  EXPECT_TRUE(Answer(2));
  EXPECT_NE(group.slot(2).number, 2);
  EXPECT_EQ(group.open(), 1u) << "it carries acknowledgements alone";
  Evaluate();
  EXPECT_EQ(group.slot(2).state, State::kIdle);
  EXPECT_FALSE(group.OnPeerMoved(2, true, random, now)) << "two moves since then are needed";
  // From then on it is a session like the others.
  facts[0].srtt = microseconds(16);
  ASSERT_EQ(EvaluateUntilMove(3), kTwo);
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
