// SPDX-License-Identifier: Apache-2.0
// The part of a peer's connections that the data path does not handle: receivers without room, and
// deadlines.
#include "peer/peer.h"

namespace suede {

void Peer::OnNotReady(uint32_t plane, uint32_t slot, const NotReady& message, Time now,
                      Effects& effects) {
  const uint32_t vc = own_->ConnectionOf(slot, message.vc);
  const RpsnVerdict verdict =
      Acknowledge(plane, vc, effects, [&](Connection& refused, PduList& acked) {
        return refused.OnNotReady(message.expected, std::chrono::microseconds(message.backoff_us),
                                  now, own_->transport, acked);
      });
  if (verdict == RpsnVerdict::kOutOfWindow) {
    effects.Add(effect::Count{Counter::kRxRpsnInvalid});
  }
  effects.Add(effect::Count{Counter::kPauses});
  // The NOT_READY answers a PDU of ours, whether that was accepted or not.
  if (own_->has_sessions && connection(plane, vc).paused()) OnProof(plane, now);
  Unblock(plane, vc, effects);
  ArmConnection(plane, vc, effects);
}

void Peer::OnReady(uint32_t plane, uint32_t slot, const Ready& message, Time now,
                   Effects& effects) {
  const uint32_t vc = own_->ConnectionOf(slot, message.vc);
  connection(plane, vc).OnReady(message.expected, now);
  effects.Add(effect::CheckConnection{static_cast<uint8_t>(plane), static_cast<uint8_t>(vc)});
}

void Peer::OnResumed(uint32_t plane, uint32_t vc, Effects& effects) {
  Mark(own_->VcsOf(vc), false, effects);
  if (!cut_off_) Emit(PeerEvent::kReachable, plane, vc, effects);
}

void Peer::OnConnectionDeadline(uint32_t plane, uint32_t vc, Hold hold, Time now,
                                Effects& effects) {
  Connection& due = connection(plane, vc);
  const auto on_plane = static_cast<uint8_t>(plane);
  const auto of_vc = static_cast<uint8_t>(vc);
  const uint32_t tries = due.tries();
  if (hold != Hold::kNone && hold != Hold::kTooLong) due.PutOff(now, own_->transport);
  switch (due.OnTimer(now, own_->transport)) {
    case TimerVerdict::kNothing:
      break;
    case TimerVerdict::kRetransmit:
      if (due.tries() != tries) {
        effects.Add(effect::Count{Counter::kRtoFired});
        SetAside(plane, vc);
      }
      if (due.tries() >= own_->paths.sessions.stall_timeouts) OnStall(plane, vc, now, effects);
      effects.Add(effect::Retransmit{on_plane, of_vc});
      // The peer's window may have changed, or there may be another peer.
      if (due.desynchronized() && handshake_.associated()) SendHello(plane, true, 0, effects);
      break;
    case TimerVerdict::kUnreachable:
      OnUnreachable(plane, vc, now, effects);
      break;
    case TimerVerdict::kProbe:
      SendHello(plane, true, 0, effects);
      effects.Add(effect::ProbeLost{on_plane, of_vc});
      GiveUpIfLost(vc, effects);
      break;
  }
  if (due.MustAckNow(own_->transport)) effects.Add(effect::ScheduleAck{on_plane, of_vc});
  ArmConnection(plane, vc, effects);
}

// The tries of a connection are used up.
void Peer::OnUnreachable(uint32_t plane, uint32_t vc, Time now, Effects& effects) {
  if (paths_->sessions) return PlaneDown(plane, PlaneDownReason::kTimeouts, now, effects);
  Connection& lost = connection(plane, vc);
  // The peer answers, and its answer is impossible: no probe would bring both ends into step.
  if (handshake_.associated() && lost.desynchronized()) return StartOver(now, effects);
  effects.Add(effect::Count{Counter::kUnreachable});
  Emit(PeerEvent::kUnreachable, plane, vc, effects);
  const uint32_t bytes = lost.unacked_bytes();
  PduList pdus;
  lost.GiveUp(now, own_->transport, pdus);
  GiveUp(plane, vc, Ending::kInDoubt, true, bytes, pdus, effects);
  GiveUpIfLost(vc, effects);
  PlaceFlows(effects);
}

// Ends PDUs queued behind a lost connection where no other plane takes them.
void Peer::GiveUpIfLost(uint32_t vc, Effects& effects) {
  for (uint32_t plane = 0; plane < own_->plane_count; ++plane) {
    if ((paths_->usable & 1u << plane) != 0 && !connection(plane, vc).lost()) return;
  }
  Mark(own_->VcsOf(vc), true, effects);
  GiveUpQueued(own_->VcsOf(vc), effects);
}

}  // namespace suede
