// SPDX-License-Identifier: Apache-2.0
#include "mesh/grid.h"

#include <algorithm>

namespace suede::mesh {
namespace {

// A way along one dimension.
struct Way {
  uint32_t hops = 0;
  bool forward = true;
};

Way WayAlong(const Dimension& dimension, uint32_t from, uint32_t to) {
  if (!dimension.wraps) {
    return from <= to ? Way{.hops = to - from} : Way{.hops = from - to, .forward = false};
  }
  const uint32_t ahead = (to + dimension.size - from) % dimension.size;
  const uint32_t back = dimension.size - ahead;
  return ahead <= back ? Way{.hops = ahead} : Way{.hops = back, .forward = false};
}

}  // namespace

uint32_t Grid::device_count() const {
  uint32_t count = 1;
  for (const Dimension& dimension : dimensions) count *= dimension.size;
  return count;
}

Grid::Place Grid::PlaceOf(DeviceId device) const {
  Place place{};
  uint32_t rest = device;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    place[i] = rest % dimensions[i].size;
    rest /= dimensions[i].size;
  }
  return place;
}

DeviceId Grid::At(const Place& place) const {
  uint32_t device = 0;
  for (size_t i = dimensions.size(); i-- > 0;) device = device * dimensions[i].size + place[i];
  return DeviceId(device);
}

std::optional<PortId> Grid::NextPort(DeviceId from, DeviceId to) const {
  const Place here = PlaceOf(from), there = PlaceOf(to);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const Way way = WayAlong(dimensions[i], here[i], there[i]);
    if (way.hops > 0) return way.forward ? dimensions[i].forward : dimensions[i].backward;
  }
  return std::nullopt;
}

uint32_t Grid::Hops(DeviceId from, DeviceId to) const {
  const Place here = PlaceOf(from), there = PlaceOf(to);
  uint32_t hops = 0;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    hops += WayAlong(dimensions[i], here[i], there[i]).hops;
  }
  return hops;
}

absl::StatusOr<MeshId> AddGrid(const Grid& grid, Topology& topology, bool lossless) {
  uint64_t devices = 1;
  for (const Dimension& dimension : grid.dimensions) {
    devices = std::min<uint64_t>(devices * dimension.size, UINT32_MAX);
  }
  absl::StatusOr<MeshId> mesh = topology.AddMesh(static_cast<uint32_t>(devices));
  if (!mesh.ok()) return mesh;
  for (uint32_t number = 0; number < devices; ++number) {
    const DeviceId device(number);
    for (size_t i = 0; i < grid.dimensions.size(); ++i) {
      const Dimension& dimension = grid.dimensions[i];
      Grid::Place place = grid.PlaceOf(device);
      const bool is_last = ++place[i] == dimension.size;
      if (dimension.size == 1 || (is_last && !dimension.wraps)) continue;
      place[i] %= dimension.size;
      const absl::Status connected = topology.Connect(
          {.a = {.device = {.mesh = *mesh, .device = device}, .port = dimension.forward},
           .b = {.device = {.mesh = *mesh, .device = grid.At(place)}, .port = dimension.backward},
           .lossless = lossless});
      if (!connected.ok()) return connected;
    }
  }
  return mesh;
}

}  // namespace suede::mesh
