// SPDX-License-Identifier: Apache-2.0
// Paused ports: frames that are stuck in a device, or wait here for the end of a pause that the
// neighbour has requested (docs/pfc.md), get no answer, which is no evidence about planes and peers
// (docs/planes.md, "A port that is paused"). Owned by the lcore.
#ifndef SUEDE_SEND_PAUSES_H_
#define SUEDE_SEND_PAUSES_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"

namespace suede {

class Pauses {
 public:
  // `lcore` outlives this object.
  explicit Pauses(Lcore& lcore) : lcore_(lcore) {}

  // Returns the hold for a caller that waits for an answer to `oldest`; null: to a frame that is
  // not kept.
  Hold HoldOf(Instance& instance, PeerIndex peer, PlaneIndex plane, Pdu* oldest, Time now);
  // The hold for the plane's session.
  Hold HoldOf(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now);
  // The hold for a connection that has timed out.
  Hold HoldOfConnection(Instance& instance, ConnectionIndex connection, Time now);
  // Whether no PDU without commands can be sent: the neighbours have paused its class on all
  // planes.
  static bool IsMute(const PlanePorts& ports);
  // Reports to the peer, over another plane, that frames of this plane are held up.
  void SendHeldUp(Instance& instance, PeerIndex peer, const effect::SendHeldUp& what, Time now);

 private:
  static Hold PausedBy(const Link& link, uint32_t flow, Duration limit, Time now);

  Lcore& lcore_;
};

}  // namespace suede

#endif  // SUEDE_SEND_PAUSES_H_
