// SPDX-License-Identifier: Apache-2.0
#include "receive/ack_scheduler.h"

#include "frame/control_sender.h"

namespace suede {

[[gnu::noinline]] void AckScheduler::ScheduleDelayed(ReceiveState& rx, const PlanePorts& ports,
                                                     ConnectionIndex number,
                                                     const Connection& connection, Time now) {
  if (!connection.rx().HasPendingAck()) return;
  rx.ack_flags[number] |= ReceiveState::kOnAckList;
  const PlaneIndex plane = rx.map.PlaneOf(number);
  DelayedAcks& list = ports[plane]->ack_due[rx.ack_list[plane]];
  list.due.push_back({rx.number, number, now});
}

// Sends acknowledgements that the data of this poll iteration has not piggybacked. If the port has
// no room, only its own acknowledgements wait.
void AckScheduler::Send(PortContext& port, Time now) {
  for (; !port.ack_now.empty(); port.ack_now.pop_front()) {
    const ConnectionRef ref = port.ack_now.front();
    if (!Flush(*lcore_.instances[ref.instance], ref.connection, ReceiveState::kOnAckNow)) return;
  }
  for (DelayedAcks& list : port.ack_due) {
    if (!list.due.empty() && !SendDelayed(port, list, now)) return;
  }
}

// Sends the oldest first. A waiting acknowledgement covers PDUs that arrive meanwhile: so while
// data arrives, an acknowledgement that may leave waits until the budget permits it, or its bound
// expires.
bool AckScheduler::SendDelayed(PortContext& port, DelayedAcks& list, Time now) {
  AckBudget& budget = port.ack_budget;
  const bool quiet = now - budget.received_at >= list.quiet;
  for (; !list.due.empty(); list.due.pop_front()) {
    const AckDue& due = list.due.front();
    const Duration waited = now - due.since;
    if (waited < list.delay) break;
    if (waited < list.bound && !quiet && !budget.HasAck()) break;
    Instance& instance = *lcore_.instances[due.instance];
    if (instance.peers.connections[due.connection].rx().HasPendingAck()) budget.Spend();
    if (!Flush(instance, due.connection, ReceiveState::kOnAckList)) return false;
  }
  return true;
}

// Acknowledges for the first connection on `list`. Returns false if the connection has to stay
// there.
bool AckScheduler::Flush(Instance& instance, ConnectionIndex number, uint8_t list) {
  const bool is_pending = !instance.down && instance.peers.connections[number].rx().HasPendingAck();
  if (is_pending && !SendAck(instance, number)) return false;
  instance.rx.ack_flags[number] &= static_cast<uint8_t>(~list);
  return true;
}

// Sends the acknowledgement in a PDU of its own. Returns false if there is no room to stage it.
bool AckScheduler::SendAck(Instance& instance, ConnectionIndex number) {
  Link& link = instance.ports[instance.map.PlaneOf(number)]->link;
  Connection& connection = instance.peers.connections[number];
  if (instance.peers.IsResolving(instance.map.PeerOf(number), instance.map.PlaneOf(number)))
      [[unlikely]] {
    connection.rx().TakeRpsn();  // the acknowledgement counts as lost in transit
    instance.stats.counters.Add(Counter::kTxNoMac);
    return true;
  }
  if (!link.HasFrontRoom() || !link.frames().Has(1)) return false;
  if (connection.rx().WantsReport()) [[unlikely]] {
    SendReport(instance, number);
    return true;
  }
  const RpsnField field = connection.rx().TakeRpsn();
  ControlSender::SendAck(instance, number, field, UnsequencedPsn(instance.rx, link, connection));
  instance.stats.counters.Add(Counter::kTxAcks);
  if (field.op == RhOp::kNack) instance.stats.counters.Add(Counter::kTxNacks);
  return true;
}

// Acknowledges by a report: of PDUs that have arrived early, or are missing.
[[gnu::cold]] void AckScheduler::SendReport(Instance& instance, ConnectionIndex number) {
  ReceiveHalf& rx = instance.peers.connections[number].rx();
  ControlSender::SendControl(instance, instance.map.PeerOf(number), instance.map.PlaneOf(number),
                             instance.map.SessionOf(number),
                             Repair{.vc = static_cast<uint8_t>(instance.map.VcOf(number)),
                                    .expected = rx.expected(),
                                    .marks = rx.TakeReport()});
  instance.stats.counters.Add(Counter::kTxRepairs);
}

// Returns the PSN of the next sequenced PDU to leave: PDUs that wait in the burst have not left,
// and the acknowledgement overtakes them.
Psn AckScheduler::UnsequencedPsn(const ReceiveState& rx, const Link& link,
                                 const Connection& connection) const {
  const Pdu* newest = connection.in_flight().newest();
  if (newest == nullptr || !newest->note.staged() || connection.tx().lost()) [[likely]] {
    return connection.tx().UnsequencedPsn();
  }
  for (Frame* frame : link.staged()) {
    if (NoteOf(frame).kind != TxKind::kKept) continue;
    const Pdu* pdu = PduOf(frame);
    const bool of_connection =
        pdu->peer == newest->peer && rx.map.KeyOf(Vc(pdu->vc)) == rx.map.KeyOf(Vc(newest->vc)) &&
        // Another session's PDU that passes this check has a PSN that serves as well.
        newest->psn.DistanceFrom(pdu->psn) >= 0 &&
        newest->psn.DistanceFrom(pdu->psn) < int{kBurst} &&
        lcore_.clients.queue(pdu->runs[0].queue).instance == rx.number;
    if (of_connection && !pdu->retransmitted) return pdu->psn;
  }
  return connection.tx().UnsequencedPsn();
}

[[gnu::noinline]] void AckScheduler::ScheduleNow(ReceiveState& rx, const PlanePorts& ports,
                                                 ConnectionIndex number) {
  uint8_t& flags = rx.ack_flags[number];
  if ((flags & ReceiveState::kOnAckNow) != 0) return;
  flags |= ReceiveState::kOnAckNow;
  ports[rx.map.PlaneOf(number)]->ack_now.push_back({rx.number, number});
}

}  // namespace suede
