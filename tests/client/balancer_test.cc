// SPDX-License-Identifier: Apache-2.0
// The choice among queues.
#include "client/balancer.h"

#include <gtest/gtest.h>

#include <deque>

#include "segment_memory.h"

namespace suede {
namespace {

constexpr SegmentShape kShape{.queue_count = 1,
                              .tx_lines = 1024,
                              .rx_lines = 64,
                              .completion_count = 64,
                              .credit_lines = 1024,
                              .aggregate_lines = 1024};

class BalancerTest : public ::testing::Test {
 protected:
  // As of clients on several lcores: each queue has a segment of its own.
  struct Side {
    Side() : memory(kShape), shown(memory.base(), kShape, 0) {
      ring.emplace(memory.base(), 0);
      load.emplace(memory.base(), memory.offsets.bytes, 0);
    }
    SegmentMemory memory;
    std::optional<ClientQueue> ring;
    std::optional<LoadReader> load;
    LoadWriter shown;
  };

  Balancer Make(BalancePolicy policy, uint32_t count) {
    std::vector<BalancedQueue> queues;
    for (uint32_t i = 0; i < count; ++i) {
      sides.emplace_back();
      queues.push_back({.ring = &sides.back().ring, .load = &sides.back().load});
    }
    return Balancer(policy, queues);
  }
  void Send(uint32_t side, uint32_t lines = 1) {
    for (uint32_t i = 0; i < lines; ++i) {
      ASSERT_EQ(sides[side].ring->Send(TestCommand(8, 16, 1).To(1, 0)), SendResult::kOk);
    }
  }
  // The choices of each queue if each command is sent, and the daemon takes none.
  std::vector<uint32_t> Shares(Balancer& balancer, uint32_t commands, uint16_t xpuid = 1) {
    std::vector<uint32_t> shares(sides.size());
    for (uint32_t i = 0; i < commands; ++i) {
      const uint32_t chosen = balancer.Choose(xpuid);
      ++shares[chosen];
      Send(chosen);
    }
    return shares;
  }
  // Choices go by values that were read some choices before.
  void Recheck(Balancer& balancer) {
    for (int i = 0; i < 16; ++i) balancer.Choose(1);
  }

  std::deque<Side> sides;
};

TEST_F(BalancerTest, RoundRobinTakesTurnsWhateverTheLoad) {
  Balancer balancer = Make(BalancePolicy::kRoundRobin, 3);
  sides[1].shown.Show({.load = 1'000'000});
  for (uint32_t i = 0; i < 30; ++i) EXPECT_EQ(balancer.Choose(static_cast<uint16_t>(i)), i % 3);
  EXPECT_EQ(balancer.Choose(1, 0b001), 1u);
  EXPECT_EQ(balancer.Choose(1, 0b101), 1u);
  EXPECT_EQ(balancer.Choose(1, 0b011), 2u);
  EXPECT_TRUE(balancer.MayTryOthers());
}

TEST_F(BalancerTest, HashKeepsADestinationOnItsQueue) {
  Balancer balancer = Make(BalancePolicy::kDestinationHash, 4);
  EXPECT_FALSE(balancer.MayTryOthers());
  for (const uint32_t step : {1u, 2u, 8u, 64u}) {
    std::vector<uint32_t> shares(4);
    for (uint32_t xpuid = 0; xpuid < SUEDE_XPUS; xpuid += step) {
      const uint32_t chosen = balancer.Choose(static_cast<uint16_t>(xpuid));
      ASSERT_LT(chosen, 4u);
      ++shares[chosen];
      sides[chosen].shown.Show({.load = xpuid * 100});
      EXPECT_EQ(balancer.Choose(static_cast<uint16_t>(xpuid)), chosen);
    }
    const uint32_t even = SUEDE_XPUS / step / 4;
    for (const uint32_t share : shares) {
      EXPECT_GE(share, even / 2) << step;
      EXPECT_LE(share, even * 2) << step;
    }
  }
}

TEST_F(BalancerTest, EqualsTakeTurns) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 3);
  EXPECT_EQ(Shares(balancer, 300), (std::vector<uint32_t>{100, 100, 100}));
}

TEST_F(BalancerTest, OfEqualsTheOneBehindTheLastChoiceIsNext) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 4);
  EXPECT_EQ(balancer.Choose(1, 0b0011), 2u);
  EXPECT_EQ(balancer.Choose(1), 3u);
  EXPECT_EQ(balancer.Choose(1, 0b0001), 1u);
  EXPECT_EQ(balancer.Choose(1, 0b0110), 3u);
  EXPECT_EQ(balancer.Choose(1), 0u);
}

TEST_F(BalancerTest, TheLeastLoadedIsChosenUntilTheyAreEven) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 2);
  sides[0].shown.Show({.load = 100});
  // The first hundred go to the other; then both have a hundred lines, and share.
  EXPECT_EQ(Shares(balancer, 100), (std::vector<uint32_t>{0, 100}));
  EXPECT_EQ(Shares(balancer, 100), (std::vector<uint32_t>{50, 50}));
}

TEST_F(BalancerTest, CreditThatComesBackMakesAQueueBetter) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 2);
  Send(0, 60);
  Send(1, 50);
  EXPECT_EQ(balancer.Choose(1), 1u);
  CreditWriter credits(sides[0].memory.base(), kShape, 0);
  ASSERT_TRUE(credits.Take(1, 0, 60));
  credits.Return(1, 0, 60);
  Recheck(balancer);
  EXPECT_EQ(balancer.Choose(1), 0u);
}

TEST_F(BalancerTest, PausedThenUnreachableThenStoppedComeLast) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 4);
  DestinationMap none;
  DestinationMap seven;
  seven.Set(7, true);
  sides[0].shown.ShowMaps(seven, none);
  sides[1].shown.ShowMaps(none, seven);
  SetQueueState(sides[2].memory.base(), 0, SUEDE_QUEUE_BROKEN);
  sides[3].shown.Show({.load = 1'000'000});
  EXPECT_EQ(balancer.Choose(7), 3u);
  EXPECT_EQ(balancer.Choose(7, 0b1000), 1u);
  EXPECT_EQ(balancer.Choose(7, 0b1010), 0u);
  EXPECT_EQ(balancer.Choose(7, 0b1011), 2u);
  // Other destinations are none the worse.
  EXPECT_NE(balancer.Choose(8), 3u);
}

TEST_F(BalancerTest, AnInstanceOutOfServiceComesLast) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 2);
  sides[0].shown.Show({.flags = SUEDE_LOAD_DOWN});
  sides[1].shown.Show({.load = 500});
  EXPECT_EQ(Shares(balancer, 40), (std::vector<uint32_t>{0, 40}));
}

TEST_F(BalancerTest, ADaemonThatShowsNothingIsBalancedByWhatWasSent) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 2);
  for (Side& side : sides) {
    side.memory.head()->load = 0;
    side.load.emplace(side.memory.base(), side.memory.offsets.bytes, 0);
  }
  Send(0, 20);
  EXPECT_EQ(Shares(balancer, 40), (std::vector<uint32_t>{10, 30}));
}

TEST_F(BalancerTest, AQueueThatWasResetIsAsGoodAsNew) {
  Balancer balancer = Make(BalancePolicy::kLeastLoaded, 2);
  Send(0, 60);
  CreditWriter credits(sides[0].memory.base(), kShape, 0);
  ASSERT_TRUE(credits.Take(1, 0, 60));
  credits.Return(1, 0, 60);
  Send(1, 5);
  EXPECT_EQ(balancer.Choose(1), 0u);
  credits.Restart();
  sides[0].ring->Restart(false);
  EXPECT_EQ(balancer.Choose(1), 0u);
  sides[0].ring.reset();  // and one that is unconnected is not chosen
  EXPECT_EQ(balancer.Choose(1), 1u);
}

}  // namespace
}  // namespace suede
