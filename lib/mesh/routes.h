// SPDX-License-Identifier: Apache-2.0
// Generators of routing tables, and walks over them.
#ifndef SUEDE_MESH_ROUTES_H_
#define SUEDE_MESH_ROUTES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mesh/grid.h"
#include "mesh/routing_table.h"
#include "mesh/topology.h"

namespace suede::mesh {

// The tables of all devices for one plane, by DeviceIndex.
using Tables = std::vector<RoutingTable>;

// The mesh that follows on the way from each mesh to each other one.
class MeshRoutes {
 public:
  // Takes the fewest crossings; among those the neighbour with the lowest number.
  explicit MeshRoutes(const Topology& topology);

  // nullopt: no route, or `to` is `from`.
  std::optional<MeshId> Next(MeshId from, MeshId to) const { return next_[from][to]; }
  // Chooses a transit mesh, which must be a neighbour of `from`.
  void SetNext(MeshId from, MeshId to, MeshId next) { next_[from][to] = next; }

 private:
  std::vector<std::vector<std::optional<MeshId>>> next_;
};

// The exits that the devices of a mesh use toward a neighbouring mesh.
enum class Exits : uint8_t {
  kNearest,   // each device the one with the fewest hops; the lowest number among those
  kDisjoint,  // the nearest one, where the two directions between two meshes have no cable in
              // common; one cable is common to both
};

// Returns tables by dimension order inside meshes. `grids` has the grid of each mesh.
Tables GenerateTables(const Topology& topology, std::span<const Grid> grids,
                      const MeshRoutes& routes, Exits exits, PlaneIndex plane);

// ---- Walks.

struct Hop {
  DeviceIndex device;
  std::optional<PortId> port;  // by which the frame left; nullopt: it stayed
  uint32_t hop_count = 0;      // of the frame at the device
  uint32_t level = 0;
};

struct Walk {
  enum class End : uint8_t {
    kArrived,
    kNoRoute,   // the last device has no route
    kNoCable,   // its port has no cable
    kHopLimit,  // the frame would leave its last device with hop count 0
  };
  End end = End::kArrived;
  std::vector<Hop> hops;  // devices from the source on
};

// Each mesh crossing takes a frame to the next level, up to the last one.
inline uint32_t NextLevel(uint32_t level, bool crosses, uint32_t levels = kLevels) {
  return crosses && level + 1 < levels ? level + 1 : level;
}

// Follows a frame from its source, which sends it with `hop_count`. A device that forwards a frame
// decrements the count; the destination does not.
Walk Follow(const Topology& topology, const Tables& tables, DeviceIndex from, DeviceIndex to,
            uint32_t hop_count);

}  // namespace suede::mesh

#endif  // SUEDE_MESH_ROUTES_H_
