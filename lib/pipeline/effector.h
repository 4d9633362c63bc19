// SPDX-License-Identifier: Apache-2.0
// Executes the effects of a peer: sends, ends or requeues PDUs, emits events, counts, arms timers.
// peer/effects.h defines each effect; the effector makes no decisions. Owned by the lcore.
#ifndef SUEDE_PIPELINE_EFFECTOR_H_
#define SUEDE_PIPELINE_EFFECTOR_H_

#include <cstdint>

#include "base/coordinates.h"
#include "credit/granter.h"
#include "lcore/lcore.h"
#include "receive/congestion_grants.h"
#include "receive/credit_grants.h"
#include "send/completions.h"
#include "send/congestion_use.h"
#include "send/credit_use.h"
#include "send/pauses.h"
#include "send/run_queue.h"
#include "send/stage.h"

namespace suede {

class Effector {
 public:
  // All members outlive this object.
  struct Parts {
    Lcore& lcore;
    RunQueue& run_queue;
    Completions& completions;
    CreditUse& credit_use;
    CongestionUse& congestion;
    Stager& stager;
    CreditGranter& granter;
    CreditGrants& grants;
    CongestionGrants& congestion_grants;
    Pauses& pauses;
  };
  explicit Effector(const Parts& parts)
      : lcore_(parts.lcore),
        run_queue_(parts.run_queue),
        completions_(parts.completions),
        credit_use_(parts.credit_use),
        congestion_(parts.congestion),
        stager_(parts.stager),
        granter_(parts.granter),
        grants_(parts.grants),
        congestion_grants_(parts.congestion_grants),
        pauses_(parts.pauses) {}

  void Apply(Instance& instance, PeerIndex peer, Effects& effects);
  // A connection's deadline has come, or a peer requests a check of the connection.
  void OnConnectionTimer(Instance& instance, ConnectionIndex connection, Time now);

 private:
  struct OnePeer;  // has a function for each kind of effect

  static void MarkLost(TransmitState& tx, PeerIndex peer, uint32_t vcs, bool lost);
  void SendProbe(Instance& instance, ConnectionIndex connection);
  void ChangeCredit(Instance& instance, PeerIndex peer, effect::CreditStep step);
  void EndOnPlane(Instance& instance, PeerIndex peer, PlaneIndex plane);

  Lcore& lcore_;
  RunQueue& run_queue_;
  Completions& completions_;
  CreditUse& credit_use_;
  CongestionUse& congestion_;
  Stager& stager_;
  CreditGranter& granter_;
  CreditGrants& grants_;
  CongestionGrants& congestion_grants_;
  Pauses& pauses_;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_EFFECTOR_H_
