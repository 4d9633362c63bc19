// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "../port/drop_recorder.h"
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

TEST(Forwarding, AnAddressThatMovesIsReachedAtItsNewPort) {
  Fabric fabric(ParamsOf(3));
  fabric.In(1, SueFrame{.from = 2, .to = 9}, At(0));
  fabric.In(2, SueFrame{.from = 2, .to = 9}, At(1));
  EXPECT_EQ(fabric.Count(2, SwitchPortCounter::kRxMoved), 1u);
  EXPECT_EQ(fabric.Count(2, SwitchPortCounter::kRxLearnt), 0u);
  for (const uint32_t port : {0, 1, 2}) fabric.Out(port, At(1));
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(2));
  EXPECT_EQ(fabric.Out(2, At(2)).size(), 1u);
  EXPECT_EQ(fabric.Out(1, At(2)).size(), 0u);
}

// The addresses of AFH Gen 1 are learnt by their 16 bits, whatever is in front of them.
TEST(Forwarding, Gen1LearnsAddressesAndNotMacAddresses) {
  Fabric fabric(ParamsOf(3, Forwarding::kAfh1));
  std::vector<uint8_t> frame = BytesOf({.encap = Encap::kAfh1, .from = 2, .to = 9});
  frame[8] = 0x77;
  fabric.In(1, frame, At(0));
  for (const uint32_t port : {0, 2}) fabric.Out(port, At(0));
  fabric.In(0, {.encap = Encap::kAfh1, .from = 1, .to = 2}, At(1));
  EXPECT_EQ(fabric.Out(1, At(1)).size(), 1u);
  EXPECT_EQ(fabric.Out(2, At(1)).size(), 0u);
}

TEST(Forwarding, GroupsAreFloodedAndNeverLearnt) {
  Fabric fabric(ParamsOf(3));
  std::vector<uint8_t> frame = BytesOf({.from = 1, .to = 2});
  frame[0] |= 1;
  frame[6] |= 1;
  fabric.In(0, frame, At(0));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxLearnt), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxFlooded), 1u);
  EXPECT_EQ(fabric.Out(1, At(0)).size() + fabric.Out(2, At(0)).size(), 2u);
  // Where nothing is learnt, either: an address of a group is in the table only as configured.
  SwitchParams params = ParamsOf(3);
  params.floods = false;
  Fabric quiet(params);
  quiet.In(0, frame, At(0));
  EXPECT_EQ(quiet.Out(1, At(0)).size() + quiet.Out(2, At(0)).size(), 2u) << "a group is no unknown";
  EXPECT_EQ(quiet.Count(0, SwitchPortCounter::kRxUnknown), 0u);
}

// The switch asks for 64 spare frames.
TEST(Forwarding, AFloodThatHasNoFrameForACopyIsCounted) {
  constexpr uint32_t kPorts = 68;
  Fabric fabric(ParamsOf(kPorts));
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxNoCopy), 2u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxFlooded), 1u);
  size_t got = 0;
  for (uint32_t port = 1; port < kPorts; ++port) got += fabric.Out(port, At(0)).size();
  EXPECT_EQ(got, 65u) << "64 copies, and the frame itself";
}

// A switch of its own, with spare frames of any size.
TEST(Forwarding, ACopyNeedsAFrameThatIsLargeEnough) {
  const std::vector<uint8_t> bytes = BytesOf({.from = 1, .to = 2});
  const auto length = static_cast<uint32_t>(bytes.size());
  for (const bool fits : {true, false}) {
    Switch the_switch(ParamsOf(3));
    std::vector<uint8_t> memory[2];
    Frame frames[2];
    for (uint32_t i = 0; i < 2; ++i) {
      memory[i].resize(64 + length - (i == 1 && !fits ? 1 : 0));
      frames[i].buffer = memory[i].data();
      frames[i].capacity = static_cast<uint32_t>(memory[i].size());
    }
    frames[0].data = frames[0].buffer + 64;
    frames[0].length = length;
    std::copy(bytes.begin(), bytes.end(), frames[0].data);
    the_switch.GiveSpare(&frames[1]);
    Frame* frame = &frames[0];
    the_switch.Receive(0, &frame, 1, At(0));
    EXPECT_EQ(the_switch.port(0).counters().Get(SwitchPortCounter::kRxNoCopy), fits ? 0u : 1u);
    EXPECT_EQ(the_switch.ended().size(), fits ? 0u : 1u);
    for (const uint32_t port : {1u, 2u}) {
      const bool has_one = fits || port == 2;
      ASSERT_EQ(the_switch.Transmit(port, &frame, 1, At(0)), has_one ? 1u : 0u) << port;
      if (!has_one) continue;
      EXPECT_EQ(std::vector<uint8_t>(frame->data, frame->data + frame->length), bytes);
    }
  }
}

TEST(Forwarding, FramesAndTheirBytesAreCountedOnBothSides) {
  Fabric fabric(ParamsOf(2));
  uint64_t bytes = 0;
  for (const uint32_t commands : {64, 200, 1000}) {
    const auto frame = BytesOf({.from = 1, .to = 2, .bytes = commands});
    bytes += frame.size();
    fabric.In(0, frame, At(0));
  }
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxFrames), 3u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxFrameBytes), bytes);
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kTxFrames), 0u);
  fabric.Out(1, At(0));
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kTxFrames), 3u);
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kTxFrameBytes), bytes);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kTxFrames), 0u);
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kTxDown), 0u);
  fabric.the_switch.port(1).OnUnsent(2);
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kTxDown), 2u);
}

TEST(Forwarding, APortIsIdleWhereTransmitFindsNothing) {
  SwitchParams params = ParamsOf(5);
  params.ports[2].pfc.on = true;
  params.ports[3].link.retry.on = true;
  Fabric fabric(params);
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 1);
  const auto idle = [&](uint32_t port) { return fabric.the_switch.IsIdle(port); };
  EXPECT_TRUE(idle(0) && idle(1) && idle(4));
  EXPECT_FALSE(idle(2)) << "a pause may be due";
  EXPECT_FALSE(idle(3)) << "a frame of the link may be due";
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_TRUE(idle(0));
  EXPECT_FALSE(idle(1));
  fabric.the_switch.port(1).out().Set({.delay = std::chrono::microseconds(5)});
  fabric.Out(1, At(0));
  EXPECT_FALSE(idle(1)) << "the frame is on its cable";
  EXPECT_EQ(fabric.Out(1, At(5)).size(), 1u);
  EXPECT_TRUE(idle(1));
}

TEST(Forwarding, KeysHaveTheirKinds) {
  using Kind = ForwardingTable::KeyKind;
  const NetAddress mac = ForwardingTable::MacKey(MacNumber(2), 0xabc);
  const NetAddress ipv6 = ForwardingTable::Ipv6Key({.high = 0x20010db800000000, .low = 1});
  for (const Forwarding forwarding :
       {Forwarding::kMac, Forwarding::kIp, Forwarding::kAfh1, Forwarding::kAfh2}) {
    const Switch the_switch(ParamsOf(1, forwarding));
    const bool by_mac = forwarding == Forwarding::kMac || forwarding == Forwarding::kIp;
    EXPECT_EQ(the_switch.table().KindOf(mac), by_mac ? Kind::kMac : Kind::kForwarding);
    EXPECT_EQ(the_switch.table().KindOf(ForwardingTable::ForwardingKey(2)),
              by_mac ? Kind::kMac : Kind::kForwarding);
    EXPECT_EQ(the_switch.table().KindOf(ForwardingTable::Ipv4Key(0x0a000001)), Kind::kIpv4);
    EXPECT_EQ(the_switch.table().KindOf(ipv6), Kind::kIpv6);
  }
  EXPECT_EQ(ForwardingTable::VidOf(mac), 0xabc);
}

TEST(Forwarding, SomePortsMayForgetWhatTheyHaveLearnt) {
  Fabric fabric(ParamsOf(4));
  for (uint32_t port = 0; port < 4; ++port) {
    fabric.In(port, SueFrame{.from = 10 + port, .to = 9}, At(0));
  }
  fabric.the_switch.table().ForgetPorts(1u << 1 | 1u << 3 |
                                        uint64_t{1} << 63);  // there is no port 63
  for (uint32_t port = 0; port < 4; ++port) {
    EXPECT_EQ(fabric.the_switch.table().learnt_on(static_cast<uint16_t>(port)), 1 - port % 2);
  }
  for (uint32_t port = 0; port < 4; ++port) fabric.Out(port, At(0));
  fabric.In(0, SueFrame{.from = 10, .to = 13}, At(1));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxFlooded), 2u) << "one before, and this one";
  fabric.In(0, SueFrame{.from = 10, .to = 12}, At(1));
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxFlooded), 2u);
}

// Old entries go a few at a time, and those of a port that has gone sooner.
TEST(Forwarding, APollRemovesAFewOldEntries) {
  SwitchParams params = ParamsOf(2);
  params.addresses = 256;
  params.max_age = std::chrono::microseconds(10);
  for (const bool is_forgotten : {false, true}) {
    Fabric fabric(params);
    for (uint32_t i = 0; i < 200; ++i) fabric.In(0, SueFrame{.from = 10 + i, .to = 9}, At(0));
    const auto places = static_cast<uint32_t>(fabric.the_switch.table().places().size());
    if (is_forgotten) fabric.the_switch.table().ForgetPorts(1);
    const auto left = [&] {
      const AddressTable& table = fabric.the_switch.table();
      return table.size() + table.forgotten();
    };
    ASSERT_EQ(left(), 200u);
    for (uint32_t polls = 1; polls <= 20; ++polls) {
      fabric.the_switch.Poll(At(is_forgotten ? 5 : 100));
      if (!is_forgotten) {
        EXPECT_GE(left() + 4 * polls, 200u);
      }
    }
    if (is_forgotten) {
      EXPECT_EQ(left(), 0u) << "of " << places << " places";
    }
  }
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
  DropRecorder tap;
  fabric.the_switch.port(0).drop_tap().Set(&tap);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size() + fabric.Out(2, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxUnknown), 1u);
  const std::vector<uint8_t> runt(10);
  fabric.In(0, runt, At(0));
  fabric.the_switch.SetDown(0, true);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  const std::vector<uint8_t> whole = BytesOf(SueFrame{.from = 1, .to = 2});
  const std::vector<DropRecorder::Dropped> expected = {
      {whole, FrameDirection::kIn, "rx_drop_unknown_destination_total"},
      {runt, FrameDirection::kIn, "rx_drop_runt_total"},
      {whole, FrameDirection::kIn, "rx_drop_down_total"}};
  EXPECT_EQ(tap.dropped, expected);
}

TEST(Forwarding, AnIsolatedPairIsDeafToItselfAlone) {
  Fabric fabric(ParamsOf(3));
  fabric.In(1, SueFrame{.from = 2, .to = 9}, At(0));
  for (uint32_t port : {0, 2}) fabric.Out(port, At(0));
  fabric.the_switch.port(0).SetBlocked(1, true);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxIsolated), 1u);
  fabric.In(0, SueFrame{.from = 1, .to = 7}, At(0));  // flooded
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Out(2, At(0)).size(), 1u);
  fabric.In(1, SueFrame{.from = 2, .to = 1}, At(0));
  EXPECT_EQ(fabric.Out(0, At(0)).size(), 1u);
  fabric.the_switch.port(0).SetBlocked(1, false);
  fabric.In(0, SueFrame{.from = 1, .to = 2}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 1u);
}

TEST(Forwarding, ACallerLearnsWhichPortsHaveFramesToSend) {
  Fabric fabric(ParamsOf(3));
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 2);
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
  fabric.the_switch.port(0).in().Set({.delay = std::chrono::microseconds(3)});
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
  fabric.the_switch.table().AddStatic(ForwardingTable::ForwardingKey(0x0402), 2);
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
  const bool has_class = TraitsOf(GetParam().encap).class_bits != 0;
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
  EXPECT_EQ(fabric.the_switch.port(0).without_hops().count, 1u);
  EXPECT_EQ(fabric.the_switch.port(0).without_hops().destination, 0x0402u);
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
    const NetAddress key = encap == Encap::kUdp4 ? ForwardingTable::Ipv4Key(0x0a000002)
                                                 : ForwardingTable::Ipv6Key({.low = 2});
    fabric.the_switch.table().AddStatic(key, 2);
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
  EXPECT_TRUE(fabric.the_switch.port(1).is_down());
  // A configured address leads there still.
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(3), 0), 1);
  fabric.In(0, SueFrame{.from = 1, .to = 3}, At(0));
  EXPECT_EQ(fabric.Count(1, 0, SwitchClassCounter::kDownDrop), 11u);
  // The port has forgotten the addresses that it had learnt.
  fabric.the_switch.SetDown(1, false);
  EXPECT_FALSE(fabric.the_switch.port(1).is_down());
  EXPECT_EQ(fabric.the_switch.table().learnt_on(1), 0u);
  fabric.In(0, SueFrame{.from = 1, .to = 3}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 1u);
}

TEST(Forwarding, APortMayLeaveHopLimitsAsTheyAre) {
  for (const bool decrements : {true, false}) {
    SwitchParams params = ParamsOf(2, Forwarding::kAfh1);
    params.ports[0].decrements_hops = decrements;
    Fabric fabric(params);
    const auto sent = BytesOf({.encap = Encap::kAfh1s, .from = 1, .to = 2});
    fabric.In(0, sent, At(0));
    const auto got = fabric.Out(1, At(0));
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0] == sent, !decrements);
    auto last = sent;
    last[16] = 0;
    fabric.In(0, last, At(0));
    EXPECT_EQ(fabric.Count(0, SwitchPortCounter::kRxHopLimit), decrements ? 1u : 0u);
  }
}

// Pairs that are set twice are set once.
TEST(Forwarding, IsolationIsOfPairs) {
  Fabric fabric(ParamsOf(3));
  fabric.the_switch.port(0).SetBlocked(1, false);
  fabric.the_switch.port(0).SetBlocked(1, true);
  fabric.the_switch.port(0).SetBlocked(1, true);
  fabric.the_switch.port(0).SetBlocked(2, true);
  fabric.the_switch.port(0).SetBlocked(2, false);
  fabric.In(0, SueFrame{.from = 1, .to = 9}, At(0));
  EXPECT_EQ(fabric.Out(1, At(0)).size(), 0u);
  EXPECT_EQ(fabric.Out(2, At(0)).size(), 1u);
}

// Poll serves the first 64 ports, each as long as frames are on its cable.
TEST(Forwarding, FramesOnSeveralCablesArriveInTheirTime) {
  Fabric fabric(ParamsOf(66));
  for (uint32_t port : {0, 1, 63, 64}) {
    fabric.the_switch.port(port).in().Set({.delay = std::chrono::microseconds(port + 1)});
  }
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 65);
  for (uint32_t port : {0, 1, 63, 64}) {
    for (int us : {0, 10}) fabric.In(port, SueFrame{.from = port, .to = 2}, At(us));
  }
  const auto came = [&](int64_t us) { return fabric.Out(65, At(us)).size(); };
  EXPECT_EQ(came(0), 0u);
  EXPECT_EQ(came(1), 1u);
  EXPECT_EQ(came(2), 1u);
  EXPECT_EQ(came(12), 2u);
  EXPECT_EQ(came(63), 0u);
  EXPECT_EQ(came(64), 1u);
  EXPECT_EQ(came(74), 1u);
  EXPECT_EQ(fabric.the_switch.deadline(At(74)), At(65));
  EXPECT_EQ(came(80), 0u) << "the caller asks for port 64 by its number";
  fabric.the_switch.PollPort(64, At(80));
  EXPECT_EQ(came(80), 2u);
}

}  // namespace
}  // namespace suede::fabric
