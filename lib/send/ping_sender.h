// SPDX-License-Identifier: Apache-2.0
// Sends an operator's pings (docs/control-pdus.md, "Asking by hand"). A ping neither delays nor
// changes the association. Owned by the lcore.
#ifndef SUEDE_SEND_PING_SENDER_H_
#define SUEDE_SEND_PING_SENDER_H_

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "lcore/mailbox.h"

namespace suede {

class PingSender {
 public:
  // `lcore` outlives this object.
  explicit PingSender(Lcore& lcore) : lcore_(lcore) {}

  // Sends the HELLOs or probes of a ping. Instance::ping receives the answers.
  void Send(const request::Ping& request);

 private:
  static PingState SendQuery(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now);
  static bool SendProbe(Instance& instance, PeerIndex peer, PlaneIndex plane, int ahead);

  Lcore& lcore_;
};

}  // namespace suede

#endif  // SUEDE_SEND_PING_SENDER_H_
