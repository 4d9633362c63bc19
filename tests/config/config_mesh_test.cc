// SPDX-License-Identifier: Apache-2.0
// Devices of a mesh, their cables, and the ports and instances on them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "config/config.h"
#include "config/config_change.h"
#include "configs.h"

namespace suede {
namespace {

// Two devices of mesh 0 on two lcores, a cable between them, and one to mesh 1.
constexpr char kBoard[] =
    "version: 1\n"                                                                          // 1
    "name: board\n"                                                                         // 2
    "lcores: [{cpu: 0}, {cpu: 1}]\n"                                                        // 3
    "ports:\n"                                                                              // 4
    "  - {name: plane0, device: mesh, plane: 0, encapsulation: afh2}\n"                     // 5
    "  - {name: plane1, device: mesh, plane: 1, encapsulation: afh2}\n"                     // 6
    "  - {name: east, device: net_null0, encapsulation: afh2, cbfc: on}\n"                  // 7
    "  - {name: other, device: net_null1}\n"                                                // 8
    "instances:\n"                                                                          // 9
    "  - {xpu: 0, ports: [{port: plane0}, {port: plane1}]}\n"                               // 10
    "  - {xpu: 1, lcore: 1, ports: [{port: plane0}, {port: plane1}]}\n"                     // 11
    "peers:\n"                                                                              // 12
    "  - {xpu: 1, ports: [{port: plane0}, {port: plane1}]}\n"                               // 13
    "  - {xpu: 2, ports: [{port: plane0, forwarding_address: 0x10000}]}\n"                  // 14
    "devices:\n"                                                                            // 15
    "  - device: M0D0\n"                                                                    // 16
    "    tables: [{devices: [D, 2], meshes: [D, 2]}, {devices: [D, 6], meshes: [D, .]}]\n"  // 17
    "  - device: M0D1\n"                                                                    // 18
    "    lcore: 1\n"                                                                        // 19
    "    tables: [{devices: [4, D], meshes: [D, 1]}, {devices: [8, D], meshes: [D, .]}]\n"  // 20
    "cables:\n"                                                                             // 21
    "  - {from: M0D0P2, to: M0D1P4}\n"                                                      // 22
    "  - {from: M0D0P6, to: M0D1P8, plane: 1}\n"                                            // 23
    "  - {from: M0D1P1, to: M1D0P3, port: east}\n"                                          // 24
    "mesh: {specification: 0xABC, cbfc: on, levels: 2}\n";                                  // 25

TEST(MeshConfigTest, IsReadAndDumped) {
  const Config config = MustParse(kBoard);
  ASSERT_EQ(config.devices.size(), 2u);
  EXPECT_EQ(NameOf(config.devices[1].device), "M0D1");
  EXPECT_EQ(config.devices[1].lcore, 1u);
  const mesh::RoutingTable& table = config.devices[1].tables[0].routes;
  EXPECT_EQ(table.Lookup(0x10000).port, 1u);
  EXPECT_EQ(table.Lookup(0x00000).port, 4u);
  EXPECT_EQ(table.Lookup(0x00001).kind, mesh::NextHop::Kind::kOwn);
  EXPECT_EQ(config.devices[1].tables[1].routes.Lookup(0x4010000).kind, mesh::NextHop::Kind::kNone);
  ASSERT_EQ(config.cables.size(), 3u);
  EXPECT_EQ(config.cables[1].plane, 1u);
  EXPECT_EQ(config.cables[2].port, 2u);
  EXPECT_EQ(NameOf(config.cables[2].to), "M1D0P3");
  EXPECT_EQ(config.mesh.specification, 0xabcu);
  EXPECT_EQ(config.mesh.levels, 2u);
  EXPECT_EQ(MustParse(DumpConfig(config)), config);
}

TEST(MeshConfigTest, AddressesHaveThePlaneByDefault) {
  const Config config = MustParse(kBoard);
  EXPECT_EQ(config.instances[1].ports[0].address, (NetAddress{0, 1}));
  EXPECT_EQ(config.instances[1].ports[1].address, (NetAddress{0, 1u << 26 | 1}));
  const PeerConfig& peer = config.peers[0];
  EXPECT_EQ(PeerAddress(config, peer, peer.ports[1], 3), (NetAddress{0, 1u << 26 | 3 << 10 | 1}));
  EXPECT_EQ(MeshPlanesOf(config), 2u);
}

TEST(MeshConfigTest, DevicesForwardVcsIndependently) {
  EXPECT_EQ(MustParse(kBoard).transport.psn_scope, PsnScope::kVc);
}

TEST(MeshConfigTest, TablesChangeAtOnceAndDevicesDoNot) {
  const Config running = MustParse(kBoard);
  const Config tables =
      MustParse(absl::StrReplaceAll(kBoard, {{"devices: [D, 2]", "devices: [D, .]"}}));
  const ConfigPlan plan = PlanChange(running, running, tables, kMachineOf8Cpus);
  EXPECT_EQ(plan.config.devices, tables.devices);
  ASSERT_EQ(plan.changes.size(), 1u);
  EXPECT_EQ(plan.changes[0].path, "devices[0]");
  EXPECT_TRUE(plan.changes[0].at_once);
  const Config devices = MustParse(absl::StrReplaceAll(
      kBoard, {{"mesh: {spec", "  - {from: M0D0P5, to: M0D1P5}\nmesh: {spec"}}));
  const ConfigPlan later = PlanChange(running, running, devices, kMachineOf8Cpus);
  EXPECT_EQ(later.config, running);
  ASSERT_EQ(later.changes.size(), 1u);
  EXPECT_FALSE(later.changes[0].at_once);
}

// Replaces a text of kBoard, and expects an error.
struct Fault {
  std::string from;
  std::string to;
  std::string error;
};
class MeshFaultTest : public testing::TestWithParam<Fault> {};
TEST_P(MeshFaultTest, IsRefusedWithPlaceAndMend) {
  const Fault& fault = GetParam();
  const std::string text = absl::StrReplaceAll(kBoard, {{fault.from, fault.to}});
  ASSERT_NE(text, kBoard);
  const absl::StatusOr<Config> config = ParseConfig(text, "a.yaml", kMachineOf8Cpus);
  ASSERT_FALSE(config.ok());
  EXPECT_TRUE(absl::StrContains(config.status().message(), fault.error))
      << config.status().message();
}

const Fault kFaults[] = {
    {"plane: 1, encapsulation: afh2", "plane: 1, encapsulation: afh1",
     "a.yaml:6:59: ports[1].encapsulation: afh1 frames cannot pass several devices: their "
     "addresses have no room for mesh and plane, or they have no hop count; use afh2"},
    {"net_null0, encapsulation: afh2", "net_null0, encapsulation: afh2c",
     "ports[2].encapsulation: afh2c frames cannot pass several devices"},
    {"device: mesh, plane: 1", "device: mesh",
     "ports[1].plane: missing; a port with device: mesh leads to one plane"},
    {"device: mesh, plane: 1", "device: mesh, plane: 2",
     "ports[1].plane: there are 2 ports with device: mesh; number their planes from 0 on"},
    {"device: mesh, plane: 1", "device: mesh, plane: 0",
     "ports[1].plane: 0 is the plane of ports[0] already; choose another"},
    {"device: net_null1", "device: net_null1, plane: 0",
     "ports[3].plane: goes with device: mesh; remove it"},
    {"plane: 1, encapsulation: afh2", "plane: 1, encapsulation: afh2, llr: on",
     "ports[1].llr: there is no cable; set mesh.cbfc, or keys of the ports of cables"},
    {"plane: 1, encapsulation: afh2", "plane: 1, encapsulation: afh2, lldp: on",
     "ports[1].lldp: not possible for a port into the mesh; remove it: HELLO of the link names "
     "the neighbour"},
    {"net_null0, encapsulation: afh2", "net_null0, encapsulation: afh2, lldp: on",
     "ports[2].lldp: not possible for the port of a cable; remove it: HELLO of the link names the "
     "neighbour"},
    {"net_null0, encapsulation: afh2", "net_null0, encapsulation: afh2, pfc: software",
     "ports[2].pfc: not possible for the port of a cable; cables that lose no frame have cbfc: on"},
    {"cables:\n",
     "  - {device: M0D0, tables: [{devices: [D], meshes: [D]}, {devices: [D], meshes: "
     "[D]}]}\ncables:\n",
     "devices[2].device: M0D0 is an entry already"},
    {"device: M0D1\n", "device: X\n",
     "devices[1].device: \"X\" is no device; write one as in M0D4"},
    {"{devices: [D, 6], meshes: [D, .]}", "", "devices[0].tables: 1 tables; write 2"},
    {"devices: [D, 2]", "devices: [D, D]",
     "devices[0].tables[0].devices[1]: \"D\"; write D in entry 0 alone"},
    {"devices: [D, 2]", "devices: [D, 16]",
     "devices[0].tables[0].devices[1]: \"16\" is no port; write 0 to 15, or . for no route"},
    {"devices: [D, 2]", "devices: [D, 3]",
     "devices[0].tables[0].devices[1]: M0D0P3 has no cable on plane 0; add it to cables, or "
     "write . for no route"},
    {"devices: [4, D]", "devices: [D]", "devices[1].tables[0].devices: 1 entries; the own one"},
    {"    lcore: 1\n", "", "instances[1].lcore: M0D1 runs on the lcore of CPU 0"},
    {"to: M0D1P4", "to: M0D2P4", "cables[0].to: M0D2 is not one of devices"},
    {"from: M0D1P1", "from: M1D1P1", "cables[2].from: M1D1 is not one of devices"},
    {"to: M0D1P8", "to: M0D1P4", "cables[1].to: M0D1P4 has the cable cables[0] already"},
    {"to: M0D1P4", "to: M0D1", "cables[0].to: \"M0D1\" is no port of a device"},
    {"port: east}", "port: plane0}", "cables[2].port: plane0 has no device"},
    {"port: east}", "port: other}",
     "ports[3].encapsulation: udp4 frames cannot pass several devices"},
    {"to: M1D0P3, port: east", "to: M1D0P3, port: north", "no port is called \"north\""},
    {"levels: 2", "levels: 2}\ncbfc: {credits: [0, 0, 0, 0, 0, 0, 0, 0]",
     "cbfc.credits: devices grant credit by mesh.credit_frames; remove cbfc.credits"},
    {"levels: 2", "levels: 2}\nclasses: {ack: {dscp: 46}",
     "classes.ack.dscp: 46 has bits that devices of a mesh use for the level of a frame"},
    {"levels: 2", "levels: 2}\ntransport: {psn_scope: port",
     "transport.psn_scope: devices forward the VCs independently of each other; set it to vc"},
    {"{xpu: 0, ports: [{port: plane0}", "{xpu: 0, ports: [{port: plane0, forwarding_address: 5}",
     "instances[0].ports[0]: 0x0005 is an address of M0D5, which is not one of devices"},
    {"{xpu: 0, ports: [{port: plane0}",
     "{xpu: 0, ports: [{port: plane0, forwarding_address: 0x4000000}",
     "0x4000000 is no address of plane 0; the plane is in bits 27:26"},
    {"{xpu: 0, ports: [{port: plane0}", "{xpu: 0, ports: [{port: east}",
     "instances[0].ports[0].port: east is the port of a cable between devices"},
    {"plane: 0, encapsulation: afh2", "plane: 0, encapsulation: afh2, mtu_bytes: 4000",
     "ports[2].mtu_bytes: 2060 is less than that of plane0"},
};
INSTANTIATE_TEST_SUITE_P(Faults, MeshFaultTest, testing::ValuesIn(kFaults));

TEST(MeshConfigTest, PortsIntoTheMeshAndDevicesGoTogether) {
  const std::string text(kBoard);
  const std::string lists = text.substr(0, text.find("devices:\n"));
  const absl::StatusOr<Config> without = ParseConfig(lists, "a.yaml", kMachineOf8Cpus);
  ASSERT_FALSE(without.ok());
  EXPECT_TRUE(absl::StrContains(without.status().message(),
                                "devices: there is a port with device: mesh, and no device"))
      << without.status().message();
}

}  // namespace
}  // namespace suede
