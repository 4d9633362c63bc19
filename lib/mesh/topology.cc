// SPDX-License-Identifier: Apache-2.0
#include "mesh/topology.h"

#include "base/text.h"

namespace suede::mesh {

absl::StatusOr<MeshId> Topology::AddMesh(uint32_t devices) {
  if (devices == 0 || devices > kMaxDevices - device_count()) {
    return absl::InvalidArgumentError(StrCat("cannot add a mesh of ", devices,
                                             " devices: all meshes have 1 to ", kMaxDevices,
                                             " together; use fewer"));
  }
  const MeshId mesh(mesh_count());
  for (uint32_t i = 0; i < devices; ++i) devices_.push_back({.mesh = mesh, .device = DeviceId(i)});
  first_.push_back(static_cast<uint32_t>(devices_.size()));
  ends_.resize(devices_.size());
  return mesh;
}

absl::Status Topology::Connect(const Cable& cable) {
  const auto refuse = [&](std::string_view reason) {
    return absl::InvalidArgumentError(
        StrCat("cannot connect ", NameOf(cable.a), " with ", NameOf(cable.b), ": ", reason));
  };
  if (cable.a == cable.b) return refuse("one port; name two");
  for (const DevicePort& port : {cable.a, cable.b}) {
    if (!Has(port.device)) {
      return refuse(StrCat("no device ", NameOf(port.device), "; name one of a mesh"));
    }
    if (port.port >= kMaxPorts) return refuse(StrCat("ports are 0 to ", kMaxPorts - 1));
    if (const std::optional<End>& end = EndOf(port)) {
      const DevicePort other{.device = At(end->device), .port = end->port};
      return refuse(StrCat("the cable of ", NameOf(port), " leads to ", NameOf(other),
                           " already; remove one"));
    }
  }
  const bool crosses = cable.a.device.mesh != cable.b.device.mesh;
  const auto end_at = [&](const DevicePort& port) {
    return End{.device = IndexOf(port.device),
               .port = port.port,
               .crosses = crosses,
               .lossless = cable.lossless};
  };
  EndOf(cable.a) = end_at(cable.b);
  EndOf(cable.b) = end_at(cable.a);
  cables_.push_back(cable);
  return absl::OkStatus();
}

}  // namespace suede::mesh
