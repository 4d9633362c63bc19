// SPDX-License-Identifier: Apache-2.0
// The planes to a peer come up, live and die, one or all of them (docs/planes.md, "Health",
// "Failover").
//
// Takes facts and the time, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_PLANE_HEALTH_H_
#define SUEDE_PEER_PLANE_HEALTH_H_

#include <algorithm>
#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "path/plane_session.h"
#include "peer/effects.h"
#include "peer/flight_count.h"
#include "peer/parts.h"
#include "peer/plane_choice.h"
#include "peer/reach.h"

namespace suede {

class PlaneHealth {
 public:
  PlaneHealth(const PeerParts& peer, Reach& reach, PlaneChoice& choice, FlightCount& flight)
      : peer_(peer), reach_(reach), choice_(choice), flight_(flight) {}

  // The peer answers PLANE and FENCE: from now on sessions determine the state of its planes. PDUs
  // in flight in generation 0 are in doubt.
  void BeginSessions(Time now, Effects& effects);
  void PlaneUp(PlaneIndex plane, Effects& effects);
  void PlaneDown(PlaneIndex plane, PlaneDownReason reason, Time now, Effects& effects);
  // Requests which PDUs of a dead plane have arrived.
  void SendFence(PlaneIndex plane, Effects& effects);
  // The port of a plane, or an operator's setting of the plane, has changed, and OwnEnd has the new
  // state.
  void OnPlaneChange(PlaneIndex plane, PlaneDownReason reason, Time now, Effects& effects);

  // ---- Signs of life.

  // The peer has acknowledged a PDU on the plane: the path was proved in both directions. For peers
  // of an instance whose planes have sessions.
  void OnProof(PlaneIndex plane, Time now) { peer_.sessions[plane].OnProgress(now); }
  // The lcore was stopped for `time` until now: silence in that time is no evidence about the peer.
  void OnStandstill(Time now, Duration time);
  // The first or second PLANE without an answer is sent: before it the peer was asked rarely, if at
  // all, so its silence is counted from now on.
  void OnRareQuestion(Time now) { peer_.paths->alive_at = std::max(peer_.paths->alive_at, now); }
  // Whether a plane to the peer is up and not silent: the peer is alive.
  bool HasReceivedOnAnyPlane() const;
  // Checks whether all planes to the peer were silent for so long that the peer is unreachable.
  void CheckReach(Time now, Effects& effects);
  // Our number of the plane that the peer calls `peer_plane`; PeerPaths::kNoPlane: no PLANE has
  // arrived on it.
  PlaneIndex PlaneOfPeer(uint8_t peer_plane) const;

 private:
  bool FreezeIfInDoubt(PlaneIndex plane);
  PlaneIndex PlaneForFence(PlaneIndex dead);
  void NoteAlive();
  void GiveUpPeer(Time now, Effects& effects);

  const PeerParts& peer_;
  Reach& reach_;
  PlaneChoice& choice_;
  FlightCount& flight_;
};

}  // namespace suede

#endif  // SUEDE_PEER_PLANE_HEALTH_H_
