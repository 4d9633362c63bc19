// SPDX-License-Identifier: Apache-2.0
// From an accepted PDU into the receive ring of the client that has claimed its VC, or, where
// nobody has, onto the list of PDUs that wait for a client. Owned by the lcore.
#ifndef SUEDE_RECEIVE_DELIVER_H_
#define SUEDE_RECEIVE_DELIVER_H_

#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "receive/credit_grants.h"
#include "receive/received_pdu.h"

namespace suede {

enum class Delivery : uint32_t { kDelivered, kKept, kRefused, kMalformed };

// The outcome for a PDU. `lines`: lines of the receive ring that the commands take, or, where they
// were refused, that the ring must have free.
struct Delivered {
  Delivery delivery = Delivery::kMalformed;
  uint32_t lines = 0;
};

// Sums of PDUs that were delivered one after the other.
struct DeliveredRun {
  uint64_t commands = 0;
  uint32_t pdus = 0;
  uint32_t widest = 0;  // lines of one of them, at most
  uint64_t bytes = 0;
  uint32_t lines = 0;
};

class Deliverer {
 public:
  // Both outlive this.
  Deliverer(Lcore& lcore, CreditGrants& grants) : lcore_(lcore), grants_(grants) {}

  // For one more instance, before the first turn.
  void AddInstance() { waiting_.reserve(lcore_.instances.size() * kVcCount * 2); }

  // Where the commands of an XPU for {instance, VC} go, as claims are.
  struct Target {
    ClientSlot* client = nullptr;  // null: nobody has claimed the VC
    uint64_t head = 0;             // of their records
    Vc vc = 0;
  };
  Target TargetOf(const Instance& instance, Vc vc, uint16_t source) const {
    const uint32_t client = lcore_.ClaimantOf(instance, vc);
    return {.client = client == ClientTable::kNone ? nullptr : &lcore_.clients.client(client),
            .head = instance.received_head | ReceivedHead(vc, source, 0, 0),
            .vc = vc};
  }
  // The ring that PDUs for the target go to directly; null: none is claimed, or others wait.
  static RxRingWriter* DirectRing(const Instance& instance, const Target& target) {
    const bool direct = target.client != nullptr && instance.unclaimed[target.vc].empty();
    return direct ? &target.client->rings[target.vc] : nullptr;
  }
  // Writes the commands of a PDU to a DirectRing, and adds them to the run, which is to be counted
  // by CountRun once it ends. False: nothing was written, and Deliver is to say what becomes of
  // them.
  static bool DeliverTo(RxRingWriter& ring, uint64_t head, const uint8_t* commands, uint32_t bytes,
                        DeliveredRun& run);
  void CountRun(Instance& instance, const Target& target, const DeliveredRun& run) {
    lcore_.clients.MarkReceived(*target.client, target.vc);
    CounterBlock& counters = instance.counters;
    counters.Add(Counter::kRxPdus, run.pdus);
    counters.Add(Counter::kRxCommands, run.commands);
    counters.Add(Counter::kRxCommandBytes, run.bytes);
  }
  // kKept: the frame is ours until its commands go on.
  Delivered Deliver(Instance& instance, const Target& target, const ReceivedPdu& pdu);
  // Once in a turn: hands over PDUs that waited for a client, as far as its ring has room. Returns
  // whether there was something.
  bool DeliverUnclaimed();
  // The claimants of the VCs are others than before, or were asked for again: credit of
  // the VC's peers, and PDUs that wait for a client, go along.
  void MoveFeeds(Instance& instance, uint32_t vc_mask);

 private:
  Delivered WriteCommands(Instance& instance, const Target& target, const uint8_t* commands,
                          uint32_t bytes);
  Delivered Keep(Instance& instance, ReceivedPdu pdu);
  Delivered KeepPromised(Instance& instance, ReceivedPdu pdu, uint32_t lines_needed);
  static bool AppendToKept(Pdu& kept, const ReceivedPdu& pdu, uint32_t bytes, uint32_t lines);

  Lcore& lcore_;
  CreditGrants& grants_;
  std::vector<VcRef> waiting_;  // claimed VCs whose unclaimed PDUs are being handed over
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_DELIVER_H_
