// SPDX-License-Identifier: Apache-2.0
#include "path/flow_placement.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace suede {
namespace {

// Fractional bits of a load, which is a few flows over a share.
constexpr int kFineBits = 10;

}  // namespace

uint8_t FlowPlacement::ReadyVcs() const {
  uint8_t vcs = 0;
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    for (PathConnection number = 0; number < peer_.own->map.path_connections(); ++number) {
      if (MaySend(plane, number)) vcs = static_cast<uint8_t>(vcs | peer_.own->map.VcsOf(number));
    }
  }
  return vcs;
}

// The flow's connections on the plane with PDUs in flight.
uint32_t FlowPlacement::BusyOf(Vc flow, PlaneIndex plane) const {
  uint32_t busy = 0;
  for (SessionIndex slot = 0; slot < peer_.own->map.session_count(); ++slot) {
    busy +=
        peer_.connection(plane, peer_.own->map.Number(slot, flow)).in_flight().oldest() != nullptr
            ? 1
            : 0;
  }
  return busy;
}

// The planes that may become the flow's home: none on which a static peer's connection is lost.
PlaneMask FlowPlacement::HomesFor(Vc flow) const {
  PlaneMask mask = peer_.paths->usable;
  for (PlaneIndex plane = 0; !peer_.paths->sessions && plane < peer_.own->map.plane_count();
       ++plane) {
    if (peer_.connection(plane, peer_.own->map.Number(0, flow)).tx().lost())
      mask &= static_cast<PlaneMask>(~(1u << plane));
  }
  return mask;
}

// The flows' connections with PDUs in flight on the plane that is their home.
uint32_t FlowPlacement::BusyAtHome(PlaneIndex plane) const {
  if (peer_.paths->InFlightOn(plane) == 0) return 0;
  uint32_t busy = 0;
  for (Vc flow = 0; flow < peer_.own->map.vc_count(); ++flow) {
    if (peer_.paths->home[flow] == plane) busy += BusyOf(flow, plane);
  }
  return busy;
}

// The load of the plane for its weight, with `more` additional busy connections. Where destinations
// differ in their weights, a plane that some of them lack is no emptier for the others: connections
// of all peers then count by their shares, and this peer's by its weights.
uint64_t FlowPlacement::LoadOf(PlaneIndex plane, uint32_t more) const {
  const uint32_t of_all = peer_.own->LoadOf(plane) + more;
  const PlaneShares& shares = peer_.own->shares;
  if (!shares.any_uneven()) return uint64_t{of_all} * peer_.paths->cost[plane];
  const uint32_t ours = BusyAtHome(plane) + more;
  return (uint64_t{ours} << kFineBits) * peer_.paths->cost[plane] +
         shares.SumFor(plane, of_all << kFineBits) * peer_.paths->cost_of_sum;
}

// The plane of `mask` with the least load with `more` additional busy connections, if that load is
// less than `bound`; otherwise PeerPaths::kNoPlane. The flow draws one of several equal planes.
PlaneIndex FlowPlacement::LeastLoaded(PlaneMask mask, Vc flow, uint32_t more,
                                      uint64_t bound) const {
  PlaneMask min = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto plane = Lowest<PlaneIndex>(left);
    const uint64_t load = LoadOf(plane, more);
    if (load > bound || (load == bound && min == 0)) continue;
    const auto bit = static_cast<PlaneMask>(1u << plane);
    min = static_cast<PlaneMask>(load < bound ? bit : min | bit);
    bound = load;
  }
  return min == 0 ? PeerPaths::kNoPlane : peer_.paths->Draw(min, KeyOf(flow));
}

// The home that the flow should have, with `busy` busy connections on its present home. A flow
// without PDUs in flight draws its home. Another flow stays, unless its plane is gone, or has more
// load for its weight than another plane would have with the flow.
PlaneIndex FlowPlacement::WantedHome(Vc flow, uint32_t busy) const {
  const PlaneMask mask = HomesFor(flow);
  const PlaneIndex home(peer_.paths->home[flow]);
  if (mask == 0) return home;
  if (busy == 0) return peer_.paths->Draw(mask, KeyOf(flow));
  const bool stays = (mask & 1u << home) != 0;
  const uint64_t bound = stays ? LoadOf(home, 0) : UINT64_MAX;
  const auto others = static_cast<PlaneMask>(mask & ~(1u << home));
  const PlaneIndex min = LeastLoaded(others, flow, busy, bound);
  return min == PeerPaths::kNoPlane ? home : min;
}

// The planes that the next PDU of the flow may take.
void FlowPlacement::SetChoice(Vc flow) {
  const bool moving = (peer_.paths->moving & 1u << flow) != 0;
  const auto home = static_cast<PlaneMask>(moving ? 0 : 1u << PlaneIndex(peer_.paths->home[flow]));
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if (peer_.own->map.KeyOf(vc) == flow)
      peer_.paths->choice[vc] = static_cast<PlaneMask>(peer_.paths->usable & home);
  }
}

void FlowPlacement::EndMove(Vc flow) {
  const auto bit = static_cast<uint8_t>(1u << flow);
  if ((peer_.paths->moving & bit) == 0) return;
  peer_.paths->moving = static_cast<uint8_t>(peer_.paths->moving & ~bit);
  const FlowMove& move = peer_.paths->moves[flow];
  peer_.own->Shift(PlaneIndex(move.to), PlaneIndex(peer_.paths->home[flow]), move.count);
}

void FlowPlacement::EndMoves() {
  for (Vc flow = 0; flow < peer_.own->map.vc_count(); ++flow) EndMove(flow);
}

// Chooses the flow's home again. If the home changes, no PDU of the flow is sent until its PDUs in
// flight on the former home have ended in any way.
void FlowPlacement::Move(Vc flow, FlowMoves& moves) {
  const auto bit = static_cast<uint8_t>(1u << flow);
  const bool moving = (peer_.paths->moving & bit) != 0;
  const PlaneIndex to(peer_.paths->moves[flow].to);
  EndMove(flow);
  const PlaneIndex home(peer_.paths->home[flow]);
  const uint32_t busy = BusyOf(flow, home);
  const bool arrives = moving && busy == 0 && (HomesFor(flow) & 1u << to) != 0;
  const PlaneIndex wanted = arrives ? to : WantedHome(flow, busy);
  if (wanted != home && busy != 0) {
    if (!moving) moves.waiting = static_cast<uint8_t>(moves.waiting | bit);
    peer_.paths->moving = static_cast<uint8_t>(peer_.paths->moving | bit);
    peer_.paths->moves[flow] = {.to = static_cast<uint8_t>(wanted),
                                .count = static_cast<uint8_t>(busy)};
    peer_.own->Shift(home, wanted, busy);
  } else if (wanted != home) {
    moves.placed = static_cast<uint8_t>(moves.placed | bit);
    peer_.paths->home[flow] = static_cast<uint8_t>(wanted);
  }
  SetChoice(flow);
}

[[gnu::cold]] FlowMoves FlowPlacement::Place() {
  FlowMoves moves;
  if (!peer_.own->is_strict()) {
    peer_.paths->choice.fill(peer_.paths->usable);
    return moves;
  }
  for (Vc flow = 0; flow < peer_.own->map.vc_count(); ++flow) Move(flow, moves);
  if (moves.placed != 0) moves.ready = ReadyVcs();
  return moves;
}

[[gnu::cold]] FlowMoves FlowPlacement::OnEnded() {
  FlowMoves moves;
  for (Vc flow = 0; flow < peer_.own->map.vc_count(); ++flow) {
    const bool ended = BusyOf(flow, PlaneIndex(peer_.paths->home[flow])) == 0;
    if (ended && (peer_.paths->moving & 1u << flow) != 0) Move(flow, moves);
  }
  if (moves.placed != 0) moves.ready = ReadyVcs();
  return moves;
}

FlowMoves FlowPlacement::Balance() {
  FlowMoves moves;
  if (!peer_.own->is_strict()) return moves;
  const int stay = peer_.paths->moving | peer_.paths->begun | peer_.paths->begun_before;
  for (Vc flow = 0; flow < peer_.own->map.vc_count(); ++flow) {
    const bool busy = BusyOf(flow, PlaneIndex(peer_.paths->home[flow])) != 0;
    if (busy && (stay & 1 << flow) == 0) Move(flow, moves);
  }
  peer_.paths->begun_before = std::exchange(peer_.paths->begun, uint8_t{0});
  return moves;
}

// Chooses, among the planes with less load than any plane would have with the flow, the plane that
// has carried the least to the peer for its weight. So shares follow weights even if few flows are
// busy at a time.
[[gnu::noinline]] bool FlowPlacement::OnFlowBegins(Vc vc) {
  const Vc flow = peer_.own->map.KeyOf(vc);
  const PlaneIndex home(peer_.paths->home[flow]);
  const PlaneMask mask = peer_.paths->choice[vc] != 0 ? HomesFor(flow) : PlaneMask{0};
  if ((mask & (mask - 1)) == 0 || BusyOf(flow, home) != 0) return false;
  peer_.paths->begun = static_cast<uint8_t>(peer_.paths->begun | 1u << flow);
  uint64_t bound = UINT64_MAX;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    bound = std::min(bound, LoadOf(Lowest<PlaneIndex>(left), 1));
  }
  PlaneIndex best(home);
  uint32_t min = UINT32_MAX;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto plane = Lowest<PlaneIndex>(left);
    if (LoadOf(plane, 0) >= bound) continue;
    const uint32_t carried = peer_.paths->carried[plane];
    if (carried > min || (carried == min && plane != home)) continue;
    best = plane;
    min = carried;
  }
  if (best == home) return false;
  peer_.paths->home[flow] = static_cast<uint8_t>(best);
  SetChoice(flow);
  return true;
}

}  // namespace suede
