// SPDX-License-Identifier: Apache-2.0
#include "peer/association.h"

#include <algorithm>

namespace suede {
namespace {

// How often a timer checks whether a port that is down is up again.
constexpr Duration kDownInterval = std::chrono::milliseconds(2);
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

Hello Association::MakeHello(bool reply_wanted, uint64_t echo) const {
  Hello hello = peer_.own->hello;
  hello.nonce = agreement_.handshake.nonce();
  hello.echo = echo;
  hello.first = agreement_.handshake.first();
  hello.reply_wanted = reply_wanted;
  return hello;
}

void Association::RequestHello(Effects& effects) {
  const OwnEnd& own = *peer_.own;
  PlaneIndex plane = 0;
  for (uint32_t i = 0; i < own.map.plane_count(); ++i) {
    plane = PlaneIndex(peer_.paths->turn++ % own.map.plane_count());
    if (own.port_up(plane) && peer_.IsPresent(plane)) break;
  }
  SendHello(plane, true, 0, effects);
}

void Association::Arm(Effects& effects) const {
  const Time keepalive_at = IsKeptAlive() ? keepalive_at_ : kNever;
  const Time due = std::min({agreement_.handshake.deadline(), reach_.deadline(), keepalive_at});
  effects.Add(effect::Arm{.timer = effect::Timer::kHandshake, .due = due});
}

// Begins to send HELLOs to the peer, unless it does already. Without the peer's MAC address no
// HELLO would arrive; a waiting queue calls again once the address is known.
void Association::Greet(Time now, Effects& effects) {
  if (peer_.IsResolving()) return;
  agreement_.handshake.OnDemand(now);
  Arm(effects);
}

void Association::OnMute(Time now, Effects& effects) {
  reach_.CheckRoutes(now, effects);
  if (agreement_.handshake.deadline() != kNever) agreement_.handshake.Hold(now + kDownInterval);
  keepalive_at_ = std::max(keepalive_at_, now + kDownInterval);
  Arm(effects);
}

void Association::OnDeadline(Time now, Effects& effects) {
  reach_.CheckRoutes(now, effects);
  if ((peer_.paths->present & peer_.own->ports_up) == 0) return OnMute(now, effects);
  const HandshakeTimerVerdict verdict = agreement_.handshake.OnTimer(
      now, peer_.own->transport, peer_.own->paths.hello_idle, peer_.own->paths.unreachable);
  if (verdict.hello) RequestHello(effects);
  if (verdict.probe) SendProbes(effects);
  if (verdict.plain) OnPlain(effects);
  if (verdict.silent) OnSilence(effects);
  KeepAlive(now, effects);
  Arm(effects);
}

// Acknowledges an idle peer again, so that switches on the way keep the address of an endpoint that
// only receives (docs/planes.md, "Where no PLANEs are exchanged"). PDUs in flight are
// retransmitted, which has the same effect.
void Association::KeepAlive(Time now, Effects& effects) {
  if (!IsKeptAlive() || now < keepalive_at_) return;
  const Duration interval = peer_.own->paths.hello_idle / kKeepalivesInIdle;
  if (keepalive_at_ == Time{}) {
    // Spreads the keepalives of peers that associate at the same time.
    keepalive_at_ = now + interval * (kTurns + peer_.xpuid % kTurns) / kTurns;
    return;
  }
  keepalive_at_ = now + interval;
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    Connection& idle = peer_.connection(plane, 0);
    const bool is_open = (peer_.paths->open & 1u << plane) != 0;
    if (!is_open || idle.in_flight().count() != 0) continue;
    idle.rx().AckNow();
    effects.Add(effect::ScheduleAck{.plane = plane});
  }
}

// ---- Receiving HELLO.

bool Association::IsOfAssociation(PlaneIndex plane, const Identities& named,
                                  Effects& effects) const {
  const Identities ours = agreement_.handshake.identities();
  if (agreement_.handshake.associated() && named.own == ours.peer && named.peer == ours.own)
    return true;
  effects.Add(effect::Count{Counter::kRxAssociation});
  SendHello(plane, true, 0, effects);
  return false;
}

void Association::OnHello(PlaneIndex plane, const Hello& hello, const ControlFacts& facts, Time now,
                          Effects& effects) {
  const HelloVerdict verdict =
      agreement_.handshake.OnHello(hello, now, peer_.own->numbers, facts.is_pong);
  // An old copy of a HELLO may have outdated settings: the peer has to prove that they are current.
  const bool unproved =
      !verdict.verified && Compare(peer_.own->hello, hello).what != HelloMismatch::kNone;
  if (verdict.stranger || unproved) {
    effects.Add(effect::Count{Counter::kRxHelloUnverified});
    if (hello.reply_wanted) SendHello(plane, true, hello.nonce, effects);
    return;
  }
  agreement_.hello = hello;
  if (verdict.new_peer) End(now, effects);
  if (!CheckHello(now, effects)) {
    effects.Add(effect::Count{Counter::kHelloMismatch});
    // The reply requests no reply: two ends with a mismatch would exchange HELLOs for ever.
    if (hello.reply_wanted) SendHello(plane, false, hello.nonce, effects);
    return Arm(effects);
  }
  OnAgreed(plane, hello, verdict.knows_us, now, effects);
  // A waiting queue needs another HELLO: the peer's next HELLO may be lost.
  if (facts.waits && !agreement_.handshake.open()) Greet(now, effects);
  Arm(effects);
  choice_.Unblock(effects);
}

// Handles a HELLO that fits.
void Association::OnAgreed(PlaneIndex plane, const Hello& hello, bool knows_us, Time now,
                           Effects& effects) {
  if (knows_us && agreement_.handshake.Agree()) {
    groups_.Begin(now, effects);
    Open(effects);
    if (hello.reply_wanted) {
      effects.Add(effect::CreditChange{effect::CreditStep::kGrantFirst});
    }
  }
  for (uint32_t i = 0; i < peer_.own->map.peer_connections(); ++i) {
    ReceiveHalf& rx = peer_.connections[i].rx();
    rx.SetPeerWindow(hello.window_pdus);
    if (knows_us)
      rx.SetSelective(agreement_.is_selective(peer_.own->hello) ? &peer_.early[i] : nullptr);
  }
  if (hello.reply_wanted) SendHello(plane, !agreement_.handshake.open(), hello.nonce, effects);
  choice_.Update(effects);
  if (peer_.own->has_sessions && hello.answers_planes && agreement_.handshake.associated() &&
      !peer_.paths->sessions) {
    health_.BeginSessions(now, effects);
  }
  if (!knows_us || !hello.reply_wanted || !agreement_.handshake.associated()) return;
  for (PathConnection number = 0; number < peer_.own->map.vc_count(); ++number) {
    ReceiveHalf& rx = peer_.connection(plane, number).rx();
    if (rx.closed()) continue;  // a PLANE has to name the first PSN
    // The peer may have lost its state of us: sends it the expected PSN.
    rx.AckNow();
    effects.Add(effect::ScheduleAck{plane, number});
  }
}

// Returns whether the settings of the peer's last HELLO fit ours. Reports a mismatch once; nothing
// is sent to a peer that does not fit.
bool Association::CheckHello(Time now, Effects& effects) {
  const Disagreement found = Compare(peer_.own->hello, agreement_.hello);
  const HelloMismatch known = agreement_.mismatch;
  agreement_.mismatch = found.what;
  if (found.what == HelloMismatch::kNone) {
    if (known != HelloMismatch::kNone) reach_.Mark(Reach::kAllVcs, false, effects);
    return true;
  }
  if (found.what != known) {
    effects.Add(effect::Emit{.event = PeerEvent::kHelloMismatch,
                             .what = static_cast<uint8_t>(found.what),
                             .own = found.own,
                             .theirs = found.theirs});
  }
  agreement_.handshake.Refuse(now, peer_.own->transport);
  choice_.Update(effects);
  reach_.Lose(Reach::kAllVcs, effects);
  return false;
}

// Our settings were changed: checks whether the peer still fits, and whether we fit it. No
// keepalive waits longer than the settings permit.
void Association::OnNewParams(Time now, Effects& effects) {
  agreement_.handshake.OnNewParams(now, peer_.own->transport);
  keepalive_at_ = std::min(keepalive_at_, now + peer_.own->paths.hello_idle / kKeepalivesInIdle);
  if (agreement_.handshake.identities().peer != 0) {
    if (CheckHello(now, effects)) choice_.Update(effects);
    RequestHello(effects);
    Arm(effects);
  }
  reach_.OnNewParams(now);
  Arm(effects);
}

// ---- Associations.

// The peer is another boot than the one that PDUs were exchanged with, if any were: PDUs in flight
// to that boot are given up, and sequence numbers restart.
void Association::End(Time now, Effects& effects) {
  VcPsns first;
  bool history = false;
  for (PathConnection number = 0; number < peer_.own->map.vc_count(); ++number) {
    first[number] = DrawFirst(peer_.connection(0, number), peer_.own->numbers);
  }
  agreement_.handshake.SetFirst(first);
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    peer_.sessions[plane].Reset();
    for (PathConnection number = 0; number < peer_.own->map.path_connections(); ++number) {
      const auto end = [&](Connection& ended, PduList& pdus) {
        history |= ended.MayHaveHistory();
        // PLANE carries the first PSNs of further sessions.
        const Psn next = number < peer_.own->map.vc_count() ? first[number]
                                                            : DrawFirst(ended, peer_.own->numbers);
        ended.Reset(pdus);
        ended.tx().Restart(next, pdus);
        ended.rx().Close();
      };
      flight_.GiveUp(plane, number, Ending::kPeerReset, false, effects, end);
    }
  }
  effects.Add(effect::CreditChange{effect::CreditStep::kEnd});
  groups_.Begin(now, effects);
  peer_.paths->sessions = false;
  choice_.placement().EndMoves();
  peer_.paths->unreachable = false;
  if (!history) return;
  effects.Add(effect::Count{Counter::kPeerResets});
  effects.Add(effect::Emit{PeerEvent::kReset});
}

// Both ends have agreed: accepts PDUs of the peer, from the PSNs that it has named. If the peer
// sends in generations, a PLANE carries these PSNs.
void Association::Open(Effects& effects) {
  for (PlaneIndex plane = 0;
       !agreement_.hello.sends_generations && plane < peer_.own->map.plane_count(); ++plane) {
    for (PathConnection number = 0; number < peer_.own->map.vc_count(); ++number) {
      peer_.connection(plane, number).rx().Open(agreement_.hello.first[number]);
    }
  }
  effects.Add(effect::CreditChange{effect::CreditStep::kBegin});
  reach_.FindAgain(effects);
}

void Association::StartOver(Time now, Effects& effects) {
  effects.Add(effect::Count{Counter::kDesynchronized});
  agreement_.handshake.StartOver(now, peer_.own->numbers);
  End(now, effects);
  choice_.Update(effects);
  Arm(effects);
}

// ---- Peers that do not speak HELLO, or not yet.

// The data PDU is of a generation that has ended, or of a peer without an association.
[[gnu::cold]] void Association::OnClosedData(PlaneIndex plane, PathConnection number,
                                             bool sequenced, RhOp op, Psn rpsn, Time now,
                                             Effects& effects) {
  if (agreement_.handshake.open()) {
    if (sequenced) effects.Add(effect::Count{Counter::kRxFenced});
    return;
  }
  if (sequenced) {
    effects.Add(effect::Count{Counter::kRxBeforeHello});
    Greet(now, effects);
  }
  // A NACK answers a probe: the peer receives our frames. Other PDUs also come from an end that
  // receives none, and whose answers to our HELLOs are thus missing: its probes, and PDUs of an
  // association with a former boot of ours.
  if (op != RhOp::kNack) return;
  agreement_.handshake.OnNack(now);
  if (!sequenced && agreement_.handshake.identities().peer == 0) {
    // If the peer is plain, `rpsn` is the PSN that it accepts next.
    PduList none;
    peer_.connection(plane, number).tx().Restart(rpsn, none);
  }
}

// Queries the expected PSN of each connection of the peer: an unsequenced PDU ahead of that PSN is
// answered with a NACK (wire profile §6), an earlier PDU is not answered. The expected PSN is not
// known, but one of two PSNs that are half the number space apart is ahead of it.
void Association::SendProbes(Effects& effects) const {
  constexpr int kHalf = 1 << 15;
  const auto ahead = static_cast<int>(agreement_.handshake.probe_quarter() << 14) + 1;
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    for (PathConnection number = 0; peer_.IsPresent(plane) && number < peer_.own->map.vc_count();
         ++number) {
      for (const int far : {0, kHalf}) {
        effects.Add(effect::Probe{
            plane, number,
            peer_.connection(plane, number).in_flight().next_psn().Plus(ahead + far)});
      }
    }
  }
}

void Association::OnPlain(Effects& effects) {
  for (PlaneIndex plane = 0; plane < peer_.own->map.plane_count(); ++plane) {
    for (PathConnection number = 0; number < peer_.own->map.vc_count(); ++number) {
      peer_.connection(plane, number).rx().Open(Psn(0));
    }
  }
  effects.Add(effect::CreditChange{effect::CreditStep::kUncounted});
  reach_.FindAgain(effects);
  choice_.Update(effects);
  choice_.Unblock(effects);
}

// The peer has not answered in any way for too long: no waiting PDU was ever sent.
void Association::OnSilence(Effects& effects) {
  if (reach_.lost_vcs() == 0) Reach::EmitUnreachable(0, 0, effects);
  reach_.Lose(Reach::kAllVcs, effects);
}

void Association::OnWaiting(Time now, Effects& effects) {
  if (peer_.IsResolving()) {
    effects.Add(effect::Count{Counter::kTxWaitsMac});
  } else if (!agreement_.handshake.open()) {
    Greet(now, effects);
  }
}

}  // namespace suede
