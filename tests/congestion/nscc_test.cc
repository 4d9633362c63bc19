// SPDX-License-Identifier: Apache-2.0
// NSCC: the window, by round trips, marks and losses; windows of less than a PDU; the base RTT.
#include <gtest/gtest.h>

#include "congestion/context.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class Nscc : public ::testing::Test {
 protected:
  static constexpr uint32_t kPdu = 4150;
  static constexpr int64_t kBdp = 125'000;  // of 100 Gb/s and 10 us

  Nscc() {
    params_.control = CongestionControl::kNscc;
    Start();
  }
  void Start() { c_.Start(params_.control, params_, {100'000'000'000, kPdu}, now_); }
  int64_t window() const { return static_cast<int64_t>(c_.window_octets()); }
  // Sends all that is allowed; after `rtt`, all of it is acknowledged, PDU by PDU.
  void RoundTrip(Duration rtt, bool marked = false) {
    uint32_t pdus = 0;
    for (; c_.Allows(kPdu); ++pdus) c_.OnSent(kPdu, now_);
    now_ += rtt;
    for (; pdus != 0; --pdus) {
      if (marked) c_.OnEcho({1, 1, 0});
      c_.OnAcked(kPdu, rtt, pdus == 1, now_);
      c_.CheckInvariants();
    }
    if (c_.deadline() != kNever) {
      now_ = std::max(now_, c_.deadline());
      c_.OnTimer(now_);
    }
  }

  CongestionParams params_;
  CongestionContext c_;
  Time now_ = TimeFromNs(1'000'000);
};

TEST_F(Nscc, BeginsWithItsLargestWindow) {
  EXPECT_EQ(window(), kBdp * 3 / 2);
  EXPECT_TRUE(c_.Allows(kBdp));
  EXPECT_FALSE(c_.PollRequest(1'000'000, now_));
  EXPECT_EQ(c_.state_name(), "open");
}

TEST_F(Nscc, WindowIsAtLeastOnePdu) {
  c_.Start(params_.control, params_, {1'000'000, kPdu}, now_);
  EXPECT_TRUE(c_.Allows(kPdu));
}

TEST_F(Nscc, SendsNoMoreThanTheWindowAndAPdu) {
  int64_t sent = 0;
  for (; c_.Allows(kPdu); sent += kPdu) c_.OnSent(kPdu, now_);
  EXPECT_GE(sent, window() - kPdu);
  EXPECT_LE(sent, window() + kPdu);
  EXPECT_EQ(c_.in_flight(), static_cast<uint64_t>(sent));
}

TEST_F(Nscc, MarksWithoutDelayAreNoReasonToSendLess) {
  for (int i = 0; i < 10; ++i) RoundTrip(microseconds(11), true);
  EXPECT_GE(window(), kBdp * 3 / 2);
}

TEST_F(Nscc, YieldsToDelayWithMarks) {
  for (int i = 0; i < 4; ++i) RoundTrip(microseconds(25), true);
  EXPECT_LT(window(), kBdp);
  EXPECT_GT(window(), kBdp / 4);
}

TEST_F(Nscc, DecreasesOncePerRoundTrip) {
  RoundTrip(microseconds(25), true);
  RoundTrip(microseconds(25), true);
  const int64_t before = window();
  RoundTrip(microseconds(25), true);
  EXPECT_GE(window(), before / 2);
  EXPECT_LT(window(), before);
}

TEST_F(Nscc, HoldsWhileTheDelayFalls) {
  for (int i = 0; i < 5; ++i) RoundTrip(microseconds(34), true);
  const int64_t before = window();
  for (int i = 33; i > 22; i -= 2) RoundTrip(microseconds(i), true);
  EXPECT_GE(window(), before);
}

TEST_F(Nscc, GrowsWithoutDelay) {
  for (int i = 0; i < 5; ++i) RoundTrip(microseconds(34), true);
  int64_t window_before = window();
  for (int i = 0; i < 8; ++i) {
    RoundTrip(microseconds(10));
    EXPECT_GT(window(), window_before);
    window_before = window();
  }
  for (int i = 0; i < 1000; ++i) RoundTrip(microseconds(10));
  EXPECT_EQ(window(), kBdp * 3 / 2);
}

TEST_F(Nscc, FindsItsWindowAnewWhereDelayIsHuge) {
  // 64 such sources: the queue is 64 windows.
  RoundTrip(microseconds(950), true);
  RoundTrip(microseconds(950), true);
  EXPECT_LT(window(), kBdp / 8);
}

// The delays that the larger window before caused are no reason to take the next ones for small.
TEST_F(Nscc, AWindowThatWasFoundAnewYieldsToDelayAtOnce) {
  RoundTrip(microseconds(55), true);
  const int64_t found = window();
  ASSERT_LT(found, kBdp / 8);
  RoundTrip(microseconds(48), true);
  EXPECT_LT(window(), found);
}

// The rate of fewer would be a matter of chance.
TEST_F(Nscc, TheRateOfFourPdusTellsTheWindow) {
  constexpr Duration kHuge = microseconds(950);
  for (int i = 0; i < 8; ++i) c_.OnSent(kPdu, now_);
  now_ += kHuge;
  for (int i = 0; i < 3; ++i) c_.OnAcked(kPdu, kHuge, false, now_);
  EXPECT_GE(window(), kBdp);
  c_.OnAcked(kPdu, kHuge, false, now_);
  EXPECT_LT(window(), kBdp / 8);
}

TEST_F(Nscc, HalvesOnceWherePdusAreLost) {
  c_.OnSent(kPdu, now_);
  const int64_t before = window();
  now_ += milliseconds(1);
  c_.OnGoBack(static_cast<uint32_t>(c_.in_flight()), now_);
  EXPECT_EQ(window(), before / 2);
  EXPECT_EQ(c_.in_flight(), 0u);
  c_.OnGoBack(static_cast<uint32_t>(c_.in_flight()), now_);  // the same congestion
  EXPECT_EQ(window(), before / 2);
}

TEST_F(Nscc, PdusOfOtherConnectionsStayInFlightWhereOneGoesBack) {
  for (int i = 0; i < 10; ++i) c_.OnSent(kPdu, now_);
  now_ += milliseconds(1);
  c_.OnGoBack(3 * kPdu, now_);
  EXPECT_EQ(c_.in_flight(), 7 * kPdu);
  // They count against the window that was halved.
  EXPECT_LE(c_.allowance() + 7 * kPdu, window() + kPdu);
  c_.OnEnded(2 * kPdu, now_);
  EXPECT_EQ(c_.in_flight(), 5 * kPdu);
  c_.CheckInvariants();
}

TEST_F(Nscc, FollowsTheRateOfThePort) {
  c_.SetRate(10'000'000'000);
  EXPECT_EQ(window(), kBdp * 3 / 20);
  c_.SetRate(100'000'000'000);
  for (int i = 0; i < 2000; ++i) RoundTrip(params_.base_rtt);
  EXPECT_EQ(window(), kBdp * 3 / 2);
}

TEST_F(Nscc, TrimmedPdusCountAsMarked) {
  for (int i = 0; i < 3; ++i) RoundTrip(microseconds(25));
  const int64_t before = window();
  c_.OnSent(kPdu, now_);
  now_ += microseconds(30);
  c_.OnEcho({1, 0, 1});
  c_.OnAcked(kPdu, microseconds(30), true, now_);
  EXPECT_LT(window(), before);
}

TEST_F(Nscc, WindowOfLessThanAPduIsPaced) {
  params_.window_min_permille = 100;
  params_.eta_percent = 1;
  Start();
  while (window() > kPdu / 8) {
    c_.OnSent(kPdu, now_);
    now_ += milliseconds(2);
    c_.OnGoBack(static_cast<uint32_t>(c_.in_flight()), now_);
  }
  EXPECT_EQ(c_.state_name(), "paced");
  EXPECT_EQ(window(), kPdu / 10);
  // One PDU in about ten round trips, and never two at once.
  const Time begin = now_;
  int sent = 0;
  while (now_ - begin < milliseconds(10)) {
    if (!c_.Allows(kPdu)) {
      ASSERT_NE(c_.deadline(), kNever);
      now_ = std::max(now_, c_.deadline());
      c_.OnTimer(now_);
      ASSERT_TRUE(c_.Allows(kPdu));
    }
    c_.OnSent(kPdu, now_);
    EXPECT_FALSE(c_.Allows(1));
    ++sent;
    now_ += microseconds(60);
    c_.OnEcho({1, 1, 0});
    c_.OnAcked(kPdu, microseconds(60), true, now_);
    c_.CheckInvariants();
  }
  EXPECT_GE(sent, 85);
  EXPECT_LE(sent, 110);
}

TEST_F(Nscc, LargerPdusThanAtTheStartLeaveToo) {
  for (const bool paced : {false, true}) {
    Start();
    while (paced && c_.window_octets() >= kPdu) {
      c_.OnGoBack(static_cast<uint32_t>(c_.in_flight()), now_ += milliseconds(1));
    }
    const auto larger = static_cast<uint32_t>(2 * kBdp);
    c_.RaiseLargest(larger, now_);
    c_.RaiseLargest(kPdu, now_);
    if (c_.deadline() != kNever) c_.OnTimer(now_ = c_.deadline());
    EXPECT_TRUE(c_.Allows(larger)) << paced;
    c_.OnSent(larger, now_);
    EXPECT_FALSE(c_.Allows(larger)) << paced;
    c_.CheckInvariants();
  }
}

TEST_F(Nscc, StartsOver) {
  for (int i = 0; i < 20; ++i) RoundTrip(microseconds(60), true);
  Start();
  EXPECT_EQ(window(), kBdp * 3 / 2);
  EXPECT_EQ(c_.in_flight(), 0u);
}

TEST_F(Nscc, TakesNewParametersAsItGoes) {
  params_.window_max_percent = 400;
  for (int i = 0; i < 1000; ++i) RoundTrip(microseconds(10));
  EXPECT_EQ(window(), 4 * kBdp);
  params_.window_max_percent = 100;
  RoundTrip(microseconds(10));
  EXPECT_EQ(window(), kBdp);
}

TEST(BaseRtt, IsTheSmallestOfTwoPeriods) {
  BaseRtt base(microseconds(10));
  const Duration period = milliseconds(1);
  Time now = TimeFromNs(5'000'000);
  const auto sample = [&](int us) {
    base.OnSample(microseconds(us), period, now);
    return base.value();
  };
  EXPECT_EQ(base.value(), microseconds(10));
  EXPECT_EQ(sample(30), microseconds(10));  // those who begin together measure their queue
  EXPECT_EQ(sample(8), microseconds(8));
  EXPECT_EQ(sample(9), microseconds(8));
  now += period;
  EXPECT_EQ(sample(30), microseconds(8));
  EXPECT_EQ(sample(20), microseconds(8));
  now += period;
  EXPECT_EQ(sample(25), microseconds(20));
  EXPECT_EQ(sample(0), nanoseconds(1));
}

TEST(BaseRtt, KeepsTheSmallestWithoutAPeriod) {
  BaseRtt base(microseconds(10));
  base.OnSample(microseconds(5), Duration(0), TimeFromNs(1));
  base.OnSample(microseconds(7), Duration(0), TimeFromNs(1) + seconds(3600));
  EXPECT_EQ(base.value(), microseconds(5));
}

}  // namespace
}  // namespace suede
