// SPDX-License-Identifier: Apache-2.0
// An operator asks whether a peer is there (docs/control-pdus.md, "Asking by hand"). Nothing of the
// association waits for this, and nothing that the association waits for is touched by it. Owned by
// the lcore.
#ifndef SUEDE_SEND_PING_SENDER_H_
#define SUEDE_SEND_PING_SENDER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "lcore/mailbox.h"

namespace suede {

class PingSender {
 public:
  // `lcore` outlives this.
  explicit PingSender(Lcore& lcore) : lcore_(lcore) {}

  // The answers are Instance::ping's to hear.
  void Ask(const request::Ping& request);

 private:
  static PingState AskByHand(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now);
  static bool ProbeByHand(Instance& instance, PeerIndex peer, PlaneIndex plane, int ahead);

  Lcore& lcore_;
};

}  // namespace suede

#endif  // SUEDE_SEND_PING_SENDER_H_
