// SPDX-License-Identifier: Apache-2.0
#include "endpoint/peer_resolver.h"

#include "absl/strings/str_cat.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"

namespace suede {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kResolveInterval = milliseconds(10);
// Delay after the link has come up: if the far side is not ready, the kernel repeats a request only
// after a second.
constexpr auto kSettle = milliseconds(50);
constexpr auto kAskAgain = seconds(1);       // for an unknown address
constexpr auto kConfirmEvery = seconds(30);  // for a known address
constexpr uint32_t kRequestsBeforeLost = 5;  // unanswered
constexpr int kRequestsPerPoll = 32;         // limits bursts with many peers

}  // namespace

absl::StatusOr<std::unique_ptr<PeerResolver>> PeerResolver::Create(Endpoint* endpoint,
                                                                   uint32_t port,
                                                                   uint32_t interface,
                                                                   Endpoint::Log log) {
  std::unique_ptr<PeerResolver> resolver(new PeerResolver(endpoint, port, std::move(log)));
  absl::StatusOr<std::unique_ptr<Neighbours>> neighbours = Neighbours::Open(interface);
  if (!neighbours.ok()) return neighbours.status();
  resolver->neighbours_ = *std::move(neighbours);
  resolver->FindPeers();
  return resolver;
}

// Finds the port's peers once, as the parameters from which pipelines were built do not change.
void PeerResolver::FindPeers() {
  const Config& config = endpoint_->config();
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    for (uint32_t plane = 0; plane < config.instances[i].ports.size(); ++plane) {
      if (config.instances[i].ports[plane].port == port_) FindPeers(i, plane);
    }
  }
}

// Finds the peers of Config::instances[instance], of which the port is a plane.
void PeerResolver::FindPeers(uint32_t instance, uint32_t plane) {
  const uint32_t lcore = endpoint_->pipeline_of(instance);
  const uint32_t number = endpoint_->number_of(instance);
  const auto& peers = endpoint_->pipeline(lcore).instance(number).params.peers;
  for (uint32_t peer = 0; peer < peers.size(); ++peer) {
    const PeerPlane& at = peers[peer].planes[plane];
    if (!at.present || !at.resolving) continue;
    peers_[NextHopTo(at.address)].uses.push_back(
        {.lcore = lcore, .instance = number, .peer = peer, .plane = plane});
  }
}

// Returns the address whose MAC address frames to a peer have: the assigned gateway, if the peer is
// outside the assigned network.
LinkAddress PeerResolver::NextHopTo(const NetAddress& address) const {
  lldp::IpAddress hop{.is_v6 = IsIpv6(endpoint_->config().ports[port_].encapsulation),
                      .high = address.high,
                      .low = address.low};
  const AddressWait::Assigned* const assigned = endpoint_->assigned(port_);
  if (assigned != nullptr) hop = lldp::NextHop(assigned->assignment, hop);
  return {.is_v6 = hop.is_v6, .high = hop.high, .low = hop.low};
}

void PeerResolver::Poll(bool link_up, Clock::time_point now) {
  neighbours_->Poll([this](const LinkAddress& address, const Neighbours::Mac& mac) {
    OnFound(address, mac);
  });
  PostToLcores();
  if (link_up && !was_up_) {
    next_check_ = now + kSettle;
    for (auto& [address, peer] : peers_) peer.unanswered = 0;
  }
  was_up_ = link_up;
  if (!link_up || now < next_check_) return;
  next_check_ = now + kResolveInterval;
  AskKernel(now);
}

void PeerResolver::OnFound(const LinkAddress& address, const MacAddress& mac) {
  const auto found = peers_.find(address);
  if (found == peers_.end() || found->second.mac == mac || !IsUnicast(mac)) return;
  Peer& peer = found->second;
  const PortConfig& port = endpoint_->config().ports[port_];
  log_(EalLogLevel::kInfo, "neighbour",
       absl::StrCat(peer.mac == MacAddress{} ? "learnt" : "changed", " port=", port.name,
                    " address=",
                    FormatAddress(port.encapsulation, {.high = address.high, .low = address.low}),
                    " mac=", FormatMac(mac)));
  peer.mac = mac;
  peer.ask_at = Clock::now() + kConfirmEvery;
  for (Use& use : peer.uses) use.told = false;
  has_unposted_ = true;
}

// Posts new addresses; continues next time if a mailbox is full.
void PeerResolver::PostToLcores() {
  if (!has_unposted_) return;
  has_unposted_ = false;
  for (auto& [address, peer] : peers_) {
    for (Use& use : peer.uses) {
      if (use.told) continue;
      use.told = endpoint_->pipeline(use.lcore).mailbox().requests.Push(
          request::SetPeerMac{.instance = use.instance,
                              .peer = PeerIndex(use.peer),
                              .mac = peer.mac,
                              .plane = PlaneIndex(use.plane)});
      has_unposted_ |= !use.told;
    }
  }
}

void PeerResolver::AskKernel(Clock::time_point now) {
  int left = kRequestsPerPoll;
  for (auto& [address, peer] : peers_) {
    if (peer.ask_at > now) continue;
    if (left-- == 0) return;
    neighbours_->Resolve(address);
    const bool is_known = peer.mac != MacAddress{};
    peer.ask_at = now + (is_known ? kConfirmEvery : kAskAgain);
    if (!is_known && ++peer.unanswered > kRequestsBeforeLost) GiveUp(peer);
  }
}

// Posts the loss of a peer, repeated with each further request, hence also after a full mailbox.
void PeerResolver::GiveUp(const Peer& peer) {
  for (const Use& use : peer.uses) {
    endpoint_->pipeline(use.lcore).mailbox().requests.Push(request::LosePeer{
        .instance = use.instance, .peer = PeerIndex(use.peer), .plane = PlaneIndex(use.plane)});
  }
}

MacAddress PeerResolver::MacOf(const NetAddress& address) const {
  const auto found = peers_.find(NextHopTo(address));
  return found != peers_.end() ? found->second.mac : MacAddress{};
}

}  // namespace suede
