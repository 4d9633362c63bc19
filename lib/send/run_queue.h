// SPDX-License-Identifier: Apache-2.0
// The run queue: lanes of instances that have PDUs to send, in turn; and the return of waiting
// transmit queues to their lanes. Owned by the lcore.
#ifndef SUEDE_SEND_RUN_QUEUE_H_
#define SUEDE_SEND_RUN_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/coordinates.h"
#include "base/fifo.h"
#include "lcore/instance.h"

namespace suede {

class RunQueue {
 public:
  struct LaneRef {
    uint32_t instance;
    uint32_t lane;  // of its scheduler
  };

  // Makes room for this many instances.
  void Reserve(size_t instances) {
    lanes_.Reserve(instances * kMaxPlanes + 1);
    parked_.Reserve(instances + 1);
  }

  bool empty() const { return lanes_.empty(); }
  size_t size() const { return lanes_.size(); }
  // The lane to serve next. The run queue must not be empty.
  const LaneRef& front() { return lanes_.front(); }
  // Moves the front lane to the end, or removes it if it has nothing left to send.
  void EndTurn(TransmitState& tx, bool done) {
    const LaneRef ref = lanes_.front();
    lanes_.pop_front();
    if (done) {
      tx.active_lanes &= static_cast<uint8_t>(~(1u << ref.lane));
    } else {
      lanes_.push_back(ref);
    }
  }

  // Notes an instance whose lane leaves the queue because all its PDUs wait for the end of a pause.
  // New work may bring the lane back before.
  void Park(TransmitState& tx) {
    if (!std::exchange(tx.parked, true)) parked_.push_back(tx.number);
  }
  // A pause has ended.
  void WakeParked(const std::vector<std::unique_ptr<Instance>>& instances);
  // A transmit queue has PDUs to send, or is to be rechecked.
  void Activate(TransmitState& tx, uint32_t queue);
  // Puts the instance's lanes that have work on the queue, unless they are on it.
  void Enqueue(TransmitState& tx);
  // Blocks a transmit queue that waits for a connection or a share; it is not polled until Unblock.
  static void Block(TransmitState& tx, uint32_t queue) {
    tx.scheduler.Block(queue);
    uint8_t& blocked = tx.blocked[Scheduler::PeerOf(queue)];
    blocked = static_cast<uint8_t>(blocked | 1u << Scheduler::VcOf(queue));
  }
  // Unblocks the transmit queues that wait for a connection, if this connection can send.
  void Unblock(const PeerArrays& peers, TransmitState& tx, ConnectionIndex connection);
  // Unblocks the transmit queues of the VCs of the mask.
  void Unblock(TransmitState& tx, PeerIndex peer, uint32_t vcs);

 private:
  Fifo<LaneRef> lanes_;
  Fifo<uint32_t> parked_;  // instances
};

}  // namespace suede

#endif  // SUEDE_SEND_RUN_QUEUE_H_
