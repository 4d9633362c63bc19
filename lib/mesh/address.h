// SPDX-License-Identifier: Apache-2.0
// Places and addresses of a mesh (docs/mesh.md, "Addresses").
#ifndef SUEDE_MESH_ADDRESS_H_
#define SUEDE_MESH_ADDRESS_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/coordinates.h"
#include "base/sue.h"

namespace suede::mesh {

inline constexpr uint32_t kMaxMeshes = 1024;
inline constexpr uint32_t kMaxMeshDevices = 1024;
inline constexpr uint32_t kMaxPlanes = 4;
inline constexpr uint32_t kMaxPorts = 16;  // of a device
inline constexpr uint32_t kLevels = 4;     // of frames (docs/mesh.md, "Levels")

using MeshId = Coordinate<struct MeshTag>;
using DeviceId = Coordinate<struct DeviceTag>;  // of the devices of its mesh
using PortId = Coordinate<struct CableTag>;     // of the cable ports of its device

struct Device {
  MeshId mesh;
  DeviceId device;
  friend auto operator<=>(const Device&, const Device&) = default;
};

struct DevicePort {
  Device device;
  PortId port;
  friend auto operator<=>(const DevicePort&, const DevicePort&) = default;
};

// The fields of a forwarding address.
struct Address {
  static constexpr uint32_t kInstanceShift = 10;
  static constexpr uint32_t kMeshShift = 16;
  static constexpr uint32_t kPlaneShift = 26;
  static constexpr uint32_t kReservedShift = 28;

  Device device;
  InstanceIndex instance;
  PlaneIndex plane;
  friend bool operator==(const Address&, const Address&) = default;
};

// Returns the forwarding address; nullopt: a field is out of range.
std::optional<uint32_t> Encode(const Address& address);
// Returns the fields; nullopt: reserved bits are set.
inline std::optional<Address> Decode(uint32_t forwarding_address) {
  if (forwarding_address >> Address::kReservedShift != 0) return std::nullopt;
  return Address{
      .device = {.mesh = MeshId((forwarding_address >> Address::kMeshShift) % kMaxMeshes),
                 .device = DeviceId(forwarding_address % kMaxMeshDevices)},
      .instance = InstanceIndex((forwarding_address >> Address::kInstanceShift) % kMaxInstances),
      .plane = PlaneIndex(forwarding_address >> Address::kPlaneShift),
  };
}

// Returns "M0D4", "M0D4P2".
std::string NameOf(const Device& device);
std::string NameOf(const DevicePort& port);
// Reads "M0D4"; nullopt: another text, or a number out of range.
std::optional<Device> ParseDevice(std::string_view text);
// Reads "M0D4P2".
std::optional<DevicePort> ParseDevicePort(std::string_view text);

}  // namespace suede::mesh

#endif  // SUEDE_MESH_ADDRESS_H_
