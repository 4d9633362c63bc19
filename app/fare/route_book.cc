// SPDX-License-Identifier: Apache-2.0
#include "route_book.h"

#include <algorithm>

#include "base/text.h"

namespace suede::fare {
namespace {

bool Contains(const std::vector<std::string>& gateways, const std::string& gateway) {
  return std::find(gateways.begin(), gateways.end(), gateway) != gateways.end();
}

}  // namespace

bool RouteBook::OnKernel(uint32_t peer, const std::vector<KernelHop>& hops) {
  Peer& of = peers_[peer];
  std::vector<std::string> interfaces;
  interfaces.reserve(hops.size());
  for (const KernelHop& hop : hops) interfaces.push_back(name_of_(hop.interface));
  if (of.reported && of.hops == hops && of.interfaces == interfaces) return false;
  // The first time queries also without next hops: a failed bgpd may be the reason that there are
  // none.
  of.needs_query = asks_bgp_ && (!hops.empty() || !of.reported);
  of.reported = true;
  of.hops = hops;
  of.interfaces = std::move(interfaces);
  const auto is_gone = [&](const std::string& gateway) {
    return std::none_of(hops.begin(), hops.end(),
                        [&](const KernelHop& hop) { return hop.gateway == gateway; });
  };
  std::erase_if(of.asking, is_gone);
  std::erase_if(of.answered, is_gone);
  return true;
}

void RouteBook::OnBgp(uint32_t peer, const PathBandwidths& paths) {
  Peer& of = peers_[peer];
  // Keeps the bandwidth of a next hop added since the query, as the reply may be older.
  const PathBandwidths before = std::exchange(of.paths, paths);
  for (size_t i = 0; i < of.hops.size(); ++i) {
    const std::string& gateway = of.hops[i].gateway;
    if (Contains(of.asking, gateway) || PathIn(of.paths, of, i) != nullptr) continue;
    if (const auto* path = PathIn(before, of, i)) of.paths.emplace(gateway, *path);
  }
  of.answered = std::exchange(of.asking, {});
}

std::vector<uint32_t> RouteBook::TakeQuestions(size_t max) {
  std::vector<uint32_t> taken;
  for (uint32_t peer = 0; peer < peers_.size() && taken.size() < max; ++peer) {
    Peer& of = peers_[peer];
    if (!std::exchange(of.needs_query, false)) continue;
    of.asking.clear();
    for (const KernelHop& hop : of.hops) of.asking.push_back(hop.gateway);
    taken.push_back(peer);
  }
  return taken;
}

void RouteBook::AskAgain(const std::vector<uint32_t>& peers) {
  for (const uint32_t peer : peers) peers_[peer].needs_query = !peers_[peer].hops.empty();
}

bool RouteBook::HasQuestions() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.needs_query; });
}

// Returns bgpd's entry for the next hop: by address, or by interface for an unnumbered neighbour.
const std::optional<double>* RouteBook::PathIn(const PathBandwidths& paths, const Peer& peer,
                                               size_t hop) {
  auto found = paths.find(peer.hops[hop].gateway);
  if (found == paths.end()) found = paths.find(StrCat("%", peer.interfaces[hop]));
  return found != paths.end() ? &found->second : nullptr;
}

bool RouteBook::IsKnown(const Peer& peer, size_t hop) {
  return PathIn(peer.paths, peer, hop) != nullptr ||
         Contains(peer.answered, peer.hops[hop].gateway);
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
    if (const auto* path = asks_bgp_ ? PathIn(of.paths, of, i) : nullptr) hop.mbps = *path;
  }
  return hops;
}

}  // namespace suede::fare
