// SPDX-License-Identifier: Apache-2.0
#include "send/run_queue.h"

namespace suede {

void RunQueue::Activate(TransmitState& tx, uint32_t queue) {
  tx.scheduler.Activate(queue);
  Enqueue(tx);
}

// Puts the instance's lanes that have work on the queue, unless they are on it.
void RunQueue::Enqueue(TransmitState& tx) {
  for (uint32_t lane = 0; lane < tx.lanes; ++lane) {
    const auto bit = static_cast<uint8_t>(1u << lane);
    if ((tx.active_lanes & bit) != 0 || !tx.scheduler.HasWork(lane)) continue;
    tx.active_lanes |= bit;
    lanes_.push_back({.instance = tx.number, .lane = lane});
  }
}

void RunQueue::WakeParked(const std::vector<std::unique_ptr<Instance>>& instances) {
  for (; !parked_.empty(); parked_.pop_front()) {
    TransmitState& tx = instances[parked_.front()]->tx;
    tx.parked = false;
    Enqueue(tx);
  }
}

// Unblocks the queues that wait for a connection, if this connection can send.
void RunQueue::Unblock(const PeerArrays& peers, TransmitState& tx, ConnectionIndex number) {
  const PeerIndex peer = tx.map.PeerOf(number);
  const uint32_t mask = tx.blocked[peer] & tx.map.VcsOf(number);
  if (mask == 0) return;
  if (peers[peer].choice().placement().MaySend(tx.map.PlaneOf(number), tx.map.NumberOf(number)) &&
      tx.Permits(tx.map.PathOf(number), 0)) {
    Unblock(tx, peer, mask);
  }
}

// Unblocks the transmit queues of the VCs of the mask.
void RunQueue::Unblock(TransmitState& tx, PeerIndex peer, uint32_t vcs) {
  const uint32_t mask = tx.blocked[peer] & vcs;
  tx.blocked[peer] = static_cast<uint8_t>(tx.blocked[peer] & ~mask);
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if ((mask & 1u << vc) != 0) Activate(tx, Scheduler::IndexOf(peer, vc));
  }
}

}  // namespace suede
