// SPDX-License-Identifier: Apache-2.0
#include "send/stage.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "send/stage_frames.h"

namespace suede {
namespace {

// Max PDUs and bytes of commands that take the plane chosen for the first of them, if each PDU
// could take another: the loads of planes differ by no more.
constexpr uint32_t kPdusInARow = 8;
constexpr uint32_t kBytesInARow = 8192;
// Max bytes of commands in a row that take one session: little may be in flight on each.
constexpr uint32_t kBytesOfSessionInARow = 4096;

// Records the number of commands of each PDU. Returns their sum.
[[gnu::noinline]] uint32_t RecordCommands(HistogramBlock& histograms, const Pdu* first,
                                          uint32_t count) {
  uint32_t commands = 0;
  for (const Pdu* pdu = first; count != 0; --count, pdu = pdu->next) {
    commands += pdu->command_count;
    histograms[HistogramId::kPduCommands].Record(pdu->command_count);
  }
  return commands;
}

}  // namespace

// The VCs of which a PDU of the lane could be staged now, as far as its ports permit. If the lane
// has several ports, PickPlane checks each of them for the PDU's own VC.
inline VcMask Stager::RoomFor(const TransmitState& tx, const PlanePorts& ports, uint32_t lane) {
  if (tx.lane_is_plane) return ports[lane]->link.room();
  VcMask room = 0;
  for (const PortContext* port : ports) {
    room |= port->link.room();
    if (room == kEveryVc) [[likely]]
      break;
  }
  return room;
}

// PDUs of these VCs wait for ports that are paused, or without credit.
void Stager::NoteWaiting(const PlanePorts& ports, PlaneMask planes, uint32_t vcs, Time now) {
  for (uint32_t left = planes; left != 0; left &= left - 1) {
    Link& link = ports[static_cast<uint32_t>(std::countr_zero(left))]->link;
    link.NoteWaiting(static_cast<VcMask>(vcs), now);
  }
}

// The VCs to serve now on a lane that has work in VCs without room; 0: none.
[[gnu::cold, gnu::noinline]] uint32_t Stager::OpenOf(const TransmitState& tx,
                                                     const PlanePorts& ports, uint32_t lane,
                                                     VcMask room, Time now) {
  // In strict mode PDUs on a lane that is not their plane's have to leave it, even from VCs without
  // room: so these VCs are served now and then.
  constexpr uint32_t kClosedEvery = 8;
  const uint32_t vcs = tx.scheduler.WorkOf(lane);
  const uint32_t planes = tx.lane_is_plane ? 1u << lane : (1u << tx.map.plane_count()) - 1;
  NoteWaiting(ports, static_cast<PlaneMask>(planes), vcs & ~room, now);
  const uint32_t open = vcs & room;
  if (tx.lanes == 1) return open;
  return open != 0 && ++closed_count_ % kClosedEvery != 0 ? open : vcs;
}

// Returns the plane that a PDU of the lane takes, as PickPlane does. If the plane has several
// sessions, PickSlot finds out whether one of them can send.
[[gnu::always_inline]] inline PlaneIndex Stager::PlaneFor(const Instance& instance, uint32_t lane,
                                                          PeerIndex peer, Vc vc, uint32_t bytes) {
  if (!instance.tx.lane_is_plane) return PickPlane(instance, peer, vc, bytes);
  const PlaneIndex plane(lane);
  const bool can = instance.map.has_groups() ? instance.MayTake(peer, plane, vc, bytes)
                                             : instance.CanSend(peer, plane, vc, bytes);
  return can ? plane : PeerPaths::kNoPlane;
}

// The first PDUs in flight on the connection have left.
[[gnu::always_inline]] inline void Stager::ArmFirst(PeerArrays& peers, const PathRef& path,
                                                    Time now) {
  lcore_.timers.ArmConnection(peers, path.connection);
  if (peers.own.has_sessions) peers.own.OnBusy(path.plane);
  PlaneSession& session = peers.session(path.peer, path.plane);
  if (!session.up()) return;
  bool moved = session.OnTraffic(now, peers.own.paths);
  if (peers.own.map.has_groups()) {
    moved |= peers.group(path.peer, path.plane).OnTraffic(now, peers.own.paths.sessions);
  }
  if (moved) lcore_.timers.ArmSession(peers, path.peer, path.plane);
}

[[gnu::always_inline]] inline void Stager::CountNew(InstanceStats& stats, const Run& run) {
  uint32_t commands = run.first->command_count * run.count;
  if (run.alike()) [[likely]] {
    stats.histograms[HistogramId::kPduCommands].Record(run.first->command_count, run.count);
  } else {
    commands = RecordCommands(stats.histograms, run.first, run.count);
  }
  stats.counters.Add(Counter::kTxPdus, run.count);
  stats.counters.Add(Counter::kTxCommands, commands);
  stats.counters.Add(Counter::kTxCommandBytes, run.bytes);
}

// Returns the lines that PDUs take of the credit granted by their destination.
inline uint32_t ChargeOf(const TxQueue& queue, uint32_t lines) {
  return queue.counts_credit ? lines : 0;
}

// The connection has taken `count` PDUs.
[[gnu::always_inline]] inline void Stager::OnSequenced(PeerArrays& peers, TransmitState& tx,
                                                       const PathRef& path, const Pdu* first,
                                                       uint32_t count, uint32_t bytes, Time now) {
  tx.OnLeft(count, bytes);
  peers.CountIn(path.peer, path.plane, bytes);
  if (tx.map.has_groups()) [[unlikely]]
    peers.group(path.peer, path.plane).OnTaken(count, bytes);
  if (tx.counts_sent) {
    if (tx.is_paced) congestion_.OnSent(tx, path.connection, tx.OctetsOf(count, bytes), now);
    if (tx.is_recorded) tx.recorded_bytes[path.plane][tx.map.KeyOf(path.vc)] += bytes;
    if (tx.trace != nullptr) tx.TraceStaged(path.connection, path.vc, first, count, now);
  }
  if (peers.connections[path.connection].in_flight().count() == count) ArmFirst(peers, path, now);
}

// Max PDUs that the queue may stage in this turn, if its first PDU may leave: several only if it
// has several, and no other queue waits for a turn.
[[gnu::always_inline]] inline uint32_t Stager::MaxInARow(const PeerArrays& peers,
                                                         const TransmitState& tx, const Link& link,
                                                         const TxQueue& queue, uint32_t lane,
                                                         const PathRef& path) const {
  if (queue.pdus.head()->next == nullptr) return 1;
  if (run_queue_.size() != 1 || tx.scheduler.HasWork(lane)) return 1;
  // A few PDUs that could take any plane are divided among the planes, and among the sessions if
  // one is better than others.
  uint32_t max = kBurst;
  if (tx.spreads) {
    uint32_t share = tx.map.PerPlane(tx.queued) / 2;
    if (tx.map.has_groups()) [[unlikely]]
      share = std::min(share, std::max(peers.group(path.peer, path.plane).MaxInRun(), share >> 1));
    max = std::clamp(share, 1u, kPdusInARow);
  }
  const Connection& connection = peers.connections[path.connection];
  return std::min({max, link.RoomOf(path.vc), connection.tx().WindowLeft(tx.params.transport),
                   ShareBook::RoomOf(tx, path.peer, path.vc)});
}

// Returns the limits of a run of up to `max` PDUs, the first of which may leave.
[[gnu::always_inline]] inline Stager::Limits Stager::LimitsOf(const PeerArrays& peers,
                                                              const TransmitState& tx,
                                                              const TxQueue& queue,
                                                              const PathRef& path, uint32_t max) {
  uint32_t bytes = peers.connections[path.connection].tx().BytesLeft(tx.params.transport);
  if (tx.spreads)
    bytes = std::min(bytes, tx.map.has_groups() ? kBytesOfSessionInARow : kBytesInARow);
  if (tx.is_paced) {
    const PathIndex at = tx.map.PathAt(path.peer, path.plane);
    bytes = std::min(bytes, CongestionUse::BytesFor(tx, at, max));
  }
  return {.count = max, .bytes = bytes, .lines = queue.counts_credit ? queue.credit : UINT32_MAX};
}

// Stages the queue's first PDU, and as many PDUs behind it as may leave. A run of one is compiled
// separately.
[[gnu::always_inline]] inline void Stager::StageNew(Instance& instance, uint32_t lane,
                                                    TxQueue& queue, const PathRef& path, Time now) {
  const uint32_t max =
      MaxInARow(instance.peers, instance.tx, instance.ports[path.plane]->link, queue, lane, path);
  if (max == 1) return StageRun(instance, queue, path, {.count = 1}, now);
  StageRun(instance, queue, path, LimitsOf(instance.peers, instance.tx, queue, path, max), now);
}

[[gnu::always_inline]] inline void Stager::StageRun(Instance& instance, TxQueue& queue,
                                                    const PathRef& path, const Limits& limits,
                                                    Time now) {
  TransmitState& tx = instance.tx;
  SendHalf& half = instance.peers.connections[path.connection].tx();
  FrameRun frames(instance, path, batch_);
  Run run{.first = queue.pdus.head()};
  Pdu* last = run.first;
  for (;;) {
    half.Number(last, run.count, now);
    run.Add(last);
    frames.Stage(last);
    Pdu* const next = last->next;
    if (next == nullptr || !run.Takes(*next, limits)) break;
    __builtin_prefetch(next->next);
    __builtin_prefetch(next->commands - HeaderTemplate::kRoomBytes, 1);
    last = next;
  }
  PduList pdus = queue.pdus.TakeUpTo(last);
  half.OnSend(pdus, run.count, run.bytes, now, tx.params.transport);
  queue.credit -= ChargeOf(queue, run.lines);
  tx.OnTaken(queue, run.count, run.bytes);
  CountNew(instance.stats, run);
  OnSequenced(instance.peers, tx, path, run.first, run.count, run.bytes, now);
  completions_.OnLeft(tx, run.first, run.count, run.lines, run.alike());
  frames.End(run.first, run.count);
}

// Stages a PDU that has its PSN.
void Stager::StageNumbered(Instance& instance, const PathRef& path, Pdu* pdu) {
  FrameRun frames(instance, path, batch_);
  frames.Stage(pdu);
  frames.End(pdu, 1);
}

// Stages a PDU that has left before, on a plane that died.
[[gnu::cold]] void Stager::StageAgain(Instance& instance, TxQueue& queue, const PathRef& path,
                                      Time now) {
  Pdu* const pdu = FreeOfDevice(instance.tx.home, queue.pdus.PopFront());
  TransmitState& tx = instance.tx;
  tx.OnTaken(queue, 1, pdu->bytes);
  instance.peers.connections[path.connection].tx().OnSend(pdu, now, tx.params.transport);
  OnSequenced(instance.peers, tx, path, pdu, 1, pdu->bytes, now);
  instance.stats.counters.Add(Counter::kTxMoved);
  StageNumbered(instance, path, pdu);
}

// Stages the first PDU of a queue, and maybe more, on the plane. Returns false if none of its
// sessions takes the PDU.
[[gnu::always_inline]] inline bool Stager::StageOn(Instance& instance, uint32_t lane,
                                                   uint32_t index, PlaneIndex plane, Time now) {
  TxQueue& queue = instance.tx.scheduler.queue(index);
  const Pdu* const pdu = queue.pdus.head();
  const PeerIndex peer = Scheduler::PeerOf(index);
  const Vc vc = Scheduler::VcOf(index);
  SessionIndex slot = 0;
  if (instance.map.has_groups()) [[unlikely]] {
    slot = PickSlot(instance.peers, queue, peer, plane, vc, pdu->bytes);
    if (slot == kNoSlot) return false;
  }
  const PathRef path{
      .peer = peer, .vc = vc, .plane = plane, .connection = instance.map.At(peer, plane, slot, vc)};
  if (pdu->credited) [[unlikely]] {
    StageAgain(instance, queue, path, now);
  } else {
    StageNew(instance, lane, queue, path, now);
  }
  return true;
}

// Whether the first PDU of the queue may leave, and by which plane. `room`: of the lane.
[[gnu::always_inline]] inline Stager::Admission Stager::Admit(Instance& instance, uint32_t lane,
                                                              uint32_t index, VcMask room) {
  TxQueue& queue = instance.tx.scheduler.queue(index);
  const PeerIndex peer = Scheduler::PeerOf(index);
  const Vc vc = Scheduler::VcOf(index);
  if (queue.pdus.empty() || queue.lane != lane) [[unlikely]]
    return {Verdict::kNotHere};
  if ((room >> vc & 1) == 0) [[unlikely]]
    return {Verdict::kNoRoom};
  if (instance.tx.has_homes && BeginsElsewhere(instance, queue, lane, peer, vc)) [[unlikely]]
    return {Verdict::kNotHere};
  const Pdu* const pdu = queue.pdus.head();
  const PlaneIndex plane = PlaneFor(instance, lane, peer, vc, pdu->bytes);
  if (plane == PeerPaths::kNoPlane) return {Verdict::kNoPath};
  if (pdu->credited) [[unlikely]] {  // the PDU has left before, on a plane that has died
    if (plane == kPlaneFull) return {Verdict::kPlanesFull};
    if (!instance.tx.home.frames().Has(1)) return {Verdict::kNoRoom};
  } else {
    if (plane != kPlaneFull && !ShareBook::MayHold(instance.tx, peer, vc)) [[unlikely]]
      return {Verdict::kNoShare};
    if (ChargeOf(queue, pdu->lines) > queue.credit) [[unlikely]]
      return {Verdict::kNoCredit};
    if (plane == kPlaneFull) [[unlikely]]
      return {Verdict::kPlanesFull};
  }
  if (instance.sealing.on() && !instance.tx.home.frames().Has(kBurst)) [[unlikely]]
    return {Verdict::kNoRoom};
  return {Verdict::kSend, plane};
}

// Serves one queue of a lane that has work.
[[gnu::always_inline]] inline Stager::Turn Stager::StageOne(Instance& instance, uint32_t lane,
                                                            Time now) {
  Scheduler& scheduler = instance.tx.scheduler;
  const VcMask room = RoomFor(instance.tx, instance.ports, lane);
  uint32_t vcs = scheduler.WorkOf(lane);
  if ((vcs & ~room) != 0) [[unlikely]] {
    // In strict mode a port that is down never has room, and PDUs queued for it have to move away.
    vcs = OpenOf(instance.tx, instance.ports, lane, room, now);
    if (vcs == 0) return room == 0 ? Turn::kNoRoom : Turn::kPaused;
  }
  const uint32_t index = scheduler.NextOf(lane, vcs);
  const Admission admission = Admit(instance, lane, index, room);
  switch (admission.verdict) {
    case Verdict::kSend:
      StageOn(instance, lane, index, admission.plane, now) ? scheduler.Requeue(index)
                                                           : BlockQueue(instance, index);
      break;
    case Verdict::kNotHere:
      scheduler.Requeue(index);
      run_queue_.Enqueue(instance.tx);
      break;
    case Verdict::kNoPath:
      BlockQueue(instance, index);
      break;
    case Verdict::kNoShare:
      shares_.Wait(instance.tx, instance.stats.counters, index);
      break;
    case Verdict::kNoCredit:
      credit_use_.Wait(instance, index, now);
      break;
    case Verdict::kPlanesFull:
      NoteWaiting(instance.ports,
                  instance.peers.paths[Scheduler::PeerOf(index)].choice[Scheduler::VcOf(index)],
                  1u << Scheduler::VcOf(index), now);
      [[fallthrough]];
    case Verdict::kNoRoom:
      scheduler.Requeue(index);
      return Turn::kNoRoom;
  }
  return scheduler.HasWork(lane) ? Turn::kMore : Turn::kDone;
}

// Half of each port's places, or all that are left, go to retransmissions.
bool Stager::StageRetransmissions(bool all, Time now) {
  bool staged = false;
  for (const auto& port : lcore_.ports) {
    if (port->retransmit.empty()) [[likely]]
      continue;
    const uint32_t end = port->link.ShareOfRetransmissions(all);
    for (; port->link.HasRoomBelow(end) && !port->retransmit.empty(); staged = true) {
      const Instance& instance = *lcore_.instances[port->retransmit.front().instance];
      if (instance.sealing.on() && !instance.tx.home.frames().Has(1)) [[unlikely]]
        break;
      StageRetransmission(*port, now);
    }
  }
  return staged;
}

// Stages new PDUs, one of each lane in turn, behind retransmissions (`resends`: there are some),
// which get at most half of the places if the other half is used.
bool Stager::StageAll(bool resends, Time now) {
  bool staged = resends && StageRetransmissions(run_queue_.empty(), now);
  // Ends when no lane has work, or no remaining lane has room, a few times in a row: a lane whose
  // peers can use only some of its planes may have others behind them.
  constexpr size_t kTries = 3;
  const auto& instances = lcore_.instances;
  for (size_t refused = 0; !run_queue_.empty() && refused < run_queue_.size() + kTries;) {
    const RunQueue::LaneRef ref = run_queue_.front();
    Instance& instance = *instances[ref.instance];
    // An instance that is down leaves the list until it is up.
    const bool has_work = !instance.down && instance.tx.scheduler.HasWork(ref.lane);
    Turn turn = has_work ? Turn::kMore : Turn::kDone;
    while (turn == Turn::kMore) {
      turn = StageOne(instance, ref.lane, now);
      staged |= turn == Turn::kMore;
      if (run_queue_.size() != 1) break;
    }
    if (turn == Turn::kMore) {
      refused = 0;
    } else if (turn == Turn::kNoRoom) {
      if (!AnyPortHasRoom()) break;
      ++refused;
    } else if (turn == Turn::kPaused) {
      run_queue_.Park(instance.tx);
    }
    run_queue_.EndTurn(instance.tx, turn == Turn::kDone || turn == Turn::kPaused);
  }
  if (resends) [[unlikely]]
    staged |= StageRetransmissions(true, now);
  batch_.Finish();
  return staged;
}

bool Stager::AnyPortHasRoom() const {
  for (const auto& port : lcore_.ports) {
    if (port->link.room() != 0) return true;
  }
  return false;
}

// Strict: returns whether the queue's next PDU begins a flow that takes another plane than before.
inline bool Stager::BeginsElsewhere(Instance& instance, const TxQueue& queue, uint32_t lane,
                                    PeerIndex peer, Vc vc) {
  const ConnectionIndex number =
      instance.map.At(peer, PlaneIndex(lane), SessionIndex(queue.slot), vc);
  if (instance.peers.connections[number].in_flight().count() != 0) [[likely]]
    return false;
  if (!instance.peers[peer].choice().placement().OnFlowBegins(vc)) return false;
  const uint32_t vcs = instance.map.VcsOf(number);
  instance.tx.SetLane(peer, vcs,
                      PlaneIndex(instance.peers.paths[peer].home[instance.map.VcOf(number)]));
  instance.stats.counters.Add(Counter::kFlowRebinds);
  return true;
}

// The queue waits until a connection to its peer can take its next PDU.
[[gnu::noinline]] void Stager::BlockQueue(Instance& instance, uint32_t index) {
  RunQueue::Block(instance.tx, index);
  const PeerIndex peer = Scheduler::PeerOf(index);
  if (instance.tx.is_paced) {
    congestion_.OnBlocked(instance.peers, instance.tx, instance.stats.counters, peer,
                          instance.tx.scheduler.queue(index).pdus.head()->bytes);
  }
  if (instance.peers.paths[peer].usable != 0 || waiting_.size() == max_waiting_) return;
  waiting_.push_back({.instance = instance.number, .peer = peer});
}

// Copies a PDU that has moved into another frame while its first device may still read it.
[[gnu::cold]] Pdu* Stager::FreeOfDevice(Link& home, Pdu* pdu) {
  // (The device reads another frame of a sealed PDU.)
  if (pdu->sealed || !home.IsBusy(FrameOf(pdu))) return pdu;
  Pdu* copy = home.frames().NewPdu();
  uint8_t* const commands = copy->commands;
  *copy = *pdu;
  copy->commands = commands;
  std::memcpy(commands, pdu->commands, pdu->bytes);
  home.frames().ReleasePdu(pdu);
  return copy;
}

void Stager::StageRetransmission(PortContext& port, Time now) {
  const ConnectionRef ref = port.retransmit.front();
  port.retransmit.pop_front();
  Instance& instance = *lcore_.instances[ref.instance];
  if (instance.down) {
    instance.tx.flags[ref.connection] &= static_cast<uint8_t>(~TransmitState::kOnRetransmit);
    return;
  }
  Connection& connection = instance.peers.connections[ref.connection];
  if (connection.in_flight().HasRetransmission() &&
      !port.link.IsOpen(connection.in_flight().next_retransmission()->vc)) [[unlikely]] {
    NoteWaiting(instance.ports, PlaneMask(1u << instance.map.PlaneOf(ref.connection)),
                1u << connection.in_flight().next_retransmission()->vc, now);
    return port.paused_retransmit.push_back(ref);
  }
  if (instance.tx.is_paced && connection.in_flight().HasRetransmission() &&
      congestion_.DefersRetransmission(instance.tx, ref.connection,
                                       connection.in_flight().next_retransmission()->bytes))
      [[unlikely]] {
    return;
  }
  if (connection.in_flight().HasRetransmission()) {
    Pdu* pdu = connection.tx().TakeRetransmission(now, instance.params.transport);
    if (!pdu->note.staged()) {
      if (instance.tx.is_paced) {
        // (A PDU that has arrived was counted out.)
        congestion_.OnSent(instance.tx, ref.connection,
                           instance.tx.OctetsOf(1, pdu->arrived ? 0 : pdu->bytes), now);
      }
      instance.stats.counters.Add(Counter::kTxRetransmissions);
      connection.tx().CountRetransmission();
      if (instance.tx.trace != nullptr) [[unlikely]]
        instance.tx.trace->OnStagedAgain(pdu);
      // A frame that the device may still read is sent again unchanged.
      if (!pdu->sealed && port.link.IsBusy(FrameOf(pdu))) {
        port.link.StageBusy(pdu);
      } else {
        const PathRef path{.peer = PeerIndex(pdu->peer),
                           .vc = Vc(pdu->vc),
                           .plane = instance.map.PlaneOf(ref.connection),
                           .connection = ref.connection};
        StageNumbered(instance, path, pdu);
      }
    }
  }
  if (connection.in_flight().HasRetransmission()) {
    port.retransmit.push_back(ref);
  } else {
    instance.tx.flags[ref.connection] &= static_cast<uint8_t>(~TransmitState::kOnRetransmit);
    run_queue_.Unblock(instance.peers, instance.tx, ref.connection);
  }
}

void Stager::Resume(PortContext& port) {
  for (; !port.paused_retransmit.empty(); port.paused_retransmit.pop_front()) {
    port.retransmit.push_back(port.paused_retransmit.front());
  }
  run_queue_.WakeParked(lcore_.instances);
}

void Stager::WantRetransmission(Instance& instance, ConnectionIndex number) {
  PortContext& port = *instance.ports[instance.map.PlaneOf(number)];
  if (instance.tx.is_paced && instance.peers.connections[number].tx().TakeGoBack()) {
    congestion_.OnGoBack(instance.peers, instance.tx, port, number, lcore_.now);
  }
  if ((instance.tx.flags[number] & TransmitState::kOnRetransmit) != 0) return;
  instance.stats.counters.Add(Counter::kGoBacks);
  Repair(instance, number);
}

void Stager::Repair(Instance& instance, ConnectionIndex number) {
  uint8_t& flags = instance.tx.flags[number];
  if ((flags & TransmitState::kOnRetransmit) != 0) return;
  flags |= TransmitState::kOnRetransmit;
  instance.ports[instance.map.PlaneOf(number)]->retransmit.push_back({instance.number, number});
}

void Stager::AddPeers(size_t count) {
  max_waiting_ += count * kVcCount;
  waiting_.Reserve(max_waiting_);
}

bool Stager::TakeWaiting(PeerRef& peer) {
  if (waiting_.empty()) [[likely]]
    return false;
  peer = waiting_.front();
  waiting_.pop_front();
  return true;
}

}  // namespace suede
