// SPDX-License-Identifier: Apache-2.0
// Shares of the ports of a group (docs/switch.md, "Groups").
#include "fabric/group_spread.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kBuckets = GroupSpread::kBuckets;
using Owners = std::array<uint32_t, kBuckets>;

Owners OwnersOf(GroupSpread& group) {
  Owners owners;
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket)
    owners[bucket] = group.OfFlow(bucket << 24);
  return owners;
}

uint32_t CountOf(const Owners& owners, uint32_t member) {
  return static_cast<uint32_t>(std::ranges::count(owners, member));
}

// Expects that buckets have moved between `member` and others only.
void ExpectMovedWith(const Owners& before, const Owners& after, uint32_t member) {
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (before[bucket] == after[bucket]) continue;
    EXPECT_TRUE(before[bucket] == member || after[bucket] == member)
        << "bucket " << bucket << " from " << before[bucket] << " to " << after[bucket];
  }
}

// Expects the shares of the weights, but for a few buckets.
void ExpectShares(const Owners& owners, const std::vector<uint32_t>& weights) {
  uint32_t sum = 0;
  for (const uint32_t weight : weights) sum += weight;
  for (uint32_t member = 0; member < weights.size(); ++member) {
    const double share = double{kBuckets} * weights[member] / sum;
    EXPECT_NEAR(CountOf(owners, member), share, weights[member] == 0 ? 0 : 4) << member;
  }
}

TEST(GroupSpread, BucketsAreSharedByWeight) {
  const PortGroup group{.ports = {5, 6, 7, 8}, .weights = {4, 1, 0, 2}};
  GroupSpread spread(group);
  ExpectShares(OwnersOf(spread), {4, 1, 0, 2});
}

TEST(GroupSpread, EachPortThatMaySendHasABucket) {
  PortGroup group;
  for (uint16_t port = 0; port < kMaxGroupPorts; ++port) {
    group.ports.push_back(port);
    group.weights.push_back(port % 2 == 0 ? 255 : 1);
  }
  GroupSpread spread(group);
  const Owners owners = OwnersOf(spread);
  for (uint32_t member = 0; member < kMaxGroupPorts; ++member) {
    EXPECT_GE(CountOf(owners, member), 1u) << member;
  }
}

TEST(GroupSpread, OnlyBucketsOfAPortThatGoesDownMoveAndTheyComeBack) {
  const PortGroup group{.ports = {5, 6, 7, 8, 9}, .weights = {3, 1, 2, 2, 5}};
  GroupSpread spread(group);
  const Owners all = OwnersOf(spread);
  for (uint32_t member = 0; member < group.ports.size(); ++member) {
    spread.SetDown(group.ports[member], true);
    const Owners without = OwnersOf(spread);
    ExpectMovedWith(all, without, member);
    std::vector<uint32_t> weights(group.weights.begin(), group.weights.end());
    weights[member] = 0;
    ExpectShares(without, weights);
    spread.SetDown(group.ports[member], false);
    EXPECT_EQ(OwnersOf(spread), all) << member;
  }
}

TEST(GroupSpread, WithAnotherWeightOnlyBucketsOfThatPortMove) {
  const PortGroup group{.ports = {5, 6, 7}};
  GroupSpread spread(group);
  Owners before = OwnersOf(spread);
  for (const uint8_t weight : {uint8_t{8}, uint8_t{2}, uint8_t{0}, uint8_t{1}, uint8_t{255}}) {
    spread.SetWeight(1, weight);
    const Owners after = OwnersOf(spread);
    ExpectMovedWith(before, after, 1);
    ExpectShares(after, {1, weight, 1});
    before = after;
  }
}

// Ports come up one by one after all were down, and one stays down.
TEST(GroupSpread, SharesAreRightInWhateverOrderPortsComeUp) {
  const PortGroup group{.ports = {5, 6, 7, 8}};
  GroupSpread spread(group);
  const Owners all = OwnersOf(spread);
  for (const uint16_t port : group.ports) spread.SetDown(port, true);
  const Owners none = OwnersOf(spread);
  EXPECT_EQ(CountOf(none, GroupSpread::kNone), kBuckets);
  std::vector<uint32_t> up(group.ports.size());
  Owners before = none;
  for (const uint32_t member : {2u, 0u, 3u}) {
    spread.SetDown(group.ports[member], false);
    up[member] = 1;
    const Owners after = OwnersOf(spread);
    ExpectMovedWith(before, after, member);
    ExpectShares(after, up);
    before = after;
  }
  spread.SetDown(group.ports[1], false);
  EXPECT_EQ(OwnersOf(spread), all);
  // Two at once.
  for (const uint16_t port : group.ports) spread.SetDown(port, true);
  OwnersOf(spread);
  spread.SetDown(group.ports[1], false);
  spread.SetDown(group.ports[3], false);
  ExpectShares(OwnersOf(spread), {0, 1, 0, 1});
}

TEST(GroupSpread, TurnsAreSharedByWeightAndPortsDoNotCatchUp) {
  const PortGroup group{.ports = {5, 6, 7}, .weights = {3, 1, 2}};
  GroupSpread spread(group);
  const auto idle = [](uint16_t) { return uint32_t{0}; };
  const auto turns = [&](uint32_t count) {
    std::array<uint32_t, 3> of{};
    for (uint32_t i = 0; i < count; ++i) ++of[spread.Next(idle)];
    return of;
  };
  EXPECT_EQ(turns(600), (std::array<uint32_t, 3>{300, 100, 200}));
  spread.SetDown(5, true);
  const auto without = turns(300);
  EXPECT_EQ(without[0], 0u);
  EXPECT_NEAR(without[1], 100, 1);
  spread.SetDown(5, false);
  const auto again = turns(60);
  EXPECT_NEAR(again[0], 30, 1);
  EXPECT_NEAR(again[1], 10, 1);
  for (const uint16_t port : group.ports) spread.SetDown(port, true);
  EXPECT_EQ(spread.Next(idle), GroupSpread::kNone);
}

TEST(GroupSpread, LoadsCountByWeight) {
  const PortGroup group{.ports = {5, 6}, .weights = {4, 1}};
  GroupSpread spread(group);
  std::array<uint32_t, 2> load = {399, 100};
  const auto load_of = [&](uint16_t port) { return load[port - 5u]; };
  EXPECT_EQ(spread.Next(load_of), 0u);
  EXPECT_EQ(spread.Next(load_of), 0u);
  load[0] = 401;
  EXPECT_EQ(spread.Next(load_of), 1u);
  EXPECT_EQ(spread.Next(load_of), 1u);
}

// ---- In a switch: port 0 sends to an address behind ports 1 to 3.

class SpreadTest : public testing::TestWithParam<Spread> {
 protected:
  static SwitchParams Params() {
    SwitchParams params = ParamsOf(4);
    params.learns = false;
    params.groups = {{.ports = {1, 2, 3}, .spread = GetParam()}};
    return params;
  }
  SpreadTest() : fabric_(Params()) {
    fabric_.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), kFirstGroup);
  }
  uint64_t FramesOf(uint32_t member) const {
    return fabric_.the_switch.group(0).frames(member).load();
  }
  Fabric fabric_;
};

TEST_P(SpreadTest, FramesLeaveByPortsThatAreUp) {
  const auto send = [this] {
    for (uint16_t session = 0; session < 60; ++session) {
      fabric_.In(0, SueFrame{.session = session}, At(0));
    }
  };
  send();
  for (uint32_t member = 0; member < 3; ++member) {
    EXPECT_EQ(fabric_.Out(member + 1, At(0)).size(), FramesOf(member));
    EXPECT_NEAR(static_cast<double>(FramesOf(member)), 20, GetParam() == Spread::kFlow ? 15 : 0);
  }
  fabric_.the_switch.SetDown(2, true);
  const uint64_t before = FramesOf(1);
  send();
  EXPECT_EQ(FramesOf(1), before);
  EXPECT_EQ(FramesOf(0) + FramesOf(1) + FramesOf(2), 120u);
  fabric_.the_switch.SetDown(1, true);
  fabric_.the_switch.SetDown(3, true);
  send();
  EXPECT_EQ(fabric_.Count(0, SwitchPortCounter::kRxNoMember), 60u);
  fabric_.the_switch.SetDown(2, false);
  send();
  EXPECT_EQ(fabric_.Out(2, At(0)).size(), 60u);
  EXPECT_EQ(fabric_.Count(0, SwitchPortCounter::kRxNoMember), 60u);
}

// One flow: only without regard to flows all ports carry it.
TEST_P(SpreadTest, OneFlowLeavesByOnePortOrByAll) {
  for (uint32_t i = 0; i < 30; ++i) fabric_.In(0, SueFrame{}, At(0));
  uint32_t carrying = 0;
  for (uint32_t member = 0; member < 3; ++member) carrying += FramesOf(member) != 0 ? 1 : 0;
  EXPECT_EQ(carrying, GetParam() == Spread::kFlow ? 1u : 3u);
}

// A port whose frames wait gets fewer frames, if queues count.
TEST_P(SpreadTest, QueuesCountWhereTheyAreToCount) {
  for (uint16_t session = 0; session < 90; ++session) {
    fabric_.In(0, SueFrame{.session = session}, At(0));
    fabric_.Out(2, At(0));
    fabric_.Out(3, At(0));
  }
  if (GetParam() == Spread::kQueue) {
    EXPECT_EQ(FramesOf(0), 1u);
    EXPECT_NEAR(static_cast<double>(FramesOf(1)), 44, 1);
  } else {
    EXPECT_GT(FramesOf(0), 5u);
  }
}

std::string NameOf(const testing::TestParamInfo<Spread>& test) {
  constexpr const char* kNames[] = {"flow", "round_robin", "queue"};
  return kNames[static_cast<size_t>(test.param)];
}
INSTANTIATE_TEST_SUITE_P(All, SpreadTest,
                         testing::Values(Spread::kFlow, Spread::kRoundRobin, Spread::kQueue),
                         NameOf);

}  // namespace
}  // namespace suede::fabric
