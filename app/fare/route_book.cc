// SPDX-License-Identifier: Apache-2.0
#include "route_book.h"

#include <algorithm>

#include "base/text.h"

namespace suede::fare {

bool RouteBook::OnKernel(uint32_t peer, const std::vector<KernelHop>& hops) {
  Peer& of = peers_[peer];
  std::vector<std::string> interfaces;
  interfaces.reserve(hops.size());
  for (const KernelHop& hop : hops) interfaces.push_back(name_of_(hop.interface));
  if (of.heard && of.hops == hops && of.interfaces == interfaces) return false;
  // Once it is asked about without next hops too: that bgpd does not answer may be why there are
  // none.
  of.is_asked_about = asks_bgp_ && (!hops.empty() || !of.heard);
  of.heard = true;
  of.hops = hops;
  of.interfaces = std::move(interfaces);
  return true;
}

void RouteBook::OnBgp(uint32_t peer, const PathBandwidths& paths) {
  Peer& of = peers_[peer];
  of.paths = paths;
  of.asked.clear();
  of.asked.reserve(of.hops.size());
  for (const KernelHop& hop : of.hops) of.asked.push_back(hop.gateway);
}

std::vector<uint32_t> RouteBook::TakeQuestions(size_t most) {
  std::vector<uint32_t> taken;
  for (uint32_t peer = 0; peer < peers_.size() && taken.size() < most; ++peer) {
    if (!std::exchange(peers_[peer].is_asked_about, false)) continue;
    taken.push_back(peer);
  }
  return taken;
}

void RouteBook::AskAgain(const std::vector<uint32_t>& peers) {
  for (const uint32_t peer : peers) peers_[peer].is_asked_about = !peers_[peer].hops.empty();
}

bool RouteBook::HasQuestions() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.is_asked_about; });
}

// What bgpd said of the next hop: by its address, or by the interface of an unnumbered neighbour.
const std::optional<double>* RouteBook::PathOf(const Peer& peer, size_t hop) {
  auto found = peer.paths.find(peer.hops[hop].gateway);
  if (found == peer.paths.end()) found = peer.paths.find(StrCat("%", peer.interfaces[hop]));
  return found != peer.paths.end() ? &found->second : nullptr;
}

bool RouteBook::IsKnown(const Peer& peer, size_t hop) {
  const auto& asked = peer.asked;
  return PathOf(peer, hop) != nullptr ||
         std::find(asked.begin(), asked.end(), peer.hops[hop].gateway) != asked.end();
}

bool RouteBook::IsUnknown(uint32_t peer) const {
  return asks_bgp_ && !peers_[peer].hops.empty() && HopsOf(peer).empty();
}

std::vector<NextHop> RouteBook::HopsOf(uint32_t peer) const {
  const Peer& of = peers_[peer];
  std::vector<NextHop> hops;
  for (size_t i = 0; i < of.hops.size(); ++i) {
    if (asks_bgp_ && !IsKnown(of, i)) continue;
    NextHop& hop = hops.emplace_back(
        NextHop{.interface = of.interfaces[i], .share = of.hops[i].share, .mbps = {}});
    if (const auto* path = asks_bgp_ ? PathOf(of, i) : nullptr) hop.mbps = *path;
  }
  return hops;
}

}  // namespace suede::fare
