// SPDX-License-Identifier: Apache-2.0
// The run queue: lanes of instances that have PDUs to send, in turn, and how a transmit queue that
// waits gets back on its lane. Owned by the lcore.
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
  // The lane whose turn it is. The run queue must not be empty.
  const LaneRef& front() { return lanes_.front(); }
  // The front lane goes to the end, or off the queue where it has nothing left to send.
  void EndTurn(Instance& instance, bool done) {
    const LaneRef ref = lanes_.front();
    lanes_.pop_front();
    if (done) {
      instance.active_lanes &= static_cast<uint8_t>(~(1u << ref.lane));
    } else {
      lanes_.push_back(ref);
    }
  }

  // Notes an instance whose lane leaves the queue because all of it waits for the end of a pause.
  // New work may bring the lane back before.
  void Park(Instance& instance) {
    if (!std::exchange(instance.parked, true)) parked_.push_back(instance.number);
  }
  // A pause has ended.
  void WakeParked(const std::vector<std::unique_ptr<Instance>>& instances);
  // A transmit queue has something to send, or looks again.
  void Activate(Instance& instance, uint32_t queue);
  // Puts the instance's lanes that have work on the queue, where they are not on it.
  void Enqueue(Instance& instance);
  // A transmit queue waits for a connection or a share: it costs nothing until Unblock.
  static void Block(Instance& instance, uint32_t queue) {
    instance.scheduler.Block(queue);
    uint8_t& blocked = instance.blocked[Scheduler::PeerOf(queue)];
    blocked = static_cast<uint8_t>(blocked | 1u << Scheduler::VcOf(queue));
  }
  // Lets the transmit queues go on that wait for a connection, where this one can send.
  void Unblock(Instance& instance, ConnectionIndex connection);
  // Lets the transmit queues of the VCs of the mask go on.
  void Unblock(Instance& instance, PeerIndex peer, uint32_t vcs);

 private:
  Fifo<LaneRef> lanes_;
  Fifo<uint32_t> parked_;  // instances
};

}  // namespace suede

#endif  // SUEDE_SEND_RUN_QUEUE_H_
