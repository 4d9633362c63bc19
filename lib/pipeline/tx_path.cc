// SPDX-License-Identifier: Apache-2.0
// From a client's ring to the wire: take records, pack them, schedule, sequence, send.
#include <algorithm>
#include <cstring>

#include "pipeline/pipeline.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

// Records taken from one queue in one turn: more would make the other queues and the ports wait.
constexpr uint32_t kRecordsPerTurn = 256;

// Writes RH, R-CRC and network header around the commands of a PDU.
[[gnu::always_inline]] inline void FillFrame(const PortContext& port, const HeaderTemplate& header,
                                             Frame* frame, uint8_t* commands, uint32_t bytes,
                                             const ReliabilityHeader& rh) {
  uint8_t* const start = commands - kRhBytes;
  const uint32_t pdu_bytes = FinishPdu(start, bytes, header.length, rh);
  frame->data = WriteHeader(header, start, pdu_bytes, port.tx_offload != TxOffload::kNone);
  frame->length = header.length + pdu_bytes;
  frame->tx_offload = port.tx_offload;
  frame->l2_length = header.l2_length;
  frame->l3_length = header.l3_length;
}

}  // namespace

bool Pipeline::PollClients() {
  bool work = false;
  for (const uint16_t number : clients_.serving()) {
    work |= DrainRing(clients_.queue(number), number);
  }
  return work;
}

bool Pipeline::DrainRing(QueueSlot& slot, uint16_t number) {
  Instance& instance = *instances_[slot.instance];
  PortContext& port = HomePort(instance);
  TxRecord* const records = records_.data();
  uint32_t indices[kBurst];  // of the records' queues
  uint32_t taken = 0;
  while (taken < kRecordsPerTurn) {
    // A record that was taken must find a frame to go into.
    if (!port.link.HasFrames(kBurst)) {
      if (slot.ring.HasWork()) instance.counters.Add(Counter::kTxNoFrame);
      break;
    }
    // Nor may it be one more than the queue's share of what is packed.
    const Shares& shares = port.shares->packed;
    const uint32_t room = std::min(kBurst, shares.Room(slot.packed));
    slot.merges = shares.IsMuch(slot.packed);
    if (room == 0) [[unlikely]] {
      if (slot.ring.HasWork()) instance.counters.Add(Counter::kTxWaitsPacked);
      break;
    }
    const bool draining = clients_.draining() || slot.state == QueueSlot::State::kDraining;
    const uint32_t wanted = draining ? std::min(room, slot.drain_records) : room;
    const uint32_t count = TakeBurst(
        slot.ring, records, wanted,
        [&](uint32_t i, const TxRecord& record) {
          const uint32_t peer = instance.peer_of_xpu[record.xpuid()];
          indices[i] =
              peer != Instance::kNoPeer ? Scheduler::QueueIndex(peer, record.vc()) : TxQueue::kNone;
          if (peer != Instance::kNoPeer) __builtin_prefetch(&instance.scheduler.queue(indices[i]));
        },
        [&](uint32_t i, const TxRecord& record) {
          PackRecord(instance, slot, number, record, indices[i]);
        });
    if (draining) slot.drain_records -= count;
    taken += count;
    if (count < kBurst) break;
  }
  if (slot.ring.broken() && ClientTable::ShowBroken(slot)) {
    Tell({.kind = LcoreEventKind::kQueueBroken,
          .queue = slot.number,
          .instance = slot.instance,
          .client = slot.client});
  }
  return taken != 0;
}

void Pipeline::PackRecord(Instance& instance, QueueSlot& slot, uint16_t number,
                          const TxRecord& record, uint32_t index) {
  if (record.verdict != RecordVerdict::kCommand) {
    const bool marked = record.verdict == RecordVerdict::kErrorMark;
    Discard(slot, number, record, marked ? SUEDE_STATUS_ERROR_MARK : SUEDE_STATUS_MALFORMED);
    return;
  }
  if (index == TxQueue::kNone) {
    Discard(slot, number, record, SUEDE_STATUS_UNKNOWN_XPU);
    return;
  }
  if ((slot.vc_mask >> record.vc() & 1) == 0) [[unlikely]] {
    Discard(slot, number, record, SUEDE_STATUS_MALFORMED);
    return;
  }
  TxQueue& queue = instance.scheduler.queue(index);
  if (queue.lost || record.lines > queue.most_lines) [[unlikely]] {
    if (!queue.lost) instance.counters.Add(Counter::kTxTooManyLines);
    Discard(slot, number, record, SUEDE_STATUS_UNREACHABLE);
    return;
  }
  if (!slot.credits.Take(record.xpuid(), record.vc(), record.lines)) {
    Discard(slot, number, record, SUEDE_STATUS_NO_CREDIT);
    return;
  }
  const PackInput input{.command = record.line + SUEDE_RECORD_CONTROL,
                        .tag = record.tag(),
                        .bytes = record.bytes,
                        .queue = number,
                        .type_and_length = record.type_and_length(),
                        .lines = record.lines,
                        .tagged = (record.flags() & SUEDE_RECORD_COMPLETION) != 0,
                        .transmit_now = (record.flags() & SUEDE_RECORD_TRANSMIT_NOW) != 0 &&
                                        !slot.merges};
  Pdu* pdu = queue.pdus.tail();
  if (pdu == nullptr || !CanAppend(*pdu, input, queue.most_lines)) {
    if (pdu != nullptr) pdu->room = 0;
    pdu = HomePort(instance).link.NewPdu();
    pdu->sent_at = last_turn_;
    pdu->room = static_cast<uint16_t>(instance.params.pack_limit_bytes);
    pdu->peer = static_cast<uint16_t>(Scheduler::PeerOf(index));
    pdu->vc = record.vc();
    queue.pdus.PushBack(pdu);
    ++queued_pdus_;
    ++instance.queued;
    HomePort(instance).shares->packed.OnTake(slot.packed++);
    if (queue.state == TxQueue::State::kIdle) Activate(instance, index);
  }
  slot.runs += Append(*pdu, input) ? 1 : 0;
}

// A command that goes nowhere: its credit goes back at once, and whoever wants to know is told.
void Pipeline::Discard(QueueSlot& slot, uint16_t number, const TxRecord& record, uint8_t status) {
  CounterBlock& counters = instances_[slot.instance]->counters;
  ++slot.discarded;
  switch (status) {
    case SUEDE_STATUS_ERROR_MARK:
      counters.Add(Counter::kTxErrorMark);
      if (!ClientTable::MayTellError(slot, last_turn_)) break;
      Tell({.kind = LcoreEventKind::kTxError, .queue = slot.number, .instance = slot.instance,
            .client = slot.client});
      break;
    case SUEDE_STATUS_UNKNOWN_XPU: counters.Add(Counter::kTxUnknownXpu); break;
    case SUEDE_STATUS_UNREACHABLE: counters.Add(Counter::kTxUnreachable); break;
    case SUEDE_STATUS_NO_CREDIT: counters.Add(Counter::kTxNoCredit); break;
    case SUEDE_STATUS_RESET: counters.Add(Counter::kTxReset); break;
    default: counters.Add(Counter::kTxMalformed); break;
  }
  // What is no command has no VC to give credit for; a command on a VC that is not the client's has.
  const bool has_vc =
      status != SUEDE_STATUS_MALFORMED || record.verdict == RecordVerdict::kCommand;
  const bool charged = has_vc && status != SUEDE_STATUS_NO_CREDIT;
  if (charged && slot.credits.Take(record.xpuid(), record.vc(), record.lines)) {
    slot.credits.Return(record.xpuid(), record.vc(), record.lines);
  }
  if ((record.flags() & SUEDE_RECORD_COMPLETION) != 0) {
    clients_.Complete(number, record.tag(), record.xpuid(), record.vc(), status, counters);
  }
}

// The VCs of which a PDU of the lane could be staged now, as far as its ports go. Where the lane
// has several ports, PickPlane asks each of them for the PDU's own VC.
inline VcMask Pipeline::RoomFor(const Instance& instance, uint32_t lane) const {
  if (instance.lane_is_plane) return instance.ports[lane]->link.room();
  for (const PortContext* port : instance.ports) {
    if (port->link.room() != 0) return kEveryVc;
  }
  return 0;
}

// Of a frame whose commands, `bytes` of them, lie where commands start.
void Pipeline::WriteOneShot(Instance& instance, uint32_t peer, uint32_t plane, Frame* frame,
                            uint32_t bytes, uint32_t traffic_class, const ReliabilityHeader& rh) {
  FillFrame(*instance.ports[plane], instance.header(peer, plane, traffic_class), frame,
            frame->buffer + Frame::kCommandOffset, bytes, rh);
}

// Stages the frame of a sequenced PDU.
[[gnu::always_inline]] inline void Pipeline::StageSequenced(Instance& instance, uint32_t plane,
                                                            Pdu* pdu, Connection& connection) {
  const RpsnField field = connection.TakeRpsn();
  if (field.op == RhOp::kNack) instance.counters.Add(Counter::kTxNacks);
  PortContext& port = *instance.ports[plane];
  FillFrame(port, instance.header(pdu->peer, plane, pdu->vc), FrameOf(pdu), pdu->commands,
            pdu->bytes,
            {.ver = static_cast<uint8_t>(RhVersion::kData),
             .op = field.op,
             .xpuid = instance.params.xpuid,
             .psn = pdu->psn,
             .vc = pdu->vc,
             .partition = instance.params.partition,
             .rpsn = field.rpsn});
  port.link.Stage(pdu);
}

// Serves one queue of a lane.
[[gnu::always_inline]] inline Pipeline::Turn Pipeline::StageOne(Instance& instance, uint32_t lane,
                                                                Time now) {
  Scheduler& scheduler = instance.scheduler;
  if (!scheduler.HasWork(lane)) return Turn::kDone;
  const VcMask room = RoomFor(instance, lane);
  // In strict mode a port that is down never has room, and what was queued for it has to get away.
  if (room == 0 && instance.lanes() == 1) return Turn::kNoRoom;
  const uint32_t index = scheduler.Next(lane);
  TxQueue& queue = scheduler.queue(index);
  const uint32_t peer = Scheduler::PeerOf(index);
  const uint32_t vc = Scheduler::VcOf(index);
  const auto rest = [&] { return scheduler.HasWork(lane) ? Turn::kMore : Turn::kDone; };
  if (queue.pdus.empty() || queue.lane != lane) [[unlikely]] {  // given up, or it has another home
    scheduler.Requeue(index);
    Enlist(instance);
    return rest();
  }
  if ((room >> vc & 1) == 0) [[unlikely]] {
    scheduler.Requeue(index);
    return Turn::kNoRoom;
  }
  Pdu* pdu = queue.pdus.head();
  uint32_t plane = lane;
  if (!instance.lane_is_plane) {
    plane = PickPlane(instance, peer, vc, pdu->bytes);
  } else if (!instance.CanSend(peer, lane, vc, pdu->bytes)) {
    plane = kNoPlane;
  }
  if (plane == kNoPlane) {
    BlockQueue(instance, index, now);
    return rest();
  }
  // One that has left before is sent again after a plane has died.
  const bool again = pdu->credited;
  if (plane != kPlaneFull && !again && !MayHold(instance, peer, vc)) [[unlikely]] {
    WaitForShare(instance, index);
    return rest();
  }
  const uint32_t charge = queue.counts_credit && !again ? pdu->lines : 0;
  if (charge > queue.credit) [[unlikely]] {
    WaitForCredit(instance, index, now);
    return rest();
  }
  if (plane == kPlaneFull || (again && !HomePort(instance).link.HasFrames(1))) [[unlikely]] {
    scheduler.Requeue(index);
    return Turn::kNoRoom;
  }
  queue.pdus.PopFront();
  queue.credit -= charge;
  scheduler.Requeue(index);
  if (again) [[unlikely]] pdu = FreeOfDevice(instance, pdu);
  const uint32_t number = instance.ConnectionIndex(peer, plane, vc);
  Connection& connection = instance.connections[number];
  --queued_pdus_;
  --instance.queued;
  ++instance.inflight;
  instance.inflight_bytes += pdu->bytes;
  connection.OnSend(pdu, now, instance.params.transport);
  instance.CountIn(peer, plane, pdu->bytes);
  if (connection.unacked_count() == 1) {
    ArmConnection(instance, number);
    if (instance.session(peer, plane).up()) {
      instance.session(peer, plane).OnTraffic(now, instance.params.paths);
      ArmSession(instance, peer, plane);
    }
  }
  if (again) [[unlikely]] {
    instance.counters.Add(Counter::kTxMoved);
  } else {
    ReturnCredit(instance, *pdu);
    instance.counters.Add(Counter::kTxPdus);
    instance.counters.Add(Counter::kTxCommands, pdu->command_count);
    instance.counters.Add(Counter::kTxCommandBytes, pdu->bytes);
    instance.histograms[HistogramId::kPduCommands].Record(pdu->command_count);
  }
  StageSequenced(instance, plane, pdu, connection);
  return rest();
}

// Half of each port's places, or all that are left, go to what has to go again.
bool Pipeline::StageRetransmissions(bool all, Time now) {
  bool staged = false;
  for (const auto& port : ports_) {
    if (port->retransmit.empty()) [[likely]] continue;
    const uint32_t end = port->link.ShareOfRetransmissions(all);
    for (; port->link.HasRoomBelow(end) && !port->retransmit.empty(); staged = true) {
      StageRetransmission(*port, now);
    }
  }
  return staged;
}

// What is new, a PDU of each lane in turn, behind what has to go again: of that no more than half,
// where the other half has a use.
bool Pipeline::StagePdus(Time now) {
  bool staged = StageRetransmissions(active_.empty(), now);
  // Ends when no lane has work, or none of those left has room, a few times in a row: one whose
  // peers can use some of its planes only may have others behind them.
  constexpr size_t kTries = 3;
  for (size_t refused = 0; !active_.empty() && refused < active_.size() + kTries;) {
    const LaneRef ref = active_.front();
    Instance& instance = *instances_[ref.instance];
    Turn turn = Turn::kDone;
    do {
      // One that is down leaves the list until it is up.
      turn = !instance.down ? StageOne(instance, ref.lane, now) : Turn::kDone;
      staged |= turn == Turn::kMore;
    } while (turn == Turn::kMore && active_.size() == 1);
    if (turn == Turn::kMore) {
      refused = 0;
    } else if (turn == Turn::kNoRoom) {
      if (!AnyPortHasRoom()) break;
      ++refused;
    }
    active_.pop_front();
    if (turn == Turn::kDone) {
      instance.active_lanes &= static_cast<uint8_t>(~(1u << ref.lane));
    } else {
      active_.push_back(ref);
    }
  }
  return StageRetransmissions(true, now) || staged;
}

bool Pipeline::AnyPortHasRoom() const {
  for (const auto& port : ports_) {
    if (port->link.room() != 0) return true;
  }
  return false;
}

// Of several, the plane that the next PDU to the peer takes: kNoPlane where it has to wait for a
// connection, kPlaneFull where for room.
[[gnu::noinline]] uint32_t Pipeline::PickPlane(const Instance& instance, uint32_t peer, uint32_t vc,
                             uint32_t bytes) const {
  const PeerPaths& paths = instance.paths[peer];
  const TransportParams& params = instance.params.transport;
  uint32_t left = paths.choice;
  uint32_t verdict = kNoPlane;
  while (left != 0) {
    const uint32_t plane =
        paths.Choose(static_cast<PlaneMask>(left), instance.own.inflight_bytes, bytes);
    if (!instance.ports[plane]->link.HasRoom(vc)) {
      verdict = kPlaneFull;
    } else if (instance.connections[instance.ConnectionIndex(peer, plane, vc)].CanSend(bytes,
                                                                                       params)) {
      return plane;
    }
    left &= ~(1u << plane);
  }
  return verdict;
}

// The queue waits until a connection to its peer can take its next PDU.
[[gnu::noinline]] void Pipeline::BlockQueue(Instance& instance, uint32_t index, Time now) {
  const uint32_t peer = Scheduler::PeerOf(index);
  const uint32_t vc = Scheduler::VcOf(index);
  instance.scheduler.Block(index);
  instance.blocked[peer] = static_cast<uint8_t>(instance.blocked[peer] | 1u << vc);
  if (instance.paths[peer].usable != 0) return;
  Effects effects;
  instance.peers[peer].OnWaiting(now, effects);
  Apply(instance, peer, effects);
}

// A PDU that has moved may still be read by the device that it was given to first: then its bytes
// go into another frame.
[[gnu::cold]] Pdu* Pipeline::FreeOfDevice(Instance& instance, Pdu* pdu) {
  Link& home = HomePort(instance).link;
  pdu->moved = false;
  if (!home.IsBusy(FrameOf(pdu))) return pdu;
  Pdu* copy = home.NewPdu();
  uint8_t* const commands = copy->commands;
  *copy = *pdu;
  copy->commands = commands;
  std::memcpy(commands, pdu->commands, pdu->bytes);
  home.ReleasePdu(pdu);
  return copy;
}

void Pipeline::StageRetransmission(PortContext& port, Time now) {
  const ConnectionRef ref = port.retransmit.front();
  port.retransmit.pop_front();
  Instance& instance = *instances_[ref.instance];
  if (instance.down) {
    instance.flags[ref.connection] &= static_cast<uint8_t>(~Instance::kOnRetransmit);
    return;
  }
  Connection& connection = instance.connections[ref.connection];
  if (connection.HasRetransmission()) {
    Pdu* pdu = connection.TakeRetransmission(now, instance.params.transport);
    if (!pdu->note.staged()) {
      instance.counters.Add(Counter::kTxRetransmissions);
      connection.CountRetransmission();
      // What the device may still be reading goes out once more as it is.
      if (port.link.IsBusy(FrameOf(pdu))) {
        port.link.Stage(pdu);
      } else {
        StageSequenced(instance, instance.PlaneOfConnection(ref.connection), pdu, connection);
      }
    }
  }
  if (connection.HasRetransmission()) {
    port.retransmit.push_back(ref);
  } else {
    instance.flags[ref.connection] &= static_cast<uint8_t>(~Instance::kOnRetransmit);
    Unblock(instance, ref.connection);
  }
}

// The commands have left the packing buffers: the PDU counts as held until it ends.
void Pipeline::ReturnCredit(Instance& instance, Pdu& pdu) {
  pdu.credited = true;
  FrameShares& shares = *HomePort(instance).shares;
  shares.packed.OnReturn(clients_.queue(pdu.runs[0].queue).packed--, 1);
  TxQueue& destination = instance.scheduler.queue(instance.DestinationOf(pdu.peer, pdu.vc));
  shares.held.OnTake(destination.held);
  instance.held.OnTake(destination.held++);
  const uint16_t xpuid = instance.params.peers[pdu.peer].xpuid;
  for (uint32_t i = 0; i < pdu.run_count; ++i) {
    QueueSlot& slot = clients_.queue(pdu.runs[i].queue);
    if (slot.segment != nullptr) slot.credits.Return(xpuid, pdu.vc, pdu.runs[i].lines);
  }
}

}  // namespace suede
