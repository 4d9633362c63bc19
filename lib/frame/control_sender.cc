// SPDX-License-Identifier: Apache-2.0
#include "frame/control_sender.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "frame/frame_writer.h"
#include "frame/sealing.h"
#include "wire/frame_class.h"
#include "wire/frame_marks.h"

namespace suede {
namespace {

// Whether the MAC address of the peer is not known yet. Counts the PDU as lost then.
bool LacksMac(Instance& instance, PeerIndex peer, PlaneIndex plane) {
  if (!instance.peers.IsResolving(peer, plane)) [[likely]]
    return false;
  instance.stats.counters.Add(Counter::kTxNoMac);
  return true;
}

}  // namespace

// Returns false if there is no room to stage the PDU: it counts as lost in transit.
bool ControlSender::SendControl(Instance& instance, PeerIndex peer, PlaneIndex plane,
                                const HeaderTemplate& header, ControlMessage&& message) {
  Link& link = instance.ports[plane]->link;
  if (LacksMac(instance, peer, plane)) return true;  // it is lost on the way
  if (instance.down || !link.HasFrontRoom() || !link.frames().Has(1)) return false;
  Frame* frame = link.frames().New();
  IdentitiesOf(message) = instance.peers[peer].handshake().identities();
  if (auto* hello = std::get_if<Hello>(&message)) {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      hello->credit_lines[vc] = instance.rx.credit.At(peer, vc).limit;
    }
  }
  uint8_t* const commands = frame->buffer + Frame::kCommandOffset;
  const uint32_t bytes = EncodeControl(message, commands);
  return StageControl(instance, peer, plane, header, frame, bytes, message);
}

// Completes the PDU with `bytes` bytes of the message at the place of its commands, seals it if the
// instance does, and stages it. Returns true, even if there is no key.
[[gnu::always_inline]] inline bool ControlSender::StageControl(Instance& instance, PeerIndex peer,
                                                               PlaneIndex plane,
                                                               const HeaderTemplate& header,
                                                               Frame* frame, uint32_t bytes,
                                                               const ControlMessage& message) {
  Link& link = instance.ports[plane]->link;
  const PlainPdu pdu = FinishPlain(header, frame->buffer + Frame::kCommandOffset, bytes,
                                   ControlRh(instance.params.xpuid, instance.params.partition));
  if (instance.sealing.on()) [[unlikely]] {
    if (!SealControl(instance, peer, plane, header, frame, pdu, message)) {
      link.frames().Release(frame);
      return true;  // it is lost on the way
    }
  } else {
    SetFrame(*instance.ports[plane], header, frame, pdu.start, pdu.bytes);
  }
  link.StageFront(frame, LinkVcOfPdu(header.link_class, false, 0));
  instance.stats.counters.Add(Counter::kTxControlPdus);
  return true;
}

bool ControlSender::SendPath(Instance& instance, PeerIndex peer, PlaneIndex plane,
                             const HeaderTemplate& header, Path&& message, uint32_t frame_bytes) {
  PortContext& port = *instance.ports[plane];
  if (LacksMac(instance, peer, plane)) return false;
  if (instance.down || !port.link.HasFrontRoom(message.traffic_class) || !port.link.frames().Has(1))
    return false;
  Frame* const frame = port.link.frames().New();
  message.identities = instance.peers[peer].handshake().identities();
  if (message.report) message.sent = MarksOf(port.params.rules, header);
  uint8_t* const commands = frame->buffer + Frame::kCommandOffset;
  uint32_t bytes = EncodeControl(message, commands);
  const uint32_t around =
      header.length + kRhBytes + kRcrcBytes + (instance.sealing.on() ? kSessionSealBytes : 0);
  const uint32_t wanted = std::min(frame_bytes, port.link.max_frame_bytes());
  if (wanted > around + bytes) {
    std::memset(commands + bytes, 0, wanted - around - bytes);
    bytes = wanted - around;
  }
  return StageControl(instance, peer, plane, header, frame, bytes, std::move(message));
}

// Seals a control PDU of an instance that seals, if the peer seals, too. Returns false if there is
// no key.
bool ControlSender::SealControl(Instance& instance, PeerIndex peer, PlaneIndex plane,
                                const HeaderTemplate& header, Frame* frame, const PlainPdu& pdu,
                                const ControlMessage& message) {
  PortContext& port = *instance.ports[plane];
  const auto* hello = std::get_if<Hello>(&message);
  SealedPeer& sealed = instance.SealOf(peer);
  if (hello != nullptr ? !sealed.SealsHello(hello->echo != 0) : !sealed.IsSealed()) {
    SetFrame(port, header, frame, pdu.start, pdu.bytes);
    return true;
  }
  if (hello != nullptr) return Sealing::SealHello(instance, port, header, peer, plane, frame, pdu);
  return Sealing::SealOneShot(instance, port, header, instance.map.At(peer, plane, 0), frame, pdu);
}

// Writes the network header of an unsequenced PDU, or seals the PDU, and stages the frame. Returns
// false if the PDU is lost.
[[gnu::always_inline]] inline bool ControlSender::StageUnsequenced(
    Instance& instance, PortContext& port, const HeaderTemplate& header, ConnectionIndex number,
    Vc vc, Frame* frame, const PlainPdu& pdu) {
  bool is_sealed = false;
  if (instance.sealing.on()) [[unlikely]] {
    is_sealed = instance.SealOf(instance.map.PeerOf(number)).IsSealed();
    if (is_sealed && !Sealing::SealOneShot(instance, port, header, number, frame, pdu)) {
      port.link.frames().Release(frame);
      return false;
    }
  }
  if (!is_sealed) SetFrame(port, header, frame, pdu.start, pdu.bytes);
  port.link.StageFront(frame, LinkVcOfPdu(header.link_class, is_sealed, vc));
  return true;
}

void ControlSender::SendAck(Instance& instance, ConnectionIndex number, const RpsnField& field,
                            Psn psn) {
  const PlaneIndex plane = instance.map.PlaneOf(number);
  PortContext& port = *instance.ports[plane];
  const HeaderTemplate& header = instance.headers.At(number, Instance::kAckClass);
  Frame* const frame = port.link.frames().New();
  uint8_t* const pdu = frame->buffer + Frame::kCommandOffset - kRhBytes;
  const Vc vc = instance.map.VcOf(number);
  const uint32_t bytes =
      FinishEmptyPdu(pdu, header.length, DataRh(instance.params, vc, psn, field));
  StageUnsequenced(instance, port, header, number, vc, frame, {.start = pdu, .bytes = bytes});
}

// Returns false if the PDU is not staged: it counts as lost in transit.
bool ControlSender::SendUnsequenced(Instance& instance, ConnectionIndex number, RpsnField field,
                                    Psn psn, uint32_t traffic_class) {
  const PlaneIndex plane = instance.map.PlaneOf(number);
  Link& link = instance.ports[plane]->link;
  if (LacksMac(instance, instance.map.PeerOf(number), plane)) return false;
  if (!link.HasFrontRoom() || !link.frames().Has(1) || !link.IsOpen(traffic_class)) return false;
  Frame* frame = link.frames().New();
  const bool has_vc = traffic_class < kVcCount;
  const HeaderTemplate& header = instance.headers.At(number, traffic_class);
  const Vc vc = has_vc && !instance.map.is_per_vc() ? Vc(traffic_class) : instance.map.VcOf(number);
  const PlainPdu pdu = FinishPlain(header, frame->buffer + Frame::kCommandOffset, 0,
                                   DataRh(instance.params, vc, psn, field));
  return StageUnsequenced(instance, *instance.ports[plane], header, number, vc, frame, pdu);
}

PlaneIndex ControlSender::PlaneWithRoom(const PeerArrays& peers, const PlanePorts& ports,
                                        PeerIndex peer) {
  const PeerPaths& paths = peers.paths[peer];
  // Routes are for commands: a peer with a route to us needs answers even if we have no route to
  // it.
  const uint32_t among = paths.usable != 0 ? paths.usable : paths.open;
  if (among == 0) return PeerPaths::kNoPlane;
  for (PlaneIndex plane = 0; plane < peers.own.map.plane_count(); ++plane) {
    if ((among & 1u << plane) != 0 && ports[plane]->link.HasFrontRoom()) return plane;
  }
  return Lowest<PlaneIndex>(among);
}

}  // namespace suede
