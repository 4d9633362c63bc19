// SPDX-License-Identifier: Apache-2.0
#include "send/completions.h"

#include <optional>

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

void RecordLatency(Instance& instance, Duration age, uint32_t commands) {
  if (commands == 0) return;
  instance.stats.histograms[HistogramId::kCommandLatency].Record(static_cast<uint64_t>(age.count()),
                                                                 commands);
}

}  // namespace

// Ends PDUs that were sent: completes tagged commands, and returns the frames.
void Completions::Complete(Instance& instance, PduList& pdus, PlaneIndex plane, uint8_t ending) {
  PortContext& home = instance.home();
  const bool given_up = ending != SUEDE_STATUS_OK;
  if (given_up && plane != PeerPaths::kNoPlane) [[unlikely]] {
    Withdraw(instance.ports[plane]->link, pdus);
  }
  if (pdus.empty()) return run_queue_.Enqueue(instance.tx);
  const PeerIndex peer(pdus.head()->peer);  // the same for all PDUs,
  const Vc vc(pdus.head()->vc);             // and so is the destination of shares
  const uint16_t xpuid = instance.params.peers[peer].xpuid;
  const Time now = lcore_.now;
  ClientTable& clients = lcore_.clients;
  uint32_t count = 0;
  uint32_t bytes = 0;
  uint32_t released = 0;
  Duration age{};       // of commands not yet recorded,
  uint32_t of_age = 0;  // and their number
  while (!pdus.empty()) {
    Pdu* pdu = pdus.PopFront();
    const uint8_t status = given_up ? StatusOf(*pdu, ending) : ending;
    uint32_t tag = 0;
    for (uint32_t i = 0; i < pdu->run_count; ++i) {
      const PduRun& run = pdu->runs[i];
      for (const uint32_t end = tag + run.tags; tag < end; ++tag) {
        clients.Complete(run.queue, pdu->tags[tag], xpuid, pdu->vc, status,
                         instance.stats.counters);
      }
      ClientTable::EndRun(clients.queue(run.queue));
    }
    if (given_up) {
      instance.stats.counters.Add(GivenUpCounter(status), pdu->command_count);
      instance.tx.credit[Scheduler::IndexOf(PeerIndex(pdu->peer), Vc(pdu->vc))].doubtful |=
          pdu->credited;
    } else {
      if (pdu->Age(now) != age) {
        RecordLatency(instance, age, of_age);
        age = pdu->Age(now);
        of_age = 0;
      }
      of_age += pdu->command_count;
    }
    ++count;
    bytes += pdu->bytes;
    released += pdu->held ? 0 : 1;
    home.link.frames().ReleasePdu(pdu);
  }
  RecordLatency(instance, age, of_age);
  instance.tx.inflight -= count;
  instance.tx.inflight_bytes -= bytes;
  shares_.Return(instance.tx, peer, vc, released);
  run_queue_.Enqueue(instance.tx);
}

// Takes the samples of newly acknowledged PDUs: round trip, departure, recovery. Then ends them.
void Completions::EndAcked(Instance& instance, ConnectionIndex number, PduList& acked) {
  if (!acked.empty()) {
    HistogramBlock& histograms = instance.stats.histograms;
    if (const std::optional<Duration> sample = RttSample(*acked.tail(), lcore_.now)) {
      histograms[HistogramId::kRtt].Record(static_cast<uint64_t>(sample->count()));
    }
    Link& link = instance.ports[instance.map.PlaneOf(number)]->link;
    if (link.departures().WantsSample(lcore_.now)) [[unlikely]] {
      link.SampleDeparture(*acked.tail(), lcore_.now);
    }
    if (const std::optional<Recovery> recovery =
            instance.peers.connections[number].tx().TakeRecovery(lcore_.now)) {
      histograms[HistogramId::kGoBackPdus].Record(recovery->pdus);
      histograms[HistogramId::kGoBackTime].Record(static_cast<uint64_t>(recovery->took.count()));
    }
  }
  Complete(instance, acked, instance.map.PlaneOf(number), SUEDE_STATUS_OK);
}

void Completions::GiveUpQueued(Instance& instance, PeerIndex peer, uint32_t vcs, uint8_t status) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if ((vcs & 1u << vc) == 0) continue;
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = instance.tx.scheduler.queue(index);
    while (!queue.pdus.empty()) GiveUpFirst(instance, queue, status);
    instance.tx.credit[index].EndWait();
    // A queue on its lane's list stays there, empty, until its turn.
    if (queue.state == TxQueue::State::kBlocked) queue.state = TxQueue::State::kIdle;
    instance.tx.blocked[peer] &= static_cast<uint8_t>(~(1u << vc));
  }
}

void Completions::GiveUpFirst(Instance& instance, TxQueue& queue, uint8_t status) {
  Pdu* pdu = queue.pdus.PopFront();
  instance.tx.OnTaken(queue, 1, pdu->bytes);
  if (!pdu->credited) OnLeft(instance.tx, instance.params.peers[pdu->peer].xpuid, pdu, 1);
  --instance.tx.queued;
  ++instance.tx.inflight;  // Complete decrements this again
  instance.tx.inflight_bytes += pdu->bytes;
  PduList list;
  list.PushBack(pdu);
  Complete(instance, list, PeerPaths::kNoPlane, status);
}

// Returns PDUs that a dead plane did not deliver to the heads of their queues, in order.
void Completions::Requeue(Instance& instance, PeerIndex peer, PlaneIndex plane, PduList& rest) {
  PduList of_vc[kVcCount];
  while (!rest.empty()) {
    Pdu* pdu = rest.PopFront();
    --instance.tx.inflight;
    instance.tx.inflight_bytes -= pdu->bytes;
    ++instance.tx.queued;
    pdu->moved = true;
    if (pdu->note.staged()) Link::Withdraw(pdu);
    pdu->room = 0;
    pdu->retransmitted = false;
    instance.tx.scheduler.queue(Scheduler::IndexOf(peer, Vc(pdu->vc))).octets_ahead +=
        instance.tx.OctetsOf(1, pdu->bytes);
    of_vc[pdu->vc].PushBack(pdu);
  }
  instance.ports[plane]->link.RemoveWithdrawn();
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    if (of_vc[vc].empty()) continue;
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    TxQueue& queue = instance.tx.scheduler.queue(index);
    if (queue.pdus.empty()) queue.octets_ahead -= instance.tx.OctetsOf(1, of_vc[vc].tail()->bytes);
    queue.pdus.Prepend(of_vc[vc]);
    // PDUs that were sent before need no credit.
    if (instance.tx.credit[index].waiting) {
      instance.tx.credit[index].EndWait();
      run_queue_.Activate(instance.tx, index);
    }
    if (queue.state == TxQueue::State::kIdle) run_queue_.Activate(instance.tx, index);
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

void Completions::OnLeft(TransmitState& tx, uint16_t xpuid, Pdu* first, uint32_t count) {
  FrameShares& shares = tx.shares;
  const Vc vc(first->vc);
  uint32_t& held = tx.scheduler.queue(tx.DestinationOf(PeerIndex(first->peer), vc)).held;
  shares.held.OnTake(held, count);
  tx.held.OnTake(held, count);
  held += count;
  if (count == 1 && first->run_count == 1) {
    first->credited = true;
    GiveBackPacked(shares, first->runs[0].queue, 1);
    return GiveBackCredit(first->runs[0].queue, xpuid, vc, first->runs[0].lines);
  }
  GiveBackRuns(shares, xpuid, vc, first, count);
}

// Returns the lines and PDUs of successive runs of one queue at once.
[[gnu::noinline]] void Completions::GiveBackRuns(FrameShares& shares, uint16_t xpuid, Vc vc,
                                                 Pdu* first, uint32_t count) {
  uint16_t beginner = first->runs[0].queue;  // of the PDUs not yet returned,
  uint32_t begun = 0;                        // and their number
  uint16_t owner = beginner;                 // of the lines not yet returned
  uint32_t lines = 0;
  for (Pdu* pdu = first; count != 0; --count, pdu = pdu->next) {
    pdu->credited = true;
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
void Completions::HoldLast(Instance& instance, ConnectionIndex number, const PduList& given_up) {
  LetGo(instance, number);
  Pdu* last = nullptr;
  for (Pdu* pdu = given_up.head(); pdu != nullptr; pdu = pdu->next) {
    const bool has_left = !pdu->note.staged() || pdu->retransmitted;
    if (has_left && (last == nullptr || pdu->sent_at >= last->sent_at)) last = pdu;
  }
  if (last == nullptr) return;
  last->held = true;
  instance.tx.last_given_up[number] = last;
}

bool Completions::IsHeld(Instance& instance, ConnectionIndex number) {
  Pdu* last = instance.tx.last_given_up[number];
  if (last == nullptr) return false;
  if (instance.ports[instance.map.PlaneOf(number)]->link.IsBusy(FrameOf(last))) return true;
  LetGo(instance, number);
  return false;
}

void Completions::LetGo(Instance& instance, ConnectionIndex number) {
  Pdu*& last = instance.tx.last_given_up[number];
  if (last == nullptr) return;
  const Vc vc(last->vc);
  instance.home().link.frames().ReleaseKept(last);
  last = nullptr;
  shares_.Return(instance.tx, instance.map.PeerOf(number), vc, 1);
}

// Releases the held PDUs of connections that are no longer lost, however that ended.
void Completions::LetGoOfEnded(Instance& instance, ConnectionIndex first, ConnectionIndex end) {
  for (ConnectionIndex number = first; number < end; ++number) {
    if (instance.peers.StateOf(number) != ConnectionState::kLost) LetGo(instance, number);
  }
}

}  // namespace suede
