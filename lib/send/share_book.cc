// SPDX-License-Identifier: Apache-2.0
#include "send/share_book.h"

#include <algorithm>
#include <vector>

namespace suede {
namespace {

uint32_t DestinationsOf(const PeerArrays& peers) {
  return static_cast<uint32_t>(peers.size()) * peers.own.map.vc_count();
}

uint32_t SharedOf(uint32_t bound, uint32_t all_own) { return bound - std::min(bound, all_own); }

}  // namespace

// Whether one more PDU to a {peer, VC} may leave.
bool ShareBook::MayHold(const TransmitState& tx, PeerIndex peer, Vc vc) {
  const uint32_t held = tx.scheduler.queue(tx.DestinationOf(peer, vc)).held;
  return tx.held.MayTake(held) && tx.shares.held.MayTake(held);
}

uint32_t ShareBook::RoomOf(const TransmitState& tx, PeerIndex peer, Vc vc) {
  const uint32_t held = tx.scheduler.queue(tx.DestinationOf(peer, vc)).held;
  return std::min(tx.held.RoomInARow(held), tx.shares.held.RoomInARow(held));
}

// The queue's destination has its share in flight: the queue waits until PDUs of this destination,
// or of others, end.
[[gnu::cold]] void ShareBook::Wait(TransmitState& tx, CounterBlock& counters, uint32_t index) {
  TxQueue& queue = tx.scheduler.queue(index);
  counters.Add(Counter::kTxWaitsShare);
  RunQueue::Block(tx, index);
  if (queue.waits) return;
  queue.waits = true;
  tx.shares.waiting.push_back({tx.number, index});
}

// `count` PDUs to a {peer, VC} have ended.
void ShareBook::Return(TransmitState& tx, PeerIndex peer, Vc vc, uint32_t count) {
  FrameShares& shares = tx.shares;
  uint32_t& held = tx.scheduler.queue(tx.DestinationOf(peer, vc)).held;
  shares.held.OnReturn(held, count);
  tx.held.OnReturn(held, count);
  held -= count;
  if (!shares.waiting.empty()) [[unlikely]]
    GoOnWaiting(tx, peer, vc, count);
}

// Rechecks the destination's own queues, and as many others as PDUs have ended. A destination that
// waits has PDUs of its own in flight, whose end wakes it, so none is forgotten.
[[gnu::cold]] void ShareBook::GoOnWaiting(TransmitState& tx, PeerIndex peer, Vc vc,
                                          uint32_t count) {
  const uint32_t first = tx.DestinationOf(peer, vc);
  const uint32_t end = !tx.map.is_per_vc() ? first + kVcCount : first + 1;
  for (uint32_t index = first; index < end; ++index) {
    if (tx.scheduler.queue(index).waits) Recheck(tx, index);
  }
  Recheck(tx.shares, count);
}

void ShareBook::Recheck(TransmitState& tx, uint32_t index) {
  if (tx.scheduler.queue(index).state != TxQueue::State::kBlocked) return;
  uint8_t& blocked = tx.blocked[Scheduler::PeerOf(index)];
  blocked = static_cast<uint8_t>(blocked & ~(1u << Scheduler::VcOf(index)));
  run_queue_.Activate(tx, index);
}

// Rechecks the `count` queues that have waited longest.
void ShareBook::Recheck(FrameShares& shares, size_t count) {
  for (count = std::min(count, shares.waiting.size()); count != 0; --count) {
    const QueueRef ref = shares.waiting.front();
    shares.waiting.pop_front();
    TransmitState& tx = lcore_.instances[ref.instance]->tx;
    tx.scheduler.queue(ref.queue).waits = false;
    Recheck(tx, ref.queue);
  }
}

// Sets the own share of each destination when an instance was added, before the first Poll.
void ShareBook::ShareOut(FrameShares& shares) {
  HeldBound bound_of_all;
  uint32_t destinations = 0;
  for (const auto& instance : lcore_.instances) {
    if (&instance->tx.shares != &shares) continue;
    bound_of_all.Add(instance->params.inflight_pdus);
    destinations += DestinationsOf(instance->peers);
  }
  const uint32_t bound = bound_of_all.value();
  const uint32_t own =
      Shares::OwnOf({.limit = bound, .users = destinations, .max_own = FrameShares::kMaxOwnHeld});
  shares.held.Set(own, SharedOf(bound, own * destinations));
  for (const auto& instance : lcore_.instances) {
    if (&instance->tx.shares != &shares) continue;
    instance->tx.held.Set(
        own, SharedOf(instance->params.inflight_pdus, own * DestinationsOf(instance->peers)));
  }
  shares.waiting.Reserve(size_t{destinations} * kVcCount + 1);
}

// Bounds have changed: keeps own shares, and rechecks waiting queues.
void ShareBook::Resize() {
  for (const auto& port : lcore_.ports) {
    FrameShares& shares = port->own_shares;
    if (port->shares != &shares) continue;
    HeldBound bound_of_all;
    uint32_t destinations = 0;
    for (const auto& instance : lcore_.instances) {
      if (&instance->tx.shares != &shares) continue;
      const uint32_t bound = instance->params.inflight_pdus;
      instance->tx.held.Resize(
          SharedOf(bound, shares.held.own() * DestinationsOf(instance->peers)));
      bound_of_all.Add(bound);
      destinations += DestinationsOf(instance->peers);
    }
    shares.held.Resize(SharedOf(bound_of_all.value(), shares.held.own() * destinations));
    Recheck(shares, shares.waiting.size());
  }
}

// Recounts the PDUs.
void ShareBook::CheckInvariants() const {
  std::vector<uint32_t> packed(ClientTable::kMaxQueues);
  for (const auto& port : lcore_.ports) {
    if (port->shares != &port->own_shares) continue;
    uint64_t shared = 0;
    for (const auto& instance : lcore_.instances) {
      if (&instance->tx.shares != port->shares) continue;
      uint64_t of_instance = 0;
      std::vector<uint32_t> held(instance->params.peers.size() * kVcCount);
      uint32_t queued = 0;
      for (uint32_t i = 0; i < held.size(); ++i) {
        const uint32_t counts =
            instance->tx.DestinationOf(Scheduler::PeerOf(i), Scheduler::VcOf(i));
        for (const Pdu* pdu = instance->tx.scheduler.queue(i).pdus.head(); pdu != nullptr;
             pdu = pdu->next) {
          ++(pdu->credited ? held[counts] : packed[pdu->runs[0].queue]);
          ++queued;
        }
      }
      if (queued != instance->tx.queued) std::abort();
      for (ConnectionIndex i = 0; i < instance->peers.connections.size(); ++i) {
        const Connection& connection = instance->peers.connections[i];
        held[instance->tx.DestinationOf(instance->map.PeerOf(i), instance->map.VcOf(i))] +=
            (connection.tx().lost() ? 0 : connection.in_flight().count()) +
            (instance->tx.last_given_up[i] != nullptr ? 1 : 0);
      }
      for (uint32_t i = 0; i < held.size(); ++i) {
        if (instance->tx.scheduler.queue(i).held != held[i]) std::abort();
        of_instance += instance->tx.held.SharedOf(held[i]);
        shared += port->shares->held.SharedOf(held[i]);
      }
      if (!instance->tx.held.Agrees(of_instance)) std::abort();
    }
    if (!port->shares->held.Agrees(shared)) std::abort();
  }
  for (uint32_t i = 0; i < ClientTable::kMaxQueues; ++i) {
    if (lcore_.clients.queue(i).packed != packed[i]) std::abort();
  }
  for (const auto& port : lcore_.ports) {
    if (port->shares != &port->own_shares) continue;
    uint64_t shared = 0;
    for (const QueueSlot& slot : lcore_.clients.queues()) {
      if (slot.packed == 0 || &lcore_.instances[slot.instance]->tx.shares != port->shares) continue;
      shared += port->shares->packed.SharedOf(slot.packed);
    }
    if (!port->shares->packed.Agrees(shared)) std::abort();
  }
}

}  // namespace suede
