// SPDX-License-Identifier: Apache-2.0
// Two peers under schedules from seeds; peer_schedules plays more of them.
#include <gtest/gtest.h>

#include "peer_pair.h"

namespace suede {
namespace {

constexpr uint64_t kSchedules = 3000;

TEST(PeerPair, SchedulesHoldAgainstTheOracle) {
  PeerPair::Seen sum;
  for (uint64_t seed = 1; seed <= kSchedules; ++seed) {
    Dice dice(seed);
    PeerPair pair(&dice);
    for (uint32_t step = 0; step < 150 && pair.error().empty(); ++step) {
      pair.Step();
      pair.CheckInvariants();
    }
    ASSERT_EQ(pair.Settle(), "") << "peer_schedules " << seed << " 1";
    sum.delivered += pair.seen().delivered;
    sum.restarts += pair.seen().restarts;
    sum.planes_down += pair.seen().planes_down;
    sum.requeued += pair.seen().requeued;
    sum.peers_lost += pair.seen().peers_lost;
    for (int i = 0; i < 4; ++i) sum.ended[i] += pair.seen().ended[i];
  }
  // All of it does happen.
  EXPECT_GT(sum.delivered, 0u);
  EXPECT_GT(sum.restarts, 0u);
  EXPECT_GT(sum.planes_down, 0u);
  EXPECT_GT(sum.requeued, 0u);
  EXPECT_GT(sum.peers_lost, 0u);
  for (const uint64_t ended : sum.ended) EXPECT_GT(ended, 0u);
}

}  // namespace
}  // namespace suede
