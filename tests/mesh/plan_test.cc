// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/text.h"
#include "mesh_fixture.h"
#include "page_tables.h"
#include "specification.h"

namespace suede::mesh {
namespace {

MeshSystem Read(const std::string& text) {
  const auto system = ParseSystem(text, "s.yaml");
  EXPECT_TRUE(system.ok()) << system.status();
  return *system;
}

MeshSystem ReadExample(const std::string& name) {
  return Read(ReadSource("conf/mesh/" + name + ".yaml"));
}

std::vector<HostPlan> PlanOf(const MeshSystem& system, PlanParams params = {}) {
  params.source = "s.yaml";
  const auto plans = PlanHosts(system, system.GenerateTables(), params);
  EXPECT_TRUE(plans.ok()) << plans.status();
  return *plans;
}

std::string RefusalOf(const MeshSystem& system, const PlanParams& params = {}) {
  return std::string(PlanHosts(system, system.GenerateTables(), params).status().message());
}

bool Has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

// Returns the lines of a section.
std::string Section(const std::string& text, const std::string& key) {
  const std::string head = "\n" + key + ":\n";
  const size_t at = text.find(head);
  EXPECT_NE(at, std::string::npos) << key;
  if (at == std::string::npos) return "";
  const size_t begin = at + head.size();
  size_t end = begin;
  while (end < text.size() && text[end] == ' ') end = text.find('\n', end) + 1;
  return text.substr(begin, end - begin);
}

TEST(MeshPlan, HasAllDevicesOnOneHost) {
  const std::vector<HostPlan> plans = PlanOf(ReadExample("square"));
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].host, "host0");
  EXPECT_EQ(plans[0].text,
            R"(# Host host0 of s.yaml, by suede-mesh plan.
version: 1
name: host0
lcores:
  - {cpu: 0, idle: sleep}
ports:
  - {name: plane0, device: mesh, plane: 0, encapsulation: afh2}
mesh: {specification: 0xec960a63c1e6, cbfc: on}
devices:
  - device: M0D0
    lcore: 0
    tables:
      - {devices: [D, 2, 1, 2], meshes: [D]}
  - device: M0D1
    lcore: 0
    tables:
      - {devices: [4, D, 4, 1], meshes: [D]}
  - device: M0D2
    lcore: 0
    tables:
      - {devices: [3, 2, D, 2], meshes: [D]}
  - device: M0D3
    lcore: 0
    tables:
      - {devices: [4, 3, 4, D], meshes: [D]}
cables:
  - {from: M0D0P1, to: M0D2P3}
  - {from: M0D0P2, to: M0D1P4}
  - {from: M0D1P1, to: M0D3P3}
  - {from: M0D2P2, to: M0D3P4}
instances:
  - {xpus: 0-3, lcore: 0, ports: [{port: plane0, forwarding_base: 0x0000}]}
peers:
  - {xpus: 0-3, ports: [{port: plane0, forwarding_base: 0x0000}]}
transport: {psn_scope: vc, rto_initial_us: 20000, rto_min_us: 10000}
planes: {hello_interval_us: 10000}
)");
}

TEST(MeshPlan, HasAPortForEachCableToAnotherHost) {
  const std::vector<HostPlan> plans = PlanOf(ReadExample("square-hosts"));
  ASSERT_EQ(plans.size(), 4u);
  EXPECT_EQ(plans[1].text,
            R"(# Host host1 of s.yaml, by suede-mesh plan.
version: 1
name: host1
lcores:
  - {cpu: 0, idle: sleep}
ports:
  - {name: plane0, device: mesh, plane: 0, encapsulation: afh2}
  - {name: M0D1P1, device: "net_memif0,role=server,id=0,socket=/run/suede/square-hosts-M0D1P1.sock,socket-abstract=no,bsize=2304", encapsulation: afh2, cbfc: on}
  - {name: M0D1P4, device: "net_memif1,role=client,id=0,socket=/run/suede/square-hosts-M0D0P2.sock,socket-abstract=no,bsize=2304", encapsulation: afh2, cbfc: on}
mesh: {specification: 0xec960a63c1e6, cbfc: on}
devices:
  - device: M0D1
    lcore: 0
    tables:
      - {devices: [4, D, 4, 1], meshes: [D]}
cables:
  - {from: M0D1P1, to: M0D3P3, port: M0D1P1}
  - {from: M0D1P4, to: M0D0P2, port: M0D1P4}
instances:
  - {xpu: 1, lcore: 0, ports: [{port: plane0, forwarding_address: 0x0001}]}
peers:
  - {xpus: 0-3, ports: [{port: plane0, forwarding_base: 0x0000}]}
transport: {psn_scope: vc, rto_initial_us: 20000, rto_min_us: 10000}
planes: {hello_interval_us: 10000}
)");
}

TEST(MeshPlan, SpreadsDevicesOverLcores) {
  const std::vector<HostPlan> plans =
      PlanOf(ReadExample("square"), {.device = "0000:03:00.{number}", .lcores = 3});
  EXPECT_EQ(Section(plans[0].text, "lcores"), "  - {cpu: 0}\n  - {cpu: 1}\n  - {cpu: 2}\n");
  EXPECT_EQ(Section(plans[0].text, "instances"),
            "  - {xpus: 0-1, lcore: 0, ports: [{port: plane0, forwarding_base: 0x0000}]}\n"
            "  - {xpu: 2, lcore: 1, ports: [{port: plane0, forwarding_address: 0x0002}]}\n"
            "  - {xpu: 3, lcore: 2, ports: [{port: plane0, forwarding_address: 0x0003}]}\n");
  EXPECT_TRUE(plans[0].text.ends_with("}\ntransport: {psn_scope: vc}\n"));
}

// Gateways have plane 0 alone, and planes 2 and 3 do not lead from one board to the other. The
// boards, which have no host, are on that of their gateways.
TEST(MeshPlan, HasThePlanesThatLeadToAPeer) {
  const std::vector<HostPlan> plans = PlanOf(ReadExample("tgg"));
  ASSERT_EQ(plans.size(), 2u);
  const std::string own =
      ", ports: [{port: plane0, forwarding_base: 0x8FFD8}, {port: plane1, forwarding_base: "
      "0x408FFD8}, {port: plane2, forwarding_base: 0x808FFD8}, {port: plane3, forwarding_base: "
      "0xC08FFD8}]}\n";
  EXPECT_TRUE(Section(plans[1].text, "instances")
                  .starts_with("  - {xpu: 4, lcore: 0, ports: [{port: plane0, "
                               "forwarding_address: 0x40000}]}\n"));
  EXPECT_TRUE(Section(plans[1].text, "instances").ends_with("  - {xpus: 40-71, lcore: 0" + own));
  EXPECT_TRUE(Section(plans[1].text, "peers")
                  .ends_with("  - {xpus: 8-39, ports: [{port: plane0, forwarding_base: 0x7FFF8}, "
                             "{port: plane1, forwarding_base: 0x407FFF8}]}\n  - {xpus: 40-71" +
                             own));
}

// Hosts of quanta.yaml have more ports than an endpoint may have.
TEST(MeshPlan, LoadsAsConfigurationsOfTheSystem) {
  for (const char* name : {"four-by-nine", "square", "square-hosts", "tg", "tgg"}) {
    for (const char* more : {"", "lossless: off\n"}) {
      const MeshSystem system = Read(ReadSource(StrCat("conf/mesh/", name, ".yaml")) + more);
      const std::vector<Tables> tables = system.GenerateTables();
      const Topology& topology = system.planes[0].topology;
      uint32_t instances = 0, devices = 0;
      for (const HostPlan& plan : PlanOf(system)) {
        const auto config = ParseConfig(plan.text, "plan", {});
        ASSERT_TRUE(config.ok()) << name << ": " << config.status();
        EXPECT_EQ(config->mesh.specification, SpecificationOf(system));
        for (const DeviceConfig& device : config->devices) {
          ++devices;
          ASSERT_EQ(device.tables.size(), tables.size());
          for (size_t plane = 0; plane < tables.size(); ++plane) {
            EXPECT_EQ(device.tables[plane].routes, tables[plane][topology.IndexOf(device.device)]);
          }
        }
        for (const CableConfig& cable : config->cables) {
          const Topology& of_plane = system.planes[cable.plane].topology;
          const auto& end = of_plane.Across(topology.IndexOf(cable.from.device), cable.from.port);
          ASSERT_TRUE(end) << NameOf(cable.from);
          EXPECT_EQ(topology.IndexOf(cable.to.device), end->device);
          EXPECT_EQ(cable.to.port, end->port);
        }
        for (const InstanceConfig& instance : config->instances) {
          ++instances;
          for (const InstancePort& at : instance.ports) {
            EXPECT_EQ(at.address.low, Encode({.device = topology.At(DeviceIndex(instance.xpu)),
                                              .plane = PlaneIndex(at.port)}));
          }
        }
        EXPECT_EQ(config->peers.size(), topology.device_count()) << name;
        for (const PeerConfig& peer : config->peers) {
          for (const PeerPort& at : peer.ports) {
            ASSERT_TRUE(at.address);
            EXPECT_EQ(at.address->low, Encode({.device = topology.At(DeviceIndex(peer.xpu)),
                                               .plane = PlaneIndex(at.port)}));
          }
        }
      }
      EXPECT_EQ(instances, topology.device_count()) << name;
      EXPECT_EQ(devices, topology.device_count()) << name;
    }
  }
}

// Each cable is in the specification, once inside a host or once at each of its two hosts.
TEST(MeshPlan, HasEachCableOnce) {
  const MeshSystem system = ReadExample("four-by-nine");
  size_t inner = 0, outer = 0;
  for (const HostPlan& plan : PlanOf(system)) {
    const std::string cables = Section(plan.text, "cables");
    for (const std::string_view line : Split(cables, '\n')) {
      if (line.empty()) continue;
      (line.find("port: ") == std::string_view::npos ? inner : outer) += 1;
    }
    const std::string ports = Section(plan.text, "ports");
    EXPECT_EQ(std::count(ports.begin(), ports.end(), '\n'), 3);
  }
  EXPECT_EQ(inner, 48u);
  EXPECT_EQ(outer, 8u);
}

TEST(MeshPlan, HasTheGivenTables) {
  const MeshSystem system = ReadExample("square");
  std::vector<Tables> tables = system.GenerateTables();
  tables[0][0].to_devices.Set(3, 1);
  const auto plans = PlanHosts(system, tables, {});
  ASSERT_TRUE(plans.ok()) << plans.status();
  EXPECT_TRUE(Has((*plans)[0].text, "- {devices: [D, 2, 1, 1], meshes: [D]}\n"));
  EXPECT_TRUE(Has((*plans)[0].text, "0xec960a63c1e6"));
}

TEST(MeshPlan, HasNoCreditOnLossyCables) {
  const std::vector<HostPlan> plans =
      PlanOf(Read(ReadSource("conf/mesh/square-hosts.yaml") + "lossless: off\n"));
  EXPECT_TRUE(Has(plans[0].text, ", cbfc: off}\nmesh: {specification: 0x"));
  EXPECT_FALSE(Has(plans[0].text, "cbfc: on"));
}

TEST(MeshPlan, NamesDevicesByAPattern) {
  const std::vector<HostPlan> plans =
      PlanOf(ReadExample("square-hosts"), {.device = "net_af_packet{number},iface={host}-{end}"});
  EXPECT_EQ(Section(plans[3].text, "ports"),
            "  - {name: plane0, device: mesh, plane: 0, encapsulation: afh2}\n"
            "  - {name: M0D3P3, device: \"net_af_packet0,iface=host3-M0D3P3\", encapsulation: "
            "afh2, cbfc: on}\n"
            "  - {name: M0D3P4, device: \"net_af_packet1,iface=host3-M0D3P4\", encapsulation: "
            "afh2, cbfc: on}\n");
}

TEST(MeshPlan, NamesFaults) {
  const MeshSystem system = ReadExample("square-hosts");
  EXPECT_EQ(RefusalOf(system, {.device = "a{end}{pci}"}),
            "cannot plan with --device: no {pci}; write {host}, {end} or {number} in braces");
  EXPECT_EQ(RefusalOf(system, {.device = "a{end"}),
            "cannot plan with --device: no {end; write {host}, {end} or {number} in braces");
  EXPECT_EQ(RefusalOf(system, {.sockets = "run"}),
            "cannot plan socket run/square-hosts-M0D0P1.sock: a path begins with / and has at "
            "most 107 characters; give another directory with --sockets");
  EXPECT_EQ(RefusalOf(system, {.lcores = 0}), "cannot plan for 0 lcores; give --lcores 1 or more");
  const std::string text = ReadSource("conf/mesh/square.yaml");
  EXPECT_EQ(RefusalOf(Read(std::regex_replace(text, std::regex("host0"), "\"host 0\""))),
            "cannot plan host \"host 0\": the name of a daemon has letters, digits, _, - and . "
            "alone; choose another one in hosts");
  std::string three = text;  // planes
  for (const auto& [one, ports] : {std::pair("\\[1\\]", "[1, 5, 6]"),
                                   {"\\[2\\]", "[2, 7, 8]"},
                                   {"\\[3\\]", "[3, 9, 10]"},
                                   {"\\[4\\]", "[4, 11, 12]"}}) {
    three = std::regex_replace(three, std::regex(one), ports);
  }
  EXPECT_EQ(RefusalOf(Read(three)),
            "cannot plan M0D0: it has cables of 3 planes, and an instance has 1, 2 or 4; change "
            "its chip or graph");
}

TEST(MeshSpecification, FollowsFromCablesAndTables) {
  const std::string text = ReadSource("conf/mesh/four-by-nine.yaml");
  const MeshSystem system = Read(text);
  const uint64_t hash = SpecificationOf(system);
  EXPECT_EQ(hash >> 48, 0u);
  const auto hash_of = [](const std::string& changed) {
    const MeshSystem other = Read(changed);
    return SpecificationOf(other);
  };
  // Comments, names and the order of cables do not matter.
  std::string same = std::regex_replace(text, std::regex("four-by-nine"), "other");
  same = std::regex_replace(same, std::regex("host3"), "host4");
  same = std::regex_replace(same, std::regex("(  - \\[\\{0, E1.*\n)([^]*)"), "$2$1# A comment\n");
  ASSERT_NE(same, text);
  EXPECT_EQ(hash_of(same), hash);
  EXPECT_NE(hash_of(std::regex_replace(text, std::regex("0, E1"), "0, E2")), hash);
  EXPECT_NE(hash_of(text + "lossless: off\n"), hash);
  EXPECT_NE(hash_of(text + "exits: disjoint\ntransit:\n  - {from: 0, to: 3, by: 2}\n"), hash);
}

}  // namespace
}  // namespace suede::mesh
