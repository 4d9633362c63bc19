// SPDX-License-Identifier: Apache-2.0
// The share of each plane in what goes to one peer, from the next hops of its routes.
//
// A value; no clock, no I/O.
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
  std::optional<double> mbps;  // that was announced with its path, unscaled
};

// How the next hops are weighed.
enum class Measure : uint8_t {
  kShare,      // the kernel's weights
  kBandwidth,  // what was announced, up to this end's own link
};

struct Shares {
  // The share of each entry of FareParams::planes; 0: no next hop is on it.
  std::array<double, kMaxPlanes> of{};
  // Ten-thousandths of the plane that has most, which move with other planes. Otherwise Mb/s.
  bool relative = false;

  double operator[](size_t plane) const { return of[plane]; }
  friend bool operator==(const Shares&, const Shares&) = default;
};

// Next hops on interfaces of no plane are not counted. Where bandwidths are the measure and one
// next hop has none, all next hops count alike, as BGP has it.
Shares SharesOf(const FareParams& params, Measure measure, std::span<const NextHop> hops);

}  // namespace suede::fare

#endif  // SUEDE_FARE_SHARES_H_
