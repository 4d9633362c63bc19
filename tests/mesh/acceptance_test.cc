// SPDX-License-Identifier: Apache-2.0
#include "mesh/acceptance.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>

#include "mesh_fixture.h"

namespace suede::mesh {
namespace {

using Cables = Dependencies::Cables;
using Decision = ActiveTables::Decision;

std::vector<Channel> CycleOf(const Topology& topology, const Tables& tables,
                             uint32_t levels = kLevels) {
  const Tables* const set = &tables;
  return Dependencies(topology, {&set, 1}, levels).FindCycle(Cables::kLossless);
}

// The two by two devices of the document: 1 -> 4 and 4 -> 1 go X first, 2 -> 3 and 3 -> 2 Y first.
Tables BadSquare(const System& square) {
  Tables tables = square.Generate();
  tables[1].to_devices.Set(2, 1);
  tables[2].to_devices.Set(1, 3);
  return tables;
}

constexpr std::string_view kBadCycle = "M0D0P2 -> M0D1P1 -> M0D3P4 -> M0D2P3 -> M0D0P2";

TEST(Acceptance, RefusesTheSquareOfFourTurns) {
  const System square = OneMesh(Flat(2, 2));
  EXPECT_EQ(CycleText(CycleOf(square.topology, square.Generate())), "");
  EXPECT_EQ(CycleText(CycleOf(square.topology, BadSquare(square))), kBadCycle);
}

TEST(Acceptance, AcceptsDimensionOrder) {
  Grid cube = Flat(4, 5);
  cube.dimensions[2].size = 3;
  for (const Grid& grid : {Flat(8, 4), cube}) {
    const System system = OneMesh(grid);
    EXPECT_EQ(CycleText(CycleOf(system.topology, system.Generate())), "");
  }
}

// In a ring of three, each device is next to all others; in one of four, frames that go two hops
// forward wait for each other.
TEST(Acceptance, RefusesRingsOfMoreThanThree) {
  Grid ring = Flat(3, 1);
  ring.dimensions[0].wraps = true;
  const System three = OneMesh(ring);
  EXPECT_EQ(CycleText(CycleOf(three.topology, three.Generate())), "");
  ring.dimensions[0].size = 4;
  const System four = OneMesh(ring);
  EXPECT_EQ(CycleText(CycleOf(four.topology, four.Generate())),
            "M0D0P2 -> M0D1P2 -> M0D2P2 -> M0D3P2 -> M0D0P2");
}

TEST(Acceptance, RefusesRoutingLoops) {
  const System line = OneMesh(Flat(3, 1));
  Tables tables = line.Generate();
  tables[1].to_devices.Set(2, 4);
  EXPECT_EQ(CycleText(CycleOf(line.topology, tables)), "M0D0P2 -> M0D1P4 -> M0D0P2");
}

// Four meshes of nine devices, the cable M0D5P2-M1D3P4 and each row or column of the other three;
// M0 and M3, and M1 and M2, reach each other by either of two transit meshes in each direction.
// Dimension order inside the meshes is not enough.
TEST(Acceptance, OfFourMeshesNeedsLevels) {
  struct Diagonal {
    MeshId from, to;
    std::array<MeshId, 2> transit;
  };
  constexpr Diagonal kDiagonals[] = {
      {0, 3, {1, 2}}, {3, 0, {1, 2}}, {1, 2, {0, 3}}, {2, 1, {0, 3}}};
  uint32_t layouts = 0;
  std::array<uint32_t, kLevels + 1> refused{};  // by number of levels
  for (uint32_t at = 0; at < 27; ++at) {
    const System system = FourMeshes({1, at % 3, at / 3 % 3, at / 9});
    for (uint32_t choice = 0; choice < 16; ++choice) {
      MeshRoutes routes(system.topology);
      for (uint32_t i = 0; i < 4; ++i) {
        const auto& [from, to, transit] = kDiagonals[i];
        routes.SetNext(from, to, transit[choice >> i & 1]);
      }
      const Tables tables =
          GenerateTables(system.topology, system.grids, routes, Exits::kNearest, 0);
      ++layouts;
      for (const uint32_t levels : {1u, 2u, 3u, kLevels}) {
        if (!CycleOf(system.topology, tables, levels).empty()) ++refused[levels];
      }
    }
  }
  EXPECT_EQ(layouts, 432u);
  EXPECT_EQ(refused[1], 407u);
  EXPECT_EQ(refused[2], 44u);
  EXPECT_EQ(refused[3], 0u);
  EXPECT_EQ(refused[kLevels], 0u);
}

TEST(Acceptance, NamesTheLevelsOfACycle) {
  const Channel channels[] = {{.at = {{0, 5}, 2}}, {.at = {{1, 3}, 4}, .level = 1}};
  EXPECT_EQ(CycleText(channels), "M0D5P2 -> M1D3P4/1 -> M0D5P2");
}

// Random tables, most of them wrong, against circles that are found from walks alone.
TEST(Acceptance, AgreesWithWalks) {
  uint32_t with_circle = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    System system;
    system.Add(Flat(2, 2));
    system.Add(Flat(2, 1));
    system.Connect({{0, 1}, 2}, {{1, 0}, 4});
    system.Connect({{0, 3}, 2}, {{1, 1}, 1});
    Tables tables = system.Generate();
    for (uint32_t change = random() % 8; change > 0; --change) {
      const DeviceIndex device(static_cast<uint32_t>(random() % 6));
      const PortId port(static_cast<uint32_t>(1 + random() % 4));
      if (random() % 2 == 0) {
        tables[device].to_devices.Set(random() % 4, port);
      } else {
        tables[device].to_meshes.Set(random() % 2, port);
      }
    }
    // Pairs of channels that follow each other, by name.
    std::set<std::pair<std::string, std::string>> waits;
    for (uint32_t from = 0; from < 6; ++from) {
      for (uint32_t to = 0; to < 6; ++to) {
        const Walk walk = Follow(system.topology, tables, DeviceIndex(from), DeviceIndex(to), 200);
        std::string before;
        for (const Hop& hop : walk.hops) {
          if (!hop.port) break;
          const Channel channel{.at = {.device = system.topology.At(hop.device), .port = *hop.port},
                                .level = hop.level};
          const std::string name = NameOf(channel);
          if (!before.empty()) waits.emplace(before, name);
          before = name;
        }
      }
    }
    const std::vector<Channel> cycle = CycleOf(system.topology, tables);
    for (size_t i = 0; i < cycle.size(); ++i) {
      const Channel& next = cycle[(i + 1) % cycle.size()];
      EXPECT_TRUE(waits.contains({NameOf(cycle[i]), NameOf(next)})) << CycleText(cycle);
    }
    // Without a circle, channels that wait for nothing can be removed until none is left.
    for (size_t before = 0; before != waits.size();) {
      before = waits.size();
      std::set<std::string> waiting;
      for (const auto& [first, second] : waits) waiting.insert(first);
      std::erase_if(waits, [&](const auto& pair) { return !waiting.contains(pair.second); });
    }
    EXPECT_EQ(cycle.empty(), waits.empty());
    if (!cycle.empty()) ++with_circle;
  }
  EXPECT_GT(with_circle, 30u);
  EXPECT_LT(with_circle, 270u);
}

// ---- The change of tables.

TEST(ActiveTables, SwapsAtOnceWhereOldAndNewAgree) {
  const System square = OneMesh(Flat(2, 2));
  ActiveTables active(square.topology);
  EXPECT_EQ(active.epoch(), 0u);
  EXPECT_EQ(active.tables()[0].Lookup(Device{0, 1}).kind, NextHop::Kind::kNone);
  const auto verdict = active.Offer(square.Generate());
  EXPECT_EQ(verdict.decision, Decision::kSwapped);
  EXPECT_TRUE(verdict.cycle.empty());
  EXPECT_EQ(active.epoch(), 1u);
  for (const RoutingTable& table : active.tables()) EXPECT_EQ(table.epoch, 1u);
  EXPECT_EQ(active.tables()[0].Lookup(Device{0, 1}).port, 2u);
}

TEST(ActiveTables, KeepsTheOldTablesIfTheNewOnesDeadlock) {
  const System square = OneMesh(Flat(2, 2));
  ActiveTables active(square.topology);
  active.Offer(square.Generate());
  const auto verdict = active.Offer(BadSquare(square));
  EXPECT_EQ(verdict.decision, Decision::kRefused);
  EXPECT_EQ(CycleText(verdict.cycle), kBadCycle);
  EXPECT_EQ(active.epoch(), 1u);
  EXPECT_FALSE(active.draining());
}

// X first and Y first are both free of cycles, and have one together.
TEST(ActiveTables, DrainsBetweenTablesThatDeadlockTogether) {
  const System square = OneMesh(Flat(2, 2));
  Tables y_first = square.Generate();
  for (uint32_t device = 0; device < 4; ++device) {
    y_first[device].to_devices.Set(3 - device, PortId(device < 2 ? 1u : 3u));
  }
  ActiveTables active(square.topology);
  active.Offer(square.Generate());
  const auto verdict = active.Offer(y_first);
  EXPECT_EQ(verdict.decision, Decision::kDraining);
  EXPECT_FALSE(verdict.cycle.empty());
  EXPECT_TRUE(active.draining());
  EXPECT_EQ(active.epoch(), 1u);
  EXPECT_EQ(active.tables()[0].Lookup(Device{0, 3}).port, 2u);
  active.OnDrained();
  EXPECT_FALSE(active.draining());
  EXPECT_EQ(active.epoch(), 2u);
  EXPECT_EQ(active.tables()[0].Lookup(Device{0, 3}).port, 1u);
  active.OnDrained();  // nothing waits
  EXPECT_EQ(active.epoch(), 2u);
}

TEST(ActiveTables, AnOfferReplacesOneThatWaits) {
  const System square = OneMesh(Flat(2, 2));
  Tables y_first = square.Generate();
  for (uint32_t device = 0; device < 4; ++device) {
    y_first[device].to_devices.Set(3 - device, PortId(device < 2 ? 1u : 3u));
  }
  ActiveTables active(square.topology);
  active.Offer(square.Generate());
  EXPECT_EQ(active.Offer(y_first).decision, Decision::kDraining);
  EXPECT_EQ(active.Offer(square.Generate()).decision, Decision::kSwapped);
  EXPECT_FALSE(active.draining());
  EXPECT_EQ(active.epoch(), 2u);
}

// A frame that changes tables on its way: neither set alone leads it in a circle.
TEST(ActiveTables, FollowsFramesThatChangeTables) {
  const System ring = [] {
    Grid grid = Flat(4, 1);
    grid.dimensions[0].wraps = true;
    return OneMesh(grid);
  }();
  Tables forward(4), backward(4);
  for (uint32_t device = 0; device < 4; ++device) {
    forward[device].own = backward[device].own = {.mesh = 0, .device = DeviceId(device)};
  }
  forward[0].to_devices.Set(2, 2);
  forward[1].to_devices.Set(2, 2);
  backward[1].to_devices.Set(2, 4);
  backward[0].to_devices.Set(2, 4);
  backward[3].to_devices.Set(2, 4);
  ActiveTables active(ring.topology);
  EXPECT_EQ(active.Offer(forward).decision, Decision::kSwapped);
  const auto verdict = active.Offer(backward);
  EXPECT_EQ(verdict.decision, Decision::kDraining);
  EXPECT_EQ(CycleText(verdict.cycle), "M0D0P2 -> M0D1P4 -> M0D0P2");
}

// A lossy cable drops instead of waiting, so a cycle over it is no deadlock.
TEST(ActiveTables, WarnsOfCyclesOverLossyCables) {
  const System square = OneMesh(Flat(2, 2));
  Topology lossy;
  ASSERT_TRUE(lossy.AddMesh(4).ok());
  for (Cable cable : square.topology.cables()) {
    cable.lossless = !lossy.cables().empty();  // all but the first
    ASSERT_TRUE(lossy.Connect(cable).ok());
  }
  ActiveTables active(lossy);
  const auto verdict = active.Offer(BadSquare(square));
  EXPECT_EQ(verdict.decision, Decision::kSwapped);
  EXPECT_EQ(CycleText(verdict.cycle), kBadCycle);
}

TEST(Acceptance, OfALargeGridIsQuick) {
  const System system = OneMesh(Flat(32, 32));
  EXPECT_EQ(CycleText(CycleOf(system.topology, system.Generate())), "");
}

}  // namespace
}  // namespace suede::mesh
