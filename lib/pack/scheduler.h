// SPDX-License-Identifier: Apache-2.0
// Transmit queues per {destination, VC} and the order in which they are served: round robin over
// the VCs, round robin over the queues of a VC (SUE framework §4.2 step 3, §4.4).
//
// Queues whose PDUs may take only one plane are on that plane's lane, so that a port without room
// holds up no other port; otherwise there is one lane. Lanes are served independently.
//
// Every operation is O(1) in the number of destinations: only queues that can send are on a list.
// Owned by one lcore.
#ifndef SUEDE_PACK_SCHEDULER_H_
#define SUEDE_PACK_SCHEDULER_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "base/sue.h"
#include "pdu/pdu_list.h"

namespace suede {

// PDUs that wait for one {destination, VC}. Only the last PDU may still take commands.
struct TxQueue {
  enum class State : uint8_t {
    kIdle,     // nothing to send
    kActive,   // on its VC's list
    kBlocked,  // has PDUs to send, and waits for its connection or for receive credit
  };
  static constexpr uint32_t kNone = ~0u;

  PduList pdus;
  uint32_t next_active = kNone;
  State state = State::kIdle;
  uint8_t lane = 0;
  bool lost = false;   // the destination is unreachable: no PDU is queued
  bool waits = false;  // on the list of queues whose destination has its share in flight
  // PDUs that have left and not ended: counted in the destination's first VC or, if each VC has
  // connections of its own, in the queue's VC.
  uint32_t held = 0;
  // Octets of its PDUs' frames, as congestion control counts them; without the last PDU, which may
  // still grow.
  uint32_t octets_ahead = 0;
  uint32_t credit = 0;         // lines that may still be sent, if the destination
  bool counts_credit = false;  // grants receive credit
  uint8_t slot = 0;            // strict: of the session that its PDUs take
  // Lines of the smallest possible ring, less the lines that may be lost at its end.
  static constexpr uint16_t kUnknownReceiver = 59;
  uint16_t max_lines = kUnknownReceiver;  // lines that a PDU may take of the peer's receive ring
};
static_assert(sizeof(TxQueue) <= 40);

class Scheduler {
 public:
  static constexpr uint32_t kLanes = 4;

  explicit Scheduler(uint32_t peer_count) : queues_(peer_count * kVcCount) {}

  static uint32_t IndexOf(PeerIndex peer, Vc vc) { return peer * kVcCount + vc; }
  static PeerIndex PeerOf(uint32_t queue) { return PeerIndex(queue / kVcCount); }
  static Vc VcOf(uint32_t queue) { return Vc(queue % kVcCount); }
  TxQueue& queue(uint32_t index) { return queues_[index]; }
  const TxQueue& queue(uint32_t index) const { return queues_[index]; }

  // Whether Next would return a queue.
  bool HasWork(uint32_t lane = 0) const { return lanes_[lane].with_work != 0; }
  // The VCs of which NextOf would return a queue, a mask.
  uint32_t WorkOf(uint32_t lane) const { return lanes_[lane].with_work; }

  // PDUs were put on an idle queue, or a blocked queue may continue.
  void Activate(uint32_t index) {
    TxQueue& q = queues_[index];
    if (q.state == TxQueue::State::kActive) return;
    q.state = TxQueue::State::kActive;
    PushBack(index);
  }

  // Removes the next queue from its list; Requeue or Block must follow. The queue's lane may have
  // changed since it was put on the list.
  uint32_t Next(uint32_t number = 0) { return NextOf(number, lanes_[number].with_work); }
  // Next among the VCs of the mask `vcs`, each of which has work.
  uint32_t NextOf(uint32_t number, uint32_t vcs) {
    Lane& lane = lanes_[number];
    // The first of the VCs from next_vc on, circular.
    const uint32_t turned = (vcs | vcs << kVcCount) >> lane.next_vc;
    const Vc vc((lane.next_vc + static_cast<uint32_t>(std::countr_zero(turned))) % kVcCount);
    lane.next_vc = (vc + 1) % kVcCount;
    return PopFront(lane, vc);
  }
  // Puts a served queue at the end of its lane's list if it has more PDUs.
  void Requeue(uint32_t index) {
    TxQueue& q = queues_[index];
    if (q.pdus.empty()) {
      q.state = TxQueue::State::kIdle;
    } else {
      PushBack(index);
    }
  }
  // Blocks a queue whose connection takes no PDU now, until Activate.
  void Block(uint32_t index) { queues_[index].state = TxQueue::State::kBlocked; }

 private:
  struct List {
    uint32_t head = TxQueue::kNone;
    uint32_t tail = TxQueue::kNone;
  };

  struct alignas(64) Lane {
    List lists[kVcCount];
    uint32_t with_work = 0;  // VCs whose list is not empty, a mask
    uint32_t next_vc = 0;
  };

  void PushBack(uint32_t index) {
    Lane& lane = lanes_[queues_[index].lane];
    List& list = lane.lists[VcOf(index)];
    queues_[index].next_active = TxQueue::kNone;
    if (list.head == TxQueue::kNone) {
      list.head = index;
    } else {
      queues_[list.tail].next_active = index;
    }
    list.tail = index;
    lane.with_work |= 1u << VcOf(index);
  }
  uint32_t PopFront(Lane& lane, Vc vc) {
    List& list = lane.lists[vc];
    const uint32_t index = list.head;
    list.head = queues_[index].next_active;
    if (list.head == TxQueue::kNone) lane.with_work &= ~(1u << vc);
    return index;
  }

  std::vector<TxQueue> queues_;
  Lane lanes_[kLanes];
};

}  // namespace suede

#endif  // SUEDE_PACK_SCHEDULER_H_
