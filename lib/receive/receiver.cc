// SPDX-License-Identifier: Apache-2.0
#include "receive/receiver.h"

#include <new>
#include <variant>

#include "receive/drop_counter.h"
#include "receive/owed_acks.h"
#include "wire/command.h"
#include "wire/rcrc.h"

namespace suede {
// Returns whether the frame is kept.
bool Receiver::OnFrame(PortContext& port, Frame* frame, Time now) {
  if (port.link.down()) [[unlikely]] {
    lcore_.counters.Add(Counter::kRxAdminDown);
    return false;
  }
  const bool trusted = frame->rx_checksum == ChecksumState::kGood;
  const FrameRules& rules = port.params.rules;
  ParsedFrame parsed;
  if (!ParseInPlace(rules, frame->data, frame->length, trusted, parsed)) [[unlikely]] {
    parsed_ = ParseFrame(rules, frame->data, frame->length, trusted);
    if (parsed_.error != FrameError::kNone) return OnFrameError(port, frame, parsed_.error, now);
    parsed.source = parsed_.source;
    parsed.destination = parsed_.destination;
    parsed.pdu = parsed_.pdu;
    parsed.pdu_bytes = parsed_.pdu_bytes;
  }
  const RhWord rh(parsed.pdu);
  if (flow_.Has(parsed.source, parsed.destination, rh)) [[likely]] {
    if (!RcrcGood(parsed.pdu, parsed.pdu_bytes)) {
      flow_.instance->counters.Add(Counter::kRxRcrc);
      return false;
    }
  } else {
    const Checked checked = Check(port, frame,
                                  {.source = parsed.source,
                                   .destination = parsed.destination,
                                   .rh = rh,
                                   .pdu = parsed.pdu,
                                   .pdu_bytes = parsed.pdu_bytes},
                                  now);
    if (checked != Checked::kData) return checked == Checked::kKept;
  }
  return OnDataPdu(*flow_.instance,
                   {.rh = rh,
                    .commands = parsed.pdu + kRhBytes,
                    .bytes = parsed.pdu_bytes - kRcrcBytes - kRhBytes,
                    .peer = flow_.peer,
                    .plane = flow_.plane,
                    .frame = frame},
                   now);
}

// Makes every check, in the order of the wire profile. A data PDU that passes becomes the flow of
// the frames behind it.
[[gnu::noinline]] Receiver::Checked Receiver::Check(PortContext& port, Frame* frame,
                                                    Arrival arrival, Time now) {
  const PortContext::Place place = port.PlaceAt(arrival.destination);
  if (place.instance >= PortContext::Place::kElsewhere) [[unlikely]] {
    return SetAside(place, frame) ? Checked::kKept : Checked::kDone;
  }
  Instance& instance = *lcore_.instances[place.instance];
  if (instance.down || instance.own.admin[place.plane] == PlaneAdmin::kDown) {
    instance.counters.Add(Counter::kRxAdminDown);
    return Checked::kDone;
  }
  if (!RcrcGood(arrival.pdu, arrival.pdu_bytes)) {
    instance.counters.Add(Counter::kRxRcrc);
    return Checked::kDone;
  }
  const RhWord rh = arrival.rh;
  if (!rh.Is(RhVersion::kData) && !rh.Is(RhVersion::kControl)) [[unlikely]] {
    instance.counters.Add(Counter::kRxVersion);
    return Checked::kDone;
  }
  if (rh.partition() != instance.params.partition) {
    instance.counters.Add(Counter::kRxPartition);
    return Checked::kDone;
  }
  const uint32_t peer = instance.peer_of_xpu[rh.xpuid()];
  if (peer == Instance::kNoPeer) {
    instance.counters.Add(Counter::kRxUnknownXpu);
    return Checked::kDone;
  }
  if (arrival.source != instance.params.peers[peer].planes[place.plane].address) {
    instance.counters.Add(Counter::kRxSource);
    return Checked::kDone;
  }
  if (rh.Is(RhVersion::kControl)) [[unlikely]] {
    OnControlPdu(instance,
                 {.rh = rh,
                  .commands = arrival.pdu + kRhBytes,
                  .bytes = arrival.pdu_bytes - kRcrcBytes - kRhBytes,
                  .peer = peer,
                  .plane = place.plane,
                  .frame = frame},
                 now);
    return Checked::kDone;
  }
  const uint32_t number = instance.ConnectionIndex(peer, place.plane, rh.vc());
  flow_ = {.source = arrival.source,
           .destination = arrival.destination,
           .rh = rh.Flow(),
           .instance = &instance,
           .connection = &instance.connections[number],
           .credit = &instance.rx_credit[Scheduler::QueueIndex(peer, rh.vc())],
           .target = deliverer_.TargetOf(instance, rh.vc(), rh.xpuid()),
           .peer = peer,
           .plane = place.plane,
           .number = number};
  return Checked::kData;
}

// What is for none of our instances is kept, until the end of PollPort, where another lcore has the
// one that it is for. (To call HandOver from here would make every frame dearer.)
[[gnu::always_inline]] inline bool Receiver::SetAside(PortContext::Place place, Frame* frame) {
  if (place.instance == PortContext::Place::kNowhere) {
    lcore_.counters.Add(Counter::kRxUnknownDestination);
    return false;
  }
  // After ParseInPlace this may be the result of another frame: RestoreFrame does not use it then.
  new (frame->notes) ParsedFrame(parsed_);
  foreign_[foreign_count_++] = {.frame = frame, .neighbour = place.plane};
  return true;
}

// What is not SUE's goes up where somebody receives it; all else is dropped. Returns whether the
// frame is kept.
[[gnu::cold]] bool Receiver::OnFrameError(PortContext& port, Frame* frame, FrameError error,
                                          Time now) {
  const bool is_packet = error == FrameError::kNotSue;
  Handover& handover = port.link.handover();
  if (is_packet && handover.LaneReceivesElsewhere()) {
    return CountHandedOver(handover.PushPacket(frame));
  }
  PacketLane* const packets = port.link.packets();
  if (is_packet && packets != nullptr && packets->receiving()) {
    packets->OfferUp(*frame, now, lcore_.counters);
  } else {
    lcore_.counters.Add(DropCounter(error));
  }
  return false;
}

// Counts whether a frame was handed over. Returns the same: then it is the other lcore's.
bool Receiver::CountHandedOver(bool handed) {
  lcore_.counters.Add(handed ? Counter::kRxHandedOver : Counter::kRxHandoverFull);
  return handed;
}

// Hands over the frames that OnFrame has set aside, and shows the other lcores theirs.
[[gnu::noinline]] void Receiver::HandOver(PortContext& port) {
  Handover& handover = port.link.handover();
  for (uint32_t i = 0; i < foreign_count_; ++i) {
    Frame* const frame = foreign_[i].frame;
    const auto* parsed = std::launder(reinterpret_cast<const ParsedFrame*>(frame->notes));
    RestoreFrame(port.params.rules, frame->data, *parsed);
    if (!CountHandedOver(handover.Push(foreign_[i].neighbour, frame))) port.link.Release(frame);
  }
  foreign_count_ = 0;
  handover.Publish();
}

// Returns whether the frame is kept.
[[gnu::always_inline]] inline bool Receiver::OnSequenced(Instance& instance, const ReceivedPdu& pdu,
                                                         Time now) {
  const uint32_t number = flow_.number;
  Connection& connection = *flow_.connection;
  if (connection.receive_closed()) [[unlikely]] {
    OnClosed(instance, number, pdu, true, now);
    return false;
  }
  const PsnVerdict verdict = connection.Judge(pdu.rh.psn());
  if (verdict != PsnVerdict::kExpected) {
    const bool ahead = verdict == PsnVerdict::kAhead;
    instance.counters.Add(ahead ? Counter::kRxAhead : Counter::kRxDuplicate);
    if (ahead) {
      connection.OnGap(now, instance.params.transport);
    } else {
      connection.OnDuplicate();
    }
    OwedAcks::Owe(instance, number, connection, now);
    return false;
  }
  const Delivered delivered = deliverer_.Deliver(instance, flow_.target, pdu);
  switch (delivered.delivery) {
    case Delivery::kDelivered:
    case Delivery::kKept:
      connection.Accept();
      grants_.OnAccepted(instance, pdu.peer, flow_.target.vc, *flow_.credit, delivered.lines);
      instance.counters.Add(Counter::kRxPdus);
      OwedAcks::Owe(instance, number, connection, now);
      break;
    case Delivery::kRefused:
      refusals_.OnRefusal(instance, number, pdu, delivered.lines);
      break;
    case Delivery::kMalformed:
      instance.counters.Add(Counter::kRxMalformed);
      break;
  }
  return delivered.delivery == Delivery::kKept;
}

[[gnu::always_inline]] inline bool Receiver::OnDataPdu(Instance& instance, const ReceivedPdu& pdu,
                                                       Time now) {
  const uint32_t number = flow_.number;
  Connection& connection = *flow_.connection;
  if (pdu.rh.op() != RhOp::kNothing) {
    if (connection.IsPlausible(pdu.rh.psn(), instance.params.transport)) [[likely]] {
      OnRpsn(instance, number, pdu.rh.op(), pdu.rh.rpsn(), now);
    } else {
      OnImplausible(instance, number, pdu.rh.op(), pdu.rh.rpsn(), now);
    }
  }
  const bool sequenced = pdu.bytes >= 2 && (pdu.commands[0] & 0x0f) != 0;
  if (sequenced) return OnSequenced(instance, pdu, now);
  if (ValidateCommands(pdu.commands, pdu.bytes).error != CommandError::kNone) {
    instance.counters.Add(Counter::kRxMalformed);
    return false;
  }
  instance.counters.Add(Counter::kRxAcks);
  if (connection.receive_closed()) [[unlikely]] {
    OnClosed(instance, number, pdu, false, now);
  } else if (connection.Judge(pdu.rh.psn()) == PsnVerdict::kAhead) [[unlikely]] {
    OnAhead(instance, number, pdu, now);
  }
  return false;
}

// A data PDU on a connection that accepts nothing: of a generation that has ended, or of a peer
// with which there is no association.
[[gnu::cold]] void Receiver::OnClosed(Instance& instance, uint32_t number, ReceivedPdu pdu,
                                      bool sequenced, Time now) {
  instance.peers[pdu.peer].OnClosedData(pdu.plane, instance.VcOfConnection(number), sequenced,
                                        pdu.rh.op(), pdu.rh.rpsn(), now,
                                        EffectsFor(instance, pdu.peer));
}

// An unsequenced PDU shows that sequenced ones are missing or were overtaken.
[[gnu::cold]] void Receiver::OnAhead(Instance& instance, uint32_t number, ReceivedPdu pdu,
                                     Time now) {
  // The expected PSN of a peer that does not know this boot yet answers nothing.
  if (!instance.peers[pdu.peer].handshake().open()) return;
  Connection& connection = instance.connections[number];
  connection.OnAnnounced(pdu.rh.psn(), now, instance.params.transport);
  if (connection.MustAckNow(instance.params.transport))
    OwedAcks::Owe(instance, number, connection, now);
  lcore_.timers.ArmConnection(instance, number);
}

void Receiver::OnRpsn(Instance& instance, uint32_t number, RhOp op, Psn rpsn, Time now) {
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
      instance.ping.OnNack(instance.PeerOfConnection(number), instance.PlaneOfConnection(number),
                           now);
    }
    verdict = connection.OnNack(rpsn, now, params, acked);
    if (connection.HasRetransmission()) stager_.WantRetransmission(instance, number);
    if (connection.lost()) [[unlikely]]
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
    instance.peer_of(number).OnProof(instance.PlaneOfConnection(number), now);
  }
  OnAcked(instance, number, bytes - connection.unacked_bytes(), acked);
  run_queue_.Unblock(instance, number);
}

// `bytes`: of the commands in them.
void Receiver::OnAcked(Instance& instance, uint32_t number, uint32_t bytes, PduList& acked) {
  const uint32_t peer = instance.PeerOfConnection(number);
  instance.CountOut(peer, instance.PlaneOfConnection(number), bytes);
  completions_.EndAcked(instance, number, acked);
  if (!instance.paths[peer].moving) [[likely]]
    return;
  instance.peers[peer].OnEnded(EffectsFor(instance, peer));
}

// The peer could not send the PDU's own PSN next to those that it has sent.
[[gnu::cold]] void Receiver::OnImplausible(Instance& instance, uint32_t number, RhOp op, Psn rpsn,
                                           Time now) {
  Connection& connection = instance.connections[number];
  // A peer that does not speak HELLO may have restarted without a word, and says so by nothing
  // else.
  if (connection.lost() && instance.peer_of(number).handshake().plain()) {
    return OnRpsn(instance, number, op, rpsn, now);
  }
  connection.OnImplausible();
  instance.counters.Add(Counter::kRxRpsnImplausible);
}

[[gnu::cold]] void Receiver::OnResumed(Instance& instance, uint32_t number) {
  completions_.LetGo(instance, number);
  const uint32_t peer = instance.PeerOfConnection(number);
  instance.peers[peer].OnResumed(instance.PlaneOfConnection(number),
                                 instance.VcOfConnection(number), EffectsFor(instance, peer));
}

[[gnu::cold]] void Receiver::OnControlPdu(Instance& instance, ReceivedPdu pdu, Time now) {
  ControlMessage message;
  switch (DecodeControl(pdu.commands, pdu.bytes, message)) {
    case ControlError::kNone:
      break;
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
    facts.is_pong = instance.ping.TakeAnswer(pdu.peer, instance.own.hello, *hello, now);
  }
  instance.peers[pdu.peer].OnControl(pdu.plane, message, facts, now,
                                     EffectsFor(instance, pdu.peer));
}

}  // namespace suede
