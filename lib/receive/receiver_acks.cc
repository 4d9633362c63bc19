// SPDX-License-Identifier: Apache-2.0
// Receiver: acknowledgements and NACKs of a peer.
#include "receive/receiver.h"

namespace suede {

void Receiver::OnRpsn(Instance& instance, ConnectionIndex number, RhOp op, Psn rpsn, Time now) {
  Connection& connection = instance.connections[number];
  const TransportParams& params = instance.params.transport;
  const uint32_t bytes = connection.unacked_bytes();
  PduList acked;
  RpsnVerdict verdict;
  if (op == RhOp::kAck) {
    verdict = connection.OnAck(rpsn, now, params, acked);
  } else {
    instance.counters.Add(Counter::kRxNacks);
    if (instance.ping.probe != 0) [[unlikely]] {
      instance.ping.OnNack(instance.map.PeerOf(number), instance.map.PlaneOf(number), now);
    }
    verdict = connection.OnNack(rpsn, now, params, acked);
    if (connection.HasRetransmission()) stager_.WantRetransmission(instance, number);
    lcore_.timers.ArmConnection(instance, number);
  }
  if (verdict == RpsnVerdict::kNothingNew) return;
  if (verdict == RpsnVerdict::kOutOfWindow) {
    instance.counters.Add(Counter::kRxRpsnInvalid);
    return;
  }
  if (verdict == RpsnVerdict::kResumed) {
    OnResumed(instance, number);
  }
  if (instance.own.has_sessions && !acked.empty()) {
    const PlaneIndex plane = instance.map.PlaneOf(number);
    instance.peer_of(number).OnProof(plane, now);
    if (connection.unacked_bytes() == 0) instance.own.OnIdle(plane);
  }
  OnAcked(instance, number, bytes - connection.unacked_bytes(), acked);
  if (instance.blocked[instance.map.PeerOf(number)] != 0) run_queue_.Unblock(instance, number);
}

// `bytes`: of the commands in `acked`.
[[gnu::always_inline]] inline void Receiver::OnAcked(Instance& instance, ConnectionIndex number,
                                                     uint32_t bytes, PduList& acked) {
  const PeerIndex peer = instance.map.PeerOf(number);
  if (instance.is_paced) {
    congestion_.OnAcked(instance, number, acked, bytes, lcore_.now);
  }
  const PlaneIndex plane = instance.map.PlaneOf(number);
  if (instance.connections[number].has_aside()) [[unlikely]]
    instance.peers[peer].TakeBack(plane, instance.map.NumberOf(number));
  instance.CountOut(peer, plane, bytes);
  completions_.EndAcked(instance, number, acked);
  if (instance.paths[peer].moving == 0) [[likely]]
    return;
  instance.peers[peer].placement().OnEnded(EffectsFor(instance, peer));
}

// The PDU's own PSN is implausible: too far from those that the peer has sent.
[[gnu::cold]] void Receiver::OnImplausible(Instance& instance, ConnectionIndex number, RhOp op,
                                           Psn rpsn, Time now) {
  Connection& connection = instance.connections[number];
  // A peer that does not speak HELLO may have restarted, and announces that in no other way.
  if (connection.lost() && instance.peer_of(number).handshake().plain()) {
    return OnRpsn(instance, number, op, rpsn, now);
  }
  connection.OnImplausible();
  instance.counters.Add(Counter::kRxRpsnImplausible);
}

[[gnu::cold]] void Receiver::OnResumed(Instance& instance, ConnectionIndex number) {
  completions_.LetGo(instance, number);
  const PeerIndex peer = instance.map.PeerOf(number);
  instance.peers[peer].OnResumed(instance.map.PlaneOf(number), instance.map.NumberOf(number),
                                 EffectsFor(instance, peer));
}

}  // namespace suede
