// SPDX-License-Identifier: Apache-2.0
// The sender's rules of the wire profile §6 where the far side is lost or out of step.
#include "connection_fixture.h"

namespace suede {
namespace {

// ---- A lost far side.

TEST_F(ConnectionTest, LostConnectionProbesAgainAndAgain) {
  Send(1);
  GiveUp();
  for (int i = 0; i < 20; ++i) {
    const Time before = now;
    EXPECT_EQ(Expire(), TimerVerdict::kProbe);
    EXPECT_EQ(now - before, params.rto_max);
  }
}

TEST_F(ConnectionTest, LostConnectionResumesByTwoEqualAnswersToTwoProbes) {
  Send(5);
  GiveUp();
  EXPECT_EQ(c.tx().ProbePsn(), Psn(6));
  EXPECT_EQ(Answer(2), RpsnVerdict::kNothingNew);  // 0 and 1 had arrived
  EXPECT_TRUE(c.tx().lost());
  EXPECT_EQ(Nack(2), RpsnVerdict::kNothingNew);  // a copy of the answer
  EXPECT_TRUE(c.tx().lost());
  EXPECT_LT(c.deadline(), now + params.rto_max);
  EXPECT_EQ(Answer(2), RpsnVerdict::kResumed);
  EXPECT_TRUE(Acked().empty());
  EXPECT_FALSE(c.tx().lost());
  EXPECT_EQ(c.in_flight().next_psn(), Psn(2));
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  EXPECT_EQ(c.deadline(), kNever);
  Send(1);
  EXPECT_EQ(pdus.back().psn, Psn(2));
  EXPECT_EQ(Ack(2), RpsnVerdict::kProgress);
}

TEST_F(ConnectionTest, LostConnectionResumesWhereNothingOrEverythingHadArrived) {
  Send(5);
  GiveUp();
  Answer(0);
  EXPECT_EQ(Answer(0), RpsnVerdict::kResumed);
  EXPECT_EQ(c.in_flight().next_psn(), Psn(0));
  Send(5);
  GiveUp();
  Answer(5);
  EXPECT_EQ(Answer(5), RpsnVerdict::kResumed);
  EXPECT_EQ(c.in_flight().next_psn(), Psn(5));
}

TEST_F(ConnectionTest, LostConnectionResumesWhereverTheFarSideIs) {
  for (const int where : {3, 300, 20000, 40000, 65535}) {
    Send(3);
    GiveUp();
    const auto psn = static_cast<uint16_t>(where);
    Answer(psn);
    EXPECT_EQ(Answer(psn), RpsnVerdict::kResumed) << where;
    EXPECT_EQ(c.in_flight().next_psn(), Psn(psn));
    EXPECT_FALSE(c.tx().desynchronized());
    Send(1);
    EXPECT_EQ(Ack(psn), RpsnVerdict::kProgress);
  }
}

// The far side is ahead of every probe that goes by our PSNs, and drops it as something old. By the
// PSN that it has named itself, every second probe is one that it answers.
TEST_F(ConnectionTest, LostConnectionProbesAheadOfAFarSideThatIsAheadItself) {
  Send(3);
  EXPECT_EQ(Ack(29), RpsnVerdict::kOutOfWindow);
  GiveUp();
  EXPECT_EQ(c.tx().ProbePsn(), Psn(4));
  Expire();
  c.tx().probes().OnSent(false);
  EXPECT_EQ(c.tx().ProbePsn(), Psn(31));
  Answer(30);
  EXPECT_EQ(c.tx().ProbePsn(), Psn(4));
  Expire();
  c.tx().probes().OnSent(false);
  EXPECT_EQ(Answer(30), RpsnVerdict::kResumed);
  EXPECT_EQ(c.in_flight().next_psn(), Psn(30));
}

TEST_F(ConnectionTest, LostConnectionGoesByNoSingleFrame) {
  Send(5);
  GiveUp();
  for (uint16_t psn = 0; psn < 20; ++psn) {
    EXPECT_EQ(Nack(psn), RpsnVerdict::kNothingNew);  // of which no probe has left
    EXPECT_EQ(Nack(psn), RpsnVerdict::kNothingNew);
    EXPECT_NE(Ack(psn), RpsnVerdict::kResumed);
    EXPECT_NE(NotReady(psn), RpsnVerdict::kResumed);
  }
  // Answers that differ: frames of ours are still on their way.
  for (uint16_t psn = 0; psn < 20; ++psn) EXPECT_EQ(Answer(psn), RpsnVerdict::kNothingNew);
  // One answer is followed by an ACK of more.
  Answer(2);
  Ack(2);
  EXPECT_EQ(Answer(2), RpsnVerdict::kNothingNew);
  Ack(0);  // that was sent before
  EXPECT_EQ(Answer(2), RpsnVerdict::kResumed);
}

TEST_F(ConnectionTest, LostConnectionProbesInTheClassOfEachVcThatWasGivenUp) {
  Send(4);
  pdus[1].vc = 1;
  pdus[3].vc = 3;
  GiveUp();
  std::vector<int> vcs;
  RpsnVerdict verdict = RpsnVerdict::kNothingNew;
  while (verdict != RpsnVerdict::kResumed && vcs.size() < 10) {
    vcs.push_back(c.tx().probes().vc());
    verdict = Answer(1);
  }
  EXPECT_EQ(vcs, (std::vector<int>{0, 1, 3}));
}

TEST_F(ConnectionTest, LostConnectionWaitsForManyAnswersWhileTheDeviceHoldsItsFrames) {
  Send(2);
  GiveUp();
  for (int i = 0; i < 7; ++i) EXPECT_EQ(Answer(1, true), RpsnVerdict::kNothingNew);
  EXPECT_EQ(Answer(1, true), RpsnVerdict::kResumed);
}

TEST_F(ConnectionTest, LostConnectionProbesInNoClassOfAnEarlierLoss) {
  Send(1);
  pdus[0].vc = 3;
  GiveUp();
  Answer(1);
  EXPECT_EQ(Answer(1), RpsnVerdict::kResumed);
  Send(1);
  GiveUp();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(c.tx().probes().vc(), 0);
    Answer(1);
  }
  EXPECT_FALSE(c.tx().lost());
}

// Neither answers nor probes, nor the PSN that the far side has named, outlive a loss.
TEST_F(ConnectionTest, SecondLossBeginsAnew) {
  Send(3);
  GiveUp();
  Answer(30);
  EXPECT_EQ(c.tx().ProbePsn(), Psn(31)) << "behind the PSN that the far side has named";
  Answer(2);
  EXPECT_EQ(Answer(2), RpsnVerdict::kResumed);
  Send(2);
  GiveUp();
  EXPECT_EQ(c.tx().ProbePsn(), Psn(5));
  EXPECT_EQ(Nack(2), RpsnVerdict::kNothingNew) << "no probe has left";
  EXPECT_EQ(Answer(2), RpsnVerdict::kNothingNew);
  EXPECT_EQ(c.tx().ProbePsn(), Psn(5 + 0x4000));
  EXPECT_EQ(c.deadline(), now + 2 * params.nack_timeout) << "time to be silent about one PSN";
  EXPECT_EQ(Answer(2), RpsnVerdict::kResumed);
}

TEST_F(ConnectionTest, GivingUpEndsAPause) {
  Send(2);
  NotReady(0);
  PduList given_up;
  c.tx().GiveUp(now, params, given_up);
  EXPECT_FALSE(c.tx().paused());
  EXPECT_EQ(Take(given_up), (Psns{0, 1}));
  Answer(0);
  EXPECT_EQ(Answer(0), RpsnVerdict::kResumed);
  EXPECT_TRUE(c.tx().CanSend(0, params));
}

TEST_F(ConnectionTest, LostConnectionSaysNothingElseThatIsAnswered) {
  Send(5);
  Ack(1);
  GiveUp();
  EXPECT_EQ(c.tx().UnsequencedPsn(), Psn(2));
  Answer(4);
  Answer(4);
  EXPECT_EQ(c.tx().UnsequencedPsn(), Psn(4));
}

// ---- Out of step.

TEST_F(ConnectionTest, AckOfTheLastPduThatWasGivenUpIsInStep) {
  Send(3);
  GiveUp();
  EXPECT_EQ(Ack(2), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.tx().desynchronized());
  EXPECT_EQ(Ack(3), RpsnVerdict::kOutOfWindow);
  EXPECT_TRUE(c.tx().desynchronized());
}

TEST_F(ConnectionTest, WhatIsBehindByMoreThanAWindowIsOutOfStep) {
  params.window_pdus = 4;
  StartAt(100);
  Send(1);
  // Names 95, five behind the oldest in flight.
  EXPECT_EQ(Ack(94), RpsnVerdict::kNothingNew);
  EXPECT_EQ(Nack(95), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.tx().desynchronized());
  EXPECT_EQ(Nack(94), RpsnVerdict::kNothingNew);
  EXPECT_TRUE(c.tx().desynchronized());
}

TEST_F(ConnectionTest, WhatNamesNeverSentPsnsSaysThatTheTwoAreOutOfStepAndChangesNothingElse) {
  Send(3);
  const Time deadline = c.deadline();
  EXPECT_FALSE(c.tx().desynchronized());
  EXPECT_EQ(Ack(100), RpsnVerdict::kOutOfWindow);
  EXPECT_TRUE(c.tx().desynchronized());
  EXPECT_EQ(c.deadline(), deadline);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  Ack(0);
  EXPECT_FALSE(c.tx().desynchronized());
  EXPECT_EQ(Nack(30), RpsnVerdict::kOutOfWindow);
  EXPECT_TRUE(c.tx().desynchronized());
  // The tries are used up, and it is known why.
  GiveUp();
  EXPECT_TRUE(c.tx().desynchronized());
  c.tx().CheckInvariants(params);
}

TEST_F(ConnectionTest, AnImplausiblePduSaysThatTheTwoAreOutOfStepUntilProgress) {
  Send(2);
  c.tx().OnImplausible();
  EXPECT_TRUE(c.tx().desynchronized());
  Ack(0);
  EXPECT_FALSE(c.tx().desynchronized());
}

TEST_F(ConnectionTest, AnRpsnCountsOnAPduThatThePeerMayHaveSent) {
  params.window_pdus = 8;
  Accept(100);
  // Nothing was heard of its window.
  EXPECT_TRUE(c.rx().IsPlausible(Psn(100 + kMaxWindowPdus + 1), params));
  EXPECT_FALSE(c.rx().IsPlausible(Psn(100 + kMaxWindowPdus + 2), params));
  c.rx().SetPeerWindow(32);
  EXPECT_TRUE(c.rx().IsPlausible(Psn(100), params));
  EXPECT_TRUE(c.rx().IsPlausible(Psn(132), params));  // its window is full, and we are not ready
  EXPECT_TRUE(c.rx().IsPlausible(Psn(133), params));  // it probes
  EXPECT_FALSE(c.rx().IsPlausible(Psn(134), params));
  EXPECT_TRUE(c.rx().IsPlausible(Psn(67), params));
  EXPECT_FALSE(c.rx().IsPlausible(Psn(66), params));
  EXPECT_FALSE(c.rx().IsPlausible(Psn(40000), params));
  params.window_pdus = 64;
  EXPECT_TRUE(c.rx().IsPlausible(Psn(165), params));
  // Its next first PSN is not known while nothing is accepted.
  c.rx().Close();
  EXPECT_TRUE(c.rx().IsPlausible(Psn(40000), params));
  c.rx().Open(Psn(40000));
  EXPECT_TRUE(c.rx().IsPlausible(Psn(40001), params));
  EXPECT_FALSE(c.rx().IsPlausible(Psn(100), params));
}

// PDUs that were sent before the window was made smaller are sent again, and acknowledged late.
TEST_F(ConnectionTest, AWindowThatWasMadeSmallerExplainsPsnsFromBefore) {
  Accept(100);
  c.rx().SetPeerWindow(32);
  c.rx().SetPeerWindow(2);
  params.window_pdus = 2;
  EXPECT_TRUE(c.rx().IsPlausible(Psn(80), params));
  EXPECT_FALSE(c.rx().IsPlausible(Psn(66), params));
  params.window_pdus = 32;
  Send(20);
  params.window_pdus = 2;
  c.OnNewParams(now, params);
  Ack(19);
  Ack(0);
  EXPECT_FALSE(c.tx().desynchronized());
  Ack(65500);
  EXPECT_TRUE(c.tx().desynchronized());
}

}  // namespace
}  // namespace suede
