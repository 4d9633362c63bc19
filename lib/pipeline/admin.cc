// SPDX-License-Identifier: Apache-2.0
// What an operator takes out of service and puts back, and what the lcore tells of its own accord.
#include <algorithm>

#include "pipeline/pipeline.h"

namespace suede {

void Pipeline::SetAdmin(const LcoreRequest& request) {
  const bool is_port = request.kind == LcoreRequestKind::kSetPort;
  if (is_port && request.port < ports_.size()) ports_[request.port]->link.set_down(!request.up);
  if (!is_port && request.instance < instances_.size()) {
    instances_[request.instance]->down = !request.up;
    if (request.up) Resume(*instances_[request.instance]);
  }
  ShowStates();
  CountAdmin();
}

// What is out of service, or is ended, shows its clients that it is in reset: they hand nothing over
// until it is over. Nothing that was handed over before is touched by that.
void Pipeline::ShowStates() {
  for (const uint16_t number : serving_) {
    QueueSlot& slot = queues_[number];
    if (slot.state != QueueSlot::State::kServing || slot.ring.broken()) continue;
    StoreRelease(slot.segment->queue_state[slot.number].value, StateOf(slot));
  }
  for (ClientSlot& client : clients_) {
    if (client.used && !client.detaching) ShowReceiveStates(client);
  }
}

uint32_t Pipeline::StateOf(const QueueSlot& slot) const {
  const bool in_reset = draining_ || IsOutOfService(*instances_[slot.instance]);
  return in_reset ? SUEDE_QUEUE_IN_RESET : SUEDE_QUEUE_READY;
}

// A VC is in reset where all that would be delivered on it comes from what is out of service.
void Pipeline::ShowReceiveStates(ClientSlot& client) {
  const auto index = static_cast<uint32_t>(&client - clients_.data());
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    bool claims = false;
    bool delivers = false;
    for (const auto& instance : instances_) {
      if (instance->claimed_by[vc] != index) continue;
      claims = true;
      delivers |= !IsOutOfService(*instance);
    }
    StoreRelease(client.segment->rx_state[vc].value,
                 claims && !delivers ? SUEDE_QUEUE_IN_RESET : SUEDE_QUEUE_READY);
  }
}

void Pipeline::CountAdmin() {
  admin_done_.store(admin_done_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// What an instance that is down was left with when its turn came on its port's lists is put on
// them again. A port that is down stands still as it is and needs nothing of the kind.
void Pipeline::Resume(Instance& instance) {
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

// A plane of an instance that has several; the only one is set by kSetInstance.
void Pipeline::SetPlane(const LcoreRequest& request) {
  if (request.instance < instances_.size()) {
    Instance& instance = *instances_[request.instance];
    if (instance.has_planes() && request.plane < instance.plane_count()) {
      instance.plane_admin[request.plane] = request.plane_admin;
      OnPlaneChange(instance, request.plane, PlaneDownReason::kAdmin, last_turn_);
    }
  }
  ShowStates();
  CountAdmin();
}

void Pipeline::SetWeight(const LcoreRequest& request) {
  if (request.instance < instances_.size()) {
    Instance& instance = *instances_[request.instance];
    const auto peers = static_cast<uint32_t>(instance.paths.size());
    const bool all = request.peer == LcoreRequest::kAllPeers;
    const bool known = request.plane < instance.plane_count() && request.weight != 0 &&
                       request.weight <= kMaxPlaneWeight && (all || request.peer < peers);
    for (uint32_t peer = all ? 0 : request.peer; known && peer < peers; ++peer) {
      instance.paths[peer].SetWeight(request.plane, request.weight);
      if (instance.has_planes()) ChooseHome(instance, peer);
      if (!all) break;
    }
  }
  CountAdmin();
}

void Pipeline::WritePlanes(PlaneSnapshot& out) const {
  out.count = 0;
  out.next = out.first;
  out.more = false;
  if (out.instance < instances_.size()) {
    const Instance& instance = *instances_[out.instance];
    out.inflight_bytes = instance.inflight_on;
    const auto end = static_cast<uint32_t>(instance.sessions.size());
    const uint32_t stop = std::min(end, out.first + PlaneSnapshot::kMaxLooks);
    for (; out.next < stop && out.count < PlaneSnapshot::kMaxRows; ++out.next) {
      const uint32_t peer = out.next >> instance.plane_bits;
      const uint32_t plane = out.next & (instance.plane_count() - 1);
      const PeerPaths& paths = instance.paths[peer];
      const uint16_t xpuid = instance.params.peers[peer].xpuid;
      if ((paths.present & 1u << plane) == 0) continue;
      if (out.peer_xpuid != PlaneSnapshot::kAnyPeer && xpuid != out.peer_xpuid) continue;
      const PlaneSession& session = instance.sessions[out.next];
      const bool heard = session.last_heard() != Time{};
      out.rows[out.count++] = {
          .peer_xpuid = xpuid,
          .plane = static_cast<uint8_t>(plane),
          .peer_plane = session.peer_plane(),
          .state = session.state(),
          .sessions = paths.sessions,
          .usable = (paths.usable & 1u << plane) != 0,
          .home = instance.is_strict() && paths.home == plane,
          .fencing = session.fencing(),
          .tx_generation = session.tx_generation(),
          .rx_generation = session.rx_generation(),
          .weight = paths.weight[plane],
          .inflight_bytes = paths.inflight_bytes[plane],
          .deaths = session.deaths(),
          .heard_ago_ns = heard ? (last_turn_ - session.last_heard()).count() : -1,
          .held_ns = std::max<int64_t>(0, (session.held_until() - last_turn_).count())};
    }
    out.more = out.next < end;
  }
  out.done.store(true, std::memory_order_release);
}

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
