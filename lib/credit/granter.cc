// SPDX-License-Identifier: Apache-2.0
#include "credit/granter.h"

#include <bit>
#include <cstdlib>

namespace suede {
namespace {

constexpr uint32_t kFirstShare = 256;    // max lines of a peer without history
constexpr uint32_t kMinFirst = 32;       // fewer lines are not promised without a request
constexpr uint16_t kIdleTicks = 64;      // a peer gives credit back that was unused for this long,
constexpr uint16_t kIdleWhenWanted = 2;  // or for this long, if others wait for credit
constexpr uint32_t kHolderSteps = 4;     // holders to check in a poll iteration, if others wait
constexpr uint32_t kManyHolders = 64;    // the time between two PDUs of a holder is long then
constexpr uint32_t kAsks = 1u << 30;     // lines: the peer has to request credit
constexpr uint8_t kReclaimTries = 6;
constexpr Duration kReclaimWait = std::chrono::microseconds(500);

bool IsBehind(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

void Push(PeerList& list, RxCredits& credits, Vc vc, PeerIndex peer, uint16_t RxCredit::*next) {
  credits.At(peer, vc).*next = PeerList::kNone;
  if (list.empty()) {
    list.head = static_cast<uint16_t>(peer);
  } else {
    credits.At(PeerIndex(list.tail), vc).*next = static_cast<uint16_t>(peer);
  }
  list.tail = static_cast<uint16_t>(peer);
}

PeerIndex Pop(PeerList& list, const RxCredits& credits, Vc vc, uint16_t RxCredit::*next) {
  const PeerIndex peer(list.head);
  list.head = credits.At(peer, vc).*next;
  return peer;
}

void LeaveWaiting(RxCredits& credits, Vc vc) {
  const PeerIndex peer = Pop(credits.feeds[vc].waiting, credits, vc, &RxCredit::next_waiting);
  credits.At(peer, vc).waiting = false;
}

Credit MessageOf(const RxCredit& credit, Vc vc, bool give_back) {
  return {.vc = static_cast<uint8_t>(vc),
          .grant = true,
          .give_back = give_back,
          .on_demand = credit.on_demand,
          .round = credit.round,
          .limit = credit.limit,
          .accepted = credit.accepted,
          .sent = credit.reported_sent};
}

}  // namespace

// ---- Sums.

void CreditGranter::Promise(RxCredits& credits, Vc vc, RxCredit& credit, uint32_t lines) {
  credit.limit += lines;
  credits.feeds[vc].promised += lines;
  credits.ring[vc]->promised += lines;
}

// The peer has accepted `limit`: lines promised beyond it are free.
void CreditGranter::TakeBack(RxCredits& credits, Vc vc, RxCredit& credit, uint32_t limit) {
  const uint32_t lines = credit.limit - limit;
  credit.limit = limit;
  credits.feeds[vc].promised -= lines;
  credits.ring[vc]->promised -= lines;
}

void CreditGranter::CountKept(RxCredits& credits, Vc vc, uint32_t lines, bool kept) {
  const uint32_t change = kept ? lines : 0u - lines;
  credits.feeds[vc].kept_lines += change;
  credits.ring[vc]->kept_lines += change;
}

// ---- Feeds and rings.

void CreditGranter::AddInstance(RxCredits& credits) {
  credits.number = static_cast<uint32_t>(instances_.size());
  instances_.push_back(&credits);
  // Rings of clients, and rings of instances without one.
  granting_.Reserve((instances_.size() + of_clients_.size()) * kVcCount + 1);
  for (Vc vc = 0; vc < kVcCount; ++vc) JoinRing(credits, vc, credits.unclaimed_ring[vc]);
}

void CreditGranter::MoveFeed(RxCredits& credits, Vc vc, uint32_t client) {
  LeaveRing(credits, vc);
  JoinRing(credits, vc, RingOf(credits, vc, client));
  Enqueue(credits, vc);
}

void CreditGranter::LeaveRing(RxCredits& credits, Vc vc) {
  CreditFeed& feed = credits.feeds[vc];
  CreditRing& from = *credits.ring[vc];
  if (from.hand != CreditRing::kNone) {
    uint32_t before = credits.number;
    while (instances_[before]->feeds[vc].next != credits.number) {
      before = instances_[before]->feeds[vc].next;
    }
    instances_[before]->feeds[vc].next = feed.next;
    from.hand = feed.next == credits.number ? CreditRing::kNone : feed.next;
  }
  // The order of the others is preserved.
  for (uint32_t left = feed.listed ? from.waiting : 0; left != 0; --left) {
    RxCredits& other = PopFeed(from);
    if (&other != &credits) PushFeed(from, other);
  }
  if (from.reclaim_instance == credits.number) EndReclaim(from);
  from.promised -= feed.promised;
  from.kept_lines -= feed.kept_lines;
  from.holders -= feed.holders;
  from.peers -= credits.peer_count();
}

void CreditGranter::JoinRing(RxCredits& credits, Vc vc, CreditRing& to) {
  CreditFeed& feed = credits.feeds[vc];
  credits.ring[vc] = &to;
  to.vc = vc;
  to.peers += credits.peer_count();
  feed.next = credits.number;
  if (to.hand == CreditRing::kNone) {
    to.hand = credits.number;
  } else {
    feed.next = instances_[to.hand]->feeds[vc].next;
    instances_[to.hand]->feeds[vc].next = credits.number;
  }
  to.promised += feed.promised;
  to.kept_lines += feed.kept_lines;
  to.holders += feed.holders;
}

// Schedules peers that wait at a feed for the following poll iterations.
void CreditGranter::Enqueue(RxCredits& credits, Vc vc) {
  const CreditFeed& feed = credits.feeds[vc];
  if (feed.listed || feed.waiting.empty()) return;
  CreditRing& ring = *credits.ring[vc];
  PushFeed(ring, credits);
  if (ring.listed) return;
  ring.listed = true;
  granting_.push_back(&ring);
}

void CreditGranter::PushFeed(CreditRing& ring, RxCredits& credits) {
  credits.feeds[ring.vc].listed = true;
  if (ring.waiting++ == 0) {
    ring.first_waiting = credits.number;
  } else {
    instances_[ring.last_waiting]->feeds[ring.vc].next_waiting = credits.number;
  }
  ring.last_waiting = credits.number;
}

RxCredits& CreditGranter::PopFeed(CreditRing& ring) {
  RxCredits& credits = *instances_[ring.first_waiting];
  CreditFeed& feed = credits.feeds[ring.vc];
  feed.listed = false;
  ring.first_waiting = feed.next_waiting;
  --ring.waiting;
  return credits;
}

void CreditGranter::RotateFeeds(CreditRing& ring) {
  RxCredits& credits = PopFeed(ring);
  if (!credits.feeds[ring.vc].waiting.empty()) PushFeed(ring, credits);
}

CreditRing& CreditGranter::TakeRing() {
  CreditRing& ring = *granting_.front();
  granting_.pop_front();
  reclaimed_ = false;
  return ring;
}

void CreditGranter::PutBack(CreditRing& ring) {
  ring.listed = ring.waiting != 0;
  if (ring.listed) granting_.push_back(&ring);
}

// ---- Peers.

[[gnu::noinline]] void CreditGranter::WantGrant(RxCredits& credits, PeerIndex peer, Vc vc) {
  RxCredit& credit = credits.At(peer, vc);
  if (credit.waiting) return;
  credit.waiting = true;
  Push(credits.feeds[vc].waiting, credits, vc, peer, &RxCredit::next_waiting);
  Enqueue(credits, vc);
}

// If many hold credit, each holds little, and its PDUs arrive one by one: it is granted more when
// three quarters are used, which takes half as many CREDITs as granting at half.
void CreditGranter::JoinHolders(RxCredits& credits, PeerIndex peer, Vc vc, bool renews) {
  RxCredit& credit = credits.At(peer, vc);
  CreditRing& ring = *credits.ring[vc];
  const uint32_t held = credit.held();
  const uint32_t left = ring.holders < kManyHolders ? held - held / 2 : held / 4;
  credit.renew_at = renews ? credit.limit - left : credit.limit + kAsks;
  if (credit.holding) return;
  credit.holding = true;
  ++credits.feeds[vc].holders;
  ++ring.holders;
  Push(credits.feeds[vc].holding, credits, vc, peer, &RxCredit::next_holding);
}

void CreditGranter::GrantFirst(RxCredits& credits, PeerIndex peer, Vc vc, const Room& room) {
  RxCredit& credit = credits.At(peer, vc);
  if (!credit.counts || !room.claimed) return;
  const uint32_t share = FirstShare(credits, vc, room);
  if (credit.held() != 0 || share < kMinFirst || Unpromised(credits, vc, room) < 2 * share) return;
  credit.touched = tick_;
  Promise(credits, vc, credit, share);
  JoinHolders(credits, peer, vc, true);
}

std::optional<Credit> CreditGranter::OnRequest(RxCredits& credits, PeerIndex peer,
                                               const Credit& request, const Room& room) {
  const Vc vc(request.vc);
  RxCredit& credit = credits.At(peer, vc);
  if (!credit.counts) return std::nullopt;
  credit.reported_sent = request.sent;
  if (credit.reclaiming && request.round == credit.round) {
    const bool possible =
        !IsBehind(request.limit, credit.accepted) && !IsBehind(credit.limit, request.limit);
    TakeBack(credits, vc, credit, possible ? request.limit : credit.accepted);
    EndReclaim(*credits.ring[vc]);
    credit.share = 0;
  }
  if (request.wanted == 0) return std::nullopt;
  // No ring holds more; `sent` is accepted if it is possible.
  const uint32_t max = room.claimed ? room.capacity : kMaxPackBytes / 4;
  const uint32_t sent =
      IsBehind(credit.limit, request.sent) || IsBehind(request.sent, credit.accepted)
          ? credit.accepted
          : request.sent;
  credit.needed = sent + std::min(request.wanted, max);
  const bool has_enough = !IsBehind(credit.limit, credit.needed);
  if (!has_enough) WantGrant(credits, peer, vc);
  if (!has_enough && !request.reply_wanted) return std::nullopt;
  return MessageOf(credit, vc, false);
}

void CreditGranter::Forget(RxCredits& credits, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    RxCredit& credit = credits.At(peer, vc);
    TakeBack(credits, vc, credit, credit.accepted);
    if (credit.reclaiming) EndReclaim(*credits.ring[vc]);
    // The peer leaves the lists when it reaches their heads.
    RxCredit fresh;
    fresh.next_waiting = credit.next_waiting;
    fresh.next_holding = credit.next_holding;
    fresh.waiting = credit.waiting;
    fresh.holding = credit.holding;
    credit = fresh;
  }
}

// ---- Grants.

// Returns the lines that a peer without history may hold.
uint32_t CreditGranter::FirstShare(const RxCredits& credits, Vc vc, const Room& room) {
  const uint32_t peers = credits.ring[vc]->peers;
  return std::min(room.capacity >> (std::bit_width(peers) + 1), kFirstShare);
}

// Sizes a grant for the waiting PDU only; a PDU with more lines than there are places is granted
// alone.
CreditGranter::Size CreditGranter::SizeUnclaimed(const RxCredits& credits, Vc vc,
                                                 const RxCredit& credit, const Room& room) {
  const uint32_t min = credit.accepted + std::max<uint32_t>(credit.widest, 1);
  const uint32_t wanted = IsBehind(credit.needed, min) ? min : credit.needed;
  const uint32_t need = IsBehind(credit.limit, wanted) ? wanted - credit.limit : 0;
  const bool alone =
      credits.ring[vc]->promised == 0 && room.free == room.capacity && room.capacity != 0;
  return {.fits = int64_t{need} <= Unpromised(credits, vc, room) || alone, .lines = need};
}

CreditGranter::Size CreditGranter::SizeGrant(RxCredits& credits, Vc vc, RxCredit& credit,
                                             const Room& room) {
  if (!room.claimed) return SizeUnclaimed(credits, vc, credit, room);
  const int64_t free = Unpromised(credits, vc, room);
  const uint32_t widest = std::max<uint32_t>(credit.widest, 1);
  const uint32_t fair = room.capacity >> std::bit_width(credits.ring[vc]->holders);
  const uint32_t requested =
      IsBehind(credit.limit, credit.needed) ? credit.needed - credit.limit : 0;
  // The ring has no room for two PDUs of each holder. Credit that a holder does not use now makes
  // another holder wait: so each requests credit for the PDU that it is about to send.
  if (fair < 2 * widest) {
    if (requested == 0) return {.fits = true, .renews = false};
    const auto lines = static_cast<uint32_t>(std::min<int64_t>(requested + (fair / 2), free));
    return {.fits = int64_t{requested} <= free, .renews = false, .lines = lines};
  }
  const uint32_t next = credit.held() < widest ? widest - credit.held() : 0;
  const uint32_t need = std::max(requested, next);
  if (int64_t{need} > free) return {};
  const uint32_t first = std::max(FirstShare(credits, vc, room), 2 * widest);
  credit.share = std::max(credit.share, first);
  const int64_t half = (free + credit.held()) / 2;
  const int64_t target = std::min<int64_t>({credit.share, std::max(fair, first), half});
  credit.share = std::min(credit.share * 2, room.capacity);
  return {.fits = true,
          .lines = static_cast<uint32_t>(std::max<int64_t>(need, target - credit.held()))};
}

CreditGranter::Decision CreditGranter::ServeFirst(RxCredits& credits, Vc vc, const Room& room,
                                                  bool reachable) {
  const PeerIndex peer = FirstWaiting(credits, vc);
  RxCredit& credit = credits.At(peer, vc);
  Decision decision{.peer = peer};
  // A peer that cannot be reached requests again.
  if (!credit.counts || !reachable) {
    LeaveWaiting(credits, vc);
    return decision;
  }
  if (credit.reclaiming) {
    // The peer gets its grant after it has answered: others first.
    PeerList& waiting = credits.feeds[vc].waiting;
    Pop(waiting, credits, vc, &RxCredit::next_waiting);
    Push(waiting, credits, vc, peer, &RxCredit::next_waiting);
    decision.verdict = Verdict::kLater;
    return decision;
  }
  const Size size = SizeGrant(credits, vc, credit, room);
  if (!size.fits) {
    decision.verdict = Verdict::kRingFull;
    return decision;
  }
  if (size.lines == 0) {
    // The peer has enough, and there is no more now.
    LeaveWaiting(credits, vc);
    credit.renew_at = size.renews
                          ? credit.limit - std::min<uint32_t>(credit.held(), credit.widest) + 1
                          : credit.limit + kAsks;
    if (size.renews || credit.on_demand) return decision;
    credit.on_demand = true;
    decision.verdict = Verdict::kInform;
  } else {
    Promise(credits, vc, credit, size.lines);
    credit.on_demand = !size.renews;
    decision.verdict = Verdict::kGrant;
    decision.lines = size.lines;
    decision.renews = size.renews;
  }
  decision.message = MessageOf(credit, vc, false);
  return decision;
}

void CreditGranter::OnSent(RxCredits& credits, Vc vc, const Decision& grant) {
  LeaveWaiting(credits, vc);
  JoinHolders(credits, grant.peer, vc, grant.renews);
}

// ---- Unused credit.

void CreditGranter::EndReclaim(CreditRing& ring) {
  instances_[ring.reclaim_instance]->At(ring.reclaim_peer, ring.vc).reclaiming = false;
  ring.reclaim_instance = CreditRing::kNone;
}

// Checks the next holder of the ring's credit, and requests credit back that was not used for
// `idle` ticks.
std::optional<CreditGranter::Reclaim> CreditGranter::CheckHolder(RxCredits& credits, Vc vc,
                                                                 PeerIndex requester, uint16_t idle,
                                                                 Time now) {
  CreditRing& ring = *credits.ring[vc];
  if (ring.reclaim_instance != CreditRing::kNone) return std::nullopt;
  RxCredits& holders = *instances_[ring.hand];
  CreditFeed& feed = holders.feeds[vc];
  ring.hand = feed.next;
  if (feed.holding.empty()) return std::nullopt;
  const PeerIndex peer = Pop(feed.holding, holders, vc, &RxCredit::next_holding);
  RxCredit& credit = holders.At(peer, vc);
  if (!credit.counts || credit.held() == 0) {
    credit.holding = false;
    --feed.holders;
    --ring.holders;
    return std::nullopt;
  }
  Push(feed.holding, holders, vc, peer, &RxCredit::next_holding);
  const auto unused = static_cast<uint16_t>(tick_ - credit.touched);
  if (unused < idle || (&holders == &credits && peer == requester)) return std::nullopt;
  ++credit.round;
  credit.reclaiming = true;
  ring.reclaim_instance = holders.number;
  ring.reclaim_peer = peer;
  ring.reclaim_tries = 0;
  ring.reclaim_at = now + kReclaimWait;
  return Reclaim{.instance = holders.number, .peer = peer, .message = MessageOf(credit, vc, true)};
}

std::optional<CreditGranter::Reclaim> CreditGranter::ReclaimAfterGrant(RxCredits& credits, Vc vc,
                                                                       PeerIndex peer,
                                                                       const Room& room, Time now) {
  if (Unpromised(credits, vc, room) < room.capacity / 8) {
    return ReclaimForOthers(credits, vc, peer, now);
  }
  return CheckHolder(credits, vc, peer, kIdleTicks, now);
}

std::optional<CreditGranter::Reclaim> CreditGranter::ReclaimForOthers(RxCredits& credits, Vc vc,
                                                                      PeerIndex requester,
                                                                      Time now) {
  CreditRing& ring = *credits.ring[vc];
  if (reclaimed_) return std::nullopt;
  reclaimed_ = true;
  if (ring.reclaim_instance != CreditRing::kNone) {
    if (now < ring.reclaim_at) return std::nullopt;
    RxCredits& holders = *instances_[ring.reclaim_instance];
    RxCredit& credit = holders.At(ring.reclaim_peer, vc);
    if (++ring.reclaim_tries < kReclaimTries) {
      ring.reclaim_at = now + (kReclaimWait * (1u << ring.reclaim_tries));
      return Reclaim{.instance = holders.number,
                     .peer = ring.reclaim_peer,
                     .first = false,
                     .message = MessageOf(credit, vc, true)};
    }
    TakeBack(holders, vc, credit, credit.accepted);
    EndReclaim(ring);
  }
  for (uint32_t i = 0; i < kHolderSteps; ++i) {
    if (auto reclaim = CheckHolder(credits, vc, requester, kIdleWhenWanted, now)) return reclaim;
  }
  return std::nullopt;
}

// ---- Checks.

void CreditGranter::CheckInvariants() const {
  for (const RxCredits* credits : instances_) {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      uint32_t promised = 0;
      uint32_t holders = 0;
      for (PeerIndex peer = 0; peer < credits->peer_count(); ++peer) {
        const RxCredit& credit = credits->At(peer, vc);
        if (IsBehind(credit.limit, credit.accepted)) std::abort();
        promised += credit.held();
        holders += credit.holding ? 1 : 0;
      }
      const CreditFeed& feed = credits->feeds[vc];
      if (feed.promised != promised || feed.holders != holders ||
          feed.listed == feed.waiting.empty() || (feed.listed && !credits->ring[vc]->listed)) {
        std::abort();
      }
    }
  }
  const auto check = [&](const CreditRing& ring, Vc vc) {
    CreditRing sum;
    for (const RxCredits* credits : instances_) {
      if (credits->ring[vc] != &ring) continue;
      sum.promised += credits->feeds[vc].promised;
      sum.kept_lines += credits->feeds[vc].kept_lines;
      sum.holders += credits->feeds[vc].holders;
    }
    if (ring.promised != sum.promised || ring.kept_lines != sum.kept_lines ||
        ring.holders != sum.holders) {
      std::abort();
    }
  };
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    for (const auto& rings : of_clients_) check(rings[vc], vc);
    for (const RxCredits* credits : instances_) check(credits->unclaimed_ring[vc], vc);
  }
}

}  // namespace suede
