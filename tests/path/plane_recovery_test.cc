// SPDX-License-Identifier: Apache-2.0
// The rules of docs/control-pdus.md, "Planes", by name: hold-downs, fences, generations, lost
// PLANEs, paused ports and pairs.
#include <array>
#include <vector>

#include "base/coordinates.h"
#include "plane_session_fixture.h"

namespace suede {
namespace {

using std::chrono::milliseconds;

TEST_F(PlaneSessionTest, HoldDownDoublesForOneThatFlapsAndEnds) {
  BringUp();
  Duration expected[] = {milliseconds(50), milliseconds(100), milliseconds(150), milliseconds(150)};
  for (const Duration hold : expected) {
    ours.GoDown(false, true, now, params);
    theirs.GoDown(false, true, now, params);
    EXPECT_EQ(ours.held_until() - now, hold);
    EXPECT_EQ(Tick(ours, hold - milliseconds(1)), Want::kNothing);
    EXPECT_EQ(ours.state(), PlaneState::kDown);
    now += milliseconds(1);
    BringUp();
    now += milliseconds(1);
  }
  now += 11 * milliseconds(150);
  ours.GoDown(false, true, now, params);
  EXPECT_EQ(ours.held_until() - now, milliseconds(50));
  EXPECT_EQ(ours.deaths(), 5u);
}

TEST_F(PlaneSessionTest, FenceFirst) {
  BringUp();
  ours.GoDown(true, true, now, params);
  EXPECT_EQ(Tick(ours, {}), Want::kFence);
  // The FENCE is repeated after longer and longer waits, and the plane does not come up before it
  // ends.
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kFence);
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kNothing);
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kFence);
  EXPECT_EQ(Tick(ours, params.hello_idle), Want::kFence);
  bool known = false;
  EXPECT_TRUE(theirs.OnFence(ours.tx_generation(), known));
  EXPECT_TRUE(known);
  EXPECT_TRUE(theirs.OnFence(ours.tx_generation(), known));  // however often
  EXPECT_FALSE(ours.IsFenced(7));
  EXPECT_TRUE(ours.IsFenced(1));
  ours.EndFence(now);
  EXPECT_FALSE(ours.IsFenced(1));
  EXPECT_EQ(ours.tx_generation(), 2);
  // The next generation is taken once, and the fenced one is a straggler from then on.
  EXPECT_EQ(Tick(ours, milliseconds(50)), Want::kPlane);
  EXPECT_TRUE(Say(ours, theirs, true).adopt);
  EXPECT_FALSE(Say(ours, theirs, true).adopt);
  EXPECT_FALSE(theirs.OnFence(1, known));
}

TEST_F(PlaneSessionTest, FenceOfAGenerationThatNobodyKnows) {
  bool known = true;
  EXPECT_TRUE(theirs.OnFence(5, known));
  EXPECT_FALSE(known);
  EXPECT_EQ(theirs.rx_generation(), 5);
  EXPECT_TRUE(theirs.OnFence(5, known));
  EXPECT_TRUE(known);
}

TEST_F(PlaneSessionTest, NotUpBeforeOurGenerationIsTaken) {
  Tick(ours, {});
  Tick(theirs, {});
  PlaneHello hello;
  Say(ours, theirs, true);
  theirs.FillPlane(false, hello);
  hello.rx_generation = 0;
  EXPECT_FALSE(ours.OnPlane(hello, now, params).came_up);
  EXPECT_FALSE(ours.up());
}

TEST_F(PlaneSessionTest, TheEndOfAFenceForgetsIt) {
  EXPECT_EQ(ours.last_received(), now) << "silence counts from the beginning";
  BringUp();
  PlaneHello lost;
  ours.FillPlane(true, lost);
  ours.GoDown(true, true, now, params);
  EXPECT_EQ(ours.missed(), 0u);
  for (int i = 0; i < 3; ++i) Tick(ours, params.hello_idle);
  EXPECT_EQ(ours.TakeFenceTurn(), 1u);
  EXPECT_EQ(ours.TakeFenceTurn(), 2u);
  EXPECT_FALSE(ours.OnImpossible());
  ours.EndFence(now);
  EXPECT_EQ(ours.deadline(), now);
  EXPECT_EQ(ours.TakeFenceTurn(), 1u);
  EXPECT_FALSE(ours.OnImpossible()) << "one of each generation";
  EXPECT_TRUE(ours.OnImpossible());
}

TEST_F(PlaneSessionTest, AHeldUpPlaneIsLookedAtLikeAnother) {
  BringUp();
  facts.held_up = true;
  EXPECT_EQ(Tick(ours, params.hello_interval), Want::kHeldUp);
  EXPECT_EQ(ours.deadline(), now + params.hello_interval);
  facts.in_flight = false;
  EXPECT_EQ(Tick(ours, params.hello_idle), Want::kHeldUp);
  EXPECT_EQ(ours.deadline(), now + params.hello_idle);
}

TEST_F(PlaneSessionTest, APortThatGoesDownEndsTheQuestion) {
  EXPECT_EQ(Tick(ours, {}), Want::kPlane);
  EXPECT_EQ(ours.state(), PlaneState::kInit);
  facts.port_up = false;
  EXPECT_EQ(Tick(ours, params.hello_interval), Want::kNothing);
  EXPECT_EQ(ours.state(), PlaneState::kDown);
}

TEST_F(PlaneSessionTest, AHoldDownIsWaitedForAndThenTheWaitsBeginAnew) {
  params.hold_down = params.hold_down_max = milliseconds(250);
  BringUp();
  ours.GoDown(false, true, now, params);
  const Time held_until = ours.held_until();
  for (const int wait : {100, 100, 50}) {
    EXPECT_EQ(Tick(ours, {}), Want::kNothing);
    EXPECT_EQ(ours.deadline(), now + milliseconds(wait));
    now = ours.deadline();
  }
  EXPECT_EQ(now, held_until);
  EXPECT_EQ(Tick(ours, {}), Want::kPlane);
  EXPECT_EQ(ours.deadline(), now + params.hello_interval);
}

TEST_F(PlaneSessionTest, AQuestionThatCrossesOursWaitsForTheAnswer) {
  EXPECT_EQ(Tick(ours, {}), Want::kPlane);
  EXPECT_EQ(Tick(theirs, {}), Want::kPlane);
  Say(theirs, ours, true);
  EXPECT_EQ(ours.deadline(), now + params.hello_interval);
}

TEST_F(PlaneSessionTest, TheOtherEndSaysDown) {
  BringUp();
  theirs.GoDown(false, true, now, params);
  EXPECT_TRUE(Say(theirs, ours, false).peer_down);
}

TEST_F(PlaneSessionTest, WithoutAPortOrHeldNothingIsSaid) {
  facts.port_up = false;
  EXPECT_EQ(Tick(ours, milliseconds(100)), Want::kNothing);
  facts.port_up = true;
  facts.held = true;
  EXPECT_EQ(Tick(ours, milliseconds(100)), Want::kNothing);
  facts.held = false;
  EXPECT_EQ(Tick(ours, {}), Want::kNothing);
  ours.OnLinkUp(now);
  BringUp();
  facts.port_up = false;
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kGoDown);
}

TEST_F(PlaneSessionTest, ARestartBeginsAnewButForOurGenerations) {
  BringUp();
  ours.GoDown(false, false, now, params);
  const uint16_t generation = ours.tx_generation();
  PlaneHello before;
  ours.FillPlane(false, before);
  ASSERT_EQ(ours.deaths(), 1u);
  ours.Reset();
  EXPECT_FALSE(ours.up());
  EXPECT_FALSE(ours.begun());
  EXPECT_EQ(ours.tx_generation(), generation);
  EXPECT_EQ(ours.peer_plane(), PlaneSession::kUnknownPlane);
  EXPECT_EQ(ours.deadline(), kNever);
  EXPECT_EQ(ours.deaths(), 1u) << "an operator counts them whoever the peer is";
  PlaneHello after;
  ours.FillPlane(false, after);
  EXPECT_EQ(after.sequence, before.sequence + 1) << "what is under way is older";
  EXPECT_EQ(after.rx_generation, 0);
  EXPECT_FALSE(after.has_heard);
}

TEST_F(PlaneSessionTest, GenerationsWrap) {
  Tick(ours, {});
  Say(ours, theirs, true);
  for (int i = 0; i < 0x20000; ++i) {
    ours.NextGeneration();
    EXPECT_EQ(ours.tx_generation(), (i + 1) % 0xffff + 1) << "0 is the static one";
    if (i % 0x4000 != 0) continue;
    EXPECT_TRUE(Say(ours, theirs, true).adopt) << i;
    EXPECT_EQ(theirs.rx_generation(), ours.tx_generation());
  }
}

// ---- Sequences. However many PLANEs were lost, and at any state of the count, the next one that
// arrives counts.

TEST_F(PlaneSessionTest, AnOutageOfAnyLengthEndsWithTheNextPlane) {
  using Sequence = decltype(PlaneHello::sequence);
  constexpr int kBits = 8 * sizeof(Sequence);
  std::vector<uint64_t> lost = {0, 1, 40'000, 65'535, 65'536};
  for (int bit = kBits - 3; bit <= kBits; ++bit) {
    for (int64_t around = -2; around <= 2; ++around) {
      lost.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(around));
    }
  }
  BringUp();
  PlaneHello hello;
  theirs.FillPlane(false, hello);
  ours.OnPlane(hello, now, params);
  for (const uint64_t count : lost) {
    now += params.hold_down + Duration(1);
    hello.sequence = static_cast<Sequence>(hello.sequence + 1 + count);
    EXPECT_FALSE(ours.OnPlane(hello, now, params).stale) << count;
    // From then on copies are stale as before.
    EXPECT_TRUE(ours.OnPlane(hello, now, params).stale) << count;
    PlaneHello ask;
    ours.FillPlane(true, ask);
    EXPECT_EQ(ask.heard, hello.sequence);
    ++hello.sequence;
    hello.has_heard = true;
    hello.heard = ask.sequence;
    EXPECT_TRUE(ours.OnPlane(hello, now, params).proved) << count;
  }
}

// Half of the range of 16 bits, a quarter more, and more than all of it.
TEST_F(PlaneSessionTest, OurOwnPlanesMayBeLostInAnyNumber) {
  for (const int lost : {32'766, 32'768, 49'152, 65'534, 65'535, 65'536, 65'537, 200'000}) {
    PlaneHello hello;
    for (int i = 0; i < lost; ++i) ours.FillPlane(true, hello);
    now += params.hold_down + Duration(1);
    EXPECT_TRUE(Ask(ours, theirs).proved) << lost;
    EXPECT_FALSE(Say(theirs, ours, false).proved) << lost;  // once
  }
}

TEST_F(PlaneSessionTest, AnEndThatCountsFromTheStartAgainIsHeard) {
  BringUp();
  for (int i = 0; i < 1000; ++i) Say(theirs, ours, false);
  theirs = PlaneSession();
  theirs.NextGeneration();
  theirs.Begin(now);
  EXPECT_TRUE(Say(theirs, ours, true).stale);
  now += params.hold_down + Duration(1);
  EXPECT_FALSE(Say(theirs, ours, true).stale);
  EXPECT_FALSE(Say(theirs, ours, true).stale);
}

// The other end wants the plane up: our own question does not wait for its turn.
TEST_F(PlaneSessionTest, AQuestionOfTheOtherEndEndsTheWait) {
  BringUp();
  ours.GoDown(false, false, now, params);
  theirs.GoDown(false, false, now, params);
  PlaneHello lost;
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(Tick(ours, params.hello_idle), Want::kPlane);
    ours.FillPlane(true, lost);
  }
  EXPECT_EQ(ours.state(), PlaneState::kInit);
  EXPECT_EQ(ours.deadline(), now + params.hello_idle);
  now += milliseconds(1);
  EXPECT_EQ(theirs.OnTimer(now, facts, params), Want::kPlane);
  Say(theirs, ours, true);
  EXPECT_EQ(ours.deadline(), now);
  // An answer of the other end does not end the wait.
  Tick(ours, {});
  EXPECT_GT(ours.deadline(), now);
  Say(theirs, ours, false);
  EXPECT_GT(ours.deadline(), now);
}

// A dead plane is asked after longer and longer waits, unless its caller has to look earlier.
TEST_F(PlaneSessionTest, ADeadPlaneIsAskedMoreAndMoreRarely) {
  BringUp();
  ours.GoDown(false, false, now, params);
  int asked = 0;
  for (int i = 0; i < 1000; ++i) asked += Tick(ours, milliseconds(1)) == Want::kPlane;
  EXPECT_LE(asked, 8 + 1000 / 100);
  EXPECT_GE(asked, 1000 / 100);
  facts.check_at = now + milliseconds(7);
  Tick(ours, params.hello_idle);
  EXPECT_EQ(ours.deadline(), facts.check_at);
}

// ---- A port that is paused.

TEST_F(PlaneSessionTest, SilenceWhileNothingLeavesIsNotCounted) {
  BringUp();
  facts.sibling_alive = true;
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
  Say(ours, theirs, true);
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
  Say(ours, theirs, true);
  facts.held_up = true;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kHeldUp);
    EXPECT_EQ(ours.missed(), 0u);
  }
  facts.held_up = false;
  // From then on unanswered questions count as before.
  for (uint32_t i = 0; i < params.hello_multiplier; ++i) {
    EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
    Say(ours, theirs, true);
  }
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kGoDown);
}

TEST_F(PlaneSessionTest, NothingLeavesForTooLong) {
  BringUp();
  facts.held_too_long = true;
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);  // there is nowhere to go
  facts.sibling_alive = true;
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kGoDown);
}

// However often the other end says that it is held up, it is not excused for longer than the limit,
// until it is heard.
TEST_F(PlaneSessionTest, TheWordOfTheOtherEndHoldsForAWhile) {
  BringUp();
  const Duration span = milliseconds(4);
  const Duration limit = milliseconds(20);
  EXPECT_FALSE(ours.IsExcused(now, limit));
  const Time begun = now += milliseconds(1);
  ours.OnHeldUp(now, span);
  EXPECT_TRUE(ours.IsExcused(now + milliseconds(3), limit));
  EXPECT_FALSE(ours.IsExcused(now + span, limit));
  for (; now - begun < 2 * limit; now += milliseconds(6)) {
    ours.OnHeldUp(now, span);
    EXPECT_EQ(ours.IsExcused(now, limit), now - begun < limit);
  }
  ours.OnProgress(now);
  ours.OnHeldUp(now + milliseconds(1), span);
  EXPECT_TRUE(ours.IsExcused(now + milliseconds(1), limit));
}

// Two planes between the ends, which number them otherwise. Frames of either plane may arrive on
// both: addresses do not tell them apart.
class PlanePairsTest : public PlaneSessionTest {
 protected:
  PlanePairsTest() {
    for (auto* end : {&of_ours, &of_theirs}) {
      for (PlaneSession& session : *end) {
        session.NextGeneration();
        session.Begin(now);
        Tick(session, {});
      }
    }
  }
  using End = std::array<PlaneSession, 2>;
  // A PLANE of `plane` of one end, which arrives on `there` of the other one.
  PlaneSession::OnPlaneResult Say(End& from, PlaneIndex plane, End& to, PlaneIndex there,
                                  bool wants_reply) {
    PlaneHello hello{.plane = static_cast<uint8_t>(plane)};
    from[plane].FillPlane(wants_reply, hello);
    last = hello;
    return to[there].OnPlane(hello, now, params, static_cast<uint8_t>(there));
  }
  void BringUp(PlaneIndex plane) {
    const PlaneIndex there(1 - plane);
    Say(of_ours, plane, of_theirs, there, true);
    Say(of_theirs, there, of_ours, plane, true);
    Say(of_ours, plane, of_theirs, there, true);
    Say(of_theirs, there, of_ours, plane, false);
    EXPECT_TRUE(of_ours[plane].up());
    EXPECT_TRUE(of_theirs[there].up());
  }
  End of_ours, of_theirs;
  PlaneHello last;
};

TEST_F(PlanePairsTest, AQuestionAndItsAnswerPair) {
  EXPECT_FALSE(Say(of_ours, 0, of_theirs, 1, true).adopt);
  EXPECT_FALSE(of_theirs[1].paired());
  // Question and answer: the plane and its generation are known.
  const PlaneSession::OnPlaneResult heard = Say(of_theirs, 1, of_ours, 0, true);
  EXPECT_TRUE(heard.proved);
  EXPECT_TRUE(heard.adopt);
  EXPECT_TRUE(of_ours[0].paired());
  EXPECT_EQ(of_ours[0].peer_plane(), 1);
  EXPECT_EQ(of_ours[0].deadline(), now) << "the other end is told at once";
  // The other end does not know it yet, so nothing is sent to it.
  EXPECT_FALSE(of_ours[0].up());
  EXPECT_TRUE(Say(of_ours, 0, of_theirs, 1, true).came_up);
  EXPECT_EQ(of_theirs[1].peer_plane(), 0);
  EXPECT_TRUE(Say(of_theirs, 1, of_ours, 0, false).came_up);
}

// The sequences of both planes are the same, so a number alone proves nothing.
TEST_F(PlanePairsTest, APlaneThatWasMovedPairsNothing) {
  const PlaneSession::OnPlaneResult heard = Say(of_ours, 0, of_theirs, 0, true);
  EXPECT_FALSE(heard.adopt);
  PlaneHello lost;
  of_ours[1].FillPlane(true, lost);
  EXPECT_EQ(lost.sequence, last.sequence);
  EXPECT_FALSE(Say(of_theirs, 0, of_ours, 1, true).proved);
  EXPECT_FALSE(of_ours[1].paired());
  EXPECT_FALSE(of_theirs[0].paired());
  BringUp(0);
  BringUp(1);
}

TEST_F(PlanePairsTest, APairLasts) {
  BringUp(0);
  // A PLANE of the other plane, and an answer to that plane, are of another pair.
  PlaneHello moved{.plane = 0};
  of_theirs[0].FillPlane(true, moved);
  EXPECT_TRUE(of_ours[0].IsContrary(moved, 0));
  Say(of_ours, 1, of_theirs, 0, true);
  Say(of_theirs, 0, of_ours, 1, true);
  Say(of_ours, 1, of_theirs, 0, true);
  PlaneHello of_pair{.plane = 0};
  of_theirs[0].FillPlane(true, of_pair);
  EXPECT_TRUE(of_ours[0].IsContrary(of_pair, 0));
  EXPECT_FALSE(of_ours[1].IsContrary(of_pair, 1));
  EXPECT_EQ(of_ours[0].peer_plane(), 1);
}

// Only PLANEs of other pairs come, for long: that is how the network is now.
TEST_F(PlanePairsTest, APairOfAnotherNetworkIsHopeless) {
  BringUp(0);
  EXPECT_FALSE(of_ours[0].IsHopeless(now, params.unreachable));
  now += params.unreachable;
  EXPECT_FALSE(of_ours[0].IsHopeless(now, params.unreachable));  // it is up
  of_ours[0].GoDown(false, false, now, params);
  EXPECT_TRUE(of_ours[0].IsHopeless(now, params.unreachable));
  // A PLANE of its own pair comes, and it is not hopeless.
  Tick(of_ours[0], {});
  PlaneHello question{.plane = 0};
  of_ours[0].FillPlane(true, question);
  of_theirs[1].OnPlane(question, now, params, 1);
  EXPECT_TRUE(Say(of_theirs, 1, of_ours, 0, false).proved);
  of_ours[0].GoDown(false, false, now, params);
  EXPECT_FALSE(of_ours[0].IsHopeless(now, params.unreachable));
}

TEST_F(PlanePairsTest, AGenerationOfAnotherPlaneDoesNotCountForThePair) {
  // While nothing was sealed, a PLANE of another plane came.
  of_ours[0].OnPlane({.plane = 0, .tx_generation = 5, .sequence = 1}, now, params);
  EXPECT_EQ(of_ours[0].rx_generation(), 5);
  Say(of_ours, 0, of_theirs, 1, true);
  EXPECT_TRUE(Say(of_theirs, 1, of_ours, 0, true).adopt);
  EXPECT_EQ(of_ours[0].peer_plane(), 1);
  EXPECT_EQ(of_ours[0].rx_generation(), 1);
}

}  // namespace
}  // namespace suede
