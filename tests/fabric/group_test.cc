// SPDX-License-Identifier: Apache-2.0
// Addresses behind a group of ports (docs/switch.md, "Groups").
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kGroupPorts = 4;  // ports 1 to 4

struct GroupKind {
  Encap encap;
  Forwarding forwarding;
  bool has_entropy;  // beside the addresses
};

class GroupTest : public testing::TestWithParam<GroupKind> {
 protected:
  struct GroupFabric : Fabric {
    explicit GroupFabric(const SwitchParams& params, const GroupKind& kind)
        : Fabric(params), kind(kind) {
      const auto frame = BytesOf({.encap = kind.encap});
      const uint64_t mac = uint64_t{LoadBe16(frame.data())} << 32 | LoadBe32(frame.data() + 2);
      the_switch.table().AddStatic(IsByMac(kind.forwarding) ? ForwardingTable::MacKey(mac, 0)
                                                            : ForwardingTable::ForwardingKey(2),
                                   kFirstGroup);
    }
    uint32_t PortOf(uint16_t session, uint32_t from = 1) {
      In(0, {.encap = kind.encap, .from = from, .session = session}, At(0));
      for (uint32_t port = 1; port <= kGroupPorts; ++port) {
        if (!Out(port, At(0)).empty()) return port;
      }
      return 0;
    }
    const GroupKind kind;
  };
  GroupFabric Make(bool by_addresses = false) const {
    SwitchParams params = ParamsOf(kGroupPorts + 1, GetParam().forwarding);
    params.learns = false;
    params.groups = {{.ports = {1, 2, 3, 4}, .by_addresses = by_addresses}};
    return GroupFabric(params, GetParam());
  }
};

TEST_P(GroupTest, FlowsAreSpreadEvenlyAndStay) {
  GroupFabric fabric = Make();
  std::array<uint32_t, kGroupPorts + 1> flows{};
  constexpr uint32_t kFlows = 200;
  for (uint32_t flow = 0; flow < kFlows; ++flow) {
    const auto session = static_cast<uint16_t>(GetParam().has_entropy ? flow : 0);
    const uint32_t from = GetParam().has_entropy ? 1 : 10 + flow;
    const uint32_t port = fabric.PortOf(session, from);
    ++flows[port];
    EXPECT_EQ(fabric.PortOf(session, from), port);
  }
  EXPECT_EQ(flows[0], 0u);
  for (uint32_t port = 1; port <= kGroupPorts; ++port) {
    EXPECT_NEAR(flows[port], kFlows / kGroupPorts, 22) << port;
  }
}

// As by a switch that reads neither UDP ports nor entropy.
TEST_P(GroupTest, FlowsMayBeSpreadByAddressesAlone) {
  GroupFabric fabric = Make(/*by_addresses=*/true);
  std::array<uint32_t, kGroupPorts + 1> flows{};
  for (uint32_t from = 10; from < 50; ++from) {
    const uint32_t port = fabric.PortOf(0, from);
    ++flows[port];
    for (uint16_t session = 1; session < 20; ++session) {
      ASSERT_EQ(fabric.PortOf(session, from), port) << session;
    }
  }
  for (uint32_t port = 1; port <= kGroupPorts; ++port) EXPECT_GT(flows[port], 0u) << port;
}

TEST_P(GroupTest, OnlyFlowsOfAPortThatIsDownMove) {
  GroupFabric fabric = Make();
  std::map<uint32_t, uint32_t> before;
  for (uint32_t from = 10; from < 110; ++from) before[from] = fabric.PortOf(0, from);
  fabric.the_switch.SetDown(2, true);
  std::array<uint32_t, kGroupPorts + 1> moved{};
  for (const auto& [from, port] : before) {
    const uint32_t now = fabric.PortOf(0, from);
    if (port == 2) {
      ++moved[now];
    } else {
      EXPECT_EQ(now, port);
    }
  }
  EXPECT_EQ(moved[0] + moved[2], 0u);
  for (const uint32_t port : {1, 3, 4}) EXPECT_GT(moved[port], 0u) << port;
  fabric.the_switch.SetDown(2, false);
  for (const auto& [from, port] : before) EXPECT_EQ(fabric.PortOf(0, from), port);
}

TEST_P(GroupTest, WithoutAPortThatIsUpFramesAreDropped) {
  GroupFabric fabric = Make();
  for (uint32_t port = 1; port <= kGroupPorts; ++port) fabric.the_switch.SetDown(port, true);
  EXPECT_EQ(fabric.PortOf(5), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxNoMember), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, GroupTest,
                         testing::Values(GroupKind{Encap::kUdp4, Forwarding::kMac, true},
                                         GroupKind{Encap::kUdp6, Forwarding::kMac, true},
                                         GroupKind{Encap::kAfh1, Forwarding::kAfh1, false},
                                         GroupKind{Encap::kAfh1s, Forwarding::kAfh1, true},
                                         GroupKind{Encap::kAfh2, Forwarding::kAfh2, true},
                                         GroupKind{Encap::kAfh2c, Forwarding::kAfh2, false},
                                         GroupKind{Encap::kEsun, Forwarding::kEsun, true}),
                         [](const auto& test) { return std::string(EncapName(test.param.encap)); });

// The ports of a fragment, of another protocol and of a frame that ends early are not those of a
// flow, and nothing behind a frame is read.
TEST(FlowHash, PortsAreReadFromWholeUdpHeaders) {
  const auto hash = [](std::vector<uint8_t> frame) {
    frame.shrink_to_fit();
    const auto bytes = static_cast<uint32_t>(frame.size());
    const FrameView view = ViewFrame(Forwarding::kMac, frame.data(), bytes);
    return view.FlowHash(frame.data(), bytes);
  };
  for (const Encap encap : {Encap::kUdp4, Encap::kUdp6}) {
    const uint32_t ports_at = encap == Encap::kUdp4 ? 34 : 54;
    const auto one = BytesOf({.encap = encap, .session = 1});
    const auto other = BytesOf({.encap = encap, .session = 2});
    EXPECT_NE(hash(one), hash(other));
    for (uint32_t bytes = ports_at; bytes < ports_at + 4; ++bytes) {
      EXPECT_EQ(hash({one.begin(), one.begin() + bytes}),
                hash({other.begin(), other.begin() + bytes}));
    }
    const auto changed = [&](std::vector<uint8_t> frame, size_t at, uint8_t value) {
      frame[at] = value;
      return hash(std::move(frame));
    };
    const size_t protocol_at = encap == Encap::kUdp4 ? 23 : 20;
    EXPECT_EQ(changed(one, protocol_at, 6), changed(other, protocol_at, 6));
    if (encap == Encap::kUdp4) {
      EXPECT_EQ(changed(one, 21, 1), changed(other, 21, 1)) << "a fragment";
    }
  }
}

}  // namespace
}  // namespace suede::fabric
