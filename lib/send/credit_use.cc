// SPDX-License-Identifier: Apache-2.0
#include "send/credit_use.h"

#include <utility>

namespace suede {
namespace {

// Returns whether PDUs to the peer on the VC are in flight, or wait to be sent again.
bool HasInFlight(const PeerArrays& peers, const TransmitState& tx, PeerIndex peer, Vc vc) {
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

// The facts about a transmit queue. `reads_flight`: whether in_flight is read.
CreditSpender::Queue FactsOf(const PeerArrays& peers, const TransmitState& tx, uint32_t index,
                             bool reads_flight) {
  const Vc vc = Scheduler::VcOf(index);
  const TxQueue& queue = tx.scheduler.queue(index);
  return {.vc = vc,
          .credit = queue.credit,
          .first_lines = queue.pdus.empty() ? 0u : queue.pdus.head()->lines,
          .in_flight = reads_flight && HasInFlight(peers, tx, Scheduler::PeerOf(index), vc)};
}

}  // namespace

// Both ends have agreed: PDUs to a peer that counts credit are counted, and wait for its grants.
void CreditUse::Begin(const PeerArrays& peers, TransmitState& tx, ReceiveState& rx,
                      PeerIndex peer) {
  const Hello& hello = peers[peer].hello();
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = tx.scheduler.queue(index);
    queue.max_lines = hello.receive_lines == 0 ? UINT16_MAX : hello.receive_lines;
    const bool both = hello.counts_credit && tx.params.counts_credit;
    if (queue.counts_credit == both) continue;
    queue.counts_credit = both;
    rx.credit.At(peer, vc).counts = both;
    queue.credit = both ? hello.credit_lines[vc] : 0;
    tx.credit[index].Begin(queue.credit);
  }
}

void CreditUse::End(TransmitState& tx, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = tx.scheduler.queue(index);
    queue.counts_credit = false;
    queue.credit = 0;
    queue.max_lines = TxQueue::kUnknownReceiver;
    const bool waits = tx.credit[index].waiting();
    tx.credit[index] = CreditSpender();
    if (waits) run_queue_.Activate(tx, index);
  }
}

// Whether the peer counts credit, and how many lines its rings have, is not known.
void CreditUse::Uncounted(TransmitState& tx, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    tx.scheduler.queue(Scheduler::IndexOf(peer, vc)).max_lines = UINT16_MAX;
  }
}

// The first PDU of a queue has more lines than our remaining credit: the queue waits. A PDU too
// large for the peer's rings is given up.
[[gnu::noinline]] void CreditUse::Wait(Instance& instance, uint32_t index, Time now) {
  TransmitState& tx = instance.tx;
  const PeerIndex peer = Scheduler::PeerOf(index);
  TxQueue& queue = tx.scheduler.queue(index);
  if (queue.pdus.head()->lines > queue.max_lines) {
    instance.stats.counters.Add(Counter::kTxTooManyLines, queue.pdus.head()->command_count);
    completions_.GiveUpFirst(tx, instance.stats, queue, SUEDE_STATUS_UNREACHABLE);
    tx.scheduler.Requeue(index);
    return;
  }
  tx.scheduler.Block(index);
  CreditSpender& spender = tx.credit[index];
  if (spender.waiting()) return;  // the queue was rechecked for another reason
  instance.stats.counters.Add(Counter::kTxWaitsCredit);
  const bool reads_flight = !spender.on_demand() || spender.doubtful();
  std::optional<Credit> request =
      spender.Wait(FactsOf(instance.peers, tx, index, reads_flight), now);
  if (request && !Send(instance, peer, std::move(*request))) spender.OnNotStaged(now);
  lcore_.timers.ArmCredit(instance.peers, tx, peer);
}

// Returns false if the request is not staged.
bool CreditUse::Send(Instance& instance, PeerIndex peer, Credit&& request) {
  const PlaneIndex plane = ControlSender::PlaneWithRoom(instance.peers, instance.ports, peer);
  if (plane == PeerPaths::kNoPlane ||
      !ControlSender::SendControl(instance, peer, plane, std::move(request))) {
    return false;
  }
  instance.stats.counters.Add(Counter::kTxCreditAsks);
  return true;
}

void CreditUse::Apply(Instance& instance, uint32_t index, CreditSpender::Outcome&& outcome) {
  instance.tx.scheduler.queue(index).credit = outcome.credit;
  if (outcome.ends_wait) run_queue_.Activate(instance.tx, index);
  // A request that was not staged counts as lost.
  if (outcome.message) Send(instance, Scheduler::PeerOf(index), std::move(*outcome.message));
}

void CreditUse::OnGranted(Instance& instance, PeerIndex peer, const Credit& grant) {
  TransmitState& tx = instance.tx;
  const uint32_t index = Scheduler::IndexOf(peer, Vc(grant.vc));
  CreditSpender& spender = tx.credit[index];
  if (!tx.scheduler.queue(index).counts_credit) return;
  CreditSpender::Outcome outcome =
      spender.OnGrant(grant, FactsOf(instance.peers, tx, index, spender.doubtful()));
  if (outcome.is_void) return;
  if (!grant.give_back) instance.stats.counters.Add(Counter::kRxCreditGrants);
  Apply(instance, index, std::move(outcome));
}

void CreditUse::OnTimer(Instance& instance, PeerIndex peer, Time now) {
  TransmitState& tx = instance.tx;
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    CreditSpender& spender = tx.credit[index];
    if (now < spender.deadline()) continue;
    Apply(instance, index, spender.OnDeadline(FactsOf(instance.peers, tx, index, true), now));
  }
  lcore_.timers.ArmCredit(instance.peers, tx, peer);
}

}  // namespace suede
