// SPDX-License-Identifier: Apache-2.0
#include "peer/fences.h"

namespace suede {
namespace {

// Distances of new PSNs from those of frames that are still in flight, which are then implausible.
constexpr int kPlaneAhead = 1 << 15;
constexpr int kSessionAhead = 3 << 13;

}  // namespace

// The peer fences generation 0 of a plane that we cannot identify: one of the planes on which it
// has sent nothing, if any. If nothing was accepted on any of these planes, nothing was accepted on
// the fenced plane. The peer sends in generations now: closes these planes for generation 0.
// Returns false if a PDU was accepted.
bool Fences::CloseUnnamed() {
  for (const bool close : {false, true}) {
    for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
      if (peer_.sessions[plane].peer_plane() != PlaneSession::kUnknownPlane) continue;
      for (PathConnection number = 0; number < peer_.own->map.path_connections(); ++number) {
        ReceiveHalf& rx = peer_.connection(plane, number).rx();
        if (close) rx.Close();
        if (rx.accepted_any()) return false;
      }
    }
  }
  return true;
}

void Fences::OnFence(PlaneIndex plane, const Fence& fence, bool sealed, Time now,
                     Effects& effects) {
  // A FENCE that may have been moved is about the plane that it names.
  const bool is_own = fence.own && !peer_.Pairs(plane, sealed);
  const PlaneIndex dead(is_own ? plane : health_.PlaneOfPeer(fence.plane));
  const bool is_known_plane = dead != PeerPaths::kNoPlane;
  bool known = false;
  const bool answers = is_known_plane ? peer_.HasAllPsns(dead, fence.more) &&
                                            peer_.sessions[dead].OnFence(fence.generation, known)
                                      : fence.generation == 0 && CloseUnnamed();
  if (!answers) return effects.Add(effect::Count{Counter::kRxPlaneStale});
  Fenced fenced{.plane = fence.plane,
                .generation = fence.generation,
                .expected = fence.oldest,
                .more = fence.more};
  if (is_known_plane) {
    for (PathConnection number = 0; number < peer_.DistinctConnections(dead); ++number) {
      ReceiveHalf& rx = peer_.connection(dead, number).rx();
      if (!known) rx.Open(peer_.PsnIn(number, fence.oldest, fence.more));
      rx.Close();
      if (!rx.has_early()) continue;
      Repair report = peer_.ReportOf(dead, number);
      report.fenced_plane = true;
      report.plane = fence.plane;
      report.generation = fence.generation;
      effects.Add(effect::Send{plane, report});
      ++fenced.repairs;
    }
    peer_.FillAllPsns(dead, fenced.expected, fenced.more,
                      [](const Connection& one) { return one.rx().expected(); });
  }
  effects.Add(effect::Count{Counter::kRxFences});
  effects.Add(effect::Send{plane, fenced});
  if (peer_.paths->sessions && is_known_plane) {
    health_.PlaneDown(dead, PlaneDownReason::kFence, now, effects);
  }
}

bool Fences::OnReport(PlaneIndex plane, const Repair& repair) {
  const PlaneIndex of(repair.fenced_plane ? PlaneIndex(repair.plane) : plane);
  const SessionIndex slot(repair.slot);
  if (of >= peer_.own->map.plane_count() || slot >= peer_.groups[of].count()) return false;
  const bool stands = repair.fenced_plane ? peer_.sessions[of].IsFenced(repair.generation)
                                          : peer_.groups[of].IsFenced(slot, repair.generation);
  if (!stands) return false;
  peer_.connection(of, peer_.own->map.Number(slot, Vc(repair.vc))).tx().OnFenceReport();
  return true;
}

// Whether `repairs` of the plane's connections from `first` on have been reported about.
bool Fences::HaveReports(PlaneIndex plane, PathConnection first, uint32_t count,
                         uint32_t repairs) const {
  uint32_t reported = 0;
  for (PathConnection number = first; number < first + count; ++number) {
    reported += peer_.connection(plane, number).tx().fence_reported() ? 1 : 0;
  }
  return reported >= repairs;
}

// Completes the connection's PDUs before `expected`. Returns false if that is impossible: the
// counts of both ends differ.
bool Fences::Complete(PlaneIndex plane, PathConnection number, Psn expected, Time now,
                      Effects& effects) {
  const auto take = [&](Connection& fenced_one, PduList& acked) {
    return fenced_one.tx().OnFenced(expected, now, peer_.own->transport, acked);
  };
  const bool fits = flight_.Acknowledge(plane, number, effects, take);
  if (!fits) effects.Add(effect::Count{Counter::kRxRpsnInvalid});
  return fits;
}

void Fences::Requeue(PlaneIndex plane, const PduList& rest, Effects& effects) const {
  if (rest.empty()) return;
  effects.Add(effect::Requeue{plane, rest});
  if (reach_.cut_off()) effects.Add(effect::GiveUpQueued{Reach::kAllVcs});
}

void Fences::OnFenced(const Fenced& fenced, Time now, Effects& effects) {
  const ConnectionMap& map = peer_.own->map;
  const PlaneIndex dead(fenced.plane);
  if (dead >= map.plane_count() || !peer_.sessions[dead].IsFenced(fenced.generation) ||
      !peer_.HasAllPsns(dead, fenced.more) ||
      !HaveReports(dead, 0, peer_.DistinctConnections(dead), fenced.repairs)) {
    return effects.Add(effect::Count{Counter::kRxPlaneStale});
  }
  for (PathConnection number = 0; number < peer_.DistinctConnections(dead); ++number) {
    const Psn expected = peer_.PsnIn(number, fenced.expected, fenced.more);
    if (Complete(dead, number, expected, now, effects)) continue;
    // The peer would repeat its answer for ever.
    if (peer_.sessions[dead].OnImpossible()) association_.StartOver(now, effects);
    return;
  }
  PduList rest;
  for (PathConnection number = 0; number < map.path_connections(); ++number) {
    flight_.Restart(dead, number, kPlaneAhead, rest, effects);
  }
  peer_.sessions[dead].EndFence(now);
  Requeue(dead, rest, effects);
  choice_.Update(effects);
  peer_.ArmSession(dead, effects);
  choice_.Unblock(effects);
}

void Fences::OnSessionFenced(PlaneIndex plane, const SessionNumber& answer, Time now,
                             Effects& effects) {
  SessionGroup& group = peer_.groups[plane];
  if (!group.IsFenced(answer) ||
      !HaveReports(plane, peer_.own->map.Number(SessionIndex(answer.slot), 0),
                   peer_.own->map.vc_count(), answer.repairs))
    return effects.Add(effect::Count{Counter::kRxSessionStale});
  const ConnectionMap& map = peer_.own->map;
  const SessionIndex slot(answer.slot);
  for (Vc vc = 0; vc < map.vc_count(); ++vc) {
    if (!Complete(plane, map.Number(slot, vc), answer.psns[vc], now, effects)) {
      return association_.StartOver(now, effects);
    }
  }
  PduList rest;
  for (Vc vc = 0; vc < map.vc_count(); ++vc) {
    flight_.Restart(plane, map.Number(slot, vc), kSessionAhead, rest, effects);
  }
  group.OnFenced(slot, peer_.own->paths.hold_down, now);
  effects.Add(effect::Count{Counter::kSessionFences});
  peer_.paths->Join(plane);
  Requeue(plane, rest, effects);
  if (peer_.paths->moving != 0) choice_.OnEnded(effects);
  choice_.Unblock(effects);
}

}  // namespace suede
