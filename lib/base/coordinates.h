// SPDX-License-Identifier: Apache-2.0
// Coordinates of the data path, each a type of its own: a peer cannot be passed as a plane.
//
// A coordinate converts implicitly to its number, which indexes arrays and shifts masks. A number
// converts to a coordinate only explicitly, PeerIndex(number); literals convert implicitly.
#ifndef SUEDE_BASE_COORDINATES_H_
#define SUEDE_BASE_COORDINATES_H_

#include <bit>
#include <concepts>
#include <cstdint>

namespace suede {

template <typename Tag>
class Coordinate {
 public:
  constexpr Coordinate() = default;
  consteval Coordinate(int literal)  // NOLINT: implicit
      : value_(static_cast<uint32_t>(literal)) {}
  template <std::unsigned_integral Number>
  explicit constexpr Coordinate(Number number) : value_(static_cast<uint32_t>(number)) {}
  constexpr operator uint32_t() const { return value_; }  // NOLINT: implicit
  constexpr Coordinate& operator++() {
    ++value_;
    return *this;
  }

 private:
  uint32_t value_ = 0;
};

// Returns the lowest coordinate in a nonzero mask.
template <typename Index, std::unsigned_integral Mask>
constexpr Index Lowest(Mask mask) {
  return Index(static_cast<uint32_t>(std::countr_zero(mask)));
}

// Indices of a pipeline's parts.
using InstanceIndex = Coordinate<struct InstanceTag>;  // of the pipeline's instances
using PortIndex = Coordinate<struct PortTag>;          // of the pipeline's ports

// Indices of the parts of an instance.
using PeerIndex = Coordinate<struct PeerTag>;        // of the instance's peers
using PlaneIndex = Coordinate<struct PlaneTag>;      // of the instance's planes, below kMaxPlanes
using SessionIndex = Coordinate<struct SessionTag>;  // of the sessions of a {peer, plane}
using Vc = Coordinate<struct VcTag>;                 // a virtual channel, below kVcCount

// Indices of the instance's dense arrays (peer/connection_map.h).
using PathIndex = Coordinate<struct PathTag>;              // of a {peer, plane}
using ConnectionIndex = Coordinate<struct ConnectionTag>;  // of a connection

// Number of a connection within its {peer, plane}: {session, VC}, or the session if one connection
// carries all VCs.
using PathConnection = Coordinate<struct PathConnectionTag>;

}  // namespace suede

#endif  // SUEDE_BASE_COORDINATES_H_
