// SPDX-License-Identifier: Apache-2.0
#include "mesh/address.h"

#include "base/numbers.h"
#include "base/text.h"

namespace suede::mesh {

std::optional<uint32_t> Encode(const Address& address) {
  if (address.device.device >= kMaxMeshDevices || address.device.mesh >= kMaxMeshes ||
      address.instance >= kMaxInstances || address.plane >= kMaxPlanes) {
    return std::nullopt;
  }
  return address.device.device | address.instance << Address::kInstanceShift |
         address.device.mesh << Address::kMeshShift | address.plane << Address::kPlaneShift;
}

std::string NameOf(const Device& device) {
  return StrCat("M", uint32_t{device.mesh}, "D", uint32_t{device.device});
}

std::string NameOf(const DevicePort& port) {
  return StrCat(NameOf(port.device), "P", uint32_t{port.port});
}

std::optional<Device> ParseDevice(std::string_view text) {
  const size_t at = text.find('D');
  if (!text.starts_with('M') || at == std::string_view::npos) return std::nullopt;
  const auto mesh = ParseNumber<uint32_t>(text.substr(1, at - 1), kMaxMeshes - 1);
  const auto device = ParseNumber<uint32_t>(text.substr(at + 1), kMaxMeshDevices - 1);
  if (!mesh || !device) return std::nullopt;
  return Device{.mesh = MeshId(*mesh), .device = DeviceId(*device)};
}

std::optional<DevicePort> ParseDevicePort(std::string_view text) {
  const size_t at = text.find('P');
  if (at == std::string_view::npos) return std::nullopt;
  const std::optional<Device> device = ParseDevice(text.substr(0, at));
  const auto port = ParseNumber<uint32_t>(text.substr(at + 1), kMaxPorts - 1);
  if (!device || !port) return std::nullopt;
  return DevicePort{.device = *device, .port = PortId(*port)};
}

}  // namespace suede::mesh
