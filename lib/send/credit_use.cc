// SPDX-License-Identifier: Apache-2.0
#include "send/credit_use.h"

#include <algorithm>

namespace suede {
namespace {

// Wait before the first request for credit: PDUs in flight may cause a grant.
constexpr Duration kAskAfter = std::chrono::microseconds(500);
constexpr uint8_t kMaxDoublings = 7;
constexpr uint8_t kMaxUnheard = 5;  // requests without an answer

}  // namespace

// Both ends have agreed: PDUs to a peer that counts credit are counted, and wait for its grants.
void CreditUse::Begin(Instance& instance, PeerIndex peer) {
  const Hello& hello = instance.peers[peer].hello();
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = instance.tx.scheduler.queue(index);
    queue.max_lines = hello.receive_lines == 0 ? UINT16_MAX : hello.receive_lines;
    const bool both = hello.counts_credit && instance.params.counts_credit;
    if (queue.counts_credit == both) continue;
    queue.counts_credit = both;
    instance.rx.credit.At(peer, vc).counts = both;
    instance.tx.credit[index].limit = queue.credit = both ? hello.credit_lines[vc] : 0;
  }
}

void CreditUse::End(TransmitState& tx, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = tx.scheduler.queue(index);
    queue.counts_credit = false;
    queue.credit = 0;
    queue.max_lines = TxQueue::kUnknownReceiver;
    const bool waits = tx.credit[index].waiting;
    tx.credit[index] = TxCredit();
    if (waits) run_queue_.Activate(tx, index);
  }
}

// Whether the peer counts credit, and how many lines its rings have, is not known.
void CreditUse::Uncounted(TransmitState& tx, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    tx.scheduler.queue(Scheduler::IndexOf(peer, vc)).max_lines = UINT16_MAX;
  }
}

// Returns whether PDUs to the peer on the VC are in flight, or wait to be sent again.
bool CreditUse::IsUnderWay(const PeerArrays& peers, const TransmitState& tx, PeerIndex peer,
                           Vc vc) {
  const Pdu* first = tx.scheduler.queue(Scheduler::IndexOf(peer, vc)).pdus.head();
  if (first != nullptr && first->credited) return true;
  for (PlaneIndex plane = 0; plane < tx.map.plane_count(); ++plane) {
    for (SessionIndex slot = 0; slot < tx.map.session_count(); ++slot) {
      const ConnectionIndex number = tx.map.At(peer, plane, slot, vc);
      if (peers.connections[number].in_flight().Carries(static_cast<uint8_t>(vc))) return true;
    }
  }
  return false;
}

// The first PDU of a queue has more lines than our remaining credit: the queue waits. A PDU too
// large for the peer's rings is given up.
[[gnu::noinline]] void CreditUse::Wait(Instance& instance, uint32_t index, Time now) {
  const PeerIndex peer = Scheduler::PeerOf(index);
  const Vc vc = Scheduler::VcOf(index);
  TxQueue& queue = instance.tx.scheduler.queue(index);
  if (queue.pdus.head()->lines > queue.max_lines) {
    instance.stats.counters.Add(Counter::kTxTooManyLines, queue.pdus.head()->command_count);
    completions_.GiveUpFirst(instance.tx, instance.stats, queue, SUEDE_STATUS_UNREACHABLE);
    instance.tx.scheduler.Requeue(index);
    return;
  }
  instance.tx.scheduler.Block(index);
  TxCredit& credit = instance.tx.credit[index];
  if (credit.waiting) return;  // the queue was rechecked for another reason
  instance.stats.counters.Add(Counter::kTxWaitsCredit);
  credit.waiting = true;
  credit.tries = credit.unheard = 0;
  credit.ask_at = now + kAskAfter;
  if ((credit.on_demand || !IsUnderWay(instance.peers, instance.tx, peer, vc)) &&
      !Ask(instance, peer, vc, false)) {
    credit.ask_at = now;
  }
  lcore_.timers.ArmCredit(instance.peers, instance.tx, peer);
}

bool CreditUse::Ask(Instance& instance, PeerIndex peer, Vc vc, bool gives_back) {
  const uint32_t index = Scheduler::IndexOf(peer, vc);
  TxQueue& queue = instance.tx.scheduler.queue(index);
  const TxCredit& credit = instance.tx.credit[index];
  const PlaneIndex plane = ControlSender::PlaneWithRoom(instance.peers, instance.ports, peer);
  if (plane == PeerPaths::kNoPlane) return false;
  const bool sent = ControlSender::SendControl(
      instance, peer, plane,
      Credit{
          .vc = static_cast<uint8_t>(vc),
          .give_back = gives_back,
          .reply_wanted = credit.unheard != 0 ||
                          (credit.doubtful && !IsUnderWay(instance.peers, instance.tx, peer, vc)),
          .round = credit.round,
          .limit = credit.limit,
          .sent = credit.limit - queue.credit,
          .wanted = credit.waiting && !queue.pdus.empty() ? queue.pdus.head()->lines : 0u});
  if (sent) instance.stats.counters.Add(Counter::kTxCreditAsks);
  return sent;
}

void CreditUse::OnGranted(Instance& instance, PeerIndex peer, const Credit& grant) {
  const Vc vc(grant.vc);
  const uint32_t index = Scheduler::IndexOf(peer, vc);
  TxQueue& queue = instance.tx.scheduler.queue(index);
  TxCredit& credit = instance.tx.credit[index];
  // A grant from before we gave credit back is void.
  if (!queue.counts_credit || static_cast<int16_t>(grant.round - credit.round) < 0) return;
  const uint32_t sent = credit.limit - queue.credit;
  const bool new_round = grant.round != credit.round;
  if (grant.give_back) {
    credit.round = grant.round;
    credit.limit = sent;
    queue.credit = 0;
    Ask(instance, peer, vc, true);
    return;
  }
  instance.stats.counters.Add(Counter::kRxCreditGrants);
  credit.unheard = 0;
  const bool is_to_ask = grant.on_demand && !credit.on_demand;
  credit.on_demand = grant.on_demand;
  credit.round = grant.round;
  // In a new round only this grant counts: the peer took the rest back while it could not reach us.
  if (new_round) credit.limit = sent;
  if (static_cast<int32_t>(grant.limit - credit.limit) > 0) credit.limit = grant.limit;
  queue.credit = credit.limit - sent;
  bool repaired = false;
  if (credit.doubtful && grant.sent == sent && !IsUnderWay(instance.peers, instance.tx, peer, vc)) {
    // No other PDU can be in flight: lines that were not accepted never will be.
    credit.doubtful = false;
    queue.credit = credit.limit - grant.accepted;
    repaired = true;
  }
  if (!credit.waiting) return;
  if (queue.pdus.empty() || queue.pdus.head()->lines <= queue.credit) {
    EndWait(instance.tx, index);
  } else if (repaired || is_to_ask) {
    Ask(instance, peer, vc, false);
  }
}

void CreditUse::EndWait(TransmitState& tx, uint32_t index) {
  tx.credit[index].EndWait();
  run_queue_.Activate(tx, index);
}

// Repeats the request of a waiting queue: grants and requests may be lost.
void CreditUse::OnTimer(Instance& instance, PeerIndex peer, Time now) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxCredit& credit = instance.tx.credit[index];
    if (!credit.waiting || now < credit.ask_at) continue;
    if (credit.unheard == kMaxUnheard && !IsUnderWay(instance.peers, instance.tx, peer, vc)) {
      TryWithoutCredit(instance.tx, index);
      continue;
    }
    credit.unheard = std::min<uint8_t>(credit.unheard + 1, kMaxUnheard);
    Ask(instance, peer, vc, false);
    credit.tries = std::min<uint8_t>(credit.tries + 1, kMaxDoublings);
    credit.ask_at = now + (kAskAfter * (1u << credit.tries));
  }
  lcore_.timers.ArmCredit(instance.peers, instance.tx, peer);
}

// The peer does not answer. Puts a PDU in flight without credit, so that the transport finds out
// whether the peer is alive.
void CreditUse::TryWithoutCredit(TransmitState& tx, uint32_t index) {
  TxQueue& queue = tx.scheduler.queue(index);
  TxCredit& credit = tx.credit[index];
  const uint32_t lines = queue.pdus.head()->lines;
  if (lines > queue.credit) {
    credit.limit += lines - queue.credit;
    queue.credit = lines;
    credit.doubtful = true;
  }
  EndWait(tx, index);
}

}  // namespace suede
