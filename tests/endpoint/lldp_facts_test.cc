// SPDX-License-Identifier: Apache-2.0
// Content of the LLDP frames of ports, by their configuration.
#include "endpoint/lldp_facts.h"

#include <gtest/gtest.h>

#include <string>

#include "config/link_config.h"

namespace suede {
namespace {

// Returns the facts of the only port, which has these further keys.
lldp::Lldpdu FactsWith(const std::string& port, const std::string& rest = "",
                       const std::string& address = "ip: 198.18.0.1") {
  const std::string text =
      "version: 1\nname: left\nlcores: [{cpu: 0}]\n"
      "ports: [{name: p0, device: net_null0, lldp: on, " +
      port +
      "}]\n"
      "instances: [{xpu: 0, ports: [{port: p0, " +
      address + "}]}]\n" + rest;
  const auto config = ParseConfig(text, "test.yaml", {.cpu_count = 4});
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? LldpFactsOf(*config, 0, {2, 0, 0, 0, 0, 9}, "net_null") : lldp::Lldpdu{};
}

TEST(LldpFactsTest, NamesPortAndSystem) {
  const lldp::Lldpdu facts = FactsWith("mtu_bytes: 4300");
  EXPECT_EQ(lldp::ChassisText(facts.chassis), "02:00:00:00:00:09");
  EXPECT_EQ(lldp::PortText(facts.port), "p0");
  EXPECT_EQ(facts.port_description, "p0 (net_null)");
  EXPECT_EQ(facts.system_name, "left");
  EXPECT_TRUE(facts.system_description->starts_with("suede "));
  EXPECT_EQ(facts.max_frame_bytes, 4318);
  EXPECT_FALSE(facts.ets.has_value());
}

TEST(LldpFactsTest, WithoutPfcNoClassIsPaused) {
  const lldp::Lldpdu facts = FactsWith("mtu_bytes: 4300");
  EXPECT_EQ(facts.pfc->classes, 0);
  EXPECT_EQ(facts.link->llr, false);
  EXPECT_EQ(facts.link->cbfc_sender, false);
  EXPECT_EQ(facts.link->credit_octets, 0);
}

TEST(LldpFactsTest, PfcHasTheClassesOfAllFlows) {
  // VC v is in class v, acknowledgements are in class 6.
  const lldp::Lldpdu facts = FactsWith("pfc: software, bandwidth_gbps: 100");
  EXPECT_EQ(facts.pfc->classes, 0x4f);
  using App = lldp::Application;
  EXPECT_EQ(facts.applications,
            (std::vector<App>{{.selector = App::kDscp, .protocol = 0},
                              {.selector = App::kDscp, .protocol = 8, .priority = 1},
                              {.selector = App::kDscp, .protocol = 16, .priority = 2},
                              {.selector = App::kDscp, .protocol = 24, .priority = 3},
                              {.selector = App::kDscp, .protocol = 48, .priority = 6}}));
}

TEST(LldpFactsTest, LinkOptionsAreThoseOfHello) {
  const lldp::Lldpdu facts =
      FactsWith("llr: on, cbfc: on, link_ether_type: 0xfe51",
                "cbfc: {credit_bytes: 256, credits: [10, 20, 30, 40, 50, 60, 70, 80]}\n");
  EXPECT_TRUE(facts.link->llr && facts.link->cbfc_sender && facts.link->cbfc_receiver);
  EXPECT_EQ(facts.link->ether_type, 0xfe51);
  EXPECT_EQ(facts.link->credit_octets, 256);
  EXPECT_EQ(facts.link->credits, (std::array<uint32_t, 8>{10, 20, 30, 40, 50, 60, 70, 80}));
  // VC 0 has class 0 and link VC 0, VC v class v.
  EXPECT_EQ(facts.link->link_vc_of, (std::array<uint8_t, 5>{0, 1, 2, 3, 6}));
}

TEST(LldpFactsTest, HeadersWithThreeBitsHaveDscpsInStepsOfEight) {
  const lldp::Lldpdu facts = FactsWith(
      "encapsulation: esun, ether_type: 0x88b6",
      "classes: {vc: [{dscp: 10}, {dscp: 18}, {dscp: 26}, {dscp: 34}], ack: {dscp: 48}}\n",
      "forwarding_address: 1");
  std::vector<uint16_t> dscps;
  for (const lldp::Application& one : *facts.applications) dscps.push_back(one.protocol);
  EXPECT_EQ(dscps, (std::vector<uint16_t>{8, 16, 24, 32, 48}));
}

TEST(LldpFactsTest, WithoutDscpTheEtherTypeHasOnePriority) {
  using App = lldp::Application;
  const lldp::Lldpdu facts = FactsWith("encapsulation: afh1", "", "forwarding_address: 1");
  ASSERT_EQ(facts.applications->size(), 1u);
  EXPECT_EQ(facts.applications->at(0).selector, App::kEtherType);
  EXPECT_EQ(facts.applications->at(0).priority, 0);
  // With several priorities there is no one to state.
  const lldp::Lldpdu tagged =
      FactsWith("encapsulation: afh1, vlan: {vid: 0}, pfc: software, bandwidth_gbps: 100", "",
                "forwarding_address: 1");
  EXPECT_TRUE(tagged.applications->empty());
  EXPECT_EQ(tagged.pfc->classes, 0x4f);
}

}  // namespace
}  // namespace suede
