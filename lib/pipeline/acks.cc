// What is sent and done on the transport's own account: acknowledgements, completions, connections
// that can go on or cannot.
#include "pipeline/pipeline.h"

namespace suede {
namespace {

Counter GivenUpCounter(uint8_t status) {
  return status == SUEDE_STATUS_PEER_RESET ? Counter::kTxPeerReset : Counter::kTxUnreachable;
}

}  // namespace

// ---- Completions.

// Ends PDUs that were sent: tells who asked, and gives the frames back.
void Pipeline::Complete(Instance& instance, PduList& pdus, uint32_t plane, uint8_t status) {
  PortContext& home = HomePort(instance);
  const bool counted = instance.has_planes() && plane != kNoPlane;
  while (!pdus.empty()) {
    Pdu* pdu = pdus.PopFront();
    const uint16_t xpuid = instance.params.peers[pdu->peer].xpuid;
    uint32_t tag = 0;
    for (uint32_t i = 0; i < pdu->run_count; ++i) {
      const PduRun& run = pdu->runs[i];
      QueueSlot& slot = queues_[run.queue];
      for (const uint32_t end = tag + run.tags; tag < end; ++tag) {
        CompleteTag(slot, run.queue, pdu->tags[tag], xpuid, pdu->vc, status);
      }
      if (--slot.runs == 0 && slot.state == QueueSlot::State::kGone) {
        slot.state = QueueSlot::State::kFree;
      }
    }
    if (status != SUEDE_STATUS_OK) {
      instance.counters.Add(GivenUpCounter(status), pdu->command_count);
    } else {
      instance.histograms[HistogramId::kCommandLatency].Record(
          static_cast<uint64_t>(pdu->Age(last_turn_).count()), pdu->command_count);
    }
    --instance.inflight;
    instance.inflight_bytes -= pdu->bytes;
    if (counted) {
      instance.paths[pdu->peer].OnEnd(plane, pdu->bytes);
      instance.inflight_on[plane] -= pdu->bytes;
    }
    home.ReleasePdu(pdu);
  }
  Enlist(instance);
}

void Pipeline::OnAcked(Instance& instance, uint32_t number, PduList& acked) {
  if (!acked.empty()) {
    HistogramBlock& histograms = instance.histograms;
    if (const std::optional<Duration> sample = RttSample(*acked.tail(), last_turn_)) {
      histograms[HistogramId::kRtt].Record(static_cast<uint64_t>(sample->count()));
    }
    if (const std::optional<Recovery> recovery =
            instance.connections[number].TakeRecovery(last_turn_)) {
      histograms[HistogramId::kGoBackPdus].Record(recovery->pdus);
      histograms[HistogramId::kGoBackTime].Record(static_cast<uint64_t>(recovery->took.count()));
    }
  }
  Complete(instance, acked, instance.PlaneOfConnection(number), SUEDE_STATUS_OK);
  if (instance.paths[instance.PeerOfConnection(number)].moving) [[unlikely]] {
    ChooseHome(instance, instance.PeerOfConnection(number));
  }
}

void Pipeline::CompleteTag(QueueSlot& slot, uint16_t number, uint64_t tag, uint16_t xpuid,
                           uint8_t vc, uint8_t status) {
  if (slot.state != QueueSlot::State::kServing) return;
  CounterBlock& counters = instances_[slot.instance]->counters;
  if (!slot.completions.Push(tag, xpuid, vc, status)) {
    counters.Add(Counter::kCompletionsLost);
    return;
  }
  counters.Add(Counter::kCompletions);
  if (!slot.completions_dirty) {
    slot.completions_dirty = true;
    dirty_queues_.push_back(number);
  }
}

void Pipeline::PublishCompletions() {
  for (const uint16_t number : dirty_queues_) {
    QueueSlot& slot = queues_[number];
    slot.completions_dirty = false;
    if (slot.segment != nullptr) slot.completions.Publish();
  }
  dirty_queues_.clear();
}

// ---- Connections that can go on, or cannot.

void Pipeline::Activate(Instance& instance, uint32_t queue) {
  instance.scheduler.Activate(queue);
  Enlist(instance);
}

// Puts the instance's lanes that have work on the list of those, where they are not on it.
void Pipeline::Enlist(Instance& instance) {
  const uint32_t lanes = instance.is_strict() ? instance.plane_count() : 1;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
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
  const PeerPaths& paths = instance.paths[peer];
  const uint32_t plane = instance.PlaneOfConnection(number);
  if ((paths.usable & 1u << plane) == 0 ||
      !instance.connections[number].CanSend(0, instance.params.transport)) {
    return;
  }
  if (instance.has_planes() && instance.is_strict() && (paths.moving || plane != paths.home)) {
    return;
  }
  instance.blocked[peer] = static_cast<uint8_t>(instance.blocked[peer] & ~mask);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((mask & 1u << vc) != 0) Activate(instance, Scheduler::QueueIndex(peer, vc));
  }
}

void Pipeline::UnblockPeer(Instance& instance, uint32_t peer) {
  const uint32_t end = instance.ConnectionIndex(peer + 1, 0, 0);
  for (uint32_t number = instance.ConnectionIndex(peer, 0, 0);
       number < end && instance.blocked[peer] != 0; ++number) {
    Unblock(instance, number);
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
    TxQueue& queue = instance.scheduler.queue(Scheduler::QueueIndex(peer, vc));
    PduList list;
    while (!queue.pdus.empty()) {
      Pdu* pdu = queue.pdus.PopFront();
      if (!pdu->credited) ReturnCredit(instance, *pdu);
      --queued_pdus_;
      --instance.queued;
      ++instance.inflight;  // Complete counts it out again
      instance.inflight_bytes += pdu->bytes;
      list.PushBack(pdu);
    }
    // One that is on its lane's list stays there until its turn, with nothing in it.
    if (queue.state == TxQueue::State::kBlocked) queue.state = TxQueue::State::kIdle;
    instance.blocked[peer] &= static_cast<uint8_t>(~(1u << vc));
    Complete(instance, list, kNoPlane, status);
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

// An unsequenced PDU. False where there is no room to stage it.
bool Pipeline::SendAck(Instance& instance, uint32_t number) {
  const uint32_t plane = instance.PlaneOfConnection(number);
  PortContext& port = *instance.ports[plane];
  Connection& connection = instance.connections[number];
  if (instance.resolving[number >> instance.vc_bits] != 0) [[unlikely]] {
    connection.TakeRpsn();  // as if it were lost on the way
    instance.counters.Add(Counter::kTxNoMac);
    return true;
  }
  if (!port.HasStageRoom() || !port.HasFrames(1)) return false;
  const RpsnField field = connection.TakeRpsn();
  instance.counters.Add(Counter::kTxAcks);
  if (field.op == RhOp::kNack) instance.counters.Add(Counter::kTxNacks);
  Pdu* pdu = port.NewPdu();
  pdu->peer = static_cast<uint16_t>(instance.PeerOfConnection(number));
  pdu->orphaned = true;
  WriteFrame(instance, plane, pdu, Instance::kAckClass,
             {.ver = static_cast<uint8_t>(RhVersion::kData),
              .op = field.op,
              .xpuid = instance.params.xpuid,
              .psn = connection.next_psn(),
              .vc = instance.VcOfConnection(number),
              .partition = instance.params.partition,
              .rpsn = field.rpsn});
  port.Stage(pdu);
  return true;
}

}  // namespace suede
