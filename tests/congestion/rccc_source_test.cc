// SPDX-License-Identifier: Apache-2.0
// The sender's side of RCCC: when a source asks, and what a grant permits.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "congestion/context.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class RcccSource : public ::testing::Test {
 protected:
  static constexpr uint32_t kPdu = 1000;
  static constexpr int64_t kBdp = 125'000;     // of 100 Gb/s and 10 us
  static constexpr int64_t kReserve = 31'232;  // 31 PDUs of 1000 octets, in whole units
  static constexpr int64_t kMuch = 100 * kBdp;

  RcccSource() {
    params_.control = CongestionControl::kRccc;
    Start();
  }
  void Start() { c_.Start(params_.control, params_, {100'000'000'000, kPdu}, now_); }
  std::optional<CreditRequest> Poll(int64_t backlog) {
    const auto request = c_.PollRequest(static_cast<uint64_t>(backlog), now_);
    c_.CheckInvariants();
    return request;
  }
  // Goes to the deadline, and asks again.
  std::optional<CreditRequest> Expire(int64_t backlog) {
    if (c_.deadline() == kNever) return std::nullopt;
    now_ = std::max(now_, c_.deadline());
    c_.OnTimer(now_);
    return Poll(backlog);
  }
  void Send(int64_t octets) { c_.OnSent(static_cast<uint32_t>(octets), now_); }
  void Grant(int64_t octets) { c_.OnGrant(Credit24::Floor(octets), now_); }
  static Credit24 Up(int64_t octets) { return Credit24::Ceil(octets); }

  CongestionParams params_;
  CongestionContext c_;
  Time now_ = TimeFromNs(1'000'000);
};

TEST_F(RcccSource, BeginsWithItsReserve) {
  EXPECT_EQ(c_.allowance(), kReserve);
  EXPECT_TRUE(c_.Allows(kReserve));
  EXPECT_FALSE(c_.Allows(kReserve + 1));
  EXPECT_EQ(c_.deadline(), kNever);
  EXPECT_EQ(c_.state_name(), "idle");
}

TEST_F(RcccSource, ReserveIsAtLeastOnePdu) {
  params_.initial_percent = 1;
  c_.Start(params_.control, params_, {1'000'000'000, 9000}, now_);
  EXPECT_TRUE(c_.Allows(9000));
  EXPECT_FALSE(c_.Allows(9001 + 255));
}

TEST_F(RcccSource, WhatTheReserveCoversNeedsNoRequest) {
  EXPECT_FALSE(Poll(kReserve));
  Send(kReserve / 2);
  EXPECT_FALSE(Poll(kReserve / 2));
}

TEST_F(RcccSource, AsksAtOnceForWhatItHasNoCreditFor) {
  const auto request = Poll(kReserve + 1);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->sent, Credit24(0));
  EXPECT_EQ(request->limit, Up(kReserve));
  EXPECT_EQ(request->target, Up(2 * kReserve + 1));  // its backlog, and the reserve after it
  EXPECT_FALSE(Poll(kReserve + 1));
}

TEST_F(RcccSource, AsksForEightBdpAtMost) {
  const auto request = Poll(kMuch);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, Up(8 * kBdp + kReserve));
}

TEST_F(RcccSource, AsksForAQuarterOfTheNumbersOfCreditAtMost) {
  params_.base_rtt = milliseconds(100);
  Start();
  const auto request = Poll(INT64_MAX);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target.DistanceFrom(request->limit), kCreditSpan / 2 / kCreditUnitOctets);
}

TEST_F(RcccSource, AsksForWhatTheRateOfThePortPermits) {
  c_.SetRate(10'000'000'000);
  auto request = Poll(kMuch);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, Up(8 * kBdp / 10 + kReserve));
  c_.SetRate(100'000'000'000);
  now_ += params_.base_rtt;
  request = Poll(kMuch);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, Up(8 * kBdp + kReserve));
}

TEST_F(RcccSource, GrantPermitsToSend) {
  ASSERT_TRUE(Poll(kMuch));
  EXPECT_EQ(c_.state_name(), "granted");
  Send(kReserve);
  EXPECT_FALSE(c_.Allows(1));
  ASSERT_FALSE(Poll(kMuch - kReserve));
  EXPECT_EQ(c_.state_name(), "asking");
  Grant(kReserve + 12'544);
  EXPECT_EQ(c_.allowance(), 12'544);
}

TEST_F(RcccSource, CreditForOnePduIsNotWaitedFor) {
  ASSERT_TRUE(Poll(kMuch));
  Send(kReserve - kPdu);
  EXPECT_EQ(c_.state_name(), "granted");
  Send(1);
  EXPECT_EQ(c_.state_name(), "asking");
}

TEST_F(RcccSource, ShowsTheCreditThatIsLeft) {
  EXPECT_EQ(c_.window_octets(), static_cast<uint64_t>(kReserve));
  Send(kReserve - 1);
  EXPECT_EQ(c_.window_octets(), 1u);
  Send(kPdu);
  EXPECT_EQ(c_.window_octets(), 0u) << "overdrawn";
}

TEST_F(RcccSource, StragglersAndUnaskedCreditChangeNothing) {
  ASSERT_TRUE(Poll(kMuch));
  Grant(kReserve + 2560);
  const int64_t allowance = c_.allowance();
  Grant(kReserve);
  Grant(0);
  Grant(8 * kBdp + 2 * kReserve + 256);  // beyond what was asked for
  Grant(kCreditSpan);
  EXPECT_EQ(c_.allowance(), allowance);
}

TEST_F(RcccSource, AsksAgainBeforeWhatItAskedForIsGranted) {
  ASSERT_TRUE(Poll(kMuch));
  int64_t sent = 0;
  int64_t limit = kReserve;
  int requests = 0;
  while (sent < 80 * kBdp) {
    Send(kPdu);
    sent += kPdu;
    now_ += microseconds(1);
    limit += 1024;
    Grant(limit);
    const auto request = Poll(kMuch);
    if (!request) continue;
    ++requests;
    // There was always credit left to be granted.
    EXPECT_GT(request->target.Octets(limit) - limit, 4 * kBdp);
  }
  EXPECT_GE(requests, 16);
  EXPECT_LE(requests, 24);
}

TEST_F(RcccSource, RequestsOfAGrowingBacklogAreFew) {
  int requests = 0;
  for (int64_t backlog = kReserve; backlog < 7 * kBdp; backlog += kPdu) {
    requests += Poll(backlog).has_value();
    now_ += nanoseconds(100);
  }
  EXPECT_LE(requests, 6);
}

TEST_F(RcccSource, RequestsKeepAQuarterOfARoundTripApart) {
  ASSERT_TRUE(Poll(kReserve + 1));
  EXPECT_FALSE(Poll(kMuch));
  EXPECT_EQ(c_.deadline(), now_ + params_.base_rtt / 4);
  ASSERT_TRUE(Expire(kMuch));
  EXPECT_EQ(c_.deadline(), now_ + 4 * params_.base_rtt);
}

TEST_F(RcccSource, RequestsKeepAQuarterOfARoundTripApartHoweverSoonAllIsGranted) {
  const auto request = Poll(kReserve + 1);
  ASSERT_TRUE(request);
  const int64_t limit = request->target.Octets(0);
  Grant(limit);
  EXPECT_FALSE(Poll(0));
  Send(limit);
  EXPECT_FALSE(Poll(kMuch));
  EXPECT_EQ(c_.deadline(), now_ + params_.base_rtt / 4);
  EXPECT_TRUE(Expire(kMuch));
}

TEST_F(RcccSource, RepeatsAndDoublesTheWait) {
  const auto request = Poll(kMuch);
  ASSERT_TRUE(request);
  Duration wait = 4 * params_.base_rtt;
  for (int i = 0; i < 10; ++i) {
    const Time before = now_;
    const auto repeated = Expire(kMuch);
    ASSERT_TRUE(repeated);
    EXPECT_EQ(*repeated, *request);
    EXPECT_EQ(now_ - before, std::min(wait, params_.repeat_max));
    wait *= 2;
  }
}

TEST_F(RcccSource, RepeatIsAsConfigured) {
  params_.repeat = microseconds(77);
  Start();
  ASSERT_TRUE(Poll(kMuch));
  EXPECT_EQ(c_.deadline(), now_ + microseconds(77));
  params_.repeat = nanoseconds(1);
  Start();
  ASSERT_TRUE(Poll(kMuch));
  EXPECT_EQ(c_.deadline(), now_ + params_.base_rtt / 4);
}

TEST_F(RcccSource, WaitsAsLongAsATurnTakesWithManySenders) {
  ASSERT_TRUE(Poll(kMuch));
  now_ += microseconds(300);
  Grant(kReserve + 2560);
  EXPECT_EQ(c_.deadline(), now_ + microseconds(600));
  now_ += microseconds(100);
  Grant(kReserve + 5120);
  EXPECT_EQ(c_.deadline(), now_ + microseconds(200)) << "the last turn counts";
}

// Others may have left meanwhile.
TEST_F(RcccSource, WaitsHalfAsLongWhereItAsksAnew) {
  const auto request = Poll(kMuch);
  ASSERT_TRUE(request);
  now_ += microseconds(300);
  const int64_t limit = request->target.Octets(0);
  Grant(limit);
  EXPECT_EQ(c_.deadline(), kNever);
  Send(limit);
  ASSERT_TRUE(Poll(kMuch));
  EXPECT_EQ(c_.deadline(), now_ + microseconds(300));
}

TEST_F(RcccSource, TimeInWhichItAsksForNothingIsNoTurn) {
  now_ += microseconds(400);
  ASSERT_TRUE(Poll(kMuch));
  now_ += microseconds(10);
  Grant(kReserve + 2560);
  EXPECT_EQ(c_.deadline(), now_ + 4 * params_.base_rtt);
}

TEST_F(RcccSource, RestoresItsReserveWhenIdle) {
  Send(kReserve / 2);
  EXPECT_FALSE(Poll(0));
  Send(kPdu);
  const auto request = Poll(0);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, Up(kReserve / 2 + kPdu + kReserve));
  Grant(kReserve / 2 + kPdu + kReserve + 255);
  EXPECT_EQ(c_.deadline(), kNever);
  EXPECT_FALSE(Poll(0));
  EXPECT_GE(c_.allowance(), kReserve);
}

TEST_F(RcccSource, IdleSourceStopsRepeatingAndBeginsAgainWithABacklog) {
  Send(kReserve);
  ASSERT_TRUE(Poll(0));
  int repeats = 0;
  while (Expire(0)) ++repeats;
  EXPECT_EQ(repeats, 3);
  EXPECT_EQ(c_.deadline(), kNever);
  EXPECT_FALSE(c_.Allows(1));  // nor does it send without credit
  EXPECT_TRUE(Poll(kPdu));
}

// As one does that counts with smaller reserves.
TEST_F(RcccSource, IdleSourceStopsRepeatingToATargetThatAnswersAndGrantsNothing) {
  Send(kReserve);
  ASSERT_TRUE(Poll(0));
  int repeats = 0;
  for (; repeats < 100; ++repeats) {
    Grant(kReserve);
    if (!Expire(0)) break;
  }
  EXPECT_EQ(repeats, 3);
  EXPECT_EQ(c_.deadline(), kNever);
  EXPECT_TRUE(Poll(kPdu));
}

TEST_F(RcccSource, SaysThatABacklogWentAway) {
  ASSERT_TRUE(Poll(kMuch));
  now_ += params_.base_rtt;
  EXPECT_FALSE(Poll(7 * kBdp));
  const auto request = Poll(kPdu);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, Up(kPdu + kReserve));
  now_ += params_.base_rtt;
  const auto nothing = Poll(0);
  EXPECT_FALSE(nothing) << "for a PDU it is not worth a request";
}

// More by one largest PDU, where at least half is not asked for yet; less by two of them, where
// more than half is not needed.
TEST_F(RcccSource, ABacklogThatChangesIsWorthARequest) {
  constexpr int64_t kLarge = 1024;
  constexpr int64_t kWholeReserve = 30 * kLarge;
  constexpr int64_t kBacklog = 60 * kLarge;
  struct Row {
    int64_t pending;
    int64_t change;
    bool asks;
  };
  for (const Row& row :
       {Row{1024, 1024, true}, Row{1024, 768, false}, Row{256, 1024, true}, Row{256, 768, false},
        Row{4096, 3840, false}, Row{4096, 4096, true}, Row{3072, -2048, true},
        Row{3072, -1792, false}, Row{4096, -2048, false}, Row{4096, -2304, true}}) {
    c_.Start(params_.control, params_, {100'000'000'000, kLarge}, now_);
    ASSERT_TRUE(Poll(kBacklog));
    Grant(kBacklog + kWholeReserve - row.pending);
    now_ += params_.base_rtt;
    const auto request = Poll(kBacklog + row.change);
    ASSERT_EQ(request.has_value(), row.asks) << row.pending << " " << row.change;
    if (row.asks) {
      EXPECT_EQ(request->target, Up(kBacklog + row.change + kWholeReserve));
    }
  }
}

TEST_F(RcccSource, WaitsForNothingWhereTheWholeBacklogWentAway) {
  ASSERT_TRUE(Poll(kMuch));
  now_ += params_.base_rtt;
  const auto request = Poll(0);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->target, Up(kReserve));
  EXPECT_EQ(c_.deadline(), kNever);
}

TEST_F(RcccSource, SendsAPduNowAndThenTowardsASilentTarget) {
  ASSERT_TRUE(Poll(kMuch));
  Send(kReserve);
  int sent = 0;
  const Time begin = now_;
  Time last = now_;
  Duration max{};
  while (now_ - begin < milliseconds(300)) {
    ASSERT_TRUE(Expire(kMuch));
    if (!c_.Allows(kPdu)) continue;
    EXPECT_EQ(c_.state_name(), "speculating");
    Send(kPdu);
    EXPECT_FALSE(c_.Allows(kPdu));
    max = std::max(max, now_ - last);
    last = now_;
    ++sent;
  }
  EXPECT_GE(sent, 6);
  EXPECT_LE(sent, 12);
  EXPECT_GE(max, milliseconds(60));
  EXPECT_LE(max, milliseconds(70));
  Grant(kReserve + 20 * 1024);  // counts from the beginning, with what was sent without
  EXPECT_LE(c_.allowance(), 20 * 1024 + 256);
  EXPECT_GT(c_.allowance(), 0);
  EXPECT_NE(c_.state_name(), "speculating");
}

// The first request is one of four where there was no grant before.
TEST_F(RcccSource, ATargetIsSilentOnceFourRequestsHaveNoAnswer) {
  for (const bool granted : {false, true}) {
    Start();
    ASSERT_TRUE(Poll(kMuch));
    Send(kReserve);
    if (granted) {
      Grant(kReserve + kCreditUnitOctets);
      Send(kCreditUnitOctets);
    }
    int requests = granted ? 0 : 1;
    for (; !c_.Allows(kPdu) && requests < 10; ++requests) ASSERT_TRUE(Expire(kMuch));
    EXPECT_EQ(requests, 5) << "with the one that leaves along with the PDU";
  }
}

TEST_F(RcccSource, WithoutCreditTheTimeBetweenPdusDoubles) {
  params_.repeat = params_.repeat_max;
  Start();
  ASSERT_TRUE(Poll(kMuch));
  Send(kReserve);
  std::vector<Time> sent;
  while (sent.size() < 9) {
    ASSERT_TRUE(Expire(kMuch));
    if (!c_.Allows(kPdu)) continue;
    sent.push_back(now_);
    Send(kPdu);
  }
  for (int i = 0; i < 8; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(sent[at + 1] - sent[at], params_.repeat_max * (1 << std::min(i, 6))) << i;
  }
}

TEST_F(RcccSource, WithCreditForOnePduNothingIsSentWithout) {
  ASSERT_TRUE(Poll(kMuch));
  Send(kReserve - kPdu);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Expire(kMuch));
  EXPECT_EQ(c_.allowance(), kPdu);
  EXPECT_EQ(c_.state_name(), "granted");
}

TEST_F(RcccSource, LargerPdusThanAtTheStartLeaveToo) {
  const auto larger = static_cast<uint32_t>(9 * kBdp);  // more than it asks for otherwise
  c_.RaiseLargest(larger, now_);
  c_.RaiseLargest(kPdu, now_);
  const auto request = Poll(larger);
  ASSERT_TRUE(request);
  EXPECT_GE(request->target.Octets(larger), larger);
  for (int i = 0; i < 20 && !c_.Allows(larger); ++i) Expire(larger);
  EXPECT_TRUE(c_.Allows(larger));  // and a silent target does not stop one of them
}

TEST_F(RcccSource, WaitsForATargetThatAnswersButHasNoRoom) {
  ASSERT_TRUE(Poll(kMuch));
  Send(kReserve);
  const Time begin = now_;
  while (now_ - begin < milliseconds(30)) {
    ASSERT_TRUE(Expire(kMuch));
    ASSERT_FALSE(c_.Allows(kPdu));
    Grant(kReserve);  // nothing new
  }
  // But not for ever: whether the target is well is the transport's to find out.
  now_ = begin + 32 * params_.repeat_max - nanoseconds(1);
  c_.OnTimer(now_);
  EXPECT_FALSE(c_.Allows(kPdu));
  now_ += nanoseconds(1);
  c_.OnTimer(now_);
  EXPECT_TRUE(c_.Allows(kPdu));
}

TEST_F(RcccSource, PdusThatAreSentAgainNeedCreditAgain) {
  ASSERT_TRUE(Poll(kMuch));
  Send(kReserve);
  EXPECT_EQ(c_.in_flight(), static_cast<uint64_t>(kReserve));
  c_.OnGoBack(static_cast<uint32_t>(c_.in_flight()), now_);
  EXPECT_EQ(c_.in_flight(), 0u);
  EXPECT_FALSE(c_.Allows(1));
}

TEST_F(RcccSource, CountsWhatIsInFlight) {
  Send(3000);
  c_.OnAcked(1000, microseconds(12), false, now_);
  EXPECT_EQ(c_.in_flight(), 2000u);
  c_.OnAcked(5000, std::nullopt, false, now_);  // never more than was sent
  EXPECT_EQ(c_.in_flight(), 0u);
  Send(3000);
  c_.OnAcked(1, std::nullopt, true, now_);
  EXPECT_EQ(c_.in_flight(), 0u);
}

TEST_F(RcccSource, StartsOver) {
  ASSERT_TRUE(Poll(kMuch));
  Send(kReserve);
  Start();
  EXPECT_EQ(c_.allowance(), kReserve);
  EXPECT_EQ(c_.deadline(), kNever);
  EXPECT_EQ(c_.in_flight(), 0u);
}

// Octets beyond 2^32 are as good as those before.
TEST_F(RcccSource, GoesOnThroughTheWrapOfCredit) {
  int64_t sent = 0;
  int64_t limit = kReserve;
  ASSERT_TRUE(Poll(kMuch));
  int64_t asked = 8 * kBdp;
  while (sent < (int64_t{1} << 34)) {
    now_ += microseconds(50);
    limit = std::min(limit + 4 * kBdp / 256 * 256, asked / 256 * 256);
    Grant(limit);
    ASSERT_EQ(c_.allowance(), limit - sent);
    Send(limit - sent);
    sent = limit;
    if (const auto request = Poll(kMuch)) asked = request->target.Octets(sent);
  }
}

TEST(FixedControl, PermitsEverythingAndAsksForNothing) {
  CongestionContext c;
  EXPECT_TRUE(c.Allows(UINT32_MAX));
  const Time now = TimeFromNs(5);
  const CongestionParams params;
  c.Start(CongestionControl::kFixed, params, {1'000'000'000, 1000}, now);
  for (int i = 0; i < 1000; ++i) c.OnSent(UINT32_MAX, now);
  EXPECT_TRUE(c.Allows(UINT32_MAX));
  EXPECT_FALSE(c.PollRequest(UINT64_MAX, now));
  c.OnAcked(1, microseconds(1), false, now);
  c.OnGoBack(static_cast<uint32_t>(c.in_flight()), now);
  c.OnGrant(Credit24(1), now);
  c.OnEcho({1, 1, 1});
  c.OnTimer(now);
  EXPECT_TRUE(c.Allows(UINT32_MAX));
  EXPECT_EQ(c.deadline(), kNever);
  EXPECT_EQ(c.in_flight(), 0u);
  EXPECT_EQ(c.window_octets(), 0u);
  EXPECT_EQ(c.state_name(), "fixed");
  c.CheckInvariants();
}

}  // namespace
}  // namespace suede
