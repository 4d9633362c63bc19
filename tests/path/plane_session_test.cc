// SPDX-License-Identifier: Apache-2.0
// The rules of docs/control-pdus.md, "Planes", by name: questions, answers and silence.
#include <deque>
#include <vector>

#include "plane_session_fixture.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST_F(PlaneSessionTest, ThreeWays) {
  EXPECT_EQ(Tick(ours, {}), Want::kPlane);
  EXPECT_EQ(ours.state(), PlaneState::kInit);
  // The other end hears us and takes our generation, but nothing proves yet that we hear it.
  const PlaneSession::OnPlaneResult heard = Say(ours, theirs, true);
  EXPECT_TRUE(heard.adopt);
  EXPECT_FALSE(heard.proved);
  EXPECT_EQ(theirs.rx_generation(), 1);
  EXPECT_FALSE(theirs.up());
  // The other end is down: its answer proves the way, and is not enough.
  EXPECT_TRUE(Say(theirs, ours, false).proved);
  EXPECT_FALSE(ours.up());
  EXPECT_EQ(Tick(theirs, {}), Want::kPlane);
  EXPECT_TRUE(Ask(ours, theirs).came_up);
  EXPECT_TRUE(ours.up());
  EXPECT_TRUE(theirs.up());
}

// Each question makes the other end ask, too, and frames take long: there must be time for answers.
TEST_F(PlaneSessionTest, QuestionsThatCrossDoNotDrownTheAnswers) {
  struct OnWay {
    Time at;
    PlaneSession* to;
    PlaneHello hello;
  };
  for (const uint32_t multiplier : {2u, 3u}) {
    params.hello_multiplier = multiplier;
    for (const int micros : {5, 50, 200}) {
      ours.Reset();
      theirs.Reset();
      ours.Begin(now);
      theirs.Begin(now);
      std::deque<OnWay> on_way;
      int said = 0;
      const Time begun = now;
      while (now < begun + milliseconds(20) && !(ours.up() && theirs.up())) {
        now += microseconds(1);
        const auto say = [&](PlaneSession& from, bool wants_reply) {
          PlaneHello hello;
          from.FillPlane(wants_reply, hello);
          on_way.push_back({now + microseconds(micros), &from == &ours ? &theirs : &ours, hello});
          ++said;
        };
        for (; !on_way.empty() && on_way.front().at <= now; on_way.pop_front()) {
          const OnWay came = on_way.front();
          came.to->OnPlane(came.hello, now, params);
          if (came.hello.reply_wanted) say(*came.to, false);
        }
        for (PlaneSession* session : {&ours, &theirs}) {
          if (session->OnTimer(now, facts, params) == Want::kPlane) say(*session, true);
        }
      }
      EXPECT_TRUE(ours.up() && theirs.up()) << multiplier << ", " << micros << " us: " << said;
      EXPECT_LT(said, 20) << multiplier << ", " << micros << " us";
    }
  }
}

TEST_F(PlaneSessionTest, APlaneThatCameUpIsLookedAtAfterAnInterval) {
  EXPECT_EQ(Tick(ours, {}), Want::kPlane);
  EXPECT_EQ(Tick(theirs, {}), Want::kPlane);
  now += params.hello_interval / 4;  // the way there and back takes time
  Ask(ours, theirs);
  Ask(theirs, ours);
  EXPECT_EQ(ours.deadline(), now + params.hello_interval);
  EXPECT_EQ(theirs.deadline(), now + params.hello_interval);
}

TEST_F(PlaneSessionTest, NewParamsEndAHoldDownThatIsLongerThanTheyPermit) {
  BringUp();
  ours.GoDown(false, true, now, params);
  EXPECT_EQ(ours.held_until(), now + params.hold_down);
  params.hold_down_max = milliseconds(10);
  ours.OnNewParams(now, params);
  EXPECT_EQ(ours.held_until(), now + milliseconds(10));
  EXPECT_EQ(Tick(ours, milliseconds(10)), Want::kPlane);
}

TEST_F(PlaneSessionTest, OneWayNeverComesUp) {
  for (int i = 0; i < 20; ++i) {
    Tick(ours, milliseconds(100));
    Tick(theirs, {});
    Say(ours, theirs, true);  // the answer is lost
  }
  EXPECT_FALSE(ours.up());
  EXPECT_FALSE(theirs.up());
}

TEST_F(PlaneSessionTest, AnIdlePlaneThatIsAskedAboutIsFoundDeadSoon) {
  BringUp();
  facts.in_flight = false;
  facts.sibling_alive = true;
  EXPECT_EQ(Tick(ours, params.hello_interval), Want::kPlane);
  Ask(ours, theirs);
  now += 2 * params.hello_interval;
  ours.RequestReply(now);
  for (uint32_t i = 0; i < params.hello_multiplier; ++i) {
    EXPECT_EQ(Tick(ours, {}), Want::kPlane);
    PlaneHello lost;
    ours.FillPlane(true, lost);
    EXPECT_EQ(ours.deadline(), now + params.hello_interval);
    now = ours.deadline();
  }
  EXPECT_EQ(Tick(ours, {}), Want::kGoDown);
}

TEST_F(PlaneSessionTest, AnAnswerEndsTheQuestionsOnAnIdlePlane) {
  BringUp();
  facts.in_flight = false;
  now += params.hello_interval;
  Ask(ours, theirs);
  const Time heard = now;
  now += params.hello_interval / 2;
  ours.RequestReply(now);
  EXPECT_EQ(Tick(ours, {}), Want::kNothing) << "it was heard within an interval";
  EXPECT_EQ(ours.deadline(), heard + params.hello_interval);
  EXPECT_EQ(Tick(ours, params.hello_interval / 2), Want::kPlane);
  const Time asked = now;
  now += params.hello_interval / 100;
  Ask(ours, theirs);
  EXPECT_EQ(ours.deadline(), asked + params.hello_interval);
  EXPECT_EQ(Tick(ours, params.hello_interval), Want::kNothing);
  EXPECT_EQ(ours.deadline(), asked + params.hello_interval / 100 + params.hello_idle);
}

TEST_F(PlaneSessionTest, AnAnswerProvesOnce) {
  BringUp();
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
  PlaneHello asked;
  ours.FillPlane(true, asked);
  EXPECT_EQ(ours.missed(), 1u);
  theirs.OnPlane(asked, now, params);
  EXPECT_TRUE(Say(theirs, ours, false).proved);
  EXPECT_EQ(ours.missed(), 0u);
  // Its later PLANE acknowledges no more of ours.
  EXPECT_FALSE(Say(theirs, ours, true).proved);
}

// The other end's questions and answers are held up, and come at once. The answers that we owe it
// then make no answer to us old: only questions of ours do.
TEST_F(PlaneSessionTest, OurOwnAnswersMakeNoQuestionOld) {
  params.hello_multiplier = 2;
  BringUp();
  std::vector<PlaneHello> held(4);
  for (size_t i = 0; i < 4; i += 2) {
    PlaneHello question;
    ours.FillPlane(true, question);
    theirs.FillPlane(true, held[i]);
    theirs.OnPlane(question, now, params);
    theirs.FillPlane(false, held[i + 1]);
    now += milliseconds(2);
  }
  EXPECT_EQ(ours.missed(), 2u);
  bool proved = false;
  for (const PlaneHello& hello : held) {
    proved |= ours.OnPlane(hello, now, params).proved;
    PlaneHello answer;
    if (hello.reply_wanted) ours.FillPlane(false, answer);
  }
  EXPECT_TRUE(proved);
  EXPECT_EQ(ours.missed(), 0u);
}

// Only answers to the last questions are awaited, however few of our answers lie between.
TEST_F(PlaneSessionTest, AnAnswerToWhatWasAskedTooLongAgoProvesNothing) {
  params.hello_multiplier = 2;
  BringUp();
  PlaneHello question, late;
  ours.FillPlane(true, question);
  theirs.OnPlane(question, now, params);
  theirs.FillPlane(false, late);
  ours.FillPlane(false, question);
  ours.FillPlane(true, question);
  ours.FillPlane(true, question);
  EXPECT_FALSE(ours.OnPlane(late, now, params).proved);
}

// With two answers to be missed, one later question makes none old; and nothing is known of
// questions before the last 64 PLANEs.
TEST_F(PlaneSessionTest, OnlyLaterQuestionsMakeAnAnswerOld) {
  params.hello_multiplier = 2;
  for (const bool asks_again : {false, true}) {
    for (const int answers : {1, 62, 64}) {
      BringUp();
      PlaneHello question, late, other;
      ours.FillPlane(true, question);
      theirs.OnPlane(question, now, params);
      theirs.FillPlane(false, late);
      for (int i = 0; i < answers; ++i) ours.FillPlane(asks_again && i == 0, other);
      ours.FillPlane(false, other);
      EXPECT_EQ(ours.OnPlane(late, now, params).proved, answers < 64) << answers;
      ours.GoDown(false, false, now, params);
      theirs.GoDown(false, false, now, params);
    }
  }
}

TEST_F(PlaneSessionTest, StragglersAreIgnored) {
  BringUp();
  PlaneHello early, late;
  theirs.FillPlane(false, early);
  theirs.FillPlane(false, late);
  EXPECT_FALSE(ours.OnPlane(late, now, params).stale);
  early.state = PlaneState::kDown;
  EXPECT_TRUE(ours.OnPlane(early, now, params).stale);
  EXPECT_TRUE(ours.OnPlane(late, now, params).stale);
  EXPECT_TRUE(ours.up());
}

TEST_F(PlaneSessionTest, SilentWhileAcknowledgementsCome) {
  BringUp();
  for (int i = 0; i < 50; ++i) {
    ours.OnProgress(now);
    EXPECT_EQ(Tick(ours, microseconds(990)), Want::kNothing);
  }
}

TEST_F(PlaneSessionTest, DeadAfterTheMultiplierWhileAnotherPlaneLives) {
  BringUp();
  facts.sibling_alive = true;
  PlaneHello lost;
  for (uint32_t i = 0; i < params.hello_multiplier; ++i) {
    EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
    ours.FillPlane(true, lost);
  }
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kGoDown);
}

TEST_F(PlaneSessionTest, NotDeadWhileNoOtherLives) {
  BringUp();
  PlaneHello lost;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
    ours.FillPlane(true, lost);
  }
  // No PLANE of that time counts when the peer is heard again.
  facts.sibling_alive = true;
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
  ours.FillPlane(true, lost);
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kGoDown);
}

TEST_F(PlaneSessionTest, DeadInSpiteOfWaitsOfThePeerForACpu) {
  BringUp();
  PlaneHello lost;
  for (int heard = 0; heard < 2; ++heard) {
    facts.sibling_alive = false;
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
      ours.FillPlane(true, lost);
    }
    facts.sibling_alive = true;
    EXPECT_EQ(Tick(ours, milliseconds(1)), heard == 1 ? Want::kGoDown : Want::kPlane);
    ours.FillPlane(true, lost);
  }
}

// A pause of this process is one missed answer at most, however long it was.
TEST_F(PlaneSessionTest, OwnPauseIsOneMiss) {
  BringUp();
  facts.sibling_alive = true;
  EXPECT_EQ(Tick(ours, milliseconds(500)), Want::kPlane);
  PlaneHello asked;
  ours.FillPlane(true, asked);
  EXPECT_EQ(ours.missed(), 1u);
}

// The lcore finds answers of all planes when it runs again, and reads those of other planes first.
TEST_F(PlaneSessionTest, OwnPauseIsNoWaitForAnAnswer) {
  for (const Duration ran : {microseconds(300), microseconds(999)}) {
    SCOPED_TRACE(ran.count());
    ours = theirs = {};
    SetUpSessions();
    BringUp();
    facts.sibling_alive = true;
    PlaneHello lost;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
      ours.FillPlane(true, lost);
    }
    now += ran;
    now += milliseconds(7);
    ours.OnStandstill(now, milliseconds(7), params);
    EXPECT_EQ(Tick(ours, {}), Want::kNothing);
    EXPECT_EQ(ours.deadline(), now + std::max<Duration>(milliseconds(1) - ran, microseconds(200)));
    EXPECT_EQ(Tick(ours, ours.deadline() - now), Want::kGoDown) << "there was none";
  }
}

// An lcore that shares its CPU is stopped between any two poll iterations.
TEST_F(PlaneSessionTest, PausesWithoutEndDoNotPutOffTheEnd) {
  SetUpSessions();
  BringUp();
  facts.sibling_alive = true;
  PlaneHello lost;
  Want want = Want::kNothing;
  for (int pause = 0; pause < 20 && want != Want::kGoDown; ++pause) {
    want = Tick(ours, microseconds(10));
    if (want == Want::kPlane) ours.FillPlane(true, lost);
    now += milliseconds(1);
    ours.OnStandstill(now, milliseconds(1), params);
  }
  EXPECT_EQ(want, Want::kGoDown);
}

TEST_F(PlaneSessionTest, OwnPauseDoesNotPutOffTheFirstQuestion) {
  BringUp();
  now += milliseconds(7);
  ours.OnStandstill(now, milliseconds(7), params);
  EXPECT_EQ(Tick(ours, {}), Want::kPlane);
}

TEST_F(PlaneSessionTest, IdleAsksRarelyAndThenInEarnest) {
  BringUp();
  facts.in_flight = false;
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
  EXPECT_TRUE(Ask(ours, theirs).proved);
  EXPECT_EQ(Tick(ours, milliseconds(99)), Want::kNothing);
  EXPECT_EQ(Tick(ours, milliseconds(100)), Want::kPlane);
  PlaneHello lost;
  ours.FillPlane(true, lost);
  EXPECT_EQ(Tick(ours, milliseconds(100)), Want::kPlane);
  ours.FillPlane(true, lost);
  EXPECT_EQ(Tick(ours, milliseconds(1)), Want::kPlane);
}

TEST_F(PlaneSessionTest, TrafficWakesAnIdleSession) {
  BringUp();
  facts.in_flight = false;
  Tick(ours, milliseconds(1));
  Ask(ours, theirs);
  Tick(ours, milliseconds(100));
  Ask(ours, theirs);
  facts.in_flight = true;
  EXPECT_TRUE(ours.OnTraffic(now, params));
  EXPECT_EQ(ours.deadline(), now + params.hello_interval);
  EXPECT_FALSE(ours.OnTraffic(now, params));
  facts.in_flight = false;
  now += params.hello_interval;
  Ask(ours, theirs);
  Tick(ours, {});
  ASSERT_EQ(ours.deadline(), now + params.hello_idle);
  ours.OnNewParams(now, params);
  EXPECT_EQ(ours.deadline(), now + params.hello_interval);
}

}  // namespace
}  // namespace suede
