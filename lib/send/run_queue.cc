// SPDX-License-Identifier: Apache-2.0
#include "send/run_queue.h"

namespace suede {

void RunQueue::Activate(Instance& instance, uint32_t queue) {
  instance.tx.scheduler.Activate(queue);
  Enqueue(instance);
}

// Puts the instance's lanes that have work on the queue, unless they are on it.
void RunQueue::Enqueue(Instance& instance) {
  for (uint32_t lane = 0; lane < instance.tx.lanes; ++lane) {
    const auto bit = static_cast<uint8_t>(1u << lane);
    if ((instance.tx.active_lanes & bit) != 0 || !instance.tx.scheduler.HasWork(lane)) continue;
    instance.tx.active_lanes |= bit;
    lanes_.push_back({.instance = instance.number, .lane = lane});
  }
}

void RunQueue::WakeParked(const std::vector<std::unique_ptr<Instance>>& instances) {
  for (; !parked_.empty(); parked_.pop_front()) {
    Instance& instance = *instances[parked_.front()];
    instance.tx.parked = false;
    Enqueue(instance);
  }
}

// Unblocks the queues that wait for a connection, if this connection can send.
void RunQueue::Unblock(Instance& instance, ConnectionIndex number) {
  const PeerIndex peer = instance.map.PeerOf(number);
  const uint32_t mask = instance.tx.blocked[peer] & instance.map.VcsOf(number);
  if (mask == 0) return;
  if (instance.peers[peer].choice().placement().MaySend(instance.map.PlaneOf(number),
                                                        instance.map.NumberOf(number)) &&
      instance.tx.Permits(instance.map.PathOf(number), 0)) {
    Unblock(instance, peer, mask);
  }
}

// Unblocks the transmit queues of the VCs of the mask.
void RunQueue::Unblock(Instance& instance, PeerIndex peer, uint32_t vcs) {
  const uint32_t mask = instance.tx.blocked[peer] & vcs;
  instance.tx.blocked[peer] = static_cast<uint8_t>(instance.tx.blocked[peer] & ~mask);
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if ((mask & 1u << vc) != 0) Activate(instance, Scheduler::IndexOf(peer, vc));
  }
}

}  // namespace suede
