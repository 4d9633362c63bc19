// SPDX-License-Identifier: Apache-2.0
// The lines of its rings that a receiver promises each {peer, VC} (docs/control-pdus.md, CREDIT).
// send/credit_use.h has the sender's side. Owned by the lcore.
#ifndef SUEDE_RECEIVE_CREDIT_GRANTS_H_
#define SUEDE_RECEIVE_CREDIT_GRANTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/fifo.h"
#include "lcore/lcore.h"

namespace suede {

class CreditGrants {
 public:
  // `lcore` outlives this.
  explicit CreditGrants(Lcore& lcore) : lcore_(lcore), of_clients_(ClientTable::kMaxClients) {}

  // For the instance that was added last.
  void AddInstance(Instance& instance);

  // Once in a turn: grants peers more lines, as far as there is room, first come, first served.
  void SendGrants(Time now);
  // An association has begun, and a HELLO is about to tell the peer so: it may carry a first grant.
  void GrantFirst(Instance& instance, uint32_t peer);
  // A peer asks for credit, or gives some back.
  void OnAsked(Instance& instance, uint32_t peer, const Credit& ask);
  // The association with the peer is over, and all that was promised in it.
  void Forget(Instance& instance, uint32_t peer);

  // PDUs with so many lines were accepted, the widest of them with `widest`; `credit` is that of
  // the peer on the VC. Lines that the peer was not granted are in no sum.
  void OnAccepted(Instance& instance, uint32_t peer, uint32_t vc, RxCredit& credit, uint32_t lines,
                  uint32_t widest) {
    if (!credit.counts) return;
    const uint32_t held = credit.held();
    const uint32_t promised = std::min(lines, held);
    credit.accepted += lines;
    if (lines > held) [[unlikely]]
      credit.limit += lines - held;
    credit.touched = tick_;
    if (widest > credit.widest) [[unlikely]]
      credit.widest = static_cast<uint16_t>(widest);
    instance.feeds[vc].promised -= promised;
    RingOf(instance, vc).promised -= promised;
    if (!credit.waiting && static_cast<int32_t>(credit.accepted - credit.renew_at) >= 0) {
      WantGrant(instance, peer, vc);
    }
  }
  // Lines of PDUs that wait for room or a client, or do so no longer.
  static void CountKept(Instance& instance, uint32_t vc, uint32_t lines, bool kept);

  // Whether the VC's commands go to another ring than the one that is fed.
  bool HasMoved(const Instance& instance, uint32_t vc);
  // The VC has another client, or none: promised and kept lines move along.
  void MoveFeed(Instance& instance, uint32_t vc);

  // Aborts where a sum disagrees with its parts.
  void CheckInvariants() const;

 private:
  static CreditRing& RingOf(Instance& instance, uint32_t vc) { return *instance.credit_ring[vc]; }
  static void Promise(Instance& instance, uint32_t vc, RxCredit& credit, uint32_t lines);
  static void TakeBack(Instance& instance, uint32_t vc, RxCredit& credit, uint32_t limit);
  uint32_t RingLines(const Instance& instance, uint32_t vc) const;
  int64_t FreeLines(Instance& instance, uint32_t vc);
  CreditRing& FedRing(const Instance& instance, uint32_t vc);
  void JoinRing(Instance& instance, uint32_t vc);
  void Enqueue(Instance& instance, uint32_t vc);
  void WantGrant(Instance& instance, uint32_t peer, uint32_t vc);
  uint32_t FirstShare(const Instance& instance, uint32_t vc) const;
  static void JoinHolders(Instance& instance, uint32_t peer, uint32_t vc, RxCredit& credit);
  static bool SendGrant(Instance& instance, uint32_t peer, uint32_t vc, bool give_back);
  bool SizeGrant(Instance& instance, uint32_t vc, RxCredit& credit, uint32_t& lines);
  bool ServeFirst(Instance& instance, uint32_t vc, Time now);
  void EndReclaim(CreditRing& ring, uint32_t vc);
  bool StepHand(Instance& asker, uint32_t vc, uint32_t asking, uint16_t idle, Time now);
  void TurnHand(Instance& asker, uint32_t vc, uint32_t asking, Time now);

  Lcore& lcore_;
  std::vector<std::array<CreditRing, kVcCount>> of_clients_;  // promised of their rings, by slot
  Fifo<VcRef> granting_;                                      // whose peers wait for credit
  uint16_t tick_ = 0;                                         // of about a millisecond
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_CREDIT_GRANTS_H_
