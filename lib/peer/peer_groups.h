// SPDX-License-Identifier: Apache-2.0
// The session groups of the planes to a peer (docs/sessions.md): the number of sessions that both
// ends have agreed on, SESSION, and a session on which no PDU gets through.
//
// Takes facts and the time, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_PEER_GROUPS_H_
#define SUEDE_PEER_PEER_GROUPS_H_

#include "base/coordinates.h"
#include "base/time.h"
#include "peer/agreement.h"
#include "peer/effects.h"
#include "peer/parts.h"
#include "peer/plane_choice.h"
#include "wire/control_pdu.h"

namespace suede {

class PeerGroups {
 public:
  PeerGroups(const PeerParts& peer, const Agreement& agreement, PlaneChoice& choice)
      : peer_(peer), agreement_(agreement), choice_(choice) {}

  // Begins the groups with the sessions that both ends distinguish: both have agreed, or the
  // association is over.
  void Begin(Time now, Effects& effects);
  void OnDeadline(PlaneIndex plane, Time now, Effects& effects);
  void OnSession(PlaneIndex plane, const SessionNumber& message, Time now, Effects& effects);
  // A connection has timed out several times in a row.
  void OnStall(PlaneIndex plane, PathConnection number, Time now, Effects& effects);
  // Whether acknowledgements of ours come without a wait: our congestion control uses round trips.
  bool IsPrompt() const {
    return peer_.own->hello.wants_echoes && agreement_.hello.answers_congestion;
  }

 private:
  void OnRequest(PlaneIndex plane, const SessionNumber& message, Time now, Effects& effects);
  void Send(PlaneIndex plane, SessionIndex slot, Effects& effects) const;

  const PeerParts& peer_;
  const Agreement& agreement_;
  PlaneChoice& choice_;
};

}  // namespace suede

#endif  // SUEDE_PEER_PEER_GROUPS_H_
