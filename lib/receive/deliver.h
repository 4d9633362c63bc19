// SPDX-License-Identifier: Apache-2.0
// Delivers accepted PDUs into the receive ring of the client that has claimed their VC or, if none
// has, onto the list of PDUs that wait for a client. Owned by the lcore.
#ifndef SUEDE_RECEIVE_DELIVER_H_
#define SUEDE_RECEIVE_DELIVER_H_

#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "credit/granter.h"
#include "lcore/lcore.h"
#include "receive/received_pdu.h"

namespace suede {

enum class Delivery : uint32_t { kDelivered, kKept, kRefused, kMalformed };

// The outcome for a PDU. `lines`: lines of the receive ring that the commands take or, if they were
// refused, that must be free.
struct Delivered {
  Delivery delivery = Delivery::kMalformed;
  uint32_t lines = 0;
};

// Sums of PDUs that were delivered one after the other.
struct DeliveredRun {
  uint64_t commands = 0;
  uint32_t pdus = 0;
  uint32_t widest = 0;  // max lines of one of them
  uint64_t bytes = 0;
  uint32_t lines = 0;
};

class Deliverer {
 public:
  // Both arguments outlive this object.
  Deliverer(Lcore& lcore, CreditGranter& granter) : lcore_(lcore), granter_(granter) {}

  // Adds an instance, before the first poll iteration.
  void AddInstance() { waiting_.reserve(lcore_.instances.size() * kVcCount * 2); }

  // The destination of an XPU's commands for {instance, VC} under the present claims.
  struct Target {
    ClientSlot* client = nullptr;  // null: no client has claimed the VC
    uint64_t head = 0;             // of their records
    Vc vc = 0;
  };
  Target TargetOf(const ReceiveState& rx, Vc vc, uint16_t source) const {
    const uint32_t client = lcore_.clients.claimant(rx.number, vc);
    return {.client = client == ClientTable::kNone ? nullptr : &lcore_.clients.client(client),
            .head = rx.head | ReceivedHead(vc, source, 0, 0),
            .vc = vc};
  }
  // The ring to which PDUs for the target go directly; null: the VC is not claimed, or others wait.
  static RxRingWriter* DirectRing(const ReceiveState& rx, const Target& target) {
    const bool direct = target.client != nullptr && rx.unclaimed[target.vc].empty();
    return direct ? &target.client->rings[target.vc] : nullptr;
  }
  // Writes the commands of a PDU to a DirectRing, and adds them to the run, which CountRun has to
  // count once it ends. Returns false if nothing was written; the caller then calls Deliver.
  static bool DeliverTo(RxRingWriter& ring, uint64_t head, const uint8_t* commands, uint32_t bytes,
                        DeliveredRun& run);
  void CountRun(CounterBlock& counters, const Target& target, const DeliveredRun& run) {
    lcore_.clients.MarkReceived(*target.client, target.vc);
    counters.Add(Counter::kRxPdus, run.pdus);
    counters.Add(Counter::kRxCommands, run.commands);
    counters.Add(Counter::kRxCommandBytes, run.bytes);
  }
  // Delivers a PDU. kKept: the frame is ours until its commands are delivered.
  Delivered Deliver(ReceiveState& rx, CounterBlock& counters, const Target& target,
                    const ReceivedPdu& pdu);
  // Delivers PDUs that waited for a client, as far as its ring has room; called once in a poll
  // iteration. Returns whether a PDU was delivered.
  bool DeliverUnclaimed() { return !waiting_.empty() && DeliverWaiting(); }
  // The claimants of the VCs have changed, or have claimed again: moves the credit of the VCs'
  // peers, and PDUs that wait for a client.
  void MoveFeeds(ReceiveState& rx, uint32_t vc_mask);

 private:
  bool DeliverWaiting();
  Delivered WriteCommands(CounterBlock& counters, const Target& target, const uint8_t* commands,
                          uint32_t bytes);
  Delivered Keep(ReceiveState& rx, CounterBlock& counters, ReceivedPdu pdu);
  Delivered KeepPromised(ReceiveState& rx, CounterBlock& counters, ReceivedPdu pdu,
                         uint32_t lines_needed);
  static bool AppendToKept(Pdu& kept, const ReceivedPdu& pdu, uint32_t bytes, uint32_t lines);

  Lcore& lcore_;
  CreditGranter& granter_;
  std::vector<VcRef> waiting_;  // claimed VCs whose unclaimed PDUs are being delivered
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_DELIVER_H_
