// SPDX-License-Identifier: Apache-2.0
// Strict mode: the plane that each flow to one peer takes, its home (docs/planes.md, "Flows"); and
// the queues that may go on.
//
// Takes facts, returns moves; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PATH_FLOW_PLACEMENT_H_
#define SUEDE_PATH_FLOW_PLACEMENT_H_

#include <cstdint>

#include "base/coordinates.h"
#include "path/path_parts.h"

namespace suede {

// The flows that a call has moved. Masks of flows, and of VCs.
struct FlowMoves {
  uint8_t waiting = 0;  // wait, since this call, until no PDU is in flight on their homes
  uint8_t placed = 0;   // have another home: PeerPaths::home
  uint8_t ready = 0;    // VCs whose queues may go on, if flows were placed
};

class FlowPlacement {
 public:
  explicit FlowPlacement(const PathParts& peer) : peer_(peer) {}

  // Whether a queue that waits for this connection may go on.
  bool MaySend(PlaneIndex plane, PathConnection number) const {
    return (peer_.paths->choice[peer_.own->map.VcOf(number)] & 1u << plane) != 0 &&
           peer_.connection(plane, number).tx().CanSend(0, peer_.own->transport);
  }
  // The VCs, a mask, of which a connection can send: queues that wait for one may go on.
  uint8_t ReadyVcs() const;

  // Chooses all homes after a change of planes, routes or weights.
  [[gnu::cold]] FlowMoves Place();
  // PDUs have ended while PeerPaths::moving.
  [[gnu::cold]] FlowMoves OnEnded();
  // Moves flows that are always busy to planes with more bandwidth left; called periodically. Other
  // flows choose a home when they begin again.
  FlowMoves Balance();
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
  void Move(Vc flow, FlowMoves& moves);

  const PathParts& peer_;
};

}  // namespace suede

#endif  // SUEDE_PATH_FLOW_PLACEMENT_H_
