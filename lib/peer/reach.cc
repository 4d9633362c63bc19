// SPDX-License-Identifier: Apache-2.0
// The planes to a peer that may be used: their ports and their sessions (docs/planes.md); and
// functions by which the peer's other files add effects.
#include <algorithm>

#include "peer/peer.h"

namespace suede {

// ---- Messages.

void Peer::Send(PlaneIndex plane, const ControlMessage& message, Effects& effects) {
  effects.Add(effect::Send{plane, message});
}

Hello Peer::MakeHello(bool reply_wanted, uint64_t echo) const {
  Hello hello = own_->hello;
  hello.nonce = handshake_.nonce();
  hello.echo = echo;
  hello.first = handshake_.first();
  hello.reply_wanted = reply_wanted;
  return hello;
}

void Peer::SendHello(PlaneIndex plane, bool reply_wanted, uint64_t echo, Effects& effects) const {
  Send(plane, MakeHello(reply_wanted, echo), effects);
}

// Requests the peer's HELLO, over the planes in rotation.
void Peer::SendHello(Effects& effects) {
  PlaneIndex plane = 0;
  for (uint32_t i = 0; i < own_->map.plane_count(); ++i) {
    plane = PlaneIndex(paths_->turn++ % own_->map.plane_count());
    if (own_->port_up(plane) && IsPresent(plane)) break;
  }
  SendHello(plane, true, 0, effects);
}

void Peer::Emit(PeerEvent event, PlaneIndex plane, PathConnection number, Effects& effects) const {
  effects.Add(effect::Emit{.event = event, .plane = plane, .number = number});
}

void Peer::EmitPlane(PeerEvent event, PlaneIndex plane, uint8_t what, Effects& effects) const {
  effects.Add(effect::Emit{.event = event, .plane = plane, .what = what});
}

void Peer::ArmHandshake(Effects& effects) const {
  const Time keepalive_at = IsKeptAlive() ? keepalive_at_ : kNever;
  effects.Add(effect::Arm{.timer = effect::Timer::kHandshake,
                          .due = std::min({handshake_.deadline(), cut_off_at_, keepalive_at})});
}

void Peer::ArmSession(PlaneIndex plane, Effects& effects) const {
  effects.Add(effect::Arm{.timer = effect::Timer::kSession,
                          .plane = plane,
                          .due = std::min(sessions_[plane].deadline(), groups_[plane].deadline())});
}

void Peer::ArmConnection(PlaneIndex plane, PathConnection number, Effects& effects) const {
  effects.Add(effect::Arm{.timer = effect::Timer::kConnection,
                          .plane = plane,
                          .number = number,
                          .due = connection(plane, number).deadline()});
}

// ---- Lost and found.

// (Without a route no PDU is queued, whatever else has come back.)
void Peer::Mark(uint8_t vcs, bool lost, Effects& effects) {
  lost_vcs_ = static_cast<uint8_t>(lost ? lost_vcs_ | vcs : lost_vcs_ & ~vcs);
  if (lost || !cut_off_) effects.Add(effect::MarkLost{vcs, lost});
}

void Peer::GiveUpQueued(uint8_t vcs, Effects& effects) { effects.Add(effect::GiveUpQueued{vcs}); }

// The peer no longer counts as lost, if it did.
void Peer::FindAgain(Effects& effects) {
  if (lost_vcs_ == 0) return;
  Mark(kAllVcs, false, effects);
  if (!cut_off_) Emit(PeerEvent::kReachable, 0, 0, effects);
}

// ---- PDUs in flight.

// Subtracts `bytes` of the connection from the bytes in flight.
void Peer::CountOut(PlaneIndex plane, PathConnection number, uint32_t bytes) {
  if (connection(plane, number).tx().has_aside()) TakeBack(plane, number);
  paths_->OnEnd(plane, bytes);
  rates_.Spoil(plane);
  own_->inflight_bytes[plane] -= bytes;
  const bool idle = connection(plane, number).in_flight().bytes() == 0;
  if (own_->has_sessions && idle) own_->OnIdle(plane);
}

// A session has timed out. If the plane was proved since the session's PDUs were sent, and another
// session of the plane is open, these PDUs do not count as load of the plane: otherwise the plane
// would carry no other PDUs until they arrive.
void Peer::SetAside(PlaneIndex plane, PathConnection number) {
  Connection& stuck = connection(plane, number);
  const SlotMask others = groups_[plane].open() & ~(SlotMask{1} << own_->map.SessionOf(number));
  if (!own_->map.has_planes() || others == 0 ||
      stuck.in_flight().next_retransmission() == nullptr ||
      sessions_[plane].last_heard() <= stuck.in_flight().next_retransmission()->sent_at) {
    return;
  }
  CountAside(plane, stuck.tx().SetAside());
  rates_.Spoil(plane);
}

void Peer::TakeBack(PlaneIndex plane, PathConnection number) {
  CountAside(plane, 0u - connection(plane, number).tx().TakeBack());
}

// Sets `bytes` of a plane aside; or takes them back if negative, modulo 2^32.
void Peer::CountAside(PlaneIndex plane, uint32_t bytes) {
  paths_->SetAside(plane, bytes);
  own_->inflight_bytes[plane] -= bytes;
  own_->aside_bytes[plane] += bytes;
}

void Peer::GiveUp(PlaneIndex plane, PathConnection number, Ending ending, bool hold_last,
                  uint32_t bytes, const PduList& pdus, Effects& effects) {
  if (pdus.empty()) return;
  CountOut(plane, number, bytes);
  effects.Add(effect::GiveUp{plane, number, ending, hold_last, pdus});
}

// ---- Planes.

// Whether the plane's port, address and session let PDUs pass.
bool Peer::IsOpen(PlaneIndex plane) const {
  if (!IsPresent(plane) || IsResolving(plane)) return false;
  if (!own_->port_up(plane) || own_->admin[plane] != PlaneAdmin::kUp) return false;
  return !paths_->sessions || sessions_[plane].up();
}

// Recomputes which planes PDUs to the peer may take.
void Peer::UpdateUsable(Effects& effects) {
  const PlaneMask before = paths_->usable;
  PlaneMask open = 0;
  PlaneMask usable = 0;
  const bool may = handshake_.open() && mismatch_ == HelloMismatch::kNone;
  for (PlaneIndex plane = 0; may && plane < own_->map.plane_count(); ++plane) {
    if (!IsOpen(plane)) continue;
    const auto bit = static_cast<PlaneMask>(1u << plane);
    open |= bit;
    if (paths_->HasRoute(plane)) usable |= bit;
  }
  paths_->open = open;
  paths_->SetUsable(usable);
  paths_->PublishShares(own_->shares);
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    if ((usable & ~before & 1u << plane) != 0) paths_->Join(plane);
  }
  placement_.Place(effects);
}

// Whether any plane has a route to the peer, in whatever state the plane is.
bool Peer::HasRoute() const {
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    if (IsPresent(plane) && paths_->HasRoute(plane)) return true;
  }
  return false;
}

// The last route was withdrawn. Queued PDUs wait for a while: the route may come back.
void Peer::OnRouteGone(Time now, Effects& effects) {
  cut_off_at_ = now + own_->paths.unreachable;
  ArmHandshake(effects);
}

void Peer::OnRouteBack(Effects& effects) {
  cut_off_at_ = kNever;
  if (!cut_off_) return;
  cut_off_ = false;
  // Other reasons why the peer is unreachable end by themselves.
  const auto found = static_cast<uint8_t>(kAllVcs & ~lost_vcs_);
  if (found != 0) effects.Add(effect::MarkLost{found, false});
  if (lost_vcs_ == 0) Emit(PeerEvent::kReachable, 0, 0, effects);
}

// There has been no route for too long. PDUs in flight may still be acknowledged.
void Peer::CheckRoutes(Time now, Effects& effects) {
  if (now < cut_off_at_) return;
  cut_off_at_ = kNever;
  cut_off_ = true;
  if (lost_vcs_ == 0) {
    effects.Add(effect::Count{Counter::kUnreachable});
    Emit(PeerEvent::kUnreachable, 0, 0, effects);
  }
  effects.Add(effect::MarkLost{kAllVcs, true});
  GiveUpQueued(kAllVcs, effects);
}

// Our number of the plane that the peer calls `peer_plane`; kNoPlane: no PLANE has arrived on it.
PlaneIndex Peer::PlaneOfPeer(uint8_t peer_plane) const {
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    if (sessions_[plane].peer_plane() == peer_plane) return plane;
  }
  return kNoPlane;
}

// Whether a plane to the peer is up and not silent: the peer is alive.
bool Peer::HasHeardAnyPlane() const {
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    const PlaneSession& session = sessions_[plane];
    if (session.up() && session.missed() < own_->paths.hello_multiplier) return true;
  }
  return false;
}

}  // namespace suede
