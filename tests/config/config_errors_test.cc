// SPDX-License-Identifier: Apache-2.0
// Wrong configurations: each is refused with place, key and mend.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/config.h"
#include "configs.h"

namespace suede {
namespace {

// A good configuration. Each case replaces one piece of it.
constexpr char kGoodErrors[] =
    "version: 1\n"                                                                 // 1
    "name: left\n"                                                                 // 2
    "eal: {hugepages: auto}\n"                                                     // 3
    "lcores:\n"                                                                    // 4
    "  - {cpu: 1, idle: spin}\n"                                                   // 5
    "  - {cpu: 2}\n"                                                               // 6
    "ports:\n"                                                                     // 7
    "  - name: p0\n"                                                               // 8
    "    device: net_memif0,role=server\n"                                         // 9
    "    mtu_bytes: 2200\n"                                                        // 10
    "    encapsulation: udp4\n"                                                    // 11
    "  - {name: p1, device: '0000:03:00.0'}\n"                                     // 12
    "instances:\n"                                                                 // 13
    "  - {xpu: 0, lcore: 1, ports: [{port: p0, ip: 198.18.0.1}]}\n"                // 14
    "  - {xpus: 1-2, lcore: 2, ports: [{port: p1, ip_base: 198.18.1.0}]}\n"        // 15
    "peers:\n"                                                                     // 16
    "  - {xpu: 3, ports: [{port: p0, ip: 198.18.0.3, mac: 02:00:00:00:00:03}]}\n"  // 17
    "  - {xpus: 4-9, ports: [{port: p0, ip_base: 198.18.0.0, mac_base: 02:00:00:00:00:00}]}\n"
    "classes:\n"                                   // 19
    "  vc: [{pcp: 0}, {dscp: 0}, {ecn: 0}, {}]\n"  // 20
    "packing:\n"                                   // 21
    "  limit_bytes: 2048\n"                        // 22
    "transport:\n"                                 // 23
    "  window_pdus: 512\n"                         // 24
    "clients:\n"                                   // 25
    "  max_queues: 4\n"                            // 26
    "log: {level: info}\n";                        // 27

class WrongConfigTest : public testing::TestWithParam<Wrong> {};

TEST(GoodConfigTest, Loads) {
  const auto config = ParseConfig(kGoodErrors, "wrong.yaml", kMachine);
  EXPECT_TRUE(config.ok()) << config.status();
}

TEST_P(WrongConfigTest, IsRefusedWithPlaceAndMend) {
  ExpectRefused(kGoodErrors, GetParam(), kMachine);
}

const Wrong kSyntax[] = {
    {"version: 1\n", "", "1:1: version: missing", "add version:"},
    {"version: 1", "version: 2", "1:10: version: ", "write version: 1"},
    {"version: 1", "version: '1'", "1:10: version: ", "leave them out"},
    {"name: left\n", "", "1:1: name: missing", "add name:"},
    {"name: left", "name: a/b", "2:7: name: ", "no /"},
    {"name: left", "name: ''", "2:7: name: empty", "write a value"},
    {"name: left", "name: [a]", "2:7: name: a list", "write one"},
    {"name: left", "name:", "2:1: name: no value", "write one"},
    {"name: left", "nmae: left", "2:1: nmae: unknown key", "did you mean name?"},
    {"name: left", "name: left\nname: right", "3:1: name: duplicate key, first at wrong.yaml:2:1",
     "remove one"},
    {"window_pdus: 512", "windows_pdus: 512", "24:3: transport.windows_pdus: unknown key",
     "did you mean window_pdus?"},
    {"window_pdus: 512", "limit_bytes: 512", "24:3: transport.limit_bytes: unknown key",
     "belongs at packing.limit_bytes"},
    {"window_pdus: 512", "zzz: 512", "24:3: transport.zzz: unknown key", "the keys of transport"},
    {"log: {level: info}", "log: {level: info", "2", "check indentation"},
    {"log: {level: info}", "log: info", "27:6: log: keys belong here", "key: value"},
    {"log: {level: info}", "log: [&n a, *n]", "27:13: YAML: ", "write the value out"},
    {"log: {level: info}", "log: {<<: {level: info}}", "27:7: YAML: ", "write the keys out"},
    {"log: {level: info}", "log: !!map {level: info}", "27:6: YAML: ", "leave the tag out"},
    {"log: {level: info}", "---\nlog: {}", "28:1: YAML: a second document", "keep one document"},
    {"log: {level: info}", "log: [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", "27:21: YAML: nested",
     "no key of the configuration is"},
    {"log: {level: info}", "log: {level: loud}", "27:14: log.level: ", "use debug, info, warning"},
    {"hugepages: auto", "hugepages: maybe", "3:18: eal.hugepages: ", "use auto, on or off"},
    {"hugepages: auto", "args: [--vdev=net_null0]", "3:13: eal.args: --vdev", "ports[].device"},
    {"hugepages: auto", "args: [-l, '1']", "3:13: eal.args: -l", "use lcores[].cpu"},
    {"hugepages: auto", "args: no", "3:13: eal.args: a single value", "write ["},
};

const Wrong kLcoresAndPorts[] = {
    {"  - {cpu: 2}\n", "  - {cpu: 2}\n  - {cpu: 1}\n",
     "7:11: lcores[2].cpu: CPU 1 is that of lcores[0]", "another CPU"},
    {"  - {cpu: 2}\n", "  - {cpu: 2}\n  - {cpu: 4}\n", "7:11: lcores[2].cpu: there is no CPU 4",
     "use 0 to 3"},
    {"cpu: 2}", "cpu: -1}", "6:11: lcores[1].cpu: ", "decimal digits"},
    {"cpu: 2}", "idle: yield}", "6:5: lcores[1].cpu: missing", "add cpu:"},
    {"idle: spin", "idle: rest", "5:20: lcores[0].idle: ", "use spin, yield or sleep"},
    {"  - {cpu: 1, idle: spin}\n  - {cpu: 2}\n", "", "4:1: lcores: the list is empty",
     "add at least 1"},
    {"instances:\n", "  - {name: p1, device: net_null0}\ninstances:\n",
     "13:12: ports[2].name: p1 is the name of ports[1]", "choose another"},
    {"name: p1", "name: p/1", "12:12: ports[1].name: ", "no /"},
    {"'0000:03:00.0'", "net_memif0", "12:24: ports[1].device: net_memif0 is the device of ports[0]",
     "net_memif1"},
    {"net_memif0,role=server", "03:00.0", "12:24: ports[1].device: 0000:03:00.0 is the device",
     "use another"},
    {"'0000:03:00.0'", "eth0", "12:24: ports[1].device: ", "write a PCI address"},
    {"mtu_bytes: 2200", "mtu_bytes: 1500", "10:16: ports[0].mtu_bytes: 1500 is too small",
     "at least 2088, or a packing.limit_bytes of at most 1460"},
    {"mtu_bytes: 2200", "mtu_bytes: 100", "10:16: ports[0].mtu_bytes: 100 is too small",
     "the least takes 314"},
    {"mtu_bytes: 2200", "mtu_bytes: 9601", "10:16: ports[0].mtu_bytes: ", "use 68 to 9600"},
    {"encapsulation: udp4", "encapsulation: tcp",
     "11:20: ports[0].encapsulation: ", "use udp4, udp6, afh1"},
    {"encapsulation: udp4", "udp_port: 65536", "11:15: ports[0].udp_port: ", "use 1 to 65535"},
    {"encapsulation: udp4", "vlan: {vid: 4095}", "11:17: ports[0].vlan.vid: ", "use 0 to 4094"},
    {"encapsulation: udp4", "queues: core", "11:13: ports[0].queues: ", "lcore or instance"},
    {"encapsulation: udp4", "queues: instance", "11:13: ports[0].queues: a memif has one pair",
     "remove queues"},
    {"encapsulation: udp4", "tap: sixteen-letters-", "11:10: ports[0].tap: 16 characters",
     "at most 15"},
    {"encapsulation: udp4", "tap: a/b", "11:10: ports[0].tap: ", "no /"},
    {"encapsulation: udp4", "tap: 'a b'", "11:10: ports[0].tap: ", "letters, digits"},
    {"encapsulation: udp4", "tap: ''", "11:10: ports[0].tap: empty", "write a value"},
    {"encapsulation: udp4\n  - {name: p1,", "tap: t0\n  - {name: p1, tap: t0,",
     "12:21: ports[1].tap: t0 is the TAP device of ports[0]", "another name"},
    {"'0000:03:00.0'}\n", "'0000:03:00.0'}\n  - {name: p2, device: net_null0, tap: t0}\n",
     "13:40: ports[2].tap: no lcore serves port p2", "add one, or remove tap"},
    {"'0000:03:00.0'}\n", "'0000:03:00.0'}\n  - {name: p2, device: net_null0, lldp: on}\n",
     "13:41: ports[2].lldp: no lcore serves port p2", "add one, or remove lldp"},
    {"encapsulation: udp4", "lldp_addresses: on", "11:21: ports[0].lldp_addresses: addresses are",
     "add lldp: on"},
    {"encapsulation: udp4", "lldp: on\n    lldp_addresses: on",
     "12:21: ports[0].lldp_addresses: every instance on port p0 has an ip", "remove the ip of one"},
    {"encapsulation: udp4", "encapsulation: afh1\n    lldp_addresses: on",
     "12:21: ports[0].lldp_addresses: ", "leave it out: instances have no IP addresses"},
    {"encapsulation: udp4", "lldp_wait_s: 0", "11:18: ports[0].lldp_wait_s: ", "use 1 to 3600"},
    {"'0000:03:00.0'}\n", "'0000:03:00.0', lldp: on, lldp_addresses: on}\n",
     "12:66: ports[1].lldp_addresses: every instance on port p1 has an ip", "or set this off"},
    {"encapsulation: udp4", "tap_prefix: 24", "11:17: ports[0].tap_prefix: there is no TAP",
     "add tap: NAME"},
    {"encapsulation: udp4", "tap: t0\n    tap_prefix: 33",
     "12:17: ports[0].tap_prefix: 33 is longer", "use 1 to 32"},
    {"encapsulation: udp4", "tap: t0\n    tap_prefix: 0",
     "12:17: ports[0].tap_prefix: ", "use 1 to 128"},
    {"encapsulation: udp4", "tap: t0\n    tap_prefix: 24\n    vlan: {vid: 7}",
     "12:17: ports[0].tap_prefix: the addresses", "set them there"},
    {"encapsulation: udp4", "mac: 01:00:00:00:00:01", "11:10: ports[0].mac: ", "unicast"},
    {"encapsulation: udp4", "mac: 2:0:0:0:0:1", "11:10: ports[0].mac: ", "as in 02:00:00:00:00:01"},
};

const Wrong kInstancesAndPeers[] = {
    {"lcore: 2, ports", "lcore: 3, ports", "15:24: instances[1].lcore: no lcore is on CPU 3",
     "CPUs are 1, 2"},
    {"[{port: p1", "[{port: p9", "15:", "the ports are p0, p1"},
    {"xpus: 1-2, lcore: 2", "xpu: 0, lcore: 2", "15:5: instances[1]: instance 0 of XPU 0",
     "another instance number"},
    {"xpus: 1-2, lcore: 2, ports: [{port: p1, ip_base: 198.18.1.0",
     "xpu: 5, lcore: 1, ports: [{port: p0, ip: 198.18.0.1",
     "15:47: instances[1].ports[0].ip: 198.18.0.1 on port p0", "choose another"},
    {"xpu: 0,", "xpu: 1024,", "14:11: instances[0].xpu: 1024 is out of range", "use 0 to 1023"},
    {"xpu: 0,", "xpu: 0, instance: 64,", "14:24: instances[0].instance: ", "use 0 to 63"},
    {"xpu: 0,", "xpu: 0, xpus: 0-1,", "14:5: instances[0]: both xpu and xpus", "keep one"},
    {"xpu: 0,", "", "14:5: instances[0]: no XPU id", "add xpu: ID"},
    {"ports: [{port: p0, ip: 198.18.0.1}]", "ports: []",
     "14:31: instances[0].ports: ", "at least 1"},
    {"ip: 198.18.0.1", "ip: 198.18.0.256", "14:47: instances[0].ports[0].ip: ", "as in 198.18.0.1"},
    {"ip: 198.18.0.1", "ip: 224.0.0.1", "14:47: instances[0].ports[0].ip: ", "unicast"},
    {"xpus: 1-2", "xpus: 2-1", "15:12: instances[1].xpus: 2-1 is reversed", "write 1-2"},
    {"xpus: 1-2", "xpus: 1-1024", "15:12: instances[1].xpus: ", "0 to 1023"},
    {"xpus: 1-2", "xpus: 1", "15:12: instances[1].xpus: ", "FIRST-LAST"},
    {"ip_base: 198.18.1.0", "ip: 198.18.1.0", "15:50: instances[1].ports[0].ip: one address",
     "use ip_base"},
    {"ip_base: 198.18.1.0", "ip_base: 223.255.255.254",
     "15:55: instances[1].ports[0].ip_base: ", "use a lower ip_base"},
    {", mac: 02:00:00:00:00:03", "", "17:22: peers[0].ports[0].mac: missing, and not learnt",
     "add mac: or mac_base:, or tap: NAME to port p0"},
    {"encapsulation: udp4\n  - {name: p1, device: '0000:03:00.0'}\ninstances:\n"
     "  - {xpu: 0, lcore: 1, ports: [{port: p0, ip: 198.18.0.1}]}\n"
     "  - {xpus: 1-2, lcore: 2, ports: [{port: p1, ip_base: 198.18.1.0}]}\npeers:\n"
     "  - {xpu: 3, ports: [{port: p0, ip: 198.18.0.3, mac: 02:00:00:00:00:03}]}\n",
     "tap: t0\n    vlan: {vid: 7}\n  - {name: p1, device: '0000:03:00.0'}\ninstances:\n"
     "  - {xpu: 0, lcore: 1, ports: [{port: p0, ip: 198.18.0.1}]}\n"
     "  - {xpus: 1-2, lcore: 2, ports: [{port: p1, ip_base: 198.18.1.0}]}\npeers:\n"
     "  - {xpu: 3, ports: [{port: p0, ip: 198.18.0.3}]}\n",
     "18:22: peers[0].ports[0].mac: missing, and not learnt on a port with a VLAN id", "add mac:"},
    {"mac: 02:00:00:00:00:03", "mac: ff:ff:ff:ff:ff:ff",
     "17:54: peers[0].ports[0].mac: ", "unicast"},
    {"mac_base: 02:00:00:00:00:00", "mac_base: 02:ff:ff:ff:ff:fe",
     "18:67: peers[1].ports[0].mac_base: ", "use a lower mac_base"},
    {"xpus: 4-9", "xpus: 3-9", "18:5: peers[1]: XPU 3 is in peers[0]", "name each peer once"},
    {"xpus: 4-9", "xpus: 0-1023", "18:5: peers[1]: with this entry there are more than 1024",
     "name each XPU id once"},
    {"ip: 198.18.0.3", "ip: 198.18.0.4",
     "18:45: peers[1].ports[0].ip_base: 198.18.0.4 on port p0 is for XPU 4 and for XPU 3",
     "of its own"},
    {"ip: 198.18.0.3", "ip: 198.18.0.1", "17:37: peers[0].ports[0].ip: ", "its own address"},
    {"{port: p0, ip: 198.18.0.3, mac: 02:00:00:00:00:03}",
     "{port: p0, ip: 198.18.0.3, mac: 02:00:00:00:00:03}, "
     "{port: p0, ip: 198.18.0.2, mac: 02:00:00:00:00:03}",
     "17:74: peers[0].ports[1].port: port p0 is there twice", "remove one"},
};

const Wrong kParameters[] = {
    {"{ecn: 0}, {}]", "{ecn: 0}]", "20:7: classes.vc: 3 classes", "exactly 4"},
    {"{pcp: 0}", "{pcp: 8}", "20:14: classes.vc[0].pcp: ", "use 0 to 7"},
    {"{dscp: 0}", "{dscp: 64}", "20:25: classes.vc[1].dscp: ", "use 0 to 63"},
    {"{ecn: 0}", "{ecn: 4}", "20:35: classes.vc[2].ecn: ", "use 0 to 3"},
    {"limit_bytes: 2048", "limit_bytes: 272", "22:16: packing.limit_bytes: ", "use 274 to 4096"},
    {"limit_bytes: 2048", "limit_bytes: 4098", "22:16: packing.limit_bytes: ", "use 274 to 4096"},
    {"limit_bytes: 2048", "limit_bytes: 4096", "10:16: ports[0].mtu_bytes: 2200 is too small",
     "at least 4136, or a packing.limit_bytes of at most 2160"},
    {"window_pdus: 512", "window_pdus: 0", "24:16: transport.window_pdus: ", "use 1 to 16384"},
    {"window_pdus: 512", "window_pdus: 16385", "24:16: transport.window_pdus: ", "use 1 to 16384"},
    {"window_pdus: 512", "window_pdus: 99999999999999999999999",
     "24:16: transport.window_pdus: ", "use 1 to 16384"},
    {"window_pdus: 512", "window_pdus: 0512", "24:16: transport.window_pdus: ", "decimal digits"},
    {"window_pdus: 512", "window_pdus: 16", "24:3: transport.ack_every_pdus: 32 is more",
     "use at most 16"},
    {"window_pdus: 512", "window_bytes: 2047", "24:17: transport.window_bytes: ", "2048 or more"},
    {"window_pdus: 512", "inflight_pdus: 511", "24:18: transport.inflight_pdus: ", "512 or more"},
    {"window_pdus: 512", "rto_min_us: 300000",
     "24:15: transport.rto_min_us: ", "use at most 200000"},
    {"window_pdus: 512", "rto_initial_us: 999",
     "24:19: transport.rto_initial_us: ", "use 1000 to 200000"},
    {"window_pdus: 512", "ack_delay_us: 1000",
     "24:17: transport.ack_delay_us: ", "use less than 1000"},
    {"window_pdus: 512", "ack_every_pdus: 513",
     "24:19: transport.ack_every_pdus: ", "use at most 512"},
    {"window_pdus: 512", "recovery: some",
     "24:13: transport.recovery: ", "use go_back_n or selective"},
    {"window_pdus: 512", "window_pdus: 2049\n  recovery: selective",
     "24:16: transport.window_pdus: 2049 is more than transport.recovery: selective keeps apart",
     "use at most 2048, or go_back_n"},
    {"window_pdus: 512", "psn_scope: peer", "24:14: transport.psn_scope: ", "use port or vc"},
    {"max_queues: 4", "ring_lines: 4095", "26:15: clients.ring_lines: 4095 is not a power of two",
     "use 2048 or 4096"},
    {"max_queues: 4", "ring_lines: 32", "26:15: clients.ring_lines: ", "use 64 to 1048576"},
    {"max_queues: 4", "receive_lines: 512", "26:18: clients.receive_lines: 512 cannot hold",
     "use 1024 or more, or a packing.limit_bytes of at most 1024"},
    {"max_queues: 4", "credit_lines: 4", "26:17: clients.credit_lines: ", "use 5 to"},
    {"max_queues: 4", "aggregate_lines: 4097",
     "26:20: clients.aggregate_lines: ", "use at most 4096"},
    {"max_queues: 4", "max_queues: 17", "26:15: clients.max_queues: ", "use 1 to 16"},
    {"max_queues: 4", "completions: 100", "26:16: clients.completions: ", "use 64 or 128"},
    {"max_queues: 4", "socket_mode: 0888", "26:16: clients.socket_mode: ", "as in 0660"},
    {"max_queues: 4", "rules: [\"1000:3;1001:4\"]",
     "26:10: clients.rules: \"1000:3;1001:4\" is not", "write UID:XPU"},
    {"max_queues: 4", "rules: [\"1000:1024\"]", "26:10: clients.rules: ", "write UID:XPU"},
    {"max_queues: 4", "rules: [\"1000:1\", []]", "26:10: clients.rules: a list where a rule",
     "write"},
    {"max_queues: 4", "rules: \"1000:1\"", "26:10: clients.rules: a single value", "[\"1000:3\""},
    {"max_queues: 4", "socket: x.sock", "26:11: clients.socket: ", "begin it with /"},
    {"max_queues: 4",
     "socket: /0123456789012345678901234567890123456789012345678901234567890123456789012345678901"
     "2345678901234567890123456",
     "26:11: clients.socket: ", "at most 107; use a shorter path"},
    {"  max_queues: 4", "  socket: /x.sock\nmanagement: {socket: /x.sock}",
     "27:22: management.socket: is the path of clients.socket too", "use another"},
    {"log: {level: info}", "management: {max_clients: 0}",
     "27:27: management.max_clients: ", "use 1 to 1000"},
    {"log: {level: info}", "management: {http_address: \"localhost:9464\"}",
     "27:28: management.http_address: ", "use 127.0.0.1:PORT"},
    {"log: {level: info}", "management: {http_address: 70000}",
     "27:28: management.http_address: ", "or \"\" for none"},
};

INSTANTIATE_TEST_SUITE_P(Syntax, WrongConfigTest, testing::ValuesIn(kSyntax));
INSTANTIATE_TEST_SUITE_P(LcoresAndPorts, WrongConfigTest, testing::ValuesIn(kLcoresAndPorts));
INSTANTIATE_TEST_SUITE_P(InstancesAndPeers, WrongConfigTest, testing::ValuesIn(kInstancesAndPeers));
INSTANTIATE_TEST_SUITE_P(Parameters, WrongConfigTest, testing::ValuesIn(kParameters));

std::string ErrorOf(const std::string& text, const std::vector<ConfigOverride>& overrides = {}) {
  return std::string(ParseConfig(text, "wrong.yaml", kMachine, overrides).status().message());
}

TEST(WrongTextTest, MissingListsAreNamed) {
  EXPECT_EQ(ErrorOf("version: 1\nname: a\n").find("wrong.yaml:1:1: lcores: missing; add"), 0u);
  EXPECT_EQ(ErrorOf("version: 1\nname: a\nlcores: [{cpu: 0}]\n").find("wrong.yaml:1:1: ports: "),
            0u);
  const std::string start = "version: 1\nname: a\nlcores: [{cpu: 0}]\n";
  EXPECT_EQ(ErrorOf(start + "ports: [{name: a, device: net_null0}]\n")
                .find("wrong.yaml:1:1: instances: missing"),
            0u);
}

TEST(WrongTextTest, EmptyAndOtherThanMaps) {
  EXPECT_EQ(ErrorOf("").find("wrong.yaml:1:1: version: missing"), 0u) << ErrorOf("");
  EXPECT_EQ(ErrorOf("# nothing\n").find("wrong.yaml:1:1: version: missing"), 0u);
  EXPECT_EQ(ErrorOf("- a\n").find("wrong.yaml:1:1: (file): keys belong here"), 0u);
}

TEST(WrongTextTest, OverridesAreNamedAsThePlace) {
  EXPECT_EQ(ErrorOf(kGoodErrors, {{"transport.window_pdus", "0", "flag --set"}})
                .find("flag --set: transport.window_pdus: 0 is out of range"),
            0u);
  EXPECT_EQ(ErrorOf(kGoodErrors, {{"transport.windw_pdus", "1", "environment X"}})
                .find("environment X: transport.windw_pdus: unknown key; did you mean window_pdus"),
            0u);
  EXPECT_EQ(ErrorOf(kGoodErrors, {{"ports[0].mtu_bytes", "1500", "flag --set"}})
                .find("flag --set: ports[0].mtu_bytes: 1500 is too small"),
            0u);
  EXPECT_EQ(ErrorOf(kGoodErrors, {{"ports[2].name", "x", "flag --set"}})
                .find("flag --set: ports[2].name: no such entry: there are 2 of them"),
            0u);
  EXPECT_EQ(ErrorOf(kGoodErrors, {{"name.x", "x", "flag --set"}}).find("flag --set: name.x: "), 0u);
  for (const char* path : {"", ".", "a..b", "a[", "a[x]", "a[0", "[", "a[]", "a.", "a[0]b"}) {
    EXPECT_EQ(ErrorOf(kGoodErrors, {{path, "1", "flag --set"}}).find("flag --set: "), 0u) << path;
  }
  EXPECT_EQ(ErrorOf(kGoodErrors, {{"eal.args", "[", "flag --set"}}).find("flag --set: "), 0u);
}

TEST(WrongTextTest, HostileTextIsRefusedSoon) {
  const size_t size = 1u << 20;
  const size_t too_large = (2u << 20) + 1;
  std::vector<std::string> texts = {
      std::string(size, '['),      std::string(size, '{'), std::string(size, '-'),
      std::string(size, ':'),      std::string(size, '"'), std::string(size, ' '),
      std::string(size, '\0'),     std::string(size, '&'), std::string(size, '\xff'),
      std::string(too_large, '\n'),
  };
  for (const char* piece : {"? ", "- ", "a: ", "a:\n", "[a,", "- a\n", "a: {}\n", "!", "&a [*a,"}) {
    std::string text;
    while (text.size() + 8 < size) text += piece;
    texts.push_back(text);
  }
  for (const std::string& text : texts) {
    EXPECT_FALSE(ParseConfig(text, "wrong.yaml", kMachine).ok());
  }
}

TEST(WrongTextTest, FilesThatCannotBeRead) {
  EXPECT_FALSE(LoadConfig("/nonexistent/suede.yaml", kMachine).ok());
  EXPECT_FALSE(LoadConfig("/", kMachine).ok());
  EXPECT_FALSE(LoadConfig("/dev/zero", kMachine).ok());
}

}  // namespace
}  // namespace suede
