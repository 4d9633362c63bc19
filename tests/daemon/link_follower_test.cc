// SPDX-License-Identifier: Apache-2.0
// Events of a link to a neighbour (docs/link.md).
#include "daemon/link_follower.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace suede {
namespace {

class LinkFollowerTest : public ::testing::Test {
 protected:
  void Check(bool link_up = true) { follower.Check("p0", link_up, counters, events); }
  // Kinds of the events since the last call.
  std::vector<std::string> Kinds() {
    std::vector<std::string> kinds;
    const EventPage page = events.Read({.since = seen_});
    for (const Event* event : page.events) kinds.emplace_back(event->row().name);
    seen_ = page.next;
    return kinds;
  }
  LinkCounters counters;
  EventLog events;
  LinkFollower follower;

 private:
  uint64_t seen_ = 0;
};
using Strings = std::vector<std::string>;

TEST_F(LinkFollowerTest, ASilentNeighbourIsToldOnceUntilItIsHeard) {
  counters.Add(LinkCounter::kTxHellos, LinkFollower::kUnanswered);
  Check(false);
  EXPECT_EQ(Kinds(), Strings{}) << "the link is down";
  counters.Add(LinkCounter::kTxHellos, LinkFollower::kUnanswered - 1);
  Check();
  EXPECT_EQ(Kinds(), Strings{});
  counters.Add(LinkCounter::kTxHellos);
  Check();
  Check();
  EXPECT_EQ(Kinds(), Strings{"neighbour_silent"});
  counters.Add(LinkCounter::kTxHellos, 2 * LinkFollower::kUnanswered);
  Check();
  EXPECT_EQ(Kinds(), Strings{});
  counters.Add(LinkCounter::kRxHellos);
  Check();
  counters.Add(LinkCounter::kTxHellos, LinkFollower::kUnanswered);
  Check();
  EXPECT_EQ(Kinds(), Strings{"neighbour_silent"});
}

TEST_F(LinkFollowerTest, AStormOfCreditIsTold) {
  counters.Add(LinkCounter::kCreditStorms);
  Check();
  Check();
  EXPECT_EQ(Kinds(), Strings{"credit_storm"});
}

}  // namespace
}  // namespace suede
