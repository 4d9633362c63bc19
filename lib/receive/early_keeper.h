// SPDX-License-Identifier: Apache-2.0
// PDUs of strict order that stay in their frames until those before them have come
// (docs/repair.md). Owned by the lcore.
#ifndef SUEDE_RECEIVE_EARLY_KEEPER_H_
#define SUEDE_RECEIVE_EARLY_KEEPER_H_

#include "base/coordinates.h"
#include "base/fifo.h"
#include "lcore/lcore.h"
#include "receive/received_pdu.h"

namespace suede {

class EarlyKeeper {
 public:
  // `lcore` outlives this object.
  explicit EarlyKeeper(Lcore& lcore) : lcore_(lcore) {}

  // Adds an instance, before the first poll iteration.
  void AddInstance() { keeping_.Reserve(lcore_.timers.count()); }

  // Keeps a PDU in its frame. Returns false if the instance keeps as many as it may.
  bool Keep(Instance& instance, ConnectionIndex number, const ReceivedPdu& pdu);
  // Takes the connection's first kept PDU, whose frame is the caller's from now on.
  static Pdu* TakeFirst(Instance& instance, ConnectionIndex number);
  // Releases the frames of PDUs that their connections have forgotten; called once in a poll
  // iteration.
  void Poll() {
    if (!keeping_.empty()) [[unlikely]]
      ReleaseDiscarded();
  }

 private:
  void ReleaseDiscarded();

  Lcore& lcore_;
  Fifo<ConnectionRef> keeping_;  // connections that keep PDUs, each once
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_EARLY_KEEPER_H_
