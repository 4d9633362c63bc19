// SPDX-License-Identifier: Apache-2.0
// Content of the LLDP frames of ports, by their configuration.
#include "endpoint/lldp_facts.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "config/link_config.h"

namespace suede {
namespace {

using AddressList = std::vector<lldp::IpAddress>;

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

// Own XPU 0 takes the address that the neighbour of p0 assigns.
AddressList Taken() {
  const std::string text =
      "version: 1\nname: left\nlcores: [{cpu: 0}]\n"
      "ports:\n"
      "  - {name: p0, device: net_null0, lldp: on, lldp_addresses: on}\n"
      "  - {name: p1, device: net_null1, lldp: on}\n"
      "  - {name: p2, device: net_null2, encapsulation: afh1}\n"
      "instances:\n"
      "  - {xpu: 0, ports: [{port: p0}, {port: p1, ip: 10.0.1.1}]}\n"
      "  - {xpu: 1, ports: [{port: p0, ip: 10.0.0.2}]}\n"
      "  - {xpu: 2, ports: [{port: p2}]}\n"
      "peers:\n"
      "  - {xpu: 0, ports: [{port: p0, ip: 10.0.0.5, mac: 02:00:00:00:00:01}]}\n"
      "  - {xpu: 9, ports: [{port: p0, ip: 10.0.0.9, mac: 02:00:00:00:00:09},\n"
      "                     {port: p1, ip: 10.0.1.9, mac: 02:00:00:00:00:09}]}\n";
  const auto config = ParseConfig(text, "test.yaml", {.cpu_count = 4});
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? AddressPolicyOf(*config, 0, std::nullopt).taken : AddressList{};
}

// The own XPU's address as a peer is the one to be assigned.
TEST(AddressPolicyTest, OtherInstancesAndPeersOnThePortHaveAddresses) {
  EXPECT_EQ(Taken(), (AddressList{{.low = 0x0a000101}, {.low = 0x0a000002}, {.low = 0x0a000009}}));
}

TEST(AddressPolicyTest, FollowsThePort) {
  const auto config = ParseConfig(
      "version: 1\nname: left\nlcores: [{cpu: 0}]\n"
      "ports: [{name: p0, device: net_null0, lldp: on, lldp_addresses: on, encapsulation: udp6},\n"
      "        {name: p1, device: net_null1, lldp: on}]\n"
      "instances: [{xpu: 0, ports: [{port: p0}, {port: p1, ip: 10.0.1.1}]}]\n",
      "test.yaml", {.cpu_count = 4});
  ASSERT_TRUE(config.ok()) << config.status();
  const lldp::Assignment used{.address = {.is_v6 = true, .high = 1}, .prefix = 64, .gateway = {}};
  const lldp::AddressPolicy on = AddressPolicyOf(*config, 0, used);
  EXPECT_TRUE(on.accepts && on.is_v6);
  EXPECT_EQ(on.used, used);
  EXPECT_FALSE(AddressPolicyOf(*config, 1, std::nullopt).accepts);
}

}  // namespace
}  // namespace suede
