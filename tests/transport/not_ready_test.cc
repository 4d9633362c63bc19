// SPDX-License-Identifier: Apache-2.0
// The sender's rules of the wire profile §6: pauses, and PDUs that cannot pass.
#include "connection_fixture.h"

namespace suede {
namespace {

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

TEST_F(ConnectionTest, TimeoutCountsFromTheRetransmissionOfTheOldestPdu) {
  Send(2);
  ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
  const Time asked = c.deadline();
  now += microseconds(700);
  EXPECT_EQ(c.tx().TakeRetransmission(now, params), &pdus[0]);
  EXPECT_EQ(pdus[0].sent_at, now);
  now += microseconds(700);
  EXPECT_EQ(c.tx().TakeRetransmission(now, params), &pdus[1]);
  EXPECT_EQ(c.deadline(), asked + microseconds(700));
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
  EXPECT_TRUE(c.tx().lost());
}

TEST_F(ConnectionTest, NotReadysBeforeItWasLostDoNotProlongTheWaitAfterIt) {
  Send(1);
  for (int i = 0; i < 4; ++i) {
    NotReady(0);
    ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
    Retransmit();
  }
  GiveUp();
  while (c.tx().lost()) Answer(0);
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
  EXPECT_EQ(c.in_flight().next_psn(), Psn(0));
  EXPECT_EQ(c.rx().expected(), Psn(0));
  EXPECT_FALSE(c.HasHistory());
  EXPECT_EQ(c.deadline(), kNever);
  c.tx().CheckInvariants(params);
}

// ---- NOT_READY and READY.

TEST_F(ConnectionTest, NotReadyAcknowledgesWhatIsBeforeItAndPauses) {
  Send(4);
  EXPECT_EQ(NotReady(2), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0, 1}));
  EXPECT_FALSE(c.tx().CanSend(0, params));
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{2, 3}));
}

TEST_F(ConnectionTest, NotReadyOfTheSecondPduIsProgress) {
  Send(2);
  EXPECT_EQ(NotReady(1), RpsnVerdict::kProgress);
}

TEST_F(ConnectionTest, NotReadyOfTheOldestPduIsNoProgress) {
  Send(2);
  EXPECT_EQ(NotReady(0), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.tx().CanSend(0, params));
}

TEST_F(ConnectionTest, NotReadyEndsARetransmissionThatHasBegun) {
  Send(3);
  Nack(0);
  ASSERT_TRUE(c.in_flight().HasRetransmission());
  NotReady(0);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{0, 1, 2}));
}

TEST_F(ConnectionTest, NotReadyPauseIsNotCountedAsATry) {
  Send(1);
  for (uint32_t i = 0; i < 3 * params.max_tries; ++i) {
    NotReady(0);
    ASSERT_EQ(Expire(), TimerVerdict::kRetransmit);
    EXPECT_EQ(c.tx().tries(), 0u);
    Retransmit();
  }
}

TEST_F(ConnectionTest, NotReadyForgetsTheTriesBefore) {
  Send(1);
  Expire();
  Retransmit();
  EXPECT_EQ(c.tx().tries(), 1u);
  NotReady(0);
  EXPECT_EQ(c.tx().tries(), 0u);
}

TEST_F(ConnectionTest, NotReadyPausesAsLongAsAsked) {
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
  EXPECT_EQ(waits, std::vector<Duration>(5, microseconds(250)));
  const std::pair<Duration, Duration> asked_and_waited[] = {
      {microseconds(1), microseconds(1)},
      {std::chrono::seconds(1), std::chrono::seconds(1)},  // beyond rto_max
      {std::chrono::seconds(4000), std::chrono::seconds(10)},
      {Duration(0), params.not_ready_backoff}};
  for (const auto& [asked, waited] : asked_and_waited) {
    NotReady(0, asked);
    EXPECT_EQ(c.deadline() - now, waited);
    NotReady(0, asked + milliseconds(1));
    EXPECT_EQ(c.deadline() - now, waited) << "it is neither renewed nor changed";
    Expire();
    Retransmit();
  }
}

// The one without room asks for more each time, of the same PDU.
TEST_F(ConnectionTest, EachRefusalOfAPduAsksForALongerWait) {
  params.not_ready_backoff = microseconds(100);
  params.rto_max = microseconds(700);
  const auto refuse = [&] {
    c.rx().OnRefused();
    return c.rx().RefusalWait(params);
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(refuse(), microseconds(100));
    EXPECT_EQ(refuse(), microseconds(200));
    c.rx().OnRoom();  // and another one has taken it
    EXPECT_EQ(refuse(), microseconds(400));
    EXPECT_EQ(refuse(), microseconds(700));
    for (int j = 0; j < 300; ++j) EXPECT_EQ(refuse(), microseconds(700));
    c.rx().Accept();
  }
  params.not_ready_backoff = milliseconds(1);
  EXPECT_EQ(refuse(), milliseconds(1));
  EXPECT_EQ(refuse(), milliseconds(1));
}

TEST_F(ConnectionTest, NackDuringAPauseDoesNotEndIt) {
  Send(3);
  NotReady(1);
  EXPECT_EQ(Nack(1), RpsnVerdict::kNothingNew);
  EXPECT_FALSE(c.in_flight().HasRetransmission());
  EXPECT_FALSE(c.tx().CanSend(0, params));
}

TEST_F(ConnectionTest, ReadyResumesAtOnce) {
  Send(3);
  NotReady(1, milliseconds(100));
  now += microseconds(10);
  c.tx().OnReady(Psn(1), now);
  EXPECT_EQ(c.OnTimer(now, params), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{1, 2}));
}

TEST_F(ConnectionTest, ReadyForAnotherPsnOrWithoutAPauseIsIgnored) {
  Send(3);
  const Time deadline = c.deadline();
  c.tx().OnReady(Psn(0), now);
  EXPECT_EQ(c.deadline(), deadline);
  NotReady(1, milliseconds(100));
  const Time paused_until = c.deadline();
  c.tx().OnReady(Psn(2), now);
  EXPECT_EQ(c.deadline(), paused_until);
}

TEST_F(ConnectionTest, NotReadyOfStaleOrNeverSentIsIgnored) {
  EXPECT_EQ(NotReady(0), RpsnVerdict::kNothingNew);
  Send(3);
  Ack(1);
  EXPECT_EQ(NotReady(1), RpsnVerdict::kNothingNew);
  EXPECT_EQ(NotReady(4), RpsnVerdict::kOutOfWindow);
  EXPECT_TRUE(c.tx().CanSend(0, params));
}

}  // namespace
}  // namespace suede
