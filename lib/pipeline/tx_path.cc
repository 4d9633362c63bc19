// From a client's ring to the wire: take records, pack them, schedule, sequence, send.
#include <algorithm>
#include <cstring>

#include "pipeline/pipeline.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

// Records taken from one queue in one turn: more would make the other queues and the ports wait.
constexpr uint32_t kRecordsPerTurn = 256;

}  // namespace

bool Pipeline::PollClients() {
  bool work = false;
  for (const uint16_t number : serving_) work |= DrainRing(queues_[number], number);
  return work;
}

bool Pipeline::DrainRing(QueueSlot& slot, uint16_t number) {
  Instance& instance = *instances_[slot.instance];
  PortContext& port = PortOf(instance);
  TxRecord* const records = records_.data();
  uint32_t indices[kBurst];  // of the records' queues
  uint32_t taken = 0;
  while (taken < kRecordsPerTurn) {
    // A record that was taken must find a frame to go into.
    if (!port.HasFrames(kBurst)) {
      if (slot.ring.HasWork()) instance.counters.Add(Counter::kTxNoFrame);
      break;
    }
    const bool draining = draining_ || slot.state == QueueSlot::State::kDraining;
    const uint32_t wanted = draining ? std::min(kBurst, slot.drain_records) : kBurst;
    const uint32_t count = slot.ring.Poll(records, wanted);
    if (draining) slot.drain_records -= count;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t peer = instance.peer_of_xpu[records[i].xpuid()];
      indices[i] = peer != Instance::kNoPeer ? Scheduler::QueueIndex(peer, records[i].vc())
                                             : TxQueue::kNone;
      if (peer != Instance::kNoPeer) __builtin_prefetch(&instance.scheduler.queue(indices[i]));
    }
    for (uint32_t i = 0; i < count; ++i) PackRecord(instance, slot, number, records[i], indices[i]);
    slot.ring.Release();
    taken += count;
    if (count < kBurst) break;
  }
  if (slot.ring.broken() && slot.segment != nullptr) {
    StoreRelease(slot.segment->queue_state[slot.number].value, SUEDE_QUEUE_BROKEN);
    if (!slot.told_broken) {
      slot.told_broken = true;
      Tell({.kind = LcoreEventKind::kQueueBroken, .queue = slot.number, .instance = slot.instance,
            .client = slot.client});
    }
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
  TxQueue& queue = instance.scheduler.queue(index);
  if (queue.lost) {
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
                        .transmit_now = (record.flags() & SUEDE_RECORD_TRANSMIT_NOW) != 0};
  Pdu* pdu = queue.pdus.tail();
  if (pdu == nullptr || !CanAppend(*pdu, input)) {
    if (pdu != nullptr) pdu->room = 0;
    pdu = PortOf(instance).NewPdu();
    pdu->sent_at = last_turn_;
    pdu->room = static_cast<uint16_t>(instance.params.pack_limit_bytes);
    pdu->peer = static_cast<uint16_t>(Scheduler::PeerOf(index));
    pdu->vc = record.vc();
    queue.pdus.PushBack(pdu);
    ++queued_pdus_;
    ++instance.queued;
    if (queue.state == TxQueue::State::kIdle) Activate(instance, index);
  }
  slot.runs += Append(*pdu, input) ? 1 : 0;
}

// A command that goes nowhere: its credit goes back at once, and whoever wants to know is told.
void Pipeline::Discard(QueueSlot& slot, uint16_t number, const TxRecord& record, uint8_t status) {
  CounterBlock& counters = instances_[slot.instance]->counters;
  ++slot.discarded;
  switch (status) {
    case SUEDE_STATUS_ERROR_MARK: counters.Add(Counter::kTxErrorMark); break;
    case SUEDE_STATUS_UNKNOWN_XPU: counters.Add(Counter::kTxUnknownXpu); break;
    case SUEDE_STATUS_UNREACHABLE: counters.Add(Counter::kTxUnreachable); break;
    case SUEDE_STATUS_NO_CREDIT: counters.Add(Counter::kTxNoCredit); break;
    case SUEDE_STATUS_RESET: counters.Add(Counter::kTxReset); break;
    default: counters.Add(Counter::kTxMalformed); break;
  }
  const bool charged = status != SUEDE_STATUS_MALFORMED && status != SUEDE_STATUS_NO_CREDIT;
  if (charged && slot.credits.Take(record.xpuid(), record.vc(), record.lines)) {
    slot.credits.Return(record.xpuid(), record.vc(), record.lines);
  }
  if ((record.flags() & SUEDE_RECORD_COMPLETION) != 0) {
    CompleteTag(slot, number, record.tag(), record.xpuid(), record.vc(), status);
  }
}

// Merges a management packet into the port's burst: one at most, in front of the turn's data, so
// that it is neither starved nor delays them by more than a frame.
bool Pipeline::StagePacket(PortContext& port) {
  if (port.packets == nullptr || !port.packets->HasPacket()) return false;
  if (!port.HasStageRoom() || !port.HasFrames(1)) return false;
  Pdu* pdu = port.NewPdu();
  pdu->orphaned = true;
  port.packets->TakePacket(*FrameOf(pdu));
  port.Stage(pdu);
  lcore_counters_.Add(Counter::kMgmtTxPackets);
  return true;
}

bool Pipeline::StagePdus(PortContext& port, Time now) {
  const uint32_t before = port.staged_count;
  while (port.HasStageRoom()) {
    if (!port.retransmit.empty()) {
      StageRetransmission(port, now);
      continue;
    }
    if (port.active_instances.empty()) break;
    const uint32_t number = port.active_instances.front();
    Instance& instance = *instances_[number];
    // At its bound of frames in flight an instance leaves the list until some are acknowledged, and
    // one that is down until it is up.
    const bool more = !instance.down && instance.inflight < instance.params.inflight_pdus &&
                      StageOne(instance, port, now);
    if (more && port.active_instances.size() == 1) continue;
    port.active_instances.pop_front();
    instance.on_active_list = more;
    if (more) port.active_instances.push_back(number);
  }
  return port.staged_count != before;
}

// Serves one queue of the instance. Returns whether there are more that can be served.
bool Pipeline::StageOne(Instance& instance, PortContext& port, Time now) {
  Scheduler& scheduler = instance.scheduler;
  if (!scheduler.HasWork()) return false;
  const uint32_t index = scheduler.Next();
  TxQueue& queue = scheduler.queue(index);
  const uint32_t peer = Scheduler::PeerOf(index);
  const uint32_t vc = Scheduler::VcOf(index);
  const uint32_t number = instance.ConnectionIndex(peer, vc);
  Connection& connection = instance.connections[number];
  Pdu* pdu = queue.pdus.head();
  if (instance.resolving[peer] != 0) [[unlikely]] {
    instance.counters.Add(Counter::kTxWaitsMac);
    scheduler.Block(index);
    instance.blocked[number] = static_cast<uint8_t>(instance.blocked[number] | 1u << vc);
    return scheduler.HasWork();
  }
  const bool open = instance.handshakes[peer].open();
  if (!open || !connection.CanSend(pdu->bytes, instance.params.transport)) {
    if (!open) Greet(instance, peer, now);
    scheduler.Block(index);
    instance.blocked[number] = static_cast<uint8_t>(instance.blocked[number] | 1u << vc);
    return scheduler.HasWork();
  }
  queue.pdus.PopFront();
  scheduler.Requeue(index);
  --queued_pdus_;
  --instance.queued;
  ++instance.inflight;
  instance.inflight_bytes += pdu->bytes;
  connection.OnSend(pdu, now, instance.params.transport);
  if (connection.unacked_count() == 1) ArmConnection(instance, number);
  ReturnCredit(instance, *pdu);
  instance.counters.Add(Counter::kTxPdus);
  instance.counters.Add(Counter::kTxCommands, pdu->command_count);
  instance.counters.Add(Counter::kTxCommandBytes, pdu->bytes);
  instance.histograms[HistogramId::kPduCommands].Record(pdu->command_count);
  StageSequenced(instance, port, pdu, connection);
  return scheduler.HasWork();
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
    if (!pdu->staged) {
      instance.counters.Add(Counter::kTxRetransmissions);
      connection.CountRetransmission();
      // What the device may still be reading goes out once more as it is.
      if (port.port->IsBusy(FrameOf(pdu))) {
        port.Stage(pdu);
      } else {
        StageSequenced(instance, port, pdu, connection);
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

// Writes RH, R-CRC and network header around a sequenced PDU and stages its frame.
void Pipeline::StageSequenced(Instance& instance, PortContext& port, Pdu* pdu,
                              Connection& connection) {
  const RpsnField field = connection.TakeRpsn();
  if (field.op == RhOp::kNack) instance.counters.Add(Counter::kTxNacks);
  WriteFrame(instance, port, pdu, pdu->vc,
             {.ver = static_cast<uint8_t>(RhVersion::kData),
              .op = field.op,
              .xpuid = instance.params.xpuid,
              .psn = pdu->psn,
              .vc = pdu->vc,
              .partition = instance.params.partition,
              .rpsn = field.rpsn});
  port.Stage(pdu);
}

void Pipeline::WriteFrame(Instance& instance, PortContext& port, Pdu* pdu, uint32_t traffic_class,
                          const ReliabilityHeader& rh) {
  const HeaderTemplate& header = instance.header(pdu->peer, traffic_class);
  uint8_t* const start = pdu->commands - kRhBytes;
  const uint32_t pdu_bytes = FinishPdu(start, pdu->bytes, header.length, rh);
  Frame* frame = FrameOf(pdu);
  frame->data = WriteHeader(header, start, pdu_bytes, port.tx_offload != TxOffload::kNone);
  frame->length = header.length + pdu_bytes;
  frame->tx_offload = port.tx_offload;
  frame->l2_length = header.l2_length;
  frame->l3_length = header.l3_length;
}

// The commands have left the packing buffers.
void Pipeline::ReturnCredit(const Instance& instance, const Pdu& pdu) {
  const uint16_t xpuid = instance.params.peers[pdu.peer].xpuid;
  for (uint32_t i = 0; i < pdu.run_count; ++i) {
    QueueSlot& slot = queues_[pdu.runs[i].queue];
    if (slot.segment != nullptr) slot.credits.Return(xpuid, pdu.vc, pdu.runs[i].lines);
  }
}

void PortContext::TransmitStaged(CounterBlock& counters) {
  if (staged_count == 0 || down) return;
  const uint32_t sent = port->Transmit(staged.data(), staged_count);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sent; ++i) {
    Frame* frame = staged[i];
    Pdu* pdu = PduOf(frame);
    bytes += frame->length;
    pdu->staged = false;
    if (pdu->orphaned) Release(frame);
  }
  counters.Add(Counter::kTxFrames, sent);
  counters.Add(Counter::kTxFrameBytes, bytes);
  if (sent == staged_count) {
    staged_count = 0;
    return;
  }
  counters.Add(Counter::kTxPortFull);
  std::memmove(staged.data(), staged.data() + sent, (staged_count - sent) * sizeof(Frame*));
  staged_count -= sent;
}

}  // namespace suede
