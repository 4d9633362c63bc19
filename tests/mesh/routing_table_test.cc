// SPDX-License-Identifier: Apache-2.0
#include "mesh/routing_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace suede::mesh {
namespace {

using Kind = NextHop::Kind;

TEST(RoutingTable, HasTwoLevelsOf512Octets) {
  const RoutingTable table;
  EXPECT_EQ(table.to_devices.ports().size() + table.to_meshes.ports().size(), 1024u);
}

// Entries share octets: against a map.
TEST(RoutingTable, EntriesAreIndependent) {
  std::mt19937 random(1);
  PortTable table;
  std::map<uint32_t, uint32_t> model;
  for (int i = 0; i < 2000; ++i) {
    const uint32_t entry = random() % PortTable::kEntries, port = random() % kMaxPorts;
    table.Set(entry, PortId(port));
    model[entry] = port;
  }
  for (uint32_t entry = 0; entry < PortTable::kEntries; ++entry) {
    const auto port = table[entry];
    ASSERT_EQ(port.has_value(), model.contains(entry)) << entry;
    if (port) {
      EXPECT_EQ(*port, model[entry]) << entry;
    }
  }
}

TEST(RoutingTable, LooksUpTheDeviceInItsMeshElseTheMesh) {
  RoutingTable table{.own = {.mesh = 2, .device = 4}, .plane = 1};
  table.to_devices.Set(7, 0);
  table.to_devices.Set(4, 9);  // the own device: not looked up
  table.to_meshes.Set(7, 15);
  table.to_meshes.Set(2, 9);  // the own mesh: not looked up
  const auto look_up = [&](const Address& address) { return table.Lookup(*Encode(address)); };
  EXPECT_EQ(look_up({.device = {.mesh = 2, .device = 4}, .instance = 63, .plane = 1}),
            NextHop{.kind = Kind::kOwn});
  EXPECT_EQ(look_up({.device = {.mesh = 2, .device = 7}, .plane = 1}),
            (NextHop{.kind = Kind::kPort, .port = 0}));
  EXPECT_EQ(look_up({.device = {.mesh = 7, .device = 4}, .plane = 1}),
            (NextHop{.kind = Kind::kPort, .port = 15}));
  EXPECT_EQ(look_up({.device = {.mesh = 2, .device = 8}, .plane = 1}), NextHop());
  EXPECT_EQ(look_up({.device = {.mesh = 8, .device = 7}, .plane = 1}), NextHop());
}

TEST(RoutingTable, HasNoRouteForAnotherPlaneOrReservedBits) {
  RoutingTable table{.own = {.mesh = 0, .device = 0}, .plane = 1};
  table.to_devices.Set(1, 3);
  const uint32_t address = *Encode({.device = {.device = 1}, .plane = 1});
  EXPECT_EQ(table.Lookup(address).kind, Kind::kPort);
  EXPECT_EQ(table.Lookup(*Encode({.device = {.device = 1}, .plane = 2})).kind, Kind::kNone);
  EXPECT_EQ(table.Lookup(*Encode({.device = {.device = 0}, .plane = 0})).kind, Kind::kNone);
  EXPECT_EQ(table.Lookup(address | 1u << 28).kind, Kind::kNone);
}

}  // namespace
}  // namespace suede::mesh
