// SPDX-License-Identifier: Apache-2.0
// The data PDUs of a burst that have passed all checks: their flow, and the run of those accepted
// in a row. The object lives no longer than the flow may (README.md), and counts a run by itself
// when the run ends. Owned by the lcore.
#ifndef SUEDE_RECEIVE_FLOW_RECEIVER_H_
#define SUEDE_RECEIVE_FLOW_RECEIVER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "receive/ack_scheduler.h"
#include "receive/congestion_grants.h"
#include "receive/deliver.h"
#include "receive/early_keeper.h"
#include "receive/pause_requester.h"
#include "receive/received_burst.h"
#include "receive/received_pdu.h"
#include "receive/refusals.h"

namespace suede {

class FlowReceiver {
 public:
  // All members outlive this object.
  struct Parts {
    Lcore& lcore;
    CreditGranter& granter;
    CongestionGrants& congestion_grants;
    Deliverer& deliverer;
    Refusals& refusals;
    PauseRequester& pause_requester;
    EarlyKeeper& early_keeper;
  };
  FlowReceiver(const Parts& parts, const ReceivedBurst& burst, Time now)
      : parts_(parts), burst_(burst), now_(now) {}
  FlowReceiver(const FlowReceiver&) = delete;
  FlowReceiver& operator=(const FlowReceiver&) = delete;
  ~FlowReceiver() { EndRun(); }

  // Returns whether the next frame, of this series, belongs to the flow. If not, the run ends; the
  // flow stays until Begin.
  bool Continues(uint32_t series) {
    if (series == series_) [[likely]]
      return true;
    EndRun();
    return false;
  }
  // Begins the flow of a data PDU whose series has passed all checks.
  void Begin(uint32_t series, Instance& instance, RhWord rh, PeerIndex peer, PlaneIndex plane,
             ConnectionIndex number) {
    const Vc vc(rh.vc());
    series_ = series;
    flow_.instance = &instance;
    flow_.connection = &instance.peers.connections[number];
    flow_.credit = &instance.rx.credit.At(peer, vc);
    flow_.target = parts_.deliverer.TargetOf(instance.rx, vc, rh.xpuid());
    flow_.ring = Deliverer::DirectRing(instance.rx, flow_.target);
    flow_.peer = peer;
    flow_.plane = plane;
    flow_.number = number;
  }

  // Facts about the flow.
  Instance& instance() const { return *flow_.instance; }
  ConnectionIndex number() const { return flow_.number; }
  const ReceiveHalf& rx() const { return flow_.connection->rx(); }

  // Handles frame i, a sequenced PDU of the flow, whose connection is not closed: `bytes` bytes of
  // `commands`. Returns whether the frame is kept.
  [[gnu::always_inline]] bool OnSequenced(uint32_t i, Psn psn, const uint8_t* commands,
                                          uint32_t bytes) {
    Connection& connection = *flow_.connection;
    const PsnVerdict verdict = connection.rx().Classify(psn);
    if (verdict != PsnVerdict::kExpected) [[unlikely]]
      return OnUnexpected(verdict, i);
    if (flow_.ring == nullptr || connection.rx().has_early() ||
        !Deliverer::DeliverTo(*flow_.ring, flow_.target.head, commands, bytes, run_)) [[unlikely]] {
      return DeliverOne(i);
    }
    connection.rx().Accept();
    if (run_.pdus == 1) ScheduleAck();
    return false;
  }
  // Ends the run, as frame i of the flow is handled alone. Returns the PDU of the frame.
  ReceivedPdu TakeOut(uint32_t i) {
    EndRun();
    return {.rh = burst_.rh(i),
            .commands = burst_.CommandsAt(i),
            .bytes = burst_.CommandBytesAt(i),
            .peer = flow_.peer,
            .plane = flow_.plane,
            .frame = burst_.frame(i)};
  }

 private:
  // The results of the checks for the last series that has passed them all.
  struct Flow {
    Instance* instance;
    Connection* connection;
    RxCredit* credit;
    RxRingWriter* ring;  // see Deliverer::DirectRing
    Deliverer::Target target;
    PeerIndex peer;
    PlaneIndex plane;
    ConnectionIndex number;
  };

  void EndRun() {
    if (run_.pdus != 0) CountRun();
  }
  void CountRun();
  void WatchRun(const DeliveredRun& run);
  void CountRecorded(uint64_t bytes);
  void Trace(const Deliverer::Target& target, Psn first, uint32_t pdus, TraceState state);
  void TraceDelivery(const Deliverer::Target& target, Psn psn, Delivery delivery);
  void CountArrived(uint32_t pdus, uint64_t bytes);
  void CheckMissing();
  bool OnUnexpected(PsnVerdict verdict, uint32_t i);
  bool OnEarly(uint32_t i);
  bool KeepEarly(const ReceivedPdu& pdu);
  void PassEarly();
  bool DeliverKept();
  bool DeliverOne(uint32_t i);
  Delivered Deliver(const Deliverer::Target& target, RxCredit& credit, const ReceivedPdu& pdu);
  void OnAccepted();
  void ScheduleAck() {
    AckScheduler::Schedule(flow_.instance->rx, flow_.instance->ports, flow_.number,
                           *flow_.connection, now_);
  }

  const Parts& parts_;
  const ReceivedBurst& burst_;
  const Time now_;
  uint32_t series_ = ReceivedBurst::kNoSeries;  // kNoSeries: the checks have to be repeated
  Flow flow_;                                   // written by Begin
  DeliveredRun run_;                            // accepted and not yet counted
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_FLOW_RECEIVER_H_
