// SPDX-License-Identifier: Apache-2.0
// From the wire to a client's ring: check the frame, hear what it acknowledges, sequence, unpack.
#include <algorithm>
#include <cstring>

#include "pipeline/drop_counter.h"
#include "pipeline/pipeline.h"
#include "wire/command.h"
#include "wire/rcrc.h"

namespace suede {
namespace {

uint32_t LoadLe32(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace

bool Pipeline::PollPort(PortContext& port, Time now) {
  Frame* frames[2 * kBurst];
  const uint32_t count = port.link.Receive(frames, now);
  if (count == 0) return false;
  for (uint32_t i = 0; i < count; ++i) __builtin_prefetch(frames[i]->data);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += frames[i]->length;
    if (!OnFrame(port, frames[i], now)) port.link.Release(frames[i]);
  }
  const Handover& handover = port.link.handover();
  lcore_counters_.Add(Counter::kRxFrames, count - handover.frames());
  lcore_counters_.Add(Counter::kRxFrameBytes, bytes - handover.bytes());
  if (handover.is_shared()) [[unlikely]]
    HandOver(port);
  return true;
}

[[gnu::always_inline]] inline bool Pipeline::OnDataPdu(Instance& instance, const ReceivedPdu& pdu,
                                                       Time now) {
  const uint32_t number = instance.ConnectionIndex(pdu.peer, pdu.plane, pdu.rh.vc);
  if (pdu.rh.op != RhOp::kNothing) {
    if (instance.connections[number].IsPlausible(pdu.rh.psn, instance.params.transport)) [[likely]] {
      OnRpsn(instance, number, pdu.rh.op, pdu.rh.rpsn, now);
    } else {
      OnImplausible(instance, number, pdu.rh, now);
    }
  }
  const bool sequenced = pdu.bytes >= 2 && (pdu.commands[0] & 0x0f) != 0;
  if (sequenced) return OnSequenced(instance, number, pdu, now);
  if (ValidateCommands(pdu.commands, pdu.bytes).error != CommandError::kNone) {
    instance.counters.Add(Counter::kRxMalformed);
    return false;
  }
  instance.counters.Add(Counter::kRxAcks);
  Connection& connection = instance.connections[number];
  if (connection.receive_closed()) [[unlikely]] {
    OnClosed(instance, number, pdu, false, now);
  } else if (connection.Judge(pdu.rh.psn) == PsnVerdict::kAhead) [[unlikely]] {
    OnAhead(instance, number, pdu, now);
  }
  return false;
}

// What is for none of our instances is kept, until the end of PollPort, where another lcore has the
// one that it is for. (To call HandOver from here would make every frame dearer.)
[[gnu::always_inline]] inline bool Pipeline::SetAside(PortContext::Place place, Frame* frame,
                                                      const ParsedFrame& parsed) {
  if (place.instance == PortContext::Place::kNowhere) {
    lcore_counters_.Add(Counter::kRxUnknownDestination);
    return false;
  }
  new (frame->notes) ParsedFrame(parsed);
  foreign_[foreign_count_++] = {.frame = frame, .neighbour = place.plane};
  return true;
}

// Returns whether the frame is kept.
bool Pipeline::OnFrame(PortContext& port, Frame* frame, Time now) {
  if (port.link.down()) {
    lcore_counters_.Add(Counter::kRxAdminDown);
    return false;
  }
  const bool trusted = frame->rx_checksum == ChecksumState::kGood;
  const ParsedFrame parsed =
      ParseFrame(port.params.rules, frame->data, frame->length, trusted);
  if (parsed.error != FrameError::kNone) return OnFrameError(port, frame, parsed.error, now);
  const PortContext::Place place = port.PlaceAt(parsed.destination);
  if (place.instance >= PortContext::Place::kElsewhere) [[unlikely]] {
    return SetAside(place, frame, parsed);
  }
  Instance& instance = *instances_[place.instance];
  if (instance.down || instance.own.admin[place.plane] == PlaneAdmin::kDown) {
    instance.counters.Add(Counter::kRxAdminDown);
    return false;
  }
  const uint32_t covered = parsed.pdu_bytes - kRcrcBytes;
  if (Rcrc(parsed.pdu, covered) != LoadLe32(parsed.pdu + covered)) {
    instance.counters.Add(Counter::kRxRcrc);
    return false;
  }
  ReceivedPdu pdu{.rh = DecodeRh(parsed.pdu),
                  .commands = parsed.pdu + kRhBytes,
                  .bytes = covered - kRhBytes,
                  .peer = 0,
                  .plane = place.plane,
                  .frame = frame};
  if (pdu.rh.ver != static_cast<uint8_t>(RhVersion::kData) &&
      pdu.rh.ver != static_cast<uint8_t>(RhVersion::kControl)) {
    instance.counters.Add(Counter::kRxVersion);
    return false;
  }
  if (pdu.rh.partition != instance.params.partition) {
    instance.counters.Add(Counter::kRxPartition);
    return false;
  }
  pdu.peer = instance.peer_of_xpu[pdu.rh.xpuid];
  if (pdu.peer == Instance::kNoPeer) {
    instance.counters.Add(Counter::kRxUnknownXpu);
    return false;
  }
  if (parsed.source != instance.params.peers[pdu.peer].planes[pdu.plane].address) {
    instance.counters.Add(Counter::kRxSource);
    return false;
  }
  if (pdu.rh.ver == static_cast<uint8_t>(RhVersion::kControl)) {
    OnControlPdu(instance, pdu, now);
    return false;
  }
  return OnDataPdu(instance, pdu, now);
}

// What is not SUE's goes up where somebody receives it; all else is dropped. Returns whether the
// frame is kept.
[[gnu::cold]] bool Pipeline::OnFrameError(PortContext& port, Frame* frame,
                                          FrameError error, Time now) {
  const bool is_packet = error == FrameError::kNotSue;
  Handover& handover = port.link.handover();
  if (is_packet && handover.LaneReceivesElsewhere()) {
    return CountHandedOver(handover.PushPacket(frame));
  }
  PacketLane* const packets = port.link.packets();
  if (is_packet && packets != nullptr && packets->receiving()) {
    packets->OfferUp(*frame, now, lcore_counters_);
  } else {
    lcore_counters_.Add(DropCounter(error));
  }
  return false;
}

// An unsequenced PDU shows that sequenced ones are missing or were overtaken.
[[gnu::cold]] void Pipeline::OnAhead(Instance& instance, uint32_t number, const ReceivedPdu& pdu,
                                     Time now) {
  // What we expect of a peer that does not know this boot yet is no answer to anything.
  if (!instance.peers[pdu.peer].handshake().open()) return;
  Connection& connection = instance.connections[number];
  connection.OnAnnounced(pdu.rh.psn, now, instance.params.transport);
  if (connection.MustAckNow(instance.params.transport)) OweAck(instance, number, now);
  ArmConnection(instance, number);
}

// The PDU's own PSN is none that the peer could send next to what it has sent.
[[gnu::cold]] void Pipeline::OnImplausible(Instance& instance, uint32_t number,
                                           const ReliabilityHeader& rh, Time now) {
  Connection& connection = instance.connections[number];
  // A peer that does not speak HELLO may have restarted without a word, and says so by nothing else.
  if (connection.lost() && instance.peer_of(number).handshake().plain()) {
    return OnRpsn(instance, number, rh.op, rh.rpsn, now);
  }
  connection.OnImplausible();
  instance.counters.Add(Counter::kRxRpsnImplausible);
}

void Pipeline::OnRpsn(Instance& instance, uint32_t number, RhOp op, Psn rpsn, Time now) {
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
      OnProbePong(instance, instance.PeerOfConnection(number), instance.PlaneOfConnection(number),
                  now);
    }
    verdict = connection.OnNack(rpsn, now, params, acked);
    if (connection.HasRetransmission()) WantRetransmission(instance, number);
    if (connection.lost()) [[unlikely]] ArmConnection(instance, number);
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
  Unblock(instance, number);
}

[[gnu::cold]] void Pipeline::OnResumed(Instance& instance, uint32_t number) {
  LetGo(instance, number);
  Effects effects;
  instance.peer_of(number).OnResumed(instance.PlaneOfConnection(number),
                                     instance.VcOfConnection(number), effects);
  Apply(instance, instance.PeerOfConnection(number), effects);
}

// A data PDU on a connection that accepts nothing: of a generation that has ended, or of a peer
// with which there is no association.
[[gnu::cold]] void Pipeline::OnClosed(Instance& instance, uint32_t number, const ReceivedPdu& pdu,
                                      bool sequenced, Time now) {
  Effects effects;
  instance.peers[pdu.peer].OnClosedData(pdu.plane, instance.VcOfConnection(number), sequenced,
                                        pdu.rh.op, pdu.rh.rpsn, now, effects);
  Apply(instance, pdu.peer, effects);
}

// Returns whether the frame is kept.
bool Pipeline::OnSequenced(Instance& instance, uint32_t number, const ReceivedPdu& pdu, Time now) {
  Connection& connection = instance.connections[number];
  if (connection.receive_closed()) [[unlikely]] {
    OnClosed(instance, number, pdu, true, now);
    return false;
  }
  const PsnVerdict verdict = connection.Judge(pdu.rh.psn);
  if (verdict != PsnVerdict::kExpected) {
    const bool ahead = verdict == PsnVerdict::kAhead;
    instance.counters.Add(ahead ? Counter::kRxAhead : Counter::kRxDuplicate);
    if (ahead) {
      connection.OnGap(now, instance.params.transport);
    } else {
      connection.OnDuplicate();
    }
    OweAck(instance, number, now);
    return false;
  }
  uint32_t lines_needed = 0;
  const Delivery delivery = Deliver(instance, pdu, lines_needed);
  switch (delivery) {
    case Delivery::kDelivered:
    case Delivery::kKept:
      connection.Accept();
      CountAccepted(instance, pdu.peer, pdu.rh.vc, lines_needed);
      instance.counters.Add(Counter::kRxPdus);
      OweAck(instance, number, now);
      break;
    case Delivery::kRefused:
      OnRefusal(instance, number, pdu, lines_needed);
      break;
    case Delivery::kMalformed:
      instance.counters.Add(Counter::kRxMalformed);
      break;
  }
  return delivery == Delivery::kKept;
}

Pipeline::Delivery Pipeline::Deliver(Instance& instance, const ReceivedPdu& pdu,
                                     uint32_t& lines_needed) {
  const uint32_t client = ClaimantOf(instance, pdu.rh.vc);
  if (client == kNoClient || !instance.unclaimed[pdu.rh.vc].empty()) {
    return Keep(instance, pdu, lines_needed);
  }
  const Delivery delivery = WriteCommands(instance, client, pdu.rh.vc, pdu.rh.xpuid, pdu.commands,
                                          pdu.bytes, lines_needed);
  if (delivery != Delivery::kRefused) [[likely]] return delivery;
  return KeepPromised(instance, pdu, lines_needed);
}

Pipeline::Delivery Pipeline::WriteCommands(Instance& instance, uint32_t client, uint8_t vc,
                                           uint16_t source, const uint8_t* commands,
                                           uint32_t bytes, uint32_t& lines_needed) {
  ClientSlot& slot = clients_.client(client);
  CommandReader reader(commands, bytes);
  const DeliveredCommands delivered = DeliverCommands(
      slot.rings[vc], reader,
      ReceivedHead(vc, source, instance.params.xpuid, instance.params.instance));
  if (!reader.ok() || delivered.refused) {
    lines_needed = delivered.lines + SUEDE_MAX_RECORD_LINES;
    return !reader.ok() ? Delivery::kMalformed : Delivery::kRefused;
  }
  clients_.MarkReceived(slot, vc);
  lines_needed = delivered.lines;
  instance.counters.Add(Counter::kRxCommands, delivered.count);
  instance.counters.Add(Counter::kRxCommandBytes, delivered.bytes);
  return Delivery::kDelivered;
}

// Nobody has claimed the VC, or what came before still waits: the PDU waits in its frame.
Pipeline::Delivery Pipeline::Keep(Instance& instance, const ReceivedPdu& pdu,
                                  uint32_t& lines_needed) {
  const uint8_t vc = pdu.rh.vc;
  CommandReader reader(pdu.commands, pdu.bytes);
  uint32_t lines = 0;
  while (reader.Next()) lines += RecordLines(reader.shape().bytes());
  if (reader.error() != CommandError::kNone) return Delivery::kMalformed;
  const auto bytes = static_cast<uint32_t>(reader.command() - pdu.commands);
  lines_needed = lines + SUEDE_MAX_RECORD_LINES;
  PduList& list = instance.unclaimed[vc];
  const uint32_t count = instance.unclaimed_count[vc];
  if (count >= instance.params.unclaimed_pdus) {
    const RxCredit& credit = instance.rx_credit[Scheduler::QueueIndex(pdu.peer, vc)];
    if (!credit.counts || lines > credit.held()) return Delivery::kRefused;
    if (list.tail() != nullptr && AppendToKept(*list.tail(), pdu, bytes, lines)) {
      CountKept(instance, vc, lines, true);
      lines_needed = lines;
      return Delivery::kDelivered;
    }
    if (count >= instance.params.unclaimed_pdus + kMostPromisedPdus) return Delivery::kRefused;
  }
  lines_needed = lines;
  Pdu* kept = new (pdu.frame->notes) Pdu;
  kept->commands = const_cast<uint8_t*>(pdu.commands);
  kept->bytes = static_cast<uint16_t>(bytes);
  kept->lines = static_cast<uint16_t>(lines);
  kept->peer = static_cast<uint16_t>(pdu.peer);
  kept->vc = vc;
  list.PushBack(kept);
  CountKept(instance, vc, lines, true);
  ++instance.unclaimed_count[vc];
  instance.counters.Add(Counter::kRxUnclaimed);
  return Delivery::kKept;
}

// What its peer was granted has a place, also where the ring that it was promised of has gone: claims
// have changed hands, or a peer that counts no credit has taken the room.
[[gnu::cold]] Pipeline::Delivery Pipeline::KeepPromised(Instance& instance, const ReceivedPdu& pdu,
                                                        uint32_t& lines_needed) {
  const uint8_t vc = pdu.rh.vc;
  const RxCredit& credit = instance.rx_credit[Scheduler::QueueIndex(pdu.peer, vc)];
  if (!credit.counts || lines_needed > credit.held() + SUEDE_MAX_RECORD_LINES) {
    return Delivery::kRefused;
  }
  const bool first = instance.unclaimed[vc].empty();
  const Delivery delivery = Keep(instance, pdu, lines_needed);
  if (first && delivery == Delivery::kKept) {
    waiting_.push_back({.instance = instance.number, .vc = vc});
  }
  return delivery;
}

// Puts the commands of a PDU behind those of one that waits and is of the same peer, if there is
// room in its frame, and in any ring.
[[gnu::cold]] bool Pipeline::AppendToKept(Pdu& kept, const ReceivedPdu& pdu, uint32_t bytes,
                                          uint32_t lines) {
  const Frame* frame = FrameOf(&kept);
  const uint8_t* end = frame->buffer + frame->capacity - Frame::kSlackBytes;
  const uint32_t together = kept.bytes + bytes;
  if (kept.peer != pdu.peer || kept.commands + together > end || together > UINT16_MAX ||
      kept.lines + lines > TxQueue::kUnknownReceiver) {
    return false;
  }
  std::memcpy(kept.commands + kept.bytes, pdu.commands, bytes);
  kept.bytes = static_cast<uint16_t>(together);
  kept.lines = static_cast<uint16_t>(kept.lines + lines);
  return true;
}

// Of a PDU that was accepted. What its peer was not granted is in no sum.
inline void Pipeline::CountAccepted(Instance& instance, uint32_t peer, uint32_t vc,
                                    uint32_t lines) {
  RxCredit& credit = instance.rx_credit[Scheduler::QueueIndex(peer, vc)];
  if (!credit.counts) return;
  const uint32_t promised = std::min(lines, credit.held());
  credit.accepted += lines;
  credit.limit += lines - promised;
  credit.touched = credit_tick_;
  credit.widest = std::max(credit.widest, static_cast<uint16_t>(lines));
  instance.feeds[vc].promised -= promised;
  RingOf(instance, vc).promised -= promised;
  if (!credit.waiting && static_cast<int32_t>(credit.accepted - credit.renew_at) >= 0) {
    WantGrant(instance, peer, vc);
  }
}

void Pipeline::OnRefusal(Instance& instance, uint32_t number, const ReceivedPdu& pdu,
                         uint32_t lines) {
  Connection& connection = instance.connections[number];
  instance.counters.Add(Counter::kRxNotReady);
  if (!connection.not_ready()) {
    connection.OnRefused();
    refused_.push_back({.instance = instance.number,
                        .connection = number,
                        .lines = lines,
                        .psn = pdu.rh.psn,
                        .vc = pdu.rh.vc});
  }
  const auto backoff = instance.params.transport.not_ready_backoff;
  SendControl(instance, pdu.peer, pdu.plane,
              NotReady{.vc = pdu.rh.vc,
                       .expected = pdu.rh.psn,
                       .backoff_us = static_cast<uint32_t>(backoff.count() / 1000)});
}

// Hands over what waited for a client, as far as its ring has room.
bool Pipeline::DeliverUnclaimed() {
  bool work = false;
  for (size_t i = 0; i < waiting_.size();) {
    Instance& instance = *instances_[waiting_[i].instance];
    const uint8_t vc = waiting_[i].vc;
    const uint32_t client = ClaimantOf(instance, vc);
    PduList& list = instance.unclaimed[vc];
    while (client != kNoClient && !list.empty()) {
      Pdu* pdu = list.head();
      uint32_t lines_needed = 0;
      const uint16_t source = instance.params.peers[pdu->peer].xpuid;
      if (WriteCommands(instance, client, vc, source, pdu->commands, pdu->bytes, lines_needed) ==
          Delivery::kRefused) {
        break;
      }
      list.PopFront();
      CountKept(instance, vc, pdu->lines, false);
      --instance.unclaimed_count[vc];
      HomePort(instance).link.ReleasePdu(pdu);
      work = true;
    }
    if (list.empty() || client == kNoClient) {
      waiting_[i] = waiting_.back();
      waiting_.pop_back();
    } else {
      ++i;
    }
  }
  return work;
}

}  // namespace suede
