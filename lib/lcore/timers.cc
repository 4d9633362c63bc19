// SPDX-License-Identifier: Apache-2.0
#include "lcore/timers.h"

#include <algorithm>

namespace suede {

void Timers::ArmSession(Instance& instance, PeerIndex peer, PlaneIndex plane) {
  const size_t before = instance.peers.connections.size() + instance.peers.size();
  ArmSession(
      instance,
      instance.peers.first_timer + static_cast<uint32_t>(before) + instance.map.PathAt(peer, plane),
      std::min(instance.peers.session(peer, plane).deadline(),
               instance.peers.groups[instance.map.PathAt(peer, plane)].deadline()));
}

// Arms the timer that a peer names.
void Timers::Arm(const Instance& instance, PeerIndex peer, const effect::Arm& what) {
  uint32_t number = instance.peers.first_timer;
  switch (what.timer) {
    case effect::Timer::kConnection:
      number += instance.map.At(peer, what.plane, what.number);
      break;
    case effect::Timer::kHandshake:
      number += static_cast<uint32_t>(instance.peers.connections.size()) + peer;
      break;
    case effect::Timer::kSession:
      number += static_cast<uint32_t>(instance.peers.connections.size() + instance.peers.size()) +
                instance.map.PathAt(peer, what.plane);
      return ArmSession(instance, number, what.due);
  }
  wheel_.Arm(number, what.due);
}

void Timers::ArmCredit(const Instance& instance, PeerIndex peer) {
  Time due = kNever;
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    due = std::min(due, instance.tx.credit[Scheduler::IndexOf(peer, vc)].ask_at);
  }
  const size_t before =
      instance.peers.connections.size() + instance.peers.size() + instance.peers.sessions.size();
  wheel_.Arm(instance.peers.first_timer + static_cast<uint32_t>(before) + peer, due);
}

Timers::Owner Timers::OwnerOf(uint32_t timer, const Instance& instance) const {
  Owner owner{.instance = instance.number, .number = timer - instance.peers.first_timer};
  for (const auto& [kind, count] : {std::pair{Kind::kConnection, instance.peers.connections.size()},
                                    std::pair{Kind::kHandshake, instance.peers.size()},
                                    std::pair{Kind::kSession, instance.peers.sessions.size()}}) {
    owner.kind = kind;
    if (owner.number < count) return owner;
    owner.number -= static_cast<uint32_t>(count);
  }
  owner.kind = Kind::kCredit;
  return owner;
}

void Timers::Add(Instance& instance) {
  instance.peers.first_timer = count();
  const size_t timers = instance.peers.connections.size() + instance.peers.sessions.size() +
                        2 * instance.peers.size();
  instance_of_.resize(instance_of_.size() + timers, instance.number);
  wheel_.Resize(count());
  has_groups_ |= instance.map.has_groups();
  if (has_groups_) looks_.Resize(count());
}

}  // namespace suede
