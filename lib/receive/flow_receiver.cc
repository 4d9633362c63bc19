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

// Counts a run for congestion control and recordings.
[[gnu::noinline]] void FlowReceiver::WatchRun(const DeliveredRun& run) {
  CountArrived(run.pdus, run.bytes);
  CountRecorded(run.bytes);
  parts_.congestion_grants.OnDelivered(flow_.instance->number, run);
  CheckMissing();
}

// PDUs of the flow were accepted: PDUs that a switch has trimmed, or that were announced, may be
// next.
[[gnu::noinline]] void FlowReceiver::CheckMissing() {
  ReceiveHalf& rx = flow_.connection->rx();
  if (rx.has_gap()) rx.CheckGap(now_, flow_.instance->params.transport);
  if (!rx.awaits_trimmed()) return;
  if (rx.CheckTrimmed(flow_.instance->params.target.base_rtt, now_)) ScheduleAck();
}

[[gnu::cold]] void FlowReceiver::OnUnexpected(PsnVerdict verdict, uint32_t i) {
  EndRun();
  CountArrived(1, burst_.CommandBytesAt(i));
  ReceiveHalf& rx = flow_.connection->rx();
  const bool ahead = verdict == PsnVerdict::kAhead;
  flow_.instance->stats.counters.Add(ahead ? Counter::kRxAhead : Counter::kRxDuplicate);
  if (ahead) {
    rx.OnGap(now_, flow_.instance->params.transport);
  } else {
    rx.OnDuplicate(burst_.rh(i).psn(), flow_.instance->params.transport);
  }
  ScheduleAck();
}

// Delivers an expected PDU that no ring takes directly. Returns whether the frame is kept.
[[gnu::noinline]] bool FlowReceiver::DeliverOne(uint32_t i) {
  const ReceivedPdu pdu = TakeOut(i);
  Instance& instance = *flow_.instance;
  CountArrived(1, pdu.bytes);
  const uint64_t before = instance.stats.counters.Get(Counter::kRxCommandBytes);
  const Delivered delivered =
      parts_.deliverer.Deliver(instance.rx, instance.stats.counters, flow_.target, pdu);
  // Later PDUs may have to wait behind this PDU.
  series_ = ReceivedBurst::kNoSeries;
  switch (delivered.delivery) {
    case Delivery::kDelivered:
    case Delivery::kKept:
      flow_.connection->rx().Accept();
      parts_.granter.OnAccepted(instance.rx.credit, flow_.peer, flow_.target.vc, *flow_.credit,
                                delivered.lines, delivered.lines);
      instance.stats.counters.Add(Counter::kRxPdus);
      CountRecorded(instance.stats.counters.Get(Counter::kRxCommandBytes) - before);
      OnAccepted();
      break;
    case Delivery::kRefused:
      parts_.refusals.OnRefusal(instance, flow_.number, pdu, delivered.lines);
      break;
    case Delivery::kMalformed:
      // The PDU is as its peer has sent it; a retransmission would not differ.
      flow_.connection->rx().Accept();
      instance.stats.counters.Add(Counter::kRxMalformed);
      parts_.lcore.events.EmitMalformed(instance, flow_.peer, pdu.rh.vc(), now_);
      OnAccepted();
      break;
  }
  parts_.pause_requester.OnReceived(instance.rx, instance.ports, flow_.target.vc, now_);
  return delivered.delivery == Delivery::kKept;
}

// A PDU was accepted alone.
void FlowReceiver::OnAccepted() {
  ScheduleAck();
  if (rx().is_watched()) CheckMissing();
}

}  // namespace suede
