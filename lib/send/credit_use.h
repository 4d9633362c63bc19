// SPDX-License-Identifier: Apache-2.0
// Carries out the decisions about credit for the receive rings of peers (credit/spender.h):
// supplies them with the state of the transmit queues, and sends their requests. Owned by the
// lcore.
#ifndef SUEDE_SEND_CREDIT_USE_H_
#define SUEDE_SEND_CREDIT_USE_H_

#include <cstdint>

#include "base/coordinates.h"
#include "credit/spender.h"
#include "frame/control_sender.h"
#include "lcore/lcore.h"
#include "send/completions.h"
#include "send/run_queue.h"

namespace suede {

class CreditUse {
 public:
  // All arguments outlive this object.
  CreditUse(Lcore& lcore, RunQueue& run_queue, Completions& completions)
      : lcore_(lcore), run_queue_(run_queue), completions_(completions) {}

  // Both ends have agreed: PDUs to a peer that counts credit are counted, and wait for its grants.
  static void Begin(const PeerArrays& peers, TransmitState& tx, ReceiveState& rx, PeerIndex peer);
  // The association is over.
  void End(TransmitState& tx, PeerIndex peer);
  // Whether the peer counts credit, and how many lines its rings have, is not known.
  static void Uncounted(TransmitState& tx, PeerIndex peer);

  // The first PDU of a transmit queue has more lines than our remaining credit.
  void Wait(Instance& instance, uint32_t index, Time now);
  // The peer has granted credit, or requests some back.
  void OnGranted(Instance& instance, PeerIndex peer, const Credit& grant);
  // Repeats the requests of waiting queues: grants and requests may be lost.
  void OnTimer(Instance& instance, PeerIndex peer, Time now);

 private:
  static bool Send(Instance& instance, PeerIndex peer, Credit&& request);
  void Apply(Instance& instance, uint32_t index, CreditSpender::Outcome&& outcome);

  Lcore& lcore_;
  RunQueue& run_queue_;
  Completions& completions_;
};

}  // namespace suede

#endif  // SUEDE_SEND_CREDIT_USE_H_
