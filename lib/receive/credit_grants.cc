// SPDX-License-Identifier: Apache-2.0
#include "receive/credit_grants.h"

#include <algorithm>
#include <bit>

#include "frame/control_sender.h"

namespace suede {
namespace {

constexpr uint32_t kGrantsPerFeed = 8;   // before the next feed of the ring is served
constexpr uint32_t kFeedsPerTurn = 32;   // of a ring,
constexpr uint32_t kRingsPerTurn = 8;    // of the lcore, and
constexpr uint32_t kMaxNotStaged = 4;    // of a ring
constexpr uint32_t kFirstShare = 256;    // max lines of a peer without history
constexpr uint32_t kMinFirst = 32;       // fewer lines are not promised without a request
constexpr uint16_t kIdleTicks = 64;      // a peer gives credit back that was unused for this long,
constexpr uint16_t kIdleWhenWanted = 2;  // or for this long, if others wait for credit
constexpr uint32_t kHandSteps = 4;       // in a poll iteration, if others wait
constexpr uint32_t kManyHolders = 64;    // the time between two PDUs of a holder is long then
constexpr uint32_t kAsks = 1u << 30;     // lines: the peer has to request credit
constexpr uint8_t kReclaimTries = 6;
constexpr Duration kReclaimWait = std::chrono::microseconds(500);

bool IsBehind(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

void Push(PeerList& list, std::vector<RxCredit>& credits, Vc vc, PeerIndex peer,
          uint16_t RxCredit::*next) {
  credits[Scheduler::IndexOf(peer, vc)].*next = PeerList::kNone;
  if (list.empty()) {
    list.head = static_cast<uint16_t>(peer);
  } else {
    credits[Scheduler::IndexOf(PeerIndex(list.tail), vc)].*next = static_cast<uint16_t>(peer);
  }
  list.tail = static_cast<uint16_t>(peer);
}

PeerIndex Pop(PeerList& list, const std::vector<RxCredit>& credits, Vc vc,
              uint16_t RxCredit::*next) {
  const PeerIndex peer(list.head);
  list.head = credits[Scheduler::IndexOf(peer, vc)].*next;
  return peer;
}

}  // namespace

void CreditGrants::Promise(Instance& instance, Vc vc, RxCredit& credit, uint32_t lines) {
  credit.limit += lines;
  instance.feeds[vc].promised += lines;
  RingOf(instance, vc).promised += lines;
}

// The peer has accepted `limit`: lines promised beyond it are free.
void CreditGrants::TakeBack(Instance& instance, Vc vc, RxCredit& credit, uint32_t limit) {
  const uint32_t lines = credit.limit - limit;
  credit.limit = limit;
  instance.feeds[vc].promised -= lines;
  RingOf(instance, vc).promised -= lines;
}

void CreditGrants::CountKept(Instance& instance, Vc vc, uint32_t lines, bool kept) {
  const uint32_t change = kept ? lines : 0u - lines;
  instance.feeds[vc].kept_lines += change;
  RingOf(instance, vc).kept_lines += change;
}

// RingLines: the lines that could be promised in the best case. FreeLines: the lines that can be
// promised now; negative if claims have changed hands.
uint32_t CreditGrants::RingLines(const Instance& instance, Vc vc) const {
  const uint32_t client = lcore_.ClaimantOf(instance, vc);
  if (client == ClientTable::kNone) return instance.params.unclaimed_pdus;
  return lcore_.clients.ring(client, vc).line_count() - kWrapLines;
}

int64_t CreditGrants::FreeLines(Instance& instance, Vc vc) {
  const CreditRing& ring = RingOf(instance, vc);
  const uint32_t client = lcore_.ClaimantOf(instance, vc);
  if (client == ClientTable::kNone) {
    // Each line may be a PDU of its own.
    return int64_t{instance.params.unclaimed_pdus} - instance.unclaimed_count[vc] - ring.promised;
  }
  return int64_t{lcore_.clients.ring(client, vc).FreeLines()} - kWrapLines - ring.promised -
         ring.kept_lines;
}

// The VC has another client, or none: promised and kept lines move along.
void CreditGrants::MoveFeed(Instance& instance, Vc vc) {
  LeaveRing(instance, vc);
  JoinRing(instance, vc);
  Enqueue(instance, vc);
}

void CreditGrants::LeaveRing(Instance& instance, Vc vc) {
  CreditFeed& feed = instance.feeds[vc];
  CreditRing& from = RingOf(instance, vc);
  if (from.hand != CreditRing::kNone) {
    uint32_t before = instance.number;
    while (lcore_.instances[before]->feeds[vc].next != instance.number) {
      before = lcore_.instances[before]->feeds[vc].next;
    }
    lcore_.instances[before]->feeds[vc].next = feed.next;
    from.hand = feed.next == instance.number ? CreditRing::kNone : feed.next;
  }
  // The order of the others is preserved.
  for (uint32_t left = feed.listed ? from.waiting : 0; left != 0; --left) {
    Instance& other = PopFeed(from);
    if (&other != &instance) PushFeed(from, other);
  }
  if (from.reclaim_instance == instance.number) EndReclaim(from, vc);
  from.promised -= feed.promised;
  from.kept_lines -= feed.kept_lines;
  from.holders -= feed.holders;
  from.peers -= static_cast<uint32_t>(instance.params.peers.size());
}

// The ring to feed under the present claims.
CreditRing& CreditGrants::FedRing(const Instance& instance, Vc vc) {
  const uint32_t client = lcore_.ClaimantOf(instance, vc);
  return client == ClientTable::kNone ? lcore_.instances[instance.number]->unclaimed_ring[vc]
                                      : of_clients_[client][vc];
}

void CreditGrants::JoinRing(Instance& instance, Vc vc) {
  CreditFeed& feed = instance.feeds[vc];
  CreditRing& to = FedRing(instance, vc);
  instance.credit_ring[vc] = &to;
  to.vc = vc;
  to.peers += static_cast<uint32_t>(instance.params.peers.size());
  feed.next = instance.number;
  if (to.hand == CreditRing::kNone) {
    to.hand = instance.number;
  } else {
    feed.next = lcore_.instances[to.hand]->feeds[vc].next;
    lcore_.instances[to.hand]->feeds[vc].next = instance.number;
  }
  to.promised += feed.promised;
  to.kept_lines += feed.kept_lines;
  to.holders += feed.holders;
}

// Schedules peers that wait at a feed for the following poll iterations.
void CreditGrants::Enqueue(Instance& instance, Vc vc) {
  const CreditFeed& feed = instance.feeds[vc];
  if (feed.listed || feed.waiting.empty()) return;
  CreditRing& ring = RingOf(instance, vc);
  PushFeed(ring, instance);
  if (ring.listed) return;
  ring.listed = true;
  granting_.push_back(&ring);
}

void CreditGrants::PushFeed(CreditRing& ring, Instance& instance) {
  CreditFeed& feed = instance.feeds[ring.vc];
  feed.listed = true;
  if (ring.waiting++ == 0) {
    ring.first_waiting = instance.number;
  } else {
    lcore_.instances[ring.last_waiting]->feeds[ring.vc].next_waiting = instance.number;
  }
  ring.last_waiting = instance.number;
}

Instance& CreditGrants::PopFeed(CreditRing& ring) {
  Instance& instance = *lcore_.instances[ring.first_waiting];
  CreditFeed& feed = instance.feeds[ring.vc];
  feed.listed = false;
  ring.first_waiting = feed.next_waiting;
  --ring.waiting;
  return instance;
}

[[gnu::noinline]] void CreditGrants::WantGrant(Instance& instance, PeerIndex peer, Vc vc) {
  RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(peer, vc)];
  if (credit.waiting) return;
  credit.waiting = true;
  CreditFeed& feed = instance.feeds[vc];
  Push(feed.waiting, instance.rx_credit, vc, peer, &RxCredit::next_waiting);
  Enqueue(instance, vc);
}

// The lines that a peer without history may hold.
uint32_t CreditGrants::FirstShare(Instance& instance, Vc vc) const {
  const uint32_t peers = RingOf(instance, vc).peers;
  return std::min(RingLines(instance, vc) >> (std::bit_width(peers) + 1), kFirstShare);
}

// If many hold credit, each holds little, and its PDUs arrive one by one: it is granted more when
// three quarters are used, which takes half as many CREDITs as granting at half.
void CreditGrants::JoinHolders(Instance& instance, PeerIndex peer, Vc vc, RxCredit& credit,
                               bool renews) {
  const uint32_t held = credit.held();
  const uint32_t left = RingOf(instance, vc).holders < kManyHolders ? held - held / 2 : held / 4;
  credit.renew_at = renews ? credit.limit - left : credit.limit + kAsks;
  if (credit.holding) return;
  credit.holding = true;
  CreditFeed& feed = instance.feeds[vc];
  ++feed.holders;
  ++RingOf(instance, vc).holders;
  Push(feed.holding, instance.rx_credit, vc, peer, &RxCredit::next_holding);
}

// An association has begun, and a HELLO that confirms it is about to leave, which may carry a first
// grant.
void CreditGrants::GrantFirst(Instance& instance, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(peer, vc)];
    if (!credit.counts || lcore_.ClaimantOf(instance, vc) == ClientTable::kNone) continue;
    const uint32_t share = FirstShare(instance, vc);
    if (credit.held() != 0 || share < kMinFirst || FreeLines(instance, vc) < 2 * share) continue;
    credit.touched = tick_;
    Promise(instance, vc, credit, share);
    JoinHolders(instance, peer, vc, credit, true);
  }
}

bool CreditGrants::SendGrant(Instance& instance, PeerIndex peer, Vc vc, bool give_back) {
  const RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(peer, vc)];
  const PlaneIndex plane = ControlSender::PlaneWithRoom(instance, peer);
  return plane != PeerPaths::kNoPlane &&
         ControlSender::SendControl(instance, peer, plane,
                                    Credit{.vc = static_cast<uint8_t>(vc),
                                           .grant = true,
                                           .give_back = give_back,
                                           .on_demand = credit.on_demand,
                                           .round = credit.round,
                                           .limit = credit.limit,
                                           .accepted = credit.accepted,
                                           .sent = credit.heard_sent});
}

// Sizes a grant for the waiting PDU only; a PDU with more lines than there are places is granted
// alone.
CreditGrants::Size CreditGrants::SizeUnclaimed(Instance& instance, Vc vc, const RxCredit& credit) {
  const uint32_t min = credit.accepted + std::max<uint32_t>(credit.widest, 1);
  const uint32_t wanted = IsBehind(credit.needed, min) ? min : credit.needed;
  const uint32_t need = IsBehind(credit.limit, wanted) ? wanted - credit.limit : 0;
  const bool alone = RingOf(instance, vc).promised == 0 && instance.unclaimed_count[vc] == 0 &&
                     RingLines(instance, vc) != 0;
  return {.fits = int64_t{need} <= FreeLines(instance, vc) || alone, .lines = need};
}

CreditGrants::Size CreditGrants::SizeGrant(Instance& instance, Vc vc, RxCredit& credit) {
  if (lcore_.ClaimantOf(instance, vc) == ClientTable::kNone) {
    return SizeUnclaimed(instance, vc, credit);
  }
  const uint32_t capacity = RingLines(instance, vc);
  const int64_t free = FreeLines(instance, vc);
  const uint32_t widest = std::max<uint32_t>(credit.widest, 1);
  const uint32_t fair = capacity >> std::bit_width(RingOf(instance, vc).holders);
  const uint32_t asked = IsBehind(credit.limit, credit.needed) ? credit.needed - credit.limit : 0;
  // The ring has no room for two PDUs of each holder. Credit that a holder does not use now makes
  // another holder wait: so each requests credit for the PDU that it is about to send.
  if (fair < 2 * widest) {
    if (asked == 0) return {.fits = true, .renews = false};
    const auto lines = static_cast<uint32_t>(std::min<int64_t>(asked + (fair / 2), free));
    return {.fits = int64_t{asked} <= free, .renews = false, .lines = lines};
  }
  const uint32_t next = credit.held() < widest ? widest - credit.held() : 0;
  const uint32_t need = std::max(asked, next);
  if (int64_t{need} > free) return {};
  const uint32_t first = std::max(FirstShare(instance, vc), 2 * widest);
  credit.share = std::max(credit.share, first);
  const int64_t half = (free + credit.held()) / 2;
  const int64_t target = std::min<int64_t>({credit.share, std::max(fair, first), half});
  credit.share = std::min(credit.share * 2, capacity);
  return {.fits = true,
          .lines = static_cast<uint32_t>(std::max<int64_t>(need, target - credit.held()))};
}

// Serves the first of the peers that wait at a feed.
CreditGrants::Served CreditGrants::ServeFirst(Instance& instance, Vc vc, Time now) {
  CreditFeed& feed = instance.feeds[vc];
  const PeerIndex peer(feed.waiting.head);
  RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(peer, vc)];
  const auto leave = [&] {
    Pop(feed.waiting, instance.rx_credit, vc, &RxCredit::next_waiting);
    credit.waiting = false;
    return Served::kYes;
  };
  // A peer that cannot be reached requests again.
  if (!credit.counts || instance.paths[peer].open == 0) return leave();
  if (credit.reclaiming) {
    // The peer gets its grant after it has answered: others first.
    leave();
    credit.waiting = true;
    Push(feed.waiting, instance.rx_credit, vc, peer, &RxCredit::next_waiting);
    TurnHand(instance, vc, peer, now);
    return Served::kLater;
  }
  const Size size = SizeGrant(instance, vc, credit);
  if (!size.fits) {
    TurnHand(instance, vc, peer, now);
    return Served::kRingFull;
  }
  if (size.lines == 0) {
    // The peer has enough, and there is no more now. One CREDIT informs it that it has to request
    // from now on.
    if (!size.renews && !credit.on_demand) {
      credit.on_demand = true;
      SendGrant(instance, peer, vc, false);
    }
    credit.renew_at = size.renews
                          ? credit.limit - std::min<uint32_t>(credit.held(), credit.widest) + 1
                          : credit.limit + kAsks;
    return leave();
  }
  Promise(instance, vc, credit, size.lines);
  credit.on_demand = !size.renews;
  if (!SendGrant(instance, peer, vc, false)) {
    TakeBack(instance, vc, credit, credit.limit - size.lines);
    return Served::kNotStaged;
  }
  instance.counters.Add(Counter::kTxCreditGrants);
  leave();
  JoinHolders(instance, peer, vc, credit, size.renews);
  if (FreeLines(instance, vc) < RingLines(instance, vc) / 8) {
    TurnHand(instance, vc, peer, now);
  } else {
    StepHand(instance, vc, peer, kIdleTicks, now);
  }
  return Served::kYes;
}

CreditGrants::Served CreditGrants::ServeFeed(Instance& instance, Vc vc, Time now) {
  for (uint32_t left = kGrantsPerFeed; left != 0 && !instance.feeds[vc].waiting.empty(); --left) {
    const Served served = ServeFirst(instance, vc, now);
    if (served != Served::kYes) return served;
  }
  return Served::kYes;
}

// Serves the ring's feeds in turn. A feed for whose first peer the ring has no room stays first
// until the ring has room: no feed overtakes.
void CreditGrants::ServeRing(CreditRing& ring, Time now) {
  uint32_t not_staged = 0;
  turned_ = false;
  for (uint32_t left = std::min(ring.waiting, kFeedsPerTurn); left != 0; --left) {
    Instance& instance = *lcore_.instances[ring.first_waiting];
    const Served served = ServeFeed(instance, ring.vc, now);
    if (served == Served::kRingFull) return;
    PopFeed(ring);
    if (!instance.feeds[ring.vc].waiting.empty()) PushFeed(ring, instance);
    if (served == Served::kNotStaged && ++not_staged == kMaxNotStaged) return;
  }
}

[[gnu::noinline]] void CreditGrants::SendWaiting(Time now) {
  const auto rings = static_cast<uint32_t>(granting_.size());
  for (uint32_t left = std::min(rings, kRingsPerTurn); left != 0; --left) {
    CreditRing& ring = *granting_.front();
    granting_.pop_front();
    ServeRing(ring, now);
    ring.listed = ring.waiting != 0;
    if (ring.listed) granting_.push_back(&ring);
  }
}

void CreditGrants::EndReclaim(CreditRing& ring, Vc vc) {
  Instance& instance = *lcore_.instances[ring.reclaim_instance];
  instance.rx_credit[Scheduler::IndexOf(ring.reclaim_peer, vc)].reclaiming = false;
  ring.reclaim_instance = CreditRing::kNone;
}

// Checks the next holder of the ring's credit, and requests credit back that was not used for
// `idle` ticks. Returns whether it did.
bool CreditGrants::StepHand(Instance& asker, Vc vc, uint32_t asking, uint16_t idle, Time now) {
  CreditRing& ring = RingOf(asker, vc);
  if (ring.reclaim_instance != CreditRing::kNone) return false;
  Instance& instance = *lcore_.instances[ring.hand];
  CreditFeed& feed = instance.feeds[vc];
  ring.hand = feed.next;
  if (feed.holding.empty()) return false;
  const PeerIndex peer = Pop(feed.holding, instance.rx_credit, vc, &RxCredit::next_holding);
  RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(peer, vc)];
  if (!credit.counts || credit.held() == 0) {
    credit.holding = false;
    --feed.holders;
    --ring.holders;
    return false;
  }
  Push(feed.holding, instance.rx_credit, vc, peer, &RxCredit::next_holding);
  const auto unused = static_cast<uint16_t>(tick_ - credit.touched);
  if (unused < idle || (&instance == &asker && peer == asking)) return false;
  ++credit.round;
  credit.reclaiming = true;
  ring.reclaim_instance = instance.number;
  ring.reclaim_peer = peer;
  ring.reclaim_tries = 0;
  ring.reclaim_at = now + kReclaimWait;
  instance.counters.Add(Counter::kTxCreditReclaims);
  SendGrant(instance, peer, vc, true);
  return true;
}

// Others wait: continues to reclaim unused credit. A holder that does not answer loses its credit:
// if it uses the credit later, its PDUs find room or are refused.
void CreditGrants::TurnHand(Instance& asker, Vc vc, uint32_t asking, Time now) {
  CreditRing& ring = RingOf(asker, vc);
  if (turned_) return;
  turned_ = true;
  if (ring.reclaim_instance != CreditRing::kNone) {
    if (now < ring.reclaim_at) return;
    Instance& instance = *lcore_.instances[ring.reclaim_instance];
    if (++ring.reclaim_tries < kReclaimTries) {
      ring.reclaim_at = now + (kReclaimWait * (1u << ring.reclaim_tries));
      SendGrant(instance, ring.reclaim_peer, vc, true);
      return;
    }
    RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(ring.reclaim_peer, vc)];
    TakeBack(instance, vc, credit, credit.accepted);
    EndReclaim(ring, vc);
  }
  for (uint32_t i = 0; i < kHandSteps; ++i) {
    if (StepHand(asker, vc, asking, kIdleWhenWanted, now)) return;
  }
}

// A peer requests credit, or gives some back.
void CreditGrants::OnAsked(Instance& instance, PeerIndex peer, const Credit& ask) {
  const Vc vc(ask.vc);
  RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(peer, vc)];
  if (!credit.counts) return;
  credit.heard_sent = ask.sent;
  if (credit.reclaiming && ask.round == credit.round) {
    const bool possible =
        !IsBehind(ask.limit, credit.accepted) && !IsBehind(credit.limit, ask.limit);
    TakeBack(instance, vc, credit, possible ? ask.limit : credit.accepted);
    EndReclaim(RingOf(instance, vc), vc);
    credit.share = 0;
  }
  if (ask.wanted == 0) return;
  // No ring holds more; `sent` is accepted if it is possible.
  const uint32_t max = RingLines(instance, vc);
  const uint32_t sent = IsBehind(credit.limit, ask.sent) || IsBehind(ask.sent, credit.accepted)
                            ? credit.accepted
                            : ask.sent;
  credit.needed = sent + std::min(ask.wanted, lcore_.ClaimantOf(instance, vc) == ClientTable::kNone
                                                  ? kMaxPackBytes / 4
                                                  : max);
  const bool has_enough = !IsBehind(credit.limit, credit.needed);
  // If there is no room to stage the answer, the peer requests again.
  if (has_enough || ask.reply_wanted) SendGrant(instance, peer, vc, false);
  if (!has_enough) WantGrant(instance, peer, vc);
}

// The association with the peer is over, and its promised credit with it.
void CreditGrants::Forget(Instance& instance, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    RxCredit& credit = instance.rx_credit[Scheduler::IndexOf(peer, vc)];
    TakeBack(instance, vc, credit, credit.accepted);
    if (credit.reclaiming) EndReclaim(RingOf(instance, vc), vc);
    // The peer leaves the lists when it reaches their heads.
    RxCredit fresh;
    fresh.next_waiting = credit.next_waiting;
    fresh.next_holding = credit.next_holding;
    fresh.waiting = credit.waiting;
    fresh.holding = credit.holding;
    credit = fresh;
  }
}

// Aborts if a sum differs from its parts.
void CreditGrants::CheckInvariants() const {
  std::vector<std::array<CreditRing, kVcCount>> rings(ClientTable::kMaxClients);
  for (const auto& instance : lcore_.instances) {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      uint32_t promised = 0;
      uint32_t holders = 0;
      uint32_t kept = 0;
      for (PeerIndex peer = 0; peer < instance->params.peers.size(); ++peer) {
        const RxCredit& credit = instance->rx_credit[Scheduler::IndexOf(peer, vc)];
        if (IsBehind(credit.limit, credit.accepted)) std::abort();
        promised += credit.held();
        holders += credit.holding ? 1 : 0;
      }
      for (const Pdu* pdu = instance->unclaimed[vc].head(); pdu != nullptr; pdu = pdu->next) {
        kept += pdu->lines;
      }
      const CreditFeed& feed = instance->feeds[vc];
      if (feed.promised != promised || feed.holders != holders || feed.kept_lines != kept ||
          feed.listed != !feed.waiting.empty() ||
          (feed.listed && !instance->credit_ring[vc]->listed)) {
        std::abort();
      }
      const uint32_t client = lcore_.ClaimantOf(*instance, vc);
      if (client == ClientTable::kNone) {
        const CreditRing& ring = instance->unclaimed_ring[vc];
        if (ring.promised != promised || ring.kept_lines != kept) std::abort();
        continue;
      }
      rings[client][vc].promised += promised;
      rings[client][vc].kept_lines += kept;
      rings[client][vc].holders += holders;
    }
  }
  for (uint32_t client = 0; client < ClientTable::kMaxClients; ++client) {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      const CreditRing& ring = of_clients_[client][vc];
      const CreditRing& want = rings[client][vc];
      if (ring.promised != want.promised || ring.kept_lines != want.kept_lines ||
          ring.holders != want.holders) {
        std::abort();
      }
    }
  }
}

void CreditGrants::AddInstance(Instance& instance) {
  // Rings of clients, and rings of instances without one.
  granting_.Reserve((lcore_.instances.size() + of_clients_.size()) * kVcCount + 1);
  for (Vc vc = 0; vc < kVcCount; ++vc) JoinRing(instance, vc);
}

bool CreditGrants::HasMoved(const Instance& instance, Vc vc) {
  return instance.credit_ring[vc] != &FedRing(instance, vc);
}

}  // namespace suede
