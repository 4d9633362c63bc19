// SPDX-License-Identifier: Apache-2.0
// PDUs for which no ring had room: sends NOT_READY, and READY when there is room again
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
  // `lcore` outlives this object.
  explicit Refusals(Lcore& lcore) : lcore_(lcore) {}

  // Adds an instance, before the first poll iteration.
  void AddInstance();

  // The PDU needs `lines` free lines of a ring, which has fewer.
  void OnRefusal(Instance& instance, ConnectionIndex connection, ReceivedPdu pdu, uint32_t lines);
  // Sends READY to senders of refused PDUs if there is room now; called once in a poll iteration.
  void SendReady() {
    if (!refused_.empty()) [[unlikely]]
      SendReadyOfAll();
  }

 private:
  void SendReadyOfAll();

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
