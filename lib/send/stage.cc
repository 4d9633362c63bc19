// SPDX-License-Identifier: Apache-2.0
#include "send/stage.h"

#include <algorithm>
#include <cstring>

#include "send/frame_writer.h"

namespace suede {

// The VCs of which a PDU of the lane could be staged now, as far as its ports go. Where the lane
// has several ports, PickPlane asks each of them for the PDU's own VC.
inline VcMask Stager::RoomFor(const Instance& instance, uint32_t lane) {
  if (instance.lane_is_plane) return instance.ports[lane]->link.room();
  for (const PortContext* port : instance.ports) {
    if (port->link.room() != 0) return kEveryVc;
  }
  return 0;
}

// Stages the frame of a sequenced PDU.
[[gnu::always_inline]] inline void Stager::StageSequenced(Instance& instance, uint32_t plane,
                                                          Pdu* pdu, Connection& connection) {
  const RpsnField field = connection.TakeRpsn();
  if (field.op == RhOp::kNack) instance.counters.Add(Counter::kTxNacks);
  PortContext& port = *instance.ports[plane];
  FillFrame(port, instance.header(pdu->peer, plane, pdu->vc), FrameOf(pdu), pdu->commands,
            pdu->bytes,
            {.ver = static_cast<uint8_t>(RhVersion::kData),
             .op = field.op,
             .xpuid = instance.params.xpuid,
             .psn = pdu->psn,
             .vc = pdu->vc,
             .partition = instance.params.partition,
             .rpsn = field.rpsn});
  port.link.Stage(pdu);
}

// The plane that a PDU of the lane takes, as PickPlane says it.
[[gnu::always_inline]] inline uint32_t Stager::PlaneFor(const Instance& instance, uint32_t lane,
                                                        uint32_t peer, uint32_t vc,
                                                        uint32_t bytes) {
  if (!instance.lane_is_plane) return PickPlane(instance, peer, vc, bytes);
  return instance.CanSend(peer, lane, vc, bytes) ? lane : PeerPaths::kNoPlane;
}

// The only PDU in flight on its connection has left.
[[gnu::always_inline]] inline void Stager::ArmFirst(Instance& instance, uint32_t number,
                                                    uint32_t peer, uint32_t plane, Time now) {
  lcore_.timers.ArmConnection(instance, number);
  PlaneSession& session = instance.session(peer, plane);
  if (!session.up()) return;
  session.OnTraffic(now, instance.params.paths);
  lcore_.timers.ArmSession(instance, peer, plane);
}

[[gnu::always_inline]] inline void Stager::CountNew(Instance& instance, const Pdu& pdu) {
  instance.counters.Add(Counter::kTxPdus);
  instance.counters.Add(Counter::kTxCommands, pdu.command_count);
  instance.counters.Add(Counter::kTxCommandBytes, pdu.bytes);
  instance.histograms[HistogramId::kPduCommands].Record(pdu.command_count);
}

// Lines that a PDU takes of the credit that its destination has granted.
inline uint32_t ChargeOf(const TxQueue& queue, const Pdu& pdu) {
  return queue.counts_credit ? pdu.lines : 0;
}

[[gnu::always_inline]] inline void Stager::Sequence(Instance& instance, Pdu* pdu,
                                                    const PathRef& path, Time now) {
  Connection& connection = instance.connections[path.connection];
  connection.OnSend(pdu, now, instance.params.transport);
  instance.OnLeft(path.peer, path.plane, pdu->bytes);
  if (connection.unacked_count() == 1) {
    ArmFirst(instance, path.connection, path.peer, path.plane, now);
  }
}

// Whether the queue, whose turn it is, may stage its next PDU in the same turn: no other queue waits
// for a turn, and nothing about the PDU is to be decided.
[[gnu::always_inline]] inline bool Stager::GoesOn(const Instance& instance, uint32_t lane,
                                                  const TxQueue& queue, const PathRef& path) const {
  const Pdu* const next = queue.pdus.head();
  return next != nullptr && instance.lane_is_plane && run_queue_.size() == 1 &&
         !instance.scheduler.HasWork(lane) && !next->credited &&
         instance.ports[path.plane]->link.HasRoom(path.vc) &&
         instance.connections[path.connection].CanSend(next->bytes, instance.params.transport) &&
         ShareBook::MayHold(instance, path.peer, path.vc) && ChargeOf(queue, *next) <= queue.credit;
}

// The queue's first PDU leaves.
[[gnu::always_inline]] inline void Stager::StageNew(Instance& instance, TxQueue& queue,
                                                    const PathRef& path, Time now) {
  Pdu* const pdu = queue.pdus.PopFront();
  queue.credit -= ChargeOf(queue, *pdu);
  Sequence(instance, pdu, path, now);
  completions_.OnLeft(instance, *pdu);
  CountNew(instance, *pdu);
  StageSequenced(instance, path.plane, pdu, instance.connections[path.connection]);
}

// Likewise one that has left before, on a plane that died.
[[gnu::cold]] void Stager::StageAgain(Instance& instance, TxQueue& queue, const PathRef& path,
                                      Time now) {
  Pdu* const pdu = FreeOfDevice(instance, queue.pdus.PopFront());
  Sequence(instance, pdu, path, now);
  instance.counters.Add(Counter::kTxMoved);
  StageSequenced(instance, path.plane, pdu, instance.connections[path.connection]);
}

// Serves one queue of a lane.
[[gnu::always_inline]] inline Stager::Turn Stager::StageOne(Instance& instance, uint32_t lane,
                                                            Time now) {
  Scheduler& scheduler = instance.scheduler;
  if (!scheduler.HasWork(lane)) return Turn::kDone;
  const VcMask room = RoomFor(instance, lane);
  // In strict mode a port that is down never has room, and PDUs queued for it have to get away.
  if (room == 0 && instance.lanes() == 1) return Turn::kNoRoom;
  const uint32_t index = scheduler.Next(lane);
  TxQueue& queue = scheduler.queue(index);
  const uint32_t peer = Scheduler::PeerOf(index);
  const uint32_t vc = Scheduler::VcOf(index);
  const auto rest = [&] { return scheduler.HasWork(lane) ? Turn::kMore : Turn::kDone; };
  if (queue.pdus.empty() || queue.lane != lane) [[unlikely]] {  // given up, or it has another home
    scheduler.Requeue(index);
    run_queue_.Enlist(instance);
    return rest();
  }
  if ((room >> vc & 1) == 0) [[unlikely]] {
    scheduler.Requeue(index);
    return Turn::kNoRoom;
  }
  const Pdu* const pdu = queue.pdus.head();
  const uint32_t plane = PlaneFor(instance, lane, peer, vc, pdu->bytes);
  if (plane == PeerPaths::kNoPlane) {
    BlockQueue(instance, index);
    return rest();
  }
  // One that has left before is sent again after a plane has died.
  const bool again = pdu->credited;
  if (plane != kPlaneFull && !again && !shares_.MayHold(instance, peer, vc)) [[unlikely]] {
    shares_.Wait(instance, index);
    return rest();
  }
  if (!again && ChargeOf(queue, *pdu) > queue.credit) [[unlikely]] {
    credit_use_.Wait(instance, index, now);
    return rest();
  }
  if (plane == kPlaneFull || (again && !instance.home().link.HasFrames(1))) [[unlikely]] {
    scheduler.Requeue(index);
    return Turn::kNoRoom;
  }
  const PathRef path{.peer = peer, .vc = vc, .plane = plane,
                     .connection = instance.ConnectionIndex(peer, plane, vc)};
  if (again) [[unlikely]] {
    StageAgain(instance, queue, path, now);
  } else {
    do {
      StageNew(instance, queue, path, now);
    } while (GoesOn(instance, lane, queue, path));
  }
  scheduler.Requeue(index);
  return rest();
}

// Half of each port's places, or all that are left, go to retransmissions.
bool Stager::StageRetransmissions(bool all, Time now) {
  bool staged = false;
  for (const auto& port : lcore_.ports) {
    if (port->retransmit.empty()) [[likely]]
      continue;
    const uint32_t end = port->link.ShareOfRetransmissions(all);
    for (; port->link.HasRoomBelow(end) && !port->retransmit.empty(); staged = true) {
      StageRetransmission(*port, now);
    }
  }
  return staged;
}

// New PDUs, one of each lane in turn, behind retransmissions: of these no more than half of the
// places, where the other half has a use.
bool Stager::StagePdus(Time now) {
  bool staged = StageRetransmissions(run_queue_.empty(), now);
  // Ends when no lane has work, or none of those left has room, a few times in a row: one whose
  // peers can use some of its planes only may have others behind them.
  constexpr size_t kTries = 3;
  const auto& instances = lcore_.instances;
  for (size_t refused = 0; !run_queue_.empty() && refused < run_queue_.size() + kTries;) {
    const RunQueue::LaneRef ref = run_queue_.front();
    Instance& instance = *instances[ref.instance];
    Turn turn = Turn::kDone;
    do {
      // One that is down leaves the list until it is up.
      turn = !instance.down ? StageOne(instance, ref.lane, now) : Turn::kDone;
      staged |= turn == Turn::kMore;
    } while (turn == Turn::kMore && run_queue_.size() == 1);
    if (turn == Turn::kMore) {
      refused = 0;
    } else if (turn == Turn::kNoRoom) {
      if (!AnyPortHasRoom()) break;
      ++refused;
    }
    run_queue_.EndTurn(instance, turn == Turn::kDone);
  }
  return StageRetransmissions(true, now) || staged;
}

bool Stager::AnyPortHasRoom() const {
  for (const auto& port : lcore_.ports) {
    if (port->link.room() != 0) return true;
  }
  return false;
}

// Of several, the plane that the next PDU to the peer takes: PeerPaths::kNoPlane where it has to
// wait for a connection, kPlaneFull where for room.
[[gnu::noinline]] uint32_t Stager::PickPlane(const Instance& instance, uint32_t peer, uint32_t vc,
                                             uint32_t bytes) {
  const PeerPaths& paths = instance.paths[peer];
  const TransportParams& params = instance.params.transport;
  uint32_t left = paths.choice;
  uint32_t verdict = PeerPaths::kNoPlane;
  while (left != 0) {
    const uint32_t plane =
        paths.Choose(static_cast<PlaneMask>(left), instance.own.inflight_bytes, bytes);
    if (!instance.ports[plane]->link.HasRoom(vc)) {
      verdict = kPlaneFull;
    } else if (instance.connections[instance.ConnectionIndex(peer, plane, vc)].CanSend(bytes,
                                                                                       params)) {
      return plane;
    }
    left &= ~(1u << plane);
  }
  return verdict;
}

// The queue waits until a connection to its peer can take its next PDU.
[[gnu::noinline]] void Stager::BlockQueue(Instance& instance, uint32_t index) {
  RunQueue::Block(instance, index);
  const uint32_t peer = Scheduler::PeerOf(index);
  if (instance.paths[peer].usable != 0 || waiting_.size() == most_waiting_) return;
  waiting_.push_back({.instance = instance.number, .peer = peer});
}

// A PDU that has moved may still be read by the device that it was given to first: then its bytes
// go into another frame.
[[gnu::cold]] Pdu* Stager::FreeOfDevice(Instance& instance, Pdu* pdu) {
  Link& home = instance.home().link;
  pdu->moved = false;
  if (!home.IsBusy(FrameOf(pdu))) return pdu;
  Pdu* copy = home.NewPdu();
  uint8_t* const commands = copy->commands;
  *copy = *pdu;
  copy->commands = commands;
  std::memcpy(commands, pdu->commands, pdu->bytes);
  home.ReleasePdu(pdu);
  return copy;
}

void Stager::StageRetransmission(PortContext& port, Time now) {
  const ConnectionRef ref = port.retransmit.front();
  port.retransmit.pop_front();
  Instance& instance = *lcore_.instances[ref.instance];
  if (instance.down) {
    instance.flags[ref.connection] &= static_cast<uint8_t>(~Instance::kOnRetransmit);
    return;
  }
  Connection& connection = instance.connections[ref.connection];
  if (connection.HasRetransmission()) {
    Pdu* pdu = connection.TakeRetransmission(now, instance.params.transport);
    if (!pdu->note.staged()) {
      instance.counters.Add(Counter::kTxRetransmissions);
      connection.CountRetransmission();
      // A frame that the device may still be reading goes out once more as it is.
      if (port.link.IsBusy(FrameOf(pdu))) {
        port.link.Stage(pdu);
      } else {
        StageSequenced(instance, instance.PlaneOfConnection(ref.connection), pdu, connection);
      }
    }
  }
  if (connection.HasRetransmission()) {
    port.retransmit.push_back(ref);
  } else {
    instance.flags[ref.connection] &= static_cast<uint8_t>(~Instance::kOnRetransmit);
    run_queue_.Unblock(instance, ref.connection);
  }
}

void Stager::WantRetransmission(Instance& instance, uint32_t number) {
  uint8_t& flags = instance.flags[number];
  if ((flags & Instance::kOnRetransmit) != 0) return;
  flags |= Instance::kOnRetransmit;
  instance.counters.Add(Counter::kGoBacks);
  const uint32_t plane = instance.PlaneOfConnection(number);
  instance.ports[plane]->retransmit.push_back({instance.number, number});
}

void Stager::AddInstance(const Instance& instance) {
  most_waiting_ += instance.peers.size() * kVcCount;
  waiting_.Reserve(most_waiting_);
}

bool Stager::TakeWaiting(PeerRef& peer) {
  if (waiting_.empty()) [[likely]]
    return false;
  peer = waiting_.front();
  waiting_.pop_front();
  return true;
}

}  // namespace suede
