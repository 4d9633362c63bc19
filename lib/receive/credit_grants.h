// SPDX-License-Identifier: Apache-2.0
// The lines of its rings that a receiver promises to each {peer, VC} (docs/control-pdus.md,
// CREDIT). The sender's side is in send/credit_use.h. Owned by the lcore.
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
  // `lcore` outlives this object.
  explicit CreditGrants(Lcore& lcore) : lcore_(lcore), of_clients_(ClientTable::kMaxClients) {}

  // Adds the instance that was added to the lcore last.
  void AddInstance(Instance& instance);

  // Grants peers more lines, as far as there is room, first come, first served; called once in a
  // poll iteration. The work is bounded, however many feeds and rings there are.
  void SendGrants(Time now) {
    tick_ = static_cast<uint16_t>(ToNs(now) >> 20);
    if (!granting_.empty()) SendWaiting(now);
  }
  // An association has begun, and a HELLO that confirms it is about to leave, which may carry a
  // first grant.
  void GrantFirst(Instance& instance, PeerIndex peer);
  // A peer requests credit, or gives some back.
  void OnAsked(Instance& instance, PeerIndex peer, const Credit& ask);
  // The association with the peer is over, and its promised credit with it.
  void Forget(Instance& instance, PeerIndex peer);

  // PDUs with `lines` lines in total were accepted, the widest of them with `widest`; `credit` is
  // the peer's on the VC. Lines that the peer was not granted are in no sum.
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
  // Counts lines of PDUs that wait for room or a client; `kept` false: that no longer wait.
  static void CountKept(Instance& instance, Vc vc, uint32_t lines, bool kept);

  // Whether the VC's commands go to another ring than the ring that is fed.
  bool HasMoved(const Instance& instance, Vc vc);
  // The VC has another client, or none: promised and kept lines move along.
  void MoveFeed(Instance& instance, Vc vc);

  // Aborts if a sum differs from its parts.
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
  // The lines to grant to a peer, and whether it is granted more without a request when it has used
  // them. `fits`: the lines that it needs are free.
  struct Size {
    bool fits = false;
    bool renews = true;
    uint32_t lines = 0;
  };
  Size SizeUnclaimed(Instance& instance, Vc vc, const RxCredit& credit);
  Size SizeGrant(Instance& instance, Vc vc, RxCredit& credit);
  enum class Served : uint8_t {
    kYes,
    kLater,      // the first peer has to wait, but no others
    kRingFull,   // the first peer and all others have to wait
    kNotStaged,  // there was no room to stage the grant
  };
  Served ServeFirst(Instance& instance, Vc vc, Time now);
  Served ServeFeed(Instance& instance, Vc vc, Time now);
  void ServeRing(CreditRing& ring, Time now);
  void EndReclaim(CreditRing& ring, Vc vc);
  void SendWaiting(Time now);
  bool StepHand(Instance& asker, Vc vc, uint32_t asking, uint16_t idle, Time now);
  // Called once in a poll iteration.
  void TurnHand(Instance& asker, Vc vc, uint32_t asking, Time now);

  Lcore& lcore_;
  std::vector<std::array<CreditRing, kVcCount>> of_clients_;  // credit of their rings, by slot
  Fifo<CreditRing*> granting_;                                // rings whose peers wait for credit
  bool turned_ = false;  // TurnHand has run for the ring that is being served
  uint16_t tick_ = 0;                                         // of about a millisecond
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_CREDIT_GRANTS_H_
