// SPDX-License-Identifier: Apache-2.0
#include "peer/peer_groups.h"

#include <algorithm>
#include <array>
#include <bit>

namespace suede {
namespace {

// Whether PDUs of ours are in flight in the session of these connections.
bool HaveInFlight(std::span<const Connection> connections) {
  return std::any_of(connections.begin(), connections.end(),
                     [](const Connection& one) { return one.in_flight().count() != 0; });
}

}  // namespace

// Only peers that send in generations announce the PSNs of all connections.
void PeerGroups::Begin(Time now, Effects& effects) {
  const bool several = agreement_.handshake.associated() && peer_.own->has_sessions &&
                       agreement_.hello.answers_planes && agreement_.hello.sends_generations;
  const uint32_t max =
      std::min<uint32_t>(peer_.own->map.session_count(), agreement_.hello.sessions);
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    peer_.groups[plane].Begin(several ? std::bit_floor(max) : 1, peer_.own->session_numbers[plane],
                              now);
    for (SessionIndex slot = 0;
         peer_.own->map.has_groups() && slot < peer_.own->map.session_count(); ++slot) {
      effects.Add(effect::Renumber{plane, slot});
    }
  }
}

void PeerGroups::Send(PlaneIndex plane, SessionIndex slot, Effects& effects) const {
  SessionNumber request = peer_.groups[plane].RequestOf(slot);
  // A fence takes any path.
  if (request.fence) return effects.Add(effect::Send{plane, request});
  if (request.anew) {
    peer_.FillPsns(plane, slot, request.psns,
                   [](const Connection& one) { return one.in_flight().next_psn(); });
  }
  effects.Add(effect::SendFrom{plane, request.number, request});
}

void PeerGroups::OnDeadline(PlaneIndex plane, Time now, Effects& effects) {
  SessionGroup& group = peer_.groups[plane];
  if (now < group.deadline()) return;
  std::array<SessionFacts, kMaxSessions> facts;  // (Most groups need a few.)
  Connection* each = &peer_.connection(plane, 0);
  const uint32_t stall_timeouts = peer_.own->paths.sessions.stall_timeouts;
  const uint32_t vc_count = peer_.own->map.vc_count();
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
  SlotMask requests =
      group.OnTimer({facts.data(), group.count()}, peer_.own->paths.sessions,
                    {.ask_again = peer_.own->paths.hello_interval,
                     .ack = IsPrompt() ? Duration(0) : peer_.own->transport.ack_bound() * 9 / 8,
                     .rest = peer_.own->paths.hold_down},
                    peer_.own->numbers, now);
  for (SlotMask left = group.fencing() & ~fencing; left != 0; left &= left - 1) {
    const auto slot = Lowest<SessionIndex>(left);
    for (Connection& one : peer_.ConnectionsOf(plane, slot)) one.tx().Freeze();
  }
  for (SlotMask closed = before & ~group.open(); closed != 0; closed &= closed - 1) {
    effects.Add(effect::Emit{.event = PeerEvent::kSessionClosed,
                             .plane = plane,
                             .what = static_cast<uint8_t>(std::countr_zero(closed))});
  }
  for (; requests != 0; requests &= requests - 1) {
    Send(plane, Lowest<SessionIndex>(requests), effects);
  }
  if ((group.open() & ~before) != 0) choice_.Unblock(effects);
}

// The peer requests a number, or fences one of its sessions.
void PeerGroups::OnRequest(PlaneIndex plane, const SessionNumber& message, Time now,
                           Effects& effects) {
  SessionGroup& group = peer_.groups[plane];
  const SessionIndex slot(message.slot);
  const bool repeated = slot < group.count() && group.slot(slot).rx_turn == message.turn;
  const bool heeded = message.fence ? group.OnFence(message) : group.OnRequest(message);
  if (!heeded) return effects.Add(effect::Count{Counter::kRxSessionStale});
  effects.Add(effect::Count{Counter::kRxSessions});
  for (Vc vc = 0; !repeated && vc < peer_.own->map.vc_count(); ++vc) {
    Connection& one = peer_.connection(plane, peer_.own->map.Number(slot, vc));
    if (message.fence) one.rx().Close();
    if (message.anew) one.rx().Open(message.psns[vc]);
  }
  SessionNumber answer = message;
  answer.answer = true;
  if (message.fence) {
    peer_.FillPsns(plane, slot, answer.psns,
                   [](const Connection& one) { return one.rx().expected(); });
    for (Vc vc = 0; vc < peer_.own->map.vc_count(); ++vc) {
      const PathConnection number = peer_.own->map.Number(slot, vc);
      if (!peer_.connection(plane, number).rx().has_early()) continue;
      Repair report = peer_.ReportOf(plane, number);
      report.fenced_session = true;
      report.generation = static_cast<uint16_t>(message.turn);
      effects.Add(effect::Send{plane, report});
      ++answer.repairs;
    }
  }
  effects.Add(effect::Send{plane, answer});
  // (No request is sent over a plane that is not up here.)
  if (repeated || !peer_.sessions[plane].up()) return;
  const bool answers = !HaveInFlight(peer_.ConnectionsOf(plane, slot));
  if (!group.OnPeerMoved(slot, answers, peer_.own->numbers, now)) return;
  peer_.ArmSession(plane, effects);
}

void PeerGroups::OnSession(PlaneIndex plane, const SessionNumber& message, Time now,
                           Effects& effects) {
  if (!message.answer) return OnRequest(plane, message, now, effects);
  SessionGroup& group = peer_.groups[plane];
  const SessionIndex slot(message.slot);
  const bool opened =
      slot < group.count() && group.slot(slot).state == SessionSlot::State::kOpening;
  switch (group.OnAnswer(message, peer_.own->paths.sessions, peer_.own->numbers, now)) {
    case SessionGroup::Answer::kStale:
      return effects.Add(effect::Count{Counter::kRxSessionStale});
    case SessionGroup::Answer::kSlow:
      return peer_.ArmSession(plane, effects);
    case SessionGroup::Answer::kTaken:
      break;
  }
  effects.Add(effect::Count{Counter::kSessionMoves});
  const PeerEvent event = opened ? PeerEvent::kSessionOpened : PeerEvent::kSessionMoved;
  effects.Add(effect::Emit{.event = event, .plane = plane, .what = message.slot});
  effects.Add(effect::Renumber{plane, slot});
  for (Vc vc = 0; vc < peer_.own->map.vc_count(); ++vc) {
    const PathConnection number = peer_.own->map.Number(slot, vc);
    if (!peer_.connection(plane, number).tx().OnNewPath(now, peer_.own->transport)) continue;
    peer_.paths->Join(plane);  // the plane gets no compensation for traffic that it could not carry
    effects.Add(effect::Retransmit{plane, number});
    peer_.ArmConnection(plane, number, effects);
  }
  choice_.Unblock(effects);
}

// While the plane lives, the path of the connection may be dead.
void PeerGroups::OnStall(PlaneIndex plane, PathConnection number, Time now, Effects& effects) {
  if (peer_.groups[plane].count() == 1 || !peer_.sessions[plane].up()) return;
  if (!peer_.groups[plane].OnStall(peer_.own->map.SessionOf(number), peer_.own->numbers, now))
    return;
  effects.Add(effect::Count{Counter::kSessionStalls});
  effects.Add(effect::Emit{.event = PeerEvent::kSessionStalled,
                           .plane = plane,
                           .what = static_cast<uint8_t>(peer_.own->map.SessionOf(number))});
  peer_.ArmSession(plane, effects);
}

}  // namespace suede
