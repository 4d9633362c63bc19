// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

TEST(Forwarding, LearntMacAddresses) {
  Fabric fabric(ParamsOf(3));
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 1u);  // unknown: flooded
  EXPECT_EQ(fabric.Out(2, At(0)).size(), 1u);
  EXPECT_EQ(fabric.Out(0, At(0)).size(), 0u);
  fabric.In(1, SueFrame{.from = 2, .to = 1}, At(1));
  EXPECT_EQ(fabric.Out(0, At(1)).size(), 1u);
  EXPECT_EQ(fabric.Out(2, At(1)).size(), 0u);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(2));
  EXPECT_EQ(fabric.Out(1, At(2)).size(), 1u);
  EXPECT_EQ(fabric.Out(2, At(2)).size(), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxFlooded), 1u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxLearnt), 1u);
}

TEST(Forwarding, AnIpFrameWithoutARouteGoesByItsMacAddressAndVlan) {
  SwitchParams params = ParamsOf(3, Forwarding::kIp);
  Fabric fabric(params);
  fabric.In(1, SueFrame{.from = 2, .to = 9, .tagged = true, .vid = 5},
            At(0));  // learnt, and flooded
  for (const uint32_t port : {0u, 2u}) EXPECT_EQ(fabric.Out(port, At(0)).size(), 1u);
  fabric.In(0, SueFrame{.from = 1, .to = 2, .tagged = true, .vid = 5}, At(1));
  EXPECT_EQ(fabric.Out(1, At(1)).size(), 1u);
  EXPECT_EQ(fabric.Out(2, At(1)).size(), 0u);
  fabric.In(0, SueFrame{.from = 1, .to = 2, .tagged = true, .vid = 6},
            At(2));  // not known in this VLAN
  EXPECT_EQ(fabric.Out(1, At(2)).size(), 1u);
  EXPECT_EQ(fabric.Out(2, At(2)).size(), 1u);
}

TEST(Forwarding, AFloodedFrameWithoutAnotherPortIsDroppedUnderItsReason) {
  Fabric fabric(ParamsOf(2));
  fabric.the_switch.SetDown(1, true);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxNoPort), 1u);
}

TEST(Forwarding, UnknownDestinationsAreDroppedWhereNotFlooded) {
  SwitchParams params = ParamsOf(3);
  params.floods = false;
  Fabric fabric(params);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size() + fabric.Out(2, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxUnknown), 1u);
}

TEST(Forwarding, AnIsolatedPairIsDeafToItselfAlone) {
  Fabric fabric(ParamsOf(3));
  fabric.In(1, SueFrame{.from = 2, .to = 9}, At(0));
  for (uint32_t port : {0, 2}) fabric.Out(port, At(0));
  fabric.the_switch.SetBlocked(0, 1, true);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxIsolated), 1u);
  fabric.In(0, SueFrame{.from = 1, .to = 7}, At(0));  // flooded
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Out(2, At(0)).size(), 1u);
  fabric.In(1, SueFrame{.from = 2, .to = 1}, At(0));
  EXPECT_EQ(fabric.Out(0, At(0)).size(), 1u);
  fabric.the_switch.SetBlocked(0, 1, false);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 1u);
}

TEST(Forwarding, ACallerLearnsWhichPortsHaveFramesToSend) {
  Fabric fabric(ParamsOf(3));
  fabric.the_switch.AddAddress(Switch::MacKey(MacNumber(2), 0), 2);
  using Ports = std::vector<uint16_t>;
  const auto touched = [&] {
    const Ports ports(fabric.the_switch.touched().begin(), fabric.the_switch.touched().end());
    fabric.the_switch.ClearTouched();
    return ports;
  };
  EXPECT_EQ(touched(), Ports());
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(touched(), Ports{2});
  EXPECT_EQ(touched(), Ports());
  EXPECT_EQ(fabric.the_switch.deadline(2, At(0)), At(0));
  EXPECT_EQ(fabric.the_switch.deadline(1, At(0)), kNever);
  fabric.the_switch.impairment_in(0).Set({.delay = std::chrono::microseconds(3)});
  fabric.In(0, SueFrame{.from = 1, .to = 9}, At(0));
  EXPECT_EQ(fabric.the_switch.deadline(0, At(0)), At(3));
  fabric.the_switch.PollPort(1, At(3));
  EXPECT_EQ(touched(), Ports());
  fabric.the_switch.PollPort(0, At(3));
  EXPECT_EQ(touched(), (Ports{1, 2}));
}

TEST(Forwarding, AnEthernetSwitchNeedsNoIntactIpHeader) {
  for (const bool by_mac : {true, false}) {
    Fabric fabric(ParamsOf(2, by_mac ? Forwarding::kMac : Forwarding::kIp));
    auto frame = BytesOf({.from = 1, .to = 2, .traffic_class = {.dscp = 24}});
    frame[14] = 0x65;  // version 6
    fabric.In(0, frame, At(0));
    frame.resize(20);
    fabric.In(0, frame, At(0));
    EXPECT_EQ(fabric.Out(1, At(0)).size(), by_mac ? 2u : 0u);
    EXPECT_EQ(fabric.Count(1, 0, SwitchClassCounter::kFrames), by_mac ? 2u : 0u);
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxRunt), by_mac ? 0u : 2u);
    frame.resize(13);
    fabric.In(0, frame, At(0));
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxRunt), by_mac ? 1u : 3u);
  }
}

TEST(Forwarding, FramesDoNotGoBackOrIntoOtherVlans) {
  SwitchParams params = ParamsOf(3);
  params.ports[1].strict_vlans = params.ports[2].strict_vlans = true;
  params.ports[1].vlans = {10};
  params.ports[2].vlans = {20};
  Fabric fabric(params);
  fabric.In(0, SueFrame{.from = 1, .to = 2, .tagged = true, .vid = 20}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Out(2, At(0)).size(), 1u);
  fabric.In(1, SueFrame{.from = 3, .to = 2, .tagged = true, .vid = 20}, At(0));
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kRxVlan), 1u);
  // The same address in another VLAN is another address.
  fabric.In(1, SueFrame{.from = 1, .to = 9, .tagged = true, .vid = 10}, At(0));
  EXPECT_EQ(fabric.the_switch.table().size(), 2u);
  fabric.Out(0, At(0));
  fabric.In(0, SueFrame{.from = 7, .to = 1, .tagged = true, .vid = 20}, At(0));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxHairpin), 1u);
}

TEST(Forwarding, AHairpinPortSendsBackWhatIsBehindIt) {
  SwitchParams params = ParamsOf(3);
  params.ports[0].hairpins = true;
  Fabric fabric(params);
  fabric.In(0, SueFrame{.from = 1, .to = 9}, At(0));
  fabric.Out(1, At(0));
  fabric.Out(2, At(0));
  EXPECT_EQ(fabric.Out(0, At(0)).size(), 0u);  // a flooded frame does not go back
  fabric.In(0, SueFrame{.from = 2, .to = 1}, At(0));
  EXPECT_EQ(fabric.Out(0, At(0)).size(), 1u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxHairpin), 0u);
}

struct Kind {
  Encap encap;
  Forwarding forwarding;
};

class ForwardingAddresses : public testing::TestWithParam<Kind> {};

TEST_P(ForwardingAddresses, StaticEntriesAndHopLimits) {
  SwitchParams params = ParamsOf(3, GetParam().forwarding);
  params.floods = false;
  Fabric fabric(params);
  fabric.the_switch.AddAddress(Switch::ForwardingKey(0x0402), 2);
  const SueFrame sue{
      .encap = GetParam().encap, .from = 1, .to = 0x0402, .traffic_class = {.dscp = 40}};
  const std::vector<uint8_t> sent = BytesOf(sue);
  fabric.In(0, sent, At(0));
  auto got = fabric.Out(2, At(0));
  ASSERT_EQ(got.size(), 1u);
  // Only the hop limit has changed.
  uint32_t changes = 0;
  for (size_t i = 0; i < sent.size(); ++i) changes += sent[i] != got[0][i] ? 1 : 0;
  const bool has_hops = GetParam().encap == Encap::kAfh1s || GetParam().encap == Encap::kAfh2;
  EXPECT_EQ(changes, has_hops ? 1u : 0u);
  const bool has_class = TraitsOf(GetParam().encap).has_class || GetParam().encap == Encap::kAfh2;
  EXPECT_EQ(fabric.Count(2, has_class ? 5 : 0, SwitchClassCounter::kFrames), 1u);
  FrameRules rules{.encap = GetParam().encap};
  const ParsedFrame parsed =
      ParseFrame(rules, got[0].data(), static_cast<uint32_t>(got[0].size()), false);
  EXPECT_EQ(parsed.error, FrameError::kNone);
  if (!has_hops) return;
  for (int hop = 1; hop < 63; ++hop) {
    fabric.In(0, got[0], At(hop));
    got = fabric.Out(2, At(hop));
    ASSERT_EQ(got.size(), 1u) << hop;
  }
  fabric.In(0, got[0], At(100));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxHopLimit), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, ForwardingAddresses,
                         testing::Values(Kind{Encap::kAfh1, Forwarding::kAfh1},
                                         Kind{Encap::kAfh1s, Forwarding::kAfh1},
                                         Kind{Encap::kAfh2, Forwarding::kAfh2},
                                         Kind{Encap::kAfh2c, Forwarding::kAfh2}));

TEST(Forwarding, OtherKindsAreCounted) {
  Fabric afh1(ParamsOf(2, Forwarding::kAfh1));
  afh1.In(0, SueFrame{.encap = Encap::kUdp4}, At(0));
  EXPECT_EQ(afh1.Count(0, SwitchPortCounter::kRxForeign), 1u);
  Fabric afh2(ParamsOf(2, Forwarding::kAfh2));
  afh2.In(0, SueFrame{.encap = Encap::kUdp4}, At(0));
  EXPECT_EQ(afh2.Count(0, SwitchPortCounter::kRxForeign), 1u);
  afh2.In(0, std::vector<uint8_t>(13), At(0));
  EXPECT_EQ(afh2.Count(0, SwitchPortCounter::kRxRunt), 1u);
  Fabric mac(ParamsOf(2));
  mac.In(0, {0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc}, At(0));
  EXPECT_EQ(mac.Count(0, SwitchPortCounter::kRxLinkLocal), 1u);
}

TEST(Forwarding, RoutesOfHosts) {
  for (const Encap encap : {Encap::kUdp4, Encap::kUdp6}) {
    SwitchParams params = ParamsOf(3, Forwarding::kIp);
    params.floods = false;
    Fabric fabric(params);
    const NetAddress key =
        encap == Encap::kUdp4 ? Switch::Ipv4Key(0x0a000002) : Switch::Ipv6Key({.low = 2});
    fabric.the_switch.AddAddress(key, 2);
    const auto sent = BytesOf({.encap = encap, .from = 1, .to = 2});
    fabric.In(0, sent, At(0));
    auto got = fabric.Out(2, At(0));
    ASSERT_EQ(got.size(), 1u);
    const ParsedFrame parsed =
        ParseFrame({.encap = encap}, got[0].data(), static_cast<uint32_t>(got[0].size()), false);
    EXPECT_EQ(parsed.error, FrameError::kNone);  // the checksum is right
    EXPECT_EQ(got[0][encap == Encap::kUdp4 ? 22 : 21], 63);
    fabric.In(0, SueFrame{.encap = encap, .from = 1, .to = 3}, At(0));
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxUnknown), 1u);
  }
}

// Ever new sources, from one port: the others are learnt and reached all the same.
TEST(Forwarding, AFloodOfSourcesHarmsNoOtherPort) {
  SwitchParams params = ParamsOf(3);
  params.addresses = 256;
  params.addresses_of_port = 128;
  Fabric fabric(params);
  for (uint32_t i = 0; i < 1000; ++i) {
    fabric.In(0, SueFrame{.from = 1000 + i, .to = 1000 + i + 1}, At(i));
    fabric.Out(1, At(i));
    fabric.Out(2, At(i));
  }
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxNotLearnt), 1000u - 128);
  fabric.In(1, SueFrame{.from = 1, .to = 2}, At(2000));
  fabric.Out(0, At(2000)), fabric.Out(2, At(2000));
  fabric.In(2, SueFrame{.from = 2, .to = 1}, At(2000));
  EXPECT_EQ(fabric.Out(1, At(2000)).size(), 1u);
  EXPECT_EQ(fabric.Out(0, At(2000)).size(), 0u);
}

TEST(Forwarding, APortThatIsDownHoldsNothing) {
  Fabric fabric(ParamsOf(2));
  fabric.In(1, SueFrame{.from = 2, .to = 9}, At(0));
  fabric.Out(0, At(0));
  for (int i = 0; i < 10; ++i) fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_GT(fabric.the_switch.buffer().used(), 0u);
  fabric.the_switch.SetDown(1, true);
  EXPECT_EQ(fabric.the_switch.buffer().used(), 0u);
  EXPECT_EQ(fabric.Count(1, 0, SwitchClassCounter::kDownDrop), 10u);
  fabric.In(1, SueFrame{.from = 2, .to = 1}, At(0));
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kRxDown), 1u);
  EXPECT_EQ(fabric.Out(0, At(0)).size(), 0u);
}

}  // namespace
}  // namespace suede::fabric
