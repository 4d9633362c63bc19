// SPDX-License-Identifier: Apache-2.0
#include "peer/reach.h"

namespace suede {

// ---- Lost and found.

void Reach::EmitUnreachable(PlaneIndex plane, PathConnection number, Effects& effects) {
  effects.Add(effect::Count{Counter::kUnreachable});
  effects.Add(effect::Emit{PeerEvent::kUnreachable, plane, number});
}

// (Without a route no PDU is queued, whatever else has come back.)
void Reach::Mark(uint8_t vcs, bool lost, Effects& effects) {
  lost_vcs_ = static_cast<uint8_t>(lost ? lost_vcs_ | vcs : lost_vcs_ & ~vcs);
  if (lost || !cut_off_) effects.Add(effect::MarkLost{vcs, lost});
}

void Reach::Lose(uint8_t vcs, Effects& effects) {
  Mark(vcs, true, effects);
  effects.Add(effect::GiveUpQueued{vcs});
}

void Reach::Find(uint8_t vcs, PlaneIndex plane, PathConnection number, Effects& effects) {
  Mark(vcs, false, effects);
  if (!cut_off_) effects.Add(effect::Emit{PeerEvent::kReachable, plane, number});
}

// A queue that waits only for the address tries again.
void Reach::OnMac(PlaneIndex plane, Effects& effects) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const auto bit = static_cast<uint8_t>(1u << vc);
    const PathConnection number = peer_.own->map.Number(0, vc);
    const bool lost = peer_.connection(plane, number).tx().lost() || peer_.paths->unreachable;
    if ((lost_vcs_ & bit) == 0 || lost) continue;
    if (!cut_off_) effects.Add(effect::Emit{PeerEvent::kReachable, plane, number});
    Mark(bit, false, effects);
  }
}

// Does nothing if another plane has the peer's MAC address.
void Reach::OnNoMac(Effects& effects) {
  if (!peer_.IsResolving()) return;
  const ConnectionMap& map = peer_.own->map;
  for (Vc vc = 0; vc < map.vc_count(); ++vc) {
    if ((lost_vcs_ & 1u << vc) == 0) EmitUnreachable(0, map.Number(0, vc), effects);
    Lose(map.VcsWith(vc), effects);
  }
}

// ---- Routes.

bool Reach::HasRoute() const {
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    if (peer_.IsPresent(plane) && peer_.paths->HasRoute(plane)) return true;
  }
  return false;
}

void Reach::OnRouteBack(Effects& effects) {
  cut_off_at_ = kNever;
  if (!cut_off_) return;
  cut_off_ = false;
  // Other reasons why the peer is unreachable end by themselves.
  const auto found = static_cast<uint8_t>(kAllVcs & ~lost_vcs_);
  if (found != 0) effects.Add(effect::MarkLost{found, false});
  if (lost_vcs_ == 0) effects.Add(effect::Emit{PeerEvent::kReachable});
}

// There has been no route for too long. PDUs in flight may still be acknowledged.
void Reach::CheckRoutes(Time now, Effects& effects) {
  if (now < cut_off_at_) return;
  cut_off_at_ = kNever;
  cut_off_ = true;
  if (lost_vcs_ == 0) EmitUnreachable(0, 0, effects);
  effects.Add(effect::MarkLost{kAllVcs, true});
  effects.Add(effect::GiveUpQueued{kAllVcs});
}

}  // namespace suede
