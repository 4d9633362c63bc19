// SPDX-License-Identifier: Apache-2.0
// Does what a peer wants done: sends, ends PDUs or puts them back, tells, counts, arms timers. What
// each effect means is said in peer/effects.h; nothing is decided here.
#include "pipeline/pipeline.h"

namespace suede {
namespace {

LcoreEventKind KindOf(PeerEvent event) {
  switch (event) {
    case PeerEvent::kReset:
      return LcoreEventKind::kPeerReset;
    case PeerEvent::kUnreachable:
      return LcoreEventKind::kPeerUnreachable;
    case PeerEvent::kReachable:
      return LcoreEventKind::kPeerReachable;
    case PeerEvent::kHelloMismatch:
      return LcoreEventKind::kHelloMismatch;
    case PeerEvent::kPlaneUp:
      return LcoreEventKind::kPlaneUp;
    case PeerEvent::kPlaneDown:
      return LcoreEventKind::kPlaneDown;
    case PeerEvent::kFenceOpened:
      return LcoreEventKind::kFenceOpened;
  }
  return LcoreEventKind::kPeerReset;
}

}  // namespace

struct Pipeline::EffectsOf {
  Pipeline& pipeline;
  Instance& instance;
  const uint32_t peer;

  template <typename T>
  uint32_t NumberOf(const T& what) const {
    return instance.ConnectionIndex(peer, what.plane, what.vc);
  }
  Time now() const { return pipeline.last_turn_; }

  void operator()(effect::Say& what) const {
    const bool staged = pipeline.SendControl(instance, peer, what.plane, what.message);
    if (staged && std::holds_alternative<Fence>(what.message)) {
      instance.counters.Add(Counter::kTxFences);
    }
  }
  void operator()(const effect::SayHeldUp& what) const {
    pipeline.SayHeldUp(instance, peer, what, now());
  }
  void operator()(const effect::Probe& what) const {
    pipeline.SendUnsequenced(instance, NumberOf(what), {}, what.psn, Instance::kAckClass);
  }
  void operator()(const effect::ProbeLost& what) const {
    pipeline.SendProbe(instance, NumberOf(what));
  }
  void operator()(const effect::OweAck& what) const {
    pipeline.OweAck(instance, NumberOf(what), now());
  }
  void operator()(const effect::Retransmit& what) const {
    pipeline.WantRetransmission(instance, NumberOf(what));
  }
  void operator()(effect::Acknowledged& what) const {
    pipeline.EndAcked(instance, NumberOf(what), what.pdus);
  }
  void operator()(effect::GiveUp& what) const {
    if (what.hold_last) pipeline.HoldLast(instance, NumberOf(what), what.pdus);
    pipeline.Complete(
        instance, what.pdus, what.plane,
        what.ending == Ending::kInDoubt ? SUEDE_STATUS_IN_DOUBT : SUEDE_STATUS_PEER_RESET);
  }
  void operator()(effect::Requeue& what) const {
    pipeline.Requeue(instance, peer, what.plane, what.pdus);
  }
  void operator()(const effect::GiveUpQueued& what) const {
    pipeline.GiveUpQueued(instance, peer, what.vcs, SUEDE_STATUS_UNREACHABLE);
  }
  void operator()(const effect::MarkLost& what) const {
    pipeline.MarkLost(instance, peer, what.vcs, what.lost);
  }
  void operator()(const effect::Unblock& what) const { pipeline.Unblock(instance, peer, what.vcs); }
  void operator()(const effect::Home& what) const {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lane = what.plane;
    }
  }
  void operator()(const effect::CreditChange& what) const {
    switch (what.step) {
      case effect::CreditStep::kBegin:
        BeginCredit(instance, peer);
        break;
      case effect::CreditStep::kEnd:
        pipeline.EndCredit(instance, peer);
        break;
      case effect::CreditStep::kUncounted:
        NoCredit(instance, peer);
        break;
      case effect::CreditStep::kGrantFirst:
        pipeline.GrantFirst(instance, peer);
        break;
    }
  }
  void operator()(const effect::CreditHeard& what) const {
    pipeline.OnCredit(instance, peer, what.credit);
  }
  void operator()(const effect::Tell& what) const {
    const LcoreEventKind kind = KindOf(what.event);
    if (what.event == PeerEvent::kUnreachable || what.event == PeerEvent::kReachable) {
      return pipeline.Tell(kind, instance, NumberOf(what));
    }
    pipeline.Tell({.kind = kind,
                   .plane = what.plane,
                   .what = what.what,
                   .peer_xpuid = instance.peers[peer].xpuid(),
                   .instance = instance.number,
                   .own = what.own,
                   .theirs = what.theirs});
  }
  void operator()(const effect::Count& what) const { instance.counters.Add(what.counter); }
  void operator()(const effect::Arm& what) const { pipeline.Arm(instance, peer, what); }
  void operator()(const effect::LookAt& what) const {
    pipeline.OnConnectionTimer(instance, NumberOf(what), now());
  }
};

void Pipeline::Apply(Instance& instance, uint32_t peer, Effects& effects) {
  const EffectsOf apply{*this, instance, peer};
  for (PeerEffect& one : effects.all()) std::visit(apply, one);
}

}  // namespace suede
