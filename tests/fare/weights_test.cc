// SPDX-License-Identifier: Apache-2.0
#include "fare/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
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
  // The kernel's weights of the two planes; 0: no route.
  void PublishShares(uint32_t a, uint32_t b) {
    std::vector<NextHop> hops;
    if (a > 0) hops.push_back({.interface = "a", .share = a, .mbps = {}});
    if (b > 0) hops.push_back({.interface = "b", .share = b, .mbps = {}});
    weights->OnRoutes(0, Measure::kShare, hops, now);
  }
  double Penalty(uint32_t plane) const {
    return weights->damper(0, plane).PenaltyAt(now, params.damping);
  }
  // Returns the changes to be set, as if the endpoint had set them.
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
    EXPECT_LE(change.weight, kMaxWeight);
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

TEST_F(WeightsTest, TheLastRoutedPlaneIsUsedWhileItIsDamped) {
  for (const double a : {8000, 0, 8000, 0, 8000}) Tell(0, a, 4000);
  EXPECT_EQ(Set(), (Changes{{0, 1, 4000}, {0, 0, 0}})) << "another plane carries the traffic";
  Tell(0, 8000, 0);
  EXPECT_EQ(Set(), (Changes{{0, 0, 8000}, {0, 1, 0}}));
  EXPECT_TRUE(weights->damper(0, 0).holds()) << "for as long as no other plane has a route";
  Tell(0, 0, 0);
  EXPECT_EQ(Set(), (Changes{{0, 0, 0}})) << "bad news passes";
  Tell(0, 8000, 0);
  EXPECT_EQ(Set(), (Changes{{0, 0, 8000}}));
  Tell(0, 8000, 4000);
  EXPECT_EQ(Set(), (Changes{{0, 1, 4000}, {0, 0, 0}})) << "one outage of plane 1 is forgiven";
  now = weights->deadline();
  weights->OnTime(now);
  EXPECT_EQ(Set(), (Changes{{0, 0, 8000}}));
}

TEST_F(WeightsTest, AllRoutedPlanesAreUsedWhileAllAreDamped) {
  for (const double mbps : {8000, 0, 8000, 0, 8000}) Tell(0, mbps, mbps / 2);
  EXPECT_EQ(Set(), (Changes{{0, 0, 8000}, {0, 1, 4000}}));
  EXPECT_TRUE(weights->damper(0, 0).holds());
  EXPECT_TRUE(weights->damper(0, 1).holds());
}

TEST_F(WeightsTest, APlaneDoesNotFlapByTheKernelsWeightsOfAnother) {
  for (int i = 0; i < 10; ++i) {
    PublishShares(66, 33);
    PublishShares(0, 100);
  }
  EXPECT_EQ(Penalty(1), 0);
  EXPECT_EQ(Penalty(0), params.damping.max);
  EXPECT_EQ(Set(), (Changes{{0, 1, 10000}, {0, 0, 0}}));
  PublishShares(66, 33);
  EXPECT_EQ(Set(), (Changes{{0, 1, 5000}}));
  PublishShares(100, 0);
  EXPECT_EQ(Set(), (Changes{{0, 0, 10000}, {0, 1, 0}})) << "the last plane is used";
  PublishShares(66, 33);
  EXPECT_EQ(Set(), (Changes{{0, 1, 5000}, {0, 0, 0}})) << "one outage of plane 1 is forgiven";
}

TEST_F(WeightsTest, APlaneDoesNotFlapByAnotherThatHasNoBandwidth) {
  for (int i = 0; i < 10; ++i) {
    Tell(0, 8000, 4000);
    const std::vector<NextHop> hops = {{.interface = "a", .share = 1, .mbps = 8000},
                                       {.interface = "b", .share = 1, .mbps = {}}};
    weights->OnRoutes(0, Measure::kBandwidth, hops, now);
  }
  EXPECT_EQ(Penalty(0), 0);
  EXPECT_EQ(Penalty(1), 0);
  EXPECT_EQ(Set(), (Changes{{0, 0, 10000}, {0, 1, 10000}}));
}

TEST_F(WeightsTest, ThePartThatIsHeldBackStaysWhenSharesBecomeRelative) {
  for (const double a : {8000, 2000, 8000, 2000, 8000}) Tell(0, a, 8000);
  EXPECT_EQ(Set(), (Changes{{0, 0, 2000}, {0, 1, 8000}}));
  PublishShares(50, 50);
  EXPECT_EQ(Set(), (Changes{{0, 0, 2500}, {0, 1, 10000}}));
  now = weights->deadline();
  weights->OnTime(now);
  EXPECT_EQ(Set(), (Changes{{0, 0, 10000}}));
}

// Whatever routes do, a peer that has a route has a plane, and no plane is used without a route.
TEST_F(WeightsTest, AnyScheduleLeavesAPlaneWhileThereIsARoute) {
  std::mt19937_64 random(11);
  for (int step = 0; step < 200'000; ++step) {
    now += std::chrono::milliseconds(random() % 2000);
    const auto share = [&random] { return static_cast<uint32_t>(random() % 3 * 4000); };
    const std::array<uint32_t, 2> routes = {share(), share()};
    if (random() % 8 == 0) {
      PublishShares(routes[0], routes[1]);
    } else {
      Tell(0, routes[0], routes[1]);
    }
    if (random() % 4 == 0) weights->OnTime(now);
    const Changes all = weights->All();
    if (all.empty()) continue;
    for (uint32_t plane = 0; plane < 2; ++plane) {
      ASSERT_TRUE(all[plane].weight == 0 || routes[plane] != 0) << step;
    }
    ASSERT_EQ(all[0].weight + all[1].weight != 0, routes[0] + routes[1] != 0) << step;
  }
}

}  // namespace
}  // namespace suede::fare
