// SPDX-License-Identifier: Apache-2.0
// A received frame on its way: parsed, placed {here, another lcore, the host}, checked, judged.
// Effects on a peer come out as values. Owned by the lcore.
#ifndef SUEDE_RECEIVE_RECEIVER_H_
#define SUEDE_RECEIVE_RECEIVER_H_

#include <array>
#include <cstdint>

#include "lcore/lcore.h"
#include "receive/credit_grants.h"
#include "receive/deliver.h"
#include "receive/received_pdu.h"
#include "receive/refusals.h"
#include "send/completions.h"
#include "send/run_queue.h"
#include "send/stage.h"

namespace suede {

class Receiver {
 public:
  // All of them outlive this.
  Receiver(Lcore& lcore, CreditGrants& grants, Deliverer& deliverer, Refusals& refusals,
           RunQueue& run_queue, Completions& completions, Stager& stager)
      : lcore_(lcore),
        grants_(grants),
        deliverer_(deliverer),
        refusals_(refusals),
        run_queue_(run_queue),
        completions_(completions),
        stager_(stager) {}

  // Returns whether the frame is kept. Where has_effects() then, they are carried out, and ended,
  // before the next frame.
  bool OnFrame(PortContext& port, Frame* frame, Time now);

  // To be called before the frames of a port.
  void BeginBurst() { flow_ = {}; }

  // The effects that the frame's peer wants done.
  bool has_effects() const { return !effects_.empty(); }
  Effects& effects() { return effects_; }
  // Whose they are.
  const PeerRef& effects_of() const { return effects_of_; }
  void EndEffects() {
    effects_.Clear();
    flow_ = {};
  }

  // After the frames of a port that other lcores share: hands over those of other lcores.
  void HandOver(PortContext& port);

 private:
  // A frame that was parsed.
  struct Arrival {
    NetAddress source;
    NetAddress destination;
    RhWord rh;
    const uint8_t* pdu = nullptr;
    uint32_t pdu_bytes = 0;
  };
  // Of a frame that has passed all checks, and those behind it in a burst that agree with it in
  // what was checked: frames come in runs. From one burst to the next nothing of it is known.
  struct Flow {
    bool Has(const NetAddress& from, const NetAddress& to, RhWord header) const {
      return ((header.Flow() ^ rh) | Differs(from, source) | Differs(to, destination)) == 0;
    }
    static uint64_t Differs(const NetAddress& a, const NetAddress& b) {
      return (a.high ^ b.high) | (a.low ^ b.low);
    }
    NetAddress source;
    NetAddress destination;
    uint64_t rh = ~uint64_t{0};  // that of no frame
    Instance* instance = nullptr;
    Connection* connection = nullptr;
    RxCredit* credit = nullptr;
    Deliverer::Target target;
    uint32_t peer = 0;
    uint32_t plane = 0;
    uint32_t number = 0;  // of the connection
  };
  enum class Checked : uint8_t {
    kData,  // a data PDU, of flow_
    kDone,  // dropped or dealt with
    kKept,
  };

  // Rare functions take a PDU by value, so that it need not be in memory for the others.
  Checked Check(PortContext& port, Frame* frame, Arrival arrival, Time now);
  bool OnFrameError(PortContext& port, Frame* frame, FrameError error, Time now);
  bool SetAside(PortContext::Place place, Frame* frame);
  bool CountHandedOver(bool handed);
  bool OnDataPdu(Instance& instance, const ReceivedPdu& pdu, Time now);
  void OnControlPdu(Instance& instance, ReceivedPdu pdu, Time now);
  void OnRpsn(Instance& instance, uint32_t connection, RhOp op, Psn rpsn, Time now);
  void OnAcked(Instance& instance, uint32_t connection, uint32_t bytes, PduList& acked);
  void OnImplausible(Instance& instance, uint32_t connection, RhOp op, Psn rpsn, Time now);
  void OnAhead(Instance& instance, uint32_t connection, ReceivedPdu pdu, Time now);
  void OnResumed(Instance& instance, uint32_t connection);
  void OnClosed(Instance& instance, uint32_t connection, ReceivedPdu pdu, bool sequenced, Time now);
  bool OnSequenced(Instance& instance, const ReceivedPdu& pdu, Time now);
  // The effects, for another fact of this peer.
  Effects& EffectsFor(const Instance& instance, uint32_t peer) {
    effects_of_ = {.instance = instance.number, .peer = peer};
    return effects_;
  }

  Lcore& lcore_;
  CreditGrants& grants_;
  Deliverer& deliverer_;
  Refusals& refusals_;
  RunQueue& run_queue_;
  Completions& completions_;
  Stager& stager_;
  PeerRef effects_of_{};
  Flow flow_;
  ParsedFrame parsed_;  // the last result of ParseFrame
  // Frames of the port that is being received from, for instances of other lcores.
  struct Foreign {
    Frame* frame = nullptr;
    uint32_t neighbour = 0;
  };
  std::array<Foreign, 2 * kBurst> foreign_;
  uint32_t foreign_count_ = 0;
  Effects effects_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_RECEIVER_H_
