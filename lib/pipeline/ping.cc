// SPDX-License-Identifier: Apache-2.0
// An operator asks whether a peer is there (docs/control-pdus.md, "Asking by hand"). Nothing of the
// association waits for this, and nothing that the association waits for is touched by it.
#include "pipeline/pipeline.h"

namespace suede {

void Pipeline::Do(const request::Ping& request) {
  Instance& instance = *instances_[request.instance];
  Ping& ping = instance.ping;
  ping.peer = request.peer;
  ping.hello = ping.probe = 0;
  const bool known = request.peer < instance.paths.size();
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    const bool meant =
        known && (request.plane_mask & instance.paths[request.peer].present & 1u << plane) != 0;
    const PingState state =
        meant ? AskByHand(instance, request.peer, plane, last_turn_) : PingState::kNotAsked;
    ping.board.planes[plane].state.store(state, std::memory_order_release);
  }
  ping.board.ticket.store(request.ticket, std::memory_order_release);
}

PingState Pipeline::AskByHand(Instance& instance, uint32_t peer, uint32_t plane, Time now) {
  const Link& link = instance.ports[plane]->link;
  const bool held = instance.own.admin[plane] == PlaneAdmin::kDown;
  if (link.down() || instance.down || held) return PingState::kDown;
  if (!link.state().up) return PingState::kNoLink;
  if (instance.IsResolving(peer, plane)) return PingState::kNoMac;
  Ping& ping = instance.ping;
  const Handshake& handshake = instance.peers[peer].handshake();
  const auto bit = static_cast<PlaneMask>(1u << plane);
  ping.asked_at[plane] = now;
  if (handshake.plain()) {
    const Connection& connection = instance.connections[instance.ConnectionIndex(peer, plane, 0)];
    // A NACK would send again what is in flight, and what is acknowledged is answer enough.
    const bool goes_on = connection.unacked_count() != 0 && connection.tries() == 0;
    if (goes_on && connection.srtt().count() != 0) {
      ping.board.planes[plane].rtt_ns.store(connection.srtt().count(), std::memory_order_relaxed);
      return PingState::kAcknowledges;
    }
    if (!ProbeByHand(instance, peer, plane, 1)) return PingState::kNoRoom;
    ping.probe |= bit;
    return PingState::kAsked;
  }
  ping.nonces[plane] = instance.own.numbers.Next();
  Hello hello = instance.peers[peer].MakeHello(true, 0);
  hello.nonce = ping.nonces[plane];
  if (!SendControl(instance, peer, plane, hello)) return PingState::kNoRoom;
  ping.hello |= bit;
  // It may be one that speaks no HELLO, and expects any PSN.
  for (int quarter = 0; handshake.identities().peer == 0 && quarter < 4; ++quarter) {
    if (ProbeByHand(instance, peer, plane, (quarter << 14) + 1)) ping.probe |= bit;
  }
  return PingState::kAsked;
}

// Wire profile §6: an unsequenced PDU that is ahead of what the receiver expects.
bool Pipeline::ProbeByHand(Instance& instance, uint32_t peer, uint32_t plane, int ahead) {
  const uint32_t number = instance.ConnectionIndex(peer, plane, 0);
  return SendUnsequenced(instance, number, {}, instance.connections[number].next_psn().Plus(ahead),
                         Instance::kAckClass);
}

// Whether a HELLO of the peer answers the question: each does once.
bool Pipeline::TakePong(Instance& instance, uint32_t peer, const Hello& hello, Time now) {
  Ping& ping = instance.ping;
  if (ping.hello == 0 || ping.peer != peer) return false;
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    if ((ping.hello & 1u << plane) == 0 || ping.nonces[plane] != hello.echo) continue;
    ping.hello &= static_cast<PlaneMask>(~(1u << plane));
    ping.probe &= static_cast<PlaneMask>(~(1u << plane));
    PingBoard::Plane& shown = ping.board.planes[plane];
    const Disagreement found = Compare(instance.own.hello, hello);
    shown.mismatch.store(found.what, std::memory_order_relaxed);
    shown.own.store(found.own, std::memory_order_relaxed);
    shown.theirs.store(found.theirs, std::memory_order_relaxed);
    shown.rtt_ns.store((now - ping.asked_at[plane]).count(), std::memory_order_relaxed);
    shown.state.store(PingState::kAnswered, std::memory_order_release);
    return true;
  }
  return false;
}

// A NACK of the peer: the answer to a probe, if one was sent.
[[gnu::cold]] void Pipeline::OnProbePong(Instance& instance, uint32_t peer, uint32_t plane,
                                         Time now) {
  Ping& ping = instance.ping;
  if (ping.peer != peer || (ping.probe & 1u << plane) == 0) return;
  ping.probe &= static_cast<PlaneMask>(~(1u << plane));
  PingBoard::Plane& shown = ping.board.planes[plane];
  shown.rtt_ns.store((now - ping.asked_at[plane]).count(), std::memory_order_relaxed);
  shown.state.store(PingState::kAnsweredProbe, std::memory_order_release);
}

}  // namespace suede
