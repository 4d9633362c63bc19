// SPDX-License-Identifier: Apache-2.0
#include "send/ping_sender.h"

#include "frame/control_sender.h"

namespace suede {

PingState PingSender::SendQuery(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now) {
  const Link& link = instance.ports[plane]->link;
  const bool held = instance.peers.own.admin[plane] == PlaneAdmin::kDown;
  if (link.down() || instance.down || held) return PingState::kDown;
  if (!link.state().up) return PingState::kNoLink;
  if (instance.peers.IsResolving(peer, plane)) return PingState::kNoMac;
  Ping& ping = instance.ping;
  const Handshake& handshake = instance.peers[peer].handshake();
  const auto bit = static_cast<PlaneMask>(1u << plane);
  ping.asked_at[plane] = now;
  if (handshake.plain()) {
    const Connection& connection = instance.peers.connections[instance.map.At(peer, plane, 0, 0)];
    // A NACK would cause retransmissions of PDUs in flight, and their acknowledgement is a
    // sufficient answer.
    const bool goes_on = connection.in_flight().count() != 0 && connection.tx().tries() == 0;
    if (goes_on && connection.tx().round_trip().srtt().count() != 0) {
      ping.board.planes[plane].rtt_ns.store(connection.tx().round_trip().srtt().count(),
                                            std::memory_order_relaxed);
      return PingState::kAcknowledges;
    }
    if (!SendProbe(instance, peer, plane, 1)) return PingState::kNoRoom;
    ping.probe |= bit;
    return PingState::kAsked;
  }
  ping.nonces[plane] = instance.peers.own.numbers.Next();
  Hello hello = instance.peers[peer].association().MakeHello(true, 0);
  hello.nonce = ping.nonces[plane];
  if (!ControlSender::SendControl(instance, peer, plane, hello)) return PingState::kNoRoom;
  ping.hello |= bit;
  // The peer may speak no HELLO, and may expect any PSN.
  for (int quarter = 0; handshake.identities().peer == 0 && quarter < 4; ++quarter) {
    if (SendProbe(instance, peer, plane, (quarter << 14) + 1)) ping.probe |= bit;
  }
  return PingState::kAsked;
}

// Sends an unsequenced PDU that is ahead of the expected PSN (wire profile §6).
bool PingSender::SendProbe(Instance& instance, PeerIndex peer, PlaneIndex plane, int ahead) {
  const ConnectionIndex number = instance.map.At(peer, plane, 0, 0);
  return ControlSender::SendUnsequenced(
      instance, number, {}, instance.peers.connections[number].in_flight().next_psn().Plus(ahead),
      Instance::kAckClass);
}

void PingSender::Send(const request::Ping& request) {
  Instance& instance = *lcore_.instances[request.instance];
  Ping& ping = instance.ping;
  ping.peer = request.peer;
  ping.hello = ping.probe = 0;
  const bool known = request.peer < instance.peers.paths.size();
  for (PlaneIndex plane = 0; plane < instance.map.plane_count(); ++plane) {
    const bool meant = known && (request.plane_mask & instance.peers.paths[request.peer].present &
                                 1u << plane) != 0;
    const PingState state =
        meant ? SendQuery(instance, request.peer, plane, lcore_.now) : PingState::kNotAsked;
    ping.board.planes[plane].state.store(state, std::memory_order_release);
  }
  ping.board.ticket.store(request.ticket, std::memory_order_release);
}

}  // namespace suede
