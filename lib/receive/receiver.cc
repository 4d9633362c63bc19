// SPDX-License-Identifier: Apache-2.0
#include "receive/receiver.h"

#include <optional>
#include <variant>

#include "receive/ack_scheduler.h"
#include "receive/drop_counter.h"
#include "receive/look_ahead.h"
#include "wire/command.h"
#include "wire/pfc.h"
#include "wire/trimmed.h"

namespace suede {

uint64_t Receiver::Begin(PortContext& port, Frame* const* frames, uint32_t count) {
  if (port.link.down()) [[unlikely]]
    return Refuse(port, frames, count);
  const uint64_t bytes = burst_.Parse(port, frames, count);
  if (burst_.has_sealed()) [[unlikely]]
    seal_opener_.Open(burst_);
  if (burst_.is_mixed() && HasManyPeers(lcore_)) LookAhead(lcore_, burst_);
  return bytes;
}

// Drops all frames of a port that an operator has set down.
[[gnu::cold]] uint64_t Receiver::Refuse(PortContext& port, Frame* const* frames, uint32_t count) {
  burst_.Clear();
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += frames[i]->length;
    port.link.frames().Release(frames[i]);
  }
  lcore_.counters.Add(Counter::kRxAdminDown, count);
  return bytes;
}

PeerEffects* Receiver::GoOn(PortContext& port, Time now) {
  effects_.Clear();
  FlowReceiver flow(parts_, burst_, now);
  while (burst_.has_next()) {
    const uint32_t i = burst_.Next();
    if (!OnFrame(flow, port, i, now)) [[likely]]
      port.link.frames().Release(burst_.frame(i));
    if (!effects_.empty()) [[unlikely]]
      return &effects_;
  }
  return nullptr;
}

// Returns whether the frame is kept.
[[gnu::always_inline]] inline bool Receiver::OnFrame(FlowReceiver& flow, PortContext& port,
                                                     uint32_t i, Time now) {
  if (!flow.Continues(burst_.series_index(i))) [[unlikely]] {
    const Checked checked = Check(flow, port, i, now);
    if (checked != Checked::kData) return checked == Checked::kKept;
  } else if (!burst_.RcrcIsGood(i)) [[unlikely]] {
    flow.TakeOut(i);
    flow.instance().stats.counters.Add(Counter::kRxRcrc);
    return false;
  }
  return OnDataPdu(flow, i, now);
}

// Makes all checks of frame i, in the order of the wire profile. The series of a data PDU that
// passes becomes the flow.
[[gnu::noinline]] Receiver::Checked Receiver::Check(FlowReceiver& flow, PortContext& port,
                                                    uint32_t i, Time now) {
  const Series& series = burst_.series(i);
  if (series.error() != FrameError::kNone) [[unlikely]] {
    return OnFrameError(port, burst_.frame(i), series.error(), now) ? Checked::kKept
                                                                    : Checked::kDone;
  }
  const PortContext::Location place = burst_.place(i);
  if (place.instance >= PortContext::Location::kElsewhere) [[unlikely]] {
    return foreign_.Add(port, place, burst_.frame(i)) ? Checked::kKept : Checked::kDone;
  }
  Instance& instance = *lcore_.instances[place.instance];
  if (instance.down || instance.peers.own.admin[place.plane] == PlaneAdmin::kDown) {
    instance.stats.counters.Add(Counter::kRxAdminDown);
    return Checked::kDone;
  }
  // (A sealed PDU that was not opened has no R-CRC.)
  if (!burst_.RcrcIsGood(i) && !IsSealedVersion(burst_.rh(i).ver())) {
    instance.stats.counters.Add(Counter::kRxRcrc);
    return Checked::kDone;
  }
  // (Keep no value alive across these calls: that would make every frame more expensive.)
  const RhWord rh = burst_.rh(i);
  if (instance.sealing.on() && RefusesPlain(instance, i, place.plane, now)) [[unlikely]]
    return Checked::kDone;
  if (!rh.Is(RhVersion::kData)) [[unlikely]]
    return OnNoData(instance, i, place.plane, now);
  const PeerIndex peer = SenderOf(instance, series, rh, place.plane);
  if (peer == Instance::kNoPeer) return Checked::kDone;
  if (instance.map.has_groups()) [[unlikely]]
    return CheckSession(flow, instance, i, peer, place.plane);
  flow.Begin(burst_.series_index(i), instance, rh, peer, place.plane,
             instance.map.At(peer, place.plane, 0, Vc(rh.vc())));
  return Checked::kData;
}

// Makes the last checks common to data and control PDUs. Returns the peer that sent the PDU;
// kNoPeer: the PDU has failed a check, and is counted.
[[gnu::always_inline]] inline PeerIndex Receiver::SenderOf(Instance& instance, const Series& series,
                                                           RhWord rh, PlaneIndex plane) {
  if (rh.partition() != instance.params.partition) {
    instance.stats.counters.Add(Counter::kRxPartition);
    return Instance::kNoPeer;
  }
  const PeerIndex peer = instance.peers.OfXpu(rh.xpuid());
  if (peer == Instance::kNoPeer) {
    instance.stats.counters.Add(Counter::kRxUnknownXpu);
    return Instance::kNoPeer;
  }
  if (series.source != instance.rx.sources[instance.map.PathAt(peer, plane)]) {
    instance.stats.counters.Add(Counter::kRxSource);
    return Instance::kNoPeer;
  }
  return peer;
}

// Returns whether a plain PDU for an instance that seals is dropped, as its peer's PDUs have to be
// sealed.
bool Receiver::RefusesPlain(Instance& instance, uint32_t i, PlaneIndex plane, Time now) {
  const Series& series = burst_.series(i);
  const RhWord rh = burst_.rh(i);
  if (series.opened() || IsSealedVersion(rh.ver())) return false;
  const PeerIndex peer = instance.peers.OfXpu(rh.xpuid());
  if (peer == Instance::kNoPeer || !instance.SealOf(peer).IsSealed()) return false;
  if (SenderOf(instance, series, rh, plane) == Instance::kNoPeer) return true;
  instance.stats.counters.Add(Counter::kRxUnsealed);
  lcore_.events.EmitSealMismatch(instance, peer, false, now);
  return true;
}

// Handles a PDU of a sealed version that was not opened.
[[gnu::cold]] Receiver::Checked Receiver::OnSealed(Instance& instance, uint32_t i, PlaneIndex plane,
                                                   Time now) {
  const RhWord rh = burst_.rh(i);
  const Series& series = burst_.series(i);
  if (!instance.sealing.on()) {
    instance.stats.counters.Add(Counter::kRxVersion);
    const PeerIndex of = instance.peers.OfXpu(rh.xpuid());
    if (of != Instance::kNoPeer && rh.partition() == instance.params.partition &&
        series.source == instance.rx.sources[instance.map.PathAt(of, plane)]) {
      lcore_.events.EmitSealMismatch(instance, of, true, now);
    }
    return Checked::kDone;
  }
  const PeerIndex peer = SenderOf(instance, series, rh, plane);
  if (peer == Instance::kNoPeer) return Checked::kDone;
  instance.stats.counters.Add(DropCounter(seal_opener_.error(i)));
  if (seal_opener_.error(i) == SealError::kKey) {
    instance.peers[peer].association().OnUnopened(now, effects_.For({instance.number, peer}));
  }
  return Checked::kDone;
}

// Makes the last check if there are several sessions.
[[gnu::noinline]] Receiver::Checked Receiver::CheckSession(FlowReceiver& flow, Instance& instance,
                                                           uint32_t i, PeerIndex peer,
                                                           PlaneIndex plane) {
  const ConnectionIndex number = ConnectionOfSession(
      instance.peers, peer, plane, burst_.series(i).session(), Vc(burst_.rh(i).vc()));
  if (number == kNoConnection) {
    instance.stats.counters.Add(Counter::kRxSession);
    return Checked::kDone;
  }
  flow.Begin(burst_.series_index(i), instance, burst_.rh(i), peer, plane, number);
  return Checked::kData;
}

SessionIndex Receiver::SlotOf(const PeerArrays& peers, PeerIndex peer, PlaneIndex plane,
                              uint16_t session) {
  const SessionGroup& group = peers.group(peer, plane);
  return group.Accepts(session) ? group.SlotOf(session) : Peer::kNoSlot;
}

ConnectionIndex Receiver::ConnectionOfSession(const PeerArrays& peers, PeerIndex peer,
                                              PlaneIndex plane, uint16_t session, Vc vc) {
  const SessionIndex slot = SlotOf(peers, peer, plane, session);
  return slot == Peer::kNoSlot ? kNoConnection : peers.own.map.At(peer, plane, slot, vc);
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
    return foreign_.Count(handover.PushPacket(frame));
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
    return foreign_.Count(port.link.handover().Push(place.plane, frame));
  }
  if (place.instance == PortContext::Location::kNowhere) {
    lcore_.counters.Add(Counter::kRxTrimmedUnknown);
    return false;
  }
  Instance& instance = *lcore_.instances[place.instance];
  const RhWord rh(parsed.pdu);
  const PeerIndex peer = instance.peers.OfXpu(rh.xpuid());
  const bool fits =
      rh.Is(RhVersion::kData) ||
      (instance.sealing.on() && rh.ver() == SealedVersion(static_cast<uint8_t>(RhVersion::kData)));
  const bool known = !instance.down && fits && rh.partition() == instance.params.partition &&
                     peer != Instance::kNoPeer &&
                     parsed.source == instance.rx.sources[instance.map.PathAt(peer, place.plane)];
  const ConnectionIndex number =
      known ? ConnectionOfSession(instance.peers, peer, place.plane, parsed.session, Vc(rh.vc()))
            : kNoConnection;
  if (number == kNoConnection || instance.peers.connections[number].rx().closed()) {
    instance.stats.counters.Add(Counter::kRxTrimmedUnknown);
    return false;
  }
  instance.stats.counters.Add(Counter::kRxTrimmed);
  instance.rx.SumsOf(number).trimmed++;
  Connection& connection = instance.peers.connections[number];
  parts_.congestion_grants.OnTrimmed(instance.rx, instance.map.PathAt(peer, place.plane));
  if (connection.rx().OnTrimmed(rh.psn(), instance.params.target.base_rtt, now,
                                instance.params.transport)) {
    AckScheduler::Schedule(instance.rx, instance.ports, number, connection, now);
    lcore_.timers.ArmConnection(instance.peers, number);
  }
  return false;
}

// The neighbour requests pauses, or ends them.
void Receiver::OnPfc(PortContext& port, const Frame& frame, Time now) {
  const std::optional<PfcFrame> pfc = DecodePfc(frame.data, frame.length);
  lcore_.counters.Add(pfc ? Counter::kRxPfc : Counter::kRxPfcMalformed);
  if (pfc) port.link.OnPfc(*pfc, now);
}

// (Keep few values alive across the calls: that would make every frame more expensive.)
[[gnu::always_inline]] inline bool Receiver::OnDataPdu(FlowReceiver& flow, uint32_t i, Time now) {
  if (burst_.rh(i).op() != RhOp::kNothing) OnRpsn(flow, burst_.rh(i));
  const uint8_t* commands = burst_.CommandsAt(i);
  const uint32_t bytes = burst_.CommandBytesAt(i);
  const bool sequenced = bytes >= 2 && (commands[0] & 0x0f) != 0;
  if (!sequenced) [[unlikely]] {
    OnUnsequenced(flow, i, now);
  } else if (flow.rx().closed()) [[unlikely]] {
    OnClosed(flow, i, true, now);
  } else {
    return flow.OnSequenced(i, burst_.rh(i).psn(), commands, bytes);
  }
  return false;
}

// Passes on the RPSN of a PDU of the flow.
[[gnu::always_inline]] inline void Receiver::OnRpsn(FlowReceiver& flow, RhWord rh) {
  Instance& instance = flow.instance();
  if (flow.rx().IsPlausible(rh.psn(), instance.params.transport)) [[likely]] {
    acks_.OnRpsn(instance, flow.number(), rh.op(), rh.rpsn(), effects_);
  } else {
    acks_.OnImplausible(instance, flow.number(), rh.op(), rh.rpsn(), effects_);
  }
}

// Handles a PDU of the flow that has no commands.
[[gnu::always_inline]] inline void Receiver::OnUnsequenced(FlowReceiver& flow, uint32_t i,
                                                           Time now) {
  const ReceivedPdu pdu = flow.TakeOut(i);
  CounterBlock& counters = flow.instance().stats.counters;
  if (ValidateCommands(pdu.commands, pdu.bytes).error != CommandError::kNone) {
    return counters.Add(Counter::kRxMalformed);
  }
  counters.Add(Counter::kRxAcks);
  if (flow.rx().closed()) [[unlikely]] {
    OnClosed(flow, i, false, now);
  } else if (flow.rx().Classify(pdu.rh.psn()) == PsnVerdict::kAhead) [[unlikely]] {
    OnAhead(flow, i, now);
  }
}

// Handles a data PDU on a connection that accepts none: of a generation that has ended, or of a
// peer without an association.
[[gnu::cold]] void Receiver::OnClosed(FlowReceiver& flow, uint32_t i, bool sequenced, Time now) {
  Instance& instance = flow.instance();
  const ReceivedPdu pdu = flow.TakeOut(i);
  instance.peers[pdu.peer].association().OnClosedData(
      pdu.plane, instance.map.NumberOf(flow.number()), sequenced, pdu.rh.op(), pdu.rh.rpsn(), now,
      effects_.For({instance.number, pdu.peer}));
}

// An unsequenced PDU shows that sequenced PDUs are missing or were overtaken.
[[gnu::cold]] void Receiver::OnAhead(FlowReceiver& flow, uint32_t i, Time now) {
  Instance& instance = flow.instance();
  const ReceivedPdu pdu = flow.TakeOut(i);
  // For a peer that does not know this boot yet, the expected PSN is meaningless: it is not sent.
  if (!instance.peers[pdu.peer].handshake().open()) return;
  Connection& connection = instance.peers.connections[flow.number()];
  connection.rx().OnAnnounced(pdu.rh.psn(), now, instance.params.transport);
  if (connection.rx().MustAckNow(instance.params.transport))
    AckScheduler::Schedule(instance.rx, instance.ports, flow.number(), connection, now);
  lcore_.timers.ArmConnection(instance.peers, flow.number());
}

// Completes the checks of a frame that is no data PDU, and handles control PDUs. (Not marked cold,
// which would optimize for size: with many peers there are as many CREDITs as data PDUs.)
[[gnu::noinline]] Receiver::Checked Receiver::OnNoData(Instance& instance, uint32_t i,
                                                       PlaneIndex plane, Time now) {
  if (!burst_.rh(i).Is(RhVersion::kControl)) return OnSealed(instance, i, plane, now);
  const PeerIndex peer = SenderOf(instance, burst_.series(i), burst_.rh(i), plane);
  if (peer != Instance::kNoPeer) OnControlPdu(instance, i, peer, plane, now);
  return Checked::kDone;
}

void Receiver::OnControlPdu(Instance& instance, uint32_t i, PeerIndex peer, PlaneIndex plane,
                            Time now) {
  ControlMessage message;
  switch (DecodeControl(burst_.CommandsAt(i), burst_.CommandBytesAt(i), message)) {
    case ControlError::kNone:
      break;
    case ControlError::kUnknownType:
      instance.stats.counters.Add(Counter::kRxControlUnknown);
      return;
    case ControlError::kMalformed:
      instance.stats.counters.Add(Counter::kRxControlMalformed);
      return;
  }
  if (instance.sealing.on() &&
      !seal_opener_.FitsForm(burst_, i, *instance.sealing.peers[peer], message)) [[unlikely]] {
    instance.stats.counters.Add(Counter::kRxControlMalformed);
    return;
  }
  // (Credit belongs to the peer, whichever plane the CREDIT arrives on.)
  if (seal_opener_.IsStray(burst_, i) && !NamesPlane(message) &&
      !std::holds_alternative<Credit>(message)) [[unlikely]] {
    instance.stats.counters.Add(Counter::kRxSealPlane);
    return;
  }
  instance.stats.counters.Add(Counter::kRxControlPdus);
  if (const auto* path = std::get_if<Path>(&message)) [[unlikely]] {
    Effects& effects = effects_.For({instance.number, peer});
    if (!instance.peers[peer].association().IsOfAssociation(plane, path->identities, effects))
      return;
    return path_reporter_.OnPath({instance, peer, plane}, *path, *burst_.frame(i),
                                 burst_.series(i).session(), now);
  }
  if (const auto* repair = std::get_if<Repair>(&message)) [[unlikely]] {
    return OnRepair(instance, peer, plane, *repair,
                    SlotOf(instance.peers, peer, plane, burst_.series(i).session()));
  }
  ControlFacts facts{.waits = instance.tx.blocked[peer] != 0,
                     .slot = SlotOf(instance.peers, peer, plane, burst_.series(i).session()),
                     .sealed = instance.sealing.on() && instance.SealOf(peer).IsSealed()};
  if (const auto* hello = std::get_if<Hello>(&message)) {
    facts.is_pong = instance.ping.TakeAnswer(peer, instance.peers.own.hello, *hello, now);
  }
  instance.peers[peer].OnControl(plane, message, facts, now, effects_.For({instance.number, peer}));
}

// Handles a report about one of our connections, which may travel on another path if the connection
// is fenced.
[[gnu::cold]] void Receiver::OnRepair(Instance& instance, PeerIndex peer, PlaneIndex plane,
                                      const Repair& repair, SessionIndex slot) {
  Peer& from = instance.peers[peer];
  if (!from.association().IsOfAssociation(plane, repair.identities,
                                          effects_.For({instance.number, peer}))) {
    return;
  }
  if (repair.fenced_plane || repair.fenced_session) {
    if (!from.OnFenceReport(plane, repair)) {
      return instance.stats.counters.Add(Counter::kRxPlaneStale);
    }
    if (repair.fenced_plane) plane = PlaneIndex(repair.plane);
    slot = SessionIndex(repair.slot);
  } else if (slot == Peer::kNoSlot) {
    return instance.stats.counters.Add(Counter::kRxSession);
  }
  instance.stats.counters.Add(Counter::kRxRepairs);
  acks_.OnRepair(instance, instance.map.At(peer, plane, slot, Vc(repair.vc)), repair, effects_);
}

}  // namespace suede
