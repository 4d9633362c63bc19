// SPDX-License-Identifier: Apache-2.0
// The sender's decisions about receive credit, without an lcore: grants and time in, requests out;
// alone, and against the receiver's decisions.
#include "credit/spender.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "credit/granter.h"

namespace suede {
namespace {

using Queue = CreditSpender::Queue;
using Outcome = CreditSpender::Outcome;

constexpr Vc kQueueVc = 2;

Time At(int64_t us) { return Time{} + std::chrono::microseconds(us); }

Credit Grant(uint32_t limit, bool on_demand = false, uint16_t round = 0) {
  return {.vc = kQueueVc, .grant = true, .on_demand = on_demand, .round = round, .limit = limit};
}

class SpenderTest : public testing::Test {
 protected:
  // The association begins with `limit` lines; `sent` of them are sent.
  void Begin(uint32_t limit, uint32_t sent) {
    spender_.Begin(limit);
    queue_.credit = limit - sent;
  }
  // The first PDU waits for `lines` lines.
  std::optional<Credit> Wait(uint32_t lines, Time now) {
    queue_.first_lines = lines;
    return spender_.Wait(queue_, now);
  }
  Outcome OnGrant(const Credit& grant) { return Take(spender_.OnGrant(grant, queue_)); }
  Outcome OnDeadline() { return Take(spender_.OnDeadline(queue_, spender_.deadline())); }
  Outcome Take(const Outcome& outcome) {
    queue_.credit = outcome.credit;
    return outcome;
  }

  CreditSpender spender_;
  Queue queue_{.vc = kQueueVc};
};

TEST_F(SpenderTest, AWaitingQueueRequestsAtOnceWhereNothingIsInFlight) {
  Begin(10, 8);
  const auto request = Wait(5, At(0));
  ASSERT_TRUE(request);
  EXPECT_EQ(*request, (Credit{.vc = kQueueVc, .limit = 10, .sent = 8, .wanted = 5}));
  EXPECT_TRUE(spender_.waiting());
  EXPECT_EQ(spender_.deadline(), At(500));
}

TEST_F(SpenderTest, PdusInFlightMayCauseAGrantUnlessThePeerGrantsOnDemand) {
  Begin(10, 8);
  queue_.in_flight = true;
  EXPECT_FALSE(Wait(5, At(0)));
  EXPECT_EQ(spender_.deadline(), At(500));
  EXPECT_TRUE(OnGrant(Grant(13, true)).ends_wait);
  queue_.credit = 0;
  EXPECT_TRUE(Wait(5, At(10)));
}

TEST_F(SpenderTest, ARequestThatWasNotStagedIsRepeatedSoon) {
  Wait(5, At(7));
  spender_.OnNotStaged(At(7));
  EXPECT_EQ(spender_.deadline(), At(7));
}

TEST_F(SpenderTest, RequestsAreRepeatedEverMoreSlowly) {
  ASSERT_TRUE(Wait(5, At(0)));
  queue_.in_flight = true;  // a PDU without credit would not help
  Time last = At(0);
  int64_t wait_us = 500;
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(spender_.deadline() - last, std::chrono::microseconds(wait_us)) << i;
    last = spender_.deadline();
    const Outcome outcome = OnDeadline();
    ASSERT_TRUE(outcome.message);
    EXPECT_TRUE(outcome.message->reply_wanted);
    wait_us = std::min<int64_t>(wait_us * 2, 64000);
  }
}

TEST_F(SpenderTest, ASilentPeerIsTriedByAPduWithoutCredit) {
  Begin(10, 8);
  Wait(5, At(0));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(OnDeadline().message);
  const Outcome outcome = OnDeadline();
  EXPECT_FALSE(outcome.message);
  EXPECT_TRUE(outcome.ends_wait);
  EXPECT_EQ(outcome.credit, 5u);
  EXPECT_TRUE(spender_.doubtful());
  EXPECT_EQ(spender_.deadline(), kNever);
}

TEST_F(SpenderTest, AnAnswerMeansThatThePeerIsNotSilent) {
  Wait(5, At(0));
  for (int i = 0; i < 5; ++i) OnDeadline();
  EXPECT_FALSE(OnGrant(Grant(3)).ends_wait);
  EXPECT_TRUE(OnDeadline().message);
}

TEST_F(SpenderTest, AGrantEndsTheWaitIfItIsEnough) {
  Begin(10, 8);
  Wait(5, At(0));
  Outcome outcome = OnGrant(Grant(12));
  EXPECT_FALSE(outcome.ends_wait);
  EXPECT_EQ(outcome.credit, 4u);
  outcome = OnGrant(Grant(11));
  EXPECT_EQ(outcome.credit, 4u) << "an older grant takes nothing back";
  outcome = OnGrant(Grant(13));
  EXPECT_TRUE(outcome.ends_wait);
  EXPECT_EQ(outcome.credit, 5u);
  EXPECT_FALSE(spender_.waiting());
}

TEST_F(SpenderTest, LimitsWrapAround) {
  Begin(UINT32_MAX - 2, UINT32_MAX - 2);
  Wait(5, At(0));
  const Outcome outcome = OnGrant(Grant(2));
  EXPECT_TRUE(outcome.ends_wait);
  EXPECT_EQ(outcome.credit, 5u);
}

TEST_F(SpenderTest, AnEmptyQueueWaitsForNothing) {
  Wait(5, At(0));
  queue_.first_lines = 0;
  EXPECT_TRUE(OnGrant(Grant(0)).ends_wait);
}

TEST_F(SpenderTest, APeerThatBeginsToGrantOnDemandIsAskedAgain) {
  queue_.in_flight = true;
  EXPECT_FALSE(Wait(5, At(0)));
  EXPECT_TRUE(OnGrant(Grant(3, true)).message);
  EXPECT_FALSE(OnGrant(Grant(4, true)).message);
}

TEST_F(SpenderTest, UnusedCreditIsGivenBackOnRequest) {
  Begin(10, 8);
  Outcome outcome = OnGrant({.vc = kQueueVc, .grant = true, .give_back = true, .round = 1});
  EXPECT_EQ(outcome.credit, 0u);
  ASSERT_TRUE(outcome.message);
  EXPECT_EQ(*outcome.message,
            (Credit{.vc = kQueueVc, .give_back = true, .round = 1, .limit = 8, .sent = 8}));
  outcome = OnGrant(Grant(20));
  EXPECT_TRUE(outcome.is_void) << "it was granted before";
  EXPECT_EQ(outcome.credit, 0u);
  EXPECT_EQ(OnGrant(Grant(9, false, 1)).credit, 1u);
}

TEST_F(SpenderTest, AGrantOfANewRoundReplacesTheCredit) {
  Begin(10, 8);
  EXPECT_EQ(OnGrant(Grant(9, false, 1)).credit, 1u);
}

TEST_F(SpenderTest, LinesOfPdusThatWereGivenUpAreFoundOut) {
  Begin(10, 8);
  spender_.OnGivenUp();
  queue_.in_flight = true;
  EXPECT_FALSE(Wait(5, At(0)));
  Credit grant = Grant(10);
  grant.accepted = 3;
  grant.sent = 8;
  EXPECT_EQ(OnGrant(grant).credit, 2u) << "PDUs in flight may still be accepted";
  queue_.in_flight = false;
  const Outcome request = OnDeadline();
  ASSERT_TRUE(request.message);
  EXPECT_TRUE(request.message->reply_wanted);
  grant.sent = 7;
  EXPECT_EQ(OnGrant(grant).credit, 2u) << "it answers an older request";
  grant.sent = 8;
  const Outcome outcome = OnGrant(grant);
  EXPECT_EQ(outcome.credit, 7u);
  EXPECT_TRUE(outcome.ends_wait);
  EXPECT_FALSE(spender_.doubtful());
}

// Both ends, over a network that loses CREDITs and reorders none.
class CreditPair {
 public:
  explicit CreditPair(uint32_t seed) : random_(seed) {
    credits_.queues.resize(kVcCount);
    credits_.At(0, kQueueVc).counts = true;
    granter_.AddInstance(credits_);
    granter_.MoveFeed(credits_, kQueueVc, 0);
  }

  // One poll iteration of both ends. PDUs of up to `max_lines` lines arrive at once; the client
  // takes lines off its ring.
  void Poll(uint32_t max_lines, bool loses) {
    now_ += std::chrono::microseconds(100);
    granter_.SetTime(now_);
    if (Draw(2) == 0) used_ -= std::min(used_, Draw(kRing));
    Spend(max_lines, loses);
    if (granter_.waiting_rings() != 0) Serve(loses);
    granter_.CheckInvariants();
    ASSERT_LE(used_, kRing);
    ASSERT_LE(queue_.credit, kRing);
    ASSERT_EQ(credits_.At(0, kQueueVc).accepted, sent_);
  }
  uint32_t sent() const { return sent_; }

 private:
  static constexpr uint32_t kRing = 512;

  uint32_t Draw(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
  CreditGranter::Room RoomOf() const {
    return {.claimed = true, .capacity = kRing, .free = int64_t{kRing} - used_};
  }
  void Serve(bool loses) {
    using Verdict = CreditGranter::Verdict;
    CreditRing& ring = granter_.TakeRing();
    const auto decision = granter_.ServeFirst(credits_, kQueueVc, RoomOf(), true);
    const bool grants = decision.verdict == Verdict::kGrant;
    if (grants) CreditGranter::OnSent(credits_, kQueueVc, decision);
    if (decision.verdict != Verdict::kRingFull) granter_.RotateFeeds(ring);
    granter_.PutBack(ring);
    if (grants || decision.verdict == Verdict::kInform) ToSender(decision.message, loses);
    if (!grants) return;
    if (const auto reclaim = granter_.ReclaimAfterGrant(credits_, kQueueVc, 0, RoomOf(), now_)) {
      ToSender(reclaim->message, loses);
    }
  }
  void Spend(uint32_t max_lines, bool loses) {
    for (int i = 0; i < 8; ++i) {
      if (queue_.first_lines == 0) queue_.first_lines = 1 + Draw(max_lines);
      if (queue_.first_lines > queue_.credit) break;
      queue_.credit -= queue_.first_lines;
      sent_ += queue_.first_lines;
      used_ += queue_.first_lines;
      granter_.OnAccepted(credits_, 0, kQueueVc, credits_.At(0, kQueueVc), queue_.first_lines,
                          queue_.first_lines);
      queue_.first_lines = 0;
    }
    if (queue_.first_lines == 0) return;
    if (!spender_.waiting()) {
      if (const auto request = spender_.Wait(queue_, now_)) ToReceiver(*request, loses);
    } else if (now_ >= spender_.deadline()) {
      Take(spender_.OnDeadline(queue_, now_), loses);
    }
  }
  void Take(const Outcome& outcome, bool loses) {
    queue_.credit = outcome.credit;
    if (outcome.message) ToReceiver(*outcome.message, loses);
  }
  void ToSender(const Credit& grant, bool loses) {
    if (!loses || Draw(3) != 0) Take(spender_.OnGrant(grant, queue_), loses);
  }
  void ToReceiver(const Credit& request, bool loses) {
    if (loses && Draw(3) == 0) return;
    if (const auto answer = granter_.OnRequest(credits_, 0, request, RoomOf())) {
      ToSender(*answer, loses);
    }
  }

  std::mt19937 random_;
  Time now_{};
  CreditSpender spender_;
  Queue queue_{.vc = kQueueVc};
  RxCredits credits_;
  CreditGranter granter_{1};
  uint32_t used_ = 0;  // lines of the ring
  uint32_t sent_ = 0;
};

TEST(CreditPairTest, LostCreditsDelayButStopNothing) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    CreditPair pair(seed);
    const uint32_t max_lines = 1 + seed % 40;
    for (int phase = 0; phase < 20; ++phase) {
      const uint32_t before = pair.sent();
      for (int i = 0; i < 1000; ++i) {
        pair.Poll(max_lines, phase % 2 == 0);
        if (testing::Test::HasFatalFailure()) return;
      }
      ASSERT_GT(pair.sent(), before) << phase;
    }
  }
}

}  // namespace
}  // namespace suede
