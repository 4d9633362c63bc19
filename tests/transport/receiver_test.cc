// SPDX-License-Identifier: Apache-2.0
// The receiver's rules of the wire profile §6: the expected PSN, the answers and their times.
#include "connection_fixture.h"

namespace suede {
namespace {

TEST_F(ConnectionTest, ExpectedBehindAhead) {
  EXPECT_EQ(c.rx().Classify(Psn(0)), PsnVerdict::kExpected);
  EXPECT_EQ(c.rx().Classify(Psn(1)), PsnVerdict::kAhead);
  EXPECT_EQ(c.rx().Classify(Psn(65535)), PsnVerdict::kBehind);
  Accept(1);
  EXPECT_EQ(c.rx().expected(), Psn(1));
  EXPECT_EQ(c.rx().Classify(Psn(0)), PsnVerdict::kBehind);
  EXPECT_EQ(c.rx().Classify(Psn(1)), PsnVerdict::kExpected);
}

TEST_F(ConnectionTest, ExpectedBehindAheadAcrossTheWrap) {
  Accept(65535);
  EXPECT_EQ(c.rx().expected(), Psn(65535));
  EXPECT_EQ(c.rx().Classify(Psn(0)), PsnVerdict::kAhead);
  EXPECT_EQ(c.rx().Classify(Psn(65534)), PsnVerdict::kBehind);
  EXPECT_EQ(c.rx().Classify(Psn(kMaxWindowPdus - 2)), PsnVerdict::kAhead);
  EXPECT_EQ(c.rx().Classify(Psn(static_cast<uint16_t>(65535 - kMaxWindowPdus))),
            PsnVerdict::kBehind);
  Accept(1);
  EXPECT_EQ(c.rx().expected(), Psn(0));
  EXPECT_EQ(c.rx().Classify(Psn(65535)), PsnVerdict::kBehind);
}

TEST_F(ConnectionTest, NothingIsOwedBeforeAnythingCame) {
  EXPECT_FALSE(c.rx().HasPendingAck());
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNothing);
}

TEST_F(ConnectionTest, AckNamesTheLastAcceptedPsn) {
  c.rx().Accept();
  c.rx().Accept();
  EXPECT_TRUE(c.rx().HasPendingAck());
  const RpsnField field = c.rx().TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(1));
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(ConnectionTest, AckIsRepeatedInEveryLaterPdu) {
  Accept(3);
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kAck);
  EXPECT_EQ(c.rx().TakeRpsn().rpsn, Psn(2));
}

TEST_F(ConnectionTest, AckMayWaitUntilTheConfiguredCount) {
  params.ack_every_pdus = 3;
  c.rx().Accept();
  c.rx().Accept();
  EXPECT_TRUE(c.rx().HasPendingAck());
  EXPECT_FALSE(c.rx().MustAckNow(params));
  c.rx().Accept();
  EXPECT_TRUE(c.rx().MustAckNow(params));
  c.rx().TakeRpsn();
  c.rx().Accept();
  EXPECT_FALSE(c.rx().MustAckNow(params));
}

TEST_F(ConnectionTest, AckMayNotWaitBeyondAQuarterOfTheTellersWindow) {
  c.rx().SetPeerWindow(512);
  c.rx().SetPeerWindow(12);  // the newest counts, not the widest
  c.rx().Accept();
  c.rx().Accept();
  EXPECT_FALSE(c.rx().MustAckNow(params));
  c.rx().Accept();
  EXPECT_TRUE(c.rx().MustAckNow(params));
  c.rx().TakeRpsn();
  c.rx().SetPeerWindow(1);
  c.rx().Accept();
  EXPECT_TRUE(c.rx().MustAckNow(params));
}

TEST_F(ConnectionTest, AckMayBeAskedForAtOnce) {
  c.rx().AckNow();
  EXPECT_TRUE(c.rx().MustAckNow(params));
  const RpsnField field = c.rx().TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(65535)) << "nothing was accepted";
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(ConnectionTest, AckWaitsForOthersWithinHalfOfTheSmallestTimeout) {
  params.ack_delay = microseconds(10);
  params.rto_min = milliseconds(1);
  EXPECT_EQ(params.ack_bound(), microseconds(160));
  params.rto_min = microseconds(200);
  EXPECT_EQ(params.ack_bound(), microseconds(100));
  params.rto_min = microseconds(20);
  EXPECT_EQ(params.ack_bound(), params.ack_delay);
}

TEST_F(ConnectionTest, DuplicateIsAcknowledgedAtOnce) {
  Accept(2);
  c.rx().OnDuplicate(Psn(1), params);
  EXPECT_TRUE(c.rx().MustAckNow(params));
  const RpsnField field = c.rx().TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(1));
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(ConnectionTest, GapIsAnsweredWithANackOfTheExpectedPsn) {
  Accept(5);
  c.rx().OnGap(now, params);
  EXPECT_TRUE(c.rx().MustAckNow(params));
  const RpsnField field = c.rx().TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kNack);
  EXPECT_EQ(field.rpsn, Psn(5));
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(ConnectionTest, OneNackPerExpectedPsnWithinTheNackTimeout) {
  c.rx().OnGap(now, params);
  c.rx().TakeRpsn();
  now += params.nack_timeout - Duration(1);
  c.rx().OnGap(now, params);
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(ConnectionTest, NackAgainAfterTheNackTimeout) {
  c.rx().OnGap(now, params);
  c.rx().TakeRpsn();
  now += params.nack_timeout;
  c.rx().OnGap(now, params);
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, NackForTheNextExpectedPsnGoesAtOnce) {
  c.rx().OnGap(now, params);
  c.rx().TakeRpsn();
  Accept(1);
  c.rx().OnGap(now, params);
  const RpsnField field = c.rx().TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kNack);
  EXPECT_EQ(field.rpsn, Psn(1));
}

// A NACK that had not left when the missing PDU came names the PSN after it: that one counts.
TEST_F(ConnectionTest, NackThatLeavesLateCountsForThePsnThatItNames) {
  c.rx().OnGap(now, params);
  c.rx().Accept();
  EXPECT_EQ(c.rx().TakeRpsn().rpsn, Psn(1));
  c.rx().OnGap(now, params);
  EXPECT_FALSE(c.rx().HasPendingAck());
}

TEST_F(ConnectionTest, AfterANackTheNextPduCarriesAnAckAgain) {
  Accept(2);
  c.rx().OnGap(now, params);
  c.rx().TakeRpsn();
  const RpsnField field = c.rx().TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(1));
}

TEST_F(ConnectionTest, UnsequencedPduAheadShowsThatTheTailWasLostIfItDoesNotCome) {
  Lose();
  Accept(1);
  // The sender's next sequenced PDU will be 3: 2 is missing.
  ASSERT_EQ(c.rx().Classify(Psn(3)), PsnVerdict::kAhead);
  c.rx().OnAnnounced(Psn(3), now, params);
  EXPECT_FALSE(c.rx().HasPendingAck());
  EXPECT_EQ(c.deadline(), now + params.reorder_allowance);
  EXPECT_EQ(Expire(), TimerVerdict::kNothing);
  const RpsnField field = c.rx().TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kNack);
  EXPECT_EQ(field.rpsn, Psn(2));
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(ConnectionTest, UnsequencedPduThatHasOvertakenDataIsNoReasonForANack) {
  Accept(2);
  c.rx().OnAnnounced(Psn(6), now, params);
  c.rx().OnAnnounced(Psn(8), now, params);
  // The data comes a little at a time.
  for (int i = 0; i < 6; ++i) {
    Accept(1);
    EXPECT_EQ(Expire(), TimerVerdict::kNothing);
    EXPECT_FALSE(c.rx().HasPendingAck());
  }
  EXPECT_EQ(c.deadline(), kNever);
  // And then it stops.
  c.rx().OnAnnounced(Psn(10), now, params);
  Accept(1);
  Expire();
  EXPECT_FALSE(c.rx().HasPendingAck());
  Expire();
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, GapEndsAtTheFarthestPduThatWasAnnounced) {
  for (const int second : {1, 4}) {
    SCOPED_TRACE(second);
    c.rx().OnAnnounced(c.rx().expected().Plus(3), now, params);
    c.rx().OnAnnounced(c.rx().expected().Plus(second), now, params);
    for (int left = std::max(3, second); left > 0; --left) {
      EXPECT_TRUE(c.rx().has_gap());
      Accept(1);
      c.rx().CheckGap(now, params);
    }
    EXPECT_FALSE(c.rx().has_gap());
  }
}

// The own round trip has nothing to say of queues in the other direction.
TEST_F(ConnectionTest, TailIsLeftToTheSendersTimeoutUntilThePeerHasLostAPdu) {
  Send(1);
  now += microseconds(5);
  Ack(0);
  Accept(2);
  c.rx().OnAnnounced(Psn(4), now, params);
  EXPECT_EQ(c.deadline(), now + params.rto_initial);
  now += params.rto_initial - microseconds(1);
  c.OnTimer(now, params);
  EXPECT_FALSE(c.rx().HasPendingAck());
  Accept(2);
  Expire();
  EXPECT_FALSE(c.rx().HasPendingAck());
  Lose();
  c.rx().OnAnnounced(Psn(7), now, params);
  EXPECT_GT(c.deadline(), now + params.rto_initial) << "data has been overdue for as long";
}

TEST_F(ConnectionTest, ReorderingAllowanceMayBeNone) {
  params.reorder_allowance = Duration(0);
  Accept(1);
  c.rx().OnAnnounced(Psn(2), now, params);
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, ReorderingAllowanceFollowsTheTimeThatDataWasOverdue) {
  Lose();
  EXPECT_EQ(c.rx().ReorderAllowance(params), params.reorder_allowance);
  const auto overtake = [&](Duration time) {
    c.rx().OnAnnounced(c.rx().expected().Next(), now, params);
    now += time;
    c.rx().Accept();
    c.rx().CheckGap(now, params);
    EXPECT_FALSE(c.rx().has_gap());
    c.rx().TakeRpsn();
  };
  overtake(microseconds(5));
  EXPECT_EQ(c.rx().ReorderAllowance(params), params.reorder_allowance);
  overtake(microseconds(15));
  EXPECT_EQ(c.rx().ReorderAllowance(params), microseconds(30));
  overtake(microseconds(29));
  EXPECT_EQ(c.rx().ReorderAllowance(params), microseconds(58));
  // It is forgotten some time.
  overtake(microseconds(1));
  EXPECT_GT(c.rx().ReorderAllowance(params), microseconds(57));
  for (int i = 0; i < 1000; ++i) overtake(microseconds(1));
  EXPECT_EQ(c.rx().ReorderAllowance(params), params.reorder_allowance);
}

TEST_F(ConnectionTest, DataIsOverdueFromTheLastOneThatCame) {
  Lose();
  c.rx().OnAnnounced(c.rx().expected().Plus(3), now, params);
  for (int i = 0; i < 3; ++i) {
    now += microseconds(20);
    Accept(1);
    c.rx().CheckGap(now, params);
    EXPECT_EQ(c.rx().ReorderAllowance(params), microseconds(40));
  }
}

TEST_F(ConnectionTest, NackForDataThatWasMerelyLateDoublesTheReorderingAllowance) {
  Lose();
  Duration expected = params.reorder_allowance;
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    c.rx().OnAnnounced(c.rx().expected().Plus(2), now, params);
    EXPECT_EQ(c.deadline(), now + expected);
    Expire();
    ASSERT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
    now += microseconds(3);
    Accept(2);
    // The NACK brings both once more.
    c.rx().OnDuplicate(c.rx().expected().Plus(-2), params);
    expected = std::min(2 * expected, params.rto_max);
    EXPECT_EQ(c.rx().ReorderAllowance(params), std::max(expected, params.rto_initial))
        << "nothing says any longer that PDUs are lost";
    c.rx().OnDuplicate(c.rx().expected().Plus(-1), params);
    c.rx().TakeRpsn();
    Lose();
    EXPECT_EQ(c.rx().ReorderAllowance(params), expected);
    now += params.nack_timeout;
  }
  EXPECT_EQ(expected, params.rto_max);
}

TEST_F(ConnectionTest, NackForDataThatWasLostLeavesTheReorderingAllowance) {
  Lose();
  for (int i = 0; i < 5; ++i) {
    c.rx().OnAnnounced(c.rx().expected().Plus(2), now, params);
    Expire();
    ASSERT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
    now += params.nack_timeout;
    Accept(2);
    c.rx().OnDuplicate(c.rx().expected().Plus(-3),
                       params);  // one from before that: its ACK was lost
    EXPECT_EQ(c.rx().ReorderAllowance(params), params.reorder_allowance);
  }
}

TEST_F(ConnectionTest, NackForASinglePduThatWasMerelyLateDoublesTheReorderingAllowance) {
  Lose();
  c.rx().OnAnnounced(c.rx().expected().Next(), now, params);
  Expire();
  ASSERT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
  Accept(1);
  c.rx().OnDuplicate(c.rx().expected().Plus(-1), params);
  Lose();
  EXPECT_EQ(c.rx().ReorderAllowance(params), 2 * params.reorder_allowance);
}

TEST_F(ConnectionTest, LateDataThatNoNackAskedForLeavesTheReorderingAllowance) {
  Lose();
  c.rx().OnGap(now, params);
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
  c.rx().OnAnnounced(c.rx().expected().Plus(2), now, params);
  ASSERT_LT(c.deadline(), now + params.nack_timeout);
  Expire();
  EXPECT_FALSE(c.rx().HasPendingAck()) << "the NACK is under way";
  Accept(2);
  c.rx().OnDuplicate(c.rx().expected().Plus(-2), params);
  EXPECT_EQ(c.rx().ReorderAllowance(params), params.reorder_allowance);
}

// Forged ones name any PSN, late ones those of the past.
TEST_F(ConnectionTest, ForgedAnnouncementsNeitherHoldAGapOpenNorGrowTheAllowanceWithoutBound) {
  params.window_pdus = 64;
  c.rx().SetPeerWindow(64);
  Lose();
  for (int i = 0; i < 1000; ++i) {
    c.rx().OnAnnounced(c.rx().expected().Plus(1 + 31 * i), now, params);
    now += params.reorder_allowance / 2;
    c.rx().Accept();
    c.rx().CheckGap(now, params);
    const bool is_possible = i != 0 && 31 * i <= 64;
    EXPECT_EQ(c.rx().has_gap(), is_possible)
        << "where no such PDU was sent, the next one closes it";
    while (c.rx().has_gap()) {
      c.rx().Accept();
      c.rx().CheckGap(now, params);
    }
  }
  EXPECT_FALSE(c.rx().TakeRpsn().op == RhOp::kNack);
  EXPECT_EQ(c.rx().ReorderAllowance(params), params.reorder_allowance);
  // On an idle connection each asks for a NACK, of which nothing follows; copies grow the allowance
  // to the largest timeout, and no further.
  for (int i = 0; i < 100; ++i) {
    c.rx().OnAnnounced(c.rx().expected().Plus(3), now, params);
    Expire();
    c.rx().TakeRpsn();
    Accept(1);
    c.rx().OnDuplicate(c.rx().expected().Plus(-1), params);
    c.rx().TakeRpsn();
    EXPECT_LE(c.rx().ReorderAllowance(params), params.rto_max);
    now += params.nack_timeout;
  }
  EXPECT_EQ(c.rx().ReorderAllowance(params), params.rto_max);
}

// A sender that has given up asks by that, and must hear that we are there.
TEST_F(ConnectionTest, WhoAsksWhileThereIsNoRoomIsAnsweredNowAndThen) {
  Accept(2);
  c.rx().OnRefused();
  int answers = 0;
  const Time end = now + 3 * params.rto_max;
  while (now < end) {
    c.rx().OnAnnounced(Psn(4), now, params);
    Expire();
    answers += c.rx().TakeRpsn().op == RhOp::kNack;
    now += params.nack_timeout;
  }
  EXPECT_GE(answers, 3);
  EXPECT_LE(answers, 4);
}

TEST_F(ConnectionTest, ASenderThatAsksWhileThereIsNoRoomIsAnsweredAfterTheLargestTimeout) {
  params.reorder_allowance = Duration(0);
  c.rx().OnRefused();
  c.rx().OnAnnounced(Psn(2), now, params);
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
  now += params.rto_max - Duration(1);
  c.rx().OnAnnounced(Psn(2), now, params);
  EXPECT_FALSE(c.rx().HasPendingAck());
  now += Duration(1);
  c.rx().OnAnnounced(Psn(2), now, params);
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, UnsequencedPduTakesNoPsnAndIsNeverRetransmitted) {
  Send(2);
  const Psn unsequenced = c.in_flight().next_psn();
  c.rx().TakeRpsn();
  EXPECT_EQ(c.in_flight().next_psn(), unsequenced);
  EXPECT_EQ(c.in_flight().count(), 2u);
  Send(1);
  EXPECT_EQ(pdus.back().psn, unsequenced);
  Expire();
  EXPECT_EQ(Retransmit(), (Psns{0, 1, 2}));
}

TEST_F(ConnectionTest, UnsequencedPduInStepIsNeverAcknowledged) {
  Accept(2);
  ASSERT_EQ(c.rx().Classify(Psn(2)), PsnVerdict::kExpected);
  EXPECT_FALSE(c.rx().HasPendingAck());
  EXPECT_EQ(c.rx().expected(), Psn(2));
}

TEST_F(ConnectionTest, GapBehindARefusedPduIsNoReasonForANack) {
  c.rx().OnRefused();
  EXPECT_TRUE(c.rx().not_ready());
  c.rx().OnGap(now, params);
  EXPECT_FALSE(c.rx().HasPendingAck());
  c.rx().OnRoom();
  c.rx().OnGap(now, params);
  EXPECT_EQ(c.rx().TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, AcceptingEndsARefusal) {
  c.rx().OnRefused();
  c.rx().Accept();
  EXPECT_FALSE(c.rx().not_ready());
}

TEST_F(ConnectionTest, HistoryBeginsWithTheFirstAcceptedOrAcknowledgedPdu) {
  EXPECT_FALSE(c.MayHaveHistory());
  Send(1);
  EXPECT_FALSE(c.HasHistory());
  EXPECT_TRUE(c.MayHaveHistory());
  Ack(0);
  EXPECT_TRUE(c.HasHistory());
  Connection other;
  other.rx().Accept();
  EXPECT_TRUE(other.HasHistory());
}

}  // namespace
}  // namespace suede
