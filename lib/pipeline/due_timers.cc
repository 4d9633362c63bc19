// SPDX-License-Identifier: Apache-2.0
#include "pipeline/due_timers.h"

#include <chrono>

namespace suede {
namespace {

// How often a timer checks whether an instance or port that is down is up again.
constexpr Duration kDownCheckInterval = std::chrono::milliseconds(2);

}  // namespace

void DueTimers::OnTimer(uint32_t timer, Time now) {
  Instance& instance = *lcore_.instances[lcore_.timers.InstanceOf(timer)];
  // No answer can arrive: PDUs in flight wait, without counting a try.
  const bool port_down = !instance.map.has_planes() && instance.ports[0]->link.down();
  if (instance.down || port_down) return lcore_.timers.Arm(timer, now + kDownCheckInterval);
  const Timers::Owner owner = lcore_.timers.OwnerOf(timer, instance.peers);
  switch (owner.kind) {
    case Timers::Kind::kConnection:
      // The deadline was postponed after its timer was armed.
      if (instance.peers.connections[owner.number].deadline() > now) [[likely]] {
        return lcore_.timers.ArmConnection(instance.peers, ConnectionIndex(owner.number));
      }
      return effector_.OnConnectionTimer(instance, ConnectionIndex(owner.number), now);
    case Timers::Kind::kHandshake: {
      Effects effects;
      if (Pauses::IsMute(instance.ports)) [[unlikely]] {
        instance.peers[PeerIndex(owner.number)].association().OnMute(now, effects);
      } else {
        instance.peers[PeerIndex(owner.number)].association().OnDeadline(now, effects);
      }
      return effector_.Apply(instance, PeerIndex(owner.number), effects);
    }
    case Timers::Kind::kSession:
      return OnSessionTimer(instance, instance.map.PeerOf(PathIndex(owner.number)),
                            instance.map.PlaneOf(PathIndex(owner.number)), now);
    case Timers::Kind::kCredit:
      if (Pauses::IsMute(instance.ports)) [[unlikely]]
        return lcore_.timers.Arm(timer, now + kDownCheckInterval);
      return credit_use_.OnTimer(instance, PeerIndex(owner.number), now);
  }
}

void DueTimers::OnSessionTimer(Instance& instance, PeerIndex peer, PlaneIndex plane, Time now) {
  const bool needs_hold = instance.peers[peer].probes().NeedsHold(plane, now);
  const Hold hold = needs_hold ? pauses_.HoldOf(instance, peer, plane, now) : Hold::kNone;
  Effects effects;
  instance.peers[peer].probes().OnDeadline(plane, hold, now, effects);
  effector_.Apply(instance, peer, effects);
}

}  // namespace suede
