// SPDX-License-Identifier: Apache-2.0
#include "peer/peer.h"

#include <algorithm>
#include <cstdlib>

namespace suede {

Peer::Peer(OwnEnd* own, uint16_t xpuid, bool plain, const Places& places)
    : own_(own),
      paths_(places.paths),
      sessions_(places.sessions),
      groups_(places.groups),
      connections_(places.connections),
      rates_(own, places.paths, places.connections, places.rates),
      placement_(own, xpuid, places.paths, places.connections),
      xpuid_(xpuid) {
  handshake_.Begin(own->numbers, plain);
  // Nothing is accepted before there is an association, or the peer is plain.
  for (uint32_t i = 0; !plain && i < own->map.peer_connections(); ++i) {
    connections_[i].rx().Close();
  }
  paths_->flows = own_->is_strict();
}

void Peer::OnControl(PlaneIndex plane, const ControlMessage& message, const ControlFacts& facts,
                     Time now, Effects& effects) {
  if (const auto* hello = std::get_if<Hello>(&message)) {
    return OnHello(plane, *hello, facts, now, effects);
  }
  const SessionIndex slot(facts.slot);
  const bool is_of_session =
      std::holds_alternative<NotReady>(message) || std::holds_alternative<Ready>(message);
  if (is_of_session && slot == kNoSlot) return effects.Add(effect::Count{Counter::kRxSession});
  if (!IsOfAssociation(plane, IdentitiesOf(message), effects)) return;
  // (The most frequent one first.)
  if (const auto* credit = std::get_if<Credit>(&message)) {
    effects.Add(effect::CreditReceived{*credit});
  } else if (const auto* not_ready = std::get_if<NotReady>(&message)) {
    OnNotReady(plane, slot, *not_ready, now, effects);
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    OnReady(plane, slot, *ready, now, effects);
  } else if (const auto* plane_hello = std::get_if<PlaneHello>(&message)) {
    OnPlane(plane, *plane_hello, facts.sealed, now, effects);
  } else if (const auto* fence = std::get_if<Fence>(&message)) {
    OnFence(plane, *fence, facts.sealed, now, effects);
  } else if (const auto* fenced = std::get_if<Fenced>(&message)) {
    OnFenced(*fenced, now, effects);
  } else if (const auto* congestion = std::get_if<Congestion>(&message)) {
    effects.Add(effect::CongestionReceived{plane, *congestion});
  } else if (const auto* session = std::get_if<SessionNumber>(&message)) {
    const bool answers_fence = session->answer && session->fence;
    answers_fence ? OnSessionFenced(plane, *session, now, effects)
                  : OnSession(plane, *session, now, effects);
  }
}

// ---- Facts of this end.

void Peer::OnPlaneChange(PlaneIndex plane, PlaneDownReason reason, Time now, Effects& effects) {
  if (paths_->sessions && IsPresent(plane)) {
    if (own_->port_up(plane) && own_->admin[plane] != PlaneAdmin::kDown) {
      sessions_[plane].OnLinkUp(now);
      ArmSession(plane, effects);
    } else {
      PlaneDown(plane, reason, now, effects);
    }
  }
  UpdateUsable(effects);
  placement_.Unblock(effects);
}

// (Planes need no notice: each is probed again, and each PLANE has its own timeout.)
void Peer::OnStandstill(Duration time) {
  if (!paths_->sessions) return;
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    paths_->alive_at = std::max(paths_->alive_at, sessions_[plane].last_heard());
  }
  paths_->alive_at += time;
}

// The peer's MAC address is known now, or has changed. PDUs that wait for the address may be sent,
// and a queue that waits only for it tries again.
void Peer::OnMac(PlaneIndex plane, Effects& effects) {
  paths_->resolving &= static_cast<PlaneMask>(~(1u << plane));
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const auto bit = static_cast<uint8_t>(1u << vc);
    const PathConnection number = own_->map.Number(0, vc);
    const bool lost = connection(plane, number).tx().lost() || paths_->unreachable;
    if ((lost_vcs_ & bit) == 0 || lost) continue;
    if (!cut_off_) Emit(PeerEvent::kReachable, plane, number, effects);
    Mark(bit, false, effects);
  }
  UpdateUsable(effects);
  effects.Add(effect::Unblock{kAllVcs});
}

// Does nothing if another plane has the peer's MAC address.
void Peer::OnNoMac(Effects& effects) {
  if (!IsResolving()) return;
  for (Vc vc = 0; vc < own_->map.vc_count(); ++vc) {
    if ((lost_vcs_ & 1u << vc) == 0) {
      effects.Add(effect::Count{Counter::kUnreachable});
      Emit(PeerEvent::kUnreachable, 0, own_->map.Number(0, vc), effects);
    }
    Mark(own_->map.VcsWith(vc), true, effects);
    GiveUpQueued(own_->map.VcsWith(vc), effects);
  }
}

void Peer::SetWeight(PlaneIndex plane, uint32_t weight, Time now, Effects& effects) {
  const bool had_route = paths_->HasRoute(plane);
  paths_->SetWeight(plane, weight);
  if (rates_.Forget(plane)) placement_.Place(effects);
  paths_->PublishShares(own_->shares);
  if (had_route == (weight != 0)) return placement_.Place(effects);
  UpdateUsable(effects);
  if (HasRoute()) {
    OnRouteBack(effects);
  } else {
    OnRouteGone(now, effects);
  }
  placement_.Unblock(effects);
}

void Peer::OnNewParams(PlaneIndex plane, PathConnection number, Time now, Effects& effects) {
  if (number == 0) {
    sessions_[plane].OnNewParams(now, own_->paths);
    ArmSession(plane, effects);
    if (plane == 0) {
      handshake_.OnNewParams(now, own_->transport);
      RecheckHello(now, effects);
      if (cut_off_at_ != kNever) {
        cut_off_at_ = std::min(cut_off_at_, now + own_->paths.unreachable);
      }
      ArmHandshake(effects);
    }
  }
  connection(plane, number).OnNewParams(now, own_->transport);
  ArmConnection(plane, number, effects);
  placement_.Unblock(plane, number, effects);
}

// ---- For tests.

void Peer::CheckInvariants(const TransportParams& widest) const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    const PlaneSession& session = sessions_[plane];
    uint32_t bytes = 0;
    groups_[plane].CheckInvariants();
    for (PathConnection number = 0; number < own_->map.path_connections(); ++number) {
      const Connection& one = connection(plane, number);
      one.tx().CheckInvariants(widest);
      bytes += one.in_flight().bytes();
      // A frozen connection waits for a FENCED, of its plane or its session.
      const bool fencing = (groups_[plane].fencing() >> own_->map.SessionOf(number) & 1) != 0;
      check(!one.tx().frozen() || session.fencing() || fencing);
      // Without an association, no PDU is in flight or accepted.
      check(handshake_.open() || (one.rx().closed() && one.in_flight().bytes() == 0));
    }
    check(bytes == paths_->InFlightOn(plane));
    check(!session.up() || (session.begun() && !session.fencing()));
    check(paths_->sessions || !session.begun());
    check((paths_->open & 1u << plane) == 0 || IsOpen(plane));
    const uint32_t part = rates_.of(plane) == nullptr ? PathRate::kWhole : rates_.of(plane)->part();
    check(paths_->part[plane] == part && part >= PathRate::kMin && part <= PathRate::kWhole);
    check((paths_->usable & 1u << plane) == 0 || paths_->HasRoute(plane));
  }
  check((paths_->usable & ~paths_->open) == 0);
  check(!cut_off_ || !HasRoute());
  check(HasRoute() || cut_off_ || cut_off_at_ != kNever);
  check(!paths_->sessions || (own_->has_sessions && handshake_.associated()));
  check(paths_->open == 0 || (handshake_.open() && mismatch_ == HelloMismatch::kNone));
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const Vc flow = own_->map.KeyOf(vc);
    const bool moving = (paths_->moving & 1u << flow) != 0;
    const uint32_t home = own_->is_strict() ? 1u << paths_->home[flow] : ~0u;
    check(paths_->choice[vc] == (moving ? 0 : paths_->usable & home));
  }
}

}  // namespace suede
