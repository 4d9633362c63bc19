// SPDX-License-Identifier: Apache-2.0
// The part of a peer's connections that the data path does not handle: receivers without room, and
// deadlines.
#include "peer/peer.h"

namespace suede {

void Peer::OnNotReady(PlaneIndex plane, SessionIndex slot, const NotReady& message, Time now,
                      Effects& effects) {
  const PathConnection number = peer_.own->map.Number(slot, Vc(message.vc));
  const RpsnVerdict verdict =
      flight_.Acknowledge(plane, number, effects, [&](Connection& refused, PduList& acked) {
        return refused.tx().OnNotReady(message.expected,
                                       std::chrono::microseconds(message.backoff_us), now,
                                       peer_.own->transport, acked);
      });
  if (verdict == RpsnVerdict::kOutOfWindow) {
    effects.Add(effect::Count{Counter::kRxRpsnInvalid});
  }
  effects.Add(effect::Count{Counter::kPauses});
  // The NOT_READY answers a PDU of ours, whether that was accepted or not.
  if (peer_.own->has_sessions && peer_.connection(plane, number).tx().paused())
    health_.OnProof(plane, now);
  choice_.Unblock(plane, number, effects);
  peer_.ArmConnection(plane, number, effects);
}

void Peer::OnReady(PlaneIndex plane, SessionIndex slot, const Ready& message, Time now,
                   Effects& effects) {
  const PathConnection number = peer_.own->map.Number(slot, Vc(message.vc));
  peer_.connection(plane, number).tx().OnReady(message.expected, now);
  effects.Add(effect::CheckConnection{plane, number});
}

void Peer::OnConnectionDeadline(PlaneIndex plane, PathConnection number, Hold hold, Time now,
                                Effects& effects) {
  Connection& due = peer_.connection(plane, number);
  const uint32_t tries = due.tx().tries();
  if (hold != Hold::kNone && hold != Hold::kTooLong) due.tx().Rearm(now, peer_.own->transport);
  switch (due.OnTimer(now, peer_.own->transport)) {
    case TimerVerdict::kNothing:
      break;
    case TimerVerdict::kRetransmit:
      if (due.tx().tries() != tries) {
        effects.Add(effect::Count{Counter::kRtoFired});
        flight_.SetAside(plane, number);
      }
      if (due.tx().tries() >= peer_.own->paths.sessions.stall_timeouts)
        groups_.OnStall(plane, number, now, effects);
      effects.Add(effect::Retransmit{plane, number});
      // The peer's window may have changed, or there may be another peer.
      if (due.tx().desynchronized() && agreement_.handshake.associated())
        association_.SendHello(plane, true, 0, effects);
      break;
    case TimerVerdict::kUnreachable:
      OnUnreachable(plane, number, now, effects);
      break;
    case TimerVerdict::kProbe:
      association_.SendHello(plane, true, 0, effects);
      effects.Add(effect::ProbeLost{plane, number});
      GiveUpIfLost(number, effects);
      break;
  }
  if (due.rx().MustAckNow(peer_.own->transport)) effects.Add(effect::ScheduleAck{plane, number});
  peer_.ArmConnection(plane, number, effects);
}

// The tries of a connection are used up.
void Peer::OnUnreachable(PlaneIndex plane, PathConnection number, Time now, Effects& effects) {
  if (peer_.paths->sessions)
    return health_.PlaneDown(plane, PlaneDownReason::kTimeouts, now, effects);
  const bool desynchronized = peer_.connection(plane, number).tx().desynchronized();
  // The peer answers, and its answer is impossible: no probe would bring both ends into step.
  if (agreement_.handshake.associated() && desynchronized)
    return association_.StartOver(now, effects);
  Reach::EmitUnreachable(plane, number, effects);
  const auto end = [&](Connection& ended, PduList& pdus) {
    ended.tx().GiveUp(now, peer_.own->transport, pdus);
  };
  flight_.GiveUp(plane, number, Ending::kInDoubt, true, effects, end);
  GiveUpIfLost(number, effects);
  choice_.Place(effects);
}

// Ends PDUs queued behind a lost connection if no other plane takes them.
void Peer::GiveUpIfLost(PathConnection number, Effects& effects) {
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    if ((peer_.paths->usable & 1u << plane) != 0 && !peer_.connection(plane, number).tx().lost())
      return;
  }
  reach_.Lose(peer_.own->map.VcsOf(number), effects);
}

}  // namespace suede
