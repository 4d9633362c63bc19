// SPDX-License-Identifier: Apache-2.0
// The calls of the server of client sockets to the rest of the daemon for management packets
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
  uint32_t max_bytes = 0;  // of a packet
  uint32_t mtu_bytes = 0;
  std::array<uint8_t, 6> mac{};
};

// Called on the control thread, from ShmServer::Poll or ShmServer::Disconnect.
class PacketHandler {
 public:
  virtual ~PacketHandler() = default;

  // The port of that name or, where that is empty, with that index. NOT_FOUND reaches the client
  // under its name.
  virtual absl::StatusOr<PacketPort> FindPacketPort(std::string_view name, uint32_t index) = 0;
  // The number of connections that want the port's packets, whenever that changes.
  virtual void OnPacketReceivers(uint32_t port, uint32_t count) = 0;
  // A client sends a packet; its bytes are as the client wrote them.
  virtual void OnPacket(uint32_t port, std::span<const uint8_t> frame) = 0;
};

// The fates of the copies of a received packet.
struct PacketCopies {
  uint32_t taken = 0;
  uint32_t lost = 0;
};

}  // namespace suede

#endif  // SUEDE_SHM_PACKET_EVENTS_H_
