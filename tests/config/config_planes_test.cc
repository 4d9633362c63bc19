// SPDX-License-Identifier: Apache-2.0
// Instances with several ports, and the keys of planes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "config/link_config.h"
#include "configs.h"

namespace suede {
namespace {

// A good configuration, with a TAP device on a port that is no instance's first. Each case replaces
// one piece of it.
constexpr char kGoodPlanes[] =
    "version: 1\n"                                                                            // 1
    "name: left\n"                                                                            // 2
    "lcores: [{cpu: 1}, {cpu: 2}]\n"                                                          // 3
    "ports:\n"                                                                                // 4
    "  - {name: p0, device: net_null0, encapsulation: afh1, bandwidth_gbps: 100}\n"           // 5
    "  - {name: p1, device: net_null1, encapsulation: afh1, tap: t1, bandwidth_gbps: 100}\n"  // 6
    "  - {name: p2, device: net_null2, bandwidth_gbps: 100}\n"                                // 7
    "  - {name: p3, device: net_null3, encapsulation: afh2, bandwidth_gbps: 100}\n"           // 8
    "  - {name: p4, device: net_null4, encapsulation: afh2}\n"                                // 9
    "instances:\n"                                                                            // 10
    "  - xpus: 0-1\n"                                                                         // 11
    "    lcore: 1\n"                                                                          // 12
    "    ordering: unordered\n"                                                               // 13
    "    ports:\n"                                                                            // 14
    "      - {port: p0}\n"                                                                    // 15
    "      - {port: p1, forwarding_base: 0x0400}\n"                                           // 16
    "      - {port: p2, ip_base: 198.18.0.1}\n"                                               // 17
    "      - {port: p3}\n"                                                                    // 18
    "  - {xpu: 2, lcore: 1, ports: [{port: p3}, {port: p1}]}\n"                               // 19
    "  - {xpu: 3, lcore: 2, ports: [{port: p4}]}\n"                                           // 20
    "peers:\n"                                                                                // 21
    "  - xpus: 8-9\n"                                                                         // 22
    "    ports:\n"                                                                            // 23
    "      - {port: p0}\n"                                                                    // 24
    "      - {port: p1}\n"                                                                    // 25
    "      - {port: p2, ip_base: 198.18.0.0, mac_base: 02:00:00:00:00:00}\n"                  // 26
    "      - {port: p3}\n"                                                                    // 27
    "      - {port: p4}\n"                                                                    // 28
    "planes:\n"                                                                               // 29
    "  hello_multiplier: 3\n";                                                                // 30

class PlanesConfigTest : public testing::TestWithParam<Wrong> {};

TEST_P(PlanesConfigTest, IsRefusedWithPlaceAndMend) {
  ExpectRefused(kGoodPlanes, GetParam(), kMachine);
}

const Wrong kWrongPlanesPorts[] = {
    {"      - {port: p3}\n  - {xpu: 2", "  - {xpu: 2", "17:9: instances[0].ports: 3 ports",
     "1, 2 or 4"},
    {"  - {xpu: 2", "      - {port: p4}\n  - {xpu: 2", "19:9: instances[0].ports: 5 entries",
     "at most 4"},
    {"      - {port: p3}\n  - {xpu: 2", "      - {port: p0}\n  - {xpu: 2",
     "18:16: instances[0].ports[3].port: port p0 is that of plane 0 already", "a port of its own"},
    {"      - {port: p3}\n  - {xpu: 2", "      - {port: p5}\n  - {xpu: 2",
     "18:16: instances[0].ports[3].port: no port is called", "p0, p1, p2, p3, p4"},
    {"ordering: unordered", "ordering: loose",
     "13:15: instances[0].ordering: ", "use strict or unordered"},
    {"bandwidth_gbps: 100", "pfc: device", "5:61: ports[0].pfc: ", "use software"},
    {"bandwidth_gbps: 100", "llr: yes", "5:61: ports[0].llr: ", "off or on"},
    {"bandwidth_gbps: 100", "llr: on, link_ether_type: 0x88B5",
     "5:82: ports[0].link_ether_type: ", "use another"},
    {"encapsulation: afh2, bandwidth_gbps: 100}\n  - {name: p4",
     "encapsulation: afh2, queues: instance, llr: on}\n  - {name: p4",
     "8:79: ports[3].llr: the port has 3 queue pairs", "queues: lcore, or write llr: off"},
    {"encapsulation: afh2, bandwidth_gbps: 100}\n  - {name: p4",
     "encapsulation: afh2, queues: instance, cbfc: on}\n  - {name: p4",
     "8:80: ports[3].cbfc: the port has 3 queue pairs", "queues: lcore, or write cbfc: off"},
    {"bandwidth_gbps: 100", "cbfc: on, link_ether_type: 0x88B6",
     "5:83: ports[0].link_ether_type: ", "use another"},
    {"bandwidth_gbps: 100", "cbfc: on, rx_descriptors: 128",
     "5:82: ports[0].rx_descriptors: 128 are too few", "a larger cbfc.credit_bytes"},
    {"bandwidth_gbps: 100", "autoneg: off",
     "5:65: ports[0].autoneg: without negotiation the link has one speed, and link_speeds_gbps "
     "none",
     "link_speeds_gbps: [100]"},
    {"bandwidth_gbps: 100", "link_speeds_gbps: [100, 200], autoneg: off",
     "5:95: ports[0].autoneg: without negotiation the link has one speed, and link_speeds_gbps "
     "several",
     "link_speeds_gbps: [100]"},
    {"bandwidth_gbps: 100", "fec: reed", "5:61: ports[0].fec: ", "baser"},
    {"bandwidth_gbps: 100", "link_speeds_gbps: [0]",
     "5:74: ports[0].link_speeds_gbps: 0 is out of range", "use 1 to 400"},
    {"bandwidth_gbps: 100", "pfc: hard", "5:61: ports[0].pfc: ", "software"},
    {"bandwidth_gbps: 100", "bandwidth_gbps: 0",
     "5:72: ports[0].bandwidth_gbps: ", "use 1 to 65535"},
    {"bandwidth_gbps: 100", "bandwidth_gbps: 65536",
     "5:72: ports[0].bandwidth_gbps: ", "use 1 to 65535"},
    {"{port: p2, ip_base: 198.18.0.1}", "{port: p2}", "17:9: instances[0].ports[2].ip: missing",
     "add ip:"},
    {"{port: p2, ip_base: 198.18.0.1}", "{port: p2, ip: 198.18.0.1}",
     "17:24: instances[0].ports[2].ip: one address", "use ip_base"},
    // The planes' addresses are checked as those of plane 0.
    {"forwarding_base: 0x0400", "forwarding_base: 0x0001",
     "19:44: instances[1].ports[1]: 0x0002 on port p1 is the address of instances[0] (XPU 1)",
     "choose another"},
    {"forwarding_base: 0x0400", "forwarding_base: 0x0008",
     "16:37: instances[0].ports[1].forwarding_base: 0x0008 on port p1 is for the own XPU 0 and by "
     "the default rule for peer 8",
     "choose another"},
    {"ip_base: 198.18.0.0,", "ip_base: 198.17.255.249,",
     "26:29: peers[0].ports[2].ip_base: 198.18.0.1 on port p2 is for peer 8 and for the own XPU 0",
     "its own address"},
};

const Wrong kRates[] = {
    {"encapsulation: afh1, bandwidth_gbps: 100}",
     "encapsulation: afh1, vlan: {vid: 0}, pfc: software}",
     "5:5: ports[0].bandwidth_gbps: the rate of net_null0 is not known, but needed for pfc: "
     "software, as quanta",
     "set bandwidth_gbps of the port"},
    {"device: net_null2, bandwidth_gbps: 100", "device: net_null2",
     "7:5: ports[2].bandwidth_gbps: the rate of net_null2 is not known, but needed for the 4 "
     "planes of XPU 0 (instance 0), as they carry PDUs in the ratio of their rates",
     "as in bandwidth_gbps: 100"},
    {"{xpu: 3,", "{xpu: 3, congestion: rccc,",
     "9:5: ports[4].bandwidth_gbps: the rate of net_null4 is not known, but needed for "
     "congestion: rccc of XPU 3 (instance 0), as windows",
     "set bandwidth_gbps of the port"},
};

const Wrong kKeys[] = {
    {"hello_multiplier: 3", "hello_multiplier: 0",
     "30:21: planes.hello_multiplier: ", "use 1 to 255"},
    {"hello_multiplier: 3", "hello_interval_us: 9",
     "30:22: planes.hello_interval_us: ", "use 10 to 10000000"},
    {"hello_multiplier: 3", "hello_idle_us: 999",
     "30:18: planes.hello_idle_us: 999 is less than hello_interval_us", "use at least 1000"},
    {"hello_multiplier: 3", "hold_down_us: 999",
     "30:17: planes.hold_down_us: ", "use 1000 to 600000000"},
    {"hello_multiplier: 3", "hold_down_max_us: 999999",
     "30:21: planes.hold_down_max_us: 999999 is less than hold_down_us", "use at least 1000000"},
    {"hello_multiplier: 3", "hold_down_us: 60000001",
     "30:3: planes.hold_down_max_us: 60000000 is less than hold_down_us", "use at least 60000001"},
    {"hello_multiplier: 3", "unreachable_us: 2999",
     "30:19: planes.unreachable_us: 2999 is less than it takes", "use at least 3000"},
    {"hello_multiplier: 3", "unreachable_us: 9000\ncbfc: {credit_bytes: 100}",
     "31:22: cbfc.credit_bytes: ", "a power of two"},
    {"hello_multiplier: 3", "unreachable_us: 9000\ncbfc: {credits: [200000]}",
     "31:17: cbfc.credits: 200000 is out of range", "use 0 to 131071"},
    {"hello_multiplier: 3", "unreachable_us: 9000\nsessions: {max: 6}",
     "31:17: sessions.max: 6 is no power of two", "use 4"},
    {"hello_multiplier: 3", "unreachable_us: 9000\nsessions: {max: 128}",
     "31:17: sessions.max: ", "use 1 to 64"},
    {"hello_multiplier: 3", "unreachable_us: 9000\nsessions: {max: 32}",
     "31:17: sessions.max: 32 sessions on 4 planes are more than 64 connections to each peer",
     "use at most 16"},
    {"hello_multiplier: 3", "unreachable_us: 9000\nsessions: {max: 8}\ntransport: {psn_scope: vc}",
     "31:17: sessions.max: 8 sessions on 4 planes, with four VCs each,",
     "use at most 4, or set transport.psn_scope: port at both ends"},
    {"hello_multiplier: 3", "unreachable_us: 9000\nsessions: {max: 4}",
     "31:17: sessions.max: frames of ports[0] (encapsulation afh1)",
     "use 1, or another encapsulation"},
    {"hello_multiplier: 3", "multiplier: 3", "30:3: planes.multiplier: unknown key",
     "the keys of planes"},
    {"hello_multiplier: 3", "window_pdus: 3", "30:3: planes.window_pdus: unknown key",
     "belongs at transport.window_pdus"},
};

INSTANTIATE_TEST_SUITE_P(Ports, PlanesConfigTest, testing::ValuesIn(kWrongPlanesPorts));
INSTANTIATE_TEST_SUITE_P(Rates, PlanesConfigTest, testing::ValuesIn(kRates));
INSTANTIATE_TEST_SUITE_P(Keys, PlanesConfigTest, testing::ValuesIn(kKeys));

std::string WithCredits(const std::string& credits) {
  std::string text = kGoodPlanes;
  const std::string own = "bandwidth_gbps: 100";
  return text.replace(text.find(own), own.size(), own + ", cbfc: on") +
         "cbfc: {credits: " + credits + "}\n";
}

TEST(PlanesConfig, CreditsAreForEightVcsAndFramesAndHaveDescriptors) {
  const auto message = [](const std::string& credits) {
    const auto config = ParseConfig(WithCredits(credits), "bad.yaml", kMachine);
    return config.ok() ? "good" : std::string(config.status().message());
  };
  EXPECT_EQ(message("[17, 100, 0, 0, 0, 0, 0, 0]"), "good");
  EXPECT_EQ(message("[17]"),
            "bad.yaml:31:17: cbfc.credits: 1 limits; write eight, for link VC 0 to 7");
  EXPECT_NE(message("[16, 100, 0, 0, 0, 0, 0, 0]").find("use 17 or more"), std::string::npos)
      << message("[16, 100, 0, 0, 0, 0, 0, 0]");
  EXPECT_NE(message("[5000, 100, 0, 0, 0, 0, 0, 0]").find("use 5164 or more, or grant less"),
            std::string::npos)
      << message("[5000, 100, 0, 0, 0, 0, 0, 0]");
}

TEST(PlanesConfig, CreditsAreAnEvenShareOfTheRingByDefault) {
  std::string text = kGoodPlanes;
  const std::string own = "bandwidth_gbps: 100";
  text.replace(text.find(own), own.size(), own + ", cbfc: on, rx_descriptors: 1024");
  const Config config = MustParse(text);
  const CreditGrant grant = CreditGrantOf(config, config.ports[0]);
  EXPECT_EQ(grant.rule, CreditRule{});
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) EXPECT_EQ(grant.limits[vc], vc < 8 ? 120u : 0u);
  const auto again = ParseConfig(DumpConfig(config), "dump.yaml", kMachine);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->ports[0].cbfc, OnOff::kOn);
  EXPECT_EQ(again->cbfc, config.cbfc);
}

// Planes without any rate are alike; measured weights are shares of a rate.
TEST(PlanesConfig, PlanesOfOneKindNeedNoRate) {
  std::string text = kGoodPlanes;
  for (size_t at; (at = text.find(", bandwidth_gbps: 100")) != std::string::npos;) {
    text.erase(at, sizeof(", bandwidth_gbps: 100") - 1);
  }
  EXPECT_TRUE(ParseConfig(text, "good.yaml", kMachine).ok());
  // Only virtio_user has a speed of its own, if it is told one.
  const std::string with_speed =
      Replaced(text, "net_null1", "\"virtio_user1,path=/run/v,speed=100000\"");
  const auto mixed = ParseConfig(with_speed, "bad.yaml", kMachine);
  ASSERT_FALSE(mixed.ok());
  EXPECT_NE(mixed.status().message().find("the rate of net_null0 is not known, but needed for the "
                                          "4 planes of XPU 0"),
            std::string::npos)
      << mixed.status();
  EXPECT_TRUE(ParseConfig(Replaced(with_speed, ",speed=100000", ""), "good.yaml", kMachine).ok());
  const auto measured = ParseConfig(text + "  weights: measured\n", "bad.yaml", kMachine);
  ASSERT_FALSE(measured.ok());
  EXPECT_NE(measured.status().message().find(
                "bad.yaml:5:5: ports[0].bandwidth_gbps: the rate of net_null0 is not known, but "
                "needed for planes.weights: measured of XPU 0"),
            std::string::npos)
      << measured.status();
}

TEST(PlanesConfig, InstancesOnDifferentLcoresMayBeOnOnePort) {
  std::string text = kGoodPlanes;
  const std::string own = "[{port: p4}]}\npeers";
  text = Replaced(text, "device: net_null4, ", "device: net_null4, bandwidth_gbps: 100, ");
  text.replace(text.find(own), own.size(), "[{port: p4}, {port: p0}]}\npeers");
  const auto config = ParseConfig(text, "good.yaml", kMachine);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->instances[0].ports[0].port, config->instances[3].ports[1].port);
  EXPECT_NE(config->instances[0].lcore, config->instances[3].lcore);
}

TEST(PlanesConfig, EachPortOfAnInstanceIsAPlane) {
  std::vector<std::string> warnings;
  const Config config = MustParse(kGoodPlanes, &warnings);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  ASSERT_EQ(config.instances.size(), 4u);
  const InstanceConfig& instance = config.instances[1];
  EXPECT_EQ(instance.ordering, Ordering::kUnordered);
  const std::vector<InstancePort> planes = {{.port = 0, .address = {.low = 1}},
                                            {.port = 1, .address = {.low = 0x401}},
                                            {.port = 2, .address = {.low = 0xc6120002}},
                                            {.port = 3, .address = {.low = 1}}};
  EXPECT_EQ(instance.ports, planes);
  EXPECT_EQ(config.instances[2].ordering, Ordering::kStrict);
  EXPECT_EQ(config.instances[2].ports.size(), 2u);
  EXPECT_EQ(config.instances[2].ports[0].port, 3u);
  EXPECT_EQ(config.ports[0].bandwidth_gbps, 100u);
  EXPECT_FALSE(config.ports[4].bandwidth_gbps.has_value());
  EXPECT_EQ(config.planes, PlanesConfig{});
}

TEST(PlanesConfig, DumpLoadsToTheSame) {
  const Config config = MustParse(std::string(kGoodPlanes) +
                                  "  hello_interval_us: 11\n"
                                  "  hello_idle_us: 12\n"
                                  "  hold_down_us: 1300\n"
                                  "  hold_down_max_us: 1400\n"
                                  "  unreachable_us: 1500\n");
  EXPECT_EQ(config.planes.hello_interval, std::chrono::microseconds(11));
  EXPECT_EQ(config.planes.hello_idle, std::chrono::microseconds(12));
  EXPECT_EQ(config.planes.hold_down, std::chrono::microseconds(1300));
  EXPECT_EQ(config.planes.hold_down_max, std::chrono::microseconds(1400));
  EXPECT_EQ(config.planes.unreachable, std::chrono::microseconds(1500));
  EXPECT_EQ(MustParse(DumpConfig(config)), config);
}

TEST(PlanesConfig, OneUnorderedPortIsAllowed) {
  std::vector<std::string> warnings;
  const Config config =
      MustParse(Replaced(kGoodPlanes, "{xpu: 3, ", "{xpu: 3, ordering: unordered, "), &warnings);
  EXPECT_EQ(config.instances[3].ordering, Ordering::kUnordered);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

TEST(PlanesConfig, APeerThatSomePlanesDoNotLeadToIsAllowedWithAWarning) {
  std::vector<std::string> warnings;
  MustParse(std::string(kGoodPlanes)
                .insert(std::string(kGoodPlanes).find("planes:"),
                        "  - {xpus: 16-20, ports: [{port: p1}, {port: p4}]}\n"),
            &warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "test.yaml:29:26: peers[1].ports: instance 0 of XPU 0 does not reach the peer through "
            "p0, p2, p3, so that fewer planes lead there; add the port");
}

TEST(PlanesConfig, APlaneThatLeadsNowhereIsOneWarning) {
  std::vector<std::string> warnings;
  MustParse(Replaced(kGoodPlanes, "      - {port: p1}\n      - {port: p2, ip_base: 198.18.0.0",
                     "      - {port: p2, ip_base: 198.18.0.0"),
            &warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "test.yaml:16:16: instances[0].ports[1].port: no peer is reached through port p1; add "
            "the port to the peers");
}

TEST(PlanesConfig, APeerThatNoPlaneLeadsToIsNoPeerOfTheInstance) {
  std::vector<std::string> warnings;
  MustParse(
      std::string(kGoodPlanes)
          .insert(std::string(kGoodPlanes).find("planes:"), "  - {xpu: 16, ports: [{port: p4}]}\n"),
      &warnings);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

}  // namespace
}  // namespace suede
