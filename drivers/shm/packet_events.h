// SPDX-License-Identifier: Apache-2.0
// Calls from the client socket server to the rest of the daemon for management packets
// (docs/management-packets.md).
#ifndef SUEDE_SHM_PACKET_EVENTS_H_
#define SUEDE_SHM_PACKET_EVENTS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace suede {

struct PacketPort {
  uint32_t index = 0;
  std::string name;
  uint32_t max_bytes = 0;  // max bytes of a packet
  uint32_t mtu_bytes = 0;
  std::array<uint8_t, 6> mac{};
};

// Calls on the control thread, from ShmServer::Poll or ShmServer::Disconnect.
class PacketHandler {
 public:
  virtual ~PacketHandler() = default;

  // Returns the port of that name or, if the name is empty, of that index. NOT_FOUND is reported to
  // the client as such.
  virtual absl::StatusOr<PacketPort> FindPacketPort(std::string_view name, uint32_t index) = 0;
  // Reports the number of connections that receive the port's packets, whenever it changes.
  virtual void OnPacketReceivers(uint32_t port, uint32_t count) = 0;
  // Sends a client's packet; its bytes are unchecked.
  virtual void OnPacket(uint32_t port, std::span<const uint8_t> frame) = 0;
};

// Outcome of delivering copies of a received packet.
struct PacketCopies {
  uint32_t taken = 0;
  uint32_t lost = 0;
};

}  // namespace suede

#endif  // SUEDE_SHM_PACKET_EVENTS_H_
