// SPDX-License-Identifier: Apache-2.0
// The planes that PDUs to a peer may take (docs/planes.md): their ports and their sessions, their
// measured rates, and the homes of flows among them.
//
// Takes facts, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_PLANE_CHOICE_H_
#define SUEDE_PEER_PLANE_CHOICE_H_

#include "base/coordinates.h"
#include "peer/agreement.h"
#include "peer/effects.h"
#include "peer/flow_placement.h"
#include "peer/parts.h"
#include "peer/plane_rates.h"

namespace suede {

class PlaneChoice {
 public:
  PlaneChoice(const PeerParts& peer, const Agreement& agreement)
      : peer_(peer), agreement_(agreement), rates_(peer), placement_(peer) {}

  // The measured rates of the planes.
  PlaneRates& rates() { return rates_; }
  // The homes of flows, and the queues that may go on.
  FlowPlacement& placement() { return placement_; }
  // Whether the plane's port, address and session let PDUs pass.
  bool IsOpen(PlaneIndex plane) const;
  // Recomputes which planes PDUs to the peer may take.
  void Update(Effects& effects);
  // The plane comes up, or its weight has changed: its measured rate is not known any longer.
  void ForgetRate(PlaneIndex plane, Effects& effects) {
    if (rates_.Forget(plane)) placement_.Place(effects);
  }

 private:
  const PeerParts& peer_;
  const Agreement& agreement_;
  PlaneRates rates_;
  FlowPlacement placement_;
};

}  // namespace suede

#endif  // SUEDE_PEER_PLANE_CHOICE_H_
