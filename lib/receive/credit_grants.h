// SPDX-License-Identifier: Apache-2.0
// The lines of its rings that a receiver promises each {peer, VC} (docs/control-pdus.md, CREDIT).
// send/credit_use.h has the sender's side. Owned by the lcore.
#ifndef SUEDE_RECEIVE_CREDIT_GRANTS_H_
#define SUEDE_RECEIVE_CREDIT_GRANTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "base/fifo.h"
#include "lcore/lcore.h"

namespace suede {

class CreditGrants {
 public:
  // `lcore` outlives this.
  explicit CreditGrants(Lcore& lcore) : lcore_(lcore), of_clients_(ClientTable::kMaxClients) {}

  // For the instance that was added last.
  void AddInstance(Instance& instance);

  // Once in a turn: grants peers more lines, as far as there is room, first come, first served. The
  // work is bounded, however many feeds and rings there are.
  void SendGrants(Time now) {
    tick_ = static_cast<uint16_t>(ToNs(now) >> 20);
    if (!granting_.empty()) SendWaiting(now);
  }
  // An association has begun, and a HELLO is about to tell the peer so: it may carry a first grant.
  void GrantFirst(Instance& instance, PeerIndex peer);
  // A peer asks for credit, or gives some back.
  void OnAsked(Instance& instance, PeerIndex peer, const Credit& ask);
  // The association with the peer is over, and all that was promised in it.
  void Forget(Instance& instance, PeerIndex peer);

  // PDUs with `lines` in all were accepted, the widest of them with `widest`; `credit` is the
  // peer's on the VC. Lines that the peer was not granted are in no sum.
  void OnAccepted(Instance& instance, PeerIndex peer, Vc vc, RxCredit& credit, uint32_t lines,
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
  static void CountKept(Instance& instance, Vc vc, uint32_t lines, bool kept);

  // Whether the VC's commands go to another ring than the one that is fed.
  bool HasMoved(const Instance& instance, Vc vc);
  // The VC has another client, or none: promised and kept lines move along.
  void MoveFeed(Instance& instance, Vc vc);

  // Aborts where a sum disagrees with its parts.
  void CheckInvariants() const;

 private:
  static CreditRing& RingOf(Instance& instance, Vc vc) { return *instance.credit_ring[vc]; }
  static void Promise(Instance& instance, Vc vc, RxCredit& credit, uint32_t lines);
  static void TakeBack(Instance& instance, Vc vc, RxCredit& credit, uint32_t limit);
  uint32_t RingLines(const Instance& instance, Vc vc) const;
  int64_t FreeLines(Instance& instance, Vc vc);
  CreditRing& FedRing(const Instance& instance, Vc vc);
  void JoinRing(Instance& instance, Vc vc);
  void LeaveRing(Instance& instance, Vc vc);
  void Enqueue(Instance& instance, Vc vc);
  void PushFeed(CreditRing& ring, Instance& instance);
  Instance& PopFeed(CreditRing& ring);
  void WantGrant(Instance& instance, PeerIndex peer, Vc vc);
  uint32_t FirstShare(Instance& instance, Vc vc) const;
  static void JoinHolders(Instance& instance, PeerIndex peer, Vc vc, RxCredit& credit, bool renews);
  static bool SendGrant(Instance& instance, PeerIndex peer, Vc vc, bool give_back);
  // How many lines more a peer is to hold, and whether it is granted more without asking when it
  // has used them. `fits`: those that it needs are there.
  struct Size {
    bool fits = false;
    bool renews = true;
    uint32_t lines = 0;
  };
  Size SizeUnclaimed(Instance& instance, Vc vc, const RxCredit& credit);
  Size SizeGrant(Instance& instance, Vc vc, RxCredit& credit);
  enum class Served : uint8_t {
    kYes,
    kLater,      // the first peer has to wait, and others need not wait for it
    kRingFull,   // and so have all others
    kNotStaged,  // there was no room to stage the grant
  };
  Served ServeFirst(Instance& instance, Vc vc, Time now);
  Served ServeFeed(Instance& instance, Vc vc, Time now);
  void ServeRing(CreditRing& ring, Time now);
  void EndReclaim(CreditRing& ring, Vc vc);
  void SendWaiting(Time now);
  bool StepHand(Instance& asker, Vc vc, uint32_t asking, uint16_t idle, Time now);
  // Once in a turn.
  void TurnHand(Instance& asker, Vc vc, uint32_t asking, Time now);

  Lcore& lcore_;
  std::vector<std::array<CreditRing, kVcCount>> of_clients_;  // promised of their rings, by slot
  Fifo<CreditRing*> granting_;                                // rings whose peers wait for credit
  bool turned_ = false;  // the hand of the ring that is being served has been, in this turn
  uint16_t tick_ = 0;                                         // of about a millisecond
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_CREDIT_GRANTS_H_
