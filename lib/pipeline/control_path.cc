// SPDX-License-Identifier: Apache-2.0
// What the control thread asks of the lcore: clients that come, claim, reset and go.
#include <algorithm>

#include "pipeline/pipeline.h"
#include "pipeline/snapshot.h"

namespace suede {
bool Pipeline::PollMailbox() {
  LcoreRequest request;
  bool work = false;
  while (mailbox_.requests.Pop(request)) {
    work = true;
    LcoreStatus status = LcoreStatus::kDone;
    switch (request.kind) {
      case LcoreRequestKind::kAttach: status = Attach(request); break;
      case LcoreRequestKind::kClaim: status = Claim(request, true); break;
      case LcoreRequestKind::kUnclaim: status = Claim(request, false); break;
      case LcoreRequestKind::kResetQueue: status = ResetQueue(request); break;
      case LcoreRequestKind::kDetach:
        status = Detach(request);
        if (status == LcoreStatus::kDone) continue;  // answered by FinishDetaching
        break;
      case LcoreRequestKind::kDrain:
        draining_ = true;
        ShowStates();
        continue;  // answered by FinishDraining
      case LcoreRequestKind::kSnapshot:
        WriteSnapshot(*request.snapshot);
        continue;
      case LcoreRequestKind::kSettings:
        BeginChange(request.settings);
        continue;
      case LcoreRequestKind::kSetPeerMac:
        SetPeerMac(request);
        continue;
      case LcoreRequestKind::kLosePeer:
        LosePeer(request);
        continue;
      case LcoreRequestKind::kQueues:
        WriteQueues(*request.queues);
        continue;
      case LcoreRequestKind::kSetPort:
      case LcoreRequestKind::kSetInstance:
        SetAdmin(request);
        continue;
      case LcoreRequestKind::kSetPlane:
        SetPlane(request);
        continue;
      case LcoreRequestKind::kSetWeight:
        SetWeight(request);
        continue;
      case LcoreRequestKind::kPlanes:
        WritePlanes(*request.planes);
        continue;
      case LcoreRequestKind::kPing:
        BeginPing(request, last_turn_);
        continue;
    }
    mailbox_.replies.Push({.kind = request.kind,
                           .status = status,
                           .queue = request.queue,
                           .client = request.client});
  }
  if (detaching_) FinishDetaching();
  if (draining_) FinishDraining();
  return work;
}

ClientSlot* Pipeline::FindClient(uint32_t client) {
  for (ClientSlot& slot : clients_) {
    if (slot.used && slot.client == client) return &slot;
  }
  return nullptr;
}

LcoreStatus Pipeline::Attach(const LcoreRequest& request) {
  if (FindClient(request.client) != nullptr) return LcoreStatus::kUnknown;
  ClientSlot* client = nullptr;
  for (ClientSlot& slot : clients_) {
    if (!slot.used) {
      client = &slot;
      break;
    }
  }
  const SegmentShape& shape = *request.shape;
  uint16_t numbers[SUEDE_MAX_QUEUES];
  uint32_t found = 0;
  for (uint32_t i = 0; i < kMaxQueues && found < shape.queue_count; ++i) {
    if (queues_[i].state == QueueSlot::State::kFree) numbers[found++] = static_cast<uint16_t>(i);
  }
  if (client == nullptr || found < shape.queue_count) return LcoreStatus::kBusy;
  for (uint32_t i = 0; i < found; ++i) {
    if (request.queue_instances[i] >= instances_.size()) return LcoreStatus::kUnknown;
  }
  *client = ClientSlot{
      .used = true, .detaching = false, .client = request.client, .rings = {}, 
      .dirty = {}, .credit = {},
      .segment = static_cast<suede_segment*>(request.segment)};
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    client->rings[vc] = RxRingWriter(request.segment, shape, vc);
  }
  for (uint32_t i = 0; i < found; ++i) {
    QueueSlot& slot = queues_[numbers[i]];
    slot = QueueSlot();
    slot.state = QueueSlot::State::kServing;
    slot.number = static_cast<uint16_t>(i);
    slot.client = request.client;
    slot.instance = request.queue_instances[i];
    if (request.queue_vc_masks != nullptr) slot.vc_mask = request.queue_vc_masks[i];
    slot.ring = TxRingReader(request.segment, shape, i);
    slot.credits = CreditWriter(request.segment, shape, i);
    slot.completions = CompletionWriter(request.segment, shape, i);
    slot.load = LoadWriter(request.segment, shape, i);
    ShowLoad(slot, last_turn_);
    slot.segment = static_cast<suede_segment*>(request.segment);
    slot.drain_records = draining_ ? 0 : shape.tx_lines;
    StoreRelease(slot.segment->queue_state[i].value, StateOf(slot));
    serving_.push_back(numbers[i]);
  }
  return LcoreStatus::kDone;
}

LcoreStatus Pipeline::Claim(const LcoreRequest& request, bool claim) {
  ClientSlot* slot = FindClient(request.client);
  if (slot == nullptr || request.instance >= instances_.size()) return LcoreStatus::kUnknown;
  Instance& instance = *instances_[request.instance];
  const auto client = static_cast<uint32_t>(slot - clients_.data());
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((request.vc_mask & 1u << vc) == 0) continue;
    const uint32_t owner = instance.claimed_by[vc];
    if (owner != client && (claim ? owner != Instance::kNoClient : true)) {
      return LcoreStatus::kClaimed;
    }
  }
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((request.vc_mask & 1u << vc) == 0) continue;
    MoveFeed(instance, vc, claim ? client : Instance::kNoClient);
    const bool waits = std::any_of(waiting_.begin(), waiting_.end(), [&](const VcRef& ref) {
      return ref.instance == request.instance && ref.vc == vc;
    });
    if (claim && !waits && !instance.unclaimed[vc].empty()) {
      waiting_.push_back({.instance = request.instance, .vc = static_cast<uint8_t>(vc)});
    }
  }
  ShowReceiveStates(*slot);
  return LcoreStatus::kDone;
}

LcoreStatus Pipeline::ResetQueue(const LcoreRequest& request) {
  for (const uint16_t number : serving_) {
    QueueSlot& slot = queues_[number];
    if (slot.client != request.client || slot.number != request.queue ||
        slot.state != QueueSlot::State::kServing) {
      continue;
    }
    uint32_t& state = slot.segment->queue_state[slot.number].value;
    StoreRelease(state, SUEDE_QUEUE_IN_RESET);
    // No more than a ring of them: the client may go on writing if it means ill.
    TxRecord record;
    for (uint32_t left = slot.drain_records; left != 0 && slot.ring.Poll(&record, 1) != 0; --left) {
      Discard(slot, number, record, SUEDE_STATUS_RESET);
    }
    slot.ring.Restart();
    slot.credits.Restart();
    slot.completions.Publish();
    StoreRelease(state, StateOf(slot));
    return LcoreStatus::kDone;
  }
  return LcoreStatus::kUnknown;
}

// The client is gone: nothing more is handed to it, what it had handed over is still taken.
LcoreStatus Pipeline::Detach(const LcoreRequest& request) {
  ClientSlot* client = FindClient(request.client);
  if (client == nullptr) return LcoreStatus::kUnknown;
  const auto index = static_cast<uint32_t>(client - clients_.data());
  for (const auto& instance : instances_) {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      if (instance->claimed_by[vc] == index) MoveFeed(*instance, vc, Instance::kNoClient);
    }
  }
  for (const uint16_t number : serving_) {
    if (queues_[number].client == request.client) {
      queues_[number].state = QueueSlot::State::kDraining;
    }
  }
  client->detaching = true;
  detaching_ = true;
  return LcoreStatus::kDone;
}

void Pipeline::FinishDetaching() {
  detaching_ = false;
  for (size_t i = 0; i < serving_.size();) {
    QueueSlot& slot = queues_[serving_[i]];
    if (slot.state != QueueSlot::State::kDraining ||
        (slot.ring.HasWork() && slot.drain_records != 0)) {
      ++i;
      continue;
    }
    slot.segment = nullptr;
    slot.state = slot.runs == 0 ? QueueSlot::State::kFree : QueueSlot::State::kGone;
    serving_[i] = serving_.back();
    serving_.pop_back();
  }
  for (ClientSlot& client : clients_) {
    if (!client.used || !client.detaching) continue;
    bool served = false;
    for (const uint16_t number : serving_) served |= queues_[number].client == client.client;
    if (served) {
      detaching_ = true;
      continue;
    }
    client.used = false;
    mailbox_.replies.Push({.kind = LcoreRequestKind::kDetach,
                           .status = LcoreStatus::kDone,
                           .queue = 0,
                           .client = client.client});
  }
}

void Pipeline::WriteSnapshot(ConnectionSnapshot& out) const {
  out.count = 0;
  out.next = out.first;
  out.more = false;
  if (out.instance < instances_.size()) {
    const Instance& instance = *instances_[out.instance];
    const auto end = static_cast<uint32_t>(instance.connections.size());
    const uint32_t stop = std::min(end, out.first + ConnectionSnapshot::kMaxLooks);
    for (; out.next < stop && out.count < ConnectionSnapshot::kMaxRows; ++out.next) {
      const Connection& connection = instance.connections[out.next];
      const uint32_t peer = instance.PeerOfConnection(out.next);
      const uint16_t xpuid = instance.params.peers[peer].xpuid;
      if (out.peer_xpuid != ConnectionSnapshot::kAnyPeer && xpuid != out.peer_xpuid) continue;
      const ConnectionState state = instance.StateOf(out.next);
      if (state == ConnectionState::kNew && !out.unused) continue;
      out.rows[out.count++] = {.peer_xpuid = xpuid,
                               .plane =
                                   static_cast<uint8_t>(instance.PlaneOfConnection(out.next)),
                               .vc = instance.VcOfConnection(out.next),
                               .state = state,
                               .peer_waits = connection.not_ready(),
                               .tries = static_cast<uint8_t>(connection.tries()),
                               .next_psn = connection.next_psn().value(),
                               .expected_psn = connection.expected().value(),
                               .unacked_pdus = connection.unacked_count(),
                               .unacked_bytes = connection.unacked_bytes(),
                               .tx_pdus = connection.tx_pdus(),
                               .rx_pdus = connection.rx_pdus(),
                               .retransmissions = connection.retransmissions(),
                               .srtt_ns = connection.srtt().count(),
                               .rto_ns = connection.rto(instance.params.transport).count()};
    }
    out.more = out.next < end;
  }
  out.done.store(true, std::memory_order_release);
}

// The peer has been found, or has moved. What waits for that may go.
void Pipeline::SetPeerMac(const LcoreRequest& request) {
  if (request.instance >= instances_.size()) return;
  Instance& instance = *instances_[request.instance];
  const uint32_t peer = request.peer;
  if (peer >= instance.params.peers.size() || request.plane >= instance.plane_count()) return;
  instance.params.peers[peer].planes[request.plane].mac = request.mac;
  instance.WriteHeaders(peer);
  instance.resolving[instance.PlaneIndex(peer, request.plane)] = 0;
  instance.counters.Add(Counter::kNeighboursLearnt);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    const uint32_t number = instance.ConnectionIndex(peer, request.plane, vc);
    const bool lost = instance.connections[number].lost() || instance.paths[peer].unreachable;
    if (instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost && !lost) {
      Tell(LcoreEventKind::kPeerReachable, instance, number);
      MarkLost(instance, peer, 1u << vc, false);
    }
  }
  // A queue that waits for nothing else makes itself heard.
  UpdateUsable(instance, peer);
  const uint32_t mask = instance.blocked[peer];
  instance.blocked[peer] = 0;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((mask & 1u << vc) != 0) Activate(instance, Scheduler::QueueIndex(peer, vc));
  }
}

// Credit is not to pile up behind a peer that nobody can find.
void Pipeline::LosePeer(const LcoreRequest& request) {
  if (request.instance >= instances_.size()) return;
  Instance& instance = *instances_[request.instance];
  const uint32_t peer = request.peer;
  if (peer >= instance.params.peers.size() || !IsResolving(instance, peer)) return;
  for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
    const uint32_t number = instance.ConnectionIndex(peer, 0, vc);
    if (!instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost) {
      instance.counters.Add(Counter::kUnreachable);
      Tell(LcoreEventKind::kPeerUnreachable, instance, number);
    }
    MarkLost(instance, peer, instance.VcsOfConnection(number), true);
    GiveUpQueued(instance, peer, instance.VcsOfConnection(number), SUEDE_STATUS_UNREACHABLE);
  }
}

void Pipeline::WriteQueues(QueueSnapshot& out) const {
  out.count = 0;
  for (const uint16_t number : serving_) {
    const QueueSlot& slot = queues_[number];
    out.rows[out.count++] = {.client = slot.client,
                             .instance = slot.instance,
                             .number = slot.number,
                             .broken = slot.ring.broken(),
                             .leaving = slot.state == QueueSlot::State::kDraining,
                             .waiting_lines = slot.ring.Waiting(),
                             .credit_lines = slot.credits.outstanding(),
                             .discarded = slot.discarded};
  }
  out.done.store(true, std::memory_order_release);
}

void Pipeline::FinishDraining() {
  // What comes from clients after a ring's worth stays in their rings.
  for (const uint16_t number : serving_) {
    if (queues_[number].drain_records != 0 && queues_[number].ring.HasWork()) return;
  }
  if (!IsIdle() || drained_) return;
  drained_ = true;
  // The answer says that all is acknowledged: what comes now would make it untrue.
  for (const uint16_t number : serving_) queues_[number].drain_records = 0;
  mailbox_.replies.Push({.kind = LcoreRequestKind::kDrain, .status = LcoreStatus::kDone,
                         .queue = 0, .client = 0});
}

}  // namespace suede
