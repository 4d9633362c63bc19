// SPDX-License-Identifier: Apache-2.0
#include "lcore/timers.h"

#include <algorithm>

namespace suede {

void Timers::ArmSession(const PeerArrays& peers, PeerIndex peer, PlaneIndex plane) {
  const PathIndex path = peers.own.map.PathAt(peer, plane);
  ArmSession(peers, path, std::min(peers.sessions[path].deadline(), peers.groups[path].deadline()));
}

void Timers::ArmSession(const PeerArrays& peers, PathIndex path, Time due) {
  const size_t before = peers.connections.size() + peers.size();
  const uint32_t timer = peers.first_timer + static_cast<uint32_t>(before) + path;
  if (peers.own.map.has_groups() && fine_wheel_.Reaches(due)) return fine_wheel_.Arm(timer, due);
  wheel_.Arm(timer, due);
}

// Arms the timer that a peer names.
void Timers::Arm(const PeerArrays& peers, PeerIndex peer, const effect::Arm& what) {
  uint32_t number = peers.first_timer;
  switch (what.timer) {
    case effect::Timer::kConnection:
      number += peers.own.map.At(peer, what.plane, what.number);
      break;
    case effect::Timer::kHandshake:
      number += static_cast<uint32_t>(peers.connections.size()) + peer;
      break;
    case effect::Timer::kSession:
      return ArmSession(peers, peers.own.map.PathAt(peer, what.plane), what.due);
  }
  wheel_.Arm(number, what.due);
}

void Timers::ArmCredit(const PeerArrays& peers, const TransmitState& tx, PeerIndex peer) {
  Time due = kNever;
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    due = std::min(due, tx.credit[Scheduler::IndexOf(peer, vc)].deadline());
  }
  const size_t before = peers.connections.size() + peers.size() + peers.sessions.size();
  wheel_.Arm(peers.first_timer + static_cast<uint32_t>(before) + peer, due);
}

Timers::Owner Timers::OwnerOf(uint32_t timer, const PeerArrays& peers) const {
  Owner owner{.number = timer - peers.first_timer};
  for (const auto& [kind, count] : {std::pair{Kind::kConnection, peers.connections.size()},
                                    std::pair{Kind::kHandshake, peers.size()},
                                    std::pair{Kind::kSession, peers.sessions.size()}}) {
    owner.kind = kind;
    if (owner.number < count) return owner;
    owner.number -= static_cast<uint32_t>(count);
  }
  owner.kind = Kind::kCredit;
  return owner;
}

void Timers::Add(PeerArrays& peers, uint32_t instance) {
  peers.first_timer = count();
  const size_t timers = peers.connections.size() + peers.sessions.size() + 2 * peers.size();
  instance_of_.resize(instance_of_.size() + timers, instance);
  wheel_.Resize(count());
  has_groups_ |= peers.own.map.has_groups();
  if (has_groups_) fine_wheel_.Resize(count());
}

}  // namespace suede
