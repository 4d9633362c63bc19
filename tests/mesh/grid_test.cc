// SPDX-License-Identifier: Apache-2.0
#include "mesh/grid.h"

#include <gtest/gtest.h>

#include "mesh_fixture.h"

namespace suede::mesh {
namespace {

TEST(Grid, NumbersDevicesAlongX) {
  Grid grid = Flat(4, 3);
  grid.dimensions[2].size = 2;
  EXPECT_EQ(grid.device_count(), 24u);
  EXPECT_EQ(grid.At({1, 2, 1}), 21u);
  for (uint32_t device = 0; device < 24; ++device) {
    EXPECT_EQ(grid.At(grid.PlaceOf(DeviceId(device))), device);
  }
}

TEST(Grid, HasACableBetweenNeighbours) {
  const System flat = OneMesh(Flat(3, 3));
  EXPECT_EQ(flat.topology.cables().size(), 12u);
  EXPECT_EQ(flat.topology.Across(4, 1)->device, 7u);
  EXPECT_EQ(flat.topology.Across(4, 2)->device, 5u);
  EXPECT_EQ(flat.topology.Across(4, 3)->device, 1u);
  EXPECT_EQ(flat.topology.Across(4, 4)->device, 3u);
  EXPECT_FALSE(flat.topology.Across(0, 4));

  Grid torus = Flat(3, 3);
  for (Dimension& dimension : torus.dimensions) dimension.wraps = true;
  EXPECT_EQ(OneMesh(torus).topology.cables().size(), 18u);
  EXPECT_EQ(OneMesh(torus).topology.Across(0, 4)->device, 2u);
}

// Two devices in a dimension that wraps have two cables.
TEST(Grid, WrapsDimensionsOfTwo) {
  Grid grid = Flat(2, 1);
  grid.dimensions[0].wraps = true;
  const System system = OneMesh(grid);
  EXPECT_EQ(system.topology.cables().size(), 2u);
  EXPECT_EQ(grid.NextPort(0, 1), PortId(2));
  EXPECT_EQ(grid.NextPort(1, 0), PortId(2));
}

TEST(Grid, TakesTheShorterWayRoundADimension) {
  Grid ring = Flat(5, 1);
  ring.dimensions[0].wraps = true;
  EXPECT_EQ(ring.NextPort(0, 2), PortId(2));
  EXPECT_EQ(ring.NextPort(0, 3), PortId(4));
  EXPECT_EQ(ring.Hops(0, 3), 2u);
  EXPECT_EQ(ring.NextPort(3, 3), std::nullopt);
}

TEST(Grid, IsRefusedWithTooManyDevices) {
  Topology topology;
  EXPECT_FALSE(AddGrid(Flat(65536, 65536), topology).ok());
  EXPECT_FALSE(AddGrid(Flat(0, 3), topology).ok());
}

}  // namespace
}  // namespace suede::mesh
