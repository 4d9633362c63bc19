// SPDX-License-Identifier: Apache-2.0
// Whether a peer counts as unreachable, on which VCs: it does not answer, its MAC address is not
// known, or no plane has had a route to it for too long.
//
// Takes facts and the time, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_REACH_H_
#define SUEDE_PEER_REACH_H_

#include <algorithm>
#include <cstdint>

#include "base/coordinates.h"
#include "base/sue.h"
#include "base/time.h"
#include "peer/effects.h"
#include "peer/parts.h"

namespace suede {

class Reach {
 public:
  static constexpr uint8_t kAllVcs = (1u << kVcCount) - 1;

  explicit Reach(const PeerParts& peer) : peer_(peer) {}

  // VCs for which no PDU is queued, a mask.
  uint8_t lost_vcs() const { return cut_off_ ? kAllVcs : lost_vcs_; }
  // Whether the peer has had no route for so long that it counts as unreachable.
  bool cut_off() const { return cut_off_; }
  // When CheckRoutes is due.
  Time deadline() const { return cut_off_at_; }

  // ---- Lost and found.

  static void EmitUnreachable(PlaneIndex plane, PathConnection number, Effects& effects);
  void Mark(uint8_t vcs, bool lost, Effects& effects);
  // Marks the VCs, and gives up their queued PDUs.
  void Lose(uint8_t vcs, Effects& effects);
  // The peer has answered on the connection: the VCs count as lost no longer.
  void Find(uint8_t vcs, PlaneIndex plane, PathConnection number, Effects& effects);
  // The peer no longer counts as lost, if it did.
  void FindAgain(Effects& effects) {
    if (lost_vcs_ != 0) Find(kAllVcs, 0, 0, effects);
  }
  // A connection that was lost is in step again.
  void OnResumed(PlaneIndex plane, PathConnection number, Effects& effects) {
    Find(peer_.own->map.VcsOf(number), plane, number, effects);
  }
  // OnMac: the peer's MAC address is known now on the plane. OnNoMac: it is unknown.
  void OnMac(PlaneIndex plane, Effects& effects);
  void OnNoMac(Effects& effects);

  // ---- Routes.

  // Whether any plane has a route to the peer, in whatever state the plane is.
  bool HasRoute() const;
  // The last route was withdrawn. Queued PDUs wait for a while: the route may come back.
  void OnRouteGone(Time now) { cut_off_at_ = now + peer_.own->paths.unreachable; }
  void OnRouteBack(Effects& effects);
  void CheckRoutes(Time now, Effects& effects);
  void OnNewParams(Time now) {
    if (cut_off_at_ != kNever) {
      cut_off_at_ = std::min(cut_off_at_, now + peer_.own->paths.unreachable);
    }
  }

 private:
  const PeerParts& peer_;
  uint8_t lost_vcs_ = 0;  // lost for other reasons than a missing route
  bool cut_off_ = false;
  Time cut_off_at_ = kNever;  // when cut_off_ will be set, if no route comes back
};

}  // namespace suede

#endif  // SUEDE_PEER_REACH_H_
