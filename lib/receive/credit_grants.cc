// SPDX-License-Identifier: Apache-2.0
#include "receive/credit_grants.h"

#include <algorithm>
#include <cstdlib>

#include "base/line_counts.h"
#include "frame/control_sender.h"

namespace suede {
namespace {

constexpr uint32_t kGrantsPerFeed = 8;  // before the next feed of the ring is served
constexpr uint32_t kFeedsPerTurn = 32;  // of a ring,
constexpr uint32_t kRingsPerTurn = 8;   // of the lcore, and
constexpr uint32_t kMaxNotStaged = 4;   // of a ring

static_assert(CreditGranter::kUnclaimed == ClientTable::kNone);

}  // namespace

CreditGranter::Room CreditGrants::RoomOf(const ReceiveState& rx, Vc vc) const {
  const uint32_t client = lcore_.clients.claimant(rx.number, vc);
  if (client == ClientTable::kNone) {
    const uint32_t places = rx.params.unclaimed_pdus;
    return {.capacity = places, .free = int64_t{places} - rx.unclaimed_count[vc]};
  }
  RxRingWriter& ring = lcore_.clients.ring(client, vc);
  return {.claimed = true,
          .capacity = ring.line_count() - kWrapLines,
          .free = int64_t{ring.FreeLines()} - kWrapLines};
}

bool CreditGrants::SendCredit(Instance& instance, PeerIndex peer, const Credit& credit) {
  const PlaneIndex plane = ControlSender::PlaneWithRoom(instance.peers, instance.ports, peer);
  return plane != PeerPaths::kNoPlane && ControlSender::SendControl(instance, peer, plane, credit);
}

void CreditGrants::SendReclaim(const std::optional<CreditGranter::Reclaim>& reclaim) {
  if (!reclaim) return;
  Instance& instance = *lcore_.instances[reclaim->instance];
  if (reclaim->first) instance.stats.counters.Add(Counter::kTxCreditReclaims);
  SendCredit(instance, reclaim->peer, reclaim->message);
}

void CreditGrants::GrantFirst(ReceiveState& rx, PeerIndex peer) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    granter_.GrantFirst(rx.credit, peer, vc, RoomOf(rx, vc));
  }
}

void CreditGrants::OnRequest(Instance& instance, PeerIndex peer, const Credit& request) {
  const auto answer =
      granter_.OnRequest(instance.rx.credit, peer, request, RoomOf(instance.rx, Vc(request.vc)));
  if (answer) SendCredit(instance, peer, *answer);
}

// Serves the first of the peers that wait at a feed.
CreditGrants::Served CreditGrants::ServeFirst(Instance& instance, Vc vc, Time now) {
  using Verdict = CreditGranter::Verdict;
  RxCredits& credits = instance.rx.credit;
  const CreditGranter::Room room = RoomOf(instance.rx, vc);
  const bool reachable = instance.peers.paths[CreditGranter::FirstWaiting(credits, vc)].open != 0;
  const CreditGranter::Decision decision = granter_.ServeFirst(credits, vc, room, reachable);
  switch (decision.verdict) {
    case Verdict::kDone:
      return Served::kYes;
    case Verdict::kInform:
      SendCredit(instance, decision.peer, decision.message);
      return Served::kYes;
    case Verdict::kLater:
    case Verdict::kRingFull:
      SendReclaim(granter_.ReclaimForOthers(credits, vc, decision.peer, now));
      return decision.verdict == Verdict::kLater ? Served::kLater : Served::kRingFull;
    case Verdict::kGrant:
      break;
  }
  if (!SendCredit(instance, decision.peer, decision.message)) {
    CreditGranter::Withdraw(credits, vc, decision);
    return Served::kNotStaged;
  }
  instance.stats.counters.Add(Counter::kTxCreditGrants);
  CreditGranter::OnSent(credits, vc, decision);
  SendReclaim(granter_.ReclaimAfterGrant(credits, vc, decision.peer, room, now));
  return Served::kYes;
}

CreditGrants::Served CreditGrants::ServeFeed(Instance& instance, Vc vc, Time now) {
  const CreditFeed& feed = instance.rx.credit.feeds[vc];
  for (uint32_t left = kGrantsPerFeed; left != 0 && !feed.waiting.empty(); --left) {
    const Served served = ServeFirst(instance, vc, now);
    if (served != Served::kYes) return served;
  }
  return Served::kYes;
}

// Serves the ring's feeds in turn. A feed for whose first peer the ring has no room stays first
// until the ring has room: no feed overtakes.
void CreditGrants::ServeRing(CreditRing& ring, Time now) {
  uint32_t not_staged = 0;
  for (uint32_t left = std::min(ring.waiting, kFeedsPerTurn); left != 0; --left) {
    const Served served = ServeFeed(*lcore_.instances[ring.first_waiting], ring.vc, now);
    if (served == Served::kRingFull) return;
    granter_.RotateFeeds(ring);
    if (served == Served::kNotStaged && ++not_staged == kMaxNotStaged) return;
  }
}

[[gnu::noinline]] void CreditGrants::SendWaiting(Time now) {
  for (uint32_t left = std::min(granter_.waiting_rings(), kRingsPerTurn); left != 0; --left) {
    CreditRing& ring = granter_.TakeRing();
    ServeRing(ring, now);
    granter_.PutBack(ring);
  }
}

void CreditGrants::CheckInvariants() const {
  granter_.CheckInvariants();
  for (const auto& instance : lcore_.instances) {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      uint32_t kept = 0;
      for (const Pdu* pdu = instance->rx.unclaimed[vc].head(); pdu != nullptr; pdu = pdu->next) {
        kept += pdu->lines;
      }
      if (instance->rx.credit.feeds[vc].kept_lines != kept) std::abort();
    }
  }
}

}  // namespace suede
