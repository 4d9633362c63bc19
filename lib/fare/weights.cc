// SPDX-License-Identifier: Apache-2.0
#include "fare/weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace suede::fare {

FareWeights::FareWeights(const FareParams& params) : params_(params), peers_(params.peers) {}

void FareWeights::OnRoutes(uint32_t peer, Measure measure, std::span<const NextHop> hops,
                           Time now) {
  const Shares shares = SharesOf(params_, measure, hops);
  Peer& of = peers_[peer];
  of.seen |=
      std::any_of(shares.of.begin(), shares.of.end(), [](double share) { return share > 0; });
  if (!of.seen) return;
  // A relative share may have changed because of another plane, and a change of the unit is no
  // flap.
  const bool rescales = std::exchange(of.relative, shares.relative) || shares.relative;
  for (size_t i = 0; i < params_.planes.size(); ++i) {
    Damper& damper = of.of[i].damper;
    if (rescales && shares[i] > 0 && damper.offered() > 0) {
      damper.Rescale(shares[i]);
    } else {
      damper.OnShare(shares[i], now, params_.damping);
    }
  }
  FitUnit(of);
}

// Returns the share to use. Damping only chooses among planes: if it would leave a peer without a
// plane that has a route, nothing is suppressed.
double FareWeights::ShareOf(const Peer& peer, uint32_t plane) const {
  const bool is_any_used = std::any_of(peer.of.begin(), peer.of.end(),
                                       [](const OfPlane& of) { return of.damper.share() > 0; });
  const Damper& damper = peer.of[plane].damper;
  return is_any_used ? damper.share() : damper.offered();
}

// Doubles the unit of the peer's weights until all weights are at most kMaxWeight. With unit 1,
// weights equal shares.
void FareWeights::FitUnit(Peer& peer) const {
  for (uint32_t plane = 0; plane < params_.planes.size(); ++plane) {
    while (ShareOf(peer, plane) / peer.unit > kMaxWeight) peer.unit *= 2;
  }
}

uint32_t FareWeights::WeightOf(const Peer& peer, uint32_t plane) const {
  const double share = ShareOf(peer, plane);
  if (share <= 0) return 0;
  const double weight = std::round(share / peer.unit);
  return static_cast<uint32_t>(std::clamp(weight, 1.0, static_cast<double>(kMaxWeight)));
}

void FareWeights::OnTime(Time now) {
  for (Peer& peer : peers_) {
    for (size_t i = 0; peer.seen && i < params_.planes.size(); ++i) {
      if (peer.of[i].damper.deadline() <= now) peer.of[i].damper.OnTime(now, params_.damping);
    }
    FitUnit(peer);
  }
}

Time FareWeights::deadline() const {
  Time first = kNever;
  for (const Peer& peer : peers_) {
    for (const OfPlane& plane : peer.of) first = std::min(first, plane.damper.deadline());
  }
  return first;
}

std::vector<WeightChange> FareWeights::Changes() const {
  std::vector<WeightChange> changes = All();
  std::erase_if(changes, [&](const WeightChange& change) {
    return peers_[change.peer].of[change.plane].set == change.weight;
  });
  // Nonzero weights first, so that a peer is not without a plane in between.
  std::stable_partition(changes.begin(), changes.end(),
                        [](const WeightChange& change) { return change.weight != 0; });
  return changes;
}

void FareWeights::OnSet(const WeightChange& change) {
  peers_[change.peer].of[change.plane].set = change.weight;
}

void FareWeights::ForgetSet() {
  for (Peer& peer : peers_) {
    for (OfPlane& plane : peer.of) plane.set.reset();
  }
}

std::vector<WeightChange> FareWeights::All() const {
  std::vector<WeightChange> all;
  for (uint32_t peer = 0; peer < peers_.size(); ++peer) {
    for (uint32_t plane = 0; peers_[peer].seen && plane < params_.planes.size(); ++plane) {
      all.push_back({peer, plane, WeightOf(peers_[peer], plane)});
    }
  }
  return all;
}

}  // namespace suede::fare
