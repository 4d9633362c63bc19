// SPDX-License-Identifier: Apache-2.0
#include "fare/weights.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace suede::fare {
namespace {

using Changes = std::vector<WeightChange>;

class WeightsTest : public ::testing::Test {
 protected:
  WeightsTest() {
    params.planes = {{.plane = 0, .interfaces = {"a"}}, {.plane = 1, .interfaces = {"b"}}};
    params.peers = 2;
    weights.emplace(params);
  }
  // Bandwidths of the two planes; 0: no route.
  void Tell(uint32_t peer, double a, double b) {
    std::vector<NextHop> hops;
    if (a > 0) hops.push_back({.interface = "a", .share = 1, .mbps = a});
    if (b > 0) hops.push_back({.interface = "b", .share = 1, .mbps = b});
    weights->OnRoutes(peer, Measure::kBandwidth, hops, now);
  }
  // What is to be set, as if the endpoint did it.
  Changes Set() {
    Changes changes = weights->Changes();
    for (const WeightChange& change : changes) weights->OnSet(change);
    return changes;
  }

  FareParams params;
  std::optional<FareWeights> weights;
  Time now = TimeFromNs(1'000'000'000);
};

TEST_F(WeightsTest, AreSetOnceForEachChange) {
  Tell(1, 8000, 4000);
  EXPECT_EQ(Set(), (Changes{{1, 0, 8000}, {1, 1, 4000}}));
  EXPECT_EQ(Set(), Changes{});
  Tell(1, 8000, 4000);
  EXPECT_EQ(Set(), Changes{});
  Tell(1, 8000, 2000);
  EXPECT_EQ(Set(), (Changes{{1, 1, 2000}}));
}

TEST_F(WeightsTest, AChangeIsGivenUntilItIsSet) {
  Tell(0, 8000, 4000);
  EXPECT_EQ(weights->Changes().size(), 2u);
  weights->OnSet({0, 0, 8000});
  EXPECT_EQ(weights->Changes(), (Changes{{0, 1, 4000}}));
}

TEST_F(WeightsTest, AWithdrawnRouteIsZeroAndComesBack) {
  Tell(0, 8000, 4000);
  Set();
  Tell(0, 8000, 0);
  EXPECT_EQ(Set(), (Changes{{0, 1, 0}}));
  Tell(0, 8000, 4000);
  EXPECT_EQ(Set(), (Changes{{0, 1, 4000}}));
  EXPECT_EQ(weights->deadline(), kNever);
}

TEST_F(WeightsTest, ARouteThatMovesIsThereBeforeItIsGone) {
  Tell(0, 8000, 0);
  Set();
  Tell(0, 0, 4000);
  EXPECT_EQ(Set(), (Changes{{0, 1, 4000}, {0, 0, 0}}));
}

TEST_F(WeightsTest, APeerThatNeverHadARouteIsLeftAlone) {
  Tell(0, 0, 0);
  EXPECT_EQ(Set(), Changes{});
  EXPECT_FALSE(weights->HasRoutes(0));
  Tell(0, 1, 1);
  Set();
  Tell(0, 0, 0);
  EXPECT_EQ(Set(), (Changes{{0, 0, 0}, {0, 1, 0}})) << "its last route was withdrawn";
}

TEST_F(WeightsTest, AnotherDaemonGetsAllOfThem) {
  Tell(0, 8000, 4000);
  Set();
  Tell(0, 8000, 0);
  Set();
  weights->ForgetSet();
  EXPECT_EQ(Set(), (Changes{{0, 0, 8000}, {0, 1, 0}}));
}

TEST_F(WeightsTest, LargeBandwidthsShareAUnitThatStays) {
  Tell(0, 800'000, 400'000);
  EXPECT_EQ(Set(), (Changes{{0, 0, 50'000}, {0, 1, 25'000}}));
  Tell(0, 400'000, 400'000);
  EXPECT_EQ(Set(), (Changes{{0, 0, 25'000}})) << "the other plane is as it was";
  Tell(0, 400'000, 1);
  EXPECT_EQ(Set(), (Changes{{0, 1, 1}})) << "little is not nothing";
  Tell(1, 100, 50);
  EXPECT_EQ(Set(), (Changes{{1, 0, 100}, {1, 1, 50}})) << "each peer has its own";
}

TEST_F(WeightsTest, WeightsStayInTheirRange) {
  Tell(0, 1e12, 0.001);
  for (const WeightChange& change : Set()) {
    EXPECT_GE(change.weight, 1u);
    EXPECT_LE(change.weight, kMostWeight);
  }
}

TEST_F(WeightsTest, WhatIsHeldBackComesWhenItsTimeIsOver) {
  for (const double b : {4000, 0, 4000, 0, 4000}) {
    Tell(0, 8000, b);
    now += std::chrono::milliseconds(10);
  }
  EXPECT_EQ(Set(), (Changes{{0, 0, 8000}, {0, 1, 0}}));
  EXPECT_TRUE(weights->damper(0, 1).holds());
  EXPECT_FALSE(weights->damper(0, 0).holds());
  now = weights->deadline() - std::chrono::milliseconds(1);
  weights->OnTime(now);
  EXPECT_EQ(Set(), Changes{});
  now = weights->deadline();
  weights->OnTime(now);
  EXPECT_EQ(Set(), (Changes{{0, 1, 4000}}));
}

}  // namespace
}  // namespace suede::fare
