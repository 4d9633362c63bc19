// SPDX-License-Identifier: Apache-2.0
// Processes acknowledgements and NACKs of peers: ends PDUs, starts retransmissions, informs
// congestion control and the peer's state. Owned by the lcore.
#ifndef SUEDE_SEND_ACK_PROCESSOR_H_
#define SUEDE_SEND_ACK_PROCESSOR_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/ack_sink.h"
#include "lcore/lcore.h"
#include "lcore/peer_effects.h"
#include "send/completions.h"
#include "send/congestion_use.h"
#include "send/run_queue.h"
#include "send/stage.h"

namespace suede {

class AckProcessor final : public AckSink {
 public:
  // All members outlive this object.
  struct Parts {
    Lcore& lcore;
    RunQueue& run_queue;
    Completions& completions;
    CongestionUse& congestion;
    Stager& stager;
  };
  explicit AckProcessor(const Parts& parts)
      : lcore_(parts.lcore),
        run_queue_(parts.run_queue),
        completions_(parts.completions),
        congestion_(parts.congestion),
        stager_(parts.stager) {}

  void OnRpsn(Instance& instance, ConnectionIndex number, RhOp op, Psn rpsn,
              PeerEffects& effects) override;
  void OnRepair(Instance& instance, ConnectionIndex number, const Repair& repair,
                PeerEffects& effects) override;
  void OnImplausible(Instance& instance, ConnectionIndex number, RhOp op, Psn rpsn,
                     PeerEffects& effects) override;

 private:
  void OnVerdict(Instance& instance, ConnectionIndex number, RpsnVerdict verdict, uint32_t bytes,
                 PduList& acked, PeerEffects& effects);
  RpsnVerdict OnNack(Instance& instance, ConnectionIndex number, Psn rpsn, PduList& acked);
  void OnAcked(Instance& instance, ConnectionIndex number, uint32_t bytes, PduList& acked,
               PeerEffects& effects);
  void OnResumed(PeerArrays& peers, TransmitState& tx, ConnectionIndex number,
                 PeerEffects& effects);

  Lcore& lcore_;
  RunQueue& run_queue_;
  Completions& completions_;
  CongestionUse& congestion_;
  Stager& stager_;
};

}  // namespace suede

#endif  // SUEDE_SEND_ACK_PROCESSOR_H_
