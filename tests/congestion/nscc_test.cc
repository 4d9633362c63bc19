// SPDX-License-Identifier: Apache-2.0
// NSCC: the window, by round trips, marks and losses; windows of less than a PDU; the base RTT.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

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
  // Losses, one after the other, until the window is its smallest one, a tenth of a PDU.
  void ShrinkToATenthOfAPdu() {
    params_.window_min_permille = 100;
    Start();
    while (window() > kPdu / 10) {
      c_.OnSent(kPdu, now_);
      now_ += milliseconds(2);
      c_.OnGoBack(static_cast<uint32_t>(c_.in_flight()), now_);
    }
  }
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
  EXPECT_EQ(window(), kPdu);
  EXPECT_EQ(c_.state_name(), "open");
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

// The table of docs/congestion.md, with gains of this test's own: an acknowledgement of one BDP,
// which is two thirds of the window.
TEST_F(Nscc, FollowsTheTableOfMarksAndDelays) {
  params_.target_percent = 90;
  params_.proportional_percent = 80;
  params_.fair_percent = 60;
  params_.eta_percent = 40;
  params_.decrease_percent = 50;
  constexpr double kWindow = 1.5 * kBdp;
  constexpr double kPduA = kPdu * kBdp / 150'000.0;
  constexpr double kEta = 0.4 * 0.15 * kPduA;
  constexpr double kPart = kBdp / kWindow;
  constexpr double kProportional = 0.8 * 4 * kPduA * 9 / 12 * kPart;
  constexpr double kFair = 0.6 * 5 * kPduA * kPart;
  struct Row {
    bool marked;
    Duration delay;
    double window;
  };
  for (const Row& row : std::vector<Row>{
           {false, nanoseconds(0), kWindow + kProportional + kEta},
           {false, nanoseconds(4'500), kWindow + kProportional / 2 + kEta},
           {false, nanoseconds(9'000), kWindow + kFair + kEta},
           {false, nanoseconds(36'000), kWindow + kFair + kEta},
           {true, nanoseconds(0), kWindow + kEta},
           {true, nanoseconds(8'999), kWindow + kEta},
           // The average is below the target: two fifths of the last delay.
           {true, nanoseconds(9'000), kWindow + kEta},
           {true, nanoseconds(22'500), kWindow + kEta},
           {true, nanoseconds(30'000), kWindow * (1 - 0.5 * (12. - 9.) / 12.) + kEta},
       }) {
    params_.window_max_percent = 150;
    Start();
    params_.window_max_percent = 1000;
    c_.OnSent(kBdp, now_);
    const Duration rtt = params_.base_rtt + row.delay;
    now_ += rtt;
    if (row.marked) c_.OnEcho({1, 1, 0});
    c_.OnAcked(kBdp, rtt, true, now_);
    EXPECT_NEAR(static_cast<double>(window()), row.window, 1)
        << row.marked << " " << row.delay.count();
  }
}

TEST_F(Nscc, AMarkCountsForOneAcknowledgement) {
  params_.window_max_percent = 1000;
  c_.OnSent(2 * kBdp, now_);
  const int64_t before = window();
  c_.OnEcho({1, 1, 0});
  c_.OnAcked(kBdp, params_.base_rtt, false, now_ += params_.base_rtt);
  const int64_t marked = window();
  c_.OnAcked(kBdp, params_.base_rtt, true, now_ += params_.base_rtt);
  EXPECT_GT(window() - marked, 2 * (marked - before));
}

// The target grows with the fourth root of BDP / 2 windows.
TEST_F(Nscc, SmallerWindowsAimAtMoreDelay) {
  constexpr double kWindow = 1.5 * kBdp / 8;
  constexpr double kPduA = kPdu * kBdp / 150'000.0;
  const double target_ns = 10'000 * std::pow(kBdp / (2 * kWindow), 0.25);
  for (const double delay_ns : {0., 12'000., 13'000.}) {
    Start();
    while (static_cast<double>(window()) > kWindow) {
      c_.OnGoBack(static_cast<uint32_t>(c_.in_flight()), now_ += milliseconds(1));
    }
    c_.OnSent(kBdp, now_);
    const Duration rtt = params_.base_rtt + Duration(static_cast<int64_t>(delay_ns));
    c_.OnAcked(kBdp, rtt, true, now_ += rtt);
    const double grows = delay_ns < target_ns
                             ? 4 * kPduA * target_ns / 12'000 * (1 - delay_ns / target_ns)
                             : 5 * kPduA;
    EXPECT_NEAR(static_cast<double>(window()), kWindow + grows * kBdp / kWindow + 0.15 * kPduA, 2)
        << delay_ns;
  }
}

TEST_F(Nscc, GrowsOnceForEightPdusWithinARoundTrip) {
  constexpr double kPduA = kPdu * kBdp / 150'000.0;
  params_.window_max_percent = 1000;
  c_.OnSent(20 * kPdu, now_);
  now_ += params_.base_rtt;
  c_.OnAcked(kPdu, params_.base_rtt, false, now_);
  for (int round = 0; round < 2; ++round) {
    const int64_t before = window();
    for (int i = 0; i < 7; ++i) {
      c_.OnAcked(kPdu, params_.base_rtt, false, now_);
      ASSERT_EQ(window(), before) << i;
    }
    c_.OnAcked(kPdu, params_.base_rtt, false, now_);
    const double grows = 4 * kPduA * 10 / 12 * 8 * kPdu / static_cast<double>(before);
    EXPECT_NEAR(static_cast<double>(window()), static_cast<double>(before) + grows, 2);
  }
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

TEST_F(Nscc, TheRateOfBaseRttAndTargetTellsTheWindow) {
  const Duration least = 2 * params_.base_rtt;
  for (const bool over : {false, true}) {
    Start();
    c_.OnSent(8 * kPdu, now_);
    now_ += over ? least : least - nanoseconds(1);
    c_.OnAcked(4 * kPdu, microseconds(950), true, now_);
    if (over) {
      EXPECT_EQ(window(), 4 * kPdu);
    } else {
      EXPECT_GE(window(), kBdp);
    }
  }
}

// But it is not waited for longer than the time in which 64 windows would be acknowledged.
TEST_F(Nscc, TheRateOfOnePduTellsTheWindowInTheEnd) {
  const Duration most = 64 * 2 * params_.base_rtt;
  for (const bool over : {false, true}) {
    Start();
    c_.OnSent(kPdu, now_);
    const Duration took = over ? most : most - nanoseconds(1);
    c_.OnAcked(kPdu, took, true, now_ += took);
    if (over) {
      EXPECT_EQ(window(), kPdu / 20);
    } else {
      EXPECT_GE(window(), kBdp);
    }
  }
}

// The rate of arrival fills it in base RTT and target, which are 20 us at first.
TEST_F(Nscc, AWindowThatWasFoundAnewStaysUntilAllInFlightIsAcknowledged) {
  constexpr Duration kHuge = microseconds(950);
  constexpr int64_t kFound = 25 * int64_t{kPdu} * 20 / 950;
  c_.OnSent(50 * kPdu, now_);
  now_ += kHuge;
  c_.OnAcked(25 * kPdu, kHuge, false, now_);
  EXPECT_EQ(window(), kFound);
  for (int i = 0; i < 25; ++i) {
    c_.OnAcked(kPdu, kHuge, i == 24, now_);
    ASSERT_EQ(window(), kFound) << i;
  }
  c_.OnSent(kPdu, now_);
  now_ += params_.base_rtt;
  c_.OnAcked(kPdu, params_.base_rtt, true, now_);
  EXPECT_GT(window(), kFound);
}

TEST_F(Nscc, TheRateIsThatOfArrivalsSinceTheWindowWasFound) {
  constexpr Duration kHuge = microseconds(950);
  c_.OnSent(54 * kPdu, now_);
  c_.OnAcked(50 * kPdu, kHuge, false, now_ += kHuge);
  const double found = 50. * kPdu * 20 / 950;
  ASSERT_EQ(window(), static_cast<int64_t>(found));
  c_.OnAcked(4 * kPdu, kHuge, true, now_ += kHuge);
  const double fair_us = 10 + 10 * std::pow(kBdp / (2 * found), 0.25);
  EXPECT_EQ(window(), static_cast<int64_t>(4. * kPdu * fair_us / 950));
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

TEST_F(Nscc, LossesABaseRttApartAreTwoCongestions) {
  const int64_t first = window();
  c_.OnGoBack(0, now_);
  EXPECT_EQ(window(), first / 2) << "before it began there was none";
  now_ += params_.base_rtt - nanoseconds(1);
  c_.OnGoBack(0, now_);
  EXPECT_EQ(window(), first / 2);
  now_ += nanoseconds(1);
  c_.OnGoBack(0, now_);
  EXPECT_EQ(window(), first / 4);
  // With a queue its delay counts, too.
  c_.OnSent(kPdu, now_);
  const Time last = now_;
  c_.OnAcked(kPdu, params_.base_rtt + microseconds(5), true, now_ += microseconds(1));
  const int64_t before = window();
  c_.OnGoBack(0, now_ = last + params_.base_rtt + microseconds(5) - nanoseconds(1));
  EXPECT_EQ(window(), before);
  c_.OnGoBack(0, now_ += nanoseconds(1));
  EXPECT_EQ(window(), before / 2);
}

TEST_F(Nscc, GrowthThatWasEarnedBeforeCongestionIsForgotten) {
  constexpr double kEta = 0.15 * kPdu * kBdp / 150'000.0;
  for (const bool lost : {false, true}) {
    Start();
    const Time begin = now_;
    c_.OnSent(8 * kPdu, now_);
    c_.OnAcked(kPdu, params_.base_rtt, false, now_ = begin + microseconds(1));
    if (lost) {
      c_.OnGoBack(7 * kPdu, now_);
    } else {
      c_.OnAcked(3 * kPdu, microseconds(950), true, now_ = begin + 2 * params_.base_rtt);
    }
    const auto before = static_cast<double>(window());
    ASSERT_LT(before, kBdp);
    c_.OnSent(kPdu, now_);
    c_.OnEcho({1, 1, 0});
    c_.OnAcked(kPdu, params_.base_rtt, true, now_ += params_.base_rtt);
    EXPECT_NEAR(static_cast<double>(window()), before + kEta, 2) << lost;
  }
}

// Whatever was ignored before: the PDUs of the window that was found are not going to come.
TEST_F(Nscc, AWindowThatWasHalvedGrowsWithTheNextAcknowledgement) {
  c_.OnSent(50 * kPdu, now_);
  c_.OnAcked(25 * kPdu, microseconds(950), false, now_ += microseconds(950));
  now_ += milliseconds(2);
  c_.OnGoBack(25 * kPdu, now_);
  const int64_t halved = window();
  c_.OnSent(kPdu, now_);
  now_ += params_.base_rtt;
  c_.OnAcked(kPdu, params_.base_rtt, true, now_);
  EXPECT_GT(window(), halved);
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
  params_.eta_percent = 1;
  ShrinkToATenthOfAPdu();
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

TEST_F(Nscc, AWindowOfLessThanAPduAtMostDoubles) {
  ShrinkToATenthOfAPdu();
  for (const int64_t times : {2, 4}) {
    c_.OnSent(kPdu, now_);
    now_ += params_.base_rtt;
    c_.OnAcked(kPdu, params_.base_rtt, true, now_);
    EXPECT_EQ(window(), times * kPdu / 10);
  }
}

TEST_F(Nscc, AWindowOfOnePduMayMoreThanDouble) {
  c_.RaiseLargest(static_cast<uint32_t>(window()), now_);
  params_.window_max_percent = 1000;
  const int64_t before = window();
  c_.OnSent(static_cast<uint32_t>(before), now_);
  c_.OnAcked(static_cast<uint32_t>(before), params_.base_rtt, true, now_ += params_.base_rtt);
  EXPECT_GT(window(), 3 * before);
}

TEST_F(Nscc, IsNotPacedOnceTheWindowIsAPduAgain) {
  ShrinkToATenthOfAPdu();
  ASSERT_EQ(c_.state_name(), "paced");
  for (int i = 0; i < 20; ++i) RoundTrip(params_.base_rtt);
  ASSERT_GE(window(), 2 * kPdu);
  EXPECT_EQ(c_.state_name(), "open");
  c_.OnSent(kPdu, now_);
  EXPECT_TRUE(c_.Allows(kPdu));
}

TEST_F(Nscc, APacedSourceSendsOnePduAtATimeHoweverSmall) {
  ShrinkToATenthOfAPdu();
  if (c_.deadline() != kNever) c_.OnTimer(now_ = c_.deadline());
  ASSERT_TRUE(c_.Allows(64));
  c_.OnSent(64, now_);
  EXPECT_FALSE(c_.Allows(1));
}

// So that sources do not keep step: at base RTT * P / window, and up to half of that less or more.
TEST_F(Nscc, APacedSourceKeepsNoStep) {
  ShrinkToATenthOfAPdu();
  if (c_.deadline() != kNever) c_.OnTimer(now_ = c_.deadline());
  const Duration pace = 10 * params_.base_rtt;
  Duration min = pace;
  Duration max = pace;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(c_.Allows(kPdu));
    c_.OnSent(kPdu, now_);
    c_.OnEnded(kPdu, now_);
    ASSERT_NE(c_.deadline(), kNever);
    min = std::min(min, c_.deadline() - now_);
    max = std::max(max, c_.deadline() - now_);
    c_.OnTimer(now_ = c_.deadline());
    EXPECT_EQ(c_.deadline(), kNever);
  }
  EXPECT_GE(min, pace / 2);
  EXPECT_LE(min, pace * 55 / 100);
  EXPECT_GE(max, pace * 145 / 100);
  EXPECT_LE(max, pace * 3 / 2);
}

// A window of 1.9 PDUs would be one PDU otherwise.
TEST_F(Nscc, TheAllowanceIsDitheredWithinOnePdu) {
  int64_t min = kPdu;
  int64_t max = 0;
  int64_t sum = 0;
  for (int i = 0; i < 100; ++i) {
    c_.OnSent(kPdu, now_);
    c_.OnEnded(kPdu, now_);
    const int64_t beyond = c_.allowance() - window();
    min = std::min(min, beyond);
    max = std::max(max, beyond);
    sum += beyond;
  }
  EXPECT_GE(min, 0);
  EXPECT_LE(min, kPdu / 20);
  EXPECT_GE(max, kPdu * 19 / 20);
  EXPECT_LE(max, kPdu);
  EXPECT_NEAR(static_cast<double>(sum) / 100, kPdu / 2., kPdu / 20.);
}

TEST_F(Nscc, SourcesWithOtherRoundTripsAreDitheredOtherwise) {
  int64_t min = kPdu;
  int64_t max = 0;
  for (int i = 0; i < 16; ++i) {
    Start();
    c_.OnSent(kPdu, now_);
    const Duration rtt = params_.base_rtt + nanoseconds(i);
    c_.OnAcked(kPdu, rtt, true, now_ + rtt);
    min = std::min(min, c_.allowance() - window());
    max = std::max(max, c_.allowance() - window());
  }
  EXPECT_GT(max - min, kPdu / 2);
}

TEST_F(Nscc, MeasuresTheBaseRtt) {
  RoundTrip(microseconds(8));
  EXPECT_EQ(c_.base_rtt(), microseconds(8));
  RoundTrip(microseconds(9));
  EXPECT_EQ(c_.base_rtt(), microseconds(8));
}

TEST_F(Nscc, LargestWindowIsAtLeastOneOfTheLargerPdus) {
  c_.RaiseLargest(2 * kBdp, now_);
  for (int i = 0; i < 1000; ++i) RoundTrip(params_.base_rtt);
  EXPECT_EQ(window(), 2 * kBdp);
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
