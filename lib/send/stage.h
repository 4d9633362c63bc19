// SPDX-License-Identifier: Apache-2.0
// Schedules, sequences and writes PDUs: from the transmit queues into the burst of a port. Owned by
// the lcore.
#ifndef SUEDE_SEND_STAGE_H_
#define SUEDE_SEND_STAGE_H_

#include <cstdint>

#include "base/coordinates.h"
#include "base/fifo.h"
#include "frame/frame_batch.h"
#include "lcore/lcore.h"
#include "send/completions.h"
#include "send/congestion_use.h"
#include "send/credit_use.h"
#include "send/run_queue.h"
#include "send/share_book.h"

namespace suede {

struct PathRef;

class Stager {
 public:
  // All arguments outlive this object.
  Stager(Lcore& lcore, RunQueue& run_queue, ShareBook& shares, Completions& completions,
         CreditUse& credit_use, CongestionUse& congestion)
      : lcore_(lcore),
        run_queue_(run_queue),
        shares_(shares),
        completions_(completions),
        credit_use_(credit_use),
        congestion_(congestion) {}

  // Makes room for the peers of another instance, before the first poll iteration.
  void AddPeers(size_t count);

  // Stages new PDUs, one of each lane in turn, behind retransmissions, which get at most half of a
  // port's places if the other half is used; called once in a poll iteration. Returns whether a PDU
  // was staged.
  bool StagePdus(Time now) {
    const bool resends = HasRetransmissions();
    return (resends || !run_queue_.empty()) && StageAll(resends, now);
  }
  // A connection has PDUs to retransmit.
  void WantRetransmission(Instance& instance, ConnectionIndex connection);
  // Does the same after a report, which is no go-back.
  void Repair(Instance& instance, ConnectionIndex connection);

  // Pauses of the port's VCs have ended: PDUs that waited may leave.
  void Resume(PortContext& port);

  // Takes a peer for which PDUs began to wait in StagePdus while no plane leads to it. Returns
  // false if none is left.
  bool TakeWaiting(PeerRef& peer);

 private:
  // The outcome of a lane's turn.
  enum class Turn : uint8_t {
    kMore,    // the lane can send more
    kDone,    // the lane can send nothing
    kNoRoom,  // the lane's ports are full
    kPaused,  // all its PDUs wait for the end of a pause: Resume brings the lane back
  };
  static constexpr PlaneIndex kPlaneFull{PeerPaths::kNoPlane - 1};  // a plane without room

  // The reason why the first PDU of a queue leaves or waits.
  enum class Verdict : uint8_t {
    kSend,
    kNotHere,     // the queue is empty, or belongs to another lane
    kNoPath,      // no connection takes it, for its window or for congestion control
    kNoShare,     // its destination has its share of frames in flight
    kNoCredit,    // its destination has granted no receive credit for it
    kPlanesFull,  // the planes that it may take are full, paused or without link credit
    kNoRoom,      // the port of the lane, or the pool of frames, is full
  };
  struct Admission {
    Verdict verdict = Verdict::kSend;
    PlaneIndex plane = 0;  // kSend
  };

  bool StageOn(Instance& instance, uint32_t lane, uint32_t index, PlaneIndex plane, Time now);
  static constexpr SessionIndex kNoSlot{~0u};
  static SessionIndex PickSlot(PeerArrays& peers, TxQueue& queue, PeerIndex peer, PlaneIndex plane,
                               Vc vc, uint32_t bytes);
  static SessionIndex BeginRun(PeerArrays& peers, PeerIndex peer, PlaneIndex plane, Vc vc,
                               uint32_t bytes);
  static SessionIndex BestSlot(const PeerArrays& peers, PeerIndex peer, PlaneIndex plane, Vc vc,
                               uint32_t bytes);
  Admission Admit(Instance& instance, uint32_t lane, uint32_t index, VcMask room);
  Turn StageOne(Instance& instance, uint32_t lane, Time now);
  // Max of each in a run.
  struct Limits {
    uint32_t count;
    uint32_t bytes = 0;
    uint32_t lines = 0;
  };
  // PDUs of one queue that leave in a row for the first time.
  struct Run {
    // Adds a PDU, and notes that it has left.
    [[gnu::always_inline]] void Add(Pdu* pdu) {
      pdu->credited = true;
      differences |= static_cast<uint32_t>(pdu->command_count ^ first->command_count) |
                     static_cast<uint32_t>(pdu->last_queue ^ first->last_queue) |
                     (pdu->run_count ^ 1u);
      ++count;
      bytes += pdu->bytes;
      lines += pdu->lines;
    }
    // Whether the PDU behind the run may leave with it: needs no decision of its own.
    bool Takes(const Pdu& next, const Limits& limits) const {
      return count != limits.count && !next.credited && bytes + next.bytes <= limits.bytes &&
             lines + next.lines <= limits.lines;
    }
    // Whether the PDUs have equally many commands, all of one client queue.
    bool alike() const { return differences == 0; }

    Pdu* first;
    uint32_t count = 0;
    uint32_t bytes = 0;
    uint32_t lines = 0;
    uint32_t differences = 0;
  };

  uint32_t MaxInARow(const PeerArrays& peers, const TransmitState& tx, const Link& link,
                     const TxQueue& queue, uint32_t lane, const PathRef& path) const;
  static Limits LimitsOf(const PeerArrays& peers, const TransmitState& tx, const TxQueue& queue,
                         const PathRef& path, uint32_t max);
  void StageRun(Instance& instance, TxQueue& queue, const PathRef& path, const Limits& limits,
                Time now);
  void StageNew(Instance& instance, uint32_t lane, TxQueue& queue, const PathRef& path, Time now);
  void StageAgain(Instance& instance, TxQueue& queue, const PathRef& path, Time now);
  void StageNumbered(Instance& instance, const PathRef& path, Pdu* pdu);
  void OnSequenced(PeerArrays& peers, TransmitState& tx, const PathRef& path, const Pdu* first,
                   uint32_t count, uint32_t bytes, Time now);
  static PlaneIndex PlaneFor(const Instance& instance, uint32_t lane, PeerIndex peer, Vc vc,
                             uint32_t bytes);
  void ArmFirst(PeerArrays& peers, const PathRef& path, Time now);
  static void CountNew(InstanceStats& stats, const Run& run);
  bool HasRetransmissions() const {
    for (const auto& port : lcore_.ports) {
      if (!port->retransmit.empty()) [[unlikely]]
        return true;
    }
    return false;
  }
  bool StageAll(bool resends, Time now);
  bool StageRetransmissions(bool all, Time now);
  void StageRetransmission(PortContext& port, Time now);
  bool AnyPortHasRoom() const;
  uint32_t OpenOf(const TransmitState& tx, const PlanePorts& ports, uint32_t lane, VcMask room,
                  Time now);
  static void NoteWaiting(const PlanePorts& ports, PlaneMask planes, uint32_t vcs, Time now);
  static VcMask RoomFor(const TransmitState& tx, const PlanePorts& ports, uint32_t lane);
  static bool BeginsElsewhere(Instance& instance, const TxQueue& queue, uint32_t lane,
                              PeerIndex peer, Vc vc);
  static PlaneIndex PickPlane(const Instance& instance, PeerIndex peer, Vc vc, uint32_t bytes);
  void BlockQueue(Instance& instance, uint32_t index);
  static Pdu* FreeOfDevice(Link& home, Pdu* pdu);

  Lcore& lcore_;
  RunQueue& run_queue_;
  ShareBook& shares_;
  Completions& completions_;
  CreditUse& credit_use_;
  CongestionUse& congestion_;
  FrameBatch batch_;  // of StagePdus
  Fifo<PeerRef> waiting_;
  size_t max_waiting_ = 1;
  uint32_t closed_count_ = 0;  // of OpenOf
};

}  // namespace suede

#endif  // SUEDE_SEND_STAGE_H_
