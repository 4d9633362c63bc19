// SPDX-License-Identifier: Apache-2.0
#include "peer/plane_health.h"

#include <algorithm>

namespace suede {
namespace {

// Whether this endpoint has found by itself that the plane lets no frames pass, or no large frames.
bool IsFound(PlaneDownReason reason) {
  return reason == PlaneDownReason::kSilence || reason == PlaneDownReason::kTimeouts;
}

}  // namespace

// Freezes the connections of a plane if any PDU is in doubt. Returns whether one is.
bool PlaneHealth::FreezeIfInDoubt(PlaneIndex plane) {
  bool in_doubt = false;
  const uint32_t count = peer_.own->map.path_connections();
  for (PathConnection number = 0; number < count; ++number) {
    const Connection& one = peer_.connection(plane, number);
    // (A connection frozen already, for its session, waits for an answer that may be lost.)
    in_doubt |= !one.in_flight().empty() || one.tx().frozen();
  }
  for (PathConnection number = 0; in_doubt && number < count; ++number) {
    peer_.connection(plane, number).tx().Freeze();
  }
  return in_doubt;
}

void PlaneHealth::BeginSessions(Time now, Effects& effects) {
  peer_.paths->sessions = true;
  peer_.paths->unreachable = false;
  peer_.paths->alive_at = now;
  // Planes, not generation 0, decide from now on whether the peer is lost.
  reach_.FindAgain(effects);
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    if (!peer_.IsPresent(plane)) continue;
    PlaneSession& session = peer_.sessions[plane];
    const bool in_doubt = FreezeIfInDoubt(plane);
    session.GoDown(in_doubt, false, now, peer_.own->paths);
    session.Begin(now);
    if (!in_doubt) session.NextGeneration();
    peer_.ArmSession(plane, effects);
  }
  choice_.Update(effects);
}

void PlaneHealth::PlaneUp(PlaneIndex plane, Effects& effects) {
  choice_.ForgetRate(plane, effects);
  effects.Add(effect::Count{Counter::kPlaneReturns});
  effects.Add(effect::Emit{PeerEvent::kPlaneUp, plane});
  if (peer_.paths->unreachable) {
    peer_.paths->unreachable = false;
    reach_.Find(Reach::kAllVcs, plane, 0, effects);
  }
  choice_.Update(effects);
  choice_.Unblock(effects);
}

void PlaneHealth::PlaneDown(PlaneIndex plane, PlaneDownReason reason, Time now, Effects& effects) {
  PlaneSession& session = peer_.sessions[plane];
  if (!session.up()) return;
  effects.Add(effect::Count{Counter::kPlaneDeaths});
  effects.Add(effect::Emit{
      .event = PeerEvent::kPlaneDown, .plane = plane, .what = static_cast<uint8_t>(reason)});
  OwnEnd& own = *peer_.own;
  const bool in_doubt = FreezeIfInDoubt(plane);
  session.GoDown(in_doubt, reason != PlaneDownReason::kAdmin, now, own.paths);
  peer_.groups[plane].OnPlaneDown();
  if (IsFound(reason)) {
    own.failed.OnFound(plane, now, own.paths.hello_idle);
    effects.Add(effect::ProbeFailed{});
  }
  choice_.Update(effects);
  if (in_doubt) {
    effects.Add(effect::Emit{PeerEvent::kFenceOpened, plane});
    SendFence(plane, effects);
  }
  peer_.ArmSession(plane, effects);
  choice_.Unblock(effects);
}

// The plane that a FENCE takes: in rotation, planes that are up; if there is none, planes whose
// port can send. One FENCE in kOwnEvery takes the dead plane itself: a peer that has received
// nothing on that plane yet can identify it only so.
PlaneIndex PlaneHealth::PlaneForFence(PlaneIndex dead) {
  constexpr uint32_t kOwnEvery = 4;
  const OwnEnd& own = *peer_.own;
  if (own.port_up(dead) && peer_.sessions[dead].TakeFenceTurn() % kOwnEvery == 0) return dead;
  for (const bool only_up : {true, false}) {
    for (uint32_t i = 0; i < own.map.plane_count(); ++i) {
      const PlaneIndex plane(peer_.paths->turn++ % own.map.plane_count());
      if (!peer_.IsPresent(plane) || !own.port_up(plane)) continue;
      if (!only_up || peer_.sessions[plane].up()) return plane;
    }
  }
  return PeerPaths::kNoPlane;
}

void PlaneHealth::SendFence(PlaneIndex plane, Effects& effects) {
  const PlaneIndex over = PlaneForFence(plane);
  if (over == PeerPaths::kNoPlane) return;
  Fence fence{.plane = static_cast<uint8_t>(plane),
              .own = over == plane,
              .generation = peer_.sessions[plane].tx_generation()};
  peer_.FillAllPsns(plane, fence.oldest, fence.more,
                    [](const Connection& one) { return one.in_flight().oldest_psn(); });
  effects.Add(effect::Send{over, fence});
}

void PlaneHealth::OnPlaneChange(PlaneIndex plane, PlaneDownReason reason, Time now,
                                Effects& effects) {
  if (peer_.paths->sessions && peer_.IsPresent(plane)) {
    if (peer_.own->port_up(plane) && peer_.own->admin[plane] != PlaneAdmin::kDown) {
      peer_.sessions[plane].OnLinkUp(now);
      peer_.ArmSession(plane, effects);
    } else {
      PlaneDown(plane, reason, now, effects);
    }
  }
  choice_.Update(effects);
  choice_.Unblock(effects);
}

// ---- Signs of life.

void PlaneHealth::NoteAlive() {
  Time& alive_at = peer_.paths->alive_at;
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    alive_at = std::max(alive_at, peer_.sessions[plane].last_received());
  }
}

void PlaneHealth::OnStandstill(Time now, Duration time) {
  if (!peer_.paths->sessions) return;
  NoteAlive();
  peer_.paths->alive_at += time;
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    peer_.sessions[plane].OnStandstill(now, time, peer_.own->paths);
  }
}

bool PlaneHealth::HasReceivedOnAnyPlane() const {
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    const PlaneSession& session = peer_.sessions[plane];
    if (session.up() && session.missed() < peer_.own->paths.hello_multiplier) return true;
  }
  return false;
}

void PlaneHealth::CheckReach(Time now, Effects& effects) {
  if (HasReceivedOnAnyPlane()) return;
  NoteAlive();
  const PeerPaths& paths = *peer_.paths;
  if (!paths.unreachable && now - paths.alive_at >= peer_.own->paths.unreachable) {
    GiveUpPeer(now, effects);
  } else if (paths.unreachable) {
    effects.Add(effect::GiveUpQueued{Reach::kAllVcs});
  }
}

void PlaneHealth::GiveUpPeer(Time now, Effects& effects) {
  if (!reach_.cut_off()) Reach::EmitUnreachable(0, 0, effects);
  peer_.paths->unreachable = true;
  reach_.Mark(Reach::kAllVcs, true, effects);
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    PlaneDown(plane, PlaneDownReason::kUnreachable, now, effects);
    for (PathConnection number = 0; number < peer_.own->map.path_connections(); ++number) {
      flight_.GiveUp(plane, number, Ending::kInDoubt, false, effects,
                     [](Connection& ended, PduList& pdus) { ended.tx().Abandon(pdus); });
    }
  }
  effects.Add(effect::GiveUpQueued{Reach::kAllVcs});
}

PlaneIndex PlaneHealth::PlaneOfPeer(uint8_t peer_plane) const {
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    if (peer_.sessions[plane].peer_plane() == peer_plane) return plane;
  }
  return PeerPaths::kNoPlane;
}

}  // namespace suede
