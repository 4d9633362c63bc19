// SPDX-License-Identifier: Apache-2.0
// Meshes for tests.
#ifndef SUEDE_TESTS_MESH_MESH_FIXTURE_H_
#define SUEDE_TESTS_MESH_MESH_FIXTURE_H_

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "mesh/routes.h"

namespace suede::mesh {

inline Grid Flat(uint32_t columns, uint32_t rows) {
  Grid grid;
  grid.dimensions[0].size = columns;
  grid.dimensions[1].size = rows;
  return grid;
}

struct System {
  Topology topology;
  std::vector<Grid> grids;

  void Add(const Grid& grid) {
    const auto mesh = AddGrid(grid, topology);
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    grids.push_back(grid);
  }
  void Connect(const DevicePort& a, const DevicePort& b) {
    const absl::Status connected = topology.Connect({.a = a, .b = b});
    ASSERT_TRUE(connected.ok()) << connected;
  }
  Tables Generate(Exits exits = Exits::kNearest) const {
    return GenerateTables(topology, grids, MeshRoutes(topology), exits, 0);
  }
};

inline System OneMesh(const Grid& grid) {
  System system;
  system.Add(grid);
  return system;
}

// Four meshes of 3 x 3 devices in a square, one cable between neighbours: M0 and M1 above, M2 and
// M3 below. `at`: row, or column, of the cables M0-M1, M2-M3, M0-M2, M1-M3.
inline System FourMeshes(std::array<uint32_t, 4> at = {1, 1, 1, 1}) {
  System system;
  for (int i = 0; i < 4; ++i) system.Add(Flat(3, 3));
  const auto east_west = [&](MeshId west, MeshId east, uint32_t row) {
    system.Connect({{west, DeviceId(3 * row + 2)}, 2}, {{east, DeviceId(3 * row)}, 4});
  };
  const auto north_south = [&](MeshId north, MeshId south, uint32_t column) {
    system.Connect({{north, DeviceId(6 + column)}, 1}, {{south, DeviceId(column)}, 3});
  };
  east_west(0, 1, at[0]);
  east_west(2, 3, at[1]);
  north_south(0, 2, at[2]);
  north_south(1, 3, at[3]);
  return system;
}

}  // namespace suede::mesh

#endif  // SUEDE_TESTS_MESH_MESH_FIXTURE_H_
