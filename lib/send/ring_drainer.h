// SPDX-License-Identifier: Apache-2.0
// Takes records from clients' rings and packs them into PDUs. Owned by the lcore.
#ifndef SUEDE_SEND_RING_DRAINER_H_
#define SUEDE_SEND_RING_DRAINER_H_

#include <array>
#include <cstdint>

#include "lcore/lcore.h"
#include "pack/packer.h"
#include "send/run_queue.h"

namespace suede {

class RingDrainer {
 public:
  // Both arguments outlive this object.
  RingDrainer(Lcore& lcore, RunQueue& run_queue) : lcore_(lcore), run_queue_(run_queue) {}

  // Called once in a poll iteration. Returns whether there was a record.
  bool Poll();
  // Discards commands of the queue with this slot: returns their credit at once, and completes
  // tagged commands with `status`.
  void Discard(QueueSlot& slot, uint16_t number, const TxRecord& run, uint8_t status);

 private:
  bool Drain(QueueSlot& slot, uint16_t number);
  // Packs the commands of a run into PDUs of the transmit queue.
  void Pack(TransmitState& tx, QueueSlot& slot, uint16_t number, const TxRecord& run,
            uint32_t queue);
  // Packs the first `count` commands of a run of several.
  void PackRun(TransmitState& tx, QueueSlot& slot, uint16_t number, const TxRecord& run,
               uint32_t count, uint32_t queue);
  void PackEach(TransmitState& tx, QueueSlot& slot, const PackInput& input, uint32_t count,
                uint32_t queue);
  Pdu& PduFor(TransmitState& tx, QueueSlot& slot, TxQueue& queue, uint32_t index,
              const PackInput& input);
  void DiscardOne(QueueSlot& slot, uint16_t number, const TxRecord& record, uint8_t status);

  Lcore& lcore_;
  RunQueue& run_queue_;
  std::array<TxRecord, kBurst> runs_;  // scratch of Drain
};

}  // namespace suede

#endif  // SUEDE_SEND_RING_DRAINER_H_
