// SPDX-License-Identifier: Apache-2.0
// Share of each plane in the traffic to one peer, derived from the next hops of the peer's routes.
//
// A value type; no clock, no I/O.
#ifndef SUEDE_FARE_SHARES_H_
#define SUEDE_FARE_SHARES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fare/params.h"

namespace suede::fare {

inline constexpr uint32_t kMaxPlanes = 4;

// A next hop of the routes to a peer.
struct NextHop {
  std::string interface;
  uint32_t share = 1;          // the kernel's weight
  std::optional<double> mbps;  // announced with its path, unscaled
};

// Weighting of next hops.
enum class Measure : uint8_t {
  kShare,      // by the kernel's weights
  kBandwidth,  // by announced bandwidth, up to that of this end's link
};

struct Shares {
  // Share of each entry of FareParams::planes; 0: no next hop.
  std::array<double, kMaxPlanes> of{};
  // True: ten-thousandths of the largest plane's share, so that shares depend on other planes.
  // False: Mb/s.
  bool relative = false;

  double operator[](size_t plane) const { return of[plane]; }
  friend bool operator==(const Shares&, const Shares&) = default;
};

// Returns the shares. Ignores next hops on interfaces of no plane. If bandwidths are the measure
// and a next hop has none, all next hops count alike, as in BGP.
Shares SharesOf(const FareParams& params, Measure measure, std::span<const NextHop> hops);

}  // namespace suede::fare

#endif  // SUEDE_FARE_SHARES_H_
