// SPDX-License-Identifier: Apache-2.0
#include "send/run_queue.h"

#include <gtest/gtest.h>

#include "lcore_rig.h"

namespace suede {
namespace {

uint32_t Queue(PeerIndex peer, Vc vc) { return Scheduler::IndexOf(peer, vc); }

class RunQueueTest : public ::testing::Test {
 protected:
  RunQueueTest() { queue.Reserve(2); }

  LcoreRig rig;
  RunQueue queue;
};

TEST_F(RunQueueTest, LanesTakeTurnsUntilTheyAreDone) {
  TransmitState& first = rig.Add().tx;
  TransmitState& second = rig.Add().tx;
  queue.Activate(first, Queue(0, 0));
  queue.Activate(second, Queue(0, 0));
  queue.Activate(first, Queue(1, 0));  // its lane is on the queue
  ASSERT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.front().instance, 0u);
  queue.EndTurn(first, /*done=*/false);
  EXPECT_EQ(queue.front().instance, 1u);
  queue.EndTurn(second, /*done=*/true);
  ASSERT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.front().instance, 0u);
  queue.Activate(second, Queue(2, 3));
  EXPECT_EQ(queue.size(), 2u);
}

TEST_F(RunQueueTest, StrictInstanceHasALaneForEachPlane) {
  LcoreRig planes(/*planes=*/2);
  TransmitState& tx = planes.Add().tx;
  ASSERT_EQ(tx.lanes, 2u);
  tx.SetLane(1, 1u << 2, 1);
  queue.Activate(tx, Queue(1, 1));
  ASSERT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.front().lane, 0u);
  queue.Activate(tx, Queue(1, 2));
  ASSERT_EQ(queue.size(), 2u);
  queue.EndTurn(tx, /*done=*/true);
  EXPECT_EQ(queue.front().lane, 1u);
}

TEST_F(RunQueueTest, BlockedQueuesReturnByTheirVcs) {
  TransmitState& tx = rig.Add().tx;
  for (const Vc vc : {Vc(0), Vc(2)}) {
    queue.Activate(tx, Queue(1, vc));
    ASSERT_EQ(tx.scheduler.Next(), Queue(1, vc));
    RunQueue::Block(tx, Queue(1, vc));
  }
  ASSERT_EQ(tx.blocked[1], 0b101);
  queue.Unblock(tx, 0, 0b1111);  // another peer
  EXPECT_FALSE(tx.scheduler.HasWork());
  queue.Unblock(tx, 1, 0b0011);
  EXPECT_EQ(tx.blocked[1], 0b100);
  ASSERT_TRUE(tx.scheduler.HasWork());
  EXPECT_EQ(tx.scheduler.Next(), Queue(1, 0));
  EXPECT_FALSE(tx.scheduler.HasWork());
}

TEST_F(RunQueueTest, InstanceParksOnceUntilAPauseEnds) {
  TransmitState& tx = rig.Add().tx;
  TransmitState& idle = rig.Add().tx;
  queue.Activate(tx, Queue(2, 1));
  queue.EndTurn(tx, /*done=*/true);  // all of its PDUs wait
  queue.Park(tx);
  queue.Park(tx);
  queue.Park(idle);
  EXPECT_TRUE(queue.empty());
  queue.WakeParked(rig.lcore.instances);
  ASSERT_EQ(queue.size(), 1u) << "without work an instance has no turn";
  EXPECT_EQ(queue.front().instance, 0u);
  queue.EndTurn(tx, /*done=*/true);
  queue.WakeParked(rig.lcore.instances);
  EXPECT_TRUE(queue.empty()) << "it is parked no longer";
}

}  // namespace
}  // namespace suede
