// SPDX-License-Identifier: Apache-2.0
// Differences between the encapsulations: keys, addresses, room that headers take.
#include "config/config_encapsulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_replace.h"
#include "config/config.h"
#include "configs.h"

namespace suede {
namespace {

// A port of each encapsulation.
constexpr char kGoodEncapsulation[] =
    "version: 1\n"                                                                     // 1
    "name: mixed\n"                                                                    // 2
    "lcores: [{cpu: 0}]\n"                                                             // 3
    "ports:\n"                                                                         // 4
    "  - {name: four, device: net_null0}\n"                                            // 5
    "  - {name: six, device: net_null1, encapsulation: udp6}\n"                        // 6
    "  - {name: one, device: net_null2, encapsulation: afh1}\n"                        // 7
    "  - {name: shim, device: net_null3, encapsulation: afh1s}\n"                      // 8
    "  - {name: two, device: net_null4, encapsulation: afh2}\n"                        // 9
    "  - {name: small, device: net_null5, encapsulation: afh2c}\n"                     // 10
    "instances:\n"                                                                     // 11
    "  - {xpu: 0, ports: [{port: four, ip: 198.18.0.1}]}\n"                            // 12
    "  - {xpus: 1-2, ports: [{port: six, ip_base: '2001:db8::'}]}\n"                   // 13
    "  - {xpus: 0-1, instance: 1, ports: [{port: one}]}\n"                             // 14
    "  - {xpu: 2, instance: 1, ports: [{port: shim, forwarding_address: 4660}]}\n"     // 15
    "  - {xpus: 0-1, instance: 2, ports: [{port: two, forwarding_base: 0x10000}]}\n"   // 16
    "  - {xpus: 0-1, instance: 3, ports: [{port: small}]}\n"                           // 17
    "  - {xpu: 4, instance: 4, ports: [{port: small, forwarding_address: 0x2004}]}\n"  // 18
    "peers:\n"                                                                         // 19
    "  - xpus: 8-15\n"                                                                 // 20
    "    ports:\n"                                                                     // 21
    "      - {port: four, ip_base: 198.18.0.0, mac: 02:00:00:00:00:01}\n"              // 22
    "      - {port: six, ip_base: '2001:db8::', mac_base: 02:00:00:00:00:01}\n"        // 23
    "      - {port: one}\n"                                                            // 24
    "      - {port: shim, instance: 1, forwarding_base: 0x2000}\n"                     // 25
    "      - {port: shim}\n"                                                           // 26
    "      - {port: two, forwarding_base: 0x10000}\n"                                  // 27
    "      - {port: small}\n"                                                          // 28
    "  - {xpu: 7, ports: [{port: small, forwarding_address: 0x8007}]}\n";              // 29

// One port with one instance and one peer.
std::string OnePort(const std::string& port_keys, const std::string& own = "",
                    const std::string& peer = "", const std::string& rest = "") {
  return "version: 1\nname: a\nlcores: [{cpu: 0}]\nports: [{name: p, device: net_null0, " +
         port_keys + "}]\ninstances: [{xpu: 0, ports: [{port: p" + own +
         "}]}]\npeers: [{xpu: 1, ports: [{port: p" + peer + "}]}]\n" + rest;
}

TEST(EncapsulationTest, EachIsReadAndDumped) {
  std::vector<std::string> warnings;
  const Config config = MustParse(kGoodEncapsulation, &warnings);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  ASSERT_EQ(config.ports.size(), 6u);
  for (size_t i = 0; i < config.ports.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(config.ports[i].encapsulation), i);
    EXPECT_EQ(config.ports[i].udp_port, 3333);
    EXPECT_EQ(config.ports[i].mac_prefix, (ConfigMacPrefix{0x02, 0x53, 0x55, 0x45}));
  }
  EXPECT_EQ(config.ports[0].ether_type, 0);
  EXPECT_EQ(config.ports[2].ether_type, 0x88B5);
  EXPECT_EQ(config.ports[3].ether_type, 0x88B6);
  EXPECT_EQ(config.ports[4].ether_type, 0x88B5);
  EXPECT_EQ(config.ports[5].ether_type, 0x88B5);
  ExpectDumpLoadsToTheSame(config);
}

TEST(EncapsulationTest, AddressesAreExpandedByEncapsulation) {
  const Config config = MustParse(kGoodEncapsulation);
  std::vector<NetAddress> own;
  for (const InstanceConfig& instance : config.instances) own.push_back(instance.ports[0].address);
  constexpr uint64_t kNet = 0x20010db800000000;
  EXPECT_EQ(own, (std::vector<NetAddress>{{0, 0xc6120001},
                                          {kNet, 1},
                                          {kNet, 2},
                                          {0, 1 << 10},
                                          {0, 1 << 10 | 1},
                                          {0, 0x1234},
                                          {0, 0x10000},
                                          {0, 0x10001},
                                          {0, 3 << 10},
                                          {0, 3 << 10 | 1},
                                          {0, 0x2004}}));
  ASSERT_EQ(config.peers.size(), 9u);
  const PeerConfig& peer = config.peers[1];
  ASSERT_EQ(peer.ports.size(), 7u);
  EXPECT_EQ(
      peer.ports[1],
      (PeerPort{
          .port = 1, .instance = {}, .address = NetAddress{kNet, 9}, .mac = {2, 0, 0, 0, 0, 10}}));
  EXPECT_EQ(peer.ports[2], (PeerPort{.port = 2, .instance = {}, .address = {}, .mac = {}}));
  EXPECT_EQ(peer.ports[3],
            (PeerPort{.port = 3, .instance = 1, .address = NetAddress{0, 0x2009}, .mac = {}}));
}

TEST(EncapsulationTest, AnEntryForAnInstanceGoesBeforeThatForAll) {
  const Config config = MustParse(kGoodEncapsulation);
  const PeerConfig& peer = config.peers[1];  // XPU 9
  const PeerPort* of_1 = FindPeerPort(peer, 3, 1);
  const PeerPort* of_2 = FindPeerPort(peer, 3, 2);
  ASSERT_TRUE(of_1 != nullptr && of_2 != nullptr);
  EXPECT_EQ(PeerAddress(config, peer, *of_1, 1), (NetAddress{0, 0x2009}));
  EXPECT_EQ(PeerAddress(config, peer, *of_2, 2), DefaultConfigAddress(config.ports[3], 9, 2));
  EXPECT_EQ(DefaultConfigAddress(config.ports[3], 9, 2), (NetAddress{0, 2 << 10 | 9}));
  EXPECT_EQ(FindPeerPort(config.peers[8], 3, 1), nullptr);
}

TEST(EncapsulationTest, EveryKeyOfPortsIsReadAndDumped) {
  const Config config = MustParse(
      OnePort("encapsulation: afh1s, ether_type: 0x9001, hop_limit: 9, "
              "mac_prefix: 'f2:ff:00:01', vlan: {vid: 7}",
              ", forwarding_address: 0xffff", ", instance: 0, forwarding_address: 65534"));
  EXPECT_EQ(config.ports[0].ether_type, 0x9001);
  EXPECT_EQ(config.ports[0].mac_prefix, (ConfigMacPrefix{0xf2, 0xff, 0, 1}));
  EXPECT_EQ(config.ports[0].vid, 7);
  EXPECT_EQ(config.instances[0].ports[0].address.low, 0xffffu);
  EXPECT_EQ(config.peers[0].ports[0].address, (NetAddress{0, 0xfffe}));
  EXPECT_EQ(config.ports[0].hop_limit, 9);
  EXPECT_NE(DumpConfig(config).find("ether_type: 0x9001\n"), std::string::npos);
  EXPECT_NE(DumpConfig(config).find("forwarding_address: 0xFFFE"), std::string::npos);
  ExpectDumpLoadsToTheSame(config);
  // Decimal digits are read too.
  EXPECT_EQ(MustParse(OnePort("encapsulation: afh2, ether_type: 34999")).ports[0].ether_type,
            0x88B7);
}

TEST(EncapsulationTest, MtuIsWhatTheHeadersNeed) {
  const std::tuple<const char*, const char*, uint32_t> cases[] = {
      {"udp4", "ip: 198.18.0.", 2088},
      {"udp6", "ip: 2001:db8::", 2108},
      {"afh1", "", 2060},
      {"afh1s", "", 2068},
      {"afh2", "", 2060},
      {"afh2c", "", 2052},
  };
  for (const auto& [name, ip, mtu] : cases) {
    const std::string address(ip);
    const std::string own = address.empty() ? "" : ", " + address + "1";
    const std::string peer = address.empty() ? "" : ", " + address + "2, mac: '02:00:00:00:00:02'";
    const std::string port = std::string("encapsulation: ") + name;
    const Config config = MustParse(OnePort(port, own, peer));
    ASSERT_EQ(config.ports.size(), 1u);
    EXPECT_EQ(config.ports[0].mtu_bytes, mtu) << name;
    ExpectDumpLoadsToTheSame(config);
    const std::string exact = port + ", mtu_bytes: " + std::to_string(mtu);
    EXPECT_EQ(MustParse(OnePort(exact, own, peer)), config);
    const std::string less = port + ", mtu_bytes: " + std::to_string(mtu - 1);
    const auto refused = ParseConfig(OnePort(less, own, peer), "wrong.yaml", kMachine);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_NE(refused.status().message().find("at least " + std::to_string(mtu) +
                                              ", or a packing.limit_bytes of at most 2047"),
              std::string::npos)
        << refused.status();
  }
}

TEST(EncapsulationTest, Ipv6AddressesAreReadInAnyForm) {
  const std::tuple<const char*, uint64_t, uint64_t> cases[] = {
      {"2001:db8::1", 0x20010db800000000, 1},
      {"2001:DB8:0:0:0:0:0:1", 0x20010db800000000, 1},
      {"'2001:db8::'", 0x20010db800000000, 0},
      {"fd00:1:2:3:4:5:6:7", 0xfd00000100020003, 0x0004000500060007},
      {"fe80::ff:fe00:1", 0xfe80000000000000, 0x000000fffe000001},
      {"'::2'", 0, 2},
      {"'64:ff9b::198.18.0.9'", 0x0064ff9b00000000, 0xc6120009},
  };
  for (const auto& [text, high, low] : cases) {
    const Config config = MustParse(OnePort("encapsulation: udp6", std::string(", ip: ") + text,
                                            ", ip: 2001:db8::7:7, mac: '02:00:00:00:00:02'"));
    ASSERT_EQ(config.instances.size(), 1u) << text;
    EXPECT_EQ(config.instances[0].ports[0].address, (NetAddress{high, low})) << text;
    ExpectDumpLoadsToTheSame(config);
  }
}

// In YAML a text that ends in a colon is a key.
TEST(EncapsulationTest, Ipv6AddressesThatNeedQuotesAreTold) {
  const std::string piece = "  - {xpus: 1-2, ports: [{port: six, ip_base: '2001:db8::'}]}";
  const std::string block =
      "  - xpus: 1-2\n    ports:\n      - port: six\n        ip_base: 2001:db8::";
  const std::string flow = "  - {xpus: 1-2, ports: [{port: six, ip_base: 2001:db8::}]}";
  for (const std::string& unquoted : {block, flow}) {
    const auto refused =
        ParseConfig(Replaced(kGoodEncapsulation, piece, unquoted), "wrong.yaml", kMachine);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().message().find("; check indentation, quotes"), std::string::npos)
        << refused.status();
  }
}

// A pause of such a VC would hold up acknowledgements. docs/pfc.md has the classes.
TEST(EncapsulationTest, VcsThatPauseWithAcknowledgementsAreWarnedOf) {
  const auto warned = [](const std::string& port, const std::string& classes) {
    const bool ip = port.find("udp4") != std::string::npos;
    std::vector<std::string> warnings;
    MustParse(OnePort(port, ip ? ", ip: 198.18.0.1" : "",
                      ip ? ", ip: 198.18.0.2, mac: '02:00:00:00:00:01'" : "", classes),
              &warnings);
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
      return warning.find("ports[0].pfc: VC ") != std::string::npos;
    });
  };
  const std::string udp4 = "pfc: software, bandwidth_gbps: 100, encapsulation: udp4";
  EXPECT_FALSE(warned(udp4, ""));
  EXPECT_TRUE(warned(udp4, "classes: {vc: [{}, {}, {dscp: 55}, {}]}\n"));
  EXPECT_FALSE(warned("encapsulation: udp4", "classes: {vc: [{}, {}, {dscp: 55}, {}]}\n"));
  EXPECT_TRUE(warned("pfc: software, bandwidth_gbps: 100, encapsulation: afh1", ""))
      << "no field has a class";
  EXPECT_FALSE(
      warned("pfc: software, bandwidth_gbps: 100, encapsulation: afh1, vlan: {vid: 5}", ""));
  const std::string pcps = "classes: {vc: [{pcp: 6}, {}, {}, {}]}\n";
  EXPECT_FALSE(warned(udp4 + ", vlan: {vid: 5}", pcps)) << "the DSCP counts";
  EXPECT_TRUE(warned(udp4 + ", vlan: {vid: 5}, pfc_class: pcp", pcps));
}

// docs/pfc.md, "Classes".
TEST(EncapsulationTest, EachVcHasAClassOfItsOwnWhereAPortControlsFlow) {
  const auto classes_of = [](const std::string& port, const std::string& classes) {
    std::vector<std::string> warnings;
    const Config config = MustParse(
        OnePort(port, ", ip: 198.18.0.1", ", ip: 198.18.0.2, mac: '02:00:00:00:00:01'", classes),
        &warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    std::vector<uint32_t> values;
    for (const ConfigVcClass& c : config.classes.vc) {
      values.push_back(c.dscp);
      values.push_back(c.pcp);
    }
    EXPECT_EQ(MustParse(DumpConfig(config)), config);
    return values;
  };
  using Values = std::vector<uint32_t>;
  const std::string udp4 = "encapsulation: udp4, ";
  const Values own = {0, 0, 8, 1, 16, 2, 24, 3};
  EXPECT_EQ(classes_of(udp4 + "pfc: off", ""), Values(8));
  EXPECT_EQ(classes_of(udp4 + "pfc: software, bandwidth_gbps: 100", ""), own);
  EXPECT_EQ(classes_of(udp4 + "cbfc: on", ""), own);
  EXPECT_EQ(classes_of(udp4 + "pfc: software, bandwidth_gbps: 100",
                       "classes: {vc: [{}, {dscp: 40}, {ecn: 2}, {}]}\n"),
            (Values{0, 0, 40, 1, 16, 2, 24, 3}));
}

TEST(EncapsulationTest, VcsInClassesOfTheirOwnHaveSequencesOfTheirOwn) {
  const auto config_of = [](const std::string& port, const std::string& rest = "",
                            const std::string& of_peer = "") {
    const std::string text =
        absl::StrReplaceAll(OnePort("encapsulation: udp4, " + port, ", ip: 198.18.0.1",
                                    ", ip: 198.18.0.2, mac: '02:00:00:00:00:01'", rest),
                            {{"{xpu: 1, ", "{xpu: 1, " + of_peer}});
    const Config config = MustParse(text);
    EXPECT_EQ(MustParse(DumpConfig(config)), config);
    return config;
  };
  const auto is_shared = [](const Config& config) { return config.classes == ClassesConfig(); };
  EXPECT_EQ(config_of("pfc: off").transport.psn_scope, PsnScope::kPort);
  for (const std::string port : {"pfc: software, bandwidth_gbps: 100", "cbfc: on"}) {
    EXPECT_EQ(config_of(port).transport.psn_scope, PsnScope::kVc);
    EXPECT_FALSE(is_shared(config_of(port)));
    const Config of_one = config_of(port, "transport: {psn_scope: port}\n");
    EXPECT_EQ(of_one.transport.psn_scope, PsnScope::kPort);
    EXPECT_TRUE(is_shared(of_one)) << "VCs of several classes would overtake each other";
    const Config with_plain = config_of(port, "", "hello: never, ");
    EXPECT_EQ(with_plain.transport.psn_scope, PsnScope::kPort)
        << "a plain peer may number PSNs over all VCs";
    EXPECT_TRUE(is_shared(with_plain));
  }
}

TEST(EncapsulationTest, VcsOfOneSequenceAreWarnedOfOnPortsThatControlFlow) {
  const auto warnings_of = [](const std::string& port, const std::string& rest) {
    std::vector<std::string> warnings;
    MustParse(OnePort("encapsulation: udp4, " + port, ", ip: 198.18.0.1",
                      ", ip: 198.18.0.2, mac: '02:00:00:00:00:01'", rest),
              &warnings);
    return warnings;
  };
  const std::string one = "transport: {psn_scope: port}\n";
  const std::string two = one + "classes: {vc: [{}, {}, {dscp: 16}, {dscp: 24}]}\n";
  for (const std::string port : {"pfc: software, bandwidth_gbps: 100", "cbfc: on"}) {
    const auto shared = warnings_of(port, one);
    ASSERT_EQ(shared.size(), 6u);
    EXPECT_EQ(shared[0].find("test.yaml:7:24: transport.psn_scope: VC 0 and VC 1 share class 0 on "
                             "port p, so where the one waits"),
              0u)
        << shared[0];
    EXPECT_NE(shared[0].find("; set transport.psn_scope: vc at both ends, which gives each VC a "
                             "class of its own"),
              std::string::npos);
    const auto several = warnings_of(port, two);
    ASSERT_EQ(several.size(), 2u);
    EXPECT_NE(several[0].find("VC 0 and VC 1 share class 0"), std::string::npos) << several[0];
    EXPECT_EQ(several[1].find("test.yaml:7:24: transport.psn_scope: on port p VC 0 is of "
                              "class 0 and VC 2 of class 2, so where one of them is paused"),
              0u)
        << several[1];
    EXPECT_NE(several[1].find("; use vc at both ends, or give all VCs one class"),
              std::string::npos);
  }
  EXPECT_TRUE(warnings_of("pfc: off", two).empty());
}

TEST(EncapsulationTest, PairsOfVcsThatShareAClassAreWarnedOf) {
  const auto warnings_of = [](const std::string& port, const std::string& classes) {
    const bool ip = port.find("udp4") != std::string::npos;
    std::vector<std::string> warnings;
    MustParse(OnePort(port, ip ? ", ip: 198.18.0.1" : "",
                      ip ? ", ip: 198.18.0.2, mac: '02:00:00:00:00:01'" : "", classes),
              &warnings);
    std::erase_if(warnings, [](const std::string& warning) {
      return warning.find(" share class ") == std::string::npos;
    });
    return warnings;
  };
  const std::string same = "classes: {vc: [{}, {dscp: 7}, {}, {dscp: 16}]}\n";
  EXPECT_TRUE(warnings_of("encapsulation: udp4", same).empty());
  for (const std::string port : {"encapsulation: udp4, pfc: software, bandwidth_gbps: 100",
                                 "encapsulation: udp4, cbfc: on"}) {
    const auto warned = warnings_of(port, same);
    ASSERT_EQ(warned.size(), 2u);
    EXPECT_EQ(warned[0].find("test.yaml:7:27: classes.vc[1].dscp: VC 0 and VC 1 share class 0 on "),
              0u)
        << warned[0];
    EXPECT_NE(warned[0].find("; give each VC a dscp of another eight"), std::string::npos);
    EXPECT_EQ(warned[1].find("test.yaml:7:42: classes.vc[3].dscp: VC 2 and VC 3 share class 2 on "),
              0u)
        << warned[1];
  }
  const auto afh1 = warnings_of("encapsulation: afh1, pfc: software, bandwidth_gbps: 100", "");
  ASSERT_EQ(afh1.size(), 6u);
  EXPECT_NE(afh1[5].find("ports[0].pfc: VC 2 and VC 3 share class 0"), std::string::npos);
  EXPECT_NE(afh1[5].find("; add vlan: {vid: 0}"), std::string::npos) << afh1[5];
  EXPECT_TRUE(
      warnings_of("encapsulation: afh1, vlan: {vid: 0}, pfc: software, bandwidth_gbps: 100", "")
          .empty());
}

TEST(EncapsulationTest, APauseEndsBelowWhereItBegins) {
  const auto config = ParseConfig(
      OnePort("encapsulation: afh1", "", "", "classes: {vc: [{xoff_percent: 40}, {}, {}, {}]}\n"),
      "test.yaml", kMachine);
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.status().message().find("classes.vc[0].xon_percent: 50 is not less"),
            std::string::npos)
      << config.status();
}

TEST(EncapsulationTest, WhatNoPortSendsIsWarnedOf) {
  const std::string classes = "classes: {vc: [{pcp: 1, dscp: 1, ecn: 1}, {}, {}, {}]}\n";
  const auto warnings_of = [&](const std::string& port) {
    std::vector<std::string> warnings;
    MustParse(OnePort(port, "", "", classes), &warnings);
    return warnings;
  };
  const auto afh1 = warnings_of("encapsulation: afh1");
  ASSERT_EQ(afh1.size(), 3u);
  EXPECT_EQ(afh1[0].find("test.yaml:7:22: classes.vc[0].pcp: no port is tagged"), 0u) << afh1[0];
  EXPECT_NE(afh1[0].find("; add vlan"), std::string::npos) << afh1[0];
  EXPECT_EQ(afh1[1].find("test.yaml:7:31: classes.vc[0].dscp: afh1 "), 0u) << afh1[1];
  EXPECT_NE(afh1[1].find("; use encapsulation afh1s"), std::string::npos) << afh1[1];
  EXPECT_EQ(afh1[2].find("test.yaml:7:39: classes.vc[0].ecn: afh1 "), 0u) << afh1[2];
  const auto afh2 = warnings_of("encapsulation: afh2");
  ASSERT_EQ(afh2.size(), 1u);
  EXPECT_NE(afh2[0].find("; remove it, as afh2"), std::string::npos) << afh2[0];
  EXPECT_EQ(warnings_of("encapsulation: afh1, vlan: {}").size(), 2u);
  EXPECT_EQ(warnings_of("encapsulation: afh1s, vlan: {}").size(), 0u);
}

TEST(EncapsulationTest, EsunHasTheLargestTtlAndNoUsualEtherType) {
  std::vector<std::string> warnings;
  const Config config = MustParse(OnePort("encapsulation: esun, ether_type: 0x88B5"), &warnings);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  EXPECT_EQ(config.ports[0].ether_type, 0x88B5);
  EXPECT_EQ(config.ports[0].hop_limit, 15);
  EXPECT_EQ(MustParse(OnePort("encapsulation: esun, ether_type: 0x9000, hop_limit: 3"))
                .ports[0]
                .hop_limit,
            3);
  ExpectDumpLoadsToTheSame(config);
}

TEST(EncapsulationTest, DscpsThatNoCosHasAreWarnedOf) {
  std::vector<std::string> warnings;
  MustParse(OnePort("encapsulation: esun, ether_type: 0x88B5", "", "",
                    "classes: {vc: [{dscp: 8}, {dscp: 26}, {}, {}], ack: {dscp: 49}}\n"),
            &warnings);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].find("test.yaml:7:34: classes.vc[1].dscp: 26 is sent as 24"), 0u)
      << warnings[0];
  EXPECT_NE(warnings[1].find("classes.ack.dscp: 49 is sent as 48"), std::string::npos)
      << warnings[1];
}

// Texts on the encapsulations, in messages and in the table of keys, follow from their traits.
TEST(EncapsulationTest, TextsNameThoseThatHaveAKey) {
  EXPECT_EQ(JoinNames(kUdp), "udp4 or udp6");
  EXPECT_EQ(JoinNames(kPrefixed).find("afh1"), 0u);
  EXPECT_EQ(JoinNames(kForwarded).find("afh1, afh1s, afh2"), 0u);
  EXPECT_EQ(ExpandTraits("{untagged} are").find("afh2"), 0u);
  EXPECT_EQ(ExpandTraits("of a {port, peer}"), "of a {port, peer}");
  for (size_t i = 0; i < kEncapCount; ++i) {
    const auto e = static_cast<Encapsulation>(i);
    EXPECT_NE(ExpandTraits("{overheads}").find(NameOf(e)), std::string::npos);
    EXPECT_TRUE(kUdp.Has(e) != kForwarded.Has(e)) << NameOf(e);
    EXPECT_EQ(TraitsOf(e).forwarding_bits != 0, kForwarded.Has(e)) << NameOf(e);
  }
}

TEST(EncapsulationTest, EntriesForInstancesThatAreNotThereAreWarnedOf) {
  std::vector<std::string> warnings;
  MustParse(Replaced(kGoodEncapsulation, "{port: shim, instance: 1,", "{port: shim, instance: 5,"),
            &warnings);
  ASSERT_EQ(warnings.size(), 1u);  // for one entry, though it is eight peers
  EXPECT_EQ(warnings[0].find("test.yaml:25:32: peers[0].ports[3].instance: no own instance"), 0u)
      << warnings[0];
  MustParse(
      Replaced(kGoodEncapsulation, "      - {port: one}\n", "      - {port: one, instance: 0}\n"),
      &warnings);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[1].find("instances[2].ports[0].port: no peer is reached by instance 1 through "
                             "port one; add"),
            std::string::npos)
      << warnings[1];
}

// 64 own instance numbers on a port, so that a peer without addresses has 64 of them.
TEST(EncapsulationTest, TheLargestTablesAreChecked) {
  std::string text = "version: 1\nname: a\nlcores: [{cpu: 0}]\nports:\n";
  std::string peers = "peers:\n  - xpus: 0-1023\n    ports:\n";
  std::string instances = "instances:\n";
  for (const std::string p : {"p0", "p1", "p2", "p3"}) {
    text += "  - {name: " + p + ", device: net_null" + p.substr(1) + ", encapsulation: afh2}\n";
    peers += "      - {port: " + p + "}\n      - {port: " + p +
             ", instance: 63, forwarding_base: 0x100000}\n";
  }
  for (int i = 0; i < 64; ++i) {
    instances += "  - {xpus: " + std::to_string(i * 16) + "-" + std::to_string(i * 16 + 15) +
                 ", instance: " + std::to_string(i) + ", ports: [{port: p0}]}\n";
  }
  const Config config = MustParse(text + instances + peers);
  EXPECT_EQ(config.instances.size(), 1024u);
  EXPECT_EQ(config.peers.size(), 1024u);
  ExpectDumpLoadsToTheSame(config);
}

class WrongEncapsulationTest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongEncapsulationTest, IsRefusedWithPlaceAndMend) {
  ExpectRefused(kGoodEncapsulation, GetParam(), kMachine);
}

const Wrong kWrongEncapsulationPorts[] = {
    {"afh1}", "afh3}", "7:51: ports[2].encapsulation: ", "; use udp4, udp6, afh1"},
    {"udp6}", "ipv6}", "6:51: ports[1].encapsulation: ", "; use udp4, udp6, afh1"},
    {"net_null0}", "net_null0, ether_type: 0x88B5}",
     "5:49: ports[0].ether_type: ", "; leave it out: the EtherType is that of IP"},
    {"udp6}", "udp6, ether_type: 0x88B5}", "6:69: ports[1].ether_type: ", "leave it out"},
    {"afh1}", "afh1, ether_type: 0x05FF}", "7:69: ports[2].ether_type: ", "use 0x0600 to 0xFFFF"},
    {"afh1}", "afh1, ether_type: 65536}", "7:69: ports[2].ether_type: ", "use 0x0600 to 0xFFFF"},
    {"afh1}", "afh1, ether_type: 0xZ}", "7:69: ports[2].ether_type: ", "0x and hexadecimal ones"},
    {"afh1}", "afh1, ether_type: 88B5}", "7:69: ports[2].ether_type: ", "0x and hexadecimal ones"},
    {"afh1}", "afh1, ether_type: '0x88B5'}", "7:69: ports[2].ether_type: ", "leave them out"},
    {"afh1}", "afh1, ether_type: 0x}", "7:69: ports[2].ether_type: ", "0x and hexadecimal ones"},
    {"afh1}", "afh1, ether_type: 0x11111111111111111}", "7:69: ports[2].ether_type: ", "0x0600"},
    {"afh1}", "afh1, ether_type: 0x0800}", "7:69: ports[2].ether_type: 0x0800 is that of IPv4",
     "use 0x88B5"},
    {"afh1s}", "afh1s, ether_type: 0x86dd}", "8:71: ports[3].ether_type: 0x86DD is that of IPv6",
     "use 0x88B6"},
    {"afh2}", "afh2, ether_type: 0x8100}", "9:69: ports[4].ether_type: 0x8100 is that of VLAN",
     "use 0x88B5"},
    {"afh2c}", "afh2c, ether_type: 2054}", "10:72: ports[5].ether_type: 0x0806 is that of ARP",
     "use 0x88B5"},
    {"afh1}", "esun}", "7:51: ports[2].encapsulation: esun frames have no usual EtherType",
     "add ether_type, such as 0x88B5"},
    {"afh1}", "esun, ether_type: 0x0800}", "7:69: ports[2].ether_type: 0x0800 is that of IPv4",
     "use 0x88B5"},
    {"afh1}", "esun, ether_type: 0x9000, hop_limit: 16}",
     "7:88: ports[2].hop_limit: 16 does not fit the field of esun", "use 1 to 15"},
    {"afh1}", "esun, ether_type: 0x9000, vlan: {}, pfc_class: pcp}",
     "7:98: ports[2].pfc_class: the CoS of esun frames comes before their PCP", "remove pfc_class"},
    {"afh1}", "afh1, mac_prefix: 03:53:55:45}", "7:69: ports[2].mac_prefix: 03:53:55:45 makes mult",
     "even"},
    {"afh1}", "afh1, mac_prefix: 00:00:00:00}", "7:69: ports[2].mac_prefix: 00:00:00:00 makes no",
     "not 0"},
    {"afh1}", "afh1, mac_prefix: 02:53:55}", "7:69: ports[2].mac_prefix: ", "write four bytes"},
    {"afh1}", "afh1, mac_prefix: 02:53:55:45:00}", "7:69: ports[2].mac_prefix: ", "four bytes"},
    {"net_null0}", "net_null0, mac_prefix: 02:53:55:45}",
     "5:49: ports[0].mac_prefix: ", "; leave it out: MAC addresses are not made"},
    {"afh2c}", "afh2c, mac_prefix: 02:53:55:45}", "10:72: ports[5].mac_prefix: ", "leave it out"},
    {"afh2c}", "afh2c, hop_limit: 5}", "10:71: ports[5].hop_limit: ", "for several hops use afh2"},
    {"udp6}", "udp6, hop_limit: 0}", "6:68: ports[1].hop_limit: ", "use 1 to 255"},
    {"afh1}", "afh1, udp_port: 3333}",
     "7:67: ports[2].udp_port: ", "is afh1, and this is for udp4 or udp6; leave it out"},
    {"afh2c}", "afh2c, udp_port: 3333}", "10:70: ports[5].udp_port: ", "leave it out"},
    {"afh2c}", "afh2c, session: 1}", "10:69: ports[5].session: ", "frames have no field for it"},
    {"afh2}", "afh2, session: 256}", "9:66: ports[4].session: ", "use 0 to 255"},
    {"net_null0}", "net_null0, session: 16384}", "5:46: ports[0].session: ", "use 0 to 16383"},
    {"afh2}", "afh2, vlan: {vid: 1}}", "9:63: ports[4].vlan: afh2 frames are untagged",
     "remove vlan, or use encapsulation afh1"},
    {"afh2c}", "afh2c, vlan: {}}", "10:66: ports[5].vlan: afh2c frames are untagged",
     "remove vlan, or use encapsulation afh1"},
    {"udp6}", "udp6, mtu_bytes: 2107}", "6:68: ports[1].mtu_bytes: 2107 is too small", "2108"},
    {"afh1s}", "afh1s, mtu_bytes: 293}", "8:70: ports[3].mtu_bytes: 293 is too small",
     "no pack limit fits this one: the least takes 294"},
};

const Wrong kIpAddresses[] = {
    {"ip: 198.18.0.1}", "ip: '2001:db8::1'}", "12:39: instances[0].ports[0].ip: ",
     "the encapsulation of port four is udp4; write an IPv4 address"},
    {"ip_base: '2001:db8::'}", "ip_base: 198.18.0.0}", "13:46: instances[1].ports[0].ip_base: ",
     "the encapsulation of port six is udp6; write an IPv6 address"},
    {"ip_base: 198.18.0.0,", "ip_base: '2001:db8::',",
     "22:31: peers[0].ports[0].ip_base: ", "write an IPv4 address"},
    {"ip_base: '2001:db8::', mac_base", "ip_base: 198.18.0.0, mac_base",
     "23:30: peers[0].ports[1].ip_base: ", "write an IPv6 address"},
    {"'2001:db8::'}", "'::'}", "13:46: instances[1].ports[0].ip_base: ", "use a unicast one"},
    {"'2001:db8::'}", "'::1'}", "13:46: instances[1].ports[0].ip_base: ", "use a unicast one"},
    {"'2001:db8::'}", "ff02::1}", "13:46: instances[1].ports[0].ip_base: ", "use a unicast one"},
    {"'2001:db8::'}", "'::ffff:198.18.0.1'}",
     "13:46: instances[1].ports[0].ip_base: ", "use a unicast one"},
    {"'2001:db8::'}", "'::fffe:ffff:ffff'}",
     "13:46: instances[1].ports[0].ip_base: ", "use a lower ip_base"},
    {"'2001:db8::'}", "2001:db8:0:0:ffff:ffff:ffff:ffff}",
     "13:46: instances[1].ports[0].ip_base: 2001:db8::ffff:ffff:ffff:ffff + XPU id 2",
     "use a lower ip_base"},
    {"'2001:db8::'}", "2001:db8:::1}", "13:46: instances[1].ports[0].ip_base: ", "IPv6"},
    {"'2001:db8::'}", "'fe80::1%eth0'}",
     "13:46: instances[1].ports[0].ip_base: ", "write hexadecimal groups"},
    {"'2001:db8::'}", "\"2001:db8::\\0\"}",
     "13:46: instances[1].ports[0].ip_base: ", "write hexadecimal groups"},
    {"'2001:db8::'}", "six}", "13:46: instances[1].ports[0].ip_base: ", "IPv6's groups"},
    {"ip_base: '2001:db8::'}", "ip: '2001:db8::7'}", "13:41: instances[1].ports[0].ip: one address",
     "use ip_base"},
    {"ip_base: '2001:db8::'}", "forwarding_base: 0}",
     "13:54: instances[1].ports[0].forwarding_base: ", "; use ip_base"},
    {"ip: 198.18.0.1}", "forwarding_address: 1}", "12:55: instances[0].ports[0].forwarding_add",
     "; use ip"},
    {"ip_base: '2001:db8::', mac_base", "forwarding_base: 0, mac_base",
     "23:38: peers[0].ports[1].forwarding_base: ", "use ip_base"},
    {", ip: 198.18.0.1", "", "12:22: instances[0].ports[0].ip: missing", "add ip: or ip_base:"},
    {", mac_base: 02:00:00:00:00:01", "", "23:9: peers[0].ports[1].mac: missing", "add mac:"},
    {"{port: one}]", "{port: one, ip: 198.18.0.1}]", "14:54: instances[2].ports[0].ip: ",
     "is afh1, and this is for udp4 or udp6; use forwarding_address"},
    {"{port: small}]", "{port: small, ip_base: '2001:db8::'}]",
     "17:61: instances[5].ports[0].ip_base: ", "use forwarding_base"},
    {"{port: one}\n", "{port: one, mac: 02:00:00:00:00:01}\n",
     "24:26: peers[0].ports[2].mac: ", "is afh1, and this is for udp4 or udp6; leave it out"},
    {"{port: small}\n", "{port: small, mac_base: 02:00:00:00:00:01}\n",
     "28:33: peers[0].ports[6].mac_base: ", "leave it out"},
};

const Wrong kForwardingAddresses[] = {
    {"4660", "0x10000", "15:68: instances[3].ports[0].forwarding_address: 0x10000 has more than",
     "use 0x0000 to 0xFFFF"},
    {"4660", "4294967296",
     "15:68: instances[3].ports[0].forwarding_address: ", "use 0x0000 to 0xFFFFFFFF"},
    {"4660", "here", "15:68: instances[3].ports[0].forwarding_address: ", "write decimal digits"},
    {"forwarding_base: 0x2000", "forwarding_base: 0xFFF1",
     "25:52: peers[0].ports[3].forwarding_base: 0xFFF1 + XPU id 15 has more than the 16 bits",
     "use a lower forwarding_base"},
    {"0x10000}]", "0xFFFFFFFF}]", "16:67: instances[4].ports[0].forwarding_base: 0xFFFFFFFF + XPU",
     "use a lower forwarding_base"},
    {"forwarding_base: 0x2000", "forwarding_address: 0x2000",
     "25:55: peers[0].ports[3].forwarding_address: one address", "use forwarding_base"},
    {"forwarding_base: 0x2000", "forwarding_base: 0x2000, forwarding_address: 1",
     "25:9: peers[0].ports[3]: both forwarding_address and forwarding_base", "keep one"},
    {"0x2004", "0x2005", "18:69: instances[6].ports[0].forwarding_address: 0x2005 does not end in",
     "use 0x2004"},
    {"0x8007", "0x8000", "29:56: peers[1].ports[0].forwarding_address: 0x8000 does not end in",
     "use 0x8007"},
    {"{port: small}]", "{port: small, forwarding_base: 0x3100}]",
     "17:69: instances[5].ports[0].forwarding_base: 0x3100 is not a multiple of 1024",
     "use 0x3000"},
    {"{port: small}\n", "{port: small, forwarding_base: 8}\n",
     "28:40: peers[0].ports[6].forwarding_base: 0x0008 is not a multiple of 1024", "use 0x0000"},
    {"instance: 1, forwarding_base", "instance: 64, forwarding_base",
     "25:32: peers[0].ports[3].instance: ", "use 0 to 63"},
    {"instance: 1, forwarding_base", "instance: one, forwarding_base",
     "25:32: peers[0].ports[3].instance: ", "write decimal digits"},
};

const Wrong kUniqueness[] = {
    {"      - {port: shim}\n", "      - {port: shim, instance: 1}\n",
     "26:9: peers[0].ports[4].instance: port shim is there twice for instance 1", "remove one"},
    {"      - {port: one}\n", "      - {port: one}\n      - {port: one}\n",
     "25:9: peers[0].ports[3].port: port one is there twice for this peer", "instance: N"},
    // Own addresses.
    {"  - {xpu: 4, instance: 4, ports: [{port: small, forwarding_address: 0x2004}]}\n",
     "  - {xpu: 4, instance: 4, ports: [{port: two, forwarding_address: 0x10001}]}\n",
     "18:67: instances[6].ports[0].forwarding_address: 0x10001 on port two is the address of "
     "instances[4] (XPU 1)",
     "choose another"},
    {"{xpus: 1-2, ports: [{port: six, ip_base: '2001:db8::'}]}\n",
     "{xpus: 1-2, ports: [{port: six, ip_base: '2001:db8::'}]}\n"
     "  - {xpu: 3, ports: [{port: six, ip: '2001:db8::2'}]}\n",
     "14:38: instances[2].ports[0].ip: 2001:db8::2 on port six is the address of instances[1]",
     "choose another"},
    {"  - {xpus: 0-1, instance: 1, ports: [{port: one}]}\n",
     "  - {xpus: 0-1, instance: 1, ports: [{port: one}]}\n"
     "  - {xpu: 5, ports: [{port: one, forwarding_address: 0x401}]}\n",
     "15:54: instances[3].ports[0].forwarding_address: 0x0401 on port one is the address of",
     "choose another"},
    // Two peers.
    {"{xpu: 7, ports: [{port: small, forwarding_address: 0x8007}]}",
     "{xpu: 7, ports: [{port: six, ip: '2001:db8::8', mac: 02:00:00:00:00:01}]}",
     "29:38: peers[1].ports[0].ip: 2001:db8::8 on port six is for XPU 7 and for XPU 8",
     "an address of its own"},
    {"{xpu: 7, ports: [{port: small, forwarding_address: 0x8007}]}",
     "{xpu: 7, ports: [{port: two, forwarding_address: 0x1000F}]}",
     "29:54: peers[1].ports[0].forwarding_address: 0x1000F on port two is for XPU 7 and for XPU 15",
     "an address of its own"},
    {"{xpu: 7, ports: [{port: small, forwarding_address: 0x8007}]}",
     "{xpu: 7, ports: [{port: one, forwarding_address: 0x0409}]}",
     "29:54: peers[1].ports[0].forwarding_address: 0x0409 on port one is for XPU 7 and by the "
     "default rule for XPU 9",
     "an address of its own"},
    // A peer and an own XPU.
    {"{xpu: 7, ports: [{port: small, forwarding_address: 0x8007}]}",
     "{xpu: 7, ports: [{port: one, forwarding_address: 0x0401}]}",
     "29:54: peers[1].ports[0].forwarding_address: 0x0401 on port one is for peer 7 and for the "
     "own XPU 1",
     "its own address"},
    {"{xpu: 7, ports: [{port: small, forwarding_address: 0x8007}]}",
     "{xpu: 7, ports: [{port: six, ip: '2001:db8::1', mac: 02:00:00:00:00:01}]}",
     "29:38: peers[1].ports[0].ip: 2001:db8::1 on port six is for peer 7 and for the own XPU 1",
     "its own address"},
    {"{port: one}]", "{port: one, forwarding_base: 0x408}]",
     "14:67: instances[2].ports[0].forwarding_base: 0x0408 on port one is for the own XPU 0 and by "
     "the default rule for peer 8",
     "choose another"},
};

INSTANTIATE_TEST_SUITE_P(Ports, WrongEncapsulationTest,
                         testing::ValuesIn(kWrongEncapsulationPorts));
INSTANTIATE_TEST_SUITE_P(IpAddresses, WrongEncapsulationTest, testing::ValuesIn(kIpAddresses));
INSTANTIATE_TEST_SUITE_P(ForwardingAddresses, WrongEncapsulationTest,
                         testing::ValuesIn(kForwardingAddresses));
INSTANTIATE_TEST_SUITE_P(Uniqueness, WrongEncapsulationTest, testing::ValuesIn(kUniqueness));

}  // namespace
}  // namespace suede
