// SPDX-License-Identifier: Apache-2.0
#include "pack/scheduler.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

namespace suede {
namespace {

class SchedulerTest : public ::testing::Test {
 protected:
  void Put(PeerIndex peer, Vc vc, int pdus) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    for (int i = 0; i < pdus; ++i) {
      pool.emplace_back();
      s.queue(index).pdus.PushBack(&pool.back());
    }
    s.Activate(index);
  }
  uint32_t Serve() {
    const uint32_t index = s.Next();
    s.queue(index).pdus.PopFront();
    s.Requeue(index);
    return index;
  }
  std::vector<uint32_t> ServeAll() {
    std::vector<uint32_t> order;
    while (s.HasWork()) order.push_back(Serve());
    return order;
  }
  static uint32_t Q(PeerIndex peer, Vc vc) { return Scheduler::IndexOf(peer, vc); }
  std::deque<Pdu> pool;
  Scheduler s{1024};
};

TEST_F(SchedulerTest, RoundRobinOverTheVcs) {
  for (Vc vc = 0; vc < kVcCount; ++vc) Put(5, vc, 2);
  EXPECT_EQ(ServeAll(), (std::vector<uint32_t>{Q(5, 0), Q(5, 1), Q(5, 2), Q(5, 3), Q(5, 0),
                                               Q(5, 1), Q(5, 2), Q(5, 3)}));
}

TEST_F(SchedulerTest, RoundRobinOverTheQueuesOfAVc) {
  for (PeerIndex peer = 0; peer < 3; ++peer) Put(peer, 1, 2);
  EXPECT_EQ(ServeAll(),
            (std::vector<uint32_t>{Q(0, 1), Q(1, 1), Q(2, 1), Q(0, 1), Q(1, 1), Q(2, 1)}));
}

TEST_F(SchedulerTest, VcWithManyQueuesHasNoLargerShare) {
  for (PeerIndex peer = 0; peer < 100; ++peer) Put(peer, 0, 10);
  Put(7, 3, 100);
  std::map<uint32_t, int> per_vc;
  for (int i = 0; i < 100; ++i) ++per_vc[Scheduler::VcOf(Serve())];
  EXPECT_EQ(per_vc[0], 50);
  EXPECT_EQ(per_vc[3], 50);
}

TEST_F(SchedulerTest, EmptyQueueLeavesTheList) {
  Put(1, 0, 1);
  Serve();
  EXPECT_FALSE(s.HasWork());
  EXPECT_EQ(s.queue(Q(1, 0)).state, TxQueue::State::kIdle);
}

TEST_F(SchedulerTest, BlockedQueueWaitsUntilItIsActivated) {
  Put(1, 0, 1);
  Put(2, 0, 1);
  s.Block(s.Next());
  EXPECT_EQ(ServeAll(), std::vector<uint32_t>{Q(2, 0)});
  s.Activate(Q(1, 0));
  EXPECT_EQ(ServeAll(), std::vector<uint32_t>{Q(1, 0)});
}

TEST_F(SchedulerTest, ActivatingTwiceListsOnce) {
  Put(1, 0, 1);
  s.Activate(Q(1, 0));
  EXPECT_EQ(ServeAll().size(), 1u);
}

TEST_F(SchedulerTest, EveryQueueIsServedOncePerRound) {
  for (PeerIndex peer = 0; peer < 1024; ++peer) {
    for (Vc vc = 0; vc < kVcCount; ++vc) Put(peer, vc, 2);
  }
  std::map<uint32_t, int> served;
  for (uint32_t i = 0; i < 4096; ++i) ++served[Serve()];
  EXPECT_EQ(served.size(), 4096u);
}

// Next looks at no more than the four lists: the queues that are not on one cost nothing, which
// shows in that their memory need not even be there.
TEST_F(SchedulerTest, WorkDoesNotDependOnTheQueuesConfigured) {
  for (const uint32_t peers : {1u, 64u, 1024u}) {
    Scheduler scheduler(peers);
    const uint32_t index = Q(PeerIndex(peers - 1), 2);
    Pdu pdu;
    scheduler.queue(index).pdus.PushBack(&pdu);
    // States of the others that would be taken for work by anyone who looked at them.
    for (uint32_t i = 0; i < peers * kVcCount; ++i) {
      if (i != index) scheduler.queue(i).next_active = 0xdeadbeef;
    }
    scheduler.Activate(index);
    EXPECT_EQ(scheduler.Next(), index);
    EXPECT_FALSE(scheduler.HasWork());
  }
}

}  // namespace
}  // namespace suede
