// SPDX-License-Identifier: Apache-2.0
// The receiver's rules of the wire profile §6: the expected PSN, the answers and their times.
#include "connection_fixture.h"

namespace suede {
namespace {

TEST_F(ConnectionTest, ExpectedBehindAhead) {
  EXPECT_EQ(c.Classify(Psn(0)), PsnVerdict::kExpected);
  EXPECT_EQ(c.Classify(Psn(1)), PsnVerdict::kAhead);
  EXPECT_EQ(c.Classify(Psn(65535)), PsnVerdict::kBehind);
  Accept(1);
  EXPECT_EQ(c.expected(), Psn(1));
  EXPECT_EQ(c.Classify(Psn(0)), PsnVerdict::kBehind);
  EXPECT_EQ(c.Classify(Psn(1)), PsnVerdict::kExpected);
}

TEST_F(ConnectionTest, ExpectedBehindAheadAcrossTheWrap) {
  Accept(65535);
  EXPECT_EQ(c.expected(), Psn(65535));
  EXPECT_EQ(c.Classify(Psn(0)), PsnVerdict::kAhead);
  EXPECT_EQ(c.Classify(Psn(65534)), PsnVerdict::kBehind);
  EXPECT_EQ(c.Classify(Psn(kMaxWindowPdus - 2)), PsnVerdict::kAhead);
  EXPECT_EQ(c.Classify(Psn(static_cast<uint16_t>(65535 - kMaxWindowPdus))), PsnVerdict::kBehind);
  Accept(1);
  EXPECT_EQ(c.expected(), Psn(0));
  EXPECT_EQ(c.Classify(Psn(65535)), PsnVerdict::kBehind);
}

TEST_F(ConnectionTest, NothingIsOwedBeforeAnythingCame) {
  EXPECT_FALSE(c.HasPendingAck());
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNothing);
}

TEST_F(ConnectionTest, AckNamesTheLastAcceptedPsn) {
  c.Accept();
  c.Accept();
  EXPECT_TRUE(c.HasPendingAck());
  const RpsnField field = c.TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(1));
  EXPECT_FALSE(c.HasPendingAck());
}

TEST_F(ConnectionTest, AckIsRepeatedInEveryLaterPdu) {
  Accept(3);
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kAck);
  EXPECT_EQ(c.TakeRpsn().rpsn, Psn(2));
}

TEST_F(ConnectionTest, AckMayWaitUntilTheConfiguredCount) {
  params.ack_every_pdus = 3;
  c.Accept();
  c.Accept();
  EXPECT_TRUE(c.HasPendingAck());
  EXPECT_FALSE(c.MustAckNow(params));
  c.Accept();
  EXPECT_TRUE(c.MustAckNow(params));
  c.TakeRpsn();
  c.Accept();
  EXPECT_FALSE(c.MustAckNow(params));
}

TEST_F(ConnectionTest, AckMayNotWaitBeyondAQuarterOfTheTellersWindow) {
  c.SetPeerWindow(512);
  c.SetPeerWindow(12);  // the newest counts, not the widest
  c.Accept();
  c.Accept();
  EXPECT_FALSE(c.MustAckNow(params));
  c.Accept();
  EXPECT_TRUE(c.MustAckNow(params));
  c.TakeRpsn();
  c.SetPeerWindow(1);
  c.Accept();
  EXPECT_TRUE(c.MustAckNow(params));
}

TEST_F(ConnectionTest, AckMayBeAskedForAtOnce) {
  c.AckNow();
  EXPECT_TRUE(c.MustAckNow(params));
  const RpsnField field = c.TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(65535)) << "nothing was accepted";
  EXPECT_FALSE(c.HasPendingAck());
}

TEST_F(ConnectionTest, AckWaitsForOthersWithinAQuarterOfTheSmallestTimeout) {
  params.ack_delay = microseconds(10);
  params.rto_min = milliseconds(1);
  EXPECT_EQ(params.ack_bound(), microseconds(160));
  params.rto_min = microseconds(400);
  EXPECT_EQ(params.ack_bound(), microseconds(100));
  params.rto_min = microseconds(20);
  EXPECT_EQ(params.ack_bound(), params.ack_delay);
}

TEST_F(ConnectionTest, DuplicateIsAcknowledgedAtOnce) {
  Accept(2);
  c.OnDuplicate(Psn(1), params);
  EXPECT_TRUE(c.MustAckNow(params));
  const RpsnField field = c.TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(1));
  EXPECT_FALSE(c.HasPendingAck());
}

TEST_F(ConnectionTest, GapIsAnsweredWithANackOfTheExpectedPsn) {
  Accept(5);
  c.OnGap(now, params);
  EXPECT_TRUE(c.MustAckNow(params));
  const RpsnField field = c.TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kNack);
  EXPECT_EQ(field.rpsn, Psn(5));
  EXPECT_FALSE(c.HasPendingAck());
}

TEST_F(ConnectionTest, OneNackPerExpectedPsnWithinTheNackTimeout) {
  c.OnGap(now, params);
  c.TakeRpsn();
  now += params.nack_timeout - Duration(1);
  c.OnGap(now, params);
  EXPECT_FALSE(c.HasPendingAck());
}

TEST_F(ConnectionTest, NackAgainAfterTheNackTimeout) {
  c.OnGap(now, params);
  c.TakeRpsn();
  now += params.nack_timeout;
  c.OnGap(now, params);
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, NackForTheNextExpectedPsnGoesAtOnce) {
  c.OnGap(now, params);
  c.TakeRpsn();
  Accept(1);
  c.OnGap(now, params);
  const RpsnField field = c.TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kNack);
  EXPECT_EQ(field.rpsn, Psn(1));
}

// A NACK that had not left when the missing PDU came names the PSN after it: that one counts.
TEST_F(ConnectionTest, NackThatLeavesLateCountsForThePsnThatItNames) {
  c.OnGap(now, params);
  c.Accept();
  EXPECT_EQ(c.TakeRpsn().rpsn, Psn(1));
  c.OnGap(now, params);
  EXPECT_FALSE(c.HasPendingAck());
}

TEST_F(ConnectionTest, AfterANackTheNextPduCarriesAnAckAgain) {
  Accept(2);
  c.OnGap(now, params);
  c.TakeRpsn();
  const RpsnField field = c.TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kAck);
  EXPECT_EQ(field.rpsn, Psn(1));
}

TEST_F(ConnectionTest, UnsequencedPduAheadShowsThatTheTailWasLostIfItDoesNotCome) {
  Lose();
  Accept(1);
  // The sender's next sequenced PDU will be 3: 2 is missing.
  ASSERT_EQ(c.Classify(Psn(3)), PsnVerdict::kAhead);
  c.OnAnnounced(Psn(3), now, params);
  EXPECT_FALSE(c.HasPendingAck());
  EXPECT_EQ(c.deadline(), now + params.reorder_allowance);
  EXPECT_EQ(Expire(), TimerVerdict::kNothing);
  const RpsnField field = c.TakeRpsn();
  EXPECT_EQ(field.op, RhOp::kNack);
  EXPECT_EQ(field.rpsn, Psn(2));
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(ConnectionTest, UnsequencedPduThatHasOvertakenDataIsNoReasonForANack) {
  Accept(2);
  c.OnAnnounced(Psn(6), now, params);
  c.OnAnnounced(Psn(8), now, params);
  // The data comes a little at a time.
  for (int i = 0; i < 6; ++i) {
    Accept(1);
    EXPECT_EQ(Expire(), TimerVerdict::kNothing);
    EXPECT_FALSE(c.HasPendingAck());
  }
  EXPECT_EQ(c.deadline(), kNever);
  // And then it stops.
  c.OnAnnounced(Psn(10), now, params);
  Accept(1);
  Expire();
  EXPECT_FALSE(c.HasPendingAck());
  Expire();
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, GapEndsAtTheFarthestPduThatWasAnnounced) {
  for (const int second : {1, 4}) {
    SCOPED_TRACE(second);
    c.OnAnnounced(c.expected().Plus(3), now, params);
    c.OnAnnounced(c.expected().Plus(second), now, params);
    for (int left = std::max(3, second); left > 0; --left) {
      EXPECT_TRUE(c.has_gap());
      Accept(1);
      c.CheckGap(now, params);
    }
    EXPECT_FALSE(c.has_gap());
  }
}

// The own round trip has nothing to say of queues in the other direction.
TEST_F(ConnectionTest, TailIsLeftToTheSendersTimeoutUntilThePeerHasLostAPdu) {
  Send(1);
  now += microseconds(5);
  Ack(0);
  Accept(2);
  c.OnAnnounced(Psn(4), now, params);
  EXPECT_EQ(c.deadline(), now + params.rto_initial);
  now += params.rto_initial - microseconds(1);
  c.OnTimer(now, params);
  EXPECT_FALSE(c.HasPendingAck());
  Accept(2);
  Expire();
  EXPECT_FALSE(c.HasPendingAck());
  Lose();
  c.OnAnnounced(Psn(7), now, params);
  EXPECT_GT(c.deadline(), now + params.rto_initial) << "data has been overdue for as long";
}

TEST_F(ConnectionTest, ReorderingAllowanceMayBeNone) {
  params.reorder_allowance = Duration(0);
  Accept(1);
  c.OnAnnounced(Psn(2), now, params);
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, ReorderingAllowanceFollowsTheTimeThatDataWasOverdue) {
  Lose();
  EXPECT_EQ(c.ReorderAllowance(params), params.reorder_allowance);
  const auto overtake = [&](Duration time) {
    c.OnAnnounced(c.expected().Next(), now, params);
    now += time;
    c.Accept();
    c.CheckGap(now, params);
    EXPECT_FALSE(c.has_gap());
    c.TakeRpsn();
  };
  overtake(microseconds(5));
  EXPECT_EQ(c.ReorderAllowance(params), params.reorder_allowance);
  overtake(microseconds(15));
  EXPECT_EQ(c.ReorderAllowance(params), microseconds(30));
  overtake(microseconds(29));
  EXPECT_EQ(c.ReorderAllowance(params), microseconds(58));
  // It is forgotten some time.
  overtake(microseconds(1));
  EXPECT_GT(c.ReorderAllowance(params), microseconds(57));
  for (int i = 0; i < 1000; ++i) overtake(microseconds(1));
  EXPECT_EQ(c.ReorderAllowance(params), params.reorder_allowance);
}

TEST_F(ConnectionTest, DataIsOverdueFromTheLastOneThatCame) {
  Lose();
  c.OnAnnounced(c.expected().Plus(3), now, params);
  for (int i = 0; i < 3; ++i) {
    now += microseconds(20);
    Accept(1);
    c.CheckGap(now, params);
    EXPECT_EQ(c.ReorderAllowance(params), microseconds(40));
  }
}

TEST_F(ConnectionTest, NackForDataThatWasMerelyLateDoublesTheReorderingAllowance) {
  Lose();
  Duration expected = params.reorder_allowance;
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    c.OnAnnounced(c.expected().Plus(2), now, params);
    EXPECT_EQ(c.deadline(), now + expected);
    Expire();
    ASSERT_EQ(c.TakeRpsn().op, RhOp::kNack);
    now += microseconds(3);
    Accept(2);
    // The NACK brings both once more.
    c.OnDuplicate(c.expected().Plus(-2), params);
    expected = std::min(2 * expected, params.rto_max);
    EXPECT_EQ(c.ReorderAllowance(params), std::max(expected, params.rto_initial))
        << "nothing says any longer that PDUs are lost";
    c.OnDuplicate(c.expected().Plus(-1), params);
    c.TakeRpsn();
    Lose();
    EXPECT_EQ(c.ReorderAllowance(params), expected);
    now += params.nack_timeout;
  }
  EXPECT_EQ(expected, params.rto_max);
}

TEST_F(ConnectionTest, NackForDataThatWasLostLeavesTheReorderingAllowance) {
  Lose();
  for (int i = 0; i < 5; ++i) {
    c.OnAnnounced(c.expected().Plus(2), now, params);
    Expire();
    ASSERT_EQ(c.TakeRpsn().op, RhOp::kNack);
    now += params.nack_timeout;
    Accept(2);
    c.OnDuplicate(c.expected().Plus(-3), params);  // one from before that: its ACK was lost
    EXPECT_EQ(c.ReorderAllowance(params), params.reorder_allowance);
  }
}

TEST_F(ConnectionTest, NackForASinglePduThatWasMerelyLateDoublesTheReorderingAllowance) {
  Lose();
  c.OnAnnounced(c.expected().Next(), now, params);
  Expire();
  ASSERT_EQ(c.TakeRpsn().op, RhOp::kNack);
  Accept(1);
  c.OnDuplicate(c.expected().Plus(-1), params);
  Lose();
  EXPECT_EQ(c.ReorderAllowance(params), 2 * params.reorder_allowance);
}

TEST_F(ConnectionTest, LateDataThatNoNackAskedForLeavesTheReorderingAllowance) {
  Lose();
  c.OnGap(now, params);
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNack);
  c.OnAnnounced(c.expected().Plus(2), now, params);
  ASSERT_LT(c.deadline(), now + params.nack_timeout);
  Expire();
  EXPECT_FALSE(c.HasPendingAck()) << "the NACK is under way";
  Accept(2);
  c.OnDuplicate(c.expected().Plus(-2), params);
  EXPECT_EQ(c.ReorderAllowance(params), params.reorder_allowance);
}

// Forged ones name any PSN, late ones those of the past.
TEST_F(ConnectionTest, ForgedAnnouncementsNeitherHoldAGapOpenNorGrowTheAllowanceWithoutBound) {
  params.window_pdus = 64;
  c.SetPeerWindow(64);
  Lose();
  for (int i = 0; i < 1000; ++i) {
    c.OnAnnounced(c.expected().Plus(1 + 31 * i), now, params);
    now += params.reorder_allowance / 2;
    c.Accept();
    c.CheckGap(now, params);
    const bool is_possible = i != 0 && 31 * i <= 64;
    EXPECT_EQ(c.has_gap(), is_possible) << "where no such PDU was sent, the next one closes it";
    while (c.has_gap()) {
      c.Accept();
      c.CheckGap(now, params);
    }
  }
  EXPECT_FALSE(c.TakeRpsn().op == RhOp::kNack);
  EXPECT_EQ(c.ReorderAllowance(params), params.reorder_allowance);
  // On an idle connection each asks for a NACK, of which nothing follows; copies grow the allowance
  // to the largest timeout, and no further.
  for (int i = 0; i < 100; ++i) {
    c.OnAnnounced(c.expected().Plus(3), now, params);
    Expire();
    c.TakeRpsn();
    Accept(1);
    c.OnDuplicate(c.expected().Plus(-1), params);
    c.TakeRpsn();
    EXPECT_LE(c.ReorderAllowance(params), params.rto_max);
    now += params.nack_timeout;
  }
  EXPECT_EQ(c.ReorderAllowance(params), params.rto_max);
}

// A sender that has given up asks by that, and must hear that we are there.
TEST_F(ConnectionTest, WhoAsksWhileThereIsNoRoomIsAnsweredNowAndThen) {
  Accept(2);
  c.OnRefused();
  int answers = 0;
  const Time end = now + 3 * params.rto_max;
  while (now < end) {
    c.OnAnnounced(Psn(4), now, params);
    Expire();
    answers += c.TakeRpsn().op == RhOp::kNack;
    now += params.nack_timeout;
  }
  EXPECT_GE(answers, 3);
  EXPECT_LE(answers, 4);
}

TEST_F(ConnectionTest, ASenderThatAsksWhileThereIsNoRoomIsAnsweredAfterTheLargestTimeout) {
  params.reorder_allowance = Duration(0);
  c.OnRefused();
  c.OnAnnounced(Psn(2), now, params);
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNack);
  now += params.rto_max - Duration(1);
  c.OnAnnounced(Psn(2), now, params);
  EXPECT_FALSE(c.HasPendingAck());
  now += Duration(1);
  c.OnAnnounced(Psn(2), now, params);
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, UnsequencedPduTakesNoPsnAndIsNeverRetransmitted) {
  Send(2);
  const Psn unsequenced = c.next_psn();
  c.TakeRpsn();
  EXPECT_EQ(c.next_psn(), unsequenced);
  EXPECT_EQ(c.unacked_count(), 2u);
  Send(1);
  EXPECT_EQ(pdus.back().psn, unsequenced);
  Expire();
  EXPECT_EQ(Retransmit(), (Psns{0, 1, 2}));
}

TEST_F(ConnectionTest, UnsequencedPduInStepIsNeverAcknowledged) {
  Accept(2);
  ASSERT_EQ(c.Classify(Psn(2)), PsnVerdict::kExpected);
  EXPECT_FALSE(c.HasPendingAck());
  EXPECT_EQ(c.expected(), Psn(2));
}

TEST_F(ConnectionTest, GapBehindARefusedPduIsNoReasonForANack) {
  c.OnRefused();
  EXPECT_TRUE(c.not_ready());
  c.OnGap(now, params);
  EXPECT_FALSE(c.HasPendingAck());
  c.OnRoom();
  c.OnGap(now, params);
  EXPECT_EQ(c.TakeRpsn().op, RhOp::kNack);
}

TEST_F(ConnectionTest, AcceptingEndsARefusal) {
  c.OnRefused();
  c.Accept();
  EXPECT_FALSE(c.not_ready());
}

TEST_F(ConnectionTest, HistoryBeginsWithTheFirstAcceptedOrAcknowledgedPdu) {
  EXPECT_FALSE(c.MayHaveHistory());
  Send(1);
  EXPECT_FALSE(c.HasHistory());
  EXPECT_TRUE(c.MayHaveHistory());
  Ack(0);
  EXPECT_TRUE(c.HasHistory());
  Connection other;
  other.Accept();
  EXPECT_TRUE(other.HasHistory());
}

}  // namespace
}  // namespace suede
