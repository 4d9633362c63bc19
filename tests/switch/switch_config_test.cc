// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "configs.h"
#include "key_tables.h"
#include "page_tables.h"
#include "switch/switch_check.h"
#include "switch/switch_params.h"

namespace suede {
namespace {

constexpr char kGoodSwitch[] =
    R"(version: 1
name: sw0
lcores: [{cpu: 0}, {cpu: 1}]
forwarding: mac
buffer: {bytes: 1000000}
classes:
  pcp: [0, 1, 2, 3, 4, 5, 6, 7]
  dscp: [{dscp: 48, class: 6}]
  of:
    - {class: 0, lossless: on, cable_m: 10}
    - {class: 6, strict: on, ecn: {least_bytes: 10, most_bytes: 20, probability: 0.5}}
trim: {dscps: [8, 10], trimmed_dscp: 12, max_queue_bytes: 100000}
ports:
  - {name: a, device: net_null0, lcore: 1, rate_gbps: 2.5, pfc: on}
  - {name: b, device: net_null1, ecn: off, strict_vlans: on, vlans: [0, 7], impair_in: {loss: 0.5}}
addresses:
  - {mac: "02:00:00:00:00:01", vlan: 7, port: b}
)";

absl::StatusOr<SwitchConfig> ParseSwitch(const std::string& text) {
  return ParseSwitchConfig(text, "sw.yaml", kMachine);
}

TEST(SwitchConfigTest, AGoodOneIsRead) {
  const auto config = ParseSwitch(kGoodSwitch);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->name(), "sw0");
  EXPECT_EQ(config->ports[0].lcore, 1u);
  EXPECT_EQ(config->ports[1].lcore, 0u);
  EXPECT_EQ(config->ports[1].lcore_cpu, 0u);
  EXPECT_DOUBLE_EQ(config->ports[0].rate_gbps.value, 2.5);
  EXPECT_EQ(config->ports[1].impair_in.loss.value, 0.5);
  EXPECT_EQ(config->ports[1].vlans, (std::vector<uint32_t>{0, 7}));
  EXPECT_EQ(config->of_class[1].ecn->most_bytes, 20u);
  EXPECT_EQ(config->addresses[0].port_number, 1u);
  EXPECT_EQ(config->management.socket, "/run/suede/sw0/management.sock");
  EXPECT_GE(config->ports[0].mtu_bytes, 2048u);
}

TEST(SwitchConfigTest, ADumpLoadsToTheSame) {
  const auto config = ParseSwitch(kGoodSwitch);
  ASSERT_TRUE(config.ok()) << config.status();
  const std::string dump = DumpSwitchConfig(*config);
  const auto again = ParseSwitch(dump);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << dump;
  EXPECT_EQ(DumpSwitchConfig(*again), dump);
}

TEST(SwitchConfigTest, ALinkMayRewriteFields) {
  std::string text = kGoodSwitch;
  const std::string piece = "loss: 0.5";
  text.replace(text.find(piece), piece.size(),
               "dscp: 63, ecn: 0, pcp: 7, hop_limit: 255, strip_tag: on");
  const auto config = ParseSwitch(text);
  ASSERT_TRUE(config.ok()) << config.status();
  const fabric::ImpairmentParams params = ImpairmentOf(config->ports[1].impair_in);
  EXPECT_EQ(params.rewrite,
            (fabric::RewriteParams{.dscp = 63, .ecn = 0, .pcp = 7, .hop_limit = 255}));
  EXPECT_TRUE(params.strip_tag);
  EXPECT_TRUE(ImpairmentOf(config->ports[1].impair_out).is_clean());
  const std::string dump = DumpSwitchConfig(*config);
  const auto again = ParseSwitch(dump);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << dump;
  EXPECT_EQ(ImpairmentOf(again->ports[1].impair_in).rewrite, params.rewrite);
  EXPECT_TRUE(ImpairmentOf(again->ports[1].impair_out).is_clean());
}

TEST(SwitchConfigTest, ErrorsNamePlaceAndMend) {
  const RefusedPiece cases[] = {
      {"version: 1", "version: 2",
       "sw.yaml:1:10: version: version \"2\" of the format is not known; write version: 1"},
      {"forwarding: mac", "forwarding: ipx", "sw.yaml:4:13: forwarding: "},
      {"cpu: 1}", "cpu: 9}", "sw.yaml:3:26: lcores[1].cpu: there is no CPU 9"},
      {"bytes: 1000000", "bytes: 70000",
       "sw.yaml:5:17: buffer.bytes: 70000 bytes cannot hold the 1"},
      {"pcp: [0, 1, 2", "pcp: [0, 1, 9", "9 is out of range"},
      {"pcp: [0, 1, 2,", "pcp: [0, 1,", "classes.pcp: 7 classes; write eight"},
      {"dscp: [{dscp: 48, class: 6}]", "dscp: [{dscp: 1, class: 6}, {dscp: 1, class: 5}]",
       "classes.dscp[1]: DSCP 1 has a class already; remove one"},
      {"class: 6, strict", "class: 0, strict", "classes.of[1]: class 0 is there already"},
      {"least_bytes: 10", "least_bytes: 30",
       "classes.of[1].ecn.least_bytes: 30 is more than most_bytes; use at most 20"},
      {"probability: 0.5", "probability: 1.5", "1.5 is out of range; use 0 to 1"},
      {"probability: 0.5", "probability: nan", "\"nan\" is no number; write 0 to 1, as in 0.01"},
      {"strict: on, ecn", "headroom_bytes: 5, ecn",
       "classes.of[1].headroom_bytes: only a lossless class has a headroom"},
      {"lossless: on, cable_m: 10", "lossless: on, cable_m: 100000",
       "buffer.bytes: 1000000 bytes cannot hold the 25"},
      {"bytes: 1000000", "bytes: 151000",
       "buffer.bytes: 151000 bytes leave 1244 for the longest frame, which takes "},
      {"lossless: on, cable_m: 10", "alpha: 0.3",
       "classes.of[0].alpha: 0.3 is no multiple of 1/16; use 0.3125"},
      {"lcore: 1", "lcore: 3", "ports[0].lcore: no lcore has CPU 3; add it to lcores"},
      {"strict_vlans: on", "strict_vlans: off", "ports[1].vlans: frames of all VLANs pass"},
      {"name: b", "name: a", "ports[1].name: a is the name of ports[0] already"},
      {"net_null1", "eth0", "ports[1].device: \"eth0\" is no device"},
      {"loss: 0.5", "loss: 2", "ports[1].impair_in.loss: "},
      {"loss: 0.5", "dscp: 64", "ports[1].impair_in.dscp: 64 is out of range; use 0 to 63"},
      {"loss: 0.5", "ecn: 4", "ports[1].impair_in.ecn: 4 is out of range; use 0 to 3"},
      {"loss: 0.5", "pcp: 8", "ports[1].impair_in.pcp: 8 is out of range; use 0 to 7"},
      {"loss: 0.5", "hop_limit: 256",
       "ports[1].impair_in.hop_limit: 256 is out of range; use 0 to 255"},
      {"loss: 0.5", "hole_destinations: [x]",
       "ports[1].impair_in.hole_destinations: \"x\" is neither a MAC address nor a forwarding"},
      {"loss: 0.5", "hole_destinations: [\"0x10\"]",
       "ports[1].impair_in.hole_destinations: \"0x10\" is a forwarding address, and the switch "
       "forwards by MAC addresses"},
      {"vlan: 7, port: b}", "port: b}\n  - {mac: \"02:00:00:00:00:01\", port: a}",
       "addresses[1]: the address is that of addresses[0] already; remove one"},
      {"buffer: {", "table: {addresses: 1, learnt_of_port: 2}\nbuffer: {",
       "table.learnt_of_port: 2 is more than the table has; use at most 1"},
      {"vlan: 7, port: b}",
       "port: b}\n  - {mac: \"02:00:00:00:00:02\", port: a}\ntable: {addresses: 1, "
       "learnt_of_port: 1}",
       "table.addresses: 1 is too small for the 2 entries of addresses; use 2 or more"},
      {"vlan: 7, port: b", "port: c", "addresses[0].port: there is no port \"c\""},
      {"mac: \"02", "ip: 198.18.0.1, mac: \"02", "addresses[0]: give one of mac, "},
      {"forwarding: mac", "forwarding: afh2",
       "addresses[0]: the switch forwards by forwarding addresses; give forwarding_address"},
      {"rate_gbps: 2.5, pfc: on", "pfc: on",
       "ports[0].pfc: the quanta of pauses, and the headroom of lossless classes, depend on the "
       "port's rate; set rate_gbps"},
      {"pfc: on}", "cbfc: on, link_ether_type: 0x0800}",
       "ports[0].link_ether_type: 0x0800 is that of IPv4; use another"},
      {"addresses:", "cbfc: {overhead_bytes: 128}\naddresses:",
       "cbfc.overhead_bytes: 128 is out of range; use 0 to 127"},
      {"  - {name: a,", "  - {nam: a,", "ports[0].nam"},
      {"pfc: on}", "pfc: on, lldp_assign: {ip: 10.0.0.5, prefix: 24}}",
       "ports[0].lldp_assign: addresses are assigned by LLDP, which is off; add lldp: on"},
      {"pfc: on}", "pfc: on, lldp: on, lldp_assign: {prefix: 24}}",
       "ports[0].lldp_assign.ip: missing"},
      {"pfc: on}", "pfc: on, lldp: on, lldp_assign: {ip: 10.0.0.5}}",
       "ports[0].lldp_assign.prefix: missing"},
      {"pfc: on}", "pfc: on, lldp: on, lldp_assign: {ip: 224.0.0.5, prefix: 24}}",
       "ports[0].lldp_assign.ip: 224.0.0.5 cannot be an endpoint's address"},
      {"pfc: on}", "pfc: on, lldp: on, lldp_assign: {ip: 10.0.0.5, prefix: 33}}",
       "ports[0].lldp_assign.prefix: 33 is longer than an IPv4 address; use 1 to 32"},
      {"pfc: on}", "pfc: on, lldp: on, lldp_assign: {ip: 10.0.0.255, prefix: 24}}",
       "ports[0].lldp_assign.ip: 10.0.0.255/24 is no host's address but a broadcast address"},
      {"pfc: on}", "pfc: on, lldp: on, lldp_assign: {ip: 10.0.0.5, prefix: 24, gateway: 10.0.1.1}}",
       "ports[0].lldp_assign.gateway: 10.0.1.1 cannot be the gateway of 10.0.0.5/24"},
      {"pfc: on}\n  - {name: b,",
       "pfc: on, lldp: on, lldp_assign: {ip: 10.0.0.5, prefix: 24}}\n  - {name: b, lldp: on, "
       "lldp_assign: {ip: 10.0.0.5, prefix: 16},",
       "ports[1].lldp_assign.ip: 10.0.0.5 is assigned at ports[0] already; choose another"},
  };
  ExpectEachRefused(kGoodSwitch, cases, "sw.yaml", ParseSwitch);
}

constexpr char kEsunSwitch[] =
    R"(version: 1
name: sw0
lcores: [{cpu: 0}]
forwarding: esun
esun_ether_type: 0x9000
classes: {other: 1}
ports:
  - {name: a, device: net_null0}
  - {name: b, device: net_null1}
  - {name: c, device: net_null2}
groups:
  - {name: up, ports: [b, c], weights: [4, 1], spread: queue}
  - {name: blind, ports: [a, b], hash: addresses}
addresses:
  - {mac: "02:53:55:45:00:01", port: a}
  - {mac: "02:53:55:45:00:02", port: up}
)";

TEST(SwitchConfigTest, EsunAndGroupsAreRead) {
  const auto config = ParseSwitch(kEsunSwitch);
  ASSERT_TRUE(config.ok()) << config.status();
  const fabric::SwitchParams params = SwitchParamsOf(*config);
  EXPECT_EQ(params.forwarding, fabric::Forwarding::kEsun);
  EXPECT_EQ(params.esun_ether_type, 0x9000);
  EXPECT_EQ(params.groups,
            (std::vector<fabric::PortGroup>{
                {.ports = {1, 2}, .weights = {4, 1}, .spread = fabric::Spread::kQueue},
                {.ports = {0, 1}, .by_addresses = true}}));
  EXPECT_EQ(config->addresses[0].port_number, 0);
  EXPECT_EQ(config->addresses[1].port_number, fabric::kFirstGroup);
  const std::string dump = DumpSwitchConfig(*config);
  const auto again = ParseSwitch(dump);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << dump;
  EXPECT_EQ(DumpSwitchConfig(*again), dump);
}

TEST(SwitchConfigTest, ErrorsOfEsunAndGroupsNamePlaceAndMend) {
  const RefusedPiece cases[] = {
      {"esun_ether_type: 0x9000\n", "",
       "sw.yaml:4:13: forwarding: ESUN frames have no usual EtherType; add esun_ether_type"},
      {"forwarding: esun", "forwarding: mac",
       "esun_ether_type: the switch does not read ESUN headers; write forwarding: esun"},
      {"other: 1", "pcp_first: on", "classes.pcp_first: the CoS of ESUN frames comes before"},
      {"classes: {", "trim: {dscps: [8]}\nclasses: {", "trim.dscps: ESUN frames have no length"},
      {"name: up", "name: a", "groups[0].name: a port or group has the name \"a\" already"},
      {"[b, c]", "[]", "groups[0].ports: 0 ports; name 1 to 64"},
      {"[b, c]", "[b, d]", "groups[0].ports: there is no port \"d\"; add it to ports"},
      {"[b, c]", "[b, b]", "groups[0].ports: \"b\" is there twice; remove one"},
      {"hash: addresses", "hash: ports", "groups[1].hash: "},
      {"weights: [4, 1]", "weights: [4]",
       "groups[0].weights: 1 weights of 2 ports; write one of each"},
      {"weights: [4, 1]", "weights: [0, 0]",
       "groups[0].weights: no port has a share; give one a weight above 0"},
      {"weights: [4, 1]", "weights: [4, 256]", "sw.yaml:12:"},
      {"spread: queue", "spread: turns", "groups[0].spread: "},
      {"hash: addresses", "hash: addresses, spread: round_robin",
       "groups[1].hash: frames are not spread by flow; write spread: flow, or remove it"},
      {"port: up", "port: down", "addresses[1].port: there is no port \"down\""},
  };
  ExpectEachRefused(kEsunSwitch, cases, "sw.yaml", ParseSwitch);
}

// The link VC of a frame, which both ends find, is the class whose part of the buffer it takes.
TEST(SwitchConfigTest, WithCreditClassesAreTheDefaultOnes) {
  const auto message = [](const std::string& piece, const std::string& replacement) {
    std::string text = kGoodSwitch;
    text.replace(text.find("pfc: on"), 7, "cbfc: on");
    text.replace(text.find("1000000"), 7, "3000000");
    text.replace(text.find(piece), piece.size(), replacement);
    const auto config = ParseSwitch(text);
    return config.ok() ? "good" : std::string(config.status().message());
  };
  EXPECT_EQ(message("version", "version"), "good");
  EXPECT_EQ(message("class: 6}]", "class: 5}]"),
            "sw.yaml:8:28: classes.dscp[0].class: DSCP 48 has class 5; with cbfc: on a frame's "
            "class is its link VC, use 6");
  EXPECT_NE(message("pcp: [0, 1", "pcp: [0, 2").find("classes.pcp: PCP 1 has class 2; with cbfc"),
            std::string::npos);
  EXPECT_NE(message("classes:\n", "classes:\n  other: 1\n").find("classes.other: it is 1; with"),
            std::string::npos);
}

TEST(SwitchConfigTest, TheBufferHoldsWhatIsGranted) {
  std::string text = kGoodSwitch;
  text.replace(text.find("pfc: on"), 7, "cbfc: on");
  text.replace(text.find("1000000"), 7, "200000");
  const auto with = [&](const std::string& credits) {
    return ParseSwitch(text + "cbfc: {credits: " + credits + "}\n");
  };
  const auto few = with("[17, 0, 0, 0, 0, 0, 0, 17]");
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ(CreditGrantOf(*few).controlled(), 0x81u);
  const std::pair<const char*, const char*> refused[] = {
      {"[500, 0, 0, 0, 0, 0, 0, 500]", "headrooms and credit included; use "},
      {"[1, 2]", "cbfc.credits: 2 limits; write eight, for link VC 0 to 7"},
      {"[9, 0, 0, 0, 0, 0, 0, 0]", "cbfc.credits: 9 of link VC 0 are less than a frame of 2"},
  };
  for (const auto& [credits, problem] : refused) {
    const auto config = with(credits);
    ASSERT_FALSE(config.ok()) << credits;
    EXPECT_NE(config.status().message().find(problem), std::string::npos) << config.status();
  }
}

TEST(SwitchConfigTest, OverridesComeFromFlagsAndTheEnvironment) {
  const char* const environment[] = {"SUEDE_BUFFER_BYTES=2000000", "SUEDE_TRANSPORT_WINDOW_PDUS=1",
                                     nullptr};
  auto overrides = OverridesFromEnvironment(environment, SwitchConfigKeys());
  ASSERT_TRUE(overrides.ok()) << overrides.status();
  ASSERT_EQ(overrides->size(), 1u);  // the other one is an endpoint's
  overrides->push_back(*OverrideFromFlag("ports[0].rate_gbps=10"));
  const auto config = ParseSwitchConfig(kGoodSwitch, "sw.yaml", kMachine, *overrides);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->buffer.bytes, 2000000u);
  EXPECT_DOUBLE_EQ(config->ports[0].rate_gbps.value, 10);
}

TEST(SwitchConfigTest, TheExamplesAreGood) {
  for (const char* name : {"pair.yaml", "pair-cbfc.yaml"}) {
    const auto config =
        LoadSwitchConfig(std::string(SUEDE_SOURCE_DIR "/conf/switch/") + name, kMachine);
    EXPECT_TRUE(config.ok()) << config.status();
  }
}

// Returns the table of the page. Its last row names the keys that docs/configuration.md has with
// the same meaning, range and default.
std::string KeysOfPage() {
  std::vector<ConfigKey> keys;
  std::string of_endpoint;
  for (const ConfigKey& key : SwitchConfigKeys()) {
    const auto is_same = [&](const ConfigKey& of) {
      return of.path == key.path && of.sentence == key.sentence && of.range == key.range &&
             of.default_value == key.default_value && of.unit == key.unit;
    };
    if (key.is_section || std::ranges::none_of(ConfigKeys(), is_same)) {
      keys.push_back(key);
    } else {
      absl::StrAppend(&of_endpoint, of_endpoint.empty() ? "`" : ", `", key.path, "`");
    }
  }
  return absl::StrCat(KeysAsMarkdown(keys), "| ", of_endpoint, " | | | As of an endpoint. |\n");
}

TEST(SwitchConfigTest, DocumentationHasTheDeclaredKeys) {
  ExpectTable("docs/switch.md", "keys", KeysOfPage());
}

}  // namespace
}  // namespace suede
