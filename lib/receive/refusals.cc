// SPDX-License-Identifier: Apache-2.0
#include "receive/refusals.h"

#include "frame/control_sender.h"

namespace suede {

void Refusals::OnRefusal(Instance& instance, ConnectionIndex number, ReceivedPdu pdu,
                         uint32_t lines) {
  Connection& connection = instance.peers.connections[number];
  instance.stats.counters.Add(Counter::kRxNotReady);
  const bool is_first = !connection.rx().not_ready();
  connection.rx().OnRefused();
  if (is_first) {
    refused_.push_back({.instance = instance.number,
                        .connection = number,
                        .lines = lines,
                        .psn = pdu.rh.psn(),
                        .vc = Vc(pdu.rh.vc())});
  }
  const Duration backoff = connection.rx().RefusalWait(instance.params.transport);
  ControlSender::SendControl(instance, pdu.peer, pdu.plane, instance.map.SessionOf(number),
                             NotReady{.vc = pdu.rh.vc(),
                                      .expected = pdu.rh.psn(),
                                      .backoff_us = static_cast<uint32_t>(backoff.count() / 1000)});
}

// Sends READY to senders of refused PDUs if there is room now.
void Refusals::SendReadyOfAll() {
  for (size_t i = refused_.size(); i != 0; --i) {
    const Refused refused = refused_.front();
    refused_.pop_front();
    Instance& instance = *lcore_.instances[refused.instance];
    const Connection& connection = instance.peers.connections[refused.connection];
    // The PDU was retransmitted and accepted; a later PDU may have been refused since.
    if (!connection.rx().not_ready() || connection.rx().expected() != refused.psn) continue;
    const uint32_t client = lcore_.clients.claimant(instance.number, refused.vc);
    const bool room = client == ClientTable::kNone
                          ? instance.rx.unclaimed_count[refused.vc] < instance.params.unclaimed_pdus
                          : instance.rx.unclaimed[refused.vc].empty() &&
                                lcore_.clients.ring(client, refused.vc).HasRoom(refused.lines);
    const PeerIndex peer = instance.map.PeerOf(refused.connection);
    const PlaneIndex plane = instance.map.PlaneOf(refused.connection);
    if (!room || !ControlSender::SendControl(instance, peer, plane,
                                             instance.map.SessionOf(refused.connection),
                                             Ready{.vc = static_cast<uint8_t>(refused.vc),
                                                   .expected = connection.rx().expected()})) {
      refused_.push_back(refused);
      continue;
    }
    // If READY is lost, the sender's own wait expires, and another refusal brings the PDU back
    // here.
    instance.peers.connections[refused.connection].rx().OnRoom();
  }
}

// Makes room for one entry per connection between poll iterations; within an iteration each
// received frame may add another.
void Refusals::AddInstance() {
  refused_.Reserve(lcore_.timers.count() + lcore_.ports.size() * 2 * kBurst);
}

}  // namespace suede
