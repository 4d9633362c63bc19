// SPDX-License-Identifier: Apache-2.0
// PDUs in flight on a dead plane: FENCE and FENCED (docs/planes.md, "Failover"); and on a fenced
// session (docs/sessions.md, "Fences").
#include "peer/peer.h"

namespace suede {

// The peer fences generation 0 of a plane that we cannot identify: one of the planes on which it
// has sent nothing, if any. If nothing was accepted on any of these planes, nothing was accepted on
// the fenced plane. The peer sends in generations now: closes these planes for generation 0.
// Returns false if a PDU was accepted.
bool Peer::CloseUnnamed() {
  for (const bool close : {false, true}) {
    for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
      if (sessions_[plane].peer_plane() != PlaneSession::kUnknownPlane) continue;
      for (PathConnection number = 0; number < own_->map.path_connections(); ++number) {
        if (close) connection(plane, number).rx().Close();
        if (connection(plane, number).rx().accepted_any()) return false;
      }
    }
  }
  return true;
}

// The peer has found the plane dead, and requests which PDUs arrived.
void Peer::OnFence(PlaneIndex plane, const Fence& fence, bool sealed, Time now, Effects& effects) {
  // A FENCE that may have been moved is about the plane that it names.
  const bool is_own = fence.own && !Pairs(plane, sealed);
  const PlaneIndex dead(is_own ? plane : PlaneOfPeer(fence.plane));
  bool known = false;
  const bool answers = dead != kNoPlane ? HasAllPsns(dead, fence.more) &&
                                              sessions_[dead].OnFence(fence.generation, known)
                                        : fence.generation == 0 && CloseUnnamed();
  if (!answers) {
    effects.Add(effect::Count{Counter::kRxPlaneStale});
    return;
  }
  Fenced fenced{.plane = fence.plane,
                .generation = fence.generation,
                .expected = fence.oldest,
                .more = fence.more};
  if (dead != kNoPlane) {
    for (PathConnection number = 0; number < DistinctConnections(dead); ++number) {
      Connection& fenced_one = connection(dead, number);
      if (!known) fenced_one.rx().Open(PsnIn(number, fence.oldest, fence.more));
      fenced_one.rx().Close();
    }
    FillAllPsns(dead, fenced.expected, fenced.more,
                [](const Connection& one) { return one.rx().expected(); });
  }
  effects.Add(effect::Count{Counter::kRxFences});
  Send(plane, fenced, effects);
  if (paths_->sessions && dead != kNoPlane) {
    PlaneDown(dead, PlaneDownReason::kFence, now, effects);
  }
}

// Completes the PDUs that the peer has accepted; requeues the rest.
void Peer::OnFenced(const Fenced& fenced, Time now, Effects& effects) {
  const PlaneIndex dead(fenced.plane);
  if (dead >= own_->map.plane_count() || !sessions_[dead].IsFenced(fenced.generation) ||
      !HasAllPsns(dead, fenced.more)) {
    effects.Add(effect::Count{Counter::kRxPlaneStale});
    return;
  }
  for (PathConnection number = 0; number < DistinctConnections(dead); ++number) {
    const Psn expected = PsnIn(number, fenced.expected, fenced.more);
    const auto hear = [&](Connection& fenced_one, PduList& acked) {
      return fenced_one.tx().OnFenced(expected, now, own_->transport, acked);
    };
    const bool fits = Acknowledge(dead, number, effects, hear);
    if (fits) continue;
    effects.Add(effect::Count{Counter::kRxRpsnInvalid});
    // The counts of both ends differ, and the peer would repeat its answer for ever.
    if (sessions_[dead].OnImpossible()) StartOver(now, effects);
    return;
  }
  PduList rest;
  for (PathConnection number = 0; number < own_->map.path_connections(); ++number) {
    Connection& fenced_one = connection(dead, number);
    const uint32_t bytes = fenced_one.in_flight().bytes();
    // PSNs of the next generation: far from those of this generation's frames that are still in
    // flight.
    fenced_one.tx().Restart(fenced_one.in_flight().next_psn().Plus(1 << 15), rest);
    if (bytes != 0) CountOut(dead, number, bytes);
  }
  sessions_[dead].EndFence(now);
  if (!rest.empty()) effects.Add(effect::Requeue{dead, rest});
  if (!rest.empty() && cut_off_) GiveUpQueued(kAllVcs, effects);
  UpdateUsable(effects);
  ArmSession(dead, effects);
  placement_.Unblock(effects);
}

// Completes the PDUs that the peer has accepted on a fenced session; requeues the rest.
void Peer::OnSessionFenced(PlaneIndex plane, const SessionNumber& answer, Time now,
                           Effects& effects) {
  SessionGroup& group = groups_[plane];
  if (!group.IsFenced(answer)) return effects.Add(effect::Count{Counter::kRxSessionStale});
  PduList rest;
  for (Vc vc = 0; vc < own_->map.vc_count(); ++vc) {
    const PathConnection number = own_->map.Number(SessionIndex(answer.slot), vc);
    const auto hear = [&](Connection& fenced_one, PduList& acked) {
      return fenced_one.tx().OnFenced(answer.psns[vc], now, own_->transport, acked);
    };
    if (Acknowledge(plane, number, effects, hear)) continue;
    // The counts of both ends differ.
    effects.Add(effect::Count{Counter::kRxRpsnInvalid});
    return StartOver(now, effects);
  }
  for (Vc vc = 0; vc < own_->map.vc_count(); ++vc) {
    const PathConnection number = own_->map.Number(SessionIndex(answer.slot), vc);
    Connection& fenced_one = connection(plane, number);
    const uint32_t bytes = fenced_one.in_flight().bytes();
    // The new PSNs are far from those of frames still in flight, which are then implausible.
    fenced_one.tx().Restart(fenced_one.in_flight().next_psn().Plus(3 << 13), rest);
    if (bytes != 0) CountOut(plane, number, bytes);
  }
  group.OnFenced(SessionIndex(answer.slot), own_->paths.hold_down, now);
  effects.Add(effect::Count{Counter::kSessionFences});
  paths_->Join(plane);
  if (!rest.empty()) effects.Add(effect::Requeue{plane, rest});
  if (!rest.empty() && cut_off_) GiveUpQueued(kAllVcs, effects);
  if (paths_->moving != 0) placement_.OnEnded(effects);
  placement_.Unblock(effects);
}

}  // namespace suede
