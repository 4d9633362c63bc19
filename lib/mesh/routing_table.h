// SPDX-License-Identifier: Apache-2.0
// The routing table of one device for one plane: a port for each device of its mesh (L0) and for
// each other mesh (L1). A value: an lcore reads it, and never while another thread writes.
#ifndef SUEDE_MESH_ROUTING_TABLE_H_
#define SUEDE_MESH_ROUTING_TABLE_H_

#include <array>
#include <cstdint>
#include <optional>

#include "mesh/address.h"

namespace suede::mesh {

// 1,024 ports of 4 bits. All 16 codes are ports, so a bitmap says which entries have a route.
class PortTable {
 public:
  static constexpr uint32_t kEntries = 1024;

  std::optional<PortId> operator[](uint32_t entry) const {
    if ((routes_[entry / 64] >> entry % 64 & 1) == 0) return std::nullopt;
    return PortId(static_cast<uint32_t>(ports_[entry / 2] >> ShiftOf(entry) & 0xf));
  }
  void Set(uint32_t entry, PortId port) {
    const uint32_t others = ports_[entry / 2] & ~(0xfu << ShiftOf(entry));
    ports_[entry / 2] = static_cast<uint8_t>(others | port << ShiftOf(entry));
    routes_[entry / 64] |= uint64_t{1} << entry % 64;
  }
  const std::array<uint8_t, kEntries / 2>& ports() const { return ports_; }

  friend bool operator==(const PortTable&, const PortTable&) = default;

 private:
  static uint32_t ShiftOf(uint32_t entry) { return entry % 2 * 4; }

  std::array<uint8_t, kEntries / 2> ports_{};  // the even entry in the low bits; 0: no route
  std::array<uint64_t, kEntries / 64> routes_{};
};

struct NextHop {
  enum class Kind : uint8_t {
    kOwn,   // the device itself is the destination
    kPort,  // the frame leaves by `port`
    kNone,  // no route, or an address of another plane
  };
  Kind kind = Kind::kNone;
  PortId port;
  friend bool operator==(const NextHop&, const NextHop&) = default;
};

struct RoutingTable {
  Device own;
  PlaneIndex plane;
  PortTable to_devices;  // L0, by device of the own mesh
  PortTable to_meshes;   // L1, by mesh
  uint32_t epoch = 0;    // of the set of tables that it belongs to

  NextHop Lookup(uint32_t forwarding_address) const {
    const std::optional<Address> address = Decode(forwarding_address);
    return address && address->plane == plane ? Lookup(address->device) : NextHop();
  }
  NextHop Lookup(const Device& device) const {
    if (device == own) return {.kind = NextHop::Kind::kOwn};
    const std::optional<PortId> port =
        device.mesh == own.mesh ? to_devices[device.device] : to_meshes[device.mesh];
    return port ? NextHop{.kind = NextHop::Kind::kPort, .port = *port} : NextHop();
  }

  friend bool operator==(const RoutingTable&, const RoutingTable&) = default;
};

}  // namespace suede::mesh

#endif  // SUEDE_MESH_ROUTING_TABLE_H_
