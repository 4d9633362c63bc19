// SPDX-License-Identifier: Apache-2.0
#include "mesh/routes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "mesh_fixture.h"

namespace suede::mesh {
namespace {

using End = Walk::End;

// The entries of L0 by destination; D: the device itself.
std::string LevelZero(const RoutingTable& table, uint32_t devices) {
  std::string row;
  for (uint32_t to = 0; to < devices; ++to) {
    const NextHop next = table.Lookup({.mesh = table.own.mesh, .device = DeviceId(to)});
    row += next.kind == NextHop::Kind::kOwn    ? 'D'
           : next.kind == NextHop::Kind::kPort ? static_cast<char>('0' + next.port)
                                               : '-';
  }
  return row;
}

// The entries of L1 toward one mesh, by device.
std::string LevelOne(const System& system, const Tables& tables, MeshId from, MeshId to) {
  std::string row;
  for (uint32_t device = 0; device < system.topology.DevicesOf(from); ++device) {
    const auto& table = tables[system.topology.IndexOf({from, DeviceId(device)})];
    const auto port = table.to_meshes[to];
    row += port ? static_cast<char>('0' + *port) : '-';
  }
  return row;
}

// The number of cables between each two devices, by breadth-first search.
std::vector<uint32_t> HopsFrom(const Topology& topology, DeviceIndex from) {
  std::vector<uint32_t> hops(topology.device_count(), UINT32_MAX);
  std::vector<uint32_t> queue = {from};
  hops[from] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (uint32_t port = 0; port < kMaxPorts; ++port) {
      const auto& end = topology.Across(DeviceIndex(queue[i]), PortId(port));
      if (!end || hops[end->device] != UINT32_MAX) continue;
      hops[end->device] = hops[queue[i]] + 1;
      queue.push_back(end->device);
    }
  }
  return hops;
}

void ExpectMinimalRoutes(const System& system) {
  const Tables tables = system.Generate();
  for (uint32_t from = 0; from < system.topology.device_count(); ++from) {
    const std::vector<uint32_t> hops = HopsFrom(system.topology, DeviceIndex(from));
    for (uint32_t to = 0; to < system.topology.device_count(); ++to) {
      const Walk walk = Follow(system.topology, tables, DeviceIndex(from), DeviceIndex(to), 64);
      ASSERT_EQ(walk.end, End::kArrived) << from << " " << to;
      ASSERT_EQ(walk.hops.size() - 1, hops[to]) << from << " " << to;
    }
  }
}

// Rows by source, columns by destination: X first, then Y.
TEST(Routes, OfThreeByThreeDevices) {
  const char* const rows[] = {"D22122122", "4D2412412", "44D441441", "322D22122", "4324D2412",
                              "44344D441", "322322D22", "4324324D2", "44344344D"};
  const System system = FourMeshes();
  const Tables tables = system.Generate();
  for (uint32_t mesh = 0; mesh < 4; ++mesh) {
    for (uint32_t device = 0; device < 9; ++device) {
      EXPECT_EQ(LevelZero(tables[9 * mesh + device], 9), rows[device]);
    }
  }
}

// Each row of the document's example: sender's port, receiver's port.
TEST(Routes, FromDeviceZeroToEight) {
  const System system = OneMesh(Flat(3, 3));
  const Walk walk = Follow(system.topology, system.Generate(), 0, 8, 64);
  std::string text;
  for (const Hop& hop : walk.hops) {
    text += std::to_string(hop.device);
    if (hop.port) {
      text += "-P" + std::to_string(*hop.port) + " P" +
              std::to_string(system.topology.Across(hop.device, *hop.port)->port) + "-";
    }
  }
  EXPECT_EQ(text, "0-P2 P4-1-P2 P4-2-P1 P3-5-P1 P3-8");
}

// M0D5P2 and M1D3P4 are the ends of the cable between M0 and M1.
TEST(Routes, BetweenMeshesGoToTheExit) {
  const System system = FourMeshes();
  const Tables tables = system.Generate();
  EXPECT_EQ(LevelOne(system, tables, 0, 1), "221222223");
  EXPECT_EQ(LevelOne(system, tables, 1, 0), "144444344");
}

TEST(Routes, CrossTransitMeshes) {
  const System system = FourMeshes();
  const auto by_way_of = [&](const Tables& tables) {
    std::set<uint32_t> transit;
    for (uint32_t from = 0; from < 9; ++from) {
      for (uint32_t to = 27; to < 36; ++to) {
        const Walk walk = Follow(system.topology, tables, DeviceIndex(from), DeviceIndex(to), 64);
        EXPECT_EQ(walk.end, End::kArrived);
        EXPECT_EQ(walk.hops.back().level, 2u);
        for (const Hop& hop : walk.hops) transit.insert(system.topology.At(hop.device).mesh);
      }
    }
    return transit;
  };
  EXPECT_EQ(by_way_of(system.Generate()), (std::set<uint32_t>{0, 1, 3}));
  MeshRoutes routes(system.topology);
  routes.SetNext(0, 3, 2);
  EXPECT_EQ(by_way_of(GenerateTables(system.topology, system.grids, routes, Exits::kNearest, 0)),
            (std::set<uint32_t>{0, 2, 3}));
}

TEST(Routes, ReachEveryDeviceOfFourMeshes) {
  const System system = FourMeshes({0, 2, 1, 0});
  const Tables tables = system.Generate();
  for (uint32_t from = 0; from < 36; ++from) {
    for (uint32_t to = 0; to < 36; ++to) {
      EXPECT_EQ(Follow(system.topology, tables, DeviceIndex(from), DeviceIndex(to), 64).end,
                End::kArrived);
    }
  }
}

TEST(Routes, EndWithoutARoute) {
  System system;
  system.Add(Flat(2, 1));
  system.Add(Flat(1, 1));
  const Tables tables = system.Generate();
  EXPECT_EQ(Follow(system.topology, tables, 0, 2, 64).end, End::kNoRoute);
  Tables wrong = tables;
  wrong[0].to_meshes.Set(1, 9);
  EXPECT_EQ(Follow(system.topology, wrong, 0, 2, 64).end, End::kNoCable);
}

TEST(Routes, UseTheNearestExit) {
  System system;
  system.Add(Flat(5, 1));
  system.Add(Flat(5, 1));
  system.Connect({{0, 0}, 1}, {{1, 0}, 3});
  system.Connect({{0, 4}, 1}, {{1, 4}, 3});
  const Tables tables = system.Generate();
  EXPECT_EQ(LevelOne(system, tables, 0, 1), "14421");  // device 2: both are equally far
  EXPECT_EQ(LevelOne(system, tables, 1, 0), "34423");
}

TEST(Routes, OfTwoDirectionsHaveDisjointExits) {
  System system;
  system.Add(Flat(5, 1));
  system.Add(Flat(5, 1));
  system.Add(Flat(1, 1));
  system.Connect({{1, 4}, 3}, {{0, 4}, 1});
  system.Connect({{0, 0}, 1}, {{1, 0}, 3});
  system.Connect({{1, 2}, 1}, {{2, 0}, 3});
  const Tables tables = system.Generate(Exits::kDisjoint);
  EXPECT_EQ(LevelOne(system, tables, 0, 1), "14444");
  EXPECT_EQ(LevelOne(system, tables, 1, 0), "22223");
  // One cable serves both directions.
  EXPECT_EQ(LevelOne(system, tables, 1, 2), "22144");
  EXPECT_EQ(LevelOne(system, tables, 2, 1), "3");
  EXPECT_EQ(LevelOne(system, tables, 2, 0), "3");
}

// Grids and tori of one to three dimensions.
TEST(Routes, OfRandomGridsHaveTheMinimumOfHops) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Grid grid;
    for (Dimension& dimension : grid.dimensions) {
      dimension.size = static_cast<uint32_t>(1 + random() % 5);
      dimension.wraps = random() % 2 == 0;
    }
    ExpectMinimalRoutes(OneMesh(grid));
  }
}

TEST(Routes, LeadThroughALargeGrid) {
  const System system = OneMesh(Flat(32, 32));
  const Walk walk = Follow(system.topology, system.Generate(), 0, 1023, 64);
  EXPECT_EQ(walk.end, End::kArrived);
  EXPECT_EQ(walk.hops.size() - 1, 62u);
}

// A loop in wrong tables: 1, 5, 6, 7, 11, 10, 9, 5 and so on, in a grid whose devices count from 1.
TEST(Routes, LoopsEndByTheHopCount) {
  const System system = OneMesh(Flat(4, 4));
  Tables tables = system.Generate();
  const uint32_t loop[][2] = {{1, 1}, {5, 2}, {6, 2}, {7, 1}, {11, 4}, {10, 4}, {9, 3}};
  for (const auto& [device, port] : loop) tables[device - 1].to_devices.Set(15, PortId(port));
  const Walk walk = Follow(system.topology, tables, 0, 15, 10);
  EXPECT_EQ(walk.end, End::kHopLimit);
  std::string text;
  for (const Hop& hop : walk.hops) {
    text += std::to_string(hop.device + 1) + ":" + std::to_string(hop.hop_count) + " ";
  }
  EXPECT_EQ(text, "1:10 5:9 6:8 7:7 11:6 10:5 9:4 5:3 6:2 7:1 11:0 ");
}

// Arrival takes no hop: a frame reaches a destination as far as its hop count.
TEST(Routes, ArrivalTakesNoHop) {
  const System system = OneMesh(Flat(4, 1));
  const Tables tables = system.Generate();
  EXPECT_EQ(Follow(system.topology, tables, 0, 3, 3).end, End::kArrived);
  EXPECT_EQ(Follow(system.topology, tables, 0, 3, 2).end, End::kHopLimit);
  EXPECT_EQ(Follow(system.topology, tables, 0, 3, 3).hops.back().hop_count, 1u);
}

}  // namespace
}  // namespace suede::mesh
