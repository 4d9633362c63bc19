// SPDX-License-Identifier: Apache-2.0
// The receiver's decisions about receive credit (docs/control-pdus.md, CREDIT): which peer is
// granted how many lines next, and which peer has to give unused lines back. Facts in, decisions
// out; receive/credit_grants.h carries them out. Owned by the lcore.
#ifndef SUEDE_CREDIT_GRANTER_H_
#define SUEDE_CREDIT_GRANTER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/coordinates.h"
#include "base/fifo.h"
#include "base/time.h"
#include "credit/credit.h"
#include "wire/control_pdu.h"

namespace suede {

class CreditGranter {
 public:
  static constexpr uint32_t kUnclaimed = ~0u;  // the number of no client

  explicit CreditGranter(uint32_t clients) : of_clients_(clients) {}

  // The room of a feed's ring under the present claims, in lines. If no client has claimed the VC:
  // the places of PDUs, each of which may have a single line.
  struct Room {
    bool claimed = false;
    uint32_t capacity = 0;  // lines that could be promised in the best case
    int64_t free = 0;       // lines without commands; negative if claims have changed hands
  };

  // ---- Facts.

  // Adds the next instance, which outlives this object, with unclaimed VCs.
  void AddInstance(RxCredits& credits);
  // The time, once in a poll iteration.
  void SetTime(Time now) { tick_ = static_cast<uint16_t>(ToNs(now) >> 20); }
  // An association has begun, and a HELLO that confirms it is about to leave, which may carry a
  // first grant.
  void GrantFirst(RxCredits& credits, PeerIndex peer, Vc vc, const Room& room);
  // A peer requests credit, or gives some back. Returns the answer to send, if any; if the answer
  // is lost, the peer requests again.
  std::optional<Credit> OnRequest(RxCredits& credits, PeerIndex peer, const Credit& request,
                                  const Room& room);
  // The association with the peer is over, and its promised credit with it.
  void Forget(RxCredits& credits, PeerIndex peer);
  // PDUs with `lines` lines in total were accepted, the widest of them with `widest`; `credit` is
  // the peer's on the VC. Lines that the peer was not granted are in no sum.
  void OnAccepted(RxCredits& credits, PeerIndex peer, Vc vc, RxCredit& credit, uint32_t lines,
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
    credits.feeds[vc].promised -= promised;
    credits.ring[vc]->promised -= promised;
    if (!credit.waiting && static_cast<int32_t>(credit.accepted - credit.renew_at) >= 0) {
      WantGrant(credits, peer, vc);
    }
  }
  // Counts lines of PDUs that wait for room or a client; `kept` false: that no longer wait.
  static void CountKept(RxCredits& credits, Vc vc, uint32_t lines, bool kept);

  // Whether the VC's commands go to another ring than the ring that is fed. `client`: the VC's
  // claimant now, or kUnclaimed.
  bool HasMoved(RxCredits& credits, Vc vc, uint32_t client) {
    return credits.ring[vc] != &RingOf(credits, vc, client);
  }
  // The VC has another client, or none: promised and kept lines move along.
  void MoveFeed(RxCredits& credits, Vc vc, uint32_t client);

  // ---- Decisions. A ring is taken from the list of waiting rings, served, and put back. The first
  // peer of its first feed is served until all its peers are, or ServeFirst says otherwise.

  uint32_t waiting_rings() const { return static_cast<uint32_t>(granting_.size()); }
  CreditRing& TakeRing();
  void PutBack(CreditRing& ring);
  // Puts the first feed of the ring behind the others, unless none of its peers waits.
  void RotateFeeds(CreditRing& ring);

  enum class Verdict : uint8_t {
    kDone,      // the first peer needs no grant now, and has left the list
    kLater,     // the first peer has to wait, but not those of other feeds
    kRingFull,  // the first peer and all others have to wait
    kInform,    // as kDone; the peer has to request credit from now on: `message` informs it
    kGrant,     // the peer is granted `lines` by `message`: OnSent or Withdraw has to follow
  };
  struct Decision {
    Verdict verdict = Verdict::kDone;
    PeerIndex peer = 0;
    bool renews = true;  // the peer is granted more without a request when it has used them
    uint32_t lines = 0;
    Credit message;
  };
  // Decides on the first of the peers that wait at a feed. `reachable`: a plane to it is open.
  Decision ServeFirst(RxCredits& credits, Vc vc, const Room& room, bool reachable);
  static PeerIndex FirstWaiting(const RxCredits& credits, Vc vc) {
    return PeerIndex(credits.feeds[vc].waiting.head);
  }
  // The grant was sent.
  static void OnSent(RxCredits& credits, Vc vc, const Decision& grant);
  // The grant could not be sent: the peer stays first.
  static void Withdraw(RxCredits& credits, Vc vc, const Decision& grant) {
    RxCredit& credit = credits.At(grant.peer, vc);
    TakeBack(credits, vc, credit, credit.limit - grant.lines);
  }

  // A request to a peer to give unused credit back. If it is lost, it is repeated.
  struct Reclaim {
    uint32_t instance = 0;
    PeerIndex peer = 0;
    bool first = true;  // not a repetition
    Credit message;
  };
  // Checks the next holder of the ring's credit after `peer` was served; more holders if the ring
  // has little room left.
  std::optional<Reclaim> ReclaimAfterGrant(RxCredits& credits, Vc vc, PeerIndex peer,
                                           const Room& room, Time now);
  // Others wait: continues to reclaim unused credit, once for each time that the ring is served. A
  // holder that does not answer loses its credit: if it uses the credit later, its PDUs find room
  // or are refused. Never asks `requester`.
  std::optional<Reclaim> ReclaimForOthers(RxCredits& credits, Vc vc, PeerIndex requester, Time now);

  // Aborts if a sum differs from its parts.
  void CheckInvariants() const;

 private:
  // The lines to grant to a peer. `fits`: the lines that it needs are free.
  struct Size {
    bool fits = false;
    bool renews = true;
    uint32_t lines = 0;
  };

  static int64_t Unpromised(const RxCredits& credits, Vc vc, const Room& room) {
    const CreditRing& ring = *credits.ring[vc];
    return room.free - ring.promised - (room.claimed ? ring.kept_lines : 0);
  }
  static void Promise(RxCredits& credits, Vc vc, RxCredit& credit, uint32_t lines);
  static void TakeBack(RxCredits& credits, Vc vc, RxCredit& credit, uint32_t limit);
  static uint32_t FirstShare(const RxCredits& credits, Vc vc, const Room& room);
  static Size SizeUnclaimed(const RxCredits& credits, Vc vc, const RxCredit& credit,
                            const Room& room);
  static Size SizeGrant(RxCredits& credits, Vc vc, RxCredit& credit, const Room& room);
  static void JoinHolders(RxCredits& credits, PeerIndex peer, Vc vc, bool renews);
  CreditRing& RingOf(RxCredits& credits, Vc vc, uint32_t client) {
    return client == kUnclaimed ? credits.unclaimed_ring[vc] : of_clients_[client][vc];
  }
  void JoinRing(RxCredits& credits, Vc vc, CreditRing& to);
  void LeaveRing(RxCredits& credits, Vc vc);
  void Enqueue(RxCredits& credits, Vc vc);
  void PushFeed(CreditRing& ring, RxCredits& credits);
  RxCredits& PopFeed(CreditRing& ring);
  void WantGrant(RxCredits& credits, PeerIndex peer, Vc vc);
  void EndReclaim(CreditRing& ring);
  std::optional<Reclaim> CheckHolder(RxCredits& credits, Vc vc, PeerIndex requester, uint16_t idle,
                                     Time now);

  std::vector<RxCredits*> instances_;
  std::vector<std::array<CreditRing, kVcCount>> of_clients_;  // credit of their rings
  Fifo<CreditRing*> granting_;                                // rings whose peers wait for credit
  bool reclaimed_ = false;  // ReclaimForOthers has run for the ring that is being served
  uint16_t tick_ = 0;       // of about a millisecond
};

}  // namespace suede

#endif  // SUEDE_CREDIT_GRANTER_H_
