// SPDX-License-Identifier: Apache-2.0
// PDUs that no ring had room for: NOT_READY says so, READY that there is room again
// (docs/control-pdus.md). Owned by the lcore.
#ifndef SUEDE_RECEIVE_REFUSALS_H_
#define SUEDE_RECEIVE_REFUSALS_H_

#include <cstdint>

#include "base/coordinates.h"
#include "base/fifo.h"
#include "lcore/lcore.h"
#include "receive/received_pdu.h"

namespace suede {

class Refusals {
 public:
  // `lcore` outlives this.
  explicit Refusals(Lcore& lcore) : lcore_(lcore) {}

  // For one more instance, before the first turn.
  void AddInstance();

  // The PDU needs `lines` of a ring that has not got them.
  void OnRefusal(Instance& instance, ConnectionIndex connection, ReceivedPdu pdu, uint32_t lines);
  // Once in a turn: tells senders whose PDU was refused that there is room now.
  void SendReady();

 private:
  struct Refused {
    uint32_t instance;
    ConnectionIndex connection;
    uint32_t lines;  // of the ring that the refused PDU needs
    Psn psn;
    Vc vc;
  };

  Lcore& lcore_;
  Fifo<Refused> refused_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_REFUSALS_H_
