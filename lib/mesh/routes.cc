// SPDX-License-Identifier: Apache-2.0
#include "mesh/routes.h"

#include <algorithm>
#include <utility>

namespace suede::mesh {
namespace {

// A device and its port with a cable to another mesh.
struct Exit {
  DeviceId device;
  PortId port;
};

// Returns the meshes with a cable from each mesh, in order.
std::vector<std::vector<MeshId>> NeighboursOf(const Topology& topology) {
  std::vector<std::vector<MeshId>> neighbours(topology.mesh_count());
  for (const Cable& cable : topology.cables()) {
    const MeshId a = cable.a.device.mesh, b = cable.b.device.mesh;
    if (a == b) continue;
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  for (std::vector<MeshId>& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

// Returns the exits from one mesh to another, by device and port.
std::vector<Exit> ExitsBetween(const Topology& topology, MeshId from, MeshId to, Exits exits) {
  using Pair = std::pair<DevicePort, DevicePort>;
  const MeshId low = std::min(from, to), high = std::max(from, to);
  std::vector<Pair> cables;  // ends in `low` and in `high`
  for (const Cable& cable : topology.cables()) {
    if (cable.a.device.mesh == low && cable.b.device.mesh == high) {
      cables.emplace_back(cable.a, cable.b);
    } else if (cable.a.device.mesh == high && cable.b.device.mesh == low) {
      cables.emplace_back(cable.b, cable.a);
    }
  }
  const auto key = [](const DevicePort& end) {
    return std::pair(uint32_t{end.device.device}, uint32_t{end.port});
  };
  std::sort(cables.begin(), cables.end(),
            [&](const Pair& a, const Pair& b) { return key(a.first) < key(b.first); });
  // Disjoint: the cables take turns, and the last one serves both directions if it is alone.
  const bool shares = exits == Exits::kNearest || cables.size() == 1;
  std::vector<Exit> found;
  for (size_t i = 0; i < cables.size(); ++i) {
    if (!shares && (i % 2 == 0) != (from == low)) continue;
    const DevicePort& own = from == low ? cables[i].first : cables[i].second;
    found.push_back({.device = own.device.device, .port = own.port});
  }
  std::sort(found.begin(), found.end(), [](const Exit& a, const Exit& b) {
    return std::pair(uint32_t{a.device}, uint32_t{a.port}) <
           std::pair(uint32_t{b.device}, uint32_t{b.port});
  });
  return found;
}

// Returns the port of a device toward its nearest exit.
PortId PortToward(const Grid& grid, DeviceId device, std::span<const Exit> exits) {
  const Exit& nearest =
      *std::min_element(exits.begin(), exits.end(), [&](const Exit& a, const Exit& b) {
        return grid.Hops(device, a.device) < grid.Hops(device, b.device);
      });
  return grid.NextPort(device, nearest.device).value_or(nearest.port);
}

}  // namespace

MeshRoutes::MeshRoutes(const Topology& topology) {
  const uint32_t count = topology.mesh_count();
  const std::vector<std::vector<MeshId>> neighbours = NeighboursOf(topology);
  next_.assign(count, std::vector<std::optional<MeshId>>(count));
  for (uint32_t to = 0; to < count; ++to) {
    // Breadth first from the destination: a mesh reached from `mesh` goes by it, or by a neighbour
    // with a lower number that is equally far.
    std::vector<uint32_t> crossings(count, UINT32_MAX);
    std::vector<uint32_t> queue = {to};
    crossings[to] = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      const uint32_t mesh = queue[i];
      for (const MeshId from : neighbours[mesh]) {
        if (crossings[from] == UINT32_MAX) {
          crossings[from] = crossings[mesh] + 1;
          queue.push_back(from);
        }
        if (crossings[from] != crossings[mesh] + 1) continue;
        std::optional<MeshId>& next = next_[from][to];
        if (!next || mesh < *next) next = MeshId(mesh);
      }
    }
  }
}

Tables GenerateTables(const Topology& topology, std::span<const Grid> grids,
                      const MeshRoutes& routes, Exits exits, PlaneIndex plane) {
  const std::vector<std::vector<MeshId>> neighbours = NeighboursOf(topology);
  Tables tables(topology.device_count());
  for (uint32_t m = 0; m < topology.mesh_count(); ++m) {
    const MeshId mesh(m);
    const Grid& grid = grids[m];
    std::vector<std::vector<Exit>> to_neighbour(topology.mesh_count());
    for (const MeshId to : neighbours[m]) {
      to_neighbour[to] = ExitsBetween(topology, mesh, to, exits);
    }
    for (uint32_t d = 0; d < topology.DevicesOf(mesh); ++d) {
      const DeviceId device(d);
      RoutingTable& table = tables[topology.IndexOf({.mesh = mesh, .device = device})];
      table.own = {.mesh = mesh, .device = device};
      table.plane = plane;
      for (uint32_t to = 0; to < topology.DevicesOf(mesh); ++to) {
        if (const auto port = grid.NextPort(device, DeviceId(to))) table.to_devices.Set(to, *port);
      }
      for (uint32_t to = 0; to < topology.mesh_count(); ++to) {
        const std::optional<MeshId> next = routes.Next(mesh, MeshId(to));
        if (!next || to_neighbour[*next].empty()) continue;
        table.to_meshes.Set(to, PortToward(grid, device, to_neighbour[*next]));
      }
    }
  }
  return tables;
}

Walk Follow(const Topology& topology, const Tables& tables, DeviceIndex from, DeviceIndex to,
            uint32_t hop_count) {
  const Device destination = topology.At(to);
  Walk walk;
  Hop at{.device = from, .hop_count = hop_count};
  for (;;) {
    const NextHop next = tables[at.device].Lookup(destination);
    const bool is_port = next.kind == NextHop::Kind::kPort;
    if (is_port && !walk.hops.empty()) --at.hop_count;
    walk.hops.push_back(at);
    if (!is_port) {
      walk.end = next.kind == NextHop::Kind::kOwn ? Walk::End::kArrived : Walk::End::kNoRoute;
      return walk;
    }
    if (at.hop_count == 0) {
      walk.end = Walk::End::kHopLimit;
      return walk;
    }
    const std::optional<Topology::End>& end = topology.Across(at.device, next.port);
    if (!end) {
      walk.end = Walk::End::kNoCable;
      return walk;
    }
    walk.hops.back().port = next.port;
    at.device = end->device;
    at.level = NextLevel(at.level, end->crosses);
  }
}

}  // namespace suede::mesh
