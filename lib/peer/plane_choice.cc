// SPDX-License-Identifier: Apache-2.0
#include "peer/plane_choice.h"

namespace suede {

bool PlaneChoice::IsOpen(PlaneIndex plane) const {
  const OwnEnd& own = *peer_.own;
  if ((peer_.paths->present & ~peer_.paths->resolving & 1u << plane) == 0) return false;
  if (!own.port_up(plane) || own.admin[plane] != PlaneAdmin::kUp) return false;
  return !peer_.paths->sessions || peer_.sessions[plane].up();
}

void PlaneChoice::Update(Effects& effects) {
  PeerPaths& paths = *peer_.paths;
  const uint32_t plane_count = peer_.own->map.plane_count();
  const PlaneMask before = paths.usable;
  PlaneMask open = 0;
  PlaneMask usable = 0;
  const bool may = agreement_.stands();
  for (PlaneIndex plane = 0; may && plane < plane_count; ++plane) {
    if (!IsOpen(plane)) continue;
    const auto bit = static_cast<PlaneMask>(1u << plane);
    open |= bit;
    if (paths.HasRoute(plane)) usable |= bit;
  }
  paths.open = open;
  paths.SetUsable(usable);
  paths.PublishShares(peer_.own->shares);
  for (PlaneIndex plane = 0; plane < plane_count; ++plane) {
    if ((usable & ~before & 1u << plane) != 0) paths.Join(plane);
  }
  Place(effects);
}

void PlaneChoice::CheckRate(PlaneIndex plane, const PlaneRates::Facts& facts, Time now,
                            Effects& effects) {
  const PlaneRates::Verdict verdict = rates_.Check(plane, facts, now);
  if (verdict.of_window.was_limit) effects.Add(effect::Count{Counter::kPlaneRates});
  if (verdict.of_window.changed) effects.Add(effect::Count{Counter::kPlaneRateChanges});
  if (verdict.part_changed) Place(effects);
}

void PlaneChoice::Report(const FlowMoves& moves, Effects& effects) const {
  for (Vc flow = 0; flow < peer_.own->map.vc_count(); ++flow) {
    if ((moves.waiting & 1u << flow) != 0) effects.Add(effect::Count{Counter::kFlowMoves});
    if ((moves.placed & 1u << flow) == 0) continue;
    effects.Add(
        effect::PlaceFlow{PlaneIndex(peer_.paths->home[flow]), peer_.own->map.VcsWith(flow)});
  }
  Unblock(moves.ready, effects);
}

}  // namespace suede
