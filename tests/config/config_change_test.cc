// SPDX-License-Identifier: Apache-2.0
// Changes of a configuration at run time: differences, keys that take effect at once, single
// values.
#include "config/config_change.h"

#include <gtest/gtest.h>

#include "config/config_fields.h"
#include "configs.h"

namespace suede {
namespace {

constexpr char kBase[] =
    "version: 1\n"
    "name: left\n"
    "lcores: [{cpu: 1}]\n"
    "ports: [{name: p0, device: net_memif0, mtu_bytes: 3000}]\n"
    "instances: [{xpu: 0, ports: [{port: p0, ip: 198.18.0.1}]}]\n"
    "peers: [{xpus: 1-3, ports: [{port: p0, ip_base: 198.18.1.0, mac_base: "
    "'02:00:00:00:00:00'}]}]\n";

// Its keys need each other.
constexpr char kTls[] =
    "sealing: {tls: {listen: '127.0.0.1:7420', certificate: /tmp/a.pem, key: /tmp/a.key, "
    "ca: /tmp/ca.pem}}\n";

Config Parse(const std::string& more, const std::vector<ConfigOverride>& overrides = {}) {
  auto config = ParseConfig(kBase + more, "test.yaml", kMachineOf8Cpus, overrides);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : Config{};
}
Config With(const std::string& path, const std::string& value) {
  return Parse("", {{.path = path, .value = value, .place = "test"}});
}

// The keys of the plan's changes: "path", with "!" where it waits for a restart.
std::vector<std::string> Paths(const ConfigPlan& plan) {
  std::vector<std::string> paths;
  for (const ConfigChange& change : plan.changes) {
    paths.push_back((change.at_once ? "" : "!") + change.path);
  }
  return paths;
}
ConfigPlan PlanOf(const Config& running, const Config& wanted) {
  return PlanChange(running, running, wanted, kMachineOf8Cpus);
}
using Strings = std::vector<std::string>;

TEST(ConfigChangeTest, EqualConfigurationsDoNotDiffer) {
  EXPECT_TRUE(DiffConfigs(Parse(""), Parse("")).empty());
  EXPECT_EQ(PlanOf(Parse(""), Parse("")).config, Parse(""));
}

TEST(ConfigChangeTest, DifferencesHaveBothValues) {
  const auto changes = DiffConfigs(Parse(""), With("transport.ack_delay_us", "7"));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].path, "transport.ack_delay_us");
  EXPECT_EQ(changes[0].from, "20");
  EXPECT_EQ(changes[0].to, "7");
}

// Each key that is no list's, with a value that is legal and not the default.
TEST(ConfigChangeTest, EveryValueIsFoundWithItsDeclaredEffect) {
  const std::map<std::string, std::string> values = {
      {"name", "right"},
      {"partition", "5"},
      {"eal.hugepages", "off"},
      {"eal.memory_mb", "128"},
      {"eal.args", "[--log-level=8]"},
      {"packing.limit_bytes", "1024"},
      {"packing.packed_pdus", "512"},
      {"transport.psn_scope", "vc"},
      {"transport.recovery", "selective"},
      {"transport.window_pdus", "64"},
      {"transport.window_bytes", "65536"},
      {"transport.ack_every_pdus", "3"},
      {"transport.ack_delay_us", "21"},
      {"transport.nack_timeout_us", "600"},
      {"transport.reorder_allowance_us", "600"},
      {"transport.rto_initial_us", "6000"},
      {"transport.rto_min_us", "900"},
      {"transport.rto_max_us", "100000"},
      {"transport.max_tries", "3"},
      {"transport.not_ready_backoff_us", "50"},
      {"transport.pause_limit_us", "70000"},
      {"transport.hello_timeout_us", "999"},
      {"transport.hello_tries", "9"},
      {"transport.inflight_pdus", "600"},
      {"transport.path_probes_per_s", "50"},
      {"planes.hello_interval_us", "2000"},
      {"planes.hello_multiplier", "4"},
      {"planes.hello_idle_us", "20000"},
      {"planes.hold_down_us", "5000"},
      {"planes.hold_down_max_us", "2000000"},
      {"planes.unreachable_us", "9000"},
      {"planes.weights", "measured"},
      {"sessions.max", "2"},
      {"sessions.interval_us", "200"},
      {"sessions.open_percent", "160"},
      {"sessions.move_percent", "500"},
      {"sessions.idle_intervals", "9"},
      {"sessions.stall_timeouts", "3"},
      {"sessions.max_age_us", "90000"},
      {"pfc.quanta", "100"},
      {"pfc.storm_us", "5000"},
      {"mesh.specification", "0xABCDEF"},
      {"mesh.cbfc", "on"},
      {"mesh.levels", "2"},
      {"mesh.credit_frames", "8"},
      {"mesh.buffer_kb", "2048"},
      {"mesh.max_wait_us", "5000"},
      {"sealing.secrets", "/etc/suede/secrets"},
      {"sealing.cipher", "aes_256_gcm"},
      {"sealing.device", "openssl"},
      {"sealing.rotate_s", "60"},
      {"sealing.rotate_pdus", "1000"},
      {"llr.window_frames", "100"},
      {"llr.window_octets", "50000"},
      {"llr.replay_count", "5"},
      {"llr.replay_us", "100"},
      {"llr.max_age_us", "9000"},
      {"llr.ack_frames", "8"},
      {"llr.ack_delay_us", "3"},
      {"llr.hello_us", "20000"},
      {"congestion.base_rtt_us", "20"},
      {"congestion.initial_percent", "30"},
      {"congestion.ask_bdp", "9"},
      {"congestion.repeat_us", "50"},
      {"congestion.repeat_max_us", "2000"},
      {"congestion.slice_us", "3"},
      {"congestion.hold_bdp", "5"},
      {"congestion.target_percent", "110"},
      {"congestion.window_max_percent", "160"},
      {"congestion.window_min_permille", "60"},
      {"congestion.decrease_percent", "70"},
      {"congestion.proportional_percent", "90"},
      {"congestion.fair_percent", "90"},
      {"congestion.eta_percent", "90"},
      {"congestion.base_rtt_period_us", "2000000"},
      {"cbfc.credit_bytes", "256"},
      {"cbfc.overhead_bytes", "8"},
      {"cbfc.credits", "[90, 90, 90, 90, 90, 90, 90, 90]"},
      {"cbfc.cf_spacing_bytes", "9000"},
      {"cbfc.cf_wait_us", "9"},
      {"cbfc.cc_interval_us", "500"},
      {"sealing.tls.listen", "\"[::1]:7420\""},
      {"sealing.tls.certificate", "/tmp/other.pem"},
      {"sealing.tls.key", "/tmp/other.key"},
      {"sealing.tls.ca", "/tmp/other-ca.pem"},
      {"sealing.tls.refresh_s", "60"},
      {"clients.socket", "/tmp/x.sock"},
      {"clients.socket_mode", "0600"},
      {"clients.max_clients", "3"},
      {"clients.max_queues", "2"},
      {"clients.register_pages", "2"},
      {"clients.ring_lines", "8192"},
      {"clients.receive_lines", "8192"},
      {"clients.credit_lines", "99"},
      {"clients.aggregate_lines", "999"},
      {"clients.completions", "128"},
      {"clients.unclaimed_pdus", "5"},
      {"clients.registers", "write"},
      {"clients.rules", "[\"1000:1\"]"},
      {"clients.hugepages", "off"},
      {"clients.window_mb", "5"},
      {"clients.windows_total_mb", "50"},
      {"management.socket", "/tmp/m.sock"},
      {"management.socket_mode", "0600"},
      {"management.max_clients", "9"},
      {"management.packet_burst", "32"},
      {"management.http_address", "127.0.0.1:0"},
      {"log.level", "error"},
      {"log.format", "json"}};
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.is_section || key.path == "version" || key.path.find("[]") != std::string::npos ||
        key.path.starts_with("classes.")) {
      continue;
    }
    ASSERT_TRUE(values.contains(key.path)) << key.path << ": give it a value above";
    const std::string others = key.path.starts_with("sealing.tls.") ? kTls : "";
    const Config base = Parse(others);
    const Config wanted =
        Parse(others, {{.path = key.path, .value = values.at(key.path), .place = "test"}});
    const ConfigPlan plan = PlanOf(base, wanted);
    const bool at_once = key.effect != Effect::kRestart;
    std::vector<std::string> paths = Paths(plan);
    // The name is in the sockets' paths.
    if (key.path == "name") paths.resize(1);
    EXPECT_EQ(paths, Strings{(at_once ? "" : "!") + key.path});
    EXPECT_EQ(plan.config == wanted, at_once) << key.path;
    EXPECT_EQ(plan.config == base, !at_once) << key.path;
  }
}

TEST(ConfigChangeTest, ClassesAndPartition) {
  const ConfigPlan plan = PlanOf(
      Parse(""), Parse("partition: 3\nclasses: {vc: [{}, {dscp: 9}, {}, {ecn: 1}], ack: {}}\n"));
  EXPECT_EQ(Paths(plan), (Strings{"partition", "classes.vc[1].dscp", "classes.vc[3].ecn"}));
  EXPECT_EQ(plan.config.classes.vc[1].dscp, 9);
  EXPECT_EQ(plan.config.partition, 3u);
}

TEST(ConfigChangeTest, OnlyWhatTakesEffectAtOnceIsTaken) {
  const ConfigPlan plan = PlanOf(
      Parse(""), Parse("transport: {window_pdus: 32, psn_scope: vc}\nlog: {format: json}\n"));
  EXPECT_EQ(Paths(plan), (Strings{"!transport.psn_scope", "transport.window_pdus", "!log.format"}));
  EXPECT_EQ(plan.config.transport.window_pdus, 32u);
  EXPECT_EQ(plan.config.transport.psn_scope, PsnScope::kPort);
}

TEST(ConfigChangeTest, MemoryIsNoMoreThanAtTheStart) {
  const Config started = Parse("");
  const Config less = With("transport.inflight_pdus", "1024");
  EXPECT_EQ(Paths(PlanChange(started, started, less, kMachineOf8Cpus)),
            Strings{"transport.inflight_pdus"});
  EXPECT_EQ(Paths(PlanChange(started, less, started, kMachineOf8Cpus)),
            Strings{"transport.inflight_pdus"});
  const Config more = With("transport.inflight_pdus", "5000");
  EXPECT_EQ(Paths(PlanChange(started, less, more, kMachineOf8Cpus)),
            Strings{"!transport.inflight_pdus"});
  EXPECT_EQ(PlanChange(started, less, more, kMachineOf8Cpus).config, less);
}

TEST(ConfigChangeTest, PackLimitBeyondTheMtuWaitsForIt) {
  const Config running = Parse("");
  EXPECT_EQ(Paths(PlanOf(running, With("packing.limit_bytes", "2900"))),
            Strings{"packing.limit_bytes"});
  const Config wanted = Parse("packing: {limit_bytes: 4000}\nlog: {level: error}\n",
                              {{.path = "ports[0].mtu_bytes", .value = "5000", .place = "test"}});
  const ConfigPlan plan = PlanOf(running, wanted);
  EXPECT_EQ(Paths(plan), (Strings{"!ports[0].mtu_bytes", "!packing.limit_bytes", "log.level"}));
  EXPECT_EQ(plan.config.packing, running.packing);
}

TEST(ConfigChangeTest, ListsDifferByEntry) {
  const Config base = Parse("");
  Config other = base;
  other.peers[1].ports[0].mac[5] = 0x77;
  other.peers.pop_back();
  other.ports[0].vid = 7;
  other.lcores[0].idle = LcoreConfig::Idle::kSleep;
  other.instances.push_back(other.instances[0]);
  std::vector<std::string> paths;
  for (const ConfigChange& change : DiffConfigs(base, other)) paths.push_back(change.path);
  EXPECT_EQ(paths, (Strings{"lcores[0].idle", "ports[0].vlan.vid", "instances[1]", "peers[1]",
                            "peers[2]"}));
}

// A number for each value that has one, and back.
TEST(ConfigChangeTest, NumbersOfValues) {
  const Config config = Parse("clients: {socket_mode: 0640}\n");
  EXPECT_EQ(ConfigNumber(config, "transport.ack_delay_us"), 20u);
  EXPECT_EQ(ConfigNumber(config, "transport.psn_scope"), 0u);
  EXPECT_EQ(ConfigNumber(config, "clients.socket_mode"), 0640u);
  EXPECT_EQ(ConfigNumber(config, "classes.ack.dscp"), 48u);
  EXPECT_EQ(ConfigNumber(config, "classes.vc[3].pcp"), 0u);
  EXPECT_EQ(ConfigNumber(config, "partition"), 0u);
  EXPECT_EQ(ConfigNumber(config, "ports[0].mtu_bytes"), 3000u);
  EXPECT_EQ(ConfigNumber(config, "lcores[0].cpu"), 1u);
  for (const char* none : {"name", "ports[1].mtu_bytes", "ports[0].vlan.vid", "transport.nothing",
                           "nothing.at_all", "", "clients.socket", "ports[0].mac"}) {
    EXPECT_EQ(ConfigNumber(config, none), std::nullopt) << none;
  }
  EXPECT_EQ(ConfigText("transport.psn_scope", 1), "vc");
  EXPECT_EQ(ConfigText("transport.psn_scope", 2), std::nullopt);
  EXPECT_EQ(ConfigText("clients.socket_mode", 0600), "0600");
  EXPECT_EQ(ConfigText("transport.rto_max_us", 1234), "1234");
  EXPECT_EQ(ConfigText("ports[7].mtu_bytes", 1500), "1500");
  EXPECT_EQ(ConfigText("clients.socket", 1), std::nullopt);
}

TEST(ConfigChangeTest, SingleValuesPassTheSameChecks) {
  const Config config = Parse("");
  const auto change = [&](const std::string& path, const std::string& value) {
    return ChangeConfig(config, {{.path = path, .value = value, .place = "register x"}},
                        kMachineOf8Cpus);
  };
  ASSERT_TRUE(change("transport.window_pdus", "64").ok());
  EXPECT_EQ(change("transport.window_pdus", "64")->transport.window_pdus, 64u);
  EXPECT_EQ(change("transport.window_pdus", "0").status().message(),
            "register x: transport.window_pdus: 0 is out of range; use 1 to 16384");
  EXPECT_EQ(change("transport.rto_min_us", "300000").status().message(),
            "register x: transport.rto_min_us: 300000 is more than rto_max_us; use at most 200000");
  EXPECT_TRUE(change("packing.limit_bytes", "4000").status().message().find("ports[0].mtu_bytes") !=
              std::string_view::npos);
}

TEST(ConfigChangeTest, RowsAreFoundByPathsWithIndices) {
  ASSERT_NE(FindConfigKey("classes.vc[2].pcp"), nullptr);
  EXPECT_EQ(FindConfigKey("classes.vc[2].pcp")->path, "classes.vc[].pcp");
  EXPECT_EQ(FindConfigKey("transport.psn_scope")->effect, Effect::kRestart);
  EXPECT_EQ(FindConfigKey("transport.nothing"), nullptr);
  EXPECT_EQ(FindConfigKey("transport"), nullptr);
}

}  // namespace
}  // namespace suede
