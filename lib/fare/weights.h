// SPDX-License-Identifier: Apache-2.0
// The weights of planes toward all peers: routes and the time in, changes of weights out
// (docs/fare.md).
//
// One thread. Reads no clock, does no I/O.
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

inline constexpr uint32_t kMaxWeight = 65535;  // of planes.set_weight

// The endpoint is to give a plane this weight toward a peer.
struct WeightChange {
  uint32_t peer = 0;   // its number
  uint32_t plane = 0;  // entry of FareParams::planes
  uint32_t weight = 0;
  friend bool operator==(const WeightChange&, const WeightChange&) = default;
};

class FareWeights {
 public:
  // `params` outlives this.
  explicit FareWeights(const FareParams& params);

  // All next hops of the routes to a peer, as they are now.
  void OnRoutes(uint32_t peer, Measure measure, std::span<const NextHop> hops, Time now);
  // Applies the changes of weights that were held back and are due.
  void OnTime(Time now);
  // When OnTime is due.
  Time deadline() const;

  // The weights that the endpoint does not have yet.
  std::vector<WeightChange> Changes() const;
  // The endpoint has this weight.
  void OnSet(const WeightChange& change);
  // The endpoint has none of the weights: it is another daemon.
  void ForgetSet();
  // The planes of peers that the endpoint has been given a weight for.
  std::vector<WeightChange> All() const;

  bool HasRoutes(uint32_t peer) const { return peers_[peer].seen; }
  const Damper& damper(uint32_t peer, uint32_t plane) const {
    return peers_[peer].of[plane].damper;
  }

 private:
  struct OfPlane {
    Damper damper;
    std::optional<uint32_t> set;  // the weight that the endpoint has
  };
  struct Peer {
    std::array<OfPlane, kMaxPlanes> of;
    double unit = 1;        // that the weight 1 stands for: never less, so that weights are steady
    bool seen = false;      // it has had a next hop
    bool relative = false;  // its shares, as they were told last
  };
  double ShareOf(const Peer& peer, uint32_t plane) const;
  uint32_t WeightOf(const Peer& peer, uint32_t plane) const;
  void FitUnit(Peer& peer) const;

  const FareParams& params_;
  std::vector<Peer> peers_;
};

}  // namespace suede::fare

#endif  // SUEDE_FARE_WEIGHTS_H_
