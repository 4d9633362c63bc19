// SPDX-License-Identifier: Apache-2.0
// LLDP of a switch: its facts, and its frames between the lcore and the agents.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fabric_fixture.h"
#include "switch/lldp_facts.h"
#include "switch/switch_check.h"
#include "switch/switch_lldp.h"
#include "switch/switch_params.h"

namespace suede {
namespace {

using fabric::Fabric;
using fabric::ParamsOf;

SwitchConfig ConfigWith(const std::string& port, const std::string& rest) {
  const std::string text =
      "version: 1\nname: sw0\nlcores: [{cpu: 0}]\n"
      "ports:\n  - {name: s0, device: net_null0, " +
      port + "}\n  - {name: s1, device: net_null1}\n" + rest;
  const auto config = ParseSwitchConfig(text, "test.yaml", {.cpu_count = 4});
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : SwitchConfig{};
}

lldp::Lldpdu FactsWith(const std::string& port, const std::string& rest = "") {
  const SwitchConfig config = ConfigWith(port, rest);
  return SwitchLldpFactsOf(config, SwitchParamsOf(config), 0, {2, 0, 0, 0, 0, 9}, "net_null");
}

TEST(SwitchLldpFacts, AreThoseOfThePort) {
  const lldp::Lldpdu facts = FactsWith("lldp: on, mtu_bytes: 4300");
  EXPECT_EQ(lldp::ChassisText(facts.chassis), "02:00:00:00:00:09");
  EXPECT_EQ(lldp::PortText(facts.port), "s0");
  EXPECT_EQ(facts.system_name, "sw0");
  EXPECT_EQ(facts.port_description, "s0 (net_null)");
  EXPECT_EQ(facts.max_frame_bytes, 4318);
  EXPECT_EQ(facts.pfc->classes, 0);
  EXPECT_FALSE(facts.link->llr || facts.link->cbfc_sender || facts.link->cbfc_receiver);
}

TEST(SwitchLldpFacts, PfcHasTheLosslessClassesOfPortsWithPfc) {
  constexpr char kLossless[] =
      "classes: {of: [{class: 1, lossless: on}, {class: 6, lossless: on}]}\n";
  EXPECT_EQ(FactsWith("pfc: on, rate_gbps: 100", kLossless).pfc->classes, 0x42);
  EXPECT_EQ(FactsWith("pfc: off", kLossless).pfc->classes, 0);
}

TEST(SwitchLldpFacts, SharesAddUpToAHundredPercent) {
  const lldp::Ets even = *FactsWith("lldp: on").ets;
  EXPECT_EQ(even.percent, (std::array<uint8_t, 8>{13, 13, 13, 13, 12, 12, 12, 12}));
  const lldp::Ets mixed =
      *FactsWith("lldp: on", "classes: {of: [{class: 0, weight: 14}, {class: 7, strict: on}]}\n")
           .ets;
  EXPECT_EQ(mixed.percent, (std::array<uint8_t, 8>{70, 5, 5, 5, 5, 5, 5, 0}));
  EXPECT_EQ(mixed.selection[7], lldp::Ets::kStrict);
  EXPECT_EQ(mixed.selection[0], lldp::Ets::kWeighted);
}

TEST(SwitchLldpFacts, PrioritiesAreTheClassesOfDscps) {
  const auto facts = FactsWith("lldp: on", "classes: {dscp: [{dscp: 46, class: 1}]}\n");
  ASSERT_EQ(facts.applications->size(), 64u);
  EXPECT_EQ(facts.applications->at(46).priority, 1);
  EXPECT_EQ(facts.applications->at(47).priority, 5);
}

TEST(SwitchLldpFacts, CreditIsThatOfThePort) {
  const auto facts =
      FactsWith("cbfc: on, llr: on",
                "cbfc: {credit_bytes: 256, credits: [90, 91, 92, 93, 94, 95, 96, 97]}\n");
  EXPECT_TRUE(facts.link->llr && facts.link->cbfc_sender && facts.link->cbfc_receiver);
  EXPECT_EQ(facts.link->credit_octets, 256);
  EXPECT_EQ(facts.link->credits, (std::array<uint32_t, 8>{90, 91, 92, 93, 94, 95, 96, 97}));
}

TEST(SwitchLldpFacts, AddressIsThatOfThePort) {
  EXPECT_FALSE(FactsWith("lldp: on").assignment.has_value());
  const lldp::Assignment v4 =
      *FactsWith("lldp: on, lldp_assign: {ip: 10.0.0.5, prefix: 24, gateway: 10.0.0.1}").assignment;
  EXPECT_EQ(v4, (lldp::Assignment{.address = {.low = 0x0a000005},
                                  .prefix = 24,
                                  .gateway = lldp::IpAddress{.low = 0x0a000001}}));
  const SwitchConfig config =
      ConfigWith("lldp: on, lldp_assign: {ip: '2001:db8::5', prefix: 64}", "");
  const lldp::Assignment v6 = AssignmentOf(*config.ports[0].lldp_assign);
  EXPECT_EQ(lldp::AssignmentText(v6), "2001:db8::5/64");
  EXPECT_FALSE(v6.gateway.has_value());
  const auto again = ParseSwitchConfig(DumpSwitchConfig(config), "dump.yaml", {.cpu_count = 4});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(AssignmentOf(*again->ports[0].lldp_assign), v6);
}

// The frame that an agent sends leaves by its port; the one that arrives there is heard.
TEST(SwitchLldp, FramesGoBothWays) {
  Fabric fabric(ParamsOf(2));
  fabric::LldpTap tap;
  fabric.the_switch.port(1).SetLldp(&tap);
  SwitchMailbox mailbox;
  EventLog events;
  Time now = fabric::At(1);
  const lldp::Lldpdu own{.chassis = {.subtype = 7, .value = "own"},
                         .port = {.subtype = 7, .value = "s1"}};
  SwitchLldp agents(&mailbox, &events, [&now] { return now; },
                    {{.number = 1,
                      .name = "s1",
                      .source = {2, 0, 0, 0, 0, 1},
                      .own = own,
                      .tap = &tap,
                      .link_up = [] { return true; }}});
  agents.Poll();
  EXPECT_TRUE(mailbox.Serve(fabric.the_switch, now));
  const auto sent = fabric.Out(1, now);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(lldp::Decode(sent[0]).pdu.chassis, own.chassis);

  lldp::Lldpdu far = own;
  far.chassis.value = "far";
  far.ttl_s = 100;
  for (int i = 0; i < 40; ++i) fabric.In(1, lldp::Encode(far, {2, 0, 0, 0, 0, 2}), now);
  agents.Poll();
  ASSERT_EQ(agents.View().neighbours.size(), 1u);
  EXPECT_EQ(agents.View().neighbours[0].chassis, "far");
  EXPECT_EQ(events.newest(), 1u);
  const LldpCounters& counters = *agents.counters(1);
  EXPECT_EQ(counters.Get(LldpCounter::kRxFrames) + counters.Get(LldpCounter::kRxRate), 40u);
  EXPECT_EQ(counters.Get(LldpCounter::kRxFrames), 10u);

  agents.Shutdown();
  EXPECT_TRUE(mailbox.Serve(fabric.the_switch, now));
  const auto last = fabric.Out(1, now);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(lldp::Decode(last[0]).pdu.ttl_s, 0);
}

}  // namespace
}  // namespace suede
