// SPDX-License-Identifier: Apache-2.0
// The part of a peer's connections that the data path does not handle: receivers without room, and
// deadlines.
#include "peer/peer.h"

namespace suede {

void Peer::OnNotReady(PlaneIndex plane, SessionIndex slot, const NotReady& message, Time now,
                      Effects& effects) {
  const PathConnection number = own_->map.Number(slot, Vc(message.vc));
  const RpsnVerdict verdict =
      Acknowledge(plane, number, effects, [&](Connection& refused, PduList& acked) {
        return refused.tx().OnNotReady(message.expected,
                                       std::chrono::microseconds(message.backoff_us), now,
                                       own_->transport, acked);
      });
  if (verdict == RpsnVerdict::kOutOfWindow) {
    effects.Add(effect::Count{Counter::kRxRpsnInvalid});
  }
  effects.Add(effect::Count{Counter::kPauses});
  // The NOT_READY answers a PDU of ours, whether that was accepted or not.
  if (own_->has_sessions && connection(plane, number).tx().paused()) OnProof(plane, now);
  placement_.Unblock(plane, number, effects);
  ArmConnection(plane, number, effects);
}

void Peer::OnReady(PlaneIndex plane, SessionIndex slot, const Ready& message, Time now,
                   Effects& effects) {
  const PathConnection number = own_->map.Number(slot, Vc(message.vc));
  connection(plane, number).tx().OnReady(message.expected, now);
  effects.Add(effect::CheckConnection{plane, number});
}

void Peer::OnResumed(PlaneIndex plane, PathConnection number, Effects& effects) {
  Mark(own_->map.VcsOf(number), false, effects);
  if (!cut_off_) Emit(PeerEvent::kReachable, plane, number, effects);
}

void Peer::OnConnectionDeadline(PlaneIndex plane, PathConnection number, Hold hold, Time now,
                                Effects& effects) {
  Connection& due = connection(plane, number);
  const uint32_t tries = due.tx().tries();
  if (hold != Hold::kNone && hold != Hold::kTooLong) due.tx().Rearm(now, own_->transport);
  switch (due.OnTimer(now, own_->transport)) {
    case TimerVerdict::kNothing:
      break;
    case TimerVerdict::kRetransmit:
      if (due.tx().tries() != tries) {
        effects.Add(effect::Count{Counter::kRtoFired});
        SetAside(plane, number);
      }
      if (due.tx().tries() >= own_->paths.sessions.stall_timeouts)
        OnStall(plane, number, now, effects);
      effects.Add(effect::Retransmit{plane, number});
      // The peer's window may have changed, or there may be another peer.
      if (due.tx().desynchronized() && handshake_.associated()) SendHello(plane, true, 0, effects);
      break;
    case TimerVerdict::kUnreachable:
      OnUnreachable(plane, number, now, effects);
      break;
    case TimerVerdict::kProbe:
      SendHello(plane, true, 0, effects);
      effects.Add(effect::ProbeLost{plane, number});
      GiveUpIfLost(number, effects);
      break;
  }
  if (due.rx().MustAckNow(own_->transport)) effects.Add(effect::ScheduleAck{plane, number});
  ArmConnection(plane, number, effects);
}

// The tries of a connection are used up.
void Peer::OnUnreachable(PlaneIndex plane, PathConnection number, Time now, Effects& effects) {
  if (paths_->sessions) return PlaneDown(plane, PlaneDownReason::kTimeouts, now, effects);
  Connection& lost = connection(plane, number);
  // The peer answers, and its answer is impossible: no probe would bring both ends into step.
  if (handshake_.associated() && lost.tx().desynchronized()) return StartOver(now, effects);
  effects.Add(effect::Count{Counter::kUnreachable});
  Emit(PeerEvent::kUnreachable, plane, number, effects);
  const uint32_t bytes = lost.in_flight().bytes();
  PduList pdus;
  lost.tx().GiveUp(now, own_->transport, pdus);
  GiveUp(plane, number, Ending::kInDoubt, true, bytes, pdus, effects);
  GiveUpIfLost(number, effects);
  placement_.Place(effects);
}

// Ends PDUs queued behind a lost connection if no other plane takes them.
void Peer::GiveUpIfLost(PathConnection number, Effects& effects) {
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    if ((paths_->usable & 1u << plane) != 0 && !connection(plane, number).tx().lost()) return;
  }
  Mark(own_->map.VcsOf(number), true, effects);
  GiveUpQueued(own_->map.VcsOf(number), effects);
}

}  // namespace suede
