// SPDX-License-Identifier: Apache-2.0
// The planes that PDUs to a peer may take (docs/planes.md): their ports and their sessions, their
// measured rates, and the homes of flows among them.
//
// Takes facts, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_PLANE_CHOICE_H_
#define SUEDE_PEER_PLANE_CHOICE_H_

#include "base/coordinates.h"
#include "base/time.h"
#include "path/flow_placement.h"
#include "path/plane_rates.h"
#include "peer/agreement.h"
#include "peer/effects.h"
#include "peer/parts.h"

namespace suede {

class PlaneChoice {
 public:
  PlaneChoice(const PeerParts& peer, const Agreement& agreement)
      : peer_(peer), agreement_(agreement), rates_(peer), placement_(peer) {}

  // The measured rates of the planes.
  PlaneRates& rates() { return rates_; }
  // The homes of flows.
  FlowPlacement& placement() { return placement_; }
  const FlowPlacement& placement() const { return placement_; }
  // Whether the plane's port, address and session let PDUs pass.
  bool IsOpen(PlaneIndex plane) const;
  // Recomputes which planes PDUs to the peer may take.
  void Update(Effects& effects);
  // Unblocks the queues that wait for a connection: any that can send, or this connection.
  void Unblock(Effects& effects) const { Unblock(placement_.ReadyVcs(), effects); }
  void Unblock(PlaneIndex plane, PathConnection number, Effects& effects) const {
    if (placement_.MaySend(plane, number)) Unblock(peer_.own->map.VcsOf(number), effects);
  }
  // The same as FlowPlacement's, with their effects.
  void Place(Effects& effects) { Report(placement_.Place(), effects); }
  void OnEnded(Effects& effects) { Report(placement_.OnEnded(), effects); }
  void Balance(Effects& effects) { Report(placement_.Balance(), effects); }
  // Closes the window of the plane's measured rate if it is due.
  void CheckRate(PlaneIndex plane, const PlaneRates::Facts& facts, Time now, Effects& effects);
  // The plane comes up, or its weight has changed: its measured rate is not known any longer.
  void ForgetRate(PlaneIndex plane, Effects& effects) {
    if (rates_.Forget(plane)) Place(effects);
  }

 private:
  static void Unblock(uint8_t vcs, Effects& effects) {
    if (vcs != 0) effects.Add(effect::Unblock{vcs});
  }
  void Report(const FlowMoves& moves, Effects& effects) const;

  const PeerParts& peer_;
  const Agreement& agreement_;
  PlaneRates rates_;
  FlowPlacement placement_;
};

}  // namespace suede

#endif  // SUEDE_PEER_PLANE_CHOICE_H_
