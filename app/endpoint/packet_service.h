// SPDX-License-Identifier: Apache-2.0
// The management packets of an endpoint: between the lanes of its ports and the TAP devices,
// clients and LLDP agents (docs/management-packets.md, docs/lldp.md).
#ifndef SUEDE_APP_ENDPOINT_PACKET_SERVICE_H_
#define SUEDE_APP_ENDPOINT_PACKET_SERVICE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/lldp_service.h"
#include "endpoint/endpoint.h"
#include "endpoint/peer_resolver.h"
#include "shm/server.h"
#include "tap/tap.h"

namespace suede {

// Control thread only.
class PacketService final : public PacketHandler {
 public:
  // Creates the TAP devices. `endpoint` and `clients` must outlive this.
  static absl::StatusOr<std::unique_ptr<PacketService>> Create(Endpoint* endpoint,
                                                               ShmServer* clients,
                                                               Endpoint::Log log);
  ~PacketService() override;

  // Readable when a TAP device or the kernel's neighbour table has data.
  int fd() const { return epoll_; }
  // Whether a TAP device or a client receives: then call Poll every millisecond.
  bool busy() const;
  // To be called when fd() is readable, and about every 10 ms.
  void Poll();

  // The LLDP agents of the ports.
  LldpService& lldp() { return lldp_; }
  const LldpService& lldp() const { return lldp_; }

  // Returns the MAC address of a peer whose configuration leaves it out; all zero if it is not yet
  // known.
  MacAddress LearntMac(uint32_t port, const NetAddress& address) const;

  // PacketHandler.
  absl::StatusOr<PacketPort> FindPacketPort(std::string_view name, uint32_t index) override;
  void OnPacketReceivers(uint32_t port, uint32_t count) override;
  void OnPacket(uint32_t port, std::span<const uint8_t> frame) override;

 private:
  struct Port {
    PacketLane* lane = nullptr;  // null: no lcore serves the port
    std::unique_ptr<Tap> tap;
    std::unique_ptr<PeerResolver> resolver;
    uint32_t receivers = 0;  // clients
    bool lldp = false;
    // Whether any frame is wanted, not only LLDP's.
    bool TakesAll() const { return tap != nullptr || receivers != 0; }
    bool IsReceiving() const { return TakesAll() || lldp; }
  };

  PacketService(Endpoint* endpoint, ShmServer* clients, Endpoint::Log log, int epoll)
      : endpoint_(endpoint),
        clients_(clients),
        log_(std::move(log)),
        epoll_(epoll),
        lldp_(&endpoint->events()) {}
  void AddLldp(uint32_t port);
  absl::Status OpenTap(uint32_t port);
  std::optional<uint32_t> PrefixOf(const InstancePort& at) const;
  absl::Status GiveAddresses(uint32_t port);
  bool Watch(int fd);
  void SetReceiving(uint32_t port);
  void TakeFromTap(Port& port);
  void HandUp(uint32_t number);

  Endpoint* const endpoint_;
  ShmServer* const clients_;
  const Endpoint::Log log_;
  const int epoll_;
  LldpService lldp_;
  std::vector<Port> ports_;  // in the order of Config::ports
  // Larger than any frame, so that oversize frames are detected.
  std::vector<uint8_t> room_ = std::vector<uint8_t>(1u << 16);
  std::chrono::steady_clock::time_point next_tick_{};
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PACKET_SERVICE_H_
