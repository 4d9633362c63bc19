// SPDX-License-Identifier: Apache-2.0
#include "send/ring_drainer.h"

#include <algorithm>

namespace suede {
namespace {

// Max records taken from one queue in a poll iteration: more would delay the other queues and the
// ports.
constexpr uint32_t kRecordsPerIteration = 256;

[[gnu::always_inline]] inline PackInput InputOf(const QueueSlot& slot, uint16_t number,
                                                const TxRecord& run) {
  return {.command = run.line + SUEDE_RECORD_CONTROL,
          .tag = run.tag(),
          .bytes = run.bytes,
          .queue = number,
          .type_and_length = run.type_and_length(),
          .lines = run.lines,
          .tagged = (run.flags() & SUEDE_RECORD_COMPLETION) != 0,
          .transmit_now = (run.flags() & SUEDE_RECORD_TRANSMIT_NOW) != 0 && !slot.merges,
          .stride = run.lines * SUEDE_LINE_BYTES};
}

}  // namespace

// Returns the last PDU of the transmit queue or, if that PDU takes no more, a new PDU behind it.
[[gnu::always_inline]] inline Pdu& RingDrainer::PduFor(TransmitState& tx, QueueSlot& slot,
                                                       TxQueue& queue, uint32_t index,
                                                       const PackInput& input) {
  if (Pdu* const last = queue.pdus.tail(); last != nullptr) {
    if (CanAppend(*last, input, queue.max_lines)) return *last;
    last->room = 0;
    queue.octets_ahead += tx.OctetsOf(1, last->bytes);
  }
  Pdu* const pdu = tx.home.frames().NewPdu();
  pdu->sent_at = lcore_.now;
  pdu->room = static_cast<uint16_t>(tx.params.pack_limit_bytes);
  pdu->peer = static_cast<uint16_t>(Scheduler::PeerOf(index));
  pdu->vc = static_cast<uint8_t>(Scheduler::VcOf(index));
  queue.pdus.PushBack(pdu);
  ++tx.queued;
  tx.shares.packed.OnTake(slot.packed++);
  if (queue.state == TxQueue::State::kIdle) run_queue_.Activate(tx, index);
  return *pdu;
}

// Packs each of `count` commands into a PDU of its own, which it closes, behind a closed PDU.
[[gnu::always_inline]] inline void RingDrainer::PackEach(TransmitState& tx, QueueSlot& slot,
                                                         const PackInput& input, uint32_t count,
                                                         uint32_t index) {
  if (count == 0) return;
  TxQueue& queue = tx.scheduler.queue(index);
  FrameCache& frames = tx.home.frames();
  queue.octets_ahead += tx.OctetsOf(1, queue.pdus.tail()->bytes) +
                        tx.OctetsOf(count - 1, (count - 1) * PackedBytes(input));
  Pdu* const first = frames.NewPdu();
  first->sent_at = lcore_.now;
  first->peer = static_cast<uint16_t>(Scheduler::PeerOf(index));
  first->vc = static_cast<uint8_t>(Scheduler::VcOf(index));
  first->room = static_cast<uint16_t>(PackedBytes(input));
  Append(*first, input);
  queue.pdus.PushBack(first);
  const uint8_t* command = input.command;
  for (uint32_t left = count; --left != 0;) {
    command += input.stride;
    Pdu* const pdu = frames.NewPdu(*first);
    CopyLike(pdu->commands, command, input);
    queue.pdus.PushBack(pdu);
  }
  slot.runs += count;
  tx.queued += count;
  tx.shares.packed.OnTake(slot.packed, count);
  slot.packed += count;
}

[[gnu::noinline]] void RingDrainer::PackRun(TransmitState& tx, QueueSlot& slot, uint16_t number,
                                            const TxRecord& run, uint32_t count, uint32_t index) {
  TxQueue& queue = tx.scheduler.queue(index);
  PackInput input = InputOf(slot, number, run);
  while (count != 0) {
    Pdu& pdu = PduFor(tx, slot, queue, index, input);
    const Appended appended = Append(pdu, input, count, queue.max_lines);
    slot.runs += appended.new_run ? 1 : 0;
    count -= appended.count;
    input.command += size_t{appended.count} * input.stride;
    // The first of these commands has closed the queue's last PDU, and the queue has work.
    if (input.transmit_now) return PackEach(tx, slot, input, count, index);
  }
}

[[gnu::always_inline]] inline void RingDrainer::Pack(TransmitState& tx, QueueSlot& slot,
                                                     uint16_t number, const TxRecord& run,
                                                     uint32_t index) {
  if (run.verdict != RecordVerdict::kCommand) {
    const bool marked = run.verdict == RecordVerdict::kErrorMark;
    Discard(slot, number, run, marked ? SUEDE_STATUS_ERROR_MARK : SUEDE_STATUS_MALFORMED);
    return;
  }
  if (index == TxQueue::kNone) {
    Discard(slot, number, run, SUEDE_STATUS_UNKNOWN_XPU);
    return;
  }
  if ((slot.vc_mask >> run.vc() & 1) == 0) [[unlikely]] {
    Discard(slot, number, run, SUEDE_STATUS_MALFORMED);
    return;
  }
  TxQueue& queue = tx.scheduler.queue(index);
  if (queue.lost || run.lines > queue.max_lines) [[unlikely]] {
    if (!queue.lost)
      lcore_.instances[slot.instance]->stats.counters.Add(Counter::kTxTooManyLines, run.count);
    Discard(slot, number, run, SUEDE_STATUS_UNREACHABLE);
    return;
  }
  const uint32_t count = slot.credits.Take(run.xpuid(), run.vc(), run.lines, run.count);
  if (count != run.count) [[unlikely]] {
    for (uint32_t i = count; i < run.count; ++i) {
      DiscardOne(slot, number, run, SUEDE_STATUS_NO_CREDIT);
    }
    if (count == 0) return;
  }
  if (count != 1) return PackRun(tx, slot, number, run, count, index);
  const PackInput input = InputOf(slot, number, run);
  Pdu& pdu = PduFor(tx, slot, queue, index, input);
  slot.runs += Append(pdu, input).new_run ? 1 : 0;
}

bool RingDrainer::Poll() {
  bool work = false;
  for (const uint16_t number : lcore_.clients.serving()) {
    QueueSlot& slot = lcore_.clients.queue(number);
    if (slot.ring.HasWork()) work |= Drain(slot, number);
  }
  return work;
}

bool RingDrainer::Drain(QueueSlot& slot, uint16_t number) {
  Instance& instance = *lcore_.instances[slot.instance];
  TransmitState& tx = instance.tx;
  TxRecord* const runs = runs_.data();
  uint32_t indices[kBurst];  // of the runs' queues
  uint32_t taken = 0;
  while (taken < kRecordsPerIteration) {
    // A record that was taken needs a frame.
    if (!tx.home.frames().Has(kBurst)) {
      if (slot.ring.HasWork()) instance.stats.counters.Add(Counter::kTxNoFrame);
      break;
    }
    // A record that was taken must not exceed the queue's share of packed PDUs.
    const Shares& shares = tx.shares.packed;
    const uint32_t room = std::min(kBurst, shares.Room(slot.packed));
    slot.merges = shares.IsMuch(slot.packed);
    if (room == 0) [[unlikely]] {
      if (slot.ring.HasWork()) instance.stats.counters.Add(Counter::kTxWaitsPacked);
      break;
    }
    const bool draining = lcore_.clients.draining() || slot.state == QueueSlot::State::kDraining;
    const uint32_t wanted = draining ? std::min(room, slot.drain_records) : room;
    const uint32_t count = TakeBurst(
        slot.ring, runs, wanted,
        [&](uint32_t i, const TxRecord& run) {
          const PeerIndex peer = instance.peers.OfXpu(run.xpuid());
          indices[i] =
              peer != Instance::kNoPeer ? Scheduler::IndexOf(peer, Vc(run.vc())) : TxQueue::kNone;
          if (peer != Instance::kNoPeer) __builtin_prefetch(&tx.scheduler.queue(indices[i]));
        },
        [&](uint32_t i, const TxRecord& run)
            __attribute__((always_inline)) { Pack(tx, slot, number, run, indices[i]); });
    if (draining) slot.drain_records -= count;
    taken += count;
    if (count < kBurst) break;
  }
  if (slot.ring.broken() && ClientTable::ShowBroken(slot)) {
    lcore_.events.Emit({.kind = LcoreEventKind::kQueueBroken,
                        .queue = slot.number,
                        .instance = slot.instance,
                        .client = slot.client});
  }
  return taken != 0;
}

// Discards commands: returns their credit at once, and completes tagged commands.
void RingDrainer::Discard(QueueSlot& slot, uint16_t number, const TxRecord& run, uint8_t status) {
  for (uint32_t i = 0; i < run.count; ++i) DiscardOne(slot, number, run, status);
}

void RingDrainer::DiscardOne(QueueSlot& slot, uint16_t number, const TxRecord& record,
                             uint8_t status) {
  CounterBlock& counters = lcore_.instances[slot.instance]->stats.counters;
  ++slot.discarded;
  switch (status) {
    case SUEDE_STATUS_ERROR_MARK:
      counters.Add(Counter::kTxErrorMark);
      if (!ClientTable::MayEmitError(slot, lcore_.now)) break;
      lcore_.events.Emit({.kind = LcoreEventKind::kTxError,
                          .queue = slot.number,
                          .instance = slot.instance,
                          .client = slot.client});
      break;
    case SUEDE_STATUS_UNKNOWN_XPU:
      counters.Add(Counter::kTxUnknownXpu);
      break;
    case SUEDE_STATUS_UNREACHABLE:
      counters.Add(Counter::kTxUnreachable);
      break;
    case SUEDE_STATUS_NO_CREDIT:
      counters.Add(Counter::kTxNoCredit);
      break;
    case SUEDE_STATUS_RESET:
      counters.Add(Counter::kTxReset);
      break;
    default:
      counters.Add(Counter::kTxMalformed);
      break;
  }
  // A malformed record has no VC, so no credit is returned; but a command on a VC that is not the
  // client's has one.
  const bool has_vc = status != SUEDE_STATUS_MALFORMED || record.verdict == RecordVerdict::kCommand;
  const bool charged = has_vc && status != SUEDE_STATUS_NO_CREDIT;
  if (charged && slot.credits.Take(record.xpuid(), record.vc(), record.lines)) {
    slot.credits.Return(record.xpuid(), record.vc(), record.lines);
  }
  if ((record.flags() & SUEDE_RECORD_COMPLETION) != 0) {
    lcore_.clients.Complete(number, record.tag(), record.xpuid(), record.vc(), status, counters);
  }
}

}  // namespace suede
