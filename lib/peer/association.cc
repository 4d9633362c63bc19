// SPDX-License-Identifier: Apache-2.0
// How an instance and a peer make an association, and find that it is over (docs/control-pdus.md,
// HELLO).
#include <algorithm>

#include "peer/peer.h"

namespace suede {
namespace {

// How often a timer checks whether a port that is down is up again.
constexpr Duration kDownLook = std::chrono::milliseconds(2);
// First PSNs are drawn from a part of the number space (kDrawnFrom) opposite to the PSNs of a
// former association whose frames may still be in a device.
constexpr int kOpposite = 1 << 15;
constexpr int kDrawnFrom = 1 << 14;
// Acknowledgements of an idle peer in `planes.hello_idle_us`: with the defaults two leave before a
// sender that gets no answer has used up its tries.
constexpr int kKeepalivesInIdle = 4;
// Number of parts of an interval over which the keepalives of peers are spread.
constexpr int kTurns = 64;

Psn DrawFirst(const Connection& connection, SecretNumbers& numbers) {
  const auto drawn = static_cast<uint16_t>(numbers.Next() >> 16);
  if (connection.tx().tx_pdus() == 0) return Psn(drawn);
  return connection.in_flight().next_psn().Plus(kOpposite - kDrawnFrom / 2 + drawn % kDrawnFrom);
}

}  // namespace

// ---- Sending HELLO.

// Begins to send HELLOs to the peer, unless it does already. Without the peer's MAC address no
// HELLO would arrive; a waiting queue calls again once the address is known.
void Peer::Greet(Time now, Effects& effects) {
  if (IsResolving()) return;
  handshake_.OnDemand(now);
  ArmHandshake(effects);
}

void Peer::OnMute(Time now, Effects& effects) {
  CheckRoutes(now, effects);
  if (handshake_.deadline() != kNever) handshake_.Hold(now + kDownLook);
  keepalive_at_ = std::max(keepalive_at_, now + kDownLook);
  ArmHandshake(effects);
}

void Peer::OnHandshakeDeadline(Time now, Effects& effects) {
  CheckRoutes(now, effects);
  if (!AnyPortUp()) return OnMute(now, effects);
  const HandshakeTimerVerdict verdict =
      handshake_.OnTimer(now, own_->transport, own_->paths.hello_idle, own_->paths.unreachable);
  if (verdict.hello) SendHello(effects);
  if (verdict.probe) SendProbes(effects);
  if (verdict.plain) OnPlain(effects);
  if (verdict.silent) OnSilence(effects);
  KeepAlive(now, effects);
  ArmHandshake(effects);
}

// Acknowledges an idle peer again, so that switches on the way keep the address of an endpoint that
// only receives (docs/planes.md, "Where no PLANEs are exchanged"). PDUs in flight are
// retransmitted, which has the same effect.
void Peer::KeepAlive(Time now, Effects& effects) {
  if (!IsKeptAlive() || now < keepalive_at_) return;
  const Duration interval = own_->paths.hello_idle / kKeepalivesInIdle;
  if (keepalive_at_ == Time{}) {
    // Spreads the keepalives of peers that associate at the same time.
    keepalive_at_ = now + interval * (kTurns + xpuid_ % kTurns) / kTurns;
    return;
  }
  keepalive_at_ = now + interval;
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    Connection& idle = connection(plane, 0);
    const bool is_open = (paths_->open & 1u << plane) != 0;
    if (!is_open || idle.in_flight().count() != 0) continue;
    idle.rx().AckNow();
    effects.Add(effect::ScheduleAck{.plane = plane});
  }
}

// ---- Receiving HELLO.

// Returns whether a control PDU names the two boots of the association. If not, sends a HELLO.
bool Peer::IsOfAssociation(PlaneIndex plane, const Identities& named, Effects& effects) const {
  const Identities ours = handshake_.identities();
  if (handshake_.associated() && named.own == ours.peer && named.peer == ours.own) return true;
  effects.Add(effect::Count{Counter::kRxAssociation});
  SendHello(plane, true, 0, effects);
  return false;
}

void Peer::OnHello(PlaneIndex plane, const Hello& hello, const ControlFacts& facts, Time now,
                   Effects& effects) {
  const HelloVerdict verdict = handshake_.OnHello(hello, now, own_->numbers, facts.is_pong);
  // An old copy of a HELLO may have outdated settings: the peer has to prove that they are current.
  const bool unproved =
      !verdict.verified && Compare(own_->hello, hello).what != HelloMismatch::kNone;
  if (verdict.stranger || unproved) {
    effects.Add(effect::Count{Counter::kRxHelloUnverified});
    if (hello.reply_wanted) SendHello(plane, true, hello.nonce, effects);
    return;
  }
  hello_ = hello;
  if (verdict.new_peer) EndAssociation(now, effects);
  if (!CheckHello(now, effects)) {
    effects.Add(effect::Count{Counter::kHelloMismatch});
    // The reply requests no reply: two ends with a mismatch would exchange HELLOs for ever.
    if (hello.reply_wanted) SendHello(plane, false, hello.nonce, effects);
    return ArmHandshake(effects);
  }
  OnAgreed(plane, hello, verdict.knows_us, now, effects);
  // A waiting queue needs another HELLO: the peer's next HELLO may be lost.
  if (facts.waits && !handshake_.open()) Greet(now, effects);
  ArmHandshake(effects);
  placement_.Unblock(effects);
}

// Handles a HELLO that fits.
void Peer::OnAgreed(PlaneIndex plane, const Hello& hello, bool knows_us, Time now,
                    Effects& effects) {
  if (knows_us && handshake_.Agree()) {
    BeginGroups(now, effects);
    OpenAssociation(effects);
    if (hello.reply_wanted) {
      effects.Add(effect::CreditChange{effect::CreditStep::kGrantFirst});
    }
  }
  for (uint32_t i = 0; i < own_->map.peer_connections(); ++i) {
    connections_[i].rx().SetPeerWindow(hello.window_pdus);
  }
  if (hello.reply_wanted) SendHello(plane, !handshake_.open(), hello.nonce, effects);
  UpdateUsable(effects);
  if (own_->has_sessions && hello.answers_planes && handshake_.associated() && !paths_->sessions) {
    BeginSessions(now, effects);
  }
  if (!knows_us || !hello.reply_wanted || !handshake_.associated()) return;
  for (PathConnection number = 0; number < own_->map.vc_count(); ++number) {
    // The peer may have lost its state of us: sends it the expected PSN.
    connection(plane, number).rx().AckNow();
    effects.Add(effect::ScheduleAck{plane, number});
  }
}

// Returns whether the settings of the peer's last HELLO fit ours. Reports a mismatch once; nothing
// is sent to a peer that does not fit.
bool Peer::CheckHello(Time now, Effects& effects) {
  const Disagreement found = Compare(own_->hello, hello_);
  const HelloMismatch known = mismatch_;
  mismatch_ = found.what;
  if (found.what == HelloMismatch::kNone) {
    if (known != HelloMismatch::kNone) Mark(kAllVcs, false, effects);
    return true;
  }
  if (found.what != known) {
    effects.Add(effect::Emit{.event = PeerEvent::kHelloMismatch,
                             .what = static_cast<uint8_t>(found.what),
                             .own = found.own,
                             .theirs = found.theirs});
  }
  handshake_.Refuse(now, own_->transport);
  UpdateUsable(effects);
  Mark(kAllVcs, true, effects);
  GiveUpQueued(kAllVcs, effects);
  return false;
}

// Our settings were changed: checks whether the peer still fits, and whether we fit it. No
// keepalive waits longer than the settings permit.
void Peer::RecheckHello(Time now, Effects& effects) {
  keepalive_at_ = std::min(keepalive_at_, now + own_->paths.hello_idle / kKeepalivesInIdle);
  if (handshake_.identities().peer == 0) return;
  if (CheckHello(now, effects)) UpdateUsable(effects);
  SendHello(effects);
  ArmHandshake(effects);
}

// ---- Associations.

// The peer is another boot than the one that PDUs were exchanged with, if any were: PDUs in flight
// to that boot are given up, and sequence numbers restart.
void Peer::EndAssociation(Time now, Effects& effects) {
  VcPsns first;
  bool history = false;
  for (PathConnection number = 0; number < own_->map.vc_count(); ++number) {
    first[number] = DrawFirst(connection(0, number), own_->numbers);
  }
  handshake_.SetFirst(first);
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    sessions_[plane].Reset();
    for (PathConnection number = 0; number < own_->map.path_connections(); ++number) {
      Connection& ended = connection(plane, number);
      history |= ended.MayHaveHistory();
      const uint32_t bytes = ended.in_flight().bytes();
      // PLANE carries the first PSNs of further sessions.
      const Psn next =
          number < own_->map.vc_count() ? first[number] : DrawFirst(ended, own_->numbers);
      PduList pdus;
      ended.Reset(pdus);
      ended.tx().Restart(next, pdus);
      ended.rx().Close();
      GiveUp(plane, number, Ending::kPeerReset, false, bytes, pdus, effects);
    }
  }
  effects.Add(effect::CreditChange{effect::CreditStep::kEnd});
  BeginGroups(now, effects);
  paths_->sessions = false;
  placement_.EndMoves();
  paths_->unreachable = false;
  if (!history) return;
  effects.Add(effect::Count{Counter::kPeerResets});
  Emit(PeerEvent::kReset, 0, 0, effects);
}

// Both ends have agreed: accepts PDUs of the peer, from the PSNs that it has named. If the peer
// sends in generations, a PLANE carries these PSNs.
void Peer::OpenAssociation(Effects& effects) {
  for (PlaneIndex plane = 0; !hello_.sends_generations && plane < own_->map.plane_count();
       ++plane) {
    for (PathConnection number = 0; number < own_->map.vc_count(); ++number) {
      connection(plane, number).rx().Open(hello_.first[number]);
    }
  }
  effects.Add(effect::CreditChange{effect::CreditStep::kBegin});
  FindAgain(effects);
}

// The connections to the peer are out of step, and no acknowledgement will bring them back.
void Peer::StartOver(Time now, Effects& effects) {
  effects.Add(effect::Count{Counter::kDesynchronized});
  handshake_.StartOver(now, own_->numbers);
  EndAssociation(now, effects);
  UpdateUsable(effects);
  ArmHandshake(effects);
}

// ---- Peers that do not speak HELLO, or not yet.

// The data PDU is of a generation that has ended, or of a peer without an association.
[[gnu::cold]] void Peer::OnClosedData(PlaneIndex plane, PathConnection number, bool sequenced,
                                      RhOp op, Psn rpsn, Time now, Effects& effects) {
  if (handshake_.open()) {
    if (sequenced) effects.Add(effect::Count{Counter::kRxFenced});
    return;
  }
  handshake_.OnData(now);
  if (sequenced) {
    effects.Add(effect::Count{Counter::kRxBeforeHello});
    Greet(now, effects);
  } else if (op == RhOp::kNack && handshake_.identities().peer == 0) {
    // The NACK answers a probe. If the peer is plain, `rpsn` is the PSN that it accepts next.
    PduList none;
    connection(plane, number).tx().Restart(rpsn, none);
  }
}

// Queries the expected PSN of each connection of the peer: an unsequenced PDU ahead of that PSN is
// answered with a NACK (wire profile §6), an earlier PDU is not answered. The expected PSN is not
// known, but one of two PSNs that are half the number space apart is ahead of it.
void Peer::SendProbes(Effects& effects) const {
  constexpr int kHalf = 1 << 15;
  const auto ahead = static_cast<int>(handshake_.probe_quarter() << 14) + 1;
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    for (PathConnection number = 0; IsPresent(plane) && number < own_->map.vc_count(); ++number) {
      for (const int far : {0, kHalf}) {
        effects.Add(effect::Probe{
            plane, number, connection(plane, number).in_flight().next_psn().Plus(ahead + far)});
      }
    }
  }
}

void Peer::OnPlain(Effects& effects) {
  for (PlaneIndex plane = 0; plane < own_->map.plane_count(); ++plane) {
    for (PathConnection number = 0; number < own_->map.vc_count(); ++number) {
      connection(plane, number).rx().Open(Psn(0));
    }
  }
  effects.Add(effect::CreditChange{effect::CreditStep::kUncounted});
  FindAgain(effects);
  UpdateUsable(effects);
  placement_.Unblock(effects);
}

// The peer has not answered in any way for too long: no waiting PDU was ever sent.
void Peer::OnSilence(Effects& effects) {
  if (lost_vcs() == 0) {
    effects.Add(effect::Count{Counter::kUnreachable});
    Emit(PeerEvent::kUnreachable, 0, 0, effects);
  }
  Mark(kAllVcs, true, effects);
  GiveUpQueued(kAllVcs, effects);
}

// A queue waits, and no plane is usable.
void Peer::OnWaiting(Time now, Effects& effects) {
  if (IsResolving()) {
    effects.Add(effect::Count{Counter::kTxWaitsMac});
  } else if (!handshake_.open()) {
    Greet(now, effects);
  }
}

}  // namespace suede
