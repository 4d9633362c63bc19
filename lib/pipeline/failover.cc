// SPDX-License-Identifier: Apache-2.0
// A plane that died, and the PDUs that were in flight there (docs/planes.md, "Failover").
#include "pipeline/pipeline.h"

namespace suede {

// Stops the connections of a plane where PDUs of theirs are in doubt, and says whether it is so.
bool Pipeline::FreezeIfInDoubt(Instance& instance, uint32_t peer, uint32_t plane) {
  const uint32_t first = instance.ConnectionIndex(peer, plane, 0);
  const uint32_t end = first + instance.connections_per_plane();
  bool in_doubt = false;
  for (uint32_t number = first; number < end; ++number) {
    in_doubt |= instance.connections[number].InDoubt();
  }
  for (uint32_t number = first; in_doubt && number < end; ++number) {
    instance.connections[number].Freeze();
  }
  return in_doubt;
}

void Pipeline::PlaneDown(Instance& instance, uint32_t peer, uint32_t plane, PlaneDownReason reason,
                         Time now) {
  PlaneSession& session = instance.session(peer, plane);
  if (!session.up()) return;
  instance.counters.Add(Counter::kPlaneDeaths);
  TellPlane(LcoreEventKind::kPlaneDown, instance, peer, plane, static_cast<uint8_t>(reason));
  const bool in_doubt = FreezeIfInDoubt(instance, peer, plane);
  session.GoDown(in_doubt, reason != PlaneDownReason::kAdmin, now, instance.params.paths);
  UpdateUsable(instance, peer);
  if (in_doubt) {
    TellPlane(LcoreEventKind::kFenceOpened, instance, peer, plane, 0);
    SendFence(instance, peer, plane);
  }
  ArmSession(instance, peer, plane);
  UnblockPeer(instance, peer);
}

// The plane that a FENCE takes: one that is up, by turns; without one any whose port can send. Now
// and then the dead one itself: where the peer has heard nothing on it yet, it knows it by that
// alone.
uint32_t Pipeline::PlaneForFence(Instance& instance, uint32_t peer, uint32_t dead) {
  constexpr uint32_t kOwnEvery = 4;
  PeerPaths& paths = instance.paths[peer];
  if (instance.port_up[dead] && instance.session(peer, dead).TakeFenceTurn() % kOwnEvery == 0) {
    return dead;
  }
  for (const bool only_up : {true, false}) {
    for (uint32_t i = 0; i < instance.plane_count(); ++i) {
      const uint32_t plane = paths.turn++ % instance.plane_count();
      if ((paths.present & 1u << plane) == 0 || !instance.port_up[plane]) continue;
      if (!only_up || instance.session(peer, plane).up()) return plane;
    }
  }
  return kNoPlane;
}

void Pipeline::SendFence(Instance& instance, uint32_t peer, uint32_t plane) {
  const uint32_t over = PlaneForFence(instance, peer, plane);
  if (over == kNoPlane) return;
  Fence fence{.plane = static_cast<uint8_t>(plane),
              .own = over == plane,
              .generation = instance.session(peer, plane).tx_generation()};
  for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
    fence.oldest[vc] =
        instance.connections[instance.ConnectionIndex(peer, plane, vc)].oldest_unacked();
  }
  if (SendControl(instance, peer, over, fence)) instance.counters.Add(Counter::kTxFences);
}

// Our number of the plane that the peer calls `peer_plane`; kNoPlane: it has said nothing on it.
uint32_t Pipeline::PlaneOfPeer(const Instance& instance, uint32_t peer, uint8_t peer_plane) {
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    if (instance.sessions[instance.PlaneIndex(peer, plane)].peer_plane() == peer_plane) {
      return plane;
    }
  }
  return kNoPlane;
}

// The peer fences generation 0 of a plane that we cannot tell: it is one of those on which it has
// said nothing, if any. Where nothing was accepted on any of them, nothing was on that one. The peer
// sends in generations now: nothing of generation 0 is accepted there any more. False where
// something was.
bool Pipeline::CloseUnnamed(Instance& instance, uint32_t peer) {
  for (const bool close : {false, true}) {
    for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
      if (instance.session(peer, plane).peer_plane() != PlaneSession::kUnknownPlane) continue;
      for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
        Connection& connection = instance.connections[instance.ConnectionIndex(peer, plane, vc)];
        if (close) connection.CloseReceive();
        if (connection.accepted_any()) return false;
      }
    }
  }
  return true;
}

// The peer has found the plane dead, and wants to know how far it got.
void Pipeline::OnFence(Instance& instance, uint32_t peer, uint32_t plane, const Fence& fence,
                       Time now) {
  const uint32_t dead = fence.own ? plane : PlaneOfPeer(instance, peer, fence.plane);
  bool known = false;
  const bool answers = dead != kNoPlane
                           ? instance.session(peer, dead).OnFence(fence.generation, known)
                           : fence.generation == 0 && CloseUnnamed(instance, peer);
  if (!answers) {
    instance.counters.Add(Counter::kRxPlaneStale);
    return;
  }
  Fenced fenced{
      .plane = fence.plane, .generation = fence.generation, .expected = fence.oldest};
  for (uint32_t vc = 0; dead != kNoPlane && vc < instance.connections_per_plane(); ++vc) {
    Connection& connection = instance.connections[instance.ConnectionIndex(peer, dead, vc)];
    if (!known) connection.OpenReceive(fence.oldest[vc]);
    connection.CloseReceive();
    fenced.expected[vc] = connection.expected();
  }
  instance.counters.Add(Counter::kRxFences);
  SendControl(instance, peer, plane, fenced);
  if (instance.paths[peer].sessions && dead != kNoPlane) {
    PlaneDown(instance, peer, dead, PlaneDownReason::kFence, now);
  }
}

// What the peer has accepted is done; the rest moves.
void Pipeline::OnFenced(Instance& instance, uint32_t peer, const Fenced& fenced, Time now) {
  if (fenced.plane >= instance.plane_count() ||
      !instance.session(peer, fenced.plane).IsFenced(fenced.generation)) {
    instance.counters.Add(Counter::kRxPlaneStale);
    return;
  }
  const uint32_t dead = fenced.plane;
  const uint32_t first = instance.ConnectionIndex(peer, dead, 0);
  for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
    PduList acked;
    const bool fits = instance.connections[first + vc].OnFenced(
        fenced.expected[vc], now, instance.params.transport, acked);
    OnAcked(instance, first + vc, acked);
    if (fits) continue;
    instance.counters.Add(Counter::kRxRpsnInvalid);
    // It would say so for ever: what the two have counted does not fit.
    if (instance.session(peer, dead).OnImpossible()) StartOver(instance, peer, now);
    return;
  }
  PduList rest;
  for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
    Connection& connection = instance.connections[first + vc];
    connection.Restart(FreshPsn(connection), rest);
  }
  instance.session(peer, dead).EndFence(now);
  Requeue(instance, peer, dead, rest);
  UpdateUsable(instance, peer);
  ArmSession(instance, peer, dead);
  UnblockPeer(instance, peer);
}

// Puts PDUs that a dead plane did not deliver back to the heads of their queues, in order.
void Pipeline::Requeue(Instance& instance, uint32_t peer, uint32_t plane, PduList& rest) {
  PduList of_vc[kVcCount];
  while (!rest.empty()) {
    Pdu* pdu = rest.PopFront();
    --instance.inflight;
    instance.inflight_bytes -= pdu->bytes;
    instance.paths[peer].OnEnd(plane, pdu->bytes);
    instance.inflight_on[plane] -= pdu->bytes;
    ++instance.queued;
    ++queued_pdus_;
    pdu->moved = true;
    if (pdu->note.staged()) Link::Withdraw(pdu);
    pdu->room = 0;
    pdu->retransmitted = false;
    of_vc[pdu->vc].PushBack(pdu);
  }
  instance.ports[plane]->link.RemoveWithdrawn();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (of_vc[vc].empty()) continue;
    const uint32_t index = Scheduler::QueueIndex(peer, vc);
    TxQueue& queue = instance.scheduler.queue(index);
    queue.pdus.Prepend(of_vc[vc]);
    // What was sent before needs no credit.
    if (instance.tx_credit[index].waiting) EndWaitForCredit(instance, index);
    if (queue.state == TxQueue::State::kIdle) Activate(instance, index);
  }
}

// Whether no plane to the peer has given a sign of life for so long that it counts as unreachable.
void Pipeline::CheckReach(Instance& instance, uint32_t peer, Time now) {
  PeerPaths& paths = instance.paths[peer];
  const PathParams& params = instance.params.paths;
  if (IsHeard(instance, peer)) return;
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    paths.alive_at = std::max(paths.alive_at, instance.session(peer, plane).last_heard());
  }
  if (!paths.unreachable && now - paths.alive_at >= params.unreachable) {
    GiveUpPeer(instance, peer, now);
  } else if (paths.unreachable) {
    GiveUpQueued(instance, peer, kAllVcs, SUEDE_STATUS_UNREACHABLE);
  }
}

void Pipeline::GiveUpPeer(Instance& instance, uint32_t peer, Time now) {
  instance.counters.Add(Counter::kUnreachable);
  Tell(LcoreEventKind::kPeerUnreachable, instance, instance.ConnectionIndex(peer, 0, 0));
  instance.paths[peer].unreachable = true;
  MarkLost(instance, peer, kAllVcs, true);
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    PlaneDown(instance, peer, plane, PlaneDownReason::kUnreachable, now);
    for (uint32_t vc = 0; vc < instance.connections_per_plane(); ++vc) {
      PduList given_up;
      instance.connections[instance.ConnectionIndex(peer, plane, vc)].Abandon(given_up);
      Complete(instance, given_up, plane, SUEDE_STATUS_IN_DOUBT);
    }
  }
  GiveUpQueued(instance, peer, kAllVcs, SUEDE_STATUS_UNREACHABLE);
}

}  // namespace suede
