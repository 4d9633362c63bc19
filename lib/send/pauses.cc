// SPDX-License-Identifier: Apache-2.0
#include "send/pauses.h"

#include <algorithm>

#include "frame/control_sender.h"

namespace suede {

// Returns the hold for a caller that waits for an answer to `oldest`; null: to a frame that is not
// kept.
[[gnu::cold]] Hold Pauses::HoldOf(Instance& instance, PeerIndex peer, PlaneIndex plane, Pdu* oldest,
                                  Time now) {
  const TransportParams& params = instance.params.transport;
  const Duration limit = params.pause_limit;
  if (limit == Duration{}) return Hold::kNone;
  Link& link = instance.ports[plane]->link;
  // Shorter than the time after which two unanswered requests in a row may count as lost.
  const Duration min = std::min(params.rto_min, instance.params.paths.hello_interval) / 2;
  const Time since = link.HeldSince(oldest, min, now);
  if (link.departures().TakeNews()) {
    instance.stats.counters.Add(Counter::kTxHeldUp);
    if (link.departures().MayEmit(now)) {
      lcore_.events.EmitPlane(LcoreEventKind::kHeldUp, instance, peer, plane, 0);
    }
  }
  if (since != kNever) return now - since < limit ? Hold::kOwn : Hold::kTooLong;
  return instance.peers.session(peer, plane).IsExcused(now, limit) ? Hold::kPeers : Hold::kNone;
}

// Returns the hold by a pause that the neighbour still requests, or by missing credit while the
// session with the neighbour is up: the neighbour is alive, and reports its state.
Hold Pauses::PausedBy(const Link& link, uint32_t flow, Duration limit, Time now) {
  const Time since = link.HeldFlowSince(flow);
  if (since == kNever) return Hold::kNone;
  return now - since < limit ? Hold::kOwn : Hold::kNeighbour;
}

[[gnu::cold]] Hold Pauses::HoldOfConnection(Instance& instance, ConnectionIndex number, Time now) {
  Connection& connection = instance.peers.connections[number];
  const PlaneIndex plane = instance.map.PlaneOf(number);
  // The first PDU to be retransmitted, and the oldest unanswered PDU.
  const Pdu* const firsts[] = {connection.in_flight().next_retransmission(),
                               connection.in_flight().oldest()};
  for (const Pdu* pdu : firsts) {
    if (pdu == nullptr) continue;
    const Hold paused =
        PausedBy(instance.ports[plane]->link, pdu->vc, instance.params.transport.pause_limit, now);
    if (paused != Hold::kNone) return paused;
  }
  return HoldOf(instance, instance.map.PeerOf(number), plane, connection.in_flight().oldest(), now);
}

bool Pauses::IsMute(const PlanePorts& ports) {
  for (const PortContext* port : ports) {
    if (!port->link.IsHeld(Instance::kAckClass)) return false;
  }
  return true;
}

// The hold for the plane's session.
[[gnu::cold]] Hold Pauses::HoldOf(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now) {
  Hold hold = PausedBy(instance.ports[plane]->link, Instance::kAckClass,
                       instance.params.transport.pause_limit, now);
  if (hold != Hold::kNone) return hold;
  hold = HoldOf(instance, peer, plane, nullptr, now);
  for (PathConnection i = 0; hold == Hold::kNone && i < instance.map.path_connections(); ++i) {
    Pdu* oldest = instance.peers.connections[instance.map.At(peer, plane, i)].in_flight().oldest();
    if (oldest != nullptr) hold = HoldOf(instance, peer, plane, oldest, now);
  }
  return hold;
}

// Reports to the peer, over another plane, that frames of this plane are held up.
void Pauses::SendHeldUp(Instance& instance, PeerIndex peer, const effect::SendHeldUp& what,
                        Time now) {
  const auto held = [&](PlaneIndex plane) {
    return PausedBy(instance.ports[plane]->link, Instance::kAckClass,
                    instance.params.transport.pause_limit, now) != Hold::kNone ||
           HoldOf(instance, peer, plane, nullptr, now) == Hold::kOwn;
  };
  if (what.if_held && !held(what.plane)) return;
  const PlaneHello said{.plane = static_cast<uint8_t>(what.plane), .held_up = true};
  PlaneMask passing = 0;
  for (uint32_t left = what.over; left != 0; left &= left - 1) {
    const auto plane = Lowest<PlaneIndex>(left);
    if (held(plane)) continue;
    if ((what.enough & 1u << plane) != 0) {
      ControlSender::SendControl(instance, peer, plane, said);
      return;
    }
    passing |= static_cast<PlaneMask>(1u << plane);
  }
  for (uint32_t left = passing; left != 0; left &= left - 1) {
    ControlSender::SendControl(instance, peer, Lowest<PlaneIndex>(left), said);
  }
}

}  // namespace suede
