// SPDX-License-Identifier: Apache-2.0
#include "peer/peer.h"

#include <cstdlib>

namespace suede {

Peer::Peer(const PeerParts& parts)
    : peer_(parts),
      choice_(peer_, agreement_),
      reach_(peer_),
      flight_(peer_, choice_),
      health_(peer_, reach_, choice_, flight_),
      groups_(peer_, agreement_, choice_),
      association_(peer_, agreement_, reach_, choice_, flight_, health_, groups_),
      fences_(peer_, reach_, choice_, flight_, health_, association_),
      probes_(peer_, agreement_, choice_, health_, groups_, association_) {
  agreement_.handshake.Begin(peer_.own->numbers, peer_.plain);
  // Nothing is accepted before there is an association, or the peer is plain.
  for (uint32_t i = 0; !peer_.plain && i < peer_.own->map.peer_connections(); ++i) {
    peer_.connections[i].rx().Close();
  }
  peer_.paths->flows = peer_.own->is_strict();
}

void Peer::OnControl(PlaneIndex plane, const ControlMessage& message, const ControlFacts& facts,
                     Time now, Effects& effects) {
  if (const auto* hello = std::get_if<Hello>(&message)) {
    return association_.OnHello(plane, *hello, facts, now, effects);
  }
  const SessionIndex slot(facts.slot);
  const bool is_of_session =
      std::holds_alternative<NotReady>(message) || std::holds_alternative<Ready>(message);
  if (is_of_session && slot == kNoSlot) return effects.Add(effect::Count{Counter::kRxSession});
  if (!association_.IsOfAssociation(plane, IdentitiesOf(message), effects)) return;
  // (The most frequent one first.)
  if (const auto* credit = std::get_if<Credit>(&message)) {
    effects.Add(effect::CreditReceived{*credit});
  } else if (const auto* not_ready = std::get_if<NotReady>(&message)) {
    OnNotReady(plane, slot, *not_ready, now, effects);
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    OnReady(plane, slot, *ready, now, effects);
  } else if (const auto* plane_hello = std::get_if<PlaneHello>(&message)) {
    probes_.OnPlane(plane, *plane_hello, facts.sealed, now, effects);
  } else if (const auto* fence = std::get_if<Fence>(&message)) {
    fences_.OnFence(plane, *fence, facts.sealed, now, effects);
  } else if (const auto* fenced = std::get_if<Fenced>(&message)) {
    fences_.OnFenced(*fenced, now, effects);
  } else if (const auto* congestion = std::get_if<Congestion>(&message)) {
    effects.Add(effect::CongestionReceived{plane, *congestion});
  } else if (const auto* session = std::get_if<SessionNumber>(&message)) {
    const bool answers_fence = session->answer && session->fence;
    answers_fence ? fences_.OnSessionFenced(plane, *session, now, effects)
                  : groups_.OnSession(plane, *session, now, effects);
  }
}

// ---- Facts of this end.

// PDUs that wait for the address may be sent, and a queue that waits only for it tries again.
void Peer::OnMac(PlaneIndex plane, Effects& effects) {
  peer_.paths->resolving &= static_cast<PlaneMask>(~(1u << plane));
  reach_.OnMac(plane, effects);
  choice_.Update(effects);
  effects.Add(effect::Unblock{Reach::kAllVcs});
}

void Peer::SetWeight(PlaneIndex plane, uint32_t weight, Time now, Effects& effects) {
  const bool had_route = peer_.paths->HasRoute(plane);
  peer_.paths->SetWeight(plane, weight);
  choice_.ForgetRate(plane, effects);
  peer_.paths->PublishShares(peer_.own->shares);
  if (had_route == (weight != 0)) return choice_.Place(effects);
  choice_.Update(effects);
  if (reach_.HasRoute()) {
    reach_.OnRouteBack(effects);
  } else {
    reach_.OnRouteGone(now);
    association_.Arm(effects);
  }
  choice_.Unblock(effects);
}

void Peer::OnNewParams(PlaneIndex plane, PathConnection number, Time now, Effects& effects) {
  if (number == 0) {
    peer_.sessions[plane].OnNewParams(now, peer_.own->paths);
    peer_.ArmSession(plane, effects);
    if (plane == 0) association_.OnNewParams(now, effects);
  }
  peer_.connection(plane, number).OnNewParams(now, peer_.own->transport);
  peer_.ArmConnection(plane, number, effects);
  choice_.Unblock(plane, number, effects);
}

// ---- For tests.

void Peer::CheckInvariants(const TransportParams& widest) const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    const PlaneSession& session = peer_.sessions[plane];
    uint32_t bytes = 0;
    peer_.groups[plane].CheckInvariants();
    for (PathConnection number = 0; number < peer_.own->map.path_connections(); ++number) {
      const Connection& one = peer_.connection(plane, number);
      one.tx().CheckInvariants(widest);
      bytes += one.in_flight().bytes();
      // A frozen connection waits for a FENCED, of its plane or its session.
      const bool fencing =
          (peer_.groups[plane].fencing() >> peer_.own->map.SessionOf(number) & 1) != 0;
      check(!one.tx().frozen() || session.fencing() || fencing);
      // Without an association, no PDU is in flight or accepted.
      check(agreement_.handshake.open() ||
            (one.rx().closed() && one.in_flight().oldest() == nullptr));
    }
    check(bytes == peer_.paths->InFlightOn(plane));
    check(!session.up() || (session.begun() && !session.fencing()));
    check(peer_.paths->sessions || !session.begun());
    check((peer_.paths->open & 1u << plane) == 0 || choice_.IsOpen(plane));
    const uint32_t part = peer_.rates == nullptr ? PathRate::kWhole : peer_.rates[plane].part();
    check(peer_.paths->part[plane] == part && part >= PathRate::kMin && part <= PathRate::kWhole);
    check((peer_.paths->usable & 1u << plane) == 0 || peer_.paths->HasRoute(plane));
  }
  check((peer_.paths->usable & ~peer_.paths->open) == 0);
  const bool has_route = reach_.HasRoute();
  check(!reach_.cut_off() || !has_route);
  check(has_route || reach_.cut_off() || reach_.deadline() != kNever);
  check(!peer_.paths->sessions || (peer_.own->has_sessions && agreement_.handshake.associated()));
  check(peer_.paths->open == 0 || agreement_.stands());
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const Vc flow = peer_.own->map.KeyOf(vc);
    const bool moving = (peer_.paths->moving & 1u << flow) != 0;
    const uint32_t home = peer_.own->is_strict() ? 1u << peer_.paths->home[flow] : ~0u;
    check(peer_.paths->choice[vc] == (moving ? 0 : peer_.paths->usable & home));
  }
}

}  // namespace suede
