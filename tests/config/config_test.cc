// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"
#include "configs.h"
#include "key_tables.h"
#include "page_tables.h"

namespace suede {
namespace {

constexpr char kSmallest[] =
    "version: 1\n"
    "name: left\n"
    "lcores: [{cpu: 1}]\n"
    "ports: [{name: p0, device: net_memif0}]\n"
    "instances: [{xpu: 0, ports: [{port: p0, ip: 198.18.0.1}]}]\n";

std::string PathOf(const std::string& file) { return std::string(SUEDE_SOURCE_DIR) + "/" + file; }

TEST(ConfigTest, SocketsAreInTheDirectoryThatAServiceManagerMade) {
  MachineFacts machine = kMachineOf8Cpus;
  machine.runtime_directory = "/run/suede/unit";
  const auto config = ParseConfig(kSmallest, "test.yaml", machine);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->clients.socket, "/run/suede/unit/xpu.sock");
  EXPECT_EQ(config->management.socket, "/run/suede/unit/management.sock");
}

TEST(ConfigTest, TheFirstRuntimeDirectoryOfTheEnvironmentCounts) {
  setenv("RUNTIME_DIRECTORY", "/run/suede/unit:/run/other", 1);
  EXPECT_EQ(MachineFacts::Here().runtime_directory, "/run/suede/unit");
  setenv("RUNTIME_DIRECTORY", "relative", 1);
  EXPECT_EQ(MachineFacts::Here().runtime_directory, "");
  unsetenv("RUNTIME_DIRECTORY");
  EXPECT_EQ(MachineFacts::Here().runtime_directory, "");
}

TEST(ConfigTest, SmallestFileHasTheDefaults) {
  const Config config = MustParse(kSmallest);
  EXPECT_EQ(config.name, "left");
  EXPECT_EQ(config.transport, TransportConfig{});
  EXPECT_EQ(config.planes, PlanesConfig{});
  EXPECT_EQ(config.packing, PackingConfig{});
  EXPECT_EQ(config.classes, ClassesConfig{});
  EXPECT_EQ(config.log, LogConfig{});
  EXPECT_EQ(config.eal, EalConfig{});
  EXPECT_EQ(config.clients.socket, "/run/suede/left/xpu.sock");
  EXPECT_EQ(config.management.socket, "/run/suede/left/management.sock");
  ASSERT_EQ(config.ports.size(), 1u);
  EXPECT_EQ(config.ports[0].mtu_bytes, 2088u);  // 2048 + 40
  EXPECT_FALSE(config.ports[0].mac.has_value());
  EXPECT_FALSE(config.ports[0].vid.has_value());
  ASSERT_EQ(config.instances.size(), 1u);
  EXPECT_EQ(config.instances[0].ports[0].address, (NetAddress{.low = 0xc6120001u}));
  ExpectDumpLoadsToTheSame(config);
}

TEST(ConfigTest, PeersOnAPortWithATapNeedNoMac) {
  const Config config = MustParse(
      "version: 1\nname: taps\nlcores: [{cpu: 0}]\n"
      "ports:\n"
      "  - {name: four, device: net_null0, tap: t0, tap_prefix: 24}\n"
      "  - {name: six, device: net_null1, encapsulation: udp6, tap: t1, vlan: {vid: 0}}\n"
      "  - {name: afh, device: net_null2, encapsulation: afh1, tap: t2}\n"
      "  - {name: fixed, device: net_null3, tap: t3, vlan: {vid: 9}}\n"
      "instances:\n"
      "  - {xpu: 0, ports: [{port: four, ip: 198.18.0.1}]}\n"
      "  - {xpu: 1, ports: [{port: six, ip: '2001:db8::1'}]}\n"
      "  - {xpu: 2, ports: [{port: afh}]}\n"
      "  - {xpu: 3, ports: [{port: fixed, ip: 198.18.1.1}]}\n"
      "peers:\n"
      "  - xpus: 10-19\n"
      "    ports:\n"
      "      - {port: four, ip_base: 198.18.0.0}\n"
      "      - {port: six, ip_base: '2001:db8::'}\n"
      "      - {port: fixed, ip_base: 198.18.1.0, mac: 02:00:00:00:00:01}\n"
      "management: {packet_burst: 8}\n");
  EXPECT_EQ(config.ports[0].tap, "t0");
  EXPECT_EQ(config.ports[0].tap_prefix, 24u);
  EXPECT_FALSE(config.ports[1].tap_prefix.has_value());
  EXPECT_EQ(config.management.packet_burst, 8u);
  EXPECT_TRUE(LearnsNeighbours(config.ports[0]) && LearnsNeighbours(config.ports[1]));
  EXPECT_FALSE(LearnsNeighbours(config.ports[2]) || LearnsNeighbours(config.ports[3]));
  ASSERT_EQ(config.peers.size(), 10u);
  EXPECT_EQ(config.peers[9].ports[0].mac, MacAddress{});
  EXPECT_EQ(config.peers[9].ports[1].mac, MacAddress{});
  EXPECT_EQ(config.peers[9].ports[2].mac, (MacAddress{2, 0, 0, 0, 0, 1}));
  ExpectDumpLoadsToTheSame(config);
}

constexpr char kAssigned[] =
    "version: 1\nname: assigned\nlcores: [{cpu: 0}]\n"
    "ports: [{name: p0, device: net_null0, lldp: on, lldp_addresses: on, lldp_wait_s: 9}]\n"
    "instances:\n"
    "  - {xpu: 0, ports: [{port: p0, ip: 198.18.0.1}]}\n"
    "  - {xpu: 1, ports: [{port: p0}]}\n";

TEST(ConfigTest, AnAssignedAddressIsNoSetting) {
  const Config config = MustParse(kAssigned);
  EXPECT_EQ(config.ports[0].lldp_wait_s, 9u);
  EXPECT_FALSE(config.instances[0].ports[0].assigned);
  EXPECT_TRUE(config.instances[1].ports[0].assigned);
  EXPECT_EQ(AssignedPlane(config, 0), &config.instances[1].ports[0]);
  ExpectDumpLoadsToTheSame(config);
  Config running = config;
  AssignedPlane(running, 0)->address = {.low = 0xc6120007u};
  EXPECT_EQ(running, config);
  EXPECT_EQ(DumpConfig(running), DumpConfig(config));
  running.instances[0].ports[0].address = {.low = 0xc6120008u};
  EXPECT_NE(running, config);
}

TEST(ConfigTest, OneInstanceTakesTheAssignedAddress) {
  const auto error_with = [](const std::string& more) {
    return std::string(
        ParseConfig(std::string(kAssigned) + more, "test.yaml", kMachine).status().message());
  };
  EXPECT_EQ(error_with("  - {xpu: 2, ports: [{port: p0}]}\n"),
            "test.yaml:8:22: instances[2].ports[0]: the neighbour of port p0 assigns one address, "
            "which is that of instances[1] (XPU 1); give this entry an ip");
  EXPECT_NE(error_with("  - {xpus: 3-4, ports: [{port: p0}]}\n").find("give this entry an ip"),
            std::string::npos);
}

TEST(ConfigTest, PeersHaveNamesOfTheirOwn) {
  const auto text = [](const char* peers) { return StrCat(kSmallest, "peers:\n", peers); };
  constexpr char kPorts[] = "ports: [{port: p0, ip: 198.18.0.9, mac: 02:00:00:00:00:09}]}\n";
  constexpr char kOthers[] = "ports: [{port: p0, ip: 198.18.0.8, mac: 02:00:00:00:00:08}]}\n";
  const Config config = MustParse(
      text(StrCat("  - {xpu: 9, name: gpu9, ", kPorts, "  - {xpu: 8, ", kOthers).c_str()));
  ASSERT_EQ(config.peers.size(), 2u);
  EXPECT_EQ(config.peers[0].name, "gpu9");
  EXPECT_EQ(config.peers[1].name, "");
  ExpectDumpLoadsToTheSame(config);
  const auto error = [&](const std::string& peers) {
    return std::string(
        ParseConfig(text(peers.c_str()), "test.yaml", kMachineOf8Cpus).status().message());
  };
  const std::string twice =
      error(StrCat("  - {xpu: 9, name: a, ", kPorts, "  - {xpu: 8, name: a, ", kOthers));
  EXPECT_NE(twice.find("peers[1].name: a is the name of XPU 9 already; give each XPU a name"),
            std::string::npos)
      << twice;
  const std::string range = error(
      "  - {xpus: 8-9, name: a, ports: [{port: p0, ip_base: 198.18.0.0, mac_base: "
      "02:00:00:00:00:00}]}\n");
  EXPECT_NE(range.find("peers[0].name: a name is that of one XPU; give xpu: ID"), std::string::npos)
      << range;
}

TEST(ConfigTest, MtuIsTheUsualOneWhereThePackLimitIsSmall) {
  EXPECT_EQ(MustParse(std::string(kSmallest) + "packing: {limit_bytes: 274}\n").ports[0].mtu_bytes,
            1500u);
}

TEST(ConfigTest, SectionsWithNothingUnderThemHaveDefaults) {
  EXPECT_EQ(MustParse(std::string(kSmallest) + "transport:\nlog:\npeers:\nclasses:\n"),
            MustParse(kSmallest));
}

TEST(ConfigTest, RangesAreExpanded) {
  const Config config = MustParse(
      "version: 1\n"
      "name: many\n"
      "lcores: [{cpu: 1}, {cpu: 2, idle: sleep}]\n"
      "ports: [{name: p0, device: net_memif0}, {name: p1, device: '03:00.0'}]\n"
      "instances:\n"
      "  - {xpus: 0-15, lcore: 2, ports: [{port: p1, ip_base: 198.18.0.1}]}\n"
      "peers:\n"
      "  - xpus: 0-1023\n"
      "    ports:\n"
      "      - {port: p0, ip_base: 198.19.0.0, mac_base: '02:00:00:00:00:ff'}\n"
      "      - {port: p1, ip_base: 198.18.0.1, mac: '02:00:00:00:01:00'}\n");
  ASSERT_EQ(config.instances.size(), 16u);
  EXPECT_EQ(config.instances[15].xpu, 15u);
  EXPECT_EQ(config.instances[15].lcore, 1u);
  EXPECT_EQ(config.instances[15].ports[0],
            (InstancePort{.port = 1, .address = {.low = 0xc6120010u}}));
  ASSERT_EQ(config.peers.size(), 1024u);
  ASSERT_EQ(config.peers[1023].ports.size(), 2u);
  EXPECT_EQ(config.peers[1023].ports[0], (PeerPort{.port = 0,
                                                   .instance = {},
                                                   .address = NetAddress{.low = 0xc61303ffu},
                                                   .mac = {2, 0, 0, 0, 4, 0xfe}}));
  EXPECT_EQ(config.peers[1023].ports[1].mac, (MacAddress{2, 0, 0, 0, 1, 0}));
  ExpectDumpLoadsToTheSame(config);
}

TEST(ConfigTest, EveryKeyOutsideListsIsReadAndDumped) {
  const Config config =
      MustParse(std::string(kSmallest) +
                "eal: {hugepages: off, memory_mb: 512, args: [\"--log-level=8\", 'a \"b\\' ]}\n"
                "partition: 1023\n"
                "classes:\n"
                "  vc: [{pcp: 1}, {dscp: 63}, {ecn: 3}, {}]\n"
                "  ack: {pcp: 7, dscp: 1, ecn: 2}\n"
                "packing: {limit_bytes: 4096}\n"
                "transport: {psn_scope: vc, recovery: selective, window_pdus: 64, window_bytes: "
                "9999, ack_every_pdus: 7,\n"
                "  ack_delay_us: 8, nack_timeout_us: 9, rto_initial_us: 222, rto_min_us: 111,\n"
                "  rto_max_us: 333, max_tries: 3, not_ready_backoff_us: 12, pause_limit_us: 5,\n"
                "  hello_timeout_us: 13, hello_tries: 14, inflight_pdus: 1500}\n"
                "clients: {socket: /tmp/x.sock, socket_mode: 0600, max_clients: 2, max_queues: 3,\n"
                "  ring_lines: 8192, receive_lines: 2048, credit_lines: 5, aggregate_lines: 77,\n"
                "  completions: 128, unclaimed_pdus: 0, hugepages: on,\n"
                "  rules: [\"1000:3\", \"1001:4-7:0,1\"]}\n"
                "management: {socket: /tmp/m.sock, socket_mode: 0600, max_clients: 2,\n"
                "  http_address: 127.0.0.1:9464}\n"
                "log: {level: debug, format: json}\n");
  ASSERT_EQ(config.eal.args.size(), 2u);
  EXPECT_EQ(config.eal.args[1], "a \"b\\");
  EXPECT_EQ(config.clients.socket_mode, 0600u);
  EXPECT_EQ(config.clients.rules,
            (std::vector<ClientRule>{{.uid = 1000, .first_xpu = 3, .last_xpu = 3},
                                     {.uid = 1001, .first_xpu = 4, .last_xpu = 7, .vc_mask = 3}}));
  EXPECT_EQ(config.management.max_clients, 2u);
  EXPECT_EQ(config.management.http_address, "127.0.0.1:9464");
  EXPECT_EQ(config.transport.psn_scope, PsnScope::kVc);
  EXPECT_EQ(config.transport.rto_max, std::chrono::microseconds(333));
  EXPECT_EQ(config.classes.vc[2], (ConfigVcClass{{.ecn = 3}}));
  EXPECT_EQ(config.log.format, LogConfig::Format::kJson);
  ExpectDumpLoadsToTheSame(config);
}

TEST(ConfigTest, OverridesWinAndTheLastOneMost) {
  const Config config = MustParse(kSmallest, nullptr,
                                  {{"transport.window_pdus", "64", "environment X"},
                                   {"transport.window_pdus", "128", "flag --set"},
                                   {"ports[0].mac", "02:00:00:00:00:07", "flag --set"},
                                   {"eal.args", "[--log-level=8]", "flag --set"}});
  EXPECT_EQ(config.transport.window_pdus, 128u);
  EXPECT_EQ(config.ports[0].mac, (MacAddress{2, 0, 0, 0, 0, 7}));
  EXPECT_EQ(config.eal.args, std::vector<std::string>{"--log-level=8"});
}

TEST(ConfigTest, FlagsAndVariablesBecomeOverrides) {
  const auto flag = OverrideFromFlag("log.level=debug");
  ASSERT_TRUE(flag.ok());
  EXPECT_EQ(flag->path, "log.level");
  EXPECT_EQ(flag->value, "debug");
  EXPECT_FALSE(OverrideFromFlag("log.level").ok());

  const char* const environment[] = {"PATH=/bin", "SUEDE_TRANSPORT_WINDOW_PDUS=64", "SUEDE_NAME=me",
                                     "SUEDE_SOMETHING=1", nullptr};
  const auto found = OverridesFromEnvironment(environment, ConfigKeys());
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].path, "transport.window_pdus");
  EXPECT_EQ((*found)[0].place, "environment SUEDE_TRANSPORT_WINDOW_PDUS");
  EXPECT_EQ((*found)[1].path, "name");

  const char* const wrong[] = {"SUEDE_TRANSPORT_WINDOWPDUS=64", nullptr};
  EXPECT_FALSE(OverridesFromEnvironment(wrong, ConfigKeys()).ok());
}

TEST(ConfigTest, EveryExampleLoadsWithoutWarning) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PathOf("conf"))) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    std::vector<std::string> warnings;
    const auto config = LoadConfig(entry.path(), kMachineOf8Cpus, {}, &warnings);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_TRUE(warnings.empty()) << warnings[0];
    ExpectDumpLoadsToTheSame(*config);
  }
  EXPECT_GE(count, 8u);
}

TEST(ConfigTest, PairsOfExamplesKnowEachOther) {
  for (const auto& [a, b] :
       {std::pair("conf/memif-pair-left.yaml", "conf/memif-pair-right.yaml"),
        std::pair("conf/memif-sealed-left.yaml", "conf/memif-sealed-right.yaml"),
        std::pair("conf/servers-pair-a.yaml", "conf/servers-pair-b.yaml"),
        std::pair("conf/memif-afh2c-left.yaml", "conf/memif-afh2c-right.yaml"),
        std::pair("conf/memif-planes-left.yaml", "conf/memif-planes-right.yaml")}) {
    const auto left = LoadConfig(PathOf(a), kMachineOf8Cpus);
    const auto right = LoadConfig(PathOf(b), kMachineOf8Cpus);
    ASSERT_TRUE(left.ok() && right.ok());
    EXPECT_EQ(left->transport, right->transport);
    EXPECT_EQ(left->packing, right->packing);
    EXPECT_EQ(left->partition, right->partition);
    for (const auto& [own, other] : {std::pair(&*left, &*right), std::pair(&*right, &*left)}) {
      for (const PeerConfig& peer : own->peers) {
        size_t found = 0;
        for (const InstanceConfig& instance : other->instances) {
          for (const InstancePort& at : instance.ports) {
            for (const PeerPort& port : peer.ports) {
              const PortConfig& their = other->ports[at.port];
              const bool by_ip = their.encapsulation == PortConfig::Encapsulation::kUdp4;
              found += instance.xpu == peer.xpu &&
                       their.encapsulation == own->ports[port.port].encapsulation &&
                       at.address == PeerAddress(*own, peer, port, instance.instance) &&
                       (!by_ip || their.mac == port.mac);
            }
          }
        }
        EXPECT_EQ(found, peer.ports.size()) << a << " XPU " << peer.xpu;
      }
    }
  }
}

TEST(ConfigTest, DumpOfTheLargestConfigurationIsNotTooLargeToLoad) {
  std::string text = "version: 1\nname: large\nlcores: [{cpu: 0}]\nports:\n";
  std::string peers = "peers:\n  - xpus: 0-1023\n    ports:\n";
  for (int i = 0; i < 8; ++i) {
    const std::string name = "port-with-a-name-of-32-letters-" + std::to_string(i);
    const std::string n = std::to_string(i);
    text += "  - {name: " + name + ", device: net_null" + n + ", encapsulation: udp6}\n";
    peers += "      - {port: " + name + ", instance: 63, ip_base: fd00:1111:2222:3333:444" + n +
             ":5555:6666:7777, mac: 'f2:00:00:00:00:01'}\n";
  }
  text +=
      "instances: [{xpus: 0-1023, instance: 63, ports: [{port: port-with-a-name-of-32-letters-0, "
      "ip_base: fd00:1111:2222:3333:4440:5555:6666:7777}]}]\n";
  ExpectDumpLoadsToTheSame(MustParse(text + peers));
}

TEST(ConfigTest, WarningsNamePlaceAndMend) {
  std::vector<std::string> warnings;
  const auto config = ParseConfig(std::string(kSmallest) + "classes:\n  ack: {pcp: 5}\n",
                                  "test.yaml", kMachineOf8Cpus, {}, &warnings);
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("peers: there are no peers"), std::string::npos) << warnings[0];
  EXPECT_EQ(warnings[1].find("test.yaml:7:14: classes.ack.pcp: no port is tagged"), 0u)
      << warnings[1];
  EXPECT_NE(warnings[1].find("add vlan"), std::string::npos) << warnings[1];
}

TEST(ConfigTest, DocumentationHasTheDeclaredKeys) {
  ExpectTable("docs/configuration.md", "keys", KeysAsMarkdown(ConfigKeys(), true));
}

}  // namespace
}  // namespace suede
