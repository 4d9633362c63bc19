// SPDX-License-Identifier: Apache-2.0
#include "fare/shares.h"

#include <algorithm>

namespace suede::fare {
namespace {

constexpr double kWhole = 10000;  // share of the largest plane if shares are relative

// Returns the index of the plane with the interface; nullopt: none.
std::optional<size_t> PlaneOf(const FareParams& params, const std::string& interface) {
  for (size_t i = 0; i < params.planes.size(); ++i) {
    const auto& of = params.planes[i].interfaces;
    if (std::find(of.begin(), of.end(), interface) != of.end()) return i;
  }
  return std::nullopt;
}

bool HasBandwidth(const NextHop& hop) { return hop.mbps && *hop.mbps > 0; }

// Normalizes shares without a unit relative to the largest plane, so that not all shares change if
// another plane vanishes.
void MakeRelative(Shares& shares) {
  const double max = *std::max_element(shares.of.begin(), shares.of.end());
  shares.relative = max > 0;
  for (double& share : shares.of) share = max > 0 ? share / max * kWhole : 0;
}

}  // namespace

Shares SharesOf(const FareParams& params, Measure measure, std::span<const NextHop> hops) {
  bool all_have = measure == Measure::kBandwidth;
  for (const NextHop& hop : hops) {
    all_have &= !PlaneOf(params, hop.interface) || HasBandwidth(hop);
  }
  Shares shares{};
  for (const NextHop& hop : hops) {
    const std::optional<size_t> plane = PlaneOf(params, hop.interface);
    if (!plane) continue;
    shares.of[*plane] += all_have                     ? *hop.mbps * params.scale
                         : measure == Measure::kShare ? std::max(hop.share, 1u)
                                                      : 1;
  }
  if (!all_have) {
    MakeRelative(shares);
    return shares;
  }
  for (size_t i = 0; i < params.planes.size(); ++i) {
    const double own = params.planes[i].own_mbps;
    if (own > 0) shares.of[i] = std::min(shares[i], own);
  }
  return shares;
}

}  // namespace suede::fare
