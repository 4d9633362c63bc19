// SPDX-License-Identifier: Apache-2.0
// A plane that has failed to one peer: which others are asked, how often, and what they are told
// (docs/planes.md, "One plane, many peers").
#include "path/failed_planes.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace suede {
namespace {

constexpr Duration kBetween = std::chrono::milliseconds(100);
constexpr Time kStart = TimeFromNs(1'000'000'000);

TEST(FailedPlanes, AllPeersAreAskedOnceFromTheFirstOneOn) {
  FailedPlanes failed(7);
  EXPECT_FALSE(failed.has_work());
  failed.OnFound(1, kStart, kBetween);
  EXPECT_EQ(failed.report().planes, 2);
  EXPECT_TRUE(failed.report().is_reported);
  EXPECT_EQ(failed.report().hops, FailedPlanes::kMaxHops);
  std::vector<uint32_t> asked;
  while (failed.has_work()) asked.push_back(failed.NextPeer(5));
  EXPECT_EQ(asked, (std::vector<uint32_t>{2, 3, 4, 0, 1}));
  failed.End();
  EXPECT_EQ(failed.report().planes, 0);
}

TEST(FailedPlanes, AnotherPlaneMeanwhileBeginsAnew) {
  FailedPlanes failed(0);
  failed.OnReported(0, 3, kStart, kBetween);
  EXPECT_EQ(failed.report().hops, 2);
  failed.NextPeer(4);
  failed.OnFound(2, kStart, kBetween);
  EXPECT_EQ(failed.report().planes, 5);
  EXPECT_EQ(failed.report().hops, FailedPlanes::kMaxHops);
  std::set<uint32_t> asked;
  while (failed.has_work()) asked.insert(failed.NextPeer(4));
  EXPECT_EQ(asked.size(), 4u);
}

// However often a peer says so.
TEST(FailedPlanes, AReportCountsOnceInAnInterval) {
  FailedPlanes failed(0);
  uint32_t times = 0;
  for (Time now = kStart; now < kStart + 10 * kBetween; now += kBetween / 50) {
    failed.OnReported(1, FailedPlanes::kMaxHops, now, kBetween);
    if (!failed.has_work()) continue;
    ++times;
    while (failed.has_work()) failed.NextPeer(1023);
    failed.End();
  }
  EXPECT_EQ(times, 10u);
}

// A liar's reports take nothing from what the endpoint finds itself; the echo of that is ignored.
TEST(FailedPlanes, WhatIsFoundCountsBesideReports) {
  FailedPlanes failed(0);
  failed.OnReported(1, 0, kStart, kBetween);
  EXPECT_FALSE(failed.report().is_reported) << "it has come to its last hop";
  failed.NextPeer(1);
  failed.End();
  failed.OnFound(1, kStart + kBetween / 2, kBetween);
  EXPECT_TRUE(failed.has_work());
  failed.NextPeer(1);
  failed.End();
  failed.OnReported(1, 9, kStart + kBetween, kBetween);
  failed.OnFound(1, kStart + kBetween, kBetween);
  EXPECT_FALSE(failed.has_work());
}

TEST(FailedPlanes, WhatIsFoundCountsAgainAfterAnInterval) {
  FailedPlanes failed(0);
  for (int i = 0; i < 3; ++i) {
    failed.OnFound(1, kStart + i * kBetween, kBetween);
    EXPECT_TRUE(failed.has_work()) << i;
    failed.NextPeer(1);
    failed.End();
  }
}

}  // namespace
}  // namespace suede
