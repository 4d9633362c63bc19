// SPDX-License-Identifier: Apache-2.0
// The planes of an instance that lead to a peer, and the choice of one for a PDU
// (docs/planes.md, "Choice of the plane"; SUE framework §1.2, §4.3).
//
// Owned by one lcore. A choice is a few multiplications, with any number of peers.
#ifndef SUEDE_PATH_PEER_PATHS_H_
#define SUEDE_PATH_PEER_PATHS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/coordinates.h"
#include "base/sue.h"
#include "base/time.h"
#include "path/params.h"
#include "path/path_rate.h"

namespace suede {

// A set of planes: a bit each.
using PlaneMask = uint8_t;

// The shares of an instance's planes in its traffic, if all PDUs followed the weights for their
// destinations: an average over the last calls of Note. These shares define an even load where
// destinations differ, as some have no route over a plane.
class PlaneShares {
 public:
  static constexpr uint32_t kOne = 1u << 24;

  // A PDU has left for a peer, for which the planes have these shares.
  void Note(const std::array<uint32_t, kMaxPlanes>& of_peer) {
    if (!any_uneven()) [[likely]]
      return;
    for (PlaneIndex plane = 0; plane < kMaxPlanes; ++plane) {
      share_[plane] +=
          static_cast<uint32_t>(static_cast<int32_t>(of_peer[plane] - share_[plane]) >> kSpanBits);
    }
    if (--until_costs_ == 0) [[unlikely]]
      SetCosts();
  }
  // Begins with the shares that follow from the planes' own weights, which each peer has by
  // default.
  void Begin(const std::array<uint32_t, kMaxPlanes>& usual);
  const std::array<uint32_t, kMaxPlanes>& usual() const { return usual_; }
  bool any_uneven() const { return uneven_ != 0; }
  // A peer has other shares than the usual ones (`uneven`), or has them no longer.
  void OnUneven(bool uneven);
  // The total bytes of all planes if each had as many for its share as this plane has with `bytes`.
  uint64_t SumFor(PlaneIndex plane, uint32_t bytes) const {
    return uint64_t{bytes} * cost_[plane] >> kCostBits;
  }

 private:
  static constexpr int kSpanBits = 8;   // 256 calls of Note
  static constexpr int kCostBits = 12;  // after the point, of cost_; no share is below 1/4096
  static constexpr uint32_t kTurnsOfCosts = 16;
  void SetCosts();

  std::array<uint32_t, kMaxPlanes> usual_{};  // of kOne
  std::array<uint32_t, kMaxPlanes> share_{};
  std::array<uint32_t, kMaxPlanes> cost_{};  // of a byte: kOne / share_
  uint32_t until_costs_ = kTurnsOfCosts;
  uint32_t uneven_ = 0;  // peers
};

// The target of a flow that waits before it moves.
struct FlowMove {
  uint8_t to = 0;     // the plane,
  uint8_t count = 0;  // and how many connections were busy when that was decided
};

// The planes to one peer. A flow, in strict mode: the VCs that share a connection. A choice reads
// the first cache line.
struct alignas(64) PeerPaths {
  static constexpr PlaneIndex kNoPlane{~0u};
  static constexpr uint32_t kWeightOne = 1u << 24;
  static constexpr uint32_t kCarriedBase = 1u << 30;

  std::array<uint32_t, kMaxPlanes> inflight_bytes{};  // of commands, without an acknowledgement
  std::array<uint32_t, kMaxPlanes> cost{};            // of a byte: kWeightOne / weight,
                                                      // of which the measured part counts
  std::array<uint32_t, kMaxPlanes> carried{
      kCarriedBase, kCarriedBase, kCarriedBase,
      kCarriedBase};                          // bytes' cost so far, above a common base
  uint32_t carried_limit = 2 * kCarriedBase;  // where the base is recomputed
  uint32_t cost_of_sum = kWeightOne;  // kWeightOne / the sum of the weights of usable planes
  PlaneMask open = 0;                 // port, address and session let PDUs pass
  PlaneMask usable = 0;               // open planes that have a route: PDUs may be sent there
  std::array<PlaneMask, kVcCount> choice{};  // usable planes that the next PDU of a VC may take:
                                             // strict, its flow's home or none
  PlaneMask present = 0;                     // the plane leads to the peer
  PlaneMask resolving = 0;                   // the peer's MAC address is not known yet there
  PlaneMask alike = 0;  // another plane has the same addresses, and PDUs may be sealed: the plane
                        // is paired with one of the peer's

  std::array<uint32_t, kMaxPlanes> share{};   // of PlaneShares::kOne, by weight
  std::array<uint16_t, kMaxPlanes> weight{};  // 0: the route is withdrawn
  std::array<uint8_t, kVcCount> home{};       // strict: the plane that all PDUs of a flow take
  bool sessions = false;  // the peer answers PLANE and FENCE: sessions determine the state of its
                          // planes
  uint8_t moving = 0;     // strict, flows: send nothing until no PDU is in flight on their homes
  uint8_t begun = 0;      // strict, flows: have begun since the last FlowPlacement::Balance,
  uint8_t begun_before = 0;  // or between the last two
  bool unreachable = false;
  bool uneven = false;    // the shares are not the usual ones
  bool flows = false;     // strict: a plane keeps its deficit, as few flows are free to choose
  bool any_part = false;  // a part is not whole, and weights are shifted
  uint8_t weight_shift = 0;
  uint8_t turn = 0;  // of planes, for messages that may take any
  Time alive_at{};   // the last sign of life while there was something to send
  std::array<FlowMove, kVcCount> moves{};  // of flows that are moving
  // Bytes in flight in sessions with dead paths on a live plane. They are not in `inflight_bytes`,
  // as they are no load (docs/planes.md, "Choice of the plane").
  std::array<uint32_t, kMaxPlanes> aside_bytes{};
  std::array<uint16_t, kMaxPlanes> part{PathRate::kWhole, PathRate::kWhole, PathRate::kWhole,
                                        PathRate::kWhole};  // measured part of the weight

  void SetWeight(PlaneIndex plane, uint32_t value);
  // `value`: the part of its weight that the plane was measured to carry, of PathRate::kWhole.
  void SetPart(PlaneIndex plane, uint32_t value);
  void SetUsable(PlaneMask planes);
  // To be called after SetWeight, SetPart and SetUsable.
  void PublishShares(PlaneShares& shares);
  bool HasRoute(PlaneIndex plane) const { return weight[plane] != 0; }
  // The plane of `mask` for a PDU of `bytes`. A plane is passed over while its bytes in flight, for
  // its weight, are as many as another plane's would be with this PDU: it has no bandwidth left
  // before that plane. The others share by weight, however little there is to send: chooses the one
  // that will have carried the least for its weight. `instance_bytes`: the instance's bytes in
  // flight on each plane, to all peers, which count by these peers' weights (`shares`).
  PlaneIndex Choose(PlaneMask mask, const std::array<uint32_t, kMaxPlanes>& instance_bytes,
                    const PlaneShares& shares, uint32_t bytes) const {
    std::array<uint64_t, kMaxPlanes> load;
    uint64_t bound = UINT64_MAX;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
      const auto plane = Lowest<PlaneIndex>(left);
      load[plane] = LoadOf(plane, inflight_bytes[plane], instance_bytes[plane], shares);
      bound = std::min(bound, load[plane] + StepOfLoad(plane, bytes, shares) + 1);  // one passes
    }
    PlaneIndex best = kNoPlane;
    uint64_t min = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
      const auto plane = Lowest<PlaneIndex>(left);
      if (load[plane] >= bound) continue;
      const uint64_t share = uint64_t{carried[plane]} + StepOf(plane, bytes);
      if (best != kNoPlane && share >= min) continue;
      best = plane;
      min = share;
    }
    return best;
  }
  // A PDU takes the plane; OnSendAlone: the only plane.
  void OnSendAlone(uint32_t bytes) { inflight_bytes[0] += bytes; }
  void OnSend(PlaneIndex plane, uint32_t bytes) {
    inflight_bytes[plane] += bytes;
    carried[plane] += StepOf(plane, bytes);
    if (carried[plane] >= carried_limit) [[unlikely]]
      Rebase(bytes);
  }
  void OnEnd(PlaneIndex plane, uint32_t bytes) { inflight_bytes[plane] -= bytes; }
  void SetAside(PlaneIndex plane, uint32_t bytes) {
    inflight_bytes[plane] -= bytes;
    aside_bytes[plane] += bytes;
  }
  uint32_t InFlightOn(PlaneIndex plane) const { return inflight_bytes[plane] + aside_bytes[plane]; }
  // A plane that comes back counts as having carried as much as the others: it has no deficit.
  void Join(PlaneIndex plane);
  // The planes that the next PDU of any VC may take.
  PlaneMask choices() const {
    return static_cast<PlaneMask>(choice[0] | choice[1] | choice[2] | choice[3]);
  }
  // The plane that a flow draws among `mask`, by weight: the same plane as long as it is in the
  // mask (highest random weight). `key` names the flow.
  PlaneIndex Draw(PlaneMask mask, uint32_t key) const;

 private:
  static constexpr uint64_t kMaxSum = uint64_t{1} << 38;
  // The lightest PDU is a step on a plane of the greatest weight (4), and the heaviest on a plane
  // of the least weight is below kCarriedBase (2^28).
  static constexpr int kCarriedBits = 10;
  // Max deficit of a plane, bytes: a plane that was full or paused for long does not take all
  // traffic for as long afterwards, and bytes that it could not carry for a moment are forgotten
  // soon. More than the largest PDU.
  static constexpr uint32_t kMaxDeficit = 32 << 10;
  static constexpr uint32_t kBytesOfBase = 64 << 10;  // to the peer, until the base is recomputed

  // The load of the plane with `bytes` in flight to the peer, and `instance_bytes` to all peers.
  uint64_t LoadOf(PlaneIndex plane, uint32_t bytes, uint32_t instance_bytes,
                  const PlaneShares& shares) const {
    if (!shares.any_uneven()) [[likely]]
      return (uint64_t{bytes} + instance_bytes) * cost[plane];
    const uint64_t sum = std::min(shares.SumFor(plane, instance_bytes), kMaxSum);
    return uint64_t{bytes} * cost[plane] + sum * cost_of_sum;
  }
  // The load that a PDU adds. (Counts it once if all peers have the same shares, although LoadOf
  // counts it twice.)
  uint64_t StepOfLoad(PlaneIndex plane, uint32_t bytes, const PlaneShares& shares) const {
    return LoadOf(plane, bytes, shares.any_uneven() ? bytes : 0, shares);
  }
  void SetShares();
  void SetCosts();
  // The measured part of the weight, in a unit of its own if a part is not whole.
  uint32_t MeasuredWeight(PlaneIndex plane) const {
    if (weight[plane] == 0 || !any_part) return weight[plane];
    const uint32_t value = (uint32_t{weight[plane]} << weight_shift) * part[plane];
    return std::max(value / PathRate::kWhole, 1u);
  }
  uint32_t StepOf(PlaneIndex plane, uint32_t bytes) const {
    return static_cast<uint32_t>(uint64_t{bytes} * cost[plane] >> kCarriedBits);
  }
  // Subtracts the common part from `carried`, and the part of a plane's deficit beyond the bound;
  // without flows also half of the deficit beyond `bytes`, the size of the PDU that just left.
  [[gnu::cold]] void Rebase(uint32_t bytes);
};

}  // namespace suede

#endif  // SUEDE_PATH_PEER_PATHS_H_
