// SPDX-License-Identifier: Apache-2.0
#include "receive/deliver.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "wire/command.h"

namespace suede {

bool Deliverer::DeliverTo(RxRingWriter& ring, uint64_t head, const uint8_t* commands,
                          uint32_t bytes, DeliveredRun& run) {
  const DeliveredCommands written = DeliverCommands<CommandReader>(ring, head, commands, bytes);
  if (written.fate != CommandsFate::kDelivered) [[unlikely]]
    return false;
  ++run.pdus;
  run.commands += written.count;
  run.bytes += written.bytes;
  run.lines += written.lines;
  if (written.lines > run.widest) [[unlikely]]
    run.widest = written.lines;
  return true;
}

Delivered Deliverer::WriteCommands(CounterBlock& counters, const Target& target,
                                   const uint8_t* commands, uint32_t bytes) {
  RxRingWriter& ring = target.client->rings[target.vc];
  const DeliveredCommands written =
      DeliverCommands<CommandReader>(ring, target.head, commands, bytes);
  if (written.fate != CommandsFate::kDelivered) [[unlikely]] {
    return {written.fate == CommandsFate::kMalformed ? Delivery::kMalformed : Delivery::kRefused,
            written.lines + SUEDE_MAX_RECORD_LINES};
  }
  CountRun(counters, target, {.commands = written.count, .bytes = written.bytes});
  return {Delivery::kDelivered, written.lines};
}

Delivered Deliverer::Deliver(ReceiveState& rx, CounterBlock& counters, const Target& target,
                             const ReceivedPdu& pdu) {
  if (target.client == nullptr || !rx.unclaimed[target.vc].empty()) [[unlikely]] {
    return Keep(rx, counters, pdu);
  }
  const Delivered delivered = WriteCommands(counters, target, pdu.commands, pdu.bytes);
  if (delivered.delivery != Delivery::kRefused) [[likely]]
    return delivered;
  return KeepPromised(rx, counters, pdu, delivered.lines);
}

// Keeps a PDU in its frame: no client has claimed the VC, or earlier PDUs still wait.
[[gnu::noinline]] Delivered Deliverer::Keep(ReceiveState& rx, CounterBlock& counters,
                                            ReceivedPdu pdu) {
  const Vc vc(pdu.rh.vc());
  CommandReader reader(pdu.commands, pdu.bytes);
  uint32_t lines = 0;
  while (reader.Next()) lines += RecordLines(reader.shape().bytes());
  if (reader.error() != CommandError::kNone) return {Delivery::kMalformed, 0};
  const auto bytes = static_cast<uint32_t>(reader.command() - pdu.commands);
  const Delivered refused{Delivery::kRefused, lines + SUEDE_MAX_RECORD_LINES};
  PduList& list = rx.unclaimed[vc];
  const uint32_t count = rx.unclaimed_count[vc];
  if (count >= rx.params.unclaimed_pdus) {
    const RxCredit& credit = rx.credit.At(pdu.peer, vc);
    if (!credit.counts || lines > credit.held()) return refused;
    if (list.tail() != nullptr && AppendToKept(*list.tail(), pdu, bytes, lines)) {
      CreditGranter::CountKept(rx.credit, vc, lines, true);
      return {Delivery::kDelivered, lines};
    }
    if (count >= rx.params.unclaimed_pdus + kMaxPromisedPdus) return refused;
  }
  Pdu* kept = new (pdu.frame->notes) Pdu;
  kept->commands = const_cast<uint8_t*>(pdu.commands);
  kept->bytes = static_cast<uint16_t>(bytes);
  kept->lines = static_cast<uint16_t>(lines);
  kept->peer = static_cast<uint16_t>(pdu.peer);
  kept->vc = static_cast<uint8_t>(vc);
  list.PushBack(kept);
  CreditGranter::CountKept(rx.credit, vc, lines, true);
  ++rx.unclaimed_count[vc];
  counters.Add(Counter::kRxUnclaimed);
  return {Delivery::kKept, lines};
}

// Keeps a PDU for which its peer was granted credit, although the promised room is gone: claims
// have changed hands, or a peer that counts no credit has taken the room.
[[gnu::cold]] Delivered Deliverer::KeepPromised(ReceiveState& rx, CounterBlock& counters,
                                                ReceivedPdu pdu, uint32_t lines_needed) {
  const Vc vc(pdu.rh.vc());
  const RxCredit& credit = rx.credit.At(pdu.peer, vc);
  if (!credit.counts || lines_needed > credit.held() + SUEDE_MAX_RECORD_LINES) {
    return {Delivery::kRefused, lines_needed};
  }
  const bool first = rx.unclaimed[vc].empty();
  const Delivered delivered = Keep(rx, counters, pdu);
  if (first && delivered.delivery == Delivery::kKept) {
    waiting_.push_back({.instance = rx.number, .vc = vc});
  }
  return delivered;
}

// Appends the commands of a PDU to those of a waiting PDU of the same peer, if the waiting PDU's
// frame, and any ring, has room for both.
[[gnu::cold]] bool Deliverer::AppendToKept(Pdu& kept, const ReceivedPdu& pdu, uint32_t bytes,
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

// Delivers PDUs that waited for a client, as far as its ring has room.
bool Deliverer::DeliverWaiting() {
  bool work = false;
  for (size_t i = 0; i < waiting_.size();) {
    Instance& instance = *lcore_.instances[waiting_[i].instance];
    ReceiveState& rx = instance.rx;
    const Vc vc = waiting_[i].vc;
    const bool claimed = lcore_.clients.claimant(rx.number, vc) != ClientTable::kNone;
    PduList& list = rx.unclaimed[vc];
    while (claimed && !list.empty()) {
      Pdu* pdu = list.head();
      const Target target = TargetOf(rx, vc, rx.params.peers[pdu->peer].xpuid);
      if (WriteCommands(instance.stats.counters, target, pdu->commands, pdu->bytes).delivery ==
          Delivery::kRefused) {
        break;
      }
      list.PopFront();
      CreditGranter::CountKept(rx.credit, vc, pdu->lines, false);
      --rx.unclaimed_count[vc];
      instance.home().link.frames().ReleasePdu(pdu);
      work = true;
    }
    if (list.empty() || !claimed) {
      waiting_[i] = waiting_.back();
      waiting_.pop_back();
    } else {
      ++i;
    }
  }
  return work;
}

// Moves the credit of a VC's peers, and PDUs that wait for a client, along with the claim.
void Deliverer::MoveFeeds(ReceiveState& rx, uint32_t vc_mask) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if ((vc_mask & 1u << vc) == 0) continue;
    granter_.MoveFeed(rx.credit, vc, lcore_.clients.claimant(rx.number, vc));
    const bool waits = std::any_of(waiting_.begin(), waiting_.end(), [&](const VcRef& ref) {
      return ref.instance == rx.number && ref.vc == vc;
    });
    if (lcore_.clients.claimant(rx.number, vc) != ClientTable::kNone && !waits &&
        !rx.unclaimed[vc].empty()) {
      waiting_.push_back({.instance = rx.number, .vc = vc});
    }
  }
}

}  // namespace suede
