// SPDX-License-Identifier: Apache-2.0
// The credit that a sender has of its peers' receive rings (docs/control-pdus.md, CREDIT).
// receive/credit_grants.h has the receiver's side. Owned by the lcore.
#ifndef SUEDE_SEND_CREDIT_USE_H_
#define SUEDE_SEND_CREDIT_USE_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "send/completions.h"
#include "send/control_sender.h"
#include "send/run_queue.h"

namespace suede {

class CreditUse {
 public:
  // All of them outlive this.
  CreditUse(Lcore& lcore, RunQueue& run_queue, Completions& completions)
      : lcore_(lcore), run_queue_(run_queue), completions_(completions) {}

  // Both ends have agreed: PDUs to a peer that counts are counted, and wait for its grants.
  static void Begin(Instance& instance, PeerIndex peer);
  // The association is over.
  void End(Instance& instance, PeerIndex peer);
  // It is not known that the peer counts, nor how many lines its rings have.
  static void Uncounted(Instance& instance, PeerIndex peer);

  // The first PDU of a transmit queue has more lines than the peer has left us.
  void Wait(Instance& instance, uint32_t index, Time now);
  // The peer has granted more, or wants some back.
  void OnGranted(Instance& instance, PeerIndex peer, const Credit& grant);
  // A queue that waits asks again: grants and asks may be lost.
  void OnTimer(Instance& instance, PeerIndex peer, Time now);

 private:
  static bool IsUnderWay(Instance& instance, PeerIndex peer, Vc vc);
  static bool Ask(Instance& instance, PeerIndex peer, Vc vc, bool gives_back);
  void EndWait(Instance& instance, uint32_t index);
  void TryWithoutCredit(Instance& instance, uint32_t index);

  Lcore& lcore_;
  RunQueue& run_queue_;
  Completions& completions_;
};

}  // namespace suede

#endif  // SUEDE_SEND_CREDIT_USE_H_
