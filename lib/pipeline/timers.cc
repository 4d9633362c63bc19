// SPDX-License-Identifier: Apache-2.0
// Timers of connections, handshakes, sessions of planes and credit: when they are due, and whose
// time is up.
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

void Pipeline::ArmSession(Instance& instance, uint32_t peer, uint32_t plane) {
  const size_t before = instance.connections.size() + instance.peers.size();
  timers_.Arm(instance.first_timer + static_cast<uint32_t>(before) +
                  instance.PlaneIndex(peer, plane),
              instance.session(peer, plane).deadline());
}

// What a peer wants to be told of.
void Pipeline::Arm(Instance& instance, uint32_t peer, const effect::Arm& what) {
  uint32_t number = instance.first_timer;
  switch (what.timer) {
    case effect::Timer::kConnection:
      number += instance.ConnectionIndex(peer, what.plane, what.vc);
      break;
    case effect::Timer::kHandshake:
      number += static_cast<uint32_t>(instance.connections.size()) + peer;
      break;
    case effect::Timer::kSession:
      number += static_cast<uint32_t>(instance.connections.size() + instance.peers.size()) +
                instance.PlaneIndex(peer, what.plane);
      break;
  }
  timers_.Arm(number, what.due);
}

void Pipeline::ArmCredit(Instance& instance, uint32_t peer) {
  Time due = kNever;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    due = std::min(due, instance.tx_credit[Scheduler::QueueIndex(peer, vc)].ask_at);
  }
  const size_t before =
      instance.connections.size() + instance.peers.size() + instance.sessions.size();
  timers_.Arm(instance.first_timer + static_cast<uint32_t>(before) + peer, due);
}

void Pipeline::OnTimer(uint32_t timer, Time now) {
  Instance& instance = *instances_[instance_of_timer_[timer]];
  // Nothing can be answered: what is in flight waits, and that is no try.
  const bool port_down = instance.plane_count() == 1 && instance.ports[0]->link.down();
  if (instance.down || port_down) return timers_.Arm(timer, now + kDownLook);
  uint32_t number = timer - instance.first_timer;
  if (number < instance.connections.size()) return OnConnectionTimer(instance, number, now);
  number -= static_cast<uint32_t>(instance.connections.size());
  if (number < instance.peers.size()) {
    Effects effects;
    instance.peers[number].OnHandshakeDeadline(now, effects);
    return Apply(instance, number, effects);
  }
  number -= static_cast<uint32_t>(instance.peers.size());
  if (number < instance.sessions.size()) {
    return OnSessionTimer(instance, number >> instance.plane_bits,
                          number & (instance.plane_count() - 1), now);
  }
  OnCreditTimer(instance, number - static_cast<uint32_t>(instance.sessions.size()), now);
}

void Pipeline::OnConnectionTimer(Instance& instance, uint32_t number, Time now) {
  const Connection& connection = instance.connections[number];
  const uint32_t peer = instance.PeerOfConnection(number);
  const uint32_t plane = instance.PlaneOfConnection(number);
  Hold hold = Hold::kNone;
  if (connection.TimesOut(now)) [[unlikely]] {
    hold = HoldOf(instance, peer, plane, connection.oldest(), now);
  }
  Effects effects;
  instance.peers[peer].OnConnectionDeadline(plane, instance.VcOfConnection(number), hold, now,
                                            effects);
  Apply(instance, peer, effects);
}

void Pipeline::OnSessionTimer(Instance& instance, uint32_t peer, uint32_t plane, Time now) {
  const bool asks = instance.peers[peer].AsksForHold(plane, now);
  const Hold hold = asks ? HoldOf(instance, peer, plane, now) : Hold::kNone;
  Effects effects;
  instance.peers[peer].OnSessionDeadline(plane, hold, now, effects);
  Apply(instance, peer, effects);
}

}  // namespace suede
