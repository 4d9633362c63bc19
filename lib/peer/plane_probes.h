// SPDX-License-Identifier: Apache-2.0
// PLANEs of both ends, and the meaning of silence (docs/planes.md, "Health").
//
// Takes facts and the time, adds effects; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PEER_PLANE_PROBES_H_
#define SUEDE_PEER_PLANE_PROBES_H_

#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "path/failed_planes.h"
#include "path/plane_session.h"
#include "peer/agreement.h"
#include "peer/association.h"
#include "peer/effects.h"
#include "peer/parts.h"
#include "peer/peer_groups.h"
#include "peer/plane_choice.h"
#include "peer/plane_health.h"
#include "wire/control_pdu.h"

namespace suede {

// The device that lets no frame leave, so that silence is no evidence about the peer.
enum class Hold : uint8_t {
  kNone,
  kOwn,      // our device
  kPeers,    // the other end's device, as the peer reports
  kTooLong,  // our device, for so long that silence does count
  // Our neighbour, which requests pauses repeatedly: the neighbour is alive, and has blocked all
  // frames for longer than is tolerated while there is another path.
  kNeighbour,
};

class PlaneProbes {
 public:
  PlaneProbes(const PeerParts& peer, const Agreement& agreement, PlaneChoice& choice,
              PlaneHealth& health, PeerGroups& groups, Association& association)
      : peer_(peer),
        agreement_(agreement),
        choice_(choice),
        health_(health),
        groups_(groups),
        association_(association) {}

  // Whether OnDeadline needs the `hold`.
  bool NeedsHold(PlaneIndex plane, Time now) const;
  // The deadline of a session has come.
  void OnDeadline(PlaneIndex plane, Hold hold, Time now, Effects& effects);
  // Planes have failed to another peer, or a peer reports so. Probes this peer on these planes at
  // once, and reports the planes to it.
  void OnFailedPlanes(const PlaneReport& report, Time now, Effects& effects);
  void OnPlane(PlaneIndex plane, const PlaneHello& hello, bool sealed, Time now, Effects& effects);

 private:
  PlaneSession::Facts FactsOf(PlaneIndex plane, Hold hold, Time now) const;
  void AskSiblings(PlaneIndex silent, Time now, Effects& effects);
  void SendPlane(PlaneIndex plane, bool reply_wanted, Effects& effects,
                 const PlaneReport& report = {});
  void SendHeldUp(PlaneIndex plane, bool if_held, Effects& effects) const;
  bool IsOfOtherPair(PlaneIndex plane, const PlaneHello& hello, Time now, Effects& effects);
  void OnReport(PlaneIndex plane, const PlaneHello& hello, Time now, Effects& effects);
  void OnHeldUp(PlaneIndex plane, uint8_t held, Time now, Effects& effects);

  const PeerParts& peer_;
  const Agreement& agreement_;
  PlaneChoice& choice_;
  PlaneHealth& health_;
  PeerGroups& groups_;
  Association& association_;
};

}  // namespace suede

#endif  // SUEDE_PEER_PLANE_PROBES_H_
