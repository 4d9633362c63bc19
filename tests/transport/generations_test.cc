// SPDX-License-Identifier: Apache-2.0
// A plane's generations (docs/planes.md) and a far side that restarts, as far as a connection goes:
// Freeze, OnFenced, Abandon, Restart, CloseReceive, OpenReceive, OnNewParams, Reset.
#include "connection_fixture.h"

namespace suede {
namespace {

class GenerationsTest : public ConnectionTest {
 protected:
  bool Fenced(uint16_t expected) {
    const bool fits = c.tx().OnFenced(Psn(expected), now, params, acked);
    c.tx().CheckInvariants(params);
    return fits;
  }
  std::vector<uint16_t> Restart(uint16_t first) {
    PduList rest;
    c.tx().Restart(Psn(first), rest);
    c.tx().CheckInvariants(params);
    return Take(rest);
  }
  void Freeze() {
    c.tx().Freeze();
    c.tx().CheckInvariants(params);
  }
};

TEST_F(GenerationsTest, FrozenSendsNothingAndItsTimeStandsStill) {
  Send(3);
  Nack(0);
  Freeze();
  EXPECT_TRUE(c.tx().frozen());
  EXPECT_FALSE(c.in_flight().empty());
  EXPECT_FALSE(c.tx().CanSend(0, params));
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  EXPECT_EQ(c.deadline(), kNever);
  now += 100 * params.rto_max;
  EXPECT_EQ(c.OnTimer(now, params), TimerVerdict::kNothing);
  EXPECT_EQ(c.tx().tries(), 0u);
  Nack(0);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  NotReady(0);
  EXPECT_FALSE(c.tx().paused());
  EXPECT_FALSE(c.tx().TakeRecovery(now).has_value());
}

TEST_F(GenerationsTest, BytesInFlightAreSetAsideOnce) {
  Send(2);
  const uint32_t two = c.in_flight().bytes();
  ASSERT_GT(two, 0u);
  EXPECT_EQ(c.tx().SetAside(), two);
  EXPECT_TRUE(c.tx().has_aside());
  EXPECT_EQ(c.tx().SetAside(), 0u);
  Send(1);
  EXPECT_EQ(c.tx().SetAside(), c.in_flight().bytes() - two);
  EXPECT_EQ(c.tx().TakeBack(), c.in_flight().bytes());
  EXPECT_FALSE(c.tx().has_aside());
  EXPECT_EQ(c.tx().TakeBack(), 0u);
}

TEST_F(GenerationsTest, FrozenStillHearsAcknowledgements) {
  Send(3);
  Freeze();
  EXPECT_EQ(Ack(1), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0, 1}));
  EXPECT_FALSE(c.in_flight().empty());
  EXPECT_TRUE(c.tx().frozen());
  c.OnTimer(now + params.rto_max, params);
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(GenerationsTest, PausedConnectionThatIsFrozenIsNotPausedAnyMore) {
  Send(2);
  NotReady(0);
  Freeze();
  EXPECT_FALSE(c.tx().paused());
  EXPECT_FALSE(c.tx().CanSend(0, params));
}

TEST_F(GenerationsTest, LostConnectionThatIsFrozenHasNothingInDoubt) {
  Send(2);
  GiveUp();
  Freeze();
  EXPECT_FALSE(c.tx().lost());
  EXPECT_TRUE(c.in_flight().empty());
  EXPECT_EQ(Restart(500), Psns{});
  EXPECT_TRUE(c.tx().CanSend(0, params));
}

TEST_F(GenerationsTest, FencedAcknowledgesWhatIsBeforeItAndTheRestMovesInOrder) {
  Send(5);
  Freeze();
  EXPECT_TRUE(Fenced(2));
  EXPECT_EQ(Acked(), (Psns{0, 1}));
  EXPECT_TRUE(Fenced(2));  // once more
  EXPECT_EQ(Acked(), Psns{});
  EXPECT_EQ(Restart(1000), (Psns{2, 3, 4}));
  EXPECT_FALSE(c.tx().frozen());
  EXPECT_TRUE(c.in_flight().empty());
  EXPECT_EQ(c.in_flight().bytes(), 0u);
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(GenerationsTest, FencedThatComesAfterALaterAcknowledgementFits) {
  Send(3);
  Freeze();
  Ack(2);
  Acked();
  EXPECT_TRUE(Fenced(1));
  EXPECT_EQ(Acked(), Psns{});
}

TEST_F(GenerationsTest, FencedOfWhatWasNeverSentDoesNotFit) {
  Send(3);
  Freeze();
  EXPECT_FALSE(Fenced(4));
  EXPECT_EQ(Acked(), Psns{});
  EXPECT_EQ(c.in_flight().count(), 3u);
}

TEST_F(GenerationsTest, RestartGoesOnWithTheGivenPsnAndForgetsTheFormerOnes) {
  Send(3);
  Expire();
  Freeze();
  EXPECT_EQ(Restart(0x8003), (Psns{0, 1, 2}));
  EXPECT_EQ(c.in_flight().next_psn(), Psn(0x8003));
  EXPECT_EQ(c.in_flight().oldest_psn(), Psn(0x8003));
  EXPECT_EQ(c.tx().tries(), 0u);
  EXPECT_EQ(Ack(2), RpsnVerdict::kNothingNew);
  EXPECT_TRUE(c.tx().CanSend(0, params));
  Send(2);
  EXPECT_EQ(pdus.back().psn, Psn(0x8004));
  EXPECT_EQ(Ack(0x8004), RpsnVerdict::kProgress);
}

TEST_F(GenerationsTest, NackOfANewGenerationIsHeededAtOnce) {
  Send(1);
  now += milliseconds(3);
  Ack(0);
  Send(2);
  Nack(1);
  Retransmit();
  Restart(1);
  Send(2);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2}));
}

TEST_F(GenerationsTest, RestartEndsEveryWayOfStandingStill) {
  Send(2);
  NotReady(0);
  Restart(10);
  EXPECT_TRUE(c.tx().CanSend(0, params));
  Send(2);
  GiveUp();
  Restart(20);
  EXPECT_TRUE(c.tx().CanSend(0, params));
  Ack(5000);
  EXPECT_TRUE(c.tx().desynchronized());
  Restart(30);
  EXPECT_FALSE(c.tx().desynchronized());
  Send(1);
  GiveUp();
  c.tx().probes().OnSent(false);
  EXPECT_EQ(c.tx().ProbePsn(), Psn(32 + 0x4000)) << "not behind the PSN that was named before";
}

TEST_F(GenerationsTest, AbandonGivesUpAndKeepsThePsn) {
  Send(3);
  Nack(1);
  Freeze();
  PduList given_up;
  c.tx().Abandon(given_up);
  c.tx().CheckInvariants(params);
  EXPECT_EQ(Take(given_up), (Psns{1, 2}));
  EXPECT_TRUE(c.in_flight().empty());
  EXPECT_EQ(c.in_flight().bytes(), 0u);
  EXPECT_EQ(c.in_flight().next_psn(), Psn(3));
  EXPECT_EQ(c.deadline(), kNever);
  // The answer to the FENCE comes after all: with any valid count it fits.
  EXPECT_TRUE(Fenced(2));
  EXPECT_FALSE(Fenced(4));
}

TEST_F(GenerationsTest, ClosedReceivingEndsWithAnotherGeneration) {
  Accept(5);
  EXPECT_FALSE(c.rx().closed());
  c.rx().Close();
  EXPECT_TRUE(c.rx().closed());
  EXPECT_EQ(c.rx().expected(), Psn(5));
  c.rx().Open(Psn(0x8005));
  EXPECT_FALSE(c.rx().closed());
  EXPECT_EQ(c.rx().expected(), Psn(0x8005));
  EXPECT_NE(c.rx().Classify(Psn(5)), PsnVerdict::kExpected);
  EXPECT_EQ(c.rx().Classify(Psn(0x8005)), PsnVerdict::kExpected);
  c.tx().CheckInvariants(params);
}

TEST_F(GenerationsTest, ClosedReceivingEndAcknowledgesNothing) {
  c.rx().Close();
  c.rx().AckNow();
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNothing) << "the first PSN is not known";
  c.rx().Open(Psn(7));
  c.rx().Accept();
  c.rx().OnGap(now, params);
  c.rx().Close();
  EXPECT_FALSE(c.rx().HasPendingAck()) << "of the generation that has ended";
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNothing);
  c.rx().Open(Psn(100));
  c.rx().Accept();
  EXPECT_EQ(c.rx().TakeRpsn().rpsn, Psn(100));
}

TEST_F(GenerationsTest, WhatIsOwedOfOneGenerationIsNotSaidOfAnother) {
  c.rx().Accept();
  c.rx().OnGap(now, params);
  c.rx().OnDuplicate(Psn(0), params);
  c.rx().OnRefused();
  c.rx().OnAnnounced(Psn(9), now, params);
  c.rx().Open(Psn(100));
  EXPECT_FALSE(c.rx().HasPendingAck());
  EXPECT_FALSE(c.rx().not_ready());
  EXPECT_EQ(c.deadline(), kNever);
  c.rx().OnGap(now, params);  // at once, though the last NACK is young
  EXPECT_EQ(c.rx().TakeRpsn().rpsn, Psn(100));
}

TEST_F(GenerationsTest, NackForOverdueDataIsNoReasonToDoubtTheNextGeneration) {
  Lose();
  const Psn late = c.rx().expected();
  c.rx().OnAnnounced(late.Next(), now, params);
  Expire();
  EXPECT_EQ(c.rx().TakeRpsn().rpsn, late);
  c.rx().Open(late.Next());
  c.rx().OnDuplicate(late, params);
  EXPECT_EQ(c.rx().ReorderAllowance(params), params.reorder_allowance);
}

TEST_F(GenerationsTest, GapThatWasAnnouncedBeforeClosingIsNotReported) {
  c.rx().OnAnnounced(Psn(9), now, params);
  c.rx().Close();
  Expire();
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(GenerationsTest, NewParametersShortenEachWaitThatHasBegun) {
  TransportParams shorter = params;
  shorter.rto_initial = shorter.rto_min = microseconds(50);
  shorter.rto_max = microseconds(100);
  shorter.reorder_allowance = microseconds(1);
  const auto change = [&] {
    c.OnNewParams(now, shorter);
    c.tx().CheckInvariants(params);
    return c.deadline() - now;
  };
  c.OnNewParams(now, shorter);
  EXPECT_EQ(c.deadline(), kNever);  // nothing is waited for
  c.rx().OnAnnounced(Psn(9), now, params);
  EXPECT_EQ(change(), shorter.rto_initial);
  Expire();
  c.rx().TakeRpsn();
  Send(2);
  EXPECT_EQ(change(), shorter.rto_initial);
  NotReady(0, milliseconds(100));
  EXPECT_EQ(change(), milliseconds(100)) << "the far side has asked for it";
  Expire();
  Retransmit();
  EXPECT_EQ(change(), shorter.rto_initial);
  c.OnNewParams(now, params);
  EXPECT_EQ(c.deadline() - now, shorter.rto_initial);  // never longer
  GiveUp();
  EXPECT_EQ(change(), shorter.rto_max);
}

TEST_F(GenerationsTest, ResetKeepsTheNeedsOfCongestionControl) {
  for (const bool needs : {true, false}) {
    c.rx().SetCounted(needs);
    c.rx().SetRecorded(!needs);
    c.rx().SetPromptAcks(needs);
    PduList given_up;
    c.Reset(given_up);
    EXPECT_EQ(c.rx().counted(), needs);
    EXPECT_EQ(c.rx().recorded(), !needs);
    c.rx().Accept();
    EXPECT_EQ(c.rx().MustAckNow(params), needs);
  }
}

TEST_F(GenerationsTest, ResetKeepsTheCountsOfWhatWasCarriedAndNothingElse) {
  Accept(2);
  Send(3);
  Expire();
  Retransmit();
  Ack(0);
  Acked();
  c.rx().Close();
  c.rx().SetPeerWindow(1);
  PduList given_up;
  c.Reset(given_up);
  c.tx().CheckInvariants(params);
  EXPECT_EQ(Take(given_up), (Psns{1, 2}));
  EXPECT_EQ(c.tx().tx_pdus(), 3u);
  EXPECT_EQ(c.rx().rx_pdus(), 2u);
  EXPECT_EQ(c.tx().retransmissions(), 3u);
  EXPECT_EQ(c.tx().tries(), 0u);
  EXPECT_EQ(c.tx().round_trip().srtt(), Duration(0));
  EXPECT_FALSE(c.rx().closed());
  EXPECT_TRUE(c.in_flight().empty());
  EXPECT_TRUE(c.rx().IsPlausible(Psn(kMaxWindowPdus), params));
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNothing);
}

}  // namespace
}  // namespace suede
