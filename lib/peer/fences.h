// SPDX-License-Identifier: Apache-2.0
// PDUs in flight on a dead plane: FENCE and FENCED (docs/planes.md, "Failover"); and on a fenced
// session (docs/sessions.md, "Fences").
//
// Takes facts and the time, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_FENCES_H_
#define SUEDE_PEER_FENCES_H_

#include "base/coordinates.h"
#include "base/time.h"
#include "peer/association.h"
#include "peer/effects.h"
#include "peer/flight_count.h"
#include "peer/parts.h"
#include "peer/plane_choice.h"
#include "peer/plane_health.h"
#include "peer/reach.h"
#include "wire/control_pdu.h"

namespace suede {

class Fences {
 public:
  Fences(const PeerParts& peer, const Reach& reach, PlaneChoice& choice, FlightCount& flight,
         PlaneHealth& health, Association& association)
      : peer_(peer),
        reach_(reach),
        choice_(choice),
        flight_(flight),
        health_(health),
        association_(association) {}

  // The peer has found the plane dead, and requests which PDUs arrived.
  void OnFence(PlaneIndex plane, const Fence& fence, bool sealed, Time now, Effects& effects);
  // The peer reports which PDUs of a fenced connection have arrived ahead of the expected one.
  // Returns false if the fence is over.
  bool OnReport(PlaneIndex plane, const Repair& repair);
  // Complete the PDUs that the peer has accepted on a dead plane, or on a fenced session; requeue
  // the rest.
  void OnFenced(const Fenced& fenced, Time now, Effects& effects);
  void OnSessionFenced(PlaneIndex plane, const SessionNumber& answer, Time now, Effects& effects);

 private:
  bool CloseUnnamed();
  bool HaveReports(PlaneIndex plane, PathConnection first, uint32_t count, uint32_t repairs) const;
  bool Complete(PlaneIndex plane, PathConnection number, Psn expected, Time now, Effects& effects);
  void Requeue(PlaneIndex plane, const PduList& rest, Effects& effects) const;

  const PeerParts& peer_;
  const Reach& reach_;
  PlaneChoice& choice_;
  FlightCount& flight_;
  PlaneHealth& health_;
  Association& association_;
};

}  // namespace suede

#endif  // SUEDE_PEER_FENCES_H_
