// SPDX-License-Identifier: Apache-2.0
// Strict mode: the plane that each flow to one peer takes, its home (docs/planes.md, "Flows"); and
// the queues that may go on.
//
// Takes facts, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_FLOW_PLACEMENT_H_
#define SUEDE_PEER_FLOW_PLACEMENT_H_

#include <cstdint>

#include "base/coordinates.h"
#include "peer/effects.h"
#include "peer/parts.h"

namespace suede {

class FlowPlacement {
 public:
  explicit FlowPlacement(const PeerParts& peer) : peer_(peer) {}

  // Whether a queue that waits for this connection may go on.
  bool MaySend(PlaneIndex plane, PathConnection number) const {
    return (peer_.paths->choice[peer_.own->map.VcOf(number)] & 1u << plane) != 0 &&
           peer_.connection(plane, number).tx().CanSend(0, peer_.own->transport);
  }
  // Unblocks the queues that wait for a connection: any that can send, or this connection.
  void Unblock(Effects& effects) const;
  void Unblock(PlaneIndex plane, PathConnection number, Effects& effects) const;

  // Chooses all homes after a change of planes, routes or weights.
  [[gnu::cold]] void Place(Effects& effects);
  // PDUs have ended while PeerPaths::moving.
  [[gnu::cold]] void OnEnded(Effects& effects);
  // Moves flows that are always busy to planes with more bandwidth left; called periodically. Other
  // flows choose a home when they begin again.
  void Balance(Effects& effects);
  // A PDU of the VC is about to leave, and no PDU of its flow is in flight on its home. Returns
  // true if the flow takes another plane from now on, PeerPaths::home.
  bool OnFlowBegins(Vc vc);
  // The association is over: ends each flow's wait, whatever its home will be.
  void EndMoves();

 private:
  uint32_t KeyOf(Vc flow) const {
    return uint32_t{peer_.own->xpuid} << 12 | flow << 10 | peer_.xpuid;
  }
  uint32_t BusyOf(Vc flow, PlaneIndex plane) const;
  PlaneMask HomesFor(Vc flow) const;
  uint32_t BusyAtHome(PlaneIndex plane) const;
  uint64_t LoadOf(PlaneIndex plane, uint32_t more) const;
  PlaneIndex LeastLoaded(PlaneMask mask, Vc flow, uint32_t more, uint64_t bound) const;
  PlaneIndex WantedHome(Vc flow, uint32_t busy) const;
  void SetChoice(Vc flow);
  void EndMove(Vc flow);
  bool Move(Vc flow, Effects& effects);

  const PeerParts& peer_;
};

}  // namespace suede

#endif  // SUEDE_PEER_FLOW_PLACEMENT_H_
