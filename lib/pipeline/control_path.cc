// SPDX-License-Identifier: Apache-2.0
// What requests of the control thread leave to be done on the data path: RequestServer serves the
// rest.
#include <algorithm>

#include "pipeline/pipeline.h"

namespace suede {

bool Pipeline::ServeRequests(Time now) {
  bool work = false;
  while (requests_.Next(now)) {
    work = true;
    std::visit([this](const auto& todo) { Do(todo); }, requests_.todo());
    requests_.Answer();
  }
  requests_.FinishDetaching();
  if (clients_.draining()) requests_.FinishDraining(IsIdle());
  return work;
}

// ---- Clients.

void Pipeline::Do(const todo::ClaimsMoved& moved) {
  MoveFeeds(*instances_[moved.instance], moved.vc_mask);
}

void Pipeline::Do(const todo::ClientLeft& /*left*/) {
  for (const auto& instance : instances_) {
    uint32_t mask = 0;
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      if (instance->credit_ring[vc] != &FedRing(*instance, vc)) mask |= 1u << vc;
    }
    MoveFeeds(*instance, mask);
  }
}

// What a VC's peers hold, and what waits for a client, goes along with its claim.
void Pipeline::MoveFeeds(Instance& instance, uint32_t vc_mask) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((vc_mask & 1u << vc) == 0) continue;
    MoveFeed(instance, vc);
    const bool waits = std::any_of(waiting_.begin(), waiting_.end(), [&](const VcRef& ref) {
      return ref.instance == instance.number && ref.vc == vc;
    });
    if (ClaimantOf(instance, vc) != kNoClient && !waits && !instance.unclaimed[vc].empty()) {
      waiting_.push_back({.instance = instance.number, .vc = static_cast<uint8_t>(vc)});
    }
  }
}

// No more than a ring of records: the client may go on writing if it means ill.
void Pipeline::Do(const todo::QueueInReset& reset) {
  QueueSlot& slot = clients_.queue(reset.queue);
  TakeRest(slot.ring, slot.drain_records,
           [&](const TxRecord& record) { Discard(slot, reset.queue, record, SUEDE_STATUS_RESET); });
}

// ---- What an operator puts back into service.

// What an instance that is down was left with when its turn came on its port's lists is put on
// them again. A port that is down stands still as it is and needs nothing of the kind.
void Pipeline::Do(const todo::InstanceUp& up) {
  Instance& instance = *instances_[up.instance];
  Enlist(instance);
  for (uint32_t number = 0; number < instance.connections.size(); ++number) {
    Connection& connection = instance.connections[number];
    if (connection.HasRetransmission()) WantRetransmission(instance, number);
    if (!connection.OwesAck()) continue;
    uint8_t& flags = instance.flags[number];
    if ((flags & Instance::kOnAckNow) != 0) continue;
    flags |= Instance::kOnAckNow;
    const uint32_t plane = instance.PlaneOfConnection(number);
    instance.ports[plane]->ack_now.push_back({instance.number, number});
  }
}

void Pipeline::Do(const todo::PlaneSet& set) {
  OnPlaneChange(*instances_[set.instance], set.plane, PlaneDownReason::kAdmin, last_turn_);
}

void Pipeline::Do(const request::SetWeight& request) {
  Instance& instance = *instances_[request.instance];
  const auto peers = static_cast<uint32_t>(instance.paths.size());
  const bool all = request.peer == request::SetWeight::kAllPeers;
  const bool known = request.plane < instance.plane_count() && request.weight != 0 &&
                     request.weight <= kMaxPlaneWeight && (all || request.peer < peers);
  for (uint32_t peer = all ? 0 : request.peer; known && peer < peers; ++peer) {
    Effects effects;
    instance.peers[peer].SetWeight(request.plane, request.weight, effects);
    Apply(instance, peer, effects);
    if (!all) break;
  }
}

// ---- Peers that are found and lost.

// The peer has been found, or has moved. What waits for that may go.
void Pipeline::Do(const request::SetPeerMac& request) {
  Instance& instance = *instances_[request.instance];
  const uint32_t peer = request.peer;
  if (peer >= instance.params.peers.size() || request.plane >= instance.plane_count()) return;
  instance.params.peers[peer].planes[request.plane].mac = request.mac;
  instance.WriteHeaders(peer);
  instance.counters.Add(Counter::kNeighboursLearnt);
  Effects effects;
  instance.peers[peer].OnMac(request.plane, effects);
  Apply(instance, peer, effects);
}

// Credit is not to pile up behind a peer that nobody can find.
void Pipeline::Do(const request::LosePeer& request) {
  Instance& instance = *instances_[request.instance];
  const uint32_t peer = request.peer;
  if (peer >= instance.peers.size()) return;
  Effects effects;
  instance.peers[peer].OnNoMac(effects);
  Apply(instance, peer, effects);
}

// ---- What the lcore tells of its own accord.

void Pipeline::TellPlane(LcoreEventKind kind, const Instance& instance, uint32_t peer,
                         uint32_t plane, uint8_t what) {
  Tell({.kind = kind,
        .plane = static_cast<uint8_t>(plane),
        .what = what,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

void Pipeline::Tell(LcoreEventKind kind, const Instance& instance, uint32_t connection) {
  const bool per_vc = instance.params.transport.psn_scope == PsnScope::kVc;
  const uint32_t peer = instance.PeerOfConnection(connection);
  Tell({.kind = kind,
        .vc = per_vc ? instance.VcOfConnection(connection) : LcoreEvent::kAllVcs,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

void Pipeline::Tell(const LcoreEvent& event) {
  if (!mailbox_.events.Push(event)) lcore_counters_.Add(Counter::kEventsLost);
}

}  // namespace suede
