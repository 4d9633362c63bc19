// SPDX-License-Identifier: Apache-2.0
// Weights of planes toward all peers. Input: routes and the time; output: changes of weights
// (docs/fare.md).
//
// Single-threaded. Reads no clock, does no I/O.
#ifndef SUEDE_FARE_WEIGHTS_H_
#define SUEDE_FARE_WEIGHTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "fare/damper.h"
#include "fare/params.h"
#include "fare/shares.h"

namespace suede::fare {

inline constexpr uint32_t kMaxWeight = 65535;  // maximum of planes.set_weight

// A weight that the endpoint must set for a plane toward a peer.
struct WeightChange {
  uint32_t peer = 0;   // number of the peer
  uint32_t plane = 0;  // entry of FareParams::planes
  uint32_t weight = 0;
  friend bool operator==(const WeightChange&, const WeightChange&) = default;
};

class FareWeights {
 public:
  // `params` must outlive this object.
  explicit FareWeights(const FareParams& params);

  // Replaces the next hops of the routes to a peer. `hops`: all current ones.
  void OnRoutes(uint32_t peer, Measure measure, std::span<const NextHop> hops, Time now);
  // Applies suppressed changes of weights that are due.
  void OnTime(Time now);
  // Returns the time of the next OnTime.
  Time deadline() const;

  // Returns the weights that the endpoint has not set yet.
  std::vector<WeightChange> Changes() const;
  // Records that the endpoint has set this weight.
  void OnSet(const WeightChange& change);
  // Forgets all set weights, as another daemon has none of them.
  void ForgetSet();
  // Returns the weights of all planes of peers that have had a route.
  std::vector<WeightChange> All() const;

  bool HasRoutes(uint32_t peer) const { return peers_[peer].seen; }
  const Damper& damper(uint32_t peer, uint32_t plane) const {
    return peers_[peer].of[plane].damper;
  }

 private:
  struct OfPlane {
    Damper damper;
    std::optional<uint32_t> set;  // weight set in the endpoint
  };
  struct Peer {
    std::array<OfPlane, kMaxPlanes> of;
    double unit = 1;        // share of weight 1; only grows, to keep weights steady
    bool seen = false;      // the peer has had a next hop
    bool relative = false;  // whether its last shares were relative
  };
  double ShareOf(const Peer& peer, uint32_t plane) const;
  uint32_t WeightOf(const Peer& peer, uint32_t plane) const;
  void FitUnit(Peer& peer) const;

  const FareParams& params_;
  std::vector<Peer> peers_;
};

}  // namespace suede::fare

#endif  // SUEDE_FARE_WEIGHTS_H_
