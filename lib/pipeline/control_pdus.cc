// SPDX-License-Identifier: Apache-2.0
// What endpoints tell each other in control PDUs (docs/control-pdus.md): READY, and the way of the
// others to and from lib/peer.
#include "pipeline/pipeline.h"
#include "wire/control_pdu.h"

namespace suede {

// False where there was no room to stage it: it is as if it were lost on the way.
bool Pipeline::SendControl(Instance& instance, uint32_t peer, uint32_t plane,
                           ControlMessage message) {
  Link& link = instance.ports[plane]->link;
  if (instance.IsResolving(peer, plane)) [[unlikely]] {
    instance.counters.Add(Counter::kTxNoMac);
    return true;  // it is lost on the way
  }
  if (instance.down || !link.HasFrontRoom() || !link.HasFrames(1)) return false;
  Frame* frame = link.NewFrame();
  IdentitiesOf(message) = instance.peers[peer].handshake().identities();
  if (auto* hello = std::get_if<Hello>(&message)) {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      hello->credit_lines[vc] = instance.rx_credit[Scheduler::QueueIndex(peer, vc)].limit;
    }
  }
  const uint32_t bytes = EncodeControl(message, frame->buffer + Frame::kCommandOffset);
  WriteOneShot(instance, peer, plane, frame, bytes, Instance::kAckClass,
               ControlRh(instance.params.xpuid, instance.params.partition));
  link.StageFront(frame);
  instance.counters.Add(Counter::kTxControlPdus);
  return true;
}

[[gnu::cold]] void Pipeline::OnControlPdu(Instance& instance, const ReceivedPdu& pdu, Time now) {
  ControlMessage message;
  switch (DecodeControl(pdu.commands, pdu.bytes, message)) {
    case ControlError::kNone: break;
    case ControlError::kUnknownType:
      instance.counters.Add(Counter::kRxControlUnknown);
      return;
    case ControlError::kMalformed:
      instance.counters.Add(Counter::kRxControlMalformed);
      return;
  }
  instance.counters.Add(Counter::kRxControlPdus);
  Peer::ControlFacts facts{.waits = instance.blocked[pdu.peer] != 0};
  if (const auto* hello = std::get_if<Hello>(&message)) {
    facts.is_pong = TakePong(instance, pdu.peer, *hello, now);
  }
  Effects effects;
  instance.peers[pdu.peer].OnControl(pdu.plane, message, facts, now, effects);
  Apply(instance, pdu.peer, effects);
}

// Tells senders whose PDU was refused that there is room now.
void Pipeline::SendReady() {
  for (size_t i = refused_.size(); i != 0; --i) {
    const Refused refused = refused_.front();
    refused_.pop_front();
    Instance& instance = *instances_[refused.instance];
    const Connection& connection = instance.connections[refused.connection];
    // It came again and was accepted; a later one may have been refused since.
    if (!connection.not_ready() || connection.expected() != refused.psn) continue;
    const uint32_t client = ClaimantOf(instance, refused.vc);
    const bool room = client == kNoClient
                          ? instance.unclaimed_count[refused.vc] < instance.params.unclaimed_pdus
                          : instance.unclaimed[refused.vc].empty() &&
                                clients_.ring(client, refused.vc).HasRoom(refused.lines);
    const uint32_t peer = instance.PeerOfConnection(refused.connection);
    const uint32_t plane = instance.PlaneOfConnection(refused.connection);
    if (!room || !SendControl(instance, peer, plane,
                              Ready{.vc = refused.vc, .expected = connection.expected()})) {
      refused_.push_back(refused);
      continue;
    }
    // Should it get lost: the sender's own wait ends some time, and another refusal asks again.
    instance.connections[refused.connection].OnRoom();
  }
}

}  // namespace suede
