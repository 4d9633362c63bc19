// SPDX-License-Identifier: Apache-2.0
// What endpoints tell each other in control PDUs (docs/control-pdus.md): NOT_READY, READY, and the way
// of the others to associations.cc, planes.cc and failover.cc.
#include "pipeline/pipeline.h"
#include "wire/control_pdu.h"

namespace suede {

// False where there was no room to stage it: it is as if it were lost on the way.
bool Pipeline::SendControl(Instance& instance, uint32_t peer, uint32_t plane,
                           ControlMessage message) {
  Link& link = instance.ports[plane]->link;
  if (instance.resolving[instance.PlaneIndex(peer, plane)] != 0) [[unlikely]] {
    instance.counters.Add(Counter::kTxNoMac);
    return true;  // it is lost on the way
  }
  if (instance.down || !link.HasFrontRoom() || !link.HasFrames(1)) return false;
  Frame* frame = link.NewFrame();
  IdentitiesOf(message) = instance.handshakes[peer].identities();
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
  if (const auto* hello = std::get_if<Hello>(&message)) {
    OnHello(instance, pdu.peer, pdu.plane, *hello, now);
  } else if (!IsOfAssociation(instance, pdu.peer, pdu.plane, IdentitiesOf(message))) {
    return;
  } else if (const auto* not_ready = std::get_if<NotReady>(&message)) {
    OnNotReady(instance, pdu, *not_ready, now);
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    const uint32_t number = instance.ConnectionIndex(pdu.peer, pdu.plane, ready->vc);
    instance.connections[number].OnReady(ready->expected, now);
    OnConnectionTimer(instance, number, now);
  } else if (const auto* plane = std::get_if<PlaneHello>(&message)) {
    OnPlane(instance, pdu.peer, pdu.plane, *plane, now);
  } else if (const auto* fence = std::get_if<Fence>(&message)) {
    OnFence(instance, pdu.peer, pdu.plane, *fence, now);
  } else if (const auto* fenced = std::get_if<Fenced>(&message)) {
    OnFenced(instance, pdu.peer, *fenced, now);
  } else if (const auto* credit = std::get_if<Credit>(&message)) {
    OnCredit(instance, pdu.peer, *credit);
  }
}

void Pipeline::OnNotReady(Instance& instance, const ReceivedPdu& pdu, const NotReady& message,
                          Time now) {
  const uint32_t number = instance.ConnectionIndex(pdu.peer, pdu.plane, message.vc);
  PduList acked;
  const RpsnVerdict verdict = instance.connections[number].OnNotReady(
      message.expected, std::chrono::microseconds(message.backoff_us), now,
      instance.params.transport, acked);
  if (verdict == RpsnVerdict::kOutOfWindow) instance.counters.Add(Counter::kRxRpsnInvalid);
  instance.counters.Add(Counter::kPauses);
  // It is an answer to what we have sent, whether it was accepted or not.
  if (instance.has_planes() && instance.connections[number].paused()) {
    OnProof(instance, pdu.peer, pdu.plane, now);
  }
  OnAcked(instance, number, acked);
  Unblock(instance, number);
  ArmConnection(instance, number);
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
