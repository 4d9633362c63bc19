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

// Takes PDUs that are given up out of the burst that they are staged in: they must not leave when
// their clients have been told.
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

// Of what is in doubt, a PDU that was withdrawn from the first burst it was staged in has never
// left.
uint8_t StatusOf(const Pdu& pdu, uint8_t status) {
  const bool never_left = pdu.moved && !pdu.retransmitted;
  return status == SUEDE_STATUS_IN_DOUBT && never_left ? SUEDE_STATUS_UNREACHABLE : status;
}

}  // namespace

// Ends PDUs that were sent: tells the clients that asked, and gives the frames back.
void Completions::Complete(Instance& instance, PduList& pdus, uint32_t plane, uint8_t ending) {
  PortContext& home = instance.home();
  const bool given_up = ending != SUEDE_STATUS_OK;
  if (given_up && plane != PeerPaths::kNoPlane) [[unlikely]] {
    Withdraw(instance.ports[plane]->link, pdus);
  }
  if (pdus.empty()) return run_queue_.Enlist(instance);
  const uint32_t peer = pdus.head()->peer;  // they have that in common,
  const uint32_t vc = pdus.head()->vc;      // and the destination of shares
  const uint16_t xpuid = instance.params.peers[peer].xpuid;
  const Time now = lcore_.now;
  ClientTable& clients = lcore_.clients;
  uint32_t count = 0;
  uint32_t bytes = 0;
  uint32_t released = 0;
  while (!pdus.empty()) {
    Pdu* pdu = pdus.PopFront();
    const uint8_t status = given_up ? StatusOf(*pdu, ending) : ending;
    uint32_t tag = 0;
    for (uint32_t i = 0; i < pdu->run_count; ++i) {
      const PduRun& run = pdu->runs[i];
      for (const uint32_t end = tag + run.tags; tag < end; ++tag) {
        clients.Complete(run.queue, pdu->tags[tag], xpuid, pdu->vc, status, instance.counters);
      }
      ClientTable::EndRun(clients.queue(run.queue));
    }
    if (given_up) {
      instance.counters.Add(GivenUpCounter(status), pdu->command_count);
      instance.tx_credit[Scheduler::QueueIndex(pdu->peer, pdu->vc)].doubtful |= pdu->credited;
    } else {
      instance.histograms[HistogramId::kCommandLatency].Record(
          static_cast<uint64_t>(pdu->Age(now).count()), pdu->command_count);
    }
    ++count;
    bytes += pdu->bytes;
    released += pdu->held ? 0 : 1;
    home.link.ReleasePdu(pdu);
  }
  instance.inflight -= count;
  instance.inflight_bytes -= bytes;
  shares_.Return(instance, peer, vc, released);
  run_queue_.Enlist(instance);
}

// Takes the samples of newly acknowledged PDUs: round trip, departure, recovery. Then they end.
void Completions::EndAcked(Instance& instance, uint32_t number, PduList& acked) {
  if (!acked.empty()) {
    HistogramBlock& histograms = instance.histograms;
    if (const std::optional<Duration> sample = RttSample(*acked.tail(), lcore_.now)) {
      histograms[HistogramId::kRtt].Record(static_cast<uint64_t>(sample->count()));
    }
    Link& link = instance.ports[instance.PlaneOfConnection(number)]->link;
    if (link.departures().WantsSample(lcore_.now)) [[unlikely]] {
      link.SampleDeparture(*acked.tail(), lcore_.now);
    }
    if (const std::optional<Recovery> recovery =
            instance.connections[number].TakeRecovery(lcore_.now)) {
      histograms[HistogramId::kGoBackPdus].Record(recovery->pdus);
      histograms[HistogramId::kGoBackTime].Record(static_cast<uint64_t>(recovery->took.count()));
    }
  }
  Complete(instance, acked, instance.PlaneOfConnection(number), SUEDE_STATUS_OK);
}

void Completions::GiveUpQueued(Instance& instance, uint32_t peer, uint32_t vcs, uint8_t status) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((vcs & 1u << vc) == 0) continue;
    const uint32_t index = Scheduler::QueueIndex(peer, vc);
    TxQueue& queue = instance.scheduler.queue(index);
    while (!queue.pdus.empty()) GiveUpFirst(instance, queue, status);
    instance.tx_credit[index].EndWait();
    // One that is on its lane's list stays there until its turn, with nothing in it.
    if (queue.state == TxQueue::State::kBlocked) queue.state = TxQueue::State::kIdle;
    instance.blocked[peer] &= static_cast<uint8_t>(~(1u << vc));
  }
}

void Completions::GiveUpFirst(Instance& instance, TxQueue& queue, uint8_t status) {
  Pdu* pdu = queue.pdus.PopFront();
  if (!pdu->credited) OnLeft(instance, *pdu);
  --instance.queued;
  ++instance.inflight;  // Complete counts it out again
  instance.inflight_bytes += pdu->bytes;
  PduList list;
  list.PushBack(pdu);
  Complete(instance, list, PeerPaths::kNoPlane, status);
}

// Puts PDUs that a dead plane did not deliver back to the heads of their queues, in order.
void Completions::Requeue(Instance& instance, uint32_t peer, uint32_t plane, PduList& rest) {
  PduList of_vc[kVcCount];
  while (!rest.empty()) {
    Pdu* pdu = rest.PopFront();
    --instance.inflight;
    instance.inflight_bytes -= pdu->bytes;
    ++instance.queued;
    pdu->moved = true;
    if (pdu->note.staged()) Link::Withdraw(pdu);
    pdu->room = 0;
    pdu->retransmitted = false;
    of_vc[pdu->vc].PushBack(pdu);
  }
  instance.ports[plane]->link.RemoveWithdrawn();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (of_vc[vc].empty()) continue;
    const uint32_t index = Scheduler::QueueIndex(peer, vc);
    TxQueue& queue = instance.scheduler.queue(index);
    queue.pdus.Prepend(of_vc[vc]);
    // PDUs that were sent before need no credit.
    if (instance.tx_credit[index].waiting) {
      instance.tx_credit[index].EndWait();
      run_queue_.Activate(instance, index);
    }
    if (queue.state == TxQueue::State::kIdle) run_queue_.Activate(instance, index);
  }
}

// The commands have left the packing buffers: the PDU counts as held until it ends.
void Completions::OnLeft(Instance& instance, Pdu& pdu) {
  pdu.credited = true;
  FrameShares& shares = *instance.home().shares;
  shares.packed.OnReturn(lcore_.clients.queue(pdu.runs[0].queue).packed--, 1);
  TxQueue& destination = instance.scheduler.queue(instance.DestinationOf(pdu.peer, pdu.vc));
  shares.held.OnTake(destination.held);
  instance.held.OnTake(destination.held++);
  const uint16_t xpuid = instance.params.peers[pdu.peer].xpuid;
  for (uint32_t i = 0; i < pdu.run_count; ++i) {
    QueueSlot& slot = lcore_.clients.queue(pdu.runs[i].queue);
    if (slot.segment != nullptr) slot.credits.Return(xpuid, pdu.vc, pdu.runs[i].lines);
  }
}

// Of those that have left at all, the one that left last: a device gives frames back in that order.
void Completions::HoldLast(Instance& instance, uint32_t number, const PduList& given_up) {
  LetGo(instance, number);
  Pdu* last = nullptr;
  for (Pdu* pdu = given_up.head(); pdu != nullptr; pdu = pdu->next) {
    const bool has_left = !pdu->note.staged() || pdu->retransmitted;
    if (has_left && (last == nullptr || pdu->sent_at >= last->sent_at)) last = pdu;
  }
  if (last == nullptr) return;
  last->held = true;
  instance.last_given_up[number] = last;
}

bool Completions::IsHeld(Instance& instance, uint32_t number) {
  Pdu* last = instance.last_given_up[number];
  if (last == nullptr) return false;
  if (instance.ports[instance.PlaneOfConnection(number)]->link.IsBusy(FrameOf(last))) return true;
  LetGo(instance, number);
  return false;
}

void Completions::LetGo(Instance& instance, uint32_t number) {
  Pdu*& last = instance.last_given_up[number];
  if (last == nullptr) return;
  const uint32_t vc = last->vc;
  instance.home().link.Release(FrameOf(last));
  last = nullptr;
  shares_.Return(instance, instance.PeerOfConnection(number), vc, 1);
}

// Of those connections that are not lost any more, however that ended.
void Completions::LetGoOfEnded(Instance& instance, uint32_t first, uint32_t end) {
  for (uint32_t number = first; number < end; ++number) {
    if (instance.StateOf(number) != ConnectionState::kLost) LetGo(instance, number);
  }
}

}  // namespace suede
