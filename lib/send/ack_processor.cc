// SPDX-License-Identifier: Apache-2.0
#include "send/ack_processor.h"

namespace suede {

void AckProcessor::OnRpsn(Instance& instance, ConnectionIndex number, RhOp op, Psn rpsn,
                          PeerEffects& effects) {
  Connection& connection = instance.peers.connections[number];
  const Time now = lcore_.now;
  const uint32_t bytes = connection.in_flight().bytes();
  PduList acked;
  const RpsnVerdict verdict = op == RhOp::kAck
                                  ? connection.tx().OnAck(rpsn, now, instance.params.transport, acked)
                                  : OnNack(instance, number, rpsn, acked);
  if (verdict == RpsnVerdict::kNothingNew) return;
  OnVerdict(instance, number, verdict, bytes, acked, effects);
}

// `bytes`: in flight before `acked` were acknowledged.
[[gnu::always_inline]] inline void AckProcessor::OnVerdict(Instance& instance,
                                                           ConnectionIndex number,
                                                           RpsnVerdict verdict, uint32_t bytes,
                                                           PduList& acked, PeerEffects& effects) {
  const Connection& connection = instance.peers.connections[number];
  if (verdict == RpsnVerdict::kOutOfWindow) {
    instance.stats.counters.Add(Counter::kRxRpsnInvalid);
    return;
  }
  if (verdict == RpsnVerdict::kResumed) OnResumed(instance.peers, instance.tx, number, effects);
  if (instance.peers.own.has_sessions && !acked.empty()) {
    const PlaneIndex plane = instance.map.PlaneOf(number);
    instance.peers.Of(number).health().OnProof(plane, lcore_.now);
    if (connection.in_flight().oldest() == nullptr) instance.peers.own.OnIdle(plane);
  }
  OnAcked(instance, number, bytes - connection.in_flight().bytes(), acked, effects);
  if (instance.tx.blocked[instance.map.PeerOf(number)] != 0)
    run_queue_.Unblock(instance.peers, instance.tx, number);
}

[[gnu::cold]] void AckProcessor::OnRepair(Instance& instance, ConnectionIndex number,
                                          const Repair& repair, PeerEffects& effects) {
  Connection& connection = instance.peers.connections[number];
  const uint32_t bytes = connection.in_flight().bytes();
  PduList acked;
  InFlight::Wanted again;
  const RpsnVerdict verdict = connection.tx().OnRepair(repair.expected, repair.marks, lcore_.now,
                                                       instance.params.transport, acked, again);
  if (again.pdus != 0) {
    if (instance.tx.is_paced) congestion_.OnWanted(instance, number, again, lcore_.now);
    stager_.Repair(instance, number);
  }
  lcore_.timers.ArmConnection(instance.peers, number);
  if (verdict == RpsnVerdict::kNothingNew) return;
  OnVerdict(instance, number, verdict, bytes, acked, effects);
}

[[gnu::cold]] void AckProcessor::OnImplausible(Instance& instance, ConnectionIndex number, RhOp op,
                                               Psn rpsn, PeerEffects& effects) {
  Connection& connection = instance.peers.connections[number];
  // A peer that does not speak HELLO may have restarted, and announces that in no other way.
  if (connection.tx().lost() && instance.peers.Of(number).handshake().plain()) {
    return OnRpsn(instance, number, op, rpsn, effects);
  }
  connection.tx().OnImplausible();
  instance.stats.counters.Add(Counter::kRxRpsnImplausible);
}

RpsnVerdict AckProcessor::OnNack(Instance& instance, ConnectionIndex number, Psn rpsn,
                                 PduList& acked) {
  Connection& connection = instance.peers.connections[number];
  const Time now = lcore_.now;
  instance.stats.counters.Add(Counter::kRxNacks);
  if (instance.ping.probe != 0) [[unlikely]] {
    instance.ping.OnNack(instance.map.PeerOf(number), instance.map.PlaneOf(number), now);
  }
  const RpsnVerdict verdict = connection.tx().OnNack(rpsn, now, instance.params.transport, acked);
  if (connection.in_flight().HasRetransmission()) stager_.WantRetransmission(instance, number);
  lcore_.timers.ArmConnection(instance.peers, number);
  return verdict;
}

// `bytes`: of the commands in `acked`.
[[gnu::always_inline]] inline void AckProcessor::OnAcked(Instance& instance, ConnectionIndex number,
                                                         uint32_t bytes, PduList& acked,
                                                         PeerEffects& effects) {
  const PeerIndex peer = instance.map.PeerOf(number);
  if (instance.tx.is_paced) {
    congestion_.OnAcked(instance, number, acked, bytes, lcore_.now);
  }
  const PlaneIndex plane = instance.map.PlaneOf(number);
  Connection& connection = instance.peers.connections[number];
  if (connection.tx().has_aside()) [[unlikely]]
    instance.peers[peer].flight().TakeBack(plane, instance.map.NumberOf(number));
  instance.peers.CountOut(peer, plane, bytes);
  completions_.EndAcked(instance.tx, instance.stats, instance.ports[plane]->link, connection,
                        acked);
  if (instance.peers.paths[peer].moving == 0) [[likely]]
    return;
  instance.peers[peer].choice().OnEnded(effects.For({instance.number, peer}));
}

[[gnu::cold]] void AckProcessor::OnResumed(PeerArrays& peers, TransmitState& tx,
                                           ConnectionIndex number, PeerEffects& effects) {
  completions_.LetGo(tx, number);
  const PeerIndex peer = tx.map.PeerOf(number);
  peers[peer].reach().OnResumed(tx.map.PlaneOf(number), tx.map.NumberOf(number),
                                effects.For({tx.number, peer}));
}

}  // namespace suede
