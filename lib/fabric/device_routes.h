// SPDX-License-Identifier: Apache-2.0
// The routing tables of a mesh's device (docs/mesh.md), one for each plane, and the switch ports of
// its cables. Owned by one lcore.
#ifndef SUEDE_FABRIC_DEVICE_ROUTES_H_
#define SUEDE_FABRIC_DEVICE_ROUTES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/coordinates.h"
#include "fabric/params.h"
#include "mesh/routing_table.h"

namespace suede::fabric {

class DeviceRoutes {
 public:
  // The parameters of a port that routing needs.
  struct Place {
    uint8_t plane;
    bool centre;
    bool hairpins;
    LevelRule level;
  };

  explicit DeviceRoutes(const SwitchParams& params) : ports_(params.mesh) {
    for (const PortParams& port : params.ports) {
      places_.push_back({port.plane, port.centre, port.hairpins, port.level});
    }
  }

  void Set(PlaneIndex plane, const mesh::RoutingTable& table) { tables_[plane] = table; }
  // Returns the output of frames to the device; kNoPort: there is no route.
  uint16_t FindOutput(PlaneIndex plane, const mesh::Device& to) const {
    if (!tables_[plane]) return kNoPort;
    const mesh::NextHop hop = tables_[plane]->Lookup(to);
    if (hop.kind == mesh::NextHop::Kind::kOwn) return ports_.centre_of[plane];
    return hop.kind == mesh::NextHop::Kind::kPort ? ports_.port_of[hop.port] : kNoPort;
  }

  const Place& place(uint32_t port) const { return places_[port]; }

 private:
  const MeshParams ports_;
  std::vector<Place> places_;
  std::array<std::optional<mesh::RoutingTable>, mesh::kMaxPlanes> tables_;
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_DEVICE_ROUTES_H_
