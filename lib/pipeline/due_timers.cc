// SPDX-License-Identifier: Apache-2.0
#include "pipeline/due_timers.h"

#include <algorithm>
#include <chrono>

namespace suede {
namespace {

// How often a timer checks whether an instance or port that is down is up again.
constexpr Duration kDownCheckInterval = std::chrono::milliseconds(2);
// Max time after its deadline that a message waits for room. Received PDUs whose answers take all
// room of each poll iteration must not hide a silent peer.
constexpr Duration kMaxPostponed = std::chrono::milliseconds(10);

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
      const Handshake& handshake = instance.peers[PeerIndex(owner.number)].handshake();
      if (Postpone(instance.ports, timer, handshake.deadline(), now)) return;
      Effects effects;
      if (Pauses::IsMute(instance.ports)) [[unlikely]] {
        instance.peers[PeerIndex(owner.number)].association().OnMute(now, effects);
      } else {
        instance.peers[PeerIndex(owner.number)].association().OnDeadline(now, effects);
      }
      return effector_.Apply(instance, PeerIndex(owner.number), effects);
    }
    case Timers::Kind::kSession:
      return OnSessionTimer(instance, timer, PathIndex(owner.number), now);
    case Timers::Kind::kCredit:
      if (Pauses::IsMute(instance.ports)) [[unlikely]]
        return lcore_.timers.Arm(timer, now + kDownCheckInterval);
      return credit_use_.OnTimer(instance, PeerIndex(owner.number), now);
  }
}

void DueTimers::OnSessionTimer(Instance& instance, uint32_t timer, PathIndex path, Time now) {
  const PeerIndex peer = instance.map.PeerOf(path);
  const PlaneIndex plane = instance.map.PlaneOf(path);
  const PlaneSession& session = instance.peers.sessions[path];
  // PLANEs of a plane that is up are repeated at an interval that does not grow.
  if (!session.up() && Postpone({&instance.ports[plane], 1}, timer, session.deadline(), now))
    return;
  const bool needs_hold = instance.peers[peer].probes().NeedsHold(plane, now);
  const Hold hold = needs_hold ? pauses_.HoldOf(instance, peer, plane, now) : Hold::kNone;
  Effects effects;
  instance.peers[peer].probes().OnDeadline(plane, hold, now, effects);
  effector_.Apply(instance, peer, effects);
}

// Postpones a timer whose message, due since `due`, may find no room because others of this poll
// iteration have used up that of one of `ports`. Timers of many peers expire together: without room
// the message would count as lost, and be repeated together with the same others after waits that
// double. Each tick gets as many postponed timers as a port takes messages in a poll iteration.
// Returns false, and the message is sent or lost, if there is room or the port takes nothing:
// timers detect silence there.
bool DueTimers::Postpone(std::span<PortContext* const> ports, uint32_t timer, Time due, Time now) {
  if (now < due || now - due >= kMaxPostponed) return false;
  const auto is_used_up = [](const PortContext* port) { return port->link.IsFrontUsedUp(); };
  if (std::ranges::none_of(ports, is_used_up)) [[likely]]
    return false;
  lcore_.timers.Arm(timer, now + postponed_++ / kFront * Duration(TimerWheel::kTickNs));
  return true;
}

}  // namespace suede
