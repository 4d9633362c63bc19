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
  placement_.Place(effects);
}

}  // namespace suede
