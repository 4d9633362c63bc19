// SPDX-License-Identifier: Apache-2.0
// What happens when time is up: for connections, handshakes and sessions of planes.
#include <algorithm>

#include "pipeline/pipeline.h"

namespace suede {
namespace {

// How often a timer of what is down looks whether it is up again.
constexpr Duration kDownLook = std::chrono::milliseconds(2);

}  // namespace

void Pipeline::ArmConnection(Instance& instance, uint32_t number) {
  timers_.Arm(instance.first_timer + number, instance.connections[number].deadline());
}

void Pipeline::ArmHandshake(Instance& instance, uint32_t peer) {
  timers_.Arm(instance.first_timer + static_cast<uint32_t>(instance.connections.size()) + peer,
              instance.handshakes[peer].deadline());
}

void Pipeline::ArmSession(Instance& instance, uint32_t peer, uint32_t plane) {
  const size_t before = instance.connections.size() + instance.handshakes.size();
  timers_.Arm(instance.first_timer + static_cast<uint32_t>(before) +
                  instance.PlaneIndex(peer, plane),
              instance.session(peer, plane).deadline());
}

void Pipeline::ArmCredit(Instance& instance, uint32_t peer) {
  Time due = kNever;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    due = std::min(due, instance.tx_credit[Scheduler::QueueIndex(peer, vc)].ask_at);
  }
  const size_t before =
      instance.connections.size() + instance.handshakes.size() + instance.sessions.size();
  timers_.Arm(instance.first_timer + static_cast<uint32_t>(before) + peer, due);
}

// Whether no plane to the peer has its MAC address.
bool Pipeline::IsResolving(const Instance& instance, uint32_t peer) {
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    if ((instance.paths[peer].present & 1u << plane) != 0 &&
        instance.resolving[instance.PlaneIndex(peer, plane)] == 0) {
      return false;
    }
  }
  return true;
}

bool Pipeline::AnyPortUp(const Instance& instance, uint32_t peer) {
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    if ((instance.paths[peer].present & 1u << plane) != 0 && instance.port_up[plane]) return true;
  }
  return false;
}

void Pipeline::OnTimer(uint32_t timer, Time now) {
  Instance& instance = *instances_[instance_of_timer_[timer]];
  // Nothing can be answered: what is in flight waits, and that is no try.
  const bool port_down = !instance.has_planes() && instance.ports[0]->link.down();
  if (instance.down || port_down) return timers_.Arm(timer, now + kDownLook);
  uint32_t number = timer - instance.first_timer;
  if (number < instance.connections.size()) return OnConnectionTimer(instance, number, now);
  number -= static_cast<uint32_t>(instance.connections.size());
  if (number < instance.handshakes.size()) return OnHandshakeTimer(instance, number, now);
  number -= static_cast<uint32_t>(instance.handshakes.size());
  if (number < instance.sessions.size()) {
    return OnSessionTimer(instance, number >> instance.plane_bits,
                          number & (instance.plane_count() - 1), now);
  }
  OnCreditTimer(instance, number - static_cast<uint32_t>(instance.sessions.size()), now);
}

void Pipeline::OnConnectionTimer(Instance& instance, uint32_t number, Time now) {
  Connection& connection = instance.connections[number];
  const TransportParams& params = instance.params.transport;
  const uint32_t tries = connection.tries();
  const uint32_t peer = instance.PeerOfConnection(number);
  if (connection.TimesOut(now)) [[unlikely]] {
    const Hold hold =
        HoldOf(instance, peer, instance.PlaneOfConnection(number), connection.oldest(), now);
    if (hold == Hold::kOwn || hold == Hold::kPeers) connection.PutOff(now, params);
  }
  switch (connection.OnTimer(now, params)) {
    case TimerVerdict::kNothing: break;
    case TimerVerdict::kRetransmit:
      if (connection.tries() != tries) instance.counters.Add(Counter::kRtoFired);
      WantRetransmission(instance, number);
      // The peer's window may be another one than it told, or it may be another peer.
      if (connection.desynchronized() && instance.handshakes[peer].associated()) {
        SendControl(instance, peer, instance.PlaneOfConnection(number),
                    MakeHello(instance, peer, true, 0));
      }
      break;
    case TimerVerdict::kUnreachable:
      OnUnreachable(instance, number, now);
      break;
    case TimerVerdict::kProbe:
      SendControl(instance, peer, instance.PlaneOfConnection(number),
                  MakeHello(instance, peer, true, 0));
      SendProbe(instance, number);
      GiveUpIfLost(instance, number);
      break;
  }
  if (connection.MustAckNow(params)) OweAck(instance, number, now);
  ArmConnection(instance, number);
}

// The tries of a connection are used up.
void Pipeline::OnUnreachable(Instance& instance, uint32_t number, Time now) {
  const uint32_t peer = instance.PeerOfConnection(number);
  const uint32_t plane = instance.PlaneOfConnection(number);
  if (instance.paths[peer].sessions) {
    PlaneDown(instance, peer, plane, PlaneDownReason::kTimeouts, now);
    return;
  }
  // It answers, and what it says cannot be: no probe would bring the two into step.
  if (instance.handshakes[peer].associated() && instance.connections[number].desynchronized()) {
    StartOver(instance, peer, now);
    return;
  }
  instance.counters.Add(Counter::kUnreachable);
  Tell(LcoreEventKind::kPeerUnreachable, instance, number);
  PduList given_up;
  instance.connections[number].GiveUp(now, instance.params.transport, given_up);
  HoldLast(instance, number, given_up);
  Complete(instance, given_up, plane, SUEDE_STATUS_IN_DOUBT);
  GiveUpIfLost(instance, number);
  if (instance.has_planes()) ChooseHome(instance, peer);
}

// Ends what is queued behind a lost connection where no other plane takes it.
void Pipeline::GiveUpIfLost(Instance& instance, uint32_t number) {
  const uint32_t peer = instance.PeerOfConnection(number);
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    const uint32_t other = instance.ConnectionIndex(peer, plane, instance.VcOfConnection(number));
    if ((instance.paths[peer].usable & 1u << plane) != 0 && !instance.connections[other].lost()) {
      return;
    }
  }
  MarkLost(instance, peer, instance.VcsOfConnection(number), true);
  GiveUpQueued(instance, peer, instance.VcsOfConnection(number), SUEDE_STATUS_UNREACHABLE);
}

}  // namespace suede
