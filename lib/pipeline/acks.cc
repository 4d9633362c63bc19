// What is sent and done on the transport's own account: acknowledgements, control PDUs, timers,
// completions.
#include "pipeline/pipeline.h"
#include "wire/control_pdu.h"

namespace suede {
namespace {

Counter GivenUpCounter(uint8_t status) {
  return status == SUEDE_STATUS_PEER_RESET ? Counter::kTxPeerReset : Counter::kTxUnreachable;
}

// How often a timer of what is down looks whether it is up again.
constexpr Duration kDownLook = std::chrono::milliseconds(2);

}  // namespace

// ---- Completions.

// Ends PDUs that were sent: tells who asked, and gives the frames back.
void Pipeline::Complete(Instance& instance, PduList& pdus, uint8_t status) {
  PortContext& port = PortOf(instance);
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
    port.ReleasePdu(pdu);
  }
  if (instance.scheduler.HasWork()) Enlist(instance);
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
  Complete(instance, acked, SUEDE_STATUS_OK);
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

// Puts the instance on its port's list of those with work, if it is not there.
void Pipeline::Enlist(Instance& instance) {
  if (instance.on_active_list) return;
  instance.on_active_list = true;
  PortOf(instance).active_instances.push_back(instance.number);
}

// Lets the queues go on that wait for the connection, if it can send.
void Pipeline::Unblock(Instance& instance, uint32_t number) {
  const uint8_t mask = instance.blocked[number];
  if (mask == 0) return;
  const uint32_t peer = instance.PeerOfConnection(number);
  if (!instance.handshakes[peer].open() ||
      !instance.connections[number].CanSend(0, instance.params.transport)) {
    return;
  }
  instance.blocked[number] = 0;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((mask & 1u << vc) != 0) Activate(instance, Scheduler::QueueIndex(peer, vc));
  }
}

void Pipeline::WantRetransmission(Instance& instance, uint32_t number) {
  uint8_t& flags = instance.flags[number];
  if ((flags & Instance::kOnRetransmit) != 0) return;
  flags |= Instance::kOnRetransmit;
  instance.counters.Add(Counter::kGoBacks);
  PortOf(instance).retransmit.push_back({instance.number, number});
}

// Tells packing whether the connection's destination can be reached.
void Pipeline::MarkLost(Instance& instance, uint32_t number, bool lost) {
  const uint32_t peer = instance.PeerOfConnection(number);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (instance.ConnectionIndex(peer, vc) != number) continue;
    instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost = lost;
  }
}

void Pipeline::GiveUpQueued(Instance& instance, uint32_t number, uint8_t status) {
  const uint32_t peer = instance.PeerOfConnection(number);
  const bool per_vc = instance.params.transport.psn_scope == PsnScope::kVc;
  const uint32_t first = per_vc ? instance.VcOfConnection(number) : 0;
  const uint32_t last = per_vc ? first : kVcCount - 1;
  for (uint32_t vc = first; vc <= last; ++vc) {
    TxQueue& queue = instance.scheduler.queue(Scheduler::QueueIndex(peer, vc));
    // A queue on its list stays there with nothing on it only until its turn: see StageOne. Here
    // the connection is stuck, so what is queued is blocked.
    if (queue.state != TxQueue::State::kBlocked) continue;
    PduList list;
    while (!queue.pdus.empty()) {
      Pdu* pdu = queue.pdus.PopFront();
      ReturnCredit(instance, *pdu);
      --queued_pdus_;
      --instance.queued;
      ++instance.inflight;  // Complete counts it out again
      instance.inflight_bytes += pdu->bytes;
      list.PushBack(pdu);
    }
    queue.state = TxQueue::State::kIdle;
    instance.blocked[number] &= static_cast<uint8_t>(~(1u << vc));
    Complete(instance, list, status);
  }
}

// ---- Acknowledgements.

void Pipeline::OweAck(Instance& instance, uint32_t number, Time now) {
  uint8_t& flags = instance.flags[number];
  if (instance.connections[number].MustAckNow(instance.params.transport)) {
    if ((flags & Instance::kOnAckNow) != 0) return;
    flags |= Instance::kOnAckNow;
    PortOf(instance).ack_now.push_back({instance.number, number});
  } else if ((flags & Instance::kOnAckList) == 0 && instance.connections[number].OwesAck()) {
    flags |= Instance::kOnAckList;
    DelayedAcks& list = PortOf(instance).ack_due[instance.ack_list];
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
  PortContext& port = PortOf(instance);
  Connection& connection = instance.connections[number];
  if (instance.resolving[instance.PeerOfConnection(number)] != 0) [[unlikely]] {
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
  WriteFrame(instance, port, pdu, Instance::kAckClass,
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

// ---- Control PDUs.

// False where there was no room to stage it: it is as if it were lost on the way.
bool Pipeline::SendControl(Instance& instance, uint32_t peer, const ControlMessage& message) {
  PortContext& port = PortOf(instance);
  if (instance.resolving[peer] != 0) [[unlikely]] {
    instance.counters.Add(Counter::kTxNoMac);
    return true;  // it is lost on the way
  }
  if (instance.down || !port.HasStageRoom() || !port.HasFrames(1)) return false;
  Pdu* pdu = port.NewPdu();
  pdu->peer = static_cast<uint16_t>(peer);
  pdu->orphaned = true;
  pdu->bytes = static_cast<uint16_t>(EncodeControl(message, pdu->commands));
  WriteFrame(instance, port, pdu, Instance::kAckClass,
             ControlRh(instance.params.xpuid, instance.params.partition));
  port.Stage(pdu);
  instance.counters.Add(Counter::kTxControlPdus);
  return true;
}

Hello Pipeline::MakeHello(const Instance& instance, uint32_t peer, bool reply_wanted) const {
  const InstanceParams& params = instance.params;
  return {.epoch = params.epoch,
          .peer_epoch = instance.handshakes[peer].peer_epoch(),
          .psn_scope = static_cast<uint8_t>(params.transport.psn_scope),
          .window_pdus = static_cast<uint16_t>(params.transport.window_pdus),
          .pack_limit_bytes = static_cast<uint16_t>(params.pack_limit_bytes),
          .reply_wanted = reply_wanted,
          .continuing = instance.HasHistory(peer)};
}

void Pipeline::OnControlPdu(Instance& instance, const ReceivedPdu& pdu, Time now) {
  ControlMessage message;
  switch (DecodeControl(pdu.commands, pdu.bytes, message)) {
    case ControlError::kNone: break;
    case ControlError::kUnknownType:
      instance.counters.Add(Counter::kRxControlUnknown);
      return;
    case ControlError::kMalformed:
      instance.counters.Add(Counter::kRxControlMalformed);
      return;
  }
  instance.counters.Add(Counter::kRxControlPdus);
  if (const auto* hello = std::get_if<Hello>(&message)) {
    OnHello(instance, pdu.peer, *hello, now);
  } else if (const auto* not_ready = std::get_if<NotReady>(&message)) {
    const uint32_t number = instance.ConnectionIndex(pdu.peer, not_ready->vc);
    PduList acked;
    const RpsnVerdict verdict = instance.connections[number].OnNotReady(
        not_ready->expected, std::chrono::microseconds(not_ready->backoff_us), now,
        instance.params.transport, acked);
    if (verdict == RpsnVerdict::kOutOfWindow) instance.counters.Add(Counter::kRxRpsnInvalid);
    instance.counters.Add(Counter::kPauses);
    OnAcked(instance, number, acked);
    Unblock(instance, number);
    ArmConnection(instance, number);
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    const uint32_t number = instance.ConnectionIndex(pdu.peer, ready->vc);
    instance.connections[number].OnReady(ready->expected, now);
    OnConnectionTimer(instance, number, now);
  }
}

void Pipeline::OnHello(Instance& instance, uint32_t peer, const Hello& hello, Time now) {
  if (hello.psn_scope != static_cast<uint8_t>(instance.params.transport.psn_scope)) {
    OnHelloMismatch(instance, peer);
    return;
  }
  instance.mismatched[peer] = false;
  Handshake& handshake = instance.handshakes[peer];
  const HelloVerdict verdict = handshake.OnHello(
      {.epoch = hello.epoch,
       .peer_epoch = hello.peer_epoch,
       .reply_wanted = hello.reply_wanted,
       .continuing = hello.continuing},
      instance.params.epoch, instance.HasHistory(peer));
  if (verdict.reset) OnPeerReset(instance, peer);
  if (verdict.reply) {
    SendControl(instance, peer,
                MakeHello(instance, peer, hello.peer_epoch != instance.params.epoch));
  }
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    const uint32_t number = instance.ConnectionIndex(peer, vc);
    if (!hello.reply_wanted && hello.peer_epoch == instance.params.epoch) {
      instance.connections[number].OnProbeAnswered();
    }
    if (verdict.reply && hello.peer_epoch == instance.params.epoch) {
      // It may have lost us: say what we expect.
      instance.connections[number].OnDuplicate();
      OweAck(instance, number, now);
    }
    if (instance.blocked[number] != 0 && !handshake.open()) {
      // What waits has to make itself heard again: the peer's next HELLO may be lost.
      Greet(instance, peer, now);
    }
    Unblock(instance, number);
    if (instance.params.transport.psn_scope == PsnScope::kPort) break;
  }
}

void Pipeline::OnHelloMismatch(Instance& instance, uint32_t peer) {
  instance.counters.Add(Counter::kHelloMismatch);
  if (instance.mismatched[peer]) return;
  instance.mismatched[peer] = true;
  Tell({.kind = LcoreEventKind::kHelloMismatch,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

// The peer has restarted: what was in flight to its last life is over, sequence numbers start anew.
void Pipeline::OnPeerReset(Instance& instance, uint32_t peer) {
  instance.counters.Add(Counter::kPeerResets);
  Tell({.kind = LcoreEventKind::kPeerReset,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
  const bool per_vc = instance.params.transport.psn_scope == PsnScope::kVc;
  for (uint32_t vc = 0; vc < (per_vc ? kVcCount : 1); ++vc) {
    PduList given_up;
    const uint32_t number = instance.ConnectionIndex(peer, vc);
    if (instance.connections[number].lost()) {
      Tell(LcoreEventKind::kPeerReachable, instance, number);
    }
    instance.connections[number].Reset(given_up);
    MarkLost(instance, number, false);
    Complete(instance, given_up, SUEDE_STATUS_PEER_RESET);
  }
}

// Tells senders whose PDU was refused that there is room now.
void Pipeline::SendReady() {
  for (size_t i = refused_.size(); i != 0; --i) {
    const Refused refused = refused_.front();
    refused_.pop_front();
    Instance& instance = *instances_[refused.instance];
    const Connection& connection = instance.connections[refused.connection];
    // It came again and was accepted; a later one may have been refused since.
    if (!connection.not_ready() || connection.expected() != refused.psn) continue;
    const uint32_t client = instance.claimed_by[refused.vc];
    const bool room = client == Instance::kNoClient
                          ? instance.unclaimed_count[refused.vc] < instance.params.unclaimed_pdus
                          : instance.unclaimed[refused.vc].empty() &&
                                clients_[client].rings[refused.vc].HasRoom(refused.lines);
    const uint32_t peer = instance.PeerOfConnection(refused.connection);
    if (!room || !SendControl(instance, peer,
                              Ready{.vc = refused.vc, .expected = connection.expected()})) {
      refused_.push_back(refused);
      continue;
    }
    // Should it get lost: the sender's own wait ends some time, and another refusal asks again.
    instance.connections[refused.connection].OnRoom();
  }
}

// ---- Time.

void Pipeline::ArmConnection(Instance& instance, uint32_t number) {
  timers_.Arm(instance.first_timer + number, instance.connections[number].deadline());
}

void Pipeline::ArmHandshake(Instance& instance, uint32_t peer) {
  timers_.Arm(instance.first_timer + static_cast<uint32_t>(instance.connections.size()) + peer,
              instance.handshakes[peer].deadline());
}

// Begins to say hello to the peer, if that has not begun. Without its MAC address nobody would hear
// it, and the tries would be used up; what waits asks again once the address is known.
void Pipeline::Greet(Instance& instance, uint32_t peer, Time now) {
  if (instance.resolving[peer] != 0) return;
  instance.handshakes[peer].OnDemand(now);
  ArmHandshake(instance, peer);
}

void Pipeline::OnTimer(uint32_t timer, Time now) {
  Instance& instance = *instances_[instance_of_timer_[timer]];
  const uint32_t number = timer - instance.first_timer;
  // Nothing can be answered: what is in flight waits, and that is no try.
  if (IsDown(instance)) return timers_.Arm(timer, now + kDownLook);
  if (number < instance.connections.size()) {
    OnConnectionTimer(instance, number, now);
    return;
  }
  const auto peer = number - static_cast<uint32_t>(instance.connections.size());
  Handshake& handshake = instance.handshakes[peer];
  if (handshake.OnTimer(now, instance.params.transport)) {
    SendControl(instance, peer, MakeHello(instance, peer, true));
  }
  ArmHandshake(instance, peer);
  if (!handshake.open()) return;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) Unblock(instance, instance.ConnectionIndex(peer, vc));
}

void Pipeline::OnConnectionTimer(Instance& instance, uint32_t number, Time now) {
  Connection& connection = instance.connections[number];
  const TransportParams& params = instance.params.transport;
  const uint32_t tries = connection.tries();
  switch (connection.OnTimer(now, params)) {
    case TimerVerdict::kNothing: break;
    case TimerVerdict::kRetransmit:
      if (connection.tries() != tries) instance.counters.Add(Counter::kRtoFired);
      WantRetransmission(instance, number);
      break;
    case TimerVerdict::kUnreachable: {
      instance.counters.Add(Counter::kUnreachable);
      Tell(LcoreEventKind::kPeerUnreachable, instance, number);
      PduList given_up;
      connection.GiveUp(now, params, given_up);
      MarkLost(instance, number, true);
      Complete(instance, given_up, SUEDE_STATUS_UNREACHABLE);
      GiveUpQueued(instance, number, SUEDE_STATUS_UNREACHABLE);
      break;
    }
    case TimerVerdict::kProbe:
      SendControl(instance, instance.PeerOfConnection(number),
                  MakeHello(instance, instance.PeerOfConnection(number), true));
      SendAck(instance, number);
      // A peer that does not speak HELLO gives no other answer than its next ACK or NACK.
      if (instance.handshakes[instance.PeerOfConnection(number)].peer_epoch() == 0) {
        connection.OnProbeAnswered();
      }
      GiveUpQueued(instance, number, SUEDE_STATUS_UNREACHABLE);
      break;
  }
  ArmConnection(instance, number);
}

}  // namespace suede
