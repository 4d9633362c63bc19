// SPDX-License-Identifier: Apache-2.0
// The sender's rules of the wire profile §6: windows, ACK, NACK, timeouts, reports on the path.
#include "connection_fixture.h"

namespace suede {
namespace {

// ---- Windows and serial numbers.

TEST_F(ConnectionTest, FirstPsnIsZeroAndEachPduTakesTheNext) {
  EXPECT_EQ(c.in_flight().next_psn(), Psn(0));
  Send(3);
  EXPECT_EQ(pdus[0].psn, Psn(0));
  EXPECT_EQ(pdus[2].psn, Psn(2));
  EXPECT_EQ(c.in_flight().next_psn(), Psn(3));
}

TEST_F(ConnectionTest, WindowOfPdusIsFullAtItsEdge) {
  params.window_pdus = 4;
  Send(4);
  EXPECT_FALSE(c.tx().CanSend(0, params));
  Ack(0);
  Send(1);
  EXPECT_FALSE(c.tx().CanSend(0, params));
}

TEST_F(ConnectionTest, WindowOfOneSendsOneAtATime) {
  params.window_pdus = 1;
  for (uint16_t psn = 0; psn < 10; ++psn) {
    Send(1);
    EXPECT_FALSE(c.tx().CanSend(0, params));
    EXPECT_EQ(Ack(psn), RpsnVerdict::kProgress);
  }
}

TEST_F(ConnectionTest, WindowOfBytesIsFullAtItsEdge) {
  params.window_bytes = 1000;
  Send(3, 300);
  EXPECT_TRUE(c.tx().CanSend(100, params));
  EXPECT_FALSE(c.tx().CanSend(101, params));
  Send(1, 100);
  EXPECT_EQ(c.in_flight().bytes(), 1000u);
  Ack(0);
  EXPECT_TRUE(c.tx().CanSend(300, params));
  EXPECT_FALSE(c.tx().CanSend(301, params));
}

TEST_F(ConnectionTest, PduAboveTheWindowOfBytesGoesAlone) {
  params.window_bytes = 100;
  Send(1, 4096);
  EXPECT_FALSE(c.tx().CanSend(1, params));
  Ack(0);
  EXPECT_TRUE(c.tx().CanSend(4096, params));
}

TEST_F(ConnectionTest, WindowHasRoomForMorePdusInARowUpToItsEdges) {
  params.window_pdus = 4;
  params.window_bytes = 1000;
  EXPECT_EQ(c.tx().WindowLeft(params), 4u);
  Send(3, 300);
  EXPECT_EQ(c.tx().WindowLeft(params), 1u);
  EXPECT_EQ(c.tx().BytesLeft(params), 100u);
}

TEST_F(ConnectionTest, KnowsTheVcsOfThePdusInFlight) {
  EXPECT_FALSE(c.in_flight().Carries(0));
  Send(2);
  pdus[1].vc = 2;
  EXPECT_TRUE(c.in_flight().Carries(0));
  EXPECT_FALSE(c.in_flight().Carries(1));
  EXPECT_TRUE(c.in_flight().Carries(2));
  Ack(0);
  EXPECT_FALSE(c.in_flight().Carries(0));
}

TEST_F(ConnectionTest, LargestWindowAcrossTheWrap) {
  params.window_pdus = kMaxWindowPdus;
  params.window_bytes = ~0u;
  StartAt(60000);
  Send(kMaxWindowPdus);
  EXPECT_FALSE(c.tx().CanSend(0, params));
  EXPECT_EQ(c.in_flight().next_psn(), Psn(static_cast<uint16_t>(60000 + kMaxWindowPdus)));
  // The oldest, one in the middle behind the wrap, the newest.
  EXPECT_EQ(Ack(60000), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked().size(), 1u);
  EXPECT_EQ(Ack(100), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked().size(), 65536u - 60000u + 100u);
  EXPECT_EQ(Ack(static_cast<uint16_t>(60000 + kMaxWindowPdus - 1)), RpsnVerdict::kProgress);
  EXPECT_EQ(c.in_flight().count(), 0u);
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

TEST_F(ConnectionTest, PdusInARowAreSequencedAsOneByOne) {
  const auto send = [&](int count) {
    PduList row;
    for (int i = 0; i < count; ++i) {
      pdus.emplace_back();
      pdus.back().bytes = 100;
      c.tx().Number(&pdus.back(), static_cast<uint32_t>(i), now);
      row.PushBack(&pdus.back());
    }
    c.tx().OnSend(row, static_cast<uint32_t>(count), 100 * static_cast<uint32_t>(count), now,
                  params);
    EXPECT_TRUE(row.empty());
    c.tx().CheckInvariants(params);
  };
  StartAt(65534);
  const uint32_t before = c.tx().tx_pdus();
  send(3);
  EXPECT_EQ(c.in_flight().next_psn(), Psn(1));
  EXPECT_EQ(c.tx().tx_pdus(), before + 3);
  EXPECT_EQ(c.in_flight().count(), 3u);
  EXPECT_EQ(c.in_flight().bytes(), 300u);
  EXPECT_EQ(pdus.back().sent_at, now);
  const Time deadline = c.deadline();
  EXPECT_EQ(deadline, now + c.tx().round_trip().rto(params));
  now += microseconds(5);
  send(2);
  EXPECT_EQ(c.deadline(), deadline) << "it is that of the first one";
  EXPECT_EQ(Ack(2), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{65534, 65535, 0, 1, 2}));
}

// ---- ACK.

TEST_F(ConnectionTest, AckIsCumulative) {
  Send(5);
  EXPECT_EQ(Ack(3), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0, 1, 2, 3}));
  EXPECT_EQ(c.in_flight().count(), 1u);
  EXPECT_EQ(c.in_flight().bytes(), 100u);
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
  EXPECT_EQ(c.in_flight().count(), 3u);
}

TEST_F(ConnectionTest, StaleAckIsNothingNew) {
  Send(4);
  Ack(2);
  Acked();
  for (const int stale : {2, 1, 0, 65535, 40000}) {
    EXPECT_EQ(Ack(static_cast<uint16_t>(stale)), RpsnVerdict::kNothingNew) << stale;
  }
  EXPECT_EQ(c.in_flight().count(), 1u);
  EXPECT_TRUE(Acked().empty());
}

TEST_F(ConnectionTest, AckBeforeAnythingWasAcceptedIsNothingNew) {
  Send(2);
  EXPECT_EQ(Ack(65535), RpsnVerdict::kNothingNew);
  EXPECT_EQ(c.in_flight().count(), 2u);
}

TEST_F(ConnectionTest, AckDuringRetransmissionMovesItForward) {
  Send(5);
  Nack(0);
  EXPECT_EQ(c.tx().TakeRetransmission(now, params)->psn, Psn(0));
  Ack(2);
  EXPECT_EQ(Retransmit(), (Psns{3, 4}));
  Nack(3);
  Ack(4);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
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
  EXPECT_FALSE(c.tx().CanSend(0, params));
  Retransmit();
  EXPECT_TRUE(c.tx().CanSend(0, params));
}

TEST_F(ConnectionTest, NackForTheSameRpsnGoesBackOncePerRoundTrip) {
  Send(1);
  now += microseconds(50);
  Ack(0);  // the round trip is 50 us
  ASSERT_EQ(c.tx().round_trip().srtt(), microseconds(50));
  Send(3);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2, 3}));
  now += microseconds(49);
  EXPECT_EQ(Nack(1), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  now += microseconds(1);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2, 3}));
}

// A NACK that waits for the end of the round trip says nothing of the PDUs behind the one that it
// names.
TEST_F(ConnectionTest, ANackThatWaitsIsForgottenWhereItsPduHasArrivedMeanwhile) {
  Send(1);
  now += microseconds(50);
  Ack(0);
  Send(3);
  Nack(1);
  EXPECT_EQ(Retransmit(), (Psns{1, 2, 3}));
  now += microseconds(10);
  Nack(1);
  now += microseconds(10);
  Ack(1);
  now += microseconds(40);  // past the time at which the NACK would have been heeded
  EXPECT_EQ(c.OnTimer(now, params), TimerVerdict::kNothing);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
}

TEST_F(ConnectionTest, ANewPathEndsTheTimeoutsOfTheFormerOne) {
  Send(2);
  EXPECT_FALSE(c.tx().OnNewPath(now, params));  // it has not timed out
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
  Retransmit();
  EXPECT_TRUE(c.tx().OnNewPath(now, params));
  EXPECT_EQ(Retransmit(), (Psns{0, 1}));
  EXPECT_EQ(c.deadline(), now + params.rto_initial);
  EXPECT_FALSE(c.tx().OnNewPath(now, params));
}

TEST_F(ConnectionTest, ANewPathHasItsOwnRoundTrip) {
  Send(1);
  now += microseconds(50);
  Ack(0);
  c.tx().OnNewPath(now, params);
  EXPECT_EQ(c.tx().round_trip().srtt(), Duration(0));
  EXPECT_EQ(c.tx().round_trip().rto(params), params.rto_initial);
}

TEST_F(ConnectionTest, ANewPathIsNoReasonToGoBackWhereNothingIsInFlight) {
  Send(1);
  ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
  Retransmit();
  PduList given_up;
  c.tx().Abandon(given_up);
  EXPECT_FALSE(c.tx().OnNewPath(now, params));
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(ConnectionTest, KnowsWhetherPdusOfTheFormerPathAreUnderWay) {
  EXPECT_FALSE(c.tx().UpdateFormerPath());
  Send(2);
  EXPECT_FALSE(c.tx().UpdateFormerPath()) << "there was no other path";
  c.tx().OnNewPath(now, params);
  Send(2);
  EXPECT_TRUE(c.tx().UpdateFormerPath());
  Ack(0);
  EXPECT_TRUE(c.tx().UpdateFormerPath());
  Ack(1);
  EXPECT_FALSE(c.tx().UpdateFormerPath()) << "the others left on the present one";
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
  EXPECT_EQ(c.in_flight().count(), 0u);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
}

TEST_F(ConnectionTest, NackOfNeverSentIsIgnored) {
  Send(3);
  EXPECT_EQ(Nack(4), RpsnVerdict::kOutOfWindow);
  EXPECT_EQ(c.in_flight().count(), 3u);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
}

TEST_F(ConnectionTest, StaleNackIsNothingNew) {
  Send(4);
  Ack(2);
  EXPECT_EQ(Nack(1), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
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
  EXPECT_EQ(c.tx().tries(), 1u);
  Ack(0);
  EXPECT_EQ(c.tx().tries(), 0u);
  EXPECT_EQ(c.deadline(), now + params.rto_initial);  // Karn: no round trip was measured
}

TEST_F(ConnectionTest, TimeoutFollowsTheMeasuredRoundTrip) {
  params.rto_min = microseconds(1);
  for (int i = 0; i < 100; ++i) {
    Send(1);
    now += microseconds(300);
    Ack(static_cast<uint16_t>(i));
  }
  EXPECT_EQ(c.tx().round_trip().srtt(), microseconds(300));
  EXPECT_GE(c.tx().round_trip().rto(params), microseconds(300) + params.ack_delay);
  EXPECT_LE(c.tx().round_trip().rto(params), microseconds(310) + params.ack_delay);
}

TEST_F(ConnectionTest, FirstRoundTripCountsWithHalfOfItAsItsVariation) {
  Send(1);
  now += milliseconds(2);
  Ack(0);
  EXPECT_EQ(c.tx().round_trip().rto(params),
            milliseconds(2) + 4 * milliseconds(1) + params.ack_delay);
}

TEST_F(ConnectionTest, SmoothedRoundTripFollowsByAnEighth) {
  Send(1);
  now += microseconds(80);
  Ack(0);
  Send(1);
  now += microseconds(160);
  Ack(1);
  EXPECT_EQ(c.tx().round_trip().srtt(), microseconds(90));
  Send(1);
  now += microseconds(10);
  Ack(2);
  EXPECT_EQ(c.tx().round_trip().srtt(), microseconds(80));
}

TEST_F(ConnectionTest, TimeoutKeepsItsBounds) {
  Send(1);
  now += Duration(1);
  Ack(0);
  EXPECT_EQ(c.tx().round_trip().rto(params), params.rto_min);
  Send(1);
  now += std::chrono::seconds(30);
  Ack(1);
  EXPECT_EQ(c.tx().round_trip().rto(params), params.rto_max);
}

TEST_F(ConnectionTest, KarnRetransmittedPdusGiveNoRoundTrip) {
  Send(1);
  Expire();
  Retransmit();
  now += microseconds(3);
  Ack(0);
  EXPECT_EQ(c.tx().round_trip().srtt(), Duration(0));
  Send(1);
  now += microseconds(70);
  Ack(1);
  EXPECT_EQ(c.tx().round_trip().srtt(), microseconds(70));
}

TEST_F(ConnectionTest, UnreachableAfterMaxTries) {
  params.max_tries = 3;
  Send(4);
  EXPECT_EQ(GiveUp(), (Psns{0, 1, 2, 3}));
  EXPECT_TRUE(c.tx().lost());
  EXPECT_FALSE(c.tx().CanSend(0, params));
  EXPECT_EQ(c.in_flight().bytes(), 0u);
}

TEST_F(ConnectionTest, UnreachableIsSaidOnce) {
  params.max_tries = 0;
  EXPECT_FALSE(c.tx().TimesOut(kNever));
  Send(1);
  EXPECT_FALSE(c.tx().TimesOut(c.deadline() - Duration(1)));
  EXPECT_TRUE(c.tx().TimesOut(c.deadline()));
  EXPECT_EQ(Expire(), TimerVerdict::kUnreachable);
  EXPECT_EQ(c.deadline(), kNever);
}

TEST_F(ConnectionTest, SmallestRoundTripCreepsUpWithThePath) {
  uint16_t psn = 0;
  const auto measure = [&](Duration round_trip) {
    Send(1);
    now += round_trip;
    Ack(psn++);
    return c.tx().round_trip().min_rtt();
  };
  EXPECT_EQ(c.tx().round_trip().min_rtt(), Duration(0));
  EXPECT_EQ(measure(Duration(25'600)), Duration(25'600));
  EXPECT_TRUE(c.tx().TakeMeasured());
  EXPECT_FALSE(c.tx().TakeMeasured());
  EXPECT_EQ(measure(Duration(51'200)), Duration(25'600 + 100 + 1)) << "a part of 256, and one";
  EXPECT_EQ(measure(Duration(25'650)), Duration(25'650));
  EXPECT_EQ(measure(Duration(10'000)), Duration(10'000));
  EXPECT_EQ(measure(Duration(0)), Duration(1)) << "0 would be none";
}

// ---- Reports on the path.

TEST_F(ConnectionTest, AgeIsFromTheBeginOfThePduOverAllItsTransmissions) {
  pdus.emplace_back();
  pdus.back().sent_at = now;  // as packing does
  now += microseconds(10);
  c.tx().OnSend(&pdus.back(), now, params);
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
  EXPECT_FALSE(c.tx().TakeRecovery(now).has_value());
  const Time began = now;
  Nack(1);
  EXPECT_FALSE(c.tx().TakeRecovery(now).has_value());
  EXPECT_EQ(Retransmit(), (std::vector<uint16_t>{1, 2, 3}));
  Send(2);  // not part of it
  now += microseconds(30);
  Ack(2);
  EXPECT_FALSE(c.tx().TakeRecovery(now).has_value());
  now += microseconds(10);
  Ack(3);
  const std::optional<Recovery> recovery = c.tx().TakeRecovery(now);
  ASSERT_TRUE(recovery.has_value());
  EXPECT_EQ(recovery->pdus, 3);
  EXPECT_EQ(recovery->took, now - began);
  EXPECT_FALSE(c.tx().TakeRecovery(now).has_value());
}

TEST_F(ConnectionTest, GoingBackOnceMoreBelongsToTheSameRecovery) {
  Send(3);
  const Time began = now;
  Nack(0);
  Retransmit();
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  Retransmit();
  Ack(2);
  const std::optional<Recovery> recovery = c.tx().TakeRecovery(now);
  ASSERT_TRUE(recovery.has_value());
  EXPECT_EQ(recovery->pdus, 6);
  EXPECT_EQ(recovery->took, now - began);
}

TEST_F(ConnectionTest, NothingThatEndsThePdusInFlightIsARecovery) {
  PduList rest;
  const auto begin = [&] {
    Send(2);
    Nack(c.in_flight().oldest_psn().value());
    ASSERT_TRUE(c.in_flight().HasRetransmission());
  };
  const auto expect_none = [&](const char* what) {
    EXPECT_FALSE(c.in_flight().HasRetransmission()) << what;
    EXPECT_FALSE(c.tx().TakeRecovery(now).has_value()) << what;
    Take(rest);
  };
  begin();
  c.tx().GiveUp(now, params, rest);
  Answer(2);
  EXPECT_EQ(Answer(2), RpsnVerdict::kResumed);
  expect_none("GiveUp");
  begin();
  c.tx().Freeze();
  Ack(3);
  expect_none("Freeze");
  c.tx().Restart(Psn(4), rest);
  now += params.rto_max;
  begin();
  c.tx().Restart(Psn(10), rest);
  expect_none("Restart");
  now += params.rto_max;
  begin();
  c.tx().Abandon(rest);
  expect_none("Abandon");
  EXPECT_EQ(c.deadline(), kNever);
  c.tx().CheckInvariants(params);
}

TEST_F(ConnectionTest, GivingUpIsNoRecovery) {
  Send(2);
  Nack(0);
  Retransmit();
  GiveUp();
  Answer(1);
  Answer(1);
  EXPECT_FALSE(c.tx().TakeRecovery(now).has_value());
}

}  // namespace
}  // namespace suede
