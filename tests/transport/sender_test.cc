// SPDX-License-Identifier: Apache-2.0
// The sender's rules of the wire profile §6: windows, ACK, NACK, timeouts, pauses, a lost far side.
#include "connection_fixture.h"

namespace suede {
namespace {

// ---- Windows and serial numbers.

TEST_F(ConnectionTest, FirstPsnIsZeroAndEachPduTakesTheNext) {
  EXPECT_EQ(c.next_psn(), Psn(0));
  Send(3);
  EXPECT_EQ(pdus[0].psn, Psn(0));
  EXPECT_EQ(pdus[2].psn, Psn(2));
  EXPECT_EQ(c.next_psn(), Psn(3));
}

TEST_F(ConnectionTest, WindowOfPdusIsFullAtItsEdge) {
  params.window_pdus = 4;
  Send(4);
  EXPECT_FALSE(c.CanSend(0, params));
  Ack(0);
  Send(1);
  EXPECT_FALSE(c.CanSend(0, params));
}

TEST_F(ConnectionTest, WindowOfOneSendsOneAtATime) {
  params.window_pdus = 1;
  for (uint16_t psn = 0; psn < 10; ++psn) {
    Send(1);
    EXPECT_FALSE(c.CanSend(0, params));
    EXPECT_EQ(Ack(psn), RpsnVerdict::kProgress);
  }
}

TEST_F(ConnectionTest, WindowOfBytesIsFullAtItsEdge) {
  params.window_bytes = 1000;
  Send(3, 300);
  EXPECT_TRUE(c.CanSend(100, params));
  EXPECT_FALSE(c.CanSend(101, params));
  Send(1, 100);
  EXPECT_EQ(c.unacked_bytes(), 1000u);
  Ack(0);
  EXPECT_TRUE(c.CanSend(300, params));
  EXPECT_FALSE(c.CanSend(301, params));
}

TEST_F(ConnectionTest, PduAboveTheWindowOfBytesGoesAlone) {
  params.window_bytes = 100;
  Send(1, 4096);
  EXPECT_FALSE(c.CanSend(1, params));
  Ack(0);
  EXPECT_TRUE(c.CanSend(4096, params));
}

TEST_F(ConnectionTest, LargestWindowAcrossTheWrap) {
  params.window_pdus = kMaxWindowPdus;
  params.window_bytes = ~0u;
  StartAt(60000);
  Send(kMaxWindowPdus);
  EXPECT_FALSE(c.CanSend(0, params));
  EXPECT_EQ(c.next_psn(), Psn(static_cast<uint16_t>(60000 + kMaxWindowPdus)));
  // The oldest, one in the middle behind the wrap, the newest.
  EXPECT_EQ(Ack(60000), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked().size(), 1u);
  EXPECT_EQ(Ack(100), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked().size(), 65536u - 60000u + 100u);
  EXPECT_EQ(Ack(static_cast<uint16_t>(60000 + kMaxWindowPdus - 1)), RpsnVerdict::kProgress);
  EXPECT_EQ(c.unacked_count(), 0u);
}

TEST_F(ConnectionTest, PsnWrapsFrom65535To0) {
  StartAt(65534);
  Send(4);
  EXPECT_EQ(pdus.back().psn, Psn(1));
  EXPECT_EQ(Ack(65535), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{65534, 65535}));
  EXPECT_EQ(Nack(1), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0}));
  EXPECT_EQ(Retransmit(), (Psns{1}));
}

// ---- ACK.

TEST_F(ConnectionTest, AckIsCumulative) {
  Send(5);
  EXPECT_EQ(Ack(3), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0, 1, 2, 3}));
  EXPECT_EQ(c.unacked_count(), 1u);
  EXPECT_EQ(c.unacked_bytes(), 100u);
}

TEST_F(ConnectionTest, AckOfTheLastEndsTheTimer) {
  Send(2);
  EXPECT_NE(c.deadline(), kNever);
  Ack(1);
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(ConnectionTest, AckOfNeverSentIsIgnored) {
  EXPECT_EQ(Ack(0), RpsnVerdict::kOutOfWindow);
  Send(3);
  EXPECT_EQ(Ack(3), RpsnVerdict::kOutOfWindow);
  EXPECT_EQ(Ack(30000), RpsnVerdict::kOutOfWindow);
  EXPECT_EQ(c.unacked_count(), 3u);
}

TEST_F(ConnectionTest, StaleAckIsNothingNew) {
  Send(4);
  Ack(2);
  Acked();
  for (const int stale : {2, 1, 0, 65535, 40000}) {
    EXPECT_EQ(Ack(static_cast<uint16_t>(stale)), RpsnVerdict::kNothingNew) << stale;
  }
  EXPECT_EQ(c.unacked_count(), 1u);
  EXPECT_TRUE(Acked().empty());
}

TEST_F(ConnectionTest, AckBeforeAnythingWasAcceptedIsNothingNew) {
  Send(2);
  EXPECT_EQ(Ack(65535), RpsnVerdict::kNothingNew);
  EXPECT_EQ(c.unacked_count(), 2u);
}

TEST_F(ConnectionTest, AckDuringRetransmissionMovesItForward) {
  Send(5);
  Nack(0);
  EXPECT_EQ(c.TakeRetransmission(now, params)->psn, Psn(0));
  Ack(2);
  EXPECT_EQ(Retransmit(), (Psns{3, 4}));
  Nack(3);
  Ack(4);
  EXPECT_FALSE(c.HasRetransmission());
}

// ---- NACK.

TEST_F(ConnectionTest, NackAcknowledgesEverythingBeforeIt) {
  Send(5);
  EXPECT_EQ(Nack(3), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0, 1, 2}));
}

TEST_F(ConnectionTest, NackRetransmitsInOrderFromRpsnOn) {
  Send(5);
  Nack(2);
  EXPECT_EQ(Retransmit(), (Psns{2, 3, 4}));
  EXPECT_TRUE(pdus[2].retransmitted);
}

TEST_F(ConnectionTest, NothingNewIsSentWhileGoingBack) {
  Send(3);
  Nack(0);
  EXPECT_FALSE(c.CanSend(0, params));
  Retransmit();
  EXPECT_TRUE(c.CanSend(0, params));
}

TEST_F(ConnectionTest, NackForTheSameRpsnGoesBackOncePerRoundTrip) {
  Send(1);
  now += microseconds(50);
  Ack(0);  // the round trip is 50 us
  ASSERT_EQ(c.srtt(), microseconds(50));
  Send(3);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2, 3}));
  now += microseconds(49);
  EXPECT_EQ(Nack(1), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.HasRetransmission());
  now += microseconds(1);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2, 3}));
}

TEST_F(ConnectionTest, NackForAnotherRpsnGoesBackAtOnce) {
  Send(1);
  now += microseconds(50);
  Ack(0);
  Send(3);
  Nack(1);
  Retransmit();
  Nack(2);
  EXPECT_EQ(Retransmit(), (Psns{2, 3}));
}

TEST_F(ConnectionTest, NackOfTheNextPsnOnlyAcknowledges) {
  Send(3);
  EXPECT_EQ(Nack(3), RpsnVerdict::kProgress);
  EXPECT_EQ(c.unacked_count(), 0u);
  EXPECT_FALSE(c.HasRetransmission());
}

TEST_F(ConnectionTest, NackOfNeverSentIsIgnored) {
  Send(3);
  EXPECT_EQ(Nack(4), RpsnVerdict::kOutOfWindow);
  EXPECT_EQ(c.unacked_count(), 3u);
  EXPECT_FALSE(c.HasRetransmission());
}

TEST_F(ConnectionTest, StaleNackIsNothingNew) {
  Send(4);
  Ack(2);
  EXPECT_EQ(Nack(1), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.HasRetransmission());
}

// ---- Timeouts.

TEST_F(ConnectionTest, NoProgressWithinTheTimeoutRetransmitsEverything) {
  Send(3);
  EXPECT_EQ(c.deadline(), now + params.rto_initial);
  now = c.deadline() - Duration(1);
  EXPECT_EQ(c.OnTimer(now, params), TimerVerdict::kNothing);
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{0, 1, 2}));
}

TEST_F(ConnectionTest, ProgressStartsTheTimeoutAnew) {
  Send(2);
  now += params.rto_initial - Duration(1);
  Ack(0);
  EXPECT_GT(c.deadline(), now + params.rto_min - Duration(1));
}

TEST_F(ConnectionTest, TimeoutBacksOffExponentiallyUpToItsBound) {
  params.rto_initial = milliseconds(5);
  params.rto_max = milliseconds(50);
  params.max_tries = 6;
  Send(1);
  std::vector<Duration> waits;
  for (int i = 0; i < 6; ++i) {
    const Time armed = now;
    ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
    waits.push_back(now - armed);
    Retransmit();
  }
  EXPECT_EQ(waits, (std::vector<Duration>{milliseconds(5), milliseconds(10), milliseconds(20),
                                          milliseconds(40), milliseconds(50), milliseconds(50)}));
}

TEST_F(ConnectionTest, ProgressEndsTheBackOff) {
  Send(2);
  Expire();
  Retransmit();
  EXPECT_EQ(c.tries(), 1u);
  Ack(0);
  EXPECT_EQ(c.tries(), 0u);
  EXPECT_EQ(c.deadline(), now + params.rto_initial);  // Karn: no round trip was measured
}

TEST_F(ConnectionTest, TimeoutFollowsTheMeasuredRoundTrip) {
  params.rto_min = microseconds(1);
  for (int i = 0; i < 100; ++i) {
    Send(1);
    now += microseconds(300);
    Ack(static_cast<uint16_t>(i));
  }
  EXPECT_EQ(c.srtt(), microseconds(300));
  EXPECT_GE(c.rto(params), microseconds(300) + params.ack_delay);
  EXPECT_LE(c.rto(params), microseconds(310) + params.ack_delay);
}

TEST_F(ConnectionTest, FirstRoundTripCountsWithHalfOfItAsItsVariation) {
  Send(1);
  now += milliseconds(2);
  Ack(0);
  EXPECT_EQ(c.rto(params), milliseconds(2) + 4 * milliseconds(1) + params.ack_delay);
}

TEST_F(ConnectionTest, TimeoutKeepsItsBounds) {
  Send(1);
  now += Duration(1);
  Ack(0);
  EXPECT_EQ(c.rto(params), params.rto_min);
  Send(1);
  now += std::chrono::seconds(30);
  Ack(1);
  EXPECT_EQ(c.rto(params), params.rto_max);
}

TEST_F(ConnectionTest, KarnRetransmittedPdusGiveNoRoundTrip) {
  Send(1);
  Expire();
  Retransmit();
  now += microseconds(3);
  Ack(0);
  EXPECT_EQ(c.srtt(), Duration(0));
  Send(1);
  now += microseconds(70);
  Ack(1);
  EXPECT_EQ(c.srtt(), microseconds(70));
}

TEST_F(ConnectionTest, UnreachableAfterMaxTries) {
  params.max_tries = 3;
  Send(4);
  EXPECT_EQ(GiveUp(), (Psns{0, 1, 2, 3}));
  EXPECT_TRUE(c.lost());
  EXPECT_FALSE(c.CanSend(0, params));
  EXPECT_EQ(c.unacked_bytes(), 0u);
}

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
  EXPECT_EQ(c.ProbePsn(), Psn(6));
  EXPECT_EQ(Answer(2), RpsnVerdict::kNothingNew);  // 0 and 1 had arrived
  EXPECT_TRUE(c.lost());
  EXPECT_EQ(Nack(2), RpsnVerdict::kNothingNew);  // a copy of the answer
  EXPECT_TRUE(c.lost());
  EXPECT_LT(c.deadline(), now + params.rto_max);
  EXPECT_EQ(Answer(2), RpsnVerdict::kResumed);
  EXPECT_TRUE(Acked().empty());
  EXPECT_FALSE(c.lost());
  EXPECT_EQ(c.next_psn(), Psn(2));
  EXPECT_FALSE(c.HasRetransmission());
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
  EXPECT_EQ(c.next_psn(), Psn(0));
  Send(5);
  GiveUp();
  Answer(5);
  EXPECT_EQ(Answer(5), RpsnVerdict::kResumed);
  EXPECT_EQ(c.next_psn(), Psn(5));
}

TEST_F(ConnectionTest, LostConnectionResumesWhereverTheFarSideIs) {
  for (const int where : {3, 300, 20000, 40000, 65535}) {
    Send(3);
    GiveUp();
    const auto psn = static_cast<uint16_t>(where);
    Answer(psn);
    EXPECT_EQ(Answer(psn), RpsnVerdict::kResumed) << where;
    EXPECT_EQ(c.next_psn(), Psn(psn));
    EXPECT_FALSE(c.desynchronized());
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
  EXPECT_EQ(c.ProbePsn(), Psn(4));
  Expire();
  c.OnProbeSent(false);
  EXPECT_EQ(c.ProbePsn(), Psn(31));
  Answer(30);
  EXPECT_EQ(c.ProbePsn(), Psn(4));
  Expire();
  c.OnProbeSent(false);
  EXPECT_EQ(Answer(30), RpsnVerdict::kResumed);
  EXPECT_EQ(c.next_psn(), Psn(30));
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
    vcs.push_back(c.ProbeVc());
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

TEST_F(ConnectionTest, LostConnectionSaysNothingElseThatIsAnswered) {
  Send(5);
  Ack(1);
  GiveUp();
  EXPECT_EQ(c.UnsequencedPsn(), Psn(2));
  Answer(4);
  Answer(4);
  EXPECT_EQ(c.UnsequencedPsn(), Psn(4));
}

// ---- Out of step.

TEST_F(ConnectionTest, WhatNamesNeverSentPsnsSaysThatTheTwoAreOutOfStepAndChangesNothingElse) {
  Send(3);
  const Time deadline = c.deadline();
  EXPECT_FALSE(c.desynchronized());
  EXPECT_EQ(Ack(100), RpsnVerdict::kOutOfWindow);
  EXPECT_TRUE(c.desynchronized());
  EXPECT_EQ(c.deadline(), deadline);
  EXPECT_FALSE(c.HasRetransmission());
  Ack(0);
  EXPECT_FALSE(c.desynchronized());
  EXPECT_EQ(Nack(30), RpsnVerdict::kOutOfWindow);
  EXPECT_TRUE(c.desynchronized());
  // The tries are used up, and it is known why.
  GiveUp();
  EXPECT_TRUE(c.desynchronized());
  c.CheckInvariants(params);
}

TEST_F(ConnectionTest, AnRpsnCountsOnAPduThatThePeerMayHaveSent) {
  params.window_pdus = 8;
  Accept(100);
  // Nothing was heard of its window.
  EXPECT_TRUE(c.IsPlausible(Psn(100 + kMaxWindowPdus + 1), params));
  EXPECT_FALSE(c.IsPlausible(Psn(100 + kMaxWindowPdus + 2), params));
  c.SetPeerWindow(32);
  EXPECT_TRUE(c.IsPlausible(Psn(100), params));
  EXPECT_TRUE(c.IsPlausible(Psn(132), params));  // its window is full, and we are not ready
  EXPECT_TRUE(c.IsPlausible(Psn(133), params));  // it probes
  EXPECT_FALSE(c.IsPlausible(Psn(134), params));
  EXPECT_TRUE(c.IsPlausible(Psn(67), params));
  EXPECT_FALSE(c.IsPlausible(Psn(66), params));
  EXPECT_FALSE(c.IsPlausible(Psn(40000), params));
  params.window_pdus = 64;
  EXPECT_TRUE(c.IsPlausible(Psn(165), params));
  // Its next first PSN is not known while nothing is accepted.
  c.CloseReceive();
  EXPECT_TRUE(c.IsPlausible(Psn(40000), params));
  c.OpenReceive(Psn(40000));
  EXPECT_TRUE(c.IsPlausible(Psn(40001), params));
  EXPECT_FALSE(c.IsPlausible(Psn(100), params));
}

// PDUs that were sent before the window was made smaller are sent again, and acknowledged late.
TEST_F(ConnectionTest, AWindowThatWasMadeSmallerExplainsPsnsFromBefore) {
  Accept(100);
  c.SetPeerWindow(32);
  c.SetPeerWindow(2);
  params.window_pdus = 2;
  EXPECT_TRUE(c.IsPlausible(Psn(80), params));
  EXPECT_FALSE(c.IsPlausible(Psn(66), params));
  params.window_pdus = 32;
  Send(20);
  params.window_pdus = 2;
  c.OnNewParams(now, params);
  Ack(19);
  Ack(0);
  EXPECT_FALSE(c.desynchronized());
  Ack(65500);
  EXPECT_TRUE(c.desynchronized());
}

// ---- A PDU that cannot pass.

// The far side hears the PDUs behind the lost one, and reports the gap again and again.
TEST_F(ConnectionTest, NacksDoNotPutOffTheTimeoutOfAPduThatMakesNoProgress) {
  params.max_tries = 3;
  Send(1);
  now += microseconds(50);
  Ack(0);
  Send(4);
  int unreachable = 0;
  for (int i = 0; i < 1000 && unreachable == 0; ++i) {
    now += params.nack_timeout;
    Nack(1);
    Retransmit();
    if (c.deadline() > now) continue;
    unreachable = c.OnTimer(now, params) == TimerVerdict::kUnreachable;
    Retransmit();
  }
  EXPECT_EQ(unreachable, 1);
}

TEST_F(ConnectionTest, NacksBeforeTheFirstRoundTripGoBackOncePerTimeout) {
  Send(8);
  size_t sent_again = 0;
  for (int i = 0; i < 20; ++i) {
    now += microseconds(100);
    Nack(0);
    sent_again += Retransmit().size();
  }
  EXPECT_EQ(sent_again, 8u);
  now += params.rto_initial;
  Nack(0);
  EXPECT_EQ(Retransmit().size(), 8u);
}

// Where the port was busy, the timeout counts from the time at which the PDU has in fact left
// again: once.
TEST_F(ConnectionTest, TimeoutCountsFromTheRetransmissionThatItAskedFor) {
  Send(2);
  ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
  const Time asked = c.deadline();
  now += microseconds(700);
  Retransmit();
  EXPECT_EQ(c.deadline(), asked + microseconds(700));
  now += 2 * params.rto_initial - microseconds(100);
  const Time armed = c.deadline();
  Nack(0);
  Retransmit();
  EXPECT_EQ(c.deadline(), armed);
}

// A network that repeats a NOT_READY neither makes the wait longer nor begins it anew.
TEST_F(ConnectionTest, CopiesOfANotReadyDoNotProlongTheWait) {
  Send(2);
  NotReady(0, microseconds(300));
  const Time ends = c.deadline();
  for (int i = 0; i < 10; ++i) {
    now += microseconds(10);
    NotReady(0, microseconds(300));
  }
  EXPECT_EQ(c.deadline(), ends);
}

// A receiver that is not ready is there. One that says so of a PDU, and then nothing more, is not.
TEST_F(ConnectionTest, PduThatIsLostAfterANotReadyIsUnreachableAsAnyOther) {
  Send(1);
  NotReady(0);
  ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
  Retransmit();
  GiveUp();
  EXPECT_TRUE(c.lost());
}

TEST_F(ConnectionTest, NotReadysBeforeItWasLostDoNotProlongTheWaitAfterIt) {
  Send(1);
  for (int i = 0; i < 4; ++i) {
    NotReady(0);
    ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
    Retransmit();
  }
  GiveUp();
  while (c.lost()) Answer(0);
  Send(1);
  NotReady(0);
  EXPECT_EQ(c.deadline(), now + params.not_ready_backoff);
}

TEST_F(ConnectionTest, ResetGivesUpWhatIsInFlightAndStartsAtPsnZero) {
  Accept(3);
  Send(3);
  Ack(0);
  Acked();
  PduList given_up;
  c.Reset(given_up);
  EXPECT_EQ(Take(given_up), (Psns{1, 2}));
  EXPECT_EQ(c.next_psn(), Psn(0));
  EXPECT_EQ(c.expected(), Psn(0));
  EXPECT_FALSE(c.HasHistory());
  EXPECT_EQ(c.deadline(), kNever);
  c.CheckInvariants(params);
}

// ---- NOT_READY and READY.

TEST_F(ConnectionTest, NotReadyAcknowledgesWhatIsBeforeItAndPauses) {
  Send(4);
  EXPECT_EQ(NotReady(2), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0, 1}));
  EXPECT_FALSE(c.CanSend(0, params));
  EXPECT_FALSE(c.HasRetransmission());
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{2, 3}));
}

TEST_F(ConnectionTest, NotReadyPauseIsNotCountedAsATry) {
  Send(1);
  for (uint32_t i = 0; i < 3 * params.max_tries; ++i) {
    NotReady(0);
    ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
    EXPECT_EQ(c.tries(), 0u);
    Retransmit();
  }
}

TEST_F(ConnectionTest, NotReadyForgetsTheTriesBefore) {
  Send(1);
  Expire();
  Retransmit();
  EXPECT_EQ(c.tries(), 1u);
  NotReady(0);
  EXPECT_EQ(c.tries(), 0u);
}

TEST_F(ConnectionTest, NotReadyPausesAsLongAsAskedAndLongerEachTime) {
  params.not_ready_backoff = microseconds(100);
  params.rto_max = milliseconds(2);
  Send(1);
  std::vector<Duration> waits;
  for (int i = 0; i < 5; ++i) {
    NotReady(0, microseconds(250));
    waits.push_back(c.deadline() - now);
    Expire();
    Retransmit();
  }
  EXPECT_EQ(waits, (std::vector<Duration>{microseconds(250), microseconds(500), microseconds(1000),
                                          microseconds(2000), microseconds(2000)}));
  Ack(0);
  Send(1);
  NotReady(1, microseconds(1));
  EXPECT_EQ(c.deadline() - now, params.not_ready_backoff);
}

TEST_F(ConnectionTest, NackDuringAPauseDoesNotEndIt) {
  Send(3);
  NotReady(1);
  EXPECT_EQ(Nack(1), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.HasRetransmission());
  EXPECT_FALSE(c.CanSend(0, params));
}

TEST_F(ConnectionTest, ReadyResumesAtOnce) {
  Send(3);
  NotReady(1, milliseconds(100));
  now += microseconds(10);
  c.OnReady(Psn(1), now);
  EXPECT_EQ(c.OnTimer(now, params), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{1, 2}));
}

TEST_F(ConnectionTest, ReadyForAnotherPsnOrWithoutAPauseIsIgnored) {
  Send(3);
  const Time deadline = c.deadline();
  c.OnReady(Psn(0), now);
  EXPECT_EQ(c.deadline(), deadline);
  NotReady(1, milliseconds(100));
  const Time paused_until = c.deadline();
  c.OnReady(Psn(2), now);
  EXPECT_EQ(c.deadline(), paused_until);
}

TEST_F(ConnectionTest, NotReadyOfStaleOrNeverSentIsIgnored) {
  EXPECT_EQ(NotReady(0), RpsnVerdict::kNothingNew);
  Send(3);
  Ack(1);
  EXPECT_EQ(NotReady(1), RpsnVerdict::kNothingNew);
  EXPECT_EQ(NotReady(4), RpsnVerdict::kOutOfWindow);
  EXPECT_TRUE(c.CanSend(0, params));
}

// ---- Reports on the path.

TEST_F(ConnectionTest, AgeIsFromTheBeginOfThePduOverAllItsTransmissions) {
  pdus.emplace_back();
  pdus.back().sent_at = now;  // as packing does
  now += microseconds(10);
  c.OnSend(&pdus.back(), now, params);
  EXPECT_EQ(pdus[0].Age(now + microseconds(5)), microseconds(15));
  Expire();
  const Time again = now;
  Retransmit();
  now += microseconds(7);
  EXPECT_EQ(RttSample(pdus[0], now), std::nullopt);
  EXPECT_LE(pdus[0].Age(now), again - Time{} + microseconds(7));
  EXPECT_GT(pdus[0].Age(now) + Duration(64), params.rto_initial + microseconds(17));
}

TEST_F(ConnectionTest, AWaitOfMoreThanAMinuteStaysAMinute) {
  Pdu pdu;
  pdu.NoteSent(TimeFromNs(0) + std::chrono::hours(1));
  EXPECT_GT(pdu.Age(pdu.sent_at), std::chrono::minutes(1));
  EXPECT_LT(pdu.Age(pdu.sent_at), std::chrono::minutes(2));
  pdu.NoteSent(pdu.sent_at + std::chrono::hours(1));
  EXPECT_LT(pdu.Age(pdu.sent_at), std::chrono::minutes(2));
}

TEST_F(ConnectionTest, RecoveryEndsWhenAllIsAcknowledgedThatWasInFlightAtTheGoBack) {
  Send(4);
  EXPECT_FALSE(c.TakeRecovery(now).has_value());
  const Time began = now;
  Nack(1);
  EXPECT_FALSE(c.TakeRecovery(now).has_value());
  EXPECT_EQ(Retransmit(), (std::vector<uint16_t>{1, 2, 3}));
  Send(2);  // not part of it
  now += microseconds(30);
  Ack(2);
  EXPECT_FALSE(c.TakeRecovery(now).has_value());
  now += microseconds(10);
  Ack(3);
  const std::optional<Recovery> recovery = c.TakeRecovery(now);
  ASSERT_TRUE(recovery.has_value());
  EXPECT_EQ(recovery->pdus, 3);
  EXPECT_EQ(recovery->took, now - began);
  EXPECT_FALSE(c.TakeRecovery(now).has_value());
}

TEST_F(ConnectionTest, GoingBackOnceMoreBelongsToTheSameRecovery) {
  Send(3);
  const Time began = now;
  Nack(0);
  Retransmit();
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  Retransmit();
  Ack(2);
  const std::optional<Recovery> recovery = c.TakeRecovery(now);
  ASSERT_TRUE(recovery.has_value());
  EXPECT_EQ(recovery->pdus, 6);
  EXPECT_EQ(recovery->took, now - began);
}

TEST_F(ConnectionTest, GivingUpIsNoRecovery) {
  Send(2);
  Nack(0);
  Retransmit();
  GiveUp();
  Answer(1);
  Answer(1);
  EXPECT_FALSE(c.TakeRecovery(now).has_value());
}

}  // namespace
}  // namespace suede
