// SPDX-License-Identifier: Apache-2.0
// Stager: the plane and the session of a PDU, if there are several.

#include "send/stage.h"

namespace suede {

// Returns which of several planes the next PDU to the peer takes: PeerPaths::kNoPlane if the PDU
// has to wait for a connection, kPlaneFull if it has to wait for room.
[[gnu::noinline]] PlaneIndex Stager::PickPlane(const Instance& instance, PeerIndex peer, Vc vc,
                                               uint32_t bytes) {
  const PeerPaths& paths = instance.peers.paths[peer];
  uint32_t left = paths.choice[vc];
  PlaneIndex verdict = PeerPaths::kNoPlane;
  while (left != 0) {
    const PlaneIndex plane =
        paths.Choose(static_cast<PlaneMask>(left), instance.peers.own.inflight_bytes,
                     instance.peers.own.shares, bytes);
    if (!instance.ports[plane]->link.HasRoom(vc)) {
      verdict = kPlaneFull;
    } else if (instance.CanSend(peer, plane, vc, bytes)) {
      return plane;
    }
    left &= ~(1u << plane);
  }
  return verdict;
}

// Returns the session that the queue's next PDU takes on the plane. In strict mode, it changes only
// if no PDU is in flight that this PDU could overtake.
[[gnu::noinline]] SessionIndex Stager::PickSlot(PeerArrays& peers, TxQueue& queue, PeerIndex peer,
                                                PlaneIndex plane, Vc vc, uint32_t bytes) {
  SessionGroup& group = peers.group(peer, plane);
  if (!peers.own.is_strict()) {
    return peers.RunGoesOn(peer, plane, vc, bytes) ? group.run_slot()
                                                   : BeginRun(peers, peer, plane, vc, bytes);
  }
  const SessionIndex slot(queue.slot);
  const Connection& bound = peers.connections[peers.own.map.At(peer, plane, slot, vc)];
  if (bound.in_flight().count() != 0) {
    const bool open = (group.open() >> slot & 1) != 0;
    return open && bound.tx().CanSend(bytes, peers.own.transport) ? slot : kNoSlot;
  }
  const SessionIndex best = BestSlot(peers, peer, plane, vc, bytes);
  if (best != kNoSlot) queue.slot = static_cast<uint8_t>(best);
  return best;
}

// Returns the session that the PDU takes, and maybe others after it.
SessionIndex Stager::BeginRun(PeerArrays& peers, PeerIndex peer, PlaneIndex plane, Vc vc,
                              uint32_t bytes) {
  const SessionIndex best = BestSlot(peers, peer, plane, vc, bytes);
  if (best != kNoSlot) peers.group(peer, plane).BeginRun(best);
  return best;
}

// Returns the session with the least expected delay among those that can take a PDU.
SessionIndex Stager::BestSlot(const PeerArrays& peers, PeerIndex peer, PlaneIndex plane, Vc vc,
                              uint32_t bytes) {
  const SessionGroup& group = peers.group(peer, plane);
  SessionIndex best = kNoSlot;
  uint64_t min = UINT64_MAX;
  for (SlotMask left = group.open(); left != 0; left &= left - 1) {
    const auto slot = Lowest<SessionIndex>(left);
    const Connection& one = peers.connections[peers.own.map.At(peer, plane, slot, vc)];
    const uint64_t delay = (uint64_t{one.in_flight().bytes()} + bytes) * group.slot(slot).weight;
    if (delay >= min || !one.tx().CanSend(bytes, peers.own.transport)) continue;
    best = slot;
    min = delay;
  }
  return best;
}

}  // namespace suede
