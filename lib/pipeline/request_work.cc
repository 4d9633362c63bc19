// SPDX-License-Identifier: Apache-2.0
#include "pipeline/request_work.h"

#include "receive/ack_scheduler.h"

namespace suede {

bool RequestWork::Poll(Time now) {
  bool work = false;
  while (server_.Next(now)) {
    work = true;
    std::visit([this](const auto& todo) { Do(todo); }, server_.todo());
    server_.Answer();
  }
  server_.FinishDetaching();
  if (parts_.lcore.clients.draining()) server_.FinishDraining(parts_.lcore.IsIdle());
  return work;
}

// ---- Clients.

void RequestWork::Do(const todo::ClaimsMoved& moved) {
  parts_.deliverer.MoveFeeds(InstanceOf(moved.instance).rx, moved.vc_mask);
}

void RequestWork::Do(const todo::ClientLeft& /*left*/) {
  for (const auto& instance : parts_.lcore.instances) {
    uint32_t mask = 0;
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      const uint32_t client = parts_.lcore.clients.claimant(instance->number, vc);
      if (parts_.granter.HasMoved(instance->rx.credit, vc, client)) mask |= 1u << vc;
    }
    parts_.deliverer.MoveFeeds(instance->rx, mask);
  }
}

// Discards at most a ring of records: a malicious client may keep writing.
void RequestWork::Do(const todo::QueueInReset& reset) {
  QueueSlot& slot = parts_.lcore.clients.queue(reset.queue);
  TakeRest(slot.ring, slot.drain_records, [&](const TxRecord& record) {
    parts_.ring_drainer.Discard(slot, reset.queue, record, SUEDE_STATUS_RESET);
  });
}

// ---- Instances and planes that an operator returns to service.

// Puts connections that left the ports' lists while the instance was down on them again. A port
// that is down keeps its lists.
void RequestWork::Do(const todo::InstanceUp& up) {
  Instance& instance = InstanceOf(up.instance);
  parts_.run_queue.Enqueue(instance.tx);
  for (ConnectionIndex number = 0; number < instance.peers.connections.size(); ++number) {
    Connection& connection = instance.peers.connections[number];
    if (connection.in_flight().HasRetransmission())
      parts_.stager.WantRetransmission(instance, number);
    if (connection.rx().HasPendingAck())
      AckScheduler::ScheduleNow(instance.rx, instance.ports, number);
  }
}

void RequestWork::Do(const todo::PlaneSet& set) {
  parts_.planes.OnPlaneChange(InstanceOf(set.instance), set.plane, PlaneDownReason::kAdmin,
                              parts_.lcore.now);
}

void RequestWork::Do(const request::SetWeight& request) {
  Instance& instance = InstanceOf(request.instance);
  const auto peers = static_cast<uint32_t>(instance.peers.paths.size());
  const bool all = request.peer == request::SetWeight::kAllPeers;
  const bool known = request.plane < instance.map.plane_count() && (request.weight != 0 || !all) &&
                     request.weight <= kMaxPlaneWeight && (all || request.peer < peers);
  for (PeerIndex peer = all ? PeerIndex(0u) : request.peer; known && peer < peers; ++peer) {
    Effects effects;
    instance.peers[peer].SetWeight(request.plane, request.weight, parts_.lcore.now, effects);
    parts_.effector.Apply(instance, peer, effects);
    if (!all) break;
  }
}

// ---- MAC addresses of peers.

// The peer's MAC address is known now, or has changed. PDUs that wait for the address may leave.
void RequestWork::Do(const request::SetPeerMac& request) {
  Instance& instance = InstanceOf(request.instance);
  const PeerIndex peer(request.peer);
  if (peer >= instance.params.peers.size() || request.plane >= instance.map.plane_count()) return;
  instance.params.peers[peer].planes[request.plane].mac = request.mac;
  instance.headers.Write(peer, instance.peers);
  instance.stats.counters.Add(Counter::kNeighboursLearnt);
  Effects effects;
  instance.peers[peer].OnMac(request.plane, effects);
  parts_.effector.Apply(instance, peer, effects);
}

// Gives up PDUs to a peer without a known MAC address, so that they do not hold credit.
void RequestWork::Do(const request::LosePeer& request) {
  Instance& instance = InstanceOf(request.instance);
  const PeerIndex peer(request.peer);
  if (peer >= instance.peers.size()) return;
  Effects effects;
  instance.peers[peer].reach().OnNoMac(effects);
  parts_.effector.Apply(instance, peer, effects);
}

}  // namespace suede
