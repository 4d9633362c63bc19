// SPDX-License-Identifier: Apache-2.0
// Planes to a peer come up and die, one or all of them (docs/planes.md, "Health", "Failover").
#include <algorithm>

#include "peer/peer.h"

namespace suede {
namespace {

// Whether this endpoint has found by itself that the plane lets no frames pass, or no large frames.
bool IsFound(PlaneDownReason reason) {
  return reason == PlaneDownReason::kSilence || reason == PlaneDownReason::kTimeouts;
}

}  // namespace

// Freezes the connections of a plane if any PDU is in doubt. Returns whether one is.
bool Peer::FreezeIfInDoubt(PlaneIndex plane) {
  bool in_doubt = false;
  const uint32_t count = own_->map.path_connections();
  for (PathConnection number = 0; number < count; ++number) {
    // (A connection frozen already, for its session, waits for an answer that may be lost.)
    in_doubt |=
        !connection(plane, number).in_flight().empty() || connection(plane, number).tx().frozen();
  }
  for (PathConnection number = 0; in_doubt && number < count; ++number) {
    connection(plane, number).tx().Freeze();
  }
  return in_doubt;
}

// The peer answers PLANE and FENCE: from now on sessions determine the state of its planes. PDUs in
// flight in generation 0 are in doubt.
void Peer::BeginSessions(Time now, Effects& effects) {
  paths_->sessions = true;
  paths_->unreachable = false;
  paths_->alive_at = now;
  // Planes, not generation 0, decide from now on whether the peer is lost.
  FindAgain(effects);
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    if (!IsPresent(plane)) continue;
    PlaneSession& session = sessions_[plane];
    const bool in_doubt = FreezeIfInDoubt(plane);
    session.GoDown(in_doubt, false, now, own_->paths);
    session.Begin(now);
    if (!in_doubt) session.NextGeneration();
    ArmSession(plane, effects);
  }
  UpdateUsable(effects);
}

void Peer::PlaneUp(PlaneIndex plane, Effects& effects) {
  if (rates_.Forget(plane)) placement_.Place(effects);
  effects.Add(effect::Count{Counter::kPlaneReturns});
  EmitPlane(PeerEvent::kPlaneUp, plane, 0, effects);
  if (paths_->unreachable) {
    paths_->unreachable = false;
    Mark(kAllVcs, false, effects);
    if (!cut_off_) Emit(PeerEvent::kReachable, plane, 0, effects);
  }
  UpdateUsable(effects);
  placement_.Unblock(effects);
}

void Peer::PlaneDown(PlaneIndex plane, PlaneDownReason reason, Time now, Effects& effects) {
  PlaneSession& session = sessions_[plane];
  if (!session.up()) return;
  effects.Add(effect::Count{Counter::kPlaneDeaths});
  EmitPlane(PeerEvent::kPlaneDown, plane, static_cast<uint8_t>(reason), effects);
  const bool in_doubt = FreezeIfInDoubt(plane);
  session.GoDown(in_doubt, reason != PlaneDownReason::kAdmin, now, own_->paths);
  groups_[plane].OnPlaneDown();
  if (IsFound(reason)) {
    own_->failed.OnFound(plane, now, own_->paths.hello_idle);
    effects.Add(effect::AskOnFailed{});
  }
  UpdateUsable(effects);
  if (in_doubt) {
    EmitPlane(PeerEvent::kFenceOpened, plane, 0, effects);
    SendFence(plane, effects);
  }
  ArmSession(plane, effects);
  placement_.Unblock(effects);
}

// The plane that a FENCE takes: in rotation, planes that are up; if there is none, planes whose
// port can send. One FENCE in kOwnEvery takes the dead plane itself: a peer that has received
// nothing on that plane yet can identify it only so.
PlaneIndex Peer::PlaneForFence(PlaneIndex dead) {
  constexpr uint32_t kOwnEvery = 4;
  if (own_->port_up(dead) && sessions_[dead].TakeFenceTurn() % kOwnEvery == 0) return dead;
  for (const bool only_up : {true, false}) {
    for (uint32_t i = 0; i < own_->map.plane_count(); ++i) {
      const PlaneIndex plane(paths_->turn++ % own_->map.plane_count());
      if (!IsPresent(plane) || !own_->port_up(plane)) continue;
      if (!only_up || sessions_[plane].up()) return plane;
    }
  }
  return kNoPlane;
}

void Peer::SendFence(PlaneIndex plane, Effects& effects) {
  const PlaneIndex over = PlaneForFence(plane);
  if (over == kNoPlane) return;
  Fence fence{.plane = static_cast<uint8_t>(plane),
              .own = over == plane,
              .generation = sessions_[plane].tx_generation()};
  FillAllPsns(plane, fence.oldest, fence.more,
              [](const Connection& one) { return one.in_flight().oldest_psn(); });
  Send(over, fence, effects);
}

// Checks whether all planes to the peer were silent for so long that the peer is unreachable.
void Peer::CheckReach(Time now, Effects& effects) {
  if (HasHeardAnyPlane()) return;
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    paths_->alive_at = std::max(paths_->alive_at, sessions_[plane].last_heard());
  }
  if (!paths_->unreachable && now - paths_->alive_at >= own_->paths.unreachable) {
    GiveUpPeer(now, effects);
  } else if (paths_->unreachable) {
    GiveUpQueued(kAllVcs, effects);
  }
}

void Peer::GiveUpPeer(Time now, Effects& effects) {
  if (!cut_off_) {
    effects.Add(effect::Count{Counter::kUnreachable});
    Emit(PeerEvent::kUnreachable, 0, 0, effects);
  }
  paths_->unreachable = true;
  Mark(kAllVcs, true, effects);
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    PlaneDown(plane, PlaneDownReason::kUnreachable, now, effects);
    for (PathConnection number = 0; number < own_->map.path_connections(); ++number) {
      const uint32_t bytes = connection(plane, number).in_flight().bytes();
      PduList pdus;
      connection(plane, number).tx().Abandon(pdus);
      GiveUp(plane, number, Ending::kInDoubt, false, bytes, pdus, effects);
    }
  }
  GiveUpQueued(kAllVcs, effects);
}

}  // namespace suede
