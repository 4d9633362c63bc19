// SPDX-License-Identifier: Apache-2.0
// The devices of all meshes, and the cables of one plane. Not changed while others read it.
#ifndef SUEDE_MESH_TOPOLOGY_H_
#define SUEDE_MESH_TOPOLOGY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mesh/address.h"

namespace suede::mesh {

// Number of a device among those of all meshes: of mesh 0 first, then of mesh 1.
using DeviceIndex = Coordinate<struct DeviceIndexTag>;

struct Cable {
  DevicePort a;
  DevicePort b;
  bool lossless = true;  // credit or PFC: frames wait for room
};

class Topology {
 public:
  static constexpr uint32_t kMaxDevices = 1024;  // of all meshes

  // The other end of a port's cable.
  struct End {
    DeviceIndex device;
    PortId port;
    bool crosses = false;   // the cable leads to another mesh
    bool lossless = false;  // of the cable
  };

  // Returns the number of the new mesh.
  absl::StatusOr<MeshId> AddMesh(uint32_t devices);
  absl::Status Connect(const Cable& cable);

  uint32_t mesh_count() const { return static_cast<uint32_t>(first_.size()) - 1; }
  uint32_t device_count() const { return first_.back(); }
  uint32_t DevicesOf(MeshId mesh) const { return first_[mesh + 1] - first_[mesh]; }
  bool Has(const Device& device) const {
    return device.mesh < mesh_count() && device.device < DevicesOf(device.mesh);
  }
  DeviceIndex IndexOf(const Device& device) const {
    return DeviceIndex(first_[device.mesh] + device.device);
  }
  Device At(DeviceIndex index) const { return devices_[index]; }
  // nullopt: no cable.
  const std::optional<End>& Across(DeviceIndex device, PortId port) const {
    return ends_[device][port];
  }
  std::span<const Cable> cables() const { return cables_; }

 private:
  std::optional<End>& EndOf(const DevicePort& port) {
    return ends_[IndexOf(port.device)][port.port];
  }

  std::vector<uint32_t> first_ = {0};  // index of each mesh's device 0; then the count of devices
  std::vector<Device> devices_;
  std::vector<std::array<std::optional<End>, kMaxPorts>> ends_;
  std::vector<Cable> cables_;
};

}  // namespace suede::mesh

#endif  // SUEDE_MESH_TOPOLOGY_H_
