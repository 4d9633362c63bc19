// SPDX-License-Identifier: Apache-2.0
#include "receive/receiver.h"

#include <new>
#include <optional>
#include <variant>

#include "receive/ack_scheduler.h"
#include "receive/drop_counter.h"
#include "wire/command.h"
#include "wire/pfc.h"
#include "wire/rcrc.h"
#include "wire/trimmed.h"

namespace suede {

bool Receiver::GoOn(PortContext& port, Time now) {
  while (next_ != count_) {
    if (next_ == rcrcs_end_) [[unlikely]]
      ComputeRcrcs();
    const uint32_t i = next_++;
    if (!OnFrame(port, i, now)) [[likely]]
      port.link.Release(frames_[i]);
    if (!effects_.empty()) [[unlikely]] {
      EndRun(now);
      return true;
    }
  }
  EndRun(now);
  return false;
}

// Returns whether the frame is kept.
[[gnu::always_inline]] inline bool Receiver::OnFrame(PortContext& port, uint32_t i, Time now) {
  if (series_of_[i] != flow_.series) [[unlikely]] {
    EndRun(now);
    const Checked checked = Check(port, i, now);
    if (checked != Checked::kData) return checked == Checked::kKept;
  } else if (!RcrcGood(spans_[i])) [[unlikely]] {
    EndRun(now);
    flow_.instance->counters.Add(Counter::kRxRcrc);
    return false;
  }
  return OnDataPdu(*flow_.instance, i, now);
}

// Sets flow_: the series of frame i, a data PDU, has passed all checks.
[[gnu::always_inline]] inline void Receiver::SetFlow(Instance& instance, uint32_t i, PeerIndex peer,
                                                     PlaneIndex plane, ConnectionIndex number) {
  const RhWord rh = rhs_[i];
  flow_.series = series_of_[i];
  flow_.instance = &instance;
  flow_.connection = &instance.connections[number];
  const Vc vc(rh.vc());
  flow_.credit = &instance.rx_credit[Scheduler::IndexOf(peer, vc)];
  flow_.target = deliverer_.TargetOf(instance, vc, rh.xpuid());
  flow_.ring = Deliverer::DirectRing(instance, flow_.target);
  flow_.peer = peer;
  flow_.plane = plane;
  flow_.number = number;
}

// Makes all checks of frame i, in the order of the wire profile. The series of a data PDU that
// passes becomes the series of flow_.
[[gnu::noinline]] Receiver::Checked Receiver::Check(PortContext& port, uint32_t i, Time now) {
  const Series& series = series_[series_of_[i]];
  if (series.error() != FrameError::kNone) [[unlikely]] {
    return OnFrameError(port, frames_[i], series.error(), now) ? Checked::kKept : Checked::kDone;
  }
  const PortContext::Location place = port.LocationOf(series.destination);
  if (place.instance >= PortContext::Location::kElsewhere) [[unlikely]] {
    return SetAside(port, place, frames_[i]) ? Checked::kKept : Checked::kDone;
  }
  Instance& instance = *lcore_.instances[place.instance];
  if (instance.down || instance.own.admin[place.plane] == PlaneAdmin::kDown) {
    instance.counters.Add(Counter::kRxAdminDown);
    return Checked::kDone;
  }
  // (A sealed PDU that was not opened has no R-CRC.)
  if (!RcrcGood(spans_[i]) && !IsSealedVersion(rhs_[i].ver())) {
    instance.counters.Add(Counter::kRxRcrc);
    return Checked::kDone;
  }
  // (Keep no value alive across these calls: that would make every frame more expensive.)
  const RhWord rh = rhs_[i];
  if (instance.seals() && RefusesPlain(instance, i, place.plane, now)) [[unlikely]]
    return Checked::kDone;
  if (!rh.Is(RhVersion::kData)) [[unlikely]]
    return OnNoData(instance, i, place.plane, now);
  const PeerIndex peer = SenderOf(instance, series, rh, place.plane);
  if (peer == Instance::kNoPeer) return Checked::kDone;
  if (instance.has_groups()) [[unlikely]]
    return CheckSession(instance, i, peer, place.plane);
  SetFlow(instance, i, peer, place.plane, instance.map.At(peer, place.plane, 0, Vc(rh.vc())));
  return Checked::kData;
}

// Makes the last checks common to data and control PDUs. Returns the peer that sent the PDU;
// kNoPeer: the PDU has failed a check, and is counted.
[[gnu::always_inline]] inline PeerIndex Receiver::SenderOf(Instance& instance, const Series& series,
                                                           RhWord rh, PlaneIndex plane) {
  if (rh.partition() != instance.params.partition) {
    instance.counters.Add(Counter::kRxPartition);
    return Instance::kNoPeer;
  }
  const PeerIndex peer(instance.peer_of_xpu[rh.xpuid()]);
  if (peer == Instance::kNoPeer) {
    instance.counters.Add(Counter::kRxUnknownXpu);
    return Instance::kNoPeer;
  }
  if (series.source != instance.sources[instance.map.PathAt(peer, plane)]) {
    instance.counters.Add(Counter::kRxSource);
    return Instance::kNoPeer;
  }
  return peer;
}

// Returns whether a plain PDU for an instance that seals is dropped, as its peer's PDUs have to be
// sealed.
bool Receiver::RefusesPlain(Instance& instance, uint32_t i, PlaneIndex plane, Time now) {
  const Series& series = series_[series_of_[i]];
  const RhWord rh = rhs_[i];
  if (series.opened() || IsSealedVersion(rh.ver())) return false;
  const PeerIndex peer(instance.peer_of_xpu[rh.xpuid()]);
  if (peer == Instance::kNoPeer || !instance.SealOf(peer).IsSealed()) return false;
  if (SenderOf(instance, series, rh, plane) == Instance::kNoPeer) return true;
  instance.counters.Add(Counter::kRxUnsealed);
  lcore_.events.EmitSealMismatch(instance, peer, false, now);
  return true;
}

// Handles a PDU of a sealed version that was not opened.
[[gnu::cold]] Receiver::Checked Receiver::OnSealed(Instance& instance, uint32_t i, PlaneIndex plane,
                                                   Time now) {
  const RhWord rh = rhs_[i];
  const Series& series = series_[series_of_[i]];
  if (!instance.seals()) {
    instance.counters.Add(Counter::kRxVersion);
    const PeerIndex of(instance.peer_of_xpu[rh.xpuid()]);
    if (of != Instance::kNoPeer && rh.partition() == instance.params.partition &&
        series.source == instance.sources[instance.map.PathAt(of, plane)]) {
      lcore_.events.EmitSealMismatch(instance, of, true, now);
    }
    return Checked::kDone;
  }
  const PeerIndex peer = SenderOf(instance, series, rh, plane);
  if (peer == Instance::kNoPeer) return Checked::kDone;
  instance.counters.Add(DropCounter(seal_errors_[i]));
  if (seal_errors_[i] == SealError::kKey) {
    instance.peers[peer].OnUnopened(now, EffectsFor(instance, peer));
  }
  return Checked::kDone;
}

// Makes the last check if there are several sessions.
[[gnu::noinline]] Receiver::Checked Receiver::CheckSession(Instance& instance, uint32_t i,
                                                           PeerIndex peer, PlaneIndex plane) {
  const ConnectionIndex number =
      ConnectionOfSession(instance, peer, plane, SessionAt(i), Vc(rhs_[i].vc()));
  if (number == kNoConnection) {
    instance.counters.Add(Counter::kRxSession);
    return Checked::kDone;
  }
  SetFlow(instance, i, peer, plane, number);
  return Checked::kData;
}

SessionIndex Receiver::SlotOf(const Instance& instance, PeerIndex peer, PlaneIndex plane,
                              uint16_t session) {
  const SessionGroup& group = instance.groups[instance.map.PathAt(peer, plane)];
  return group.Accepts(session) ? group.SlotOf(session) : Peer::kNoSlot;
}

ConnectionIndex Receiver::ConnectionOfSession(const Instance& instance, PeerIndex peer,
                                              PlaneIndex plane, uint16_t session, Vc vc) {
  const SessionIndex slot = SlotOf(instance, peer, plane, session);
  return slot == Peer::kNoSlot ? kNoConnection : instance.map.At(peer, plane, slot, vc);
}

// Keeps a frame for another lcore's instance until the caller calls HandOver. (A call of HandOver
// here would make every frame more expensive.)
[[gnu::always_inline]] inline bool Receiver::SetAside(const PortContext& port,
                                                      PortContext::Location place, Frame* frame) {
  if (place.instance == PortContext::Location::kNowhere) {
    lcore_.counters.Add(Counter::kRxUnknownDestination);
    return false;
  }
  // RestoreFrame does not use the ParsedFrame.
  if (port.params.rules.encap == Encap::kUdp4) new (frame->notes) ParsedFrame;
  foreign_[foreign_count_++] = {.frame = frame, .neighbour = place.plane};
  return true;
}

// Passes a frame that is not SUE's to the lane of packets if that receives; drops all others.
// Returns whether the frame is kept.
[[gnu::cold, gnu::noinline]] bool Receiver::OnFrameError(PortContext& port, Frame* frame,
                                                         FrameError error, Time now) {
  if (port.link.pauses() != nullptr && ClaimsPfc(frame->data, frame->length)) {
    OnPfc(port, *frame, now);
    return false;
  }
  if (error == FrameError::kTruncated && port.params.trimmed_dscp) {
    const std::optional<ParsedFrame> parsed =
        ParseTrimmed(port.params.rules, frame->data, frame->length, *port.params.trimmed_dscp);
    if (parsed) return OnTrimmed(port, frame, *parsed, now);
  }
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

// Handles a frame that a switch has trimmed: only its header is left, without a checksum. So the
// frame only causes an immediate NACK. Returns whether the frame is kept for another lcore.
[[gnu::cold, gnu::noinline]] bool Receiver::OnTrimmed(PortContext& port, Frame* frame,
                                                      const ParsedFrame& parsed, Time now) {
  const PortContext::Location place = port.LocationOf(parsed.destination);
  if (place.instance == PortContext::Location::kElsewhere) {
    return CountHandedOver(port.link.handover().Push(place.plane, frame));
  }
  if (place.instance == PortContext::Location::kNowhere) {
    lcore_.counters.Add(Counter::kRxTrimmedUnknown);
    return false;
  }
  Instance& instance = *lcore_.instances[place.instance];
  const RhWord rh(parsed.pdu);
  const PeerIndex peer(instance.peer_of_xpu[rh.xpuid()]);
  const bool fits =
      rh.Is(RhVersion::kData) ||
      (instance.seals() && rh.ver() == SealedVersion(static_cast<uint8_t>(RhVersion::kData)));
  const bool known = !instance.down && fits && rh.partition() == instance.params.partition &&
                     peer != Instance::kNoPeer &&
                     parsed.source == instance.sources[instance.map.PathAt(peer, place.plane)];
  const ConnectionIndex number =
      known ? ConnectionOfSession(instance, peer, place.plane, parsed.session, Vc(rh.vc()))
            : kNoConnection;
  if (number == kNoConnection || instance.connections[number].receive_closed()) {
    instance.counters.Add(Counter::kRxTrimmedUnknown);
    return false;
  }
  instance.counters.Add(Counter::kRxTrimmed);
  Connection& connection = instance.connections[number];
  congestion_grants_.OnTrimmed(instance, peer, place.plane);
  if (connection.OnTrimmed(rh.psn(), instance.params.target.base_rtt, now,
                           instance.params.transport)) {
    AckScheduler::Schedule(instance, number, connection, now);
    lcore_.timers.ArmConnection(instance, number);
  }
  return false;
}

// The neighbour requests pauses, or ends them.
void Receiver::OnPfc(PortContext& port, const Frame& frame, Time now) {
  const std::optional<PfcFrame> pfc = DecodePfc(frame.data, frame.length);
  lcore_.counters.Add(pfc ? Counter::kRxPfc : Counter::kRxPfcMalformed);
  if (pfc) port.link.OnPfc(*pfc, now);
}

// Counts whether a frame was handed over. Returns `handed`: if true, the other lcore owns the
// frame.
bool Receiver::CountHandedOver(bool handed) {
  lcore_.counters.Add(handed ? Counter::kRxHandedOver : Counter::kRxHandoverFull);
  return handed;
}

// Hands over the frames that Check has set aside, and publishes them to the other lcores.
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

// Counts PDUs of flow_ that were accepted in a row: their counters, credit and acknowledgement.
[[gnu::noinline]] void Receiver::CountRun(Time now) {
  Instance& instance = *flow_.instance;
  const DeliveredRun run = run_;
  run_ = {};
  deliverer_.CountRun(instance, flow_.target, run);
  if (flow_.connection->is_watched() || has_marks_) [[unlikely]]
    WatchRun(instance, run.pdus, run.bytes, run.lines, now);
  grants_.OnAccepted(instance, flow_.peer, flow_.target.vc, *flow_.credit, run.lines, run.widest);
  pause_requester_.OnReceived(instance, flow_.target.vc, now);
  // The acknowledgement of the first PDU is scheduled already.
  if (run.pdus > 1) AckScheduler::Schedule(instance, flow_.number, *flow_.connection, now);
}

// Returns whether the frame is kept.
[[gnu::always_inline]] inline bool Receiver::OnSequenced(Instance& instance, uint32_t i, Time now) {
  Connection& connection = *flow_.connection;
  if (connection.receive_closed()) [[unlikely]] {
    EndRun(now);
    OnClosed(instance, flow_.number, PduAt(i), true, now);
    return false;
  }
  const PsnVerdict verdict = connection.Classify(rhs_[i].psn());
  if (verdict != PsnVerdict::kExpected) [[unlikely]] {
    OnUnexpected(instance, verdict, i, now);
    return false;
  }
  if (flow_.ring == nullptr || !Deliverer::DeliverTo(*flow_.ring, flow_.target.head, CommandsAt(i),
                                                     CommandBytesAt(i), run_)) [[unlikely]] {
    return DeliverOne(instance, PduAt(i), now);
  }
  connection.Accept();
  if (run_.pdus == 1) AckScheduler::Schedule(instance, flow_.number, connection, now);
  return false;
}

// Counts PDUs of flow_, which may be duplicates or refused.
[[gnu::always_inline]] inline void Receiver::CountArrived(Instance& instance, uint32_t pdus,
                                                          uint64_t bytes) {
  const bool marked = has_marks_ && (series_[flow_.series].flow & kMarked) == kMarked;
  if (!marked && !flow_.connection->counted()) return;
  congestion_grants_.OnReceived(instance, flow_.number, pdus, bytes, marked);
}

// Counts a run for congestion control.
[[gnu::noinline]] void Receiver::WatchRun(Instance& instance, uint32_t pdus, uint64_t bytes,
                                          uint32_t lines, Time now) {
  CountArrived(instance, pdus, bytes);
  congestion_grants_.OnDelivered(instance, bytes, lines);
  CheckMissing(instance, now);
}

// PDUs of the flow were accepted: PDUs that a switch has trimmed, or that were announced, may be
// next.
[[gnu::noinline]] void Receiver::CheckMissing(Instance& instance, Time now) {
  Connection& connection = *flow_.connection;
  if (connection.has_gap()) connection.CheckGap(now, instance.params.transport);
  if (!connection.awaits_trimmed()) return;
  if (!connection.CheckTrimmed(instance.params.target.base_rtt, now)) return;
  AckScheduler::Schedule(instance, flow_.number, connection, now);
}

[[gnu::cold]] void Receiver::OnUnexpected(Instance& instance, PsnVerdict verdict, uint32_t i,
                                          Time now) {
  EndRun(now);
  CountArrived(instance, 1, CommandBytesAt(i));
  Connection& connection = *flow_.connection;
  const bool ahead = verdict == PsnVerdict::kAhead;
  instance.counters.Add(ahead ? Counter::kRxAhead : Counter::kRxDuplicate);
  if (ahead) {
    connection.OnGap(now, instance.params.transport);
  } else {
    connection.OnDuplicate(rhs_[i].psn(), instance.params.transport);
  }
  AckScheduler::Schedule(instance, flow_.number, connection, now);
}

// Delivers an expected PDU that no ring takes directly. Returns whether the frame is kept.
[[gnu::noinline]] bool Receiver::DeliverOne(Instance& instance, ReceivedPdu pdu, Time now) {
  EndRun(now);
  const ConnectionIndex number = flow_.number;
  Connection& connection = *flow_.connection;
  CountArrived(instance, 1, pdu.bytes);
  const Delivered delivered = deliverer_.Deliver(instance, flow_.target, pdu);
  // Later PDUs may have to wait behind this PDU.
  flow_.series = kNone;
  switch (delivered.delivery) {
    case Delivery::kDelivered:
    case Delivery::kKept:
      connection.Accept();
      grants_.OnAccepted(instance, pdu.peer, flow_.target.vc, *flow_.credit, delivered.lines,
                         delivered.lines);
      instance.counters.Add(Counter::kRxPdus);
      AckScheduler::Schedule(instance, number, connection, now);
      if (connection.is_watched()) CheckMissing(instance, now);
      break;
    case Delivery::kRefused:
      refusals_.OnRefusal(instance, number, pdu, delivered.lines);
      break;
    case Delivery::kMalformed:
      // The PDU is as its peer has sent it; a retransmission would not differ.
      connection.Accept();
      instance.counters.Add(Counter::kRxMalformed);
      lcore_.events.EmitMalformed(instance, pdu.peer, pdu.rh.vc(), now);
      AckScheduler::Schedule(instance, number, connection, now);
      if (connection.is_watched()) CheckMissing(instance, now);
      break;
  }
  pause_requester_.OnReceived(instance, Vc(pdu.rh.vc()), now);
  return delivered.delivery == Delivery::kKept;
}

[[gnu::always_inline]] inline bool Receiver::OnDataPdu(Instance& instance, uint32_t i, Time now) {
  const ConnectionIndex number = flow_.number;
  Connection& connection = *flow_.connection;
  const RhWord rh = rhs_[i];
  if (rh.op() != RhOp::kNothing) {
    if (connection.IsPlausible(rh.psn(), instance.params.transport)) [[likely]] {
      OnRpsn(instance, number, rh.op(), rh.rpsn(), now);
    } else {
      OnImplausible(instance, number, rh.op(), rh.rpsn(), now);
    }
  }
  const uint8_t* commands = CommandsAt(i);
  const uint32_t bytes = CommandBytesAt(i);
  const bool sequenced = bytes >= 2 && (commands[0] & 0x0f) != 0;
  if (sequenced) [[likely]]
    return OnSequenced(instance, i, now);
  EndRun(now);
  if (ValidateCommands(commands, bytes).error != CommandError::kNone) {
    instance.counters.Add(Counter::kRxMalformed);
    return false;
  }
  instance.counters.Add(Counter::kRxAcks);
  if (connection.receive_closed()) [[unlikely]] {
    OnClosed(instance, number, PduAt(i), false, now);
  } else if (connection.Classify(rh.psn()) == PsnVerdict::kAhead) [[unlikely]] {
    OnAhead(instance, number, PduAt(i), now);
  }
  return false;
}

// Handles a data PDU on a connection that accepts none: of a generation that has ended, or of a
// peer without an association.
[[gnu::cold]] void Receiver::OnClosed(Instance& instance, ConnectionIndex number, ReceivedPdu pdu,
                                      bool sequenced, Time now) {
  instance.peers[pdu.peer].OnClosedData(pdu.plane, instance.map.NumberOf(number), sequenced,
                                        pdu.rh.op(), pdu.rh.rpsn(), now,
                                        EffectsFor(instance, pdu.peer));
}

// An unsequenced PDU shows that sequenced PDUs are missing or were overtaken.
[[gnu::cold]] void Receiver::OnAhead(Instance& instance, ConnectionIndex number, ReceivedPdu pdu,
                                     Time now) {
  // For a peer that does not know this boot yet, the expected PSN is meaningless: it is not sent.
  if (!instance.peers[pdu.peer].handshake().open()) return;
  Connection& connection = instance.connections[number];
  connection.OnAnnounced(pdu.rh.psn(), now, instance.params.transport);
  if (connection.MustAckNow(instance.params.transport))
    AckScheduler::Schedule(instance, number, connection, now);
  lcore_.timers.ArmConnection(instance, number);
}

// Completes the checks of a frame that is no data PDU, and handles control PDUs. (Not marked cold,
// which would optimize for size: with many peers there are as many CREDITs as data PDUs.)
[[gnu::noinline]] Receiver::Checked Receiver::OnNoData(Instance& instance, uint32_t i,
                                                       PlaneIndex plane, Time now) {
  if (!rhs_[i].Is(RhVersion::kControl)) return OnSealed(instance, i, plane, now);
  const PeerIndex peer = SenderOf(instance, series_[series_of_[i]], rhs_[i], plane);
  if (peer != Instance::kNoPeer) OnControlPdu(instance, i, peer, plane, now);
  return Checked::kDone;
}

void Receiver::OnControlPdu(Instance& instance, uint32_t i, PeerIndex peer, PlaneIndex plane,
                            Time now) {
  ControlMessage message;
  switch (DecodeControl(CommandsAt(i), CommandBytesAt(i), message)) {
    case ControlError::kNone:
      break;
    case ControlError::kUnknownType:
      instance.counters.Add(Counter::kRxControlUnknown);
      return;
    case ControlError::kMalformed:
      instance.counters.Add(Counter::kRxControlMalformed);
      return;
  }
  if (instance.seals() && !FitsForm(instance, i, peer, message)) [[unlikely]] {
    instance.counters.Add(Counter::kRxControlMalformed);
    return;
  }
  // (Credit belongs to the peer, whichever plane the CREDIT arrives on.)
  if (IsStray(i) && !NamesPlane(message) && !std::holds_alternative<Credit>(message)) [[unlikely]] {
    instance.counters.Add(Counter::kRxSealPlane);
    return;
  }
  instance.counters.Add(Counter::kRxControlPdus);
  Peer::ControlFacts facts{.waits = instance.blocked[peer] != 0,
                           .slot = SlotOf(instance, peer, plane, SessionAt(i)),
                           .sealed = instance.seals() && instance.SealOf(peer).IsSealed()};
  if (const auto* hello = std::get_if<Hello>(&message)) {
    facts.is_pong = instance.ping.TakeAnswer(peer, instance.own.hello, *hello, now);
  }
  instance.peers[peer].OnControl(plane, message, facts, now, EffectsFor(instance, peer));
}

}  // namespace suede
