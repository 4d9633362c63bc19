// SPDX-License-Identifier: Apache-2.0
#include "path/path_rate.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

using std::chrono::microseconds;

constexpr Duration kInterval = std::chrono::milliseconds(1);
constexpr Duration kRtt = microseconds(10);
constexpr uint32_t kPduBytes = 1000;
constexpr uint64_t kFullBps = 8'000'000'000;  // 1,000 such PDUs in a window

// A plane with windows that are examined one after the other.
class PathRateTest : public testing::Test {
 protected:
  PathRateTest() { Close({.min_left = 100 * kPduBytes}); }

  struct Window {
    uint32_t pdus = 0;
    uint32_t min_left = 0;  // of bytes, right after an acknowledgement
    Duration span = kInterval;
    bool disturbed = false;
    Duration min_rtt = kRtt;
    uint64_t expected_bps = kFullBps;
    uint32_t best = PathRate::kWhole;
  };
  PathRate::Verdict Close(const Window& window) {
    now_ += window.span;
    acked_ += window.pdus;
    for (uint32_t i = 0; i < window.pdus; ++i) {
      rate_.OnAcked(kPduBytes, window.min_left + (i == window.pdus / 2 ? 0 : 5000));
    }
    return rate_.CloseWindow({.inflight_bytes = window.min_left + 5000,
                              .acked_pdus = acked_,
                              .expected_bps = window.expected_bps,
                              .best = window.best,
                              .min_rtt = window.min_rtt,
                              .disturbed = window.disturbed},
                             kInterval, now_);
  }
  // The way alone holds 10 PDUs at the full rate: these stand in a queue.
  static Window Queued(uint32_t pdus) { return {.pdus = pdus, .min_left = 100 * kPduBytes}; }
  // The PDUs of a window pass at once.
  static Window Free(uint32_t pdus) { return {.pdus = pdus, .min_left = pdus / 100 * kPduBytes}; }
  void Halve() {
    Close(Queued(500));
    Close(Queued(500));
  }
  static constexpr uint32_t kHalf = PathRate::kWhole / 2;
  static constexpr uint32_t kFound = kHalf + kHalf / 32;  // with what is tried beyond it

  PathRate rate_;
  Time now_{std::chrono::seconds(5)};
  uint32_t acked_ = UINT32_MAX - 700;  // counts wrap
};

TEST_F(PathRateTest, TwoWindowsWithAQueueMeasure) {
  const PathRate::Verdict first = Close(Queued(500));
  EXPECT_TRUE(first.was_limit);
  EXPECT_FALSE(first.changed);
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
  const PathRate::Verdict second = Close(Queued(500));
  EXPECT_TRUE(second.was_limit);
  EXPECT_TRUE(second.changed);
  EXPECT_EQ(rate_.part(), kFound);
  EXPECT_EQ(rate_.rate_bps(), kFullBps / 2);
}

TEST_F(PathRateTest, FramesCountWithTheirHeaders) {
  rate_.OnAcked(0, 0);
  Close(Queued(400));
  now_ += kInterval;
  acked_ += 400;
  for (int i = 0; i < 400; ++i) rate_.OnAcked(kPduBytes, 100 * kPduBytes);
  rate_.CloseWindow(
      {.acked_pdus = acked_, .frame_octets = 250, .expected_bps = kFullBps, .min_rtt = kRtt},
      kInterval, now_);
  EXPECT_EQ(rate_.rate_bps(), kFullBps / 2);
}

TEST_F(PathRateTest, TheApplicationIsNoLimit) {
  for (const uint32_t pdus : {100, 500, 900}) {
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(Close(Free(pdus)).was_limit);
  }
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
}

TEST_F(PathRateTest, AWindowThatWasIdleOnceSaysNothing) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(Close({.pdus = 500, .min_left = 0}).was_limit) << "a burst, and then nothing";
  }
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
}

TEST_F(PathRateTest, ALongWayIsNoQueue) {
  // The transport's whole window is on its way.
  const Window window{.pdus = 500, .min_left = 100 * kPduBytes, .min_rtt = microseconds(200)};
  Close({.min_rtt = microseconds(200)});
  rate_.Reset();
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(Close(window).was_limit);
}

TEST_F(PathRateTest, AQueueThatStandsForLongIsNoLongWay) {
  Halve();
  Window window = Queued(1000);
  window.min_rtt = microseconds(200);  // that of the queue
  window.span = 2 * kInterval;
  for (const Time end = now_ + std::chrono::seconds(40); now_ < end;) {
    ASSERT_TRUE(Close(window).was_limit);
  }
  EXPECT_EQ(rate_.part(), kFound);
}

TEST_F(PathRateTest, WhatStandsStillIsNoMeasure) {
  Window paused = Queued(500);
  paused.disturbed = true;
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(Close(paused).was_limit);
  Close(Queued(500));
  rate_.Spoil();
  EXPECT_FALSE(Close(Queued(500)).was_limit);
  EXPECT_FALSE(Close(Queued(500)).changed) << "one window after it is alone";
  Window unknown = Queued(500);
  unknown.expected_bps = 0;
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(Close(unknown).was_limit);
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
}

TEST_F(PathRateTest, AcknowledgementsThatWereHeldBackChangeNothing) {
  // A poor window, and a rich one.
  for (int i = 0; i < 8; ++i) Close(Queued(i % 2 == 0 ? 100 : 1900));
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
  Halve();
  for (int i = 0; i < 8; ++i) {
    Close(Queued(i % 2 == 0 ? 50 : 950));
    EXPECT_LE(rate_.part(), kHalf + kHalf / 4) << "what comes at once is no more than was carried";
  }
}

TEST_F(PathRateTest, NeverMoreThanTheWeightNorLessThanASixteenth) {
  for (int i = 0; i < 4; ++i) Close(Queued(5000));
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
  for (int i = 0; i < 4; ++i) Close(Queued(40));
  EXPECT_GE(rate_.part(), PathRate::kMin);
  EXPECT_LE(rate_.part(), PathRate::kMin + PathRate::kWhole / 32);
}

TEST_F(PathRateTest, ARecoveredPathIsFoundAtOnceWhereItIsTheLimit) {
  Halve();
  Close(Queued(900));
  Close(Queued(900));
  EXPECT_GE(rate_.part(), PathRate::kWhole * 9 / 10 - 1);
}

TEST_F(PathRateTest, ARecoveredPathIsFoundByTryingMore) {
  Halve();
  int windows = 0;
  while (rate_.part() == kFound) {
    Close(Free(400));
    ++windows;
  }
  EXPECT_EQ(windows, 64);
  for (; rate_.part() != PathRate::kWhole; ++windows) Close(Free(400));
  EXPECT_LE(windows, 64 + 8);
}

TEST_F(PathRateTest, AnIdlePlaneIsTriedAtItsNextLook) {
  Halve();
  Close({.span = std::chrono::seconds(2)});
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
}

TEST_F(PathRateTest, PlanesThatSomethingElseLimitsBecomeEqual) {
  // The PDUs that each plane carries follow from its own share.
  for (int i = 0; i < 300; ++i) Close(Queued(1000 * rate_.part() / PathRate::kWhole * 9 / 10));
  const uint32_t before = rate_.part();
  EXPECT_LT(before, PathRate::kWhole);
  for (int i = 0; i < 300; ++i) Close(Queued(1000 * rate_.part() / PathRate::kWhole));
  EXPECT_GT(rate_.part(), PathRate::kWhole * 9 / 10);
}

TEST_F(PathRateTest, ResetForgetsIt) {
  Halve();
  rate_.Reset();
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
  EXPECT_EQ(rate_.rate_bps(), 0u);
  EXPECT_FALSE(Close(Queued(500)).was_limit) << "the window that was cut";
}

// PDUs on the way: 1.25 times the bytes that the rate carries in a round trip.
TEST_F(PathRateTest, AQueueIsAQuarterMoreThanTheWayHolds) {
  constexpr uint32_t kEnough = 500 * kPduBytes / 100 * 5 / 4;
  EXPECT_FALSE(Close({.pdus = 500, .min_left = kEnough - 1}).was_limit);
  EXPECT_TRUE(Close({.pdus = 500, .min_left = kEnough}).was_limit);
}

TEST_F(PathRateTest, AWindowOfASecondCounts) {
  Window window = Queued(50'000);
  window.span = std::chrono::seconds(1);
  window.min_left = 2'000'000;
  EXPECT_TRUE(Close(window).was_limit);
  window.span += Duration(1);
  EXPECT_FALSE(Close(window).was_limit);
}

TEST_F(PathRateTest, WindowsInARowHaveToAgree) {
  Close(Queued(500));
  Close(Free(500));
  EXPECT_FALSE(Close(Queued(500)).changed);
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
}

TEST_F(PathRateTest, EachChangeOfThePartIsTold) {
  Halve();
  for (int i = 0; i < 100; ++i) {
    const uint32_t before = rate_.part();
    const bool changed = Close(Free(400)).changed;
    EXPECT_EQ(changed, rate_.part() != before) << i;
  }
  EXPECT_EQ(rate_.part(), PathRate::kWhole);
  EXPECT_EQ(rate_.due(kInterval), now_ + kInterval);
}

}  // namespace
}  // namespace suede
