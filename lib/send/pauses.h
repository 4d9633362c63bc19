// SPDX-License-Identifier: Apache-2.0
// Ports that are paused: frames that lie in a device, or wait here for the end of a pause that the
// neighbour has asked for (docs/pfc.md), have no answer, and that says nothing of planes and peers
// (docs/planes.md, "A port that is paused"). Owned by the lcore.
#ifndef SUEDE_SEND_PAUSES_H_
#define SUEDE_SEND_PAUSES_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"

namespace suede {

class Pauses {
 public:
  // `lcore` outlives this.
  explicit Pauses(Lcore& lcore) : lcore_(lcore) {}

  // The hold for a caller that waits for an answer to `oldest`; null: to a frame that is not kept.
  Hold HoldOf(Instance& instance, PeerIndex peer, PlaneIndex plane, Pdu* oldest, Time now);
  // The hold for the plane's session.
  Hold HoldOf(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now);
  // The hold for a connection whose time is over.
  Hold HoldOfConnection(Instance& instance, ConnectionIndex connection, Time now);
  // Whether nothing can be said to a peer without commands: the neighbours have paused all planes
  // for that.
  static bool IsMute(const Instance& instance);
  // Tells the peer, over another plane, that its silence on this one is none.
  void SendHeldUp(Instance& instance, PeerIndex peer, const effect::SendHeldUp& what, Time now);

 private:
  static Hold PausedBy(const Instance& instance, PlaneIndex plane, uint32_t flow, Time now);

  Lcore& lcore_;
};

}  // namespace suede

#endif  // SUEDE_SEND_PAUSES_H_
