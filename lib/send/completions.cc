// SPDX-License-Identifier: Apache-2.0
#include "send/completions.h"

#include <optional>
#include <utility>

namespace suede {
namespace {

Counter GivenUpCounter(uint8_t status) {
  return status == SUEDE_STATUS_PEER_RESET ? Counter::kTxPeerReset
         : status == SUEDE_STATUS_IN_DOUBT ? Counter::kTxInDoubt
                                           : Counter::kTxUnreachable;
}

// Removes given-up PDUs from the burst in which they are staged: they must not leave after their
// clients were notified.
void Withdraw(Link& link, const PduList& given_up) {
  bool any = false;
  for (Pdu* pdu = given_up.head(); pdu != nullptr; pdu = pdu->next) {
    pdu->moved = pdu->note.staged();
    if (!pdu->moved) continue;
    Link::Withdraw(pdu);
    any = true;
  }
  if (any) link.RemoveWithdrawn();
}

// Returns the status of a given-up PDU. A PDU in doubt that was withdrawn from its first burst has
// never left: it is unreachable.
uint8_t StatusOf(const Pdu& pdu, uint8_t status) {
  const bool never_left = pdu.moved && !pdu.retransmitted;
  return status == SUEDE_STATUS_IN_DOUBT && never_left ? SUEDE_STATUS_UNREACHABLE : status;
}

[[gnu::noinline]] void CompleteTags(ClientTable& clients, const Pdu& pdu, uint16_t xpuid,
                                    uint8_t status, CounterBlock& counters) {
  uint32_t tag = 0;
  for (uint32_t i = 0; i < pdu.run_count; ++i) {
    const PduRun& run = pdu.runs[i];
    for (const uint32_t end = tag + run.tags; tag < end; ++tag) {
      clients.Complete(run.queue, pdu.tags[tag], xpuid, pdu.vc, status, counters);
    }
  }
}

void RecordLatency(InstanceStats& stats, Duration age, uint32_t commands) {
  if (commands == 0) return;
  stats.histograms[HistogramId::kCommandLatency].Record(static_cast<uint64_t>(age.count()),
                                                        commands);
}

}  // namespace

void Completions::GiveUp(TransmitState& tx, InstanceStats& stats, Link& link, PduList& pdus,
                         uint8_t status) {
  Withdraw(link, pdus);
  if (tx.trace != nullptr) tx.trace->OnEnded(pdus, TraceState::kGivenUp);
  Complete(tx, stats, pdus, status);
}

// Ends PDUs that were sent: completes tagged commands, and returns the frames. `ending`: a status.
void Completions::Complete(TransmitState& tx, InstanceStats& stats, PduList& pdus, uint8_t ending) {
  const bool given_up = ending != SUEDE_STATUS_OK;
  if (pdus.empty()) return run_queue_.Enqueue(tx);
  const PeerIndex peer(pdus.head()->peer);  // the same for all PDUs,
  const Vc vc(pdus.head()->vc);             // and so is the destination of shares
  const uint16_t xpuid = tx.params.peers[peer].xpuid;
  const Time now = lcore_.now;
  ClientTable& clients = lcore_.clients;
  uint32_t count = 0;
  uint32_t bytes = 0;
  uint32_t released = 0;
  Duration age{};       // of commands not yet recorded,
  uint32_t of_age = 0;  // and their number
  for (Pdu* next = std::exchange(pdus, {}).head(); next != nullptr;) {
    Pdu* const pdu = next;
    next = pdu->next;
    const uint8_t status = given_up ? StatusOf(*pdu, ending) : ending;
    if (pdu->tag_count != 0) CompleteTags(clients, *pdu, xpuid, status, stats.counters);
    for (uint32_t i = 0; i < pdu->run_count; ++i) {
      ClientTable::EndRun(clients.queue(pdu->runs[i].queue));
    }
    if (given_up) [[unlikely]] {
      stats.counters.Add(GivenUpCounter(status), pdu->command_count);
      if (pdu->credited) tx.credit[Scheduler::IndexOf(peer, Vc(pdu->vc))].OnGivenUp();
    } else {
      if (pdu->Age(now) != age) {
        RecordLatency(stats, age, of_age);
        age = pdu->Age(now);
        of_age = 0;
      }
      of_age += pdu->command_count;
    }
    ++count;
    bytes += pdu->bytes;
    released += pdu->held ? 0 : 1;
    tx.home.frames().ReleasePdu(pdu);
  }
  RecordLatency(stats, age, of_age);
  tx.inflight -= count;
  tx.inflight_bytes -= bytes;
  shares_.Return(tx, peer, vc, released);
  run_queue_.Enqueue(tx);
}

// Takes the samples of newly acknowledged PDUs: round trip, departure, recovery. Then ends them.
void Completions::EndAcked(TransmitState& tx, InstanceStats& stats, Link& link,
                           Connection& connection, PduList& acked) {
  if (!acked.empty()) {
    HistogramBlock& histograms = stats.histograms;
    if (const std::optional<Duration> sample = RttSample(*acked.tail(), lcore_.now)) {
      histograms[HistogramId::kRtt].Record(static_cast<uint64_t>(sample->count()));
    }
    if (link.departures().WantsSample(lcore_.now)) [[unlikely]] {
      link.SampleDeparture(*acked.tail(), lcore_.now);
    }
    if (const std::optional<Recovery> recovery = connection.tx().TakeRecovery(lcore_.now)) {
      histograms[HistogramId::kGoBackPdus].Record(recovery->pdus);
      histograms[HistogramId::kGoBackTime].Record(static_cast<uint64_t>(recovery->took.count()));
    }
  }
  Complete(tx, stats, acked, SUEDE_STATUS_OK);
}

void Completions::GiveUpQueued(TransmitState& tx, InstanceStats& stats, PeerIndex peer,
                               uint32_t vcs, uint8_t status) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if ((vcs & 1u << vc) == 0) continue;
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = tx.scheduler.queue(index);
    while (!queue.pdus.empty()) GiveUpFirst(tx, stats, queue, status);
    tx.credit[index].EndWait();
    // A queue on its lane's list stays there, empty, until its turn.
    if (queue.state == TxQueue::State::kBlocked) queue.state = TxQueue::State::kIdle;
    tx.blocked[peer] &= static_cast<uint8_t>(~(1u << vc));
  }
}

void Completions::GiveUpFirst(TransmitState& tx, InstanceStats& stats, TxQueue& queue,
                              uint8_t status) {
  Pdu* pdu = queue.pdus.PopFront();
  tx.OnTaken(queue, 1, pdu->bytes);
  if (!pdu->credited) OnLeft(tx, pdu, 1, pdu->lines, pdu->run_count == 1);
  pdu->credited = true;
  --tx.queued;
  ++tx.inflight;  // Complete decrements this again
  tx.inflight_bytes += pdu->bytes;
  PduList list;
  list.PushBack(pdu);
  Complete(tx, stats, list, status);
}

// Returns PDUs that a dead plane did not deliver to the heads of their queues, in order.
void Completions::Requeue(TransmitState& tx, Link& link, PeerIndex peer, PduList& rest) {
  PduList of_vc[kVcCount];
  if (tx.trace != nullptr) tx.trace->OnEnded(rest, TraceState::kMoved);
  while (!rest.empty()) {
    Pdu* pdu = rest.PopFront();
    --tx.inflight;
    tx.inflight_bytes -= pdu->bytes;
    ++tx.queued;
    pdu->moved = true;
    if (pdu->note.staged()) Link::Withdraw(pdu);
    pdu->room = 0;
    pdu->retransmitted = false;
    pdu->arrived = false;
    tx.scheduler.queue(Scheduler::IndexOf(peer, Vc(pdu->vc))).octets_ahead +=
        tx.OctetsOf(1, pdu->bytes);
    of_vc[pdu->vc].PushBack(pdu);
  }
  link.RemoveWithdrawn();
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if (of_vc[vc].empty()) continue;
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = tx.scheduler.queue(index);
    if (queue.pdus.empty()) queue.octets_ahead -= tx.OctetsOf(1, of_vc[vc].tail()->bytes);
    queue.pdus.Prepend(of_vc[vc]);
    // PDUs that were sent before need no credit.
    if (tx.credit[index].waiting()) {
      tx.credit[index].EndWait();
      run_queue_.Activate(tx, index);
    }
    if (queue.state == TxQueue::State::kIdle) run_queue_.Activate(tx, index);
  }
}

// `lines` of the queue's commands have left.
[[gnu::always_inline]] inline void Completions::GiveBackCredit(uint16_t queue, uint16_t xpuid,
                                                               Vc vc, uint32_t lines) {
  QueueSlot& slot = lcore_.clients.queue(queue);
  if (slot.segment != nullptr) slot.credits.Return(xpuid, static_cast<uint8_t>(vc), lines);
}

// `count` PDUs that the queue has begun have left.
[[gnu::always_inline]] inline void Completions::GiveBackPacked(FrameShares& shares, uint16_t queue,
                                                               uint32_t count) {
  QueueSlot& slot = lcore_.clients.queue(queue);
  shares.packed.OnReturn(slot.packed, count);
  slot.packed -= count;
}

void Completions::OnLeft(TransmitState& tx, Pdu* first, uint32_t count, uint32_t lines,
                         bool alike) {
  FrameShares& shares = tx.shares;
  const PeerIndex peer(first->peer);
  const Vc vc(first->vc);
  const uint16_t xpuid = tx.params.peers[peer].xpuid;
  uint32_t& held = tx.scheduler.queue(tx.DestinationOf(peer, vc)).held;
  shares.held.OnTake(held, count);
  tx.held.OnTake(held, count);
  held += count;
  if (!alike) [[unlikely]]
    return GiveBackRuns(shares, xpuid, vc, first, count);
  GiveBackPacked(shares, first->last_queue, count);
  GiveBackCredit(first->last_queue, xpuid, vc, lines);
}

// Returns the lines and PDUs of successive runs of one queue at once.
[[gnu::noinline]] void Completions::GiveBackRuns(FrameShares& shares, uint16_t xpuid, Vc vc,
                                                 Pdu* first, uint32_t count) {
  uint16_t beginner = first->runs[0].queue;  // of the PDUs not yet returned,
  uint32_t begun = 0;                        // and their number
  uint16_t owner = beginner;                 // of the lines not yet returned
  uint32_t lines = 0;
  for (Pdu* pdu = first; count != 0; --count, pdu = pdu->next) {
    if (pdu->runs[0].queue != beginner) [[unlikely]] {
      GiveBackPacked(shares, beginner, begun);
      beginner = pdu->runs[0].queue;
      begun = 0;
    }
    ++begun;
    uint32_t i = 0;
    do {
      if (pdu->runs[i].queue != owner) [[unlikely]] {
        GiveBackCredit(owner, xpuid, vc, lines);
        owner = pdu->runs[i].queue;
        lines = 0;
      }
      lines += pdu->runs[i].lines;
    } while (++i < pdu->run_count);
  }
  GiveBackPacked(shares, beginner, begun);
  GiveBackCredit(owner, xpuid, vc, lines);
}

// Holds the PDU that left last, if any has left: a device returns frames in that order.
void Completions::HoldLast(TransmitState& tx, ConnectionIndex number, const PduList& given_up) {
  LetGo(tx, number);
  Pdu* last = nullptr;
  for (Pdu* pdu = given_up.head(); pdu != nullptr; pdu = pdu->next) {
    const bool has_left = !pdu->note.staged() || pdu->retransmitted;
    if (has_left && (last == nullptr || pdu->sent_at >= last->sent_at)) last = pdu;
  }
  if (last == nullptr) return;
  last->held = true;
  tx.last_given_up[number] = last;
}

bool Completions::IsHeld(TransmitState& tx, const PlanePorts& ports, ConnectionIndex number) {
  Pdu* last = tx.last_given_up[number];
  if (last == nullptr) return false;
  if (ports[tx.map.PlaneOf(number)]->link.IsBusy(FrameOf(last))) return true;
  LetGo(tx, number);
  return false;
}

void Completions::LetGo(TransmitState& tx, ConnectionIndex number) {
  Pdu*& last = tx.last_given_up[number];
  if (last == nullptr) return;
  const Vc vc(last->vc);
  tx.home.frames().ReleaseKept(last);
  last = nullptr;
  shares_.Return(tx, tx.map.PeerOf(number), vc, 1);
}

// Releases the held PDUs of connections that are no longer lost, however that ended.
void Completions::LetGoOfEnded(const PeerArrays& peers, TransmitState& tx, ConnectionIndex first,
                               ConnectionIndex end) {
  for (ConnectionIndex number = first; number < end; ++number) {
    if (peers.StateOf(number) != ConnectionState::kLost) LetGo(tx, number);
  }
}

}  // namespace suede
