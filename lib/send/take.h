// SPDX-License-Identifier: Apache-2.0
// Takes records from clients' rings and packs them into PDUs. Owned by the lcore.
#ifndef SUEDE_SEND_TAKE_H_
#define SUEDE_SEND_TAKE_H_

#include <array>
#include <cstdint>

#include "lcore/lcore.h"
#include "pack/packer.h"
#include "send/run_queue.h"

namespace suede {

class Taker {
 public:
  // Both outlive this.
  Taker(Lcore& lcore, RunQueue& run_queue) : lcore_(lcore), run_queue_(run_queue) {}

  // Once in a turn. Returns whether there was a record.
  bool Poll();
  // A command of the queue with this slot that goes nowhere: its credit goes back at once, and
  // the client is told where it asked for that. `status`: why.
  void Discard(QueueSlot& slot, uint16_t number, const TxRecord& record, uint8_t status);

 private:
  bool Drain(QueueSlot& slot, uint16_t number);
  void Pack(Instance& instance, QueueSlot& slot, uint16_t number, const TxRecord& record,
            uint32_t queue);

  Lcore& lcore_;
  RunQueue& run_queue_;
  std::array<TxRecord, kBurst> records_;  // scratch of Drain
};

}  // namespace suede

#endif  // SUEDE_SEND_TAKE_H_
