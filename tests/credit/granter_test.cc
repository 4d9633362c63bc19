// SPDX-License-Identifier: Apache-2.0
// The decisions about receive credit, without an lcore: rooms and requests in, grants out.
#include "credit/granter.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace suede {
namespace {

using Room = CreditGranter::Room;
using Verdict = CreditGranter::Verdict;

constexpr Vc kVc = 1;
constexpr uint32_t kClient = 3;

class GranterTest : public testing::Test {
 protected:
  RxCredits& Add(uint32_t peers) {
    credits_.push_back(std::make_unique<RxCredits>());
    RxCredits& credits = *credits_.back();
    credits.queues.resize(size_t{peers} * kVcCount);
    for (RxCredit& credit : credits.queues) credit.counts = true;
    granter_.AddInstance(credits);
    return credits;
  }
  RxCredits& AddClaimed(uint32_t peers) {
    RxCredits& credits = Add(peers);
    granter_.MoveFeed(credits, kVc, kClient);
    return credits;
  }
  std::optional<Credit> Request(RxCredits& credits, PeerIndex peer, uint32_t wanted,
                                const Room& room, bool reply_wanted = false) {
    const RxCredit& credit = credits.At(peer, kVc);
    return granter_.OnRequest(credits, peer,
                              {.vc = kVc,
                               .reply_wanted = reply_wanted,
                               .round = credit.round,
                               .limit = credit.limit,
                               .sent = credit.accepted,
                               .wanted = wanted},
                              room);
  }
  void Accept(RxCredits& credits, PeerIndex peer, uint32_t lines, uint32_t widest) {
    granter_.OnAccepted(credits, peer, kVc, credits.At(peer, kVc), lines, widest);
  }
  // Serves the first peer of a feed and sends its grant.
  CreditGranter::Decision ServeFirst(RxCredits& credits, const Room& room) {
    const auto decision = granter_.ServeFirst(credits, kVc, room, true);
    if (decision.verdict == Verdict::kGrant) CreditGranter::OnSent(credits, kVc, decision);
    return decision;
  }
  // Serves the first peer of the feed that is first in its ring.
  CreditGranter::Decision Serve(RxCredits& credits, const Room& room) {
    if (granter_.waiting_rings() == 0) {
      ADD_FAILURE() << "no ring waits";
      return {};
    }
    CreditRing& ring = granter_.TakeRing();
    EXPECT_EQ(ring.first_waiting, credits.number);
    const auto decision = ServeFirst(credits, room);
    if (decision.verdict != Verdict::kRingFull) granter_.RotateFeeds(ring);
    granter_.PutBack(ring);
    granter_.CheckInvariants();
    return decision;
  }
  // Serves a ring once more, as each poll iteration may.
  std::optional<CreditGranter::Reclaim> ReclaimForOthers(RxCredits& credits, PeerIndex requester,
                                                         Time now) {
    if (granter_.waiting_rings() == 0) ADD_FAILURE() << "no ring waits";
    granter_.PutBack(granter_.TakeRing());
    return granter_.ReclaimForOthers(credits, kVc, requester, now);
  }
  static Time At(int64_t us) { return Time{} + std::chrono::microseconds(us); }

  std::vector<std::unique_ptr<RxCredits>> credits_;
  CreditGranter granter_{8};
};

TEST_F(GranterTest, AFirstGrantIsAShareOfTheRing) {
  struct {
    uint32_t peers;
    uint32_t capacity;
    int64_t free;
    uint32_t lines;
  } const cases[] = {
      {1, 1000, 1000, 250}, {1, 4000, 4000, 256}, {1, 4000, 511, 0},
      {1, 4000, 512, 256},  {4, 4000, 4000, 250}, {64, 4000, 4000, 0},
      {1, 127, 127, 0},     {1, 128, 128, 32},    {1, 4000, -1, 0},
  };
  for (const auto& c : cases) {
    RxCredits& credits = AddClaimed(c.peers);
    granter_.GrantFirst(credits, 0, kVc, {.claimed = true, .capacity = c.capacity, .free = c.free});
    EXPECT_EQ(credits.At(0, kVc).limit, c.lines) << c.peers << " " << c.capacity << " " << c.free;
    granter_.CheckInvariants();
    granter_.Forget(credits, 0);
    granter_.MoveFeed(credits, kVc, CreditGranter::kUnclaimed);
  }
}

TEST_F(GranterTest, NothingIsGrantedFirstWithoutAClaim) {
  RxCredits& credits = Add(1);
  granter_.GrantFirst(credits, 0, kVc, {.capacity = 1000, .free = 1000});
  EXPECT_EQ(credits.At(0, kVc).limit, 0u);
}

TEST_F(GranterTest, AShareDoublesWithUse) {
  RxCredits& credits = AddClaimed(1);
  const Room room{.claimed = true, .capacity = 4096, .free = 4096};
  Request(credits, 0, 4, room);
  std::vector<uint32_t> held;
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(Serve(credits, room).verdict, Verdict::kGrant);
    const RxCredit& credit = credits.At(0, kVc);
    held.push_back(credit.held());
    while (!credit.waiting) Accept(credits, 0, 4, 4);
  }
  // Bounded by half of the ring's free lines, and by a fair part among its holders.
  EXPECT_EQ(held, (std::vector<uint32_t>{256, 512, 1024, 2048, 2048, 2048}));
}

TEST_F(GranterTest, AGrantThatCannotBeSentIsTakenBack) {
  RxCredits& credits = AddClaimed(2);
  const Room room{.claimed = true, .capacity = 1000, .free = 1000};
  Request(credits, 1, 4, room);
  const auto grant = granter_.ServeFirst(credits, kVc, room, true);
  ASSERT_EQ(grant.verdict, Verdict::kGrant);
  EXPECT_EQ(credits.ring[kVc]->promised, grant.lines);
  CreditGranter::Withdraw(credits, kVc, grant);
  EXPECT_EQ(credits.ring[kVc]->promised, 0u);
  EXPECT_EQ(CreditGranter::FirstWaiting(credits, kVc), PeerIndex(1));
  EXPECT_EQ(Serve(credits, room).verdict, Verdict::kGrant);
  EXPECT_TRUE(credits.feeds[kVc].waiting.empty());
}

TEST_F(GranterTest, APeerOutOfReachLeavesTheList) {
  RxCredits& credits = AddClaimed(1);
  const Room room{.claimed = true, .capacity = 1000, .free = 1000};
  Request(credits, 0, 4, room);
  EXPECT_EQ(granter_.ServeFirst(credits, kVc, room, false).verdict, Verdict::kDone);
  EXPECT_TRUE(credits.feeds[kVc].waiting.empty());
  EXPECT_EQ(credits.At(0, kVc).limit, 0u);
}

TEST_F(GranterTest, AFullRingKeepsItsFirstPeer) {
  RxCredits& credits = AddClaimed(2);
  const Room full{.claimed = true, .capacity = 1000, .free = 3};
  Request(credits, 0, 4, full);
  Request(credits, 1, 2, full);
  EXPECT_EQ(Serve(credits, full).verdict, Verdict::kRingFull);
  EXPECT_EQ(CreditGranter::FirstWaiting(credits, kVc), PeerIndex(0));
  EXPECT_EQ(Serve(credits, {.claimed = true, .capacity = 1000, .free = 4}).lines, 4u);
}

// Without a client the places of PDUs are the room, and a PDU with more lines is granted alone.
TEST_F(GranterTest, UnclaimedPlacesAreGrantedForTheWaitingPdu) {
  RxCredits& credits = Add(2);
  const Room room{.capacity = 8, .free = 8};
  Request(credits, 0, 20, room);
  Request(credits, 1, 2, room);
  EXPECT_EQ(Serve(credits, room).lines, 20u);
  EXPECT_EQ(Serve(credits, room).verdict, Verdict::kRingFull);
  Accept(credits, 0, 20, 20);
  EXPECT_EQ(Serve(credits, {.capacity = 8, .free = 1}).verdict, Verdict::kRingFull);
  EXPECT_EQ(Serve(credits, {.capacity = 8, .free = 7}).lines, 2u);
}

// Where a ring has no room for two PDUs of each holder, credit that one does not use now makes
// another wait.
TEST_F(GranterTest, ManyHoldersOfASmallRingRequestEachPdu) {
  RxCredits& credits = AddClaimed(4);
  const Room room{.claimed = true, .capacity = 16, .free = 16};
  for (PeerIndex peer = 0; peer < 4; ++peer) {
    Request(credits, peer, 4, room);
    EXPECT_FALSE(Serve(credits, room).message.on_demand);
  }
  for (PeerIndex peer = 0; peer < 4; ++peer) {
    Accept(credits, peer, credits.At(peer, kVc).held(), 4);
  }
  // Each has used all, and is told to request.
  for (int i = 0; i < 4; ++i) {
    const auto decision = Serve(credits, room);
    EXPECT_EQ(decision.verdict, Verdict::kInform);
    EXPECT_TRUE(decision.message.on_demand);
  }
  Request(credits, 2, 4, room);
  const auto decision = Serve(credits, room);
  EXPECT_EQ(decision.verdict, Verdict::kGrant);
  EXPECT_TRUE(decision.message.on_demand);
  EXPECT_EQ(decision.lines, 5u);  // and half of a fair share
  Accept(credits, 2, 5, 4);
  EXPECT_EQ(granter_.waiting_rings(), 0u);
}

TEST_F(GranterTest, AnAnswerIsGivenToAPeerThatHasEnoughOrWantsOne) {
  RxCredits& credits = AddClaimed(1);
  const Room room{.claimed = true, .capacity = 1000, .free = 1000};
  EXPECT_FALSE(Request(credits, 0, 0, room, true));
  EXPECT_FALSE(Request(credits, 0, 4, room));
  EXPECT_TRUE(Request(credits, 0, 4, room, true));
  Serve(credits, room);
  const auto answer = Request(credits, 0, 4, room);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->grant);
  EXPECT_EQ(answer->limit, credits.At(0, kVc).limit);
}

// A request for more than any ring holds, or with an impossible number of sent lines, is bounded.
TEST_F(GranterTest, ARequestIsBoundedByTheRing) {
  RxCredits& credits = AddClaimed(1);
  const Room room{.claimed = true, .capacity = 100, .free = 100};
  granter_.OnRequest(credits, 0, {.vc = kVc, .sent = 1u << 20, .wanted = 1u << 30}, room);
  EXPECT_EQ(credits.At(0, kVc).needed, 100u);
  EXPECT_EQ(Serve(credits, room).lines, 100u);
}

TEST_F(GranterTest, UnusedCreditIsReclaimedAndGivenToOthers) {
  RxCredits& credits = AddClaimed(2);
  const Room room{.claimed = true, .capacity = 100, .free = 100};
  granter_.SetTime(At(0));
  Request(credits, 0, 100, room);
  ASSERT_EQ(Serve(credits, room).lines, 100u);
  Request(credits, 1, 10, room);
  ASSERT_EQ(Serve(credits, room).verdict, Verdict::kRingFull);
  // Not before it was unused for two ticks.
  EXPECT_FALSE(ReclaimForOthers(credits, 1, At(100)));
  granter_.SetTime(At(5000));
  const auto reclaim = ReclaimForOthers(credits, 1, At(5000));
  ASSERT_TRUE(reclaim);
  EXPECT_TRUE(reclaim->first && reclaim->message.give_back && reclaim->message.round == 1);
  EXPECT_EQ(reclaim->peer, PeerIndex(0));
  // Once for each time that the ring is served.
  EXPECT_FALSE(granter_.ReclaimForOthers(credits, kVc, 1, At(9000)));
  // An answer of an earlier round is void; the right one returns what was not used.
  granter_.OnRequest(credits, 0, {.vc = kVc, .round = 0, .limit = 0}, room);
  EXPECT_EQ(credits.At(0, kVc).limit, 100u);
  granter_.OnRequest(credits, 0, {.vc = kVc, .round = 1, .limit = 30}, room);
  EXPECT_EQ(credits.At(0, kVc).limit, 30u);
  granter_.CheckInvariants();
  EXPECT_EQ(Serve(credits, room).verdict, Verdict::kGrant);
}

TEST_F(GranterTest, AHolderThatDoesNotAnswerLosesItsCredit) {
  RxCredits& credits = AddClaimed(2);
  const Room room{.claimed = true, .capacity = 100, .free = 100};
  granter_.SetTime(At(0));
  Request(credits, 0, 100, room);
  Serve(credits, room);
  Request(credits, 1, 10, room);
  granter_.SetTime(At(5000));
  std::vector<int64_t> sent;
  for (int64_t us = 5000; us < 60000 && credits.At(0, kVc).held() != 0; us += 250) {
    if (ReclaimForOthers(credits, 1, At(us))) sent.push_back(us - 5000);
  }
  EXPECT_EQ(sent, (std::vector<int64_t>{0, 500, 1500, 3500, 7500, 15500}));
  EXPECT_EQ(credits.ring[kVc]->promised, 0u);
  EXPECT_FALSE(credits.At(0, kVc).reclaiming);
  granter_.CheckInvariants();
}

// A peer whose credit is being reclaimed waits behind the others.
TEST_F(GranterTest, APeerThatIsToGiveBackWaitsForItsAnswer) {
  RxCredits& credits = AddClaimed(2);
  const Room room{.claimed = true, .capacity = 100, .free = 100};
  granter_.SetTime(At(0));
  Request(credits, 0, 90, room);
  Serve(credits, room);
  Request(credits, 1, 40, room);
  granter_.SetTime(At(5000));
  ASSERT_TRUE(ReclaimForOthers(credits, 1, At(5000)));
  granter_.OnRequest(credits, 0, {.vc = kVc, .round = 0, .limit = 90, .sent = 90, .wanted = 10},
                     room);
  EXPECT_EQ(Serve(credits, room).verdict, Verdict::kRingFull);
  granter_.OnRequest(credits, 1, {.vc = kVc, .round = 0, .wanted = 5}, room);
  EXPECT_EQ(Serve(credits, room).peer, PeerIndex(1));
  EXPECT_EQ(Serve(credits, room).verdict, Verdict::kLater);
}

TEST_F(GranterTest, FeedsOfARingTakeTurnsAndMove) {
  std::vector<RxCredits*> all;
  for (int i = 0; i < 3; ++i) all.push_back(&AddClaimed(2));
  const Room room{.claimed = true, .capacity = 4000, .free = 4000};
  for (RxCredits* credits : all) {
    Request(*credits, 0, 4, room);
    Request(*credits, 1, 4, room);
  }
  ASSERT_EQ(granter_.waiting_rings(), 1u);
  CreditRing& ring = granter_.TakeRing();
  EXPECT_EQ(ring.peers, 6u);
  std::vector<uint32_t> order;
  for (int i = 0; i < 2; ++i) {
    order.push_back(ring.first_waiting);
    ServeFirst(*all[ring.first_waiting], room);
    granter_.RotateFeeds(ring);
  }
  // The second feed moves away with its peers and their credit; the order of the others stays.
  granter_.MoveFeed(*all[1], kVc, kClient + 1);
  granter_.CheckInvariants();
  while (ring.waiting != 0) {
    order.push_back(ring.first_waiting);
    ServeFirst(*all[ring.first_waiting], room);
    granter_.RotateFeeds(ring);
  }
  granter_.PutBack(ring);
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 2, 0, 2}));
  EXPECT_EQ(granter_.waiting_rings(), 1u);
  EXPECT_EQ(granter_.TakeRing().first_waiting, 1u);
}

// Any order of facts and decisions keeps the sums, and no ring promises more than it has free.
TEST_F(GranterTest, SumsHoldInAnyOrder) {
  std::mt19937 engine(7);
  const auto random = [&] { return static_cast<uint32_t>(engine()); };
  for (int run = 0; run < 20; ++run) {
    credits_.clear();
    granter_ = CreditGranter(8);
    constexpr uint32_t kInstances = 3;
    constexpr uint32_t kPeers = 5;
    for (uint32_t i = 0; i < kInstances; ++i) Add(kPeers);
    std::vector<uint32_t> client(kInstances, CreditGranter::kUnclaimed);
    int64_t us = 0;
    for (int step = 0; step < 3000; ++step) {
      granter_.SetTime(At(us += random() % 400));
      const uint32_t number = random() % kInstances;
      RxCredits& credits = *credits_[number];
      const PeerIndex peer(random() % kPeers);
      const auto room_of = [&](uint32_t i) {
        const bool claimed = client[i] != CreditGranter::kUnclaimed;
        return Room{.claimed = claimed, .capacity = 200, .free = 200};
      };
      switch (random() % 16) {
        case 0:
          client[number] = random() % 2 == 0 ? CreditGranter::kUnclaimed : random() % 2;
          granter_.MoveFeed(credits, kVc, client[number]);
          break;
        case 1:
          granter_.Forget(credits, peer);
          for (RxCredit& credit : credits.queues) credit.counts = true;
          break;
        case 2:
          granter_.GrantFirst(credits, peer, kVc, room_of(number));
          break;
        case 3:
        case 4:
        case 5:
          Accept(credits, peer, 1 + random() % 8, 1 + random() % 8);
          break;
        case 6:
          granter_.OnRequest(credits, peer,
                             {.vc = kVc,
                              .reply_wanted = random() % 2 == 0,
                              .round = credits.At(peer, kVc).round,
                              .limit = credits.At(peer, kVc).accepted + (random() % 20),
                              .sent = random() % 500,
                              .wanted = random() % 20},
                             room_of(number));
          break;
        default: {
          if (granter_.waiting_rings() == 0) break;
          CreditRing& ring = granter_.TakeRing();
          if (ring.waiting == 0) {  // its feeds have moved away
            granter_.PutBack(ring);
            break;
          }
          RxCredits& first = *credits_[ring.first_waiting];
          const Room room = room_of(ring.first_waiting);
          const auto decision = granter_.ServeFirst(first, ring.vc, room, random() % 8 != 0);
          if (decision.verdict == Verdict::kGrant && random() % 4 == 0) {
            CreditGranter::Withdraw(first, ring.vc, decision);
          } else if (decision.verdict == Verdict::kGrant) {
            if (room.claimed) {
              EXPECT_LE(ring.promised + ring.kept_lines, room.free);
            }
            CreditGranter::OnSent(first, ring.vc, decision);
            granter_.ReclaimAfterGrant(first, ring.vc, decision.peer, room, At(us));
          } else if (decision.verdict != Verdict::kDone) {
            granter_.ReclaimForOthers(first, ring.vc, decision.peer, At(us));
          }
          if (decision.verdict != Verdict::kRingFull) granter_.RotateFeeds(ring);
          granter_.PutBack(ring);
          break;
        }
      }
      granter_.CheckInvariants();
    }
  }
}

}  // namespace
}  // namespace suede
