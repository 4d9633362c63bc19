// SPDX-License-Identifier: Apache-2.0
#include "receive/flow_receiver.h"

namespace suede {

// Counts the PDUs of the run: their counters, credit and acknowledgement.
[[gnu::noinline]] void FlowReceiver::CountRun() {
  Instance& instance = *flow_.instance;
  const DeliveredRun run = run_;
  run_ = {};
  parts_.deliverer.CountRun(instance.stats.counters, flow_.target, run);
  if (rx().is_watched() || burst_.has_marks()) [[unlikely]]
    WatchRun(run);
  parts_.granter.OnAccepted(instance.rx.credit, flow_.peer, flow_.target.vc, *flow_.credit,
                            run.lines, run.widest);
  parts_.pause_requester.OnReceived(instance.rx, instance.ports, flow_.target.vc, now_);
  // The acknowledgement of the first PDU is scheduled already.
  if (run.pdus > 1) ScheduleAck();
}

// Counts PDUs of the flow, which may be duplicates or refused.
[[gnu::always_inline]] inline void FlowReceiver::CountArrived(uint32_t pdus, uint64_t bytes) {
  const bool marked = burst_.has_marks() && burst_.SeriesAt(series_).marked();
  if (!marked && !rx().counted()) return;
  parts_.congestion_grants.OnReceived(*flow_.instance, flow_.number, pdus, bytes, marked);
}

// Counts bytes of commands that were accepted, for a recording.
void FlowReceiver::CountRecorded(uint64_t bytes) {
  if (rx().recorded()) flow_.instance->rx.SumsOf(flow_.number).bytes += bytes;
}

// Adds PDUs of the connection to the trace.
[[gnu::cold]] void FlowReceiver::Trace(const Deliverer::Target& target, Psn first, uint32_t pdus,
                                       TraceState state) {
  Instance& instance = *flow_.instance;
  if (!instance.trace.follows_received()) return flow_.connection->rx().SetTraced(false);
  RingMark mark;
  if (state == TraceState::kDelivered) {
    mark.slot = parts_.lcore.clients.claimant(instance.number, target.vc);
    mark.client = target.client->client;
    mark.head = target.client->rings[target.vc].Mark();
  }
  instance.trace.OnReceived(TracePathOf(instance.map, instance.params, flow_.number, target.vc),
                            first, pdus, state, mark, now_);
}

[[gnu::cold]] void FlowReceiver::TraceDelivery(const Deliverer::Target& target, Psn psn,
                                               Delivery delivery) {
  switch (delivery) {
    case Delivery::kDelivered: {
      // (Or it was appended to a kept PDU.)
      const bool is_direct = Deliverer::DirectRing(flow_.instance->rx, target) != nullptr;
      return Trace(target, psn, 1, is_direct ? TraceState::kDelivered : TraceState::kKept);
    }
    case Delivery::kKept:
      return Trace(target, psn, 1, TraceState::kKept);
    case Delivery::kRefused:
      return Trace(target, psn, 1, TraceState::kRefused);
    case Delivery::kMalformed:
      return Trace(target, psn, 1, TraceState::kMalformed);
  }
}

// Counts a run for congestion control, recordings and traces.
[[gnu::noinline]] void FlowReceiver::WatchRun(const DeliveredRun& run) {
  CountArrived(run.pdus, run.bytes);
  CountRecorded(run.bytes);
  if (rx().traced())
    Trace(flow_.target, rx().expected().Plus(-static_cast<int>(run.pdus)), run.pdus,
          TraceState::kDelivered);
  parts_.congestion_grants.OnDelivered(flow_.instance->number, run);
  CheckMissing();
}

// PDUs of the flow were accepted: PDUs that a switch has trimmed, or that were announced, may be
// next.
[[gnu::noinline]] void FlowReceiver::CheckMissing() {
  ReceiveHalf& rx = flow_.connection->rx();
  if (rx.has_gap()) {
    rx.CheckGap(now_, flow_.instance->params.transport);
    if (rx.is_selective()) parts_.lcore.timers.ArmConnection(flow_.instance->peers, flow_.number);
  }
  if (!rx.awaits_trimmed()) return;
  if (rx.CheckTrimmed(flow_.instance->params.target.base_rtt, now_)) ScheduleAck();
}

// Returns whether the frame is kept.
[[gnu::cold]] bool FlowReceiver::OnUnexpected(PsnVerdict verdict, uint32_t i) {
  ReceiveHalf& rx = flow_.connection->rx();
  const bool ahead = verdict == PsnVerdict::kAhead;
  if (ahead && rx.is_selective()) return OnEarly(i);
  EndRun();
  CountArrived(1, burst_.CommandBytesAt(i));
  flow_.instance->stats.counters.Add(ahead ? Counter::kRxAhead : Counter::kRxDuplicate);
  if (rx.traced())
    Trace(flow_.target, burst_.rh(i).psn(), 1, ahead ? TraceState::kAhead : TraceState::kDuplicate);
  if (ahead) {
    rx.OnGap(now_, flow_.instance->params.transport);
  } else {
    rx.OnDuplicate(burst_.rh(i).psn(), flow_.instance->params.transport);
  }
  ScheduleAck();
  return false;
}

// Handles a PDU ahead of the expected one, of a connection that repairs selectively. Returns
// whether the frame is kept.
[[gnu::cold]] bool FlowReceiver::OnEarly(uint32_t i) {
  const ReceivedPdu pdu = TakeOut(i);
  Instance& instance = *flow_.instance;
  const TransportParams& transport = instance.params.transport;
  ReceiveHalf& rx = flow_.connection->rx();
  const Psn psn = pdu.rh.psn();
  CountArrived(1, pdu.bytes);
  bool kept = false;
  if (rx.MayAcceptEarly(psn)) {
    kept = KeepEarly(pdu);
  } else if (psn.DistanceFrom(rx.expected()) < rx.early_span()) {
    instance.stats.counters.Add(Counter::kRxDuplicate);
    rx.OnDuplicate(psn, transport);
    if (rx.traced()) Trace(flow_.target, psn, 1, TraceState::kDuplicate);
  } else {
    instance.stats.counters.Add(Counter::kRxAhead);
    if (rx.traced()) Trace(flow_.target, psn, 1, TraceState::kAhead);
  }
  if (rx.OnMissing(psn, now_, transport))
    parts_.lcore.timers.ArmConnection(instance.peers, flow_.number);
  ScheduleAck();
  return kept;
}

// Accepts a PDU ahead of the expected one; in strict order keeps it. Returns whether the frame is
// kept.
bool FlowReceiver::KeepEarly(const ReceivedPdu& pdu) {
  Instance& instance = *flow_.instance;
  ReceiveHalf& rx = flow_.connection->rx();
  if (!instance.peers[pdu.peer].hello().unordered) {
    const bool kept = parts_.early_keeper.Keep(instance, flow_.number, pdu);
    if (rx.traced())
      Trace(flow_.target, pdu.rh.psn(), 1, kept ? TraceState::kEarly : TraceState::kAhead);
    if (!kept) {
      instance.stats.counters.Add(Counter::kRxReorderFull);
      return false;
    }
    rx.NoteKept(pdu.rh.psn());
    instance.stats.counters.Add(Counter::kRxEarly);
    return true;
  }
  const Delivered delivered = Deliver(flow_.target, *flow_.credit, pdu);
  if (delivered.delivery == Delivery::kRefused) {
    instance.stats.counters.Add(Counter::kRxAhead);
    return false;
  }
  if (delivered.delivery == Delivery::kKept) series_ = ReceivedBurst::kNoSeries;
  rx.AcceptEarly(pdu.rh.psn());
  instance.stats.counters.Add(Counter::kRxEarly);
  return delivered.delivery == Delivery::kKept;
}

// The expected PDU was accepted: PDUs that have arrived ahead of it may follow.
[[gnu::cold]] void FlowReceiver::PassEarly() {
  ReceiveHalf& rx = flow_.connection->rx();
  if (rx.early().first_kept() == nullptr) return rx.PassEarly();
  while (rx.early().first_kept() != nullptr && rx.early().first_kept()->psn == rx.expected() &&
         DeliverKept()) {
  }
}

// Delivers the first kept PDU, which is the expected one. Returns false if it found no room.
bool FlowReceiver::DeliverKept() {
  Instance& instance = *flow_.instance;
  Pdu* const kept = EarlyKeeper::TakeFirst(instance, flow_.number);
  uint8_t rh[kRhBytes];
  EncodeRh({.xpuid = instance.peers[flow_.peer].xpuid(), .psn = kept->psn, .vc = kept->vc}, rh);
  const ReceivedPdu pdu{.rh = RhWord(rh),
                        .commands = kept->commands,
                        .bytes = kept->bytes,
                        .peer = flow_.peer,
                        .plane = flow_.plane,
                        .frame = FrameOf(kept)};
  const Vc vc(kept->vc);
  const Deliverer::Target target = parts_.deliverer.TargetOf(instance.rx, vc, pdu.rh.xpuid());
  const Delivered delivered = Deliver(target, instance.rx.credit.At(flow_.peer, vc), pdu);
  const bool accepted = delivered.delivery != Delivery::kRefused;
  ReceiveHalf& rx = flow_.connection->rx();
  if (accepted) {
    rx.AcceptKept();
  } else {
    rx.ForgetKept(pdu.rh.psn());
    parts_.refusals.OnRefusal(instance, flow_.number, pdu, delivered.lines);
  }
  if (delivered.delivery != Delivery::kKept) instance.home().link.frames().ReleasePdu(kept);
  return accepted;
}

// Delivers a PDU, and counts what becomes of it.
Delivered FlowReceiver::Deliver(const Deliverer::Target& target, RxCredit& credit,
                                const ReceivedPdu& pdu) {
  Instance& instance = *flow_.instance;
  const uint64_t before = instance.stats.counters.Get(Counter::kRxCommandBytes);
  const Delivered delivered =
      parts_.deliverer.Deliver(instance.rx, instance.stats.counters, target, pdu);
  switch (delivered.delivery) {
    case Delivery::kDelivered:
    case Delivery::kKept:
      parts_.granter.OnAccepted(instance.rx.credit, flow_.peer, target.vc, credit, delivered.lines,
                                delivered.lines);
      instance.stats.counters.Add(Counter::kRxPdus);
      CountRecorded(instance.stats.counters.Get(Counter::kRxCommandBytes) - before);
      break;
    case Delivery::kRefused:
      break;
    case Delivery::kMalformed:
      // The PDU is as its peer has sent it; a retransmission would not differ.
      instance.stats.counters.Add(Counter::kRxMalformed);
      parts_.lcore.events.EmitMalformed(instance, flow_.peer, pdu.rh.vc(), now_);
      break;
  }
  if (rx().traced()) TraceDelivery(target, pdu.rh.psn(), delivered.delivery);
  parts_.pause_requester.OnReceived(instance.rx, instance.ports, target.vc, now_);
  return delivered;
}

// Delivers an expected PDU that no ring takes directly. Returns whether the frame is kept.
[[gnu::noinline]] bool FlowReceiver::DeliverOne(uint32_t i) {
  const ReceivedPdu pdu = TakeOut(i);
  CountArrived(1, pdu.bytes);
  const Delivered delivered = Deliver(flow_.target, *flow_.credit, pdu);
  // Later PDUs may have to wait behind this PDU.
  series_ = ReceivedBurst::kNoSeries;
  if (delivered.delivery == Delivery::kRefused) {
    parts_.refusals.OnRefusal(*flow_.instance, flow_.number, pdu, delivered.lines);
    return false;
  }
  flow_.connection->rx().Accept();
  if (rx().has_early()) PassEarly();
  OnAccepted();
  return delivered.delivery == Delivery::kKept;
}

// A PDU was accepted alone.
void FlowReceiver::OnAccepted() {
  ScheduleAck();
  if (rx().is_watched()) CheckMissing();
}

}  // namespace suede
