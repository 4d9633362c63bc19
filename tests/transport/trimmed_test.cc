// SPDX-License-Identifier: Apache-2.0
// PDUs that come without their commands, and what congestion control needs of a connection besides.
#include "connection_fixture.h"

namespace suede {
namespace {

class TrimmedTest : public ConnectionTest {
 protected:
  bool Trimmed(uint16_t psn) { return c.rx().OnTrimmed(Psn(psn), kBaseRtt, now, params); }
  bool Check() { return c.rx().CheckTrimmed(kBaseRtt, now); }
  void ExpectNack(uint16_t psn) {
    EXPECT_TRUE(c.rx().MustAckNow(params));
    const RpsnField field = c.rx().TakeRpsn();
    EXPECT_EQ(field.op, RhOp::kNack);
    EXPECT_EQ(field.rpsn, Psn(psn));
  }

  static constexpr Duration kBaseRtt = microseconds(10);
};

TEST_F(TrimmedTest, ExpectedPduIsMissedAtOnce) {
  Accept(2);
  EXPECT_TRUE(Trimmed(2));
  ExpectNack(2);
  EXPECT_FALSE(c.rx().awaits_trimmed());
  EXPECT_EQ(c.rx().expected(), Psn(2));
}

TEST_F(TrimmedTest, PduAheadIsMissedAsSoonAsThoseInFrontHaveCome) {
  Accept(2);
  EXPECT_TRUE(Trimmed(5));
  EXPECT_TRUE(Trimmed(4));
  EXPECT_TRUE(Trimmed(6));
  EXPECT_FALSE(c.rx().HasPendingAck());
  Accept(1);
  EXPECT_FALSE(Check());
  EXPECT_TRUE(c.rx().awaits_trimmed());
  Accept(1);
  EXPECT_TRUE(Check());
  EXPECT_FALSE(c.rx().awaits_trimmed());
  ExpectNack(4);
}

TEST_F(TrimmedTest, PduThatCameWholeMeanwhileIsNotMissed) {
  Accept(2);
  EXPECT_TRUE(Trimmed(3));
  Accept(2);
  EXPECT_FALSE(Check());
  EXPECT_FALSE(c.rx().awaits_trimmed());
  EXPECT_FALSE(c.rx().HasPendingAck());
  // The reordering allowance that it had begun ends without a word.
  Expire();
  EXPECT_EQ(c.deadline(), kNever);
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(TrimmedTest, PduThatIsTrimmedOnceMoreIsNamedAgainAfterABaseRoundTrip) {
  Accept(2);
  EXPECT_TRUE(Trimmed(2));
  ExpectNack(2);
  now += kBaseRtt - Duration(1);
  Trimmed(2);
  EXPECT_FALSE(c.rx().HasPendingAck());
  now += Duration(1);
  EXPECT_TRUE(Trimmed(2));
  ExpectNack(2);
}

TEST_F(TrimmedTest, PduBehindANackIsMissedABaseRoundTripLater) {
  for (const bool later : {false, true}) {
    now += 2 * kBaseRtt;
    const auto next = c.rx().expected().value();
    EXPECT_TRUE(Trimmed(next));
    ExpectNack(next);
    now += later ? kBaseRtt : kBaseRtt - Duration(1);
    EXPECT_TRUE(Trimmed(static_cast<uint16_t>(next + 2)));
    EXPECT_EQ(c.rx().awaits_trimmed(), later);
    c.rx().Open(Psn(100));
  }
}

TEST_F(TrimmedTest, PduThatIsNextRemainsTheFirstThatIsMissed) {
  EXPECT_TRUE(Trimmed(1));
  Accept(1);
  EXPECT_TRUE(Trimmed(3));
  EXPECT_TRUE(Check());
  ExpectNack(1);
}

// It was sent before the NACK arrived, so it is sent again anyway.
TEST_F(TrimmedTest, StalePduBehindANackIsMissedAfterTheReorderingAllowanceOnly) {
  params.nack_timeout = microseconds(5);
  Accept(2);
  EXPECT_TRUE(Trimmed(2));
  ExpectNack(2);
  now += microseconds(1);
  EXPECT_TRUE(Trimmed(4));
  EXPECT_FALSE(c.rx().awaits_trimmed());
  EXPECT_EQ(c.deadline(), now + params.reorder_allowance);
  // While PDUs come it goes on; then it is over.
  now += microseconds(10);
  Accept(2);
  c.rx().CheckGap(now, params);
  EXPECT_FALSE(c.rx().HasPendingAck());
  EXPECT_EQ(c.deadline(), now + params.reorder_allowance);
  Expire();
  ExpectNack(4);
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(TrimmedTest, PduThatOnlyAHeaderTellsOfIsMissedAfterTheReorderingAllowance) {
  Accept(2);
  EXPECT_TRUE(Trimmed(4));
  EXPECT_FALSE(c.rx().HasPendingAck());
  EXPECT_EQ(c.deadline(), now + params.reorder_allowance);
  Expire();
  ExpectNack(2);
}

TEST_F(TrimmedTest, PduBehindOrBeyondTheWindowSaysNothing) {
  params.window_pdus = 64;
  c.rx().SetPeerWindow(64);
  Accept(100);
  for (const int distance : {-70, -1, 66, 30'000}) {
    EXPECT_FALSE(Trimmed(static_cast<uint16_t>(100 + distance))) << distance;
    EXPECT_FALSE(c.rx().awaits_trimmed()) << distance;
    EXPECT_FALSE(c.rx().HasPendingAck()) << distance;
    EXPECT_EQ(c.deadline(), kNever) << distance;
  }
  EXPECT_TRUE(Trimmed(165));
}

TEST_F(TrimmedTest, PduSaysNothingWhileThereIsNoRoom) {
  Accept(2);
  c.rx().OnRefused();
  EXPECT_FALSE(Trimmed(2));
  EXPECT_FALSE(Trimmed(3));
  EXPECT_FALSE(c.rx().HasPendingAck());
  EXPECT_FALSE(c.rx().awaits_trimmed());
  EXPECT_EQ(c.deadline(), kNever);
  c.rx().OnRoom();
  EXPECT_TRUE(Trimmed(2));
  ExpectNack(2);
}

TEST_F(TrimmedTest, PduOfAGenerationThatIsOverIsForgotten) {
  Accept(2);
  EXPECT_TRUE(Trimmed(4));
  c.rx().Close();
  c.rx().Open(Psn(2));
  EXPECT_FALSE(c.rx().awaits_trimmed());
  Accept(2);
  EXPECT_FALSE(c.rx().HasPendingAck());
}

// Nothing proves that a header is the far side's: no flood of them makes more NACKs than this.
TEST_F(TrimmedTest, ForgedPdusMakeOneNackInABaseRoundTrip) {
  Accept(2);
  uint16_t offset = 0;
  int nacks = 0;
  int rounds = 0;
  const Time end = now + 50 * kBaseRtt;
  for (; now < end; now += Duration(100)) {
    rounds = static_cast<int>((now - TimeFromNs(1'000'000)) / kBaseRtt) + 1;
    Trimmed(static_cast<uint16_t>(2 + offset++ % 7));
    if (c.deadline() <= now) c.OnTimer(now, params);
    nacks += c.rx().TakeRpsn().op == RhOp::kNack;
    EXPECT_LE(nacks, rounds);
  }
  EXPECT_GE(nacks, rounds / 2);
}

// Headers that always name the PDU that comes next make no more.
TEST_F(TrimmedTest, ForgedPdusThatFollowTheStreamMakeOneNackInABaseRoundTrip) {
  Accept(2);
  const Time begin = now;
  int nacks = 0;
  for (; now < begin + 50 * kBaseRtt; now += Duration(500)) {
    Trimmed(c.rx().expected().value());
    if (c.deadline() <= now) c.OnTimer(now, params);
    nacks += c.rx().TakeRpsn().op == RhOp::kNack;
    c.rx().Accept();
    if (c.rx().awaits_trimmed()) Check();
    nacks += c.rx().TakeRpsn().op == RhOp::kNack;
  }
  EXPECT_EQ(nacks, 50);
}

// ---- The sender.

TEST_F(TrimmedTest, SenderGoesBackOnceInItsLeastRoundTrip) {
  Send(1);
  now += microseconds(40);
  Ack(0);
  Send(8);
  now += microseconds(20);
  int times = 0;
  for (int i = 0; i < 800; ++i, now += microseconds(1)) {
    Nack(1);
    times += c.tx().TakeGoBack() ? 1 : 0;
    Retransmit();
  }
  // 40 us, of the acknowledgement: a NACK that anybody may have made shows no round trip.
  EXPECT_EQ(times, 20);
}

TEST_F(TrimmedTest, NackThatCameTooEarlyIsHeededAfterTheRoundTripAndIsNoTry) {
  Send(1);
  now += microseconds(40);
  Ack(0);
  Send(2);
  now += microseconds(40);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2}));
  const Time again = now + microseconds(40);
  const Time timeout = c.deadline();
  ASSERT_LT(again, timeout);
  now += microseconds(20);
  Nack(1);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  EXPECT_EQ(c.deadline(), again);
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{1, 2}));
  // The timeout of the PDU runs on, however many NACKs come.
  EXPECT_EQ(c.deadline(), timeout);
}

// Whatever comes of the NACK, the next timeout is one.
TEST_F(TrimmedTest, TimeoutBehindANackThatCameTooEarlyIsATry) {
  Send(1);
  now += microseconds(40);
  Ack(0);
  Send(2);
  const auto nack_twice = [&](Duration round) {
    now += round;
    Nack(1);
    Retransmit();
    now += microseconds(20);
    Nack(1);
    ASSERT_EQ(c.deadline(), now - microseconds(20) + round);
    EXPECT_FALSE(c.tx().TimesOut(c.deadline()));
  };
  nack_twice(microseconds(40));
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  Retransmit();
  EXPECT_EQ(c.tx().tries(), 0u);
  EXPECT_TRUE(c.tx().TimesOut(c.deadline()));
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  Retransmit();
  EXPECT_EQ(c.tx().tries(), 1u);
  // The timer comes so late that another NACK was heeded before it, and the timeout is due.
  const Time timeout = c.deadline();
  nack_twice(2 * microseconds(40));
  now = timeout;
  Nack(1);
  EXPECT_EQ(c.OnTimer(now, params), TimerVerdict::kRetransmit);
  EXPECT_EQ(c.tx().tries(), 2u);
}

TEST_F(TrimmedTest, NackThatCameTooEarlyIsForgottenWhereTheFarSideIsNotReady) {
  Send(1);
  now += microseconds(40);
  Ack(0);
  Send(2);
  now += microseconds(40);
  Nack(1);
  Retransmit();
  now += microseconds(20);
  Nack(1);
  NotReady(1, microseconds(100));
  EXPECT_EQ(c.deadline(), now + microseconds(100));
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_FALSE(c.tx().paused());
  EXPECT_EQ(Retransmit(), (Psns{1, 2}));
}

TEST_F(TrimmedTest, NackThatCameTooEarlyIsForgottenWhenItsPduIsAcknowledged) {
  Send(1);
  now += microseconds(40);
  Ack(0);
  Send(2);
  now += microseconds(40);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2}));
  const Time again = now + microseconds(40);
  now += microseconds(20);
  Nack(1);
  Ack(1);
  EXPECT_GT(c.deadline(), again);
  EXPECT_TRUE(c.tx().TimesOut(c.deadline())) << "it is the timeout of the other PDU";
  now = again;
  EXPECT_EQ(c.OnTimer(now, params), TimerVerdict::kNothing);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
}

TEST_F(TrimmedTest, EachGoBackIsToldOnce) {
  EXPECT_FALSE(c.tx().TakeGoBack());
  Send(3);
  EXPECT_FALSE(c.tx().TakeGoBack());
  now += microseconds(20);
  Nack(0);
  EXPECT_TRUE(c.tx().TakeGoBack());
  EXPECT_FALSE(c.tx().TakeGoBack());
  Nack(0);
  EXPECT_FALSE(c.tx().TakeGoBack());
  Retransmit();
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_TRUE(c.tx().TakeGoBack());
  EXPECT_FALSE(c.tx().TakeGoBack());
}

// ---- Acknowledgements that a law goes by.

TEST_F(TrimmedTest, PdusConcernMoreThanDeliveryWhereTheyAreCountedOrMissed) {
  EXPECT_FALSE(c.rx().is_watched());
  c.rx().SetCounted(true);
  EXPECT_TRUE(c.rx().is_watched());
  EXPECT_TRUE(c.rx().counted());
  c.rx().SetCounted(false);
  EXPECT_FALSE(c.rx().counted());
  Trimmed(1);
  EXPECT_TRUE(c.rx().is_watched());
}

TEST_F(TrimmedTest, AcknowledgementsThatNeedNotBePromptGoByTheSmallestWindow) {
  c.rx().SetPeerWindow(4);
  c.rx().SetPromptAcks(true);
  c.rx().SetPromptAcks(false);
  c.rx().Accept();
  EXPECT_TRUE(c.rx().MustAckNow(params));
}

TEST_F(TrimmedTest, PromptAcknowledgementsSurviveALaterWindow) {
  c.rx().SetPeerWindow(64);
  c.rx().Accept();
  EXPECT_FALSE(c.rx().MustAckNow(params));
  c.rx().SetPromptAcks(true);
  EXPECT_TRUE(c.rx().MustAckNow(params));
  c.rx().TakeRpsn();
  EXPECT_FALSE(c.rx().MustAckNow(params));
  c.rx().SetPeerWindow(80);
  c.rx().Accept();
  EXPECT_TRUE(c.rx().MustAckNow(params));
  c.rx().TakeRpsn();
  c.rx().SetPromptAcks(false);
  for (int i = 0; i < 19; ++i) c.rx().Accept();
  EXPECT_FALSE(c.rx().MustAckNow(params));
  c.rx().Accept();
  EXPECT_TRUE(c.rx().MustAckNow(params));
}

}  // namespace
}  // namespace suede
