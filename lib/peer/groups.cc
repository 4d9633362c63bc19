// SPDX-License-Identifier: Apache-2.0
// The session group of each plane (docs/sessions.md): the number of sessions that both ends have
// agreed on, SESSION, and a session on which no PDU gets through.
#include <algorithm>
#include <array>
#include <bit>

#include "peer/peer.h"

namespace suede {

// Begins the groups with the sessions that both ends distinguish: both have agreed, or the
// association is over. Only peers that send in generations announce the PSNs of all connections.
void Peer::BeginGroups(Time now, Effects& effects) {
  const bool several = handshake_.associated() && own_->has_sessions && hello_.answers_planes &&
                       hello_.sends_generations;
  const uint32_t max = std::min<uint32_t>(own_->map.session_count(), hello_.sessions);
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    groups_[plane].Begin(several ? std::bit_floor(max) : 1, own_->session_numbers[plane], now);
    for (SessionIndex slot = 0; own_->map.has_groups() && slot < own_->map.session_count();
         ++slot) {
      effects.Add(effect::Renumber{plane, slot});
    }
  }
}

void Peer::SendSession(PlaneIndex plane, SessionIndex slot, Effects& effects) {
  SessionNumber request = groups_[plane].RequestOf(slot);
  // A fence takes any path.
  if (request.fence) return Send(plane, request, effects);
  if (request.anew) {
    FillPsns(plane, slot, request.psns,
             [](const Connection& one) { return one.in_flight().next_psn(); });
  }
  effects.Add(effect::SendFrom{plane, request.number, request});
}

void Peer::OnGroupDeadline(PlaneIndex plane, Time now, Effects& effects) {
  SessionGroup& group = groups_[plane];
  if (now < group.deadline()) return;
  std::array<SessionFacts, kMaxSessions> facts;  // (Most groups need a few.)
  Connection* each = &connection(plane, 0);
  const uint32_t stall_timeouts = own_->paths.sessions.stall_timeouts;
  const uint32_t vc_count = own_->map.vc_count();
  for (SessionIndex slot = 0; slot < group.count(); ++slot) {
    SessionFacts& fact = facts[slot];
    fact = {};
    Duration of_idle{};  // of VCs that were not used: not a measurement of the present path
    for (const Connection* const end = each + vc_count; each != end; ++each) {
      const bool is_used = each->tx().TakeMeasured() || each->in_flight().count() != 0;
      Duration& srtt = is_used ? fact.srtt : of_idle;
      srtt = std::max(srtt, each->tx().round_trip().srtt());
      const Duration min = each->tx().round_trip().min_rtt();
      if (fact.min_rtt == Duration(0) || (min != Duration(0) && min < fact.min_rtt)) {
        fact.min_rtt = min;
      }
      fact.tx_pdus += each->tx().tx_pdus();
      fact.retransmissions += each->tx().retransmissions();
      fact.unacked_pdus += each->in_flight().count();
      fact.stalled |= each->tx().tries() >= stall_timeouts;
      fact.on_former_path |= each->tx().UpdateFormerPath();
    }
    if (fact.srtt == Duration(0)) fact.srtt = of_idle;
  }
  const SlotMask before = group.open();
  const SlotMask fencing = group.fencing();
  // (An acknowledgement is late by the peer's loop, too.)
  SlotMask asks =
      group.OnTimer({facts.data(), group.count()}, own_->paths.sessions,
                    {.ask_again = own_->paths.hello_interval,
                     .ack = IsPrompt() ? Duration(0) : own_->transport.ack_bound() * 9 / 8,
                     .rest = own_->paths.hold_down},
                    own_->numbers, now);
  for (SlotMask left = group.fencing() & ~fencing; left != 0; left &= left - 1) {
    const auto slot = Lowest<SessionIndex>(left);
    for (Connection& one : ConnectionsOf(plane, slot)) one.tx().Freeze();
  }
  for (SlotMask closed = before & ~group.open(); closed != 0; closed &= closed - 1) {
    EmitPlane(PeerEvent::kSessionClosed, plane, static_cast<uint8_t>(std::countr_zero(closed)),
              effects);
  }
  for (; asks != 0; asks &= asks - 1) {
    SendSession(plane, Lowest<SessionIndex>(asks), effects);
  }
  if ((group.open() & ~before) != 0) placement_.Unblock(effects);
}

// Whether PDUs of ours are in flight in the session.
bool Peer::HasInFlight(PlaneIndex plane, SessionIndex slot) {
  for (const Connection& one : ConnectionsOf(plane, slot)) {
    if (one.in_flight().count() != 0) return true;
  }
  return false;
}

// The peer requests a number, or fences one of its sessions.
void Peer::OnSessionRequest(PlaneIndex plane, const SessionNumber& message, Time now,
                            Effects& effects) {
  SessionGroup& group = groups_[plane];
  const SessionIndex slot(message.slot);
  const bool repeated = slot < group.count() && group.slot(slot).rx_turn == message.turn;
  const bool heeded = message.fence ? group.OnFence(message) : group.OnRequest(message);
  if (!heeded) return effects.Add(effect::Count{Counter::kRxSessionStale});
  effects.Add(effect::Count{Counter::kRxSessions});
  for (Vc vc = 0; !repeated && vc < own_->map.vc_count(); ++vc) {
    Connection& one = connection(plane, own_->map.Number(slot, vc));
    if (message.fence) one.rx().Close();
    if (message.anew) one.rx().Open(message.psns[vc]);
  }
  SessionNumber answer = message;
  answer.answer = true;
  if (message.fence) {
    FillPsns(plane, slot, answer.psns, [](const Connection& one) { return one.rx().expected(); });
  }
  Send(plane, answer, effects);
  // (No request is sent over a plane that is not up here.)
  if (repeated || !sessions_[plane].up()) return;
  const bool answers = !HasInFlight(plane, slot);
  if (!group.OnPeerMoved(slot, answers, own_->numbers, now)) return;
  ArmSession(plane, effects);
}

void Peer::OnSession(PlaneIndex plane, const SessionNumber& message, Time now, Effects& effects) {
  if (!message.answer) return OnSessionRequest(plane, message, now, effects);
  SessionGroup& group = groups_[plane];
  const SessionIndex slot(message.slot);
  const bool opened =
      slot < group.count() && group.slot(slot).state == SessionSlot::State::kOpening;
  switch (group.OnAnswer(message, own_->paths.sessions, own_->numbers, now)) {
    case SessionGroup::Answer::kStale:
      return effects.Add(effect::Count{Counter::kRxSessionStale});
    case SessionGroup::Answer::kSlow:
      return ArmSession(plane, effects);
    case SessionGroup::Answer::kTaken:
      break;
  }
  effects.Add(effect::Count{Counter::kSessionMoves});
  EmitPlane(opened ? PeerEvent::kSessionOpened : PeerEvent::kSessionMoved, plane, message.slot,
            effects);
  effects.Add(effect::Renumber{plane, slot});
  for (Vc vc = 0; vc < own_->map.vc_count(); ++vc) {
    const PathConnection number = own_->map.Number(slot, vc);
    if (!connection(plane, number).tx().OnNewPath(now, own_->transport)) continue;
    paths_->Join(plane);  // the plane gets no compensation for traffic that it could not carry
    effects.Add(effect::Retransmit{plane, number});
    ArmConnection(plane, number, effects);
  }
  placement_.Unblock(effects);
}

// A connection has timed out several times in a row. While the plane lives, its path may be dead.
void Peer::OnStall(PlaneIndex plane, PathConnection number, Time now, Effects& effects) {
  if (groups_[plane].count() == 1 || !sessions_[plane].up()) return;
  if (!groups_[plane].OnStall(own_->map.SessionOf(number), own_->numbers, now)) return;
  effects.Add(effect::Count{Counter::kSessionStalls});
  EmitPlane(PeerEvent::kSessionStalled, plane, static_cast<uint8_t>(own_->map.SessionOf(number)),
            effects);
  ArmSession(plane, effects);
}

}  // namespace suede
