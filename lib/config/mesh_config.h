// SPDX-License-Identifier: Apache-2.0
// The devices of a mesh that an endpoint represents (docs/mesh.md, "Daemons").
#ifndef SUEDE_CONFIG_MESH_CONFIG_H_
#define SUEDE_CONFIG_MESH_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/daemon_config.h"
#include "mesh/routing_table.h"

namespace suede {

// The device of a port that is the centre of all own devices on a plane.
inline constexpr std::string_view kMeshDevice = "mesh";

// Parameters of all own devices.
struct MeshConfig {
  uint64_t specification = 0;       // hash of the system specification, 48 bits; 0: none
  OnOff cbfc = OnOff::kOff;         // of cables between own devices
  uint32_t levels = mesh::kLevels;  // of frames on credit
  uint32_t credit_frames = 16;      // that each port grants to each link VC in use
  uint32_t buffer_kb = 1024;        // of each device, for frames without credit
  Duration max_wait{};              // of a frame in a queue; 0: no bound
  friend bool operator==(const MeshConfig&, const MeshConfig&) = default;
};

struct DeviceTable {
  mesh::RoutingTable routes;
  uint32_t devices = 0;  // entries of each part
  uint32_t meshes = 0;
  friend bool operator==(const DeviceTable&, const DeviceTable&) = default;
};

struct DeviceConfig {
  mesh::Device device;
  uint32_t lcore = 0;               // index into Config::lcores
  std::vector<DeviceTable> tables;  // by plane
  friend bool operator==(const DeviceConfig&, const DeviceConfig&) = default;
};

struct CableConfig {
  mesh::DevicePort from;         // of an own device
  mesh::DevicePort to;           // without a port: of an own device, too
  std::optional<uint32_t> port;  // index into Config::ports; nullopt: inside the endpoint
  PlaneIndex plane;
  friend bool operator==(const CableConfig&, const CableConfig&) = default;
};

}  // namespace suede

#endif  // SUEDE_CONFIG_MESH_CONFIG_H_
