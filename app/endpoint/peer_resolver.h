// SPDX-License-Identifier: Apache-2.0
// Reads the MAC addresses of a port's peers from the kernel's neighbour table, and sends them to
// the lcore of each instance there (docs/management-packets.md, "Neighbours").
#ifndef SUEDE_APP_ENDPOINT_PEER_RESOLVER_H_
#define SUEDE_APP_ENDPOINT_PEER_RESOLVER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "endpoint/endpoint.h"
#include "tap/neighbours.h"

namespace suede {

// Control thread only.
class PeerResolver {
 public:
  using Clock = std::chrono::steady_clock;

  // Creates the resolver of Config::ports[port], whose TAP device is the interface. `endpoint` must
  // outlive it.
  static absl::StatusOr<std::unique_ptr<PeerResolver>> Create(Endpoint* endpoint, uint32_t port,
                                                              uint32_t interface,
                                                              Endpoint::Log log);

  // Readable when the kernel has notifications.
  int fd() const { return neighbours_->fd(); }
  // To be called about every 10 ms, and when fd() is readable. Sends no requests while the link is
  // down.
  void Poll(bool link_up, Clock::time_point now);
  // Returns all zero if the address is not yet known.
  MacAddress MacOf(const NetAddress& address) const;

 private:
  // A peer's plane in an lcore.
  struct Use {
    uint32_t lcore = 0;
    uint32_t instance = 0;  // number in the pipeline
    uint32_t peer = 0;      // index into InstanceParams::peers
    uint32_t plane = 0;
    bool told = true;  // the lcore has the current address
  };
  struct Peer {
    MacAddress mac{};
    Clock::time_point ask_at{};
    uint32_t unanswered = 0;  // requests since the link came up
    std::vector<Use> uses;
  };

  PeerResolver(Endpoint* endpoint, uint32_t port, Endpoint::Log log)
      : endpoint_(endpoint), port_(port), log_(std::move(log)) {}
  void FindPeers();
  void FindPeers(uint32_t instance, uint32_t plane);
  LinkAddress NextHopTo(const NetAddress& address) const;
  void OnFound(const LinkAddress& address, const MacAddress& mac);
  void PostToLcores();
  void GiveUp(const Peer& peer);
  void AskKernel(Clock::time_point now);

  Endpoint* const endpoint_;
  const uint32_t port_;
  const Endpoint::Log log_;
  std::unique_ptr<Neighbours> neighbours_;
  std::map<LinkAddress, Peer> peers_;
  bool has_unposted_ = false;
  bool was_up_ = false;
  Clock::time_point next_check_{};
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PEER_RESOLVER_H_
