// SPDX-License-Identifier: Apache-2.0
// What is sent and done on the transport's own account: acknowledgements, completions, connections
// that can go on or cannot.
#include "pipeline/pipeline.h"

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

// Of what is in doubt, a PDU that was withdrawn from the first burst it was staged in has never left.
uint8_t StatusOf(const Pdu& pdu, uint8_t status) {
  const bool never_left = pdu.moved && !pdu.retransmitted;
  return status == SUEDE_STATUS_IN_DOUBT && never_left ? SUEDE_STATUS_UNREACHABLE : status;
}

}  // namespace

// ---- Completions.

// Ends PDUs that were sent: tells who asked, and gives the frames back.
void Pipeline::Complete(Instance& instance, PduList& pdus, uint32_t plane, uint8_t ending) {
  PortContext& home = HomePort(instance);
  const bool given_up = ending != SUEDE_STATUS_OK;
  if (given_up && plane != kNoPlane) [[unlikely]] {
    Withdraw(instance.ports[plane]->link, pdus);
  }
  if (pdus.empty()) return Enlist(instance);
  const uint32_t peer = pdus.head()->peer;  // they have that in common,
  const uint32_t vc = pdus.head()->vc;      // and what shares are counted by
  uint32_t ended = 0;
  while (!pdus.empty()) {
    Pdu* pdu = pdus.PopFront();
    const uint8_t status = given_up ? StatusOf(*pdu, ending) : ending;
    const uint16_t xpuid = instance.params.peers[pdu->peer].xpuid;
    uint32_t tag = 0;
    for (uint32_t i = 0; i < pdu->run_count; ++i) {
      const PduRun& run = pdu->runs[i];
      for (const uint32_t end = tag + run.tags; tag < end; ++tag) {
        clients_.Complete(run.queue, pdu->tags[tag], xpuid, pdu->vc, status, instance.counters);
      }
      ClientTable::EndRun(clients_.queue(run.queue));
    }
    if (given_up) {
      instance.counters.Add(GivenUpCounter(status), pdu->command_count);
      instance.tx_credit[Scheduler::QueueIndex(pdu->peer, pdu->vc)].doubtful |= pdu->credited;
    } else {
      instance.histograms[HistogramId::kCommandLatency].Record(
          static_cast<uint64_t>(pdu->Age(last_turn_).count()), pdu->command_count);
    }
    --instance.inflight;
    instance.inflight_bytes -= pdu->bytes;
    ended += pdu->held ? 0 : 1;
    home.link.ReleasePdu(pdu);
  }
  ReturnShare(instance, peer, vc, ended);
  Enlist(instance);
}

// What newly acknowledged PDUs tell of the path; then they end.
void Pipeline::EndAcked(Instance& instance, uint32_t number, PduList& acked) {
  if (!acked.empty()) {
    HistogramBlock& histograms = instance.histograms;
    if (const std::optional<Duration> sample = RttSample(*acked.tail(), last_turn_)) {
      histograms[HistogramId::kRtt].Record(static_cast<uint64_t>(sample->count()));
    }
    Link& link = instance.ports[instance.PlaneOfConnection(number)]->link;
    if (link.departures().WantsSample(last_turn_)) [[unlikely]] {
      link.SampleDeparture(*acked.tail(), last_turn_);
    }
    if (const std::optional<Recovery> recovery =
            instance.connections[number].TakeRecovery(last_turn_)) {
      histograms[HistogramId::kGoBackPdus].Record(recovery->pdus);
      histograms[HistogramId::kGoBackTime].Record(static_cast<uint64_t>(recovery->took.count()));
    }
  }
  Complete(instance, acked, instance.PlaneOfConnection(number), SUEDE_STATUS_OK);
}

// `bytes`: of the commands in them.
void Pipeline::OnAcked(Instance& instance, uint32_t number, uint32_t bytes, PduList& acked) {
  const uint32_t peer = instance.PeerOfConnection(number);
  instance.CountOut(peer, instance.PlaneOfConnection(number), bytes);
  EndAcked(instance, number, acked);
  if (!instance.paths[peer].moving) [[likely]]
    return;
  Effects effects;
  instance.peers[peer].OnEnded(effects);
  Apply(instance, peer, effects);
}

// ---- Connections that can go on, or cannot.

void Pipeline::Activate(Instance& instance, uint32_t queue) {
  instance.scheduler.Activate(queue);
  Enlist(instance);
}

// Puts the instance's lanes that have work on the list of those, where they are not on it.
void Pipeline::Enlist(Instance& instance) {
  for (uint32_t lane = 0; lane < instance.lanes(); ++lane) {
    const auto bit = static_cast<uint8_t>(1u << lane);
    if ((instance.active_lanes & bit) != 0 || !instance.scheduler.HasWork(lane)) continue;
    instance.active_lanes |= bit;
    active_.push_back({.instance = instance.number, .lane = lane});
  }
}

// Lets the queues go on that wait for a connection, where this one can send.
void Pipeline::Unblock(Instance& instance, uint32_t number) {
  const uint32_t peer = instance.PeerOfConnection(number);
  const uint32_t mask = instance.blocked[peer] & instance.VcsOfConnection(number);
  if (mask == 0) return;
  if (instance.peers[peer].MaySend(instance.PlaneOfConnection(number),
                                   instance.VcOfConnection(number))) {
    Unblock(instance, peer, mask);
  }
}

// Of the VCs of the mask.
void Pipeline::Unblock(Instance& instance, uint32_t peer, uint32_t vcs) {
  const uint32_t mask = instance.blocked[peer] & vcs;
  instance.blocked[peer] = static_cast<uint8_t>(instance.blocked[peer] & ~mask);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((mask & 1u << vc) != 0) Activate(instance, Scheduler::QueueIndex(peer, vc));
  }
}

void Pipeline::WantRetransmission(Instance& instance, uint32_t number) {
  uint8_t& flags = instance.flags[number];
  if ((flags & Instance::kOnRetransmit) != 0) return;
  flags |= Instance::kOnRetransmit;
  instance.counters.Add(Counter::kGoBacks);
  const uint32_t plane = instance.PlaneOfConnection(number);
  instance.ports[plane]->retransmit.push_back({instance.number, number});
}

// Tells packing whether the destination can be reached.
void Pipeline::MarkLost(Instance& instance, uint32_t peer, uint32_t vcs, bool lost) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((vcs & 1u << vc) == 0) continue;
    instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost = lost;
  }
}

void Pipeline::GiveUpQueued(Instance& instance, uint32_t peer, uint32_t vcs, uint8_t status) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((vcs & 1u << vc) == 0) continue;
    const uint32_t index = Scheduler::QueueIndex(peer, vc);
    TxQueue& queue = instance.scheduler.queue(index);
    while (!queue.pdus.empty()) GiveUpFirst(instance, queue, status);
    instance.tx_credit[index].waiting = false;
    instance.tx_credit[index].ask_at = kNever;
    // One that is on its lane's list stays there until its turn, with nothing in it.
    if (queue.state == TxQueue::State::kBlocked) queue.state = TxQueue::State::kIdle;
    instance.blocked[peer] &= static_cast<uint8_t>(~(1u << vc));
  }
}

void Pipeline::GiveUpFirst(Instance& instance, TxQueue& queue, uint8_t status) {
  Pdu* pdu = queue.pdus.PopFront();
  if (!pdu->credited) ReturnCredit(instance, *pdu);
  --queued_pdus_;
  --instance.queued;
  ++instance.inflight;  // Complete counts it out again
  instance.inflight_bytes += pdu->bytes;
  PduList list;
  list.PushBack(pdu);
  Complete(instance, list, kNoPlane, status);
}

// Puts PDUs that a dead plane did not deliver back to the heads of their queues, in order.
void Pipeline::Requeue(Instance& instance, uint32_t peer, uint32_t plane, PduList& rest) {
  PduList of_vc[kVcCount];
  while (!rest.empty()) {
    Pdu* pdu = rest.PopFront();
    --instance.inflight;
    instance.inflight_bytes -= pdu->bytes;
    ++instance.queued;
    ++queued_pdus_;
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
    // What was sent before needs no credit.
    if (instance.tx_credit[index].waiting) EndWaitForCredit(instance, index);
    if (queue.state == TxQueue::State::kIdle) Activate(instance, index);
  }
}

// ---- Acknowledgements.

void Pipeline::OweAck(Instance& instance, uint32_t number, Time now) {
  uint8_t& flags = instance.flags[number];
  const uint32_t plane = instance.PlaneOfConnection(number);
  PortContext& port = *instance.ports[plane];
  if (instance.connections[number].MustAckNow(instance.params.transport)) {
    if ((flags & Instance::kOnAckNow) != 0) return;
    flags |= Instance::kOnAckNow;
    port.ack_now.push_back({instance.number, number});
  } else if ((flags & Instance::kOnAckList) == 0 && instance.connections[number].OwesAck()) {
    flags |= Instance::kOnAckList;
    DelayedAcks& list = port.ack_due[instance.ack_list[plane]];
    list.due.push_back({instance.number, number, now});
  }
}

// Sends what is still owed after the data of this turn has taken along what it could. Where the
// port has no room, what is owed there waits, and nothing else does.
void Pipeline::SendAcks(PortContext& port, Time now) {
  for (; !port.ack_now.empty(); port.ack_now.pop_front()) {
    const ConnectionRef ref = port.ack_now.front();
    if (!PayAck(*instances_[ref.instance], ref.connection, Instance::kOnAckNow)) return;
  }
  for (DelayedAcks& list : port.ack_due) {
    for (; !list.due.empty() && list.due.front().since + list.delay <= now; list.due.pop_front()) {
      const AckDue& due = list.due.front();
      if (!PayAck(*instances_[due.instance], due.connection, Instance::kOnAckList)) return;
    }
  }
}

// For a connection whose turn has come on the list that `list` names. False where it has to stay.
bool Pipeline::PayAck(Instance& instance, uint32_t number, uint8_t list) {
  const bool owes = !instance.down && instance.connections[number].OwesAck();
  if (owes && !SendAck(instance, number)) return false;
  instance.flags[number] &= static_cast<uint8_t>(~list);
  return true;
}

// What is owed, in a PDU of its own. False where there is no room to stage it.
bool Pipeline::SendAck(Instance& instance, uint32_t number) {
  Link& link = instance.ports[instance.PlaneOfConnection(number)]->link;
  Connection& connection = instance.connections[number];
  const bool resolving =
      instance.IsResolving(instance.PeerOfConnection(number), instance.PlaneOfConnection(number));
  if (!resolving && (!link.HasFrontRoom() || !link.HasFrames(1))) return false;
  const RpsnField field = connection.TakeRpsn();
  if (SendUnsequenced(instance, number, field, UnsequencedPsn(instance, link, connection),
                      Instance::kAckClass)) {
    instance.counters.Add(Counter::kTxAcks);
    if (field.op == RhOp::kNack) instance.counters.Add(Counter::kTxNacks);
  }
  return true;
}

// That of the next sequenced PDU to leave: what waits in the burst has not, and is passed on the way.
Psn Pipeline::UnsequencedPsn(const Instance& instance, const Link& link,
                             const Connection& connection) const {
  const Pdu* newest = connection.newest();
  if (newest == nullptr || !newest->note.staged() || connection.lost()) [[likely]] {
    return connection.UnsequencedPsn();
  }
  for (Frame* frame : link.staged()) {
    if (NoteOf(frame).kind != TxKind::kKept) continue;
    const Pdu* pdu = PduOf(frame);
    const bool of_connection = pdu->peer == newest->peer &&
                               (pdu->vc & instance.vc_mask) == (newest->vc & instance.vc_mask) &&
                               clients_.queue(pdu->runs[0].queue).instance == instance.number;
    if (of_connection && !pdu->retransmitted) return pdu->psn;
  }
  return connection.UnsequencedPsn();
}

// Asks the far side of a lost connection what it expects: in the class of the given-up PDUs, so that
// the answer is given behind them. It acknowledges nothing: its PSN is none that could come next.
void Pipeline::SendProbe(Instance& instance, uint32_t number) {
  Connection& connection = instance.connections[number];
  const bool held = IsHeld(instance, number);
  if (SendUnsequenced(instance, number, {}, connection.ProbePsn(),
                      connection.ProbeVc())) {
    connection.OnProbeSent(held);
  }
}

// Of those that have left at all, the one that left last: a device gives frames back in that order.
void Pipeline::HoldLast(Instance& instance, uint32_t number, const PduList& given_up) {
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

bool Pipeline::IsHeld(Instance& instance, uint32_t number) {
  Pdu* last = instance.last_given_up[number];
  if (last == nullptr) return false;
  if (instance.ports[instance.PlaneOfConnection(number)]->link.IsBusy(FrameOf(last))) return true;
  LetGo(instance, number);
  return false;
}

void Pipeline::LetGo(Instance& instance, uint32_t number) {
  Pdu*& last = instance.last_given_up[number];
  if (last == nullptr) return;
  const uint32_t vc = last->vc;
  HomePort(instance).link.Release(FrameOf(last));
  last = nullptr;
  ReturnShare(instance, instance.PeerOfConnection(number), vc, 1);
}

// Of those connections that are not lost any more, however that ended.
void Pipeline::LetGoOfEnded(const Reporter::Surveyed& surveyed) {
  for (uint32_t number = surveyed.first; number < surveyed.end; ++number) {
    Instance& instance = *instances_[surveyed.instance];
    if (instance.StateOf(number) != ConnectionState::kLost) LetGo(instance, number);
  }
}

// False where it is not staged: it is as if it were lost on the way.
bool Pipeline::SendUnsequenced(Instance& instance, uint32_t number, RpsnField field, Psn psn,
                               uint32_t traffic_class) {
  const uint32_t plane = instance.PlaneOfConnection(number);
  Link& link = instance.ports[plane]->link;
  if (instance.IsResolving(instance.PeerOfConnection(number), plane)) [[unlikely]] {
    instance.counters.Add(Counter::kTxNoMac);
    return false;
  }
  if (!link.HasFrontRoom() || !link.HasFrames(1)) return false;
  Frame* frame = link.NewFrame();
  const bool has_vc = traffic_class < kVcCount;
  WriteOneShot(instance, instance.PeerOfConnection(number), plane, frame, 0, traffic_class,
               {.ver = static_cast<uint8_t>(RhVersion::kData),
                .op = field.op,
                .xpuid = instance.params.xpuid,
                .psn = psn,
                .vc = has_vc && instance.vc_bits == 0 ? static_cast<uint8_t>(traffic_class)
                                                      : instance.VcOfConnection(number),
                .partition = instance.params.partition,
                .rpsn = field.rpsn});
  link.StageFront(frame, has_vc ? static_cast<uint8_t>(traffic_class) : TxNote::kNoVc);
  return true;
}

}  // namespace suede
