// SPDX-License-Identifier: Apache-2.0
// A mesh in the form of a grid of one to three dimensions: its cables, and routes through it.
#ifndef SUEDE_MESH_GRID_H_
#define SUEDE_MESH_GRID_H_

#include <array>
#include <cstdint>
#include <optional>

#include "mesh/topology.h"

namespace suede::mesh {

struct Dimension {
  uint32_t size = 1;
  bool wraps = false;  // a cable leads from the last device back to the first
  PortId forward;      // port of a device toward the next one
  PortId backward;
};

// Devices are numbered along the first dimension, then the second one.
struct Grid {
  // X (columns, west to east), Y (rows, north to south), Z (layers, downward).
  std::array<Dimension, 3> dimensions = {{{.forward = 2, .backward = 4},
                                          {.forward = 1, .backward = 3},
                                          {.forward = 5, .backward = 6}}};

  using Place = std::array<uint32_t, 3>;  // in each dimension

  uint32_t device_count() const;
  Place PlaceOf(DeviceId device) const;
  DeviceId At(const Place& place) const;
  // Returns the port of the shortest route that finishes a dimension before it begins the next one;
  // forward where both ways round a dimension are equally short. nullopt: `to` is `from`.
  std::optional<PortId> NextPort(DeviceId from, DeviceId to) const;
  // Returns the number of cables from one device to the other.
  uint32_t Hops(DeviceId from, DeviceId to) const;
};

// Adds a mesh with the devices and cables of the grid.
absl::StatusOr<MeshId> AddGrid(const Grid& grid, Topology& topology, bool lossless = true);

}  // namespace suede::mesh

#endif  // SUEDE_MESH_GRID_H_
