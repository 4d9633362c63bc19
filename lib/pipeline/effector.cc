// SPDX-License-Identifier: Apache-2.0
#include "pipeline/effector.h"

#include <iterator>
#include <variant>

#include "frame/control_sender.h"
#include "receive/ack_scheduler.h"

namespace suede {
namespace {

LcoreEventKind KindOf(PeerEvent event) {
  using enum LcoreEventKind;
  constexpr LcoreEventKind kKinds[] = {
      kPeerReset,   kPeerUnreachable, kPeerReachable, kHelloMismatch,  kPlaneUp,      kPlaneDown,
      kFenceOpened, kSessionOpened,   kSessionMoved,  kSessionStalled, kSessionClosed};
  static_assert(std::size(kKinds) == static_cast<size_t>(PeerEvent::kSessionClosed) + 1);
  return kKinds[static_cast<size_t>(event)];
}

}  // namespace

struct Effector::OnePeer {
  Effector& on;
  Instance& instance;
  const PeerIndex peer;

  template <typename T>
  ConnectionIndex NumberOf(const T& what) const {
    return instance.map.At(peer, what.plane, what.number);
  }
  template <typename T>
  Link& LinkOf(const T& what) const {
    return instance.ports[what.plane]->link;
  }
  Time now() const { return on.lcore_.now; }

  void operator()(effect::Send& what) const {
    const bool is_fence = std::holds_alternative<Fence>(what.message);
    const bool staged =
        ControlSender::SendControl(instance, peer, what.plane, std::move(what.message));
    if (staged && is_fence) instance.stats.counters.Add(Counter::kTxFences);
  }
  void operator()(effect::SendFrom& what) const {
    const HeaderTemplate header = instance.headers.With(peer, what.plane, what.number);
    const bool staged =
        ControlSender::SendControl(instance, peer, what.plane, header, std::move(what.message));
    if (staged) instance.stats.counters.Add(Counter::kTxSessions);
  }
  void operator()(const effect::Renumber& what) const {
    instance.headers.Renumber(peer, what.plane, what.slot, instance.peers);
  }
  void operator()(const effect::SendHeldUp& what) const {
    on.pauses_.SendHeldUp(instance, peer, what, now());
  }
  void operator()(const effect::Probe& what) const {
    // The probe finds out whether the peer is plain, which a sealed peer never is.
    if (instance.sealing.on() && instance.SealOf(peer).IsSealed()) return;
    ControlSender::SendUnsequenced(instance, NumberOf(what), {}, what.psn, Instance::kAckClass);
  }
  void operator()(const effect::ProbeLost& what) const { on.SendProbe(instance, NumberOf(what)); }
  void operator()(const effect::ScheduleAck& what) const {
    AckScheduler::Schedule(instance.rx, instance.ports, NumberOf(what),
                           instance.peers.connections[NumberOf(what)], now());
  }
  void operator()(const effect::Retransmit& what) const {
    on.stager_.WantRetransmission(instance, NumberOf(what));
  }
  void operator()(effect::Acknowledged& what) const {
    on.completions_.EndAcked(instance.tx, instance.stats, LinkOf(what),
                             instance.peers.connections[NumberOf(what)], what.pdus);
    on.EndOnPlane(instance, peer, what.plane);
  }
  void operator()(effect::GiveUp& what) const {
    if (what.hold_last) on.completions_.HoldLast(instance.tx, NumberOf(what), what.pdus);
    on.completions_.GiveUp(
        instance.tx, instance.stats, LinkOf(what), what.pdus,
        what.ending == Ending::kInDoubt ? SUEDE_STATUS_IN_DOUBT : SUEDE_STATUS_PEER_RESET);
    on.EndOnPlane(instance, peer, what.plane);
  }
  void operator()(effect::Requeue& what) const {
    on.completions_.Requeue(instance.tx, LinkOf(what), peer, what.pdus);
    on.EndOnPlane(instance, peer, what.plane);
  }
  void operator()(const effect::GiveUpQueued& what) const {
    on.completions_.GiveUpQueued(instance.tx, instance.stats, peer, what.vcs,
                                 SUEDE_STATUS_UNREACHABLE);
  }
  void operator()(const effect::MarkLost& what) const {
    MarkLost(instance.tx, peer, what.vcs, what.lost);
  }
  void operator()(const effect::Unblock& what) const {
    on.run_queue_.Unblock(instance.tx, peer, what.vcs);
  }
  void operator()(const effect::PlaceFlow& what) const {
    instance.tx.SetLane(peer, what.vcs, what.plane);
  }
  void operator()(const effect::CreditChange& what) const {
    on.ChangeCredit(instance, peer, what.step);
  }
  void operator()(const effect::CreditReceived& what) const {
    if (what.credit.grant) return on.credit_use_.OnGranted(instance, peer, what.credit);
    on.grants_.OnRequest(instance, peer, what.credit);
  }
  void operator()(const effect::CongestionReceived& what) const {
    if (what.congestion.request) {
      on.congestion_grants_.OnRequest(instance, peer, what.plane, what.congestion, now());
    }
    if (instance.tx.is_paced) {
      on.congestion_.OnCongestion(instance, peer, what.plane, what.congestion, now());
    }
  }
  void operator()(const effect::Emit& what) const {
    const LcoreEventKind kind = KindOf(what.event);
    if (what.event == PeerEvent::kUnreachable || what.event == PeerEvent::kReachable) {
      return on.lcore_.events.Emit(kind, instance, NumberOf(what));
    }
    on.lcore_.events.Emit({.kind = kind,
                           .plane = static_cast<uint8_t>(what.plane),
                           .what = what.what,
                           .peer_xpuid = instance.peers[peer].xpuid(),
                           .instance = instance.number,
                           .own = what.own,
                           .theirs = what.theirs});
  }
  void operator()(const effect::Count& what) const { instance.stats.counters.Add(what.counter); }
  void operator()(const effect::Arm& what) const {
    on.lcore_.timers.Arm(instance.peers, peer, what);
  }
  void operator()(const effect::CheckConnection& what) const {
    on.OnConnectionTimer(instance, NumberOf(what), now());
  }
  void operator()(const effect::ProbeFailed&) const { on.lcore_.has_failed_planes = true; }
};

void Effector::Apply(Instance& instance, PeerIndex peer, Effects& effects) {
  const OnePeer apply{*this, instance, peer};
  for (PeerEffect& one : effects.all()) std::visit(apply, one);
}

// Marks for packing whether the destination is unreachable.
void Effector::MarkLost(TransmitState& tx, PeerIndex peer, uint32_t vcs, bool lost) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if ((vcs & 1u << vc) == 0) continue;
    tx.scheduler.queue(Scheduler::IndexOf(peer, vc)).lost = lost;
  }
}

// Probes the far side of a lost connection for its expected PSN, in the class of the given-up PDUs,
// so that it answers after them. The probe acknowledges nothing, as its PSN may be implausible.
void Effector::SendProbe(Instance& instance, ConnectionIndex number) {
  Connection& connection = instance.peers.connections[number];
  const bool held = completions_.IsHeld(instance.tx, instance.ports, number);
  if (ControlSender::SendUnsequenced(instance, number, {}, connection.tx().ProbePsn(),
                                     connection.tx().probes().vc())) {
    connection.tx().probes().OnSent(held);
  }
}

void Effector::ChangeCredit(Instance& instance, PeerIndex peer, effect::CreditStep step) {
  switch (step) {
    case effect::CreditStep::kBegin:
      CreditUse::Begin(instance.peers, instance.tx, instance.rx, peer);
      return congestion_.Start(instance, peer);
    case effect::CreditStep::kEnd:
      granter_.Forget(instance.rx.credit, peer);
      congestion_grants_.Forget(instance.rx, instance.peers, peer);
      credit_use_.End(instance.tx, peer);
      return congestion_.Start(instance, peer);
    case effect::CreditStep::kUncounted:
      CreditUse::Uncounted(instance.tx, peer);
      return congestion_.Start(instance, peer);
    case effect::CreditStep::kGrantFirst:
      return grants_.GrantFirst(instance.rx, peer);
  }
}

// PDUs in flight on the plane have ended without an acknowledgement of the connection's own.
void Effector::EndOnPlane(Instance& instance, PeerIndex peer, PlaneIndex plane) {
  if (!instance.tx.is_paced) return;
  congestion_.OnEnded(instance.peers, instance.tx, *instance.ports[plane],
                      instance.map.PathAt(peer, plane), lcore_.now);
}

void Effector::OnConnectionTimer(Instance& instance, ConnectionIndex number, Time now) {
  const Connection& connection = instance.peers.connections[number];
  const PeerIndex peer = instance.map.PeerOf(number);
  const PlaneIndex plane = instance.map.PlaneOf(number);
  Hold hold = Hold::kNone;
  if (connection.tx().TimesOut(now)) [[unlikely]] {
    hold = CongestionUse::IsHeldBack(instance.tx, number)
               ? Hold::kOwn
               : pauses_.HoldOfConnection(instance, number, now);
  }
  Effects effects;
  instance.peers[peer].OnConnectionDeadline(plane, instance.map.NumberOf(number), hold, now,
                                            effects);
  Apply(instance, peer, effects);
}

}  // namespace suede
