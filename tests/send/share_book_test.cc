// SPDX-License-Identifier: Apache-2.0
#include "send/share_book.h"

#include <gtest/gtest.h>

#include "lcore_rig.h"

namespace suede {
namespace {

class ShareBookTest : public ::testing::Test {
 protected:
  ShareBookTest() {
    rig_.params.inflight_pdus = 24;
    tx_ = &rig_.Add().tx;
    other_ = &rig_.Add().tx;
    run_queue_.Reserve(2);
    book_.ShareOut(rig_.ports[0]->own_shares);
  }

  // Lets PDUs leave while they may, at most `max`. Returns their number.
  uint32_t Leave(TransmitState& tx, PeerIndex peer, Vc vc, uint32_t max = ~0u) {
    uint32_t left = 0;
    for (; left < max && ShareBook::MayHold(tx, peer, vc); ++left) {
      uint32_t& held = tx.scheduler.queue(tx.DestinationOf(peer, vc)).held;
      tx.shares.held.OnTake(held);
      tx.held.OnTake(held);
      ++held;
    }
    return left;
  }
  void Wait(TransmitState& tx, PeerIndex peer, Vc vc) {
    const uint32_t index = Scheduler::IndexOf(peer, vc);
    run_queue_.Activate(tx, index);
    ASSERT_EQ(tx.scheduler.Next(), index);
    book_.Wait(tx, counters_, index);
  }
  uint64_t waits() const { return counters_.Get(Counter::kTxWaitsShare); }

  LcoreRig rig_;
  CounterBlock counters_;
  RunQueue run_queue_;
  ShareBook book_{rig_.lcore, run_queue_};
  TransmitState* tx_ = nullptr;
  TransmitState* other_ = nullptr;
};

TEST_F(ShareBookTest, EachDestinationKeepsAShareOfItsOwn) {
  const uint32_t much = Leave(*tx_, 0, 0);
  EXPECT_LT(much, 24u);
  EXPECT_GE(Leave(*tx_, 1, 0), 1u);
  EXPECT_GE(Leave(*tx_, 2, 0), 1u);
  EXPECT_FALSE(ShareBook::MayHold(*tx_, 0, 0));
  EXPECT_EQ(ShareBook::RoomOf(*tx_, 0, 0), 0u);
  EXPECT_GE(Leave(*other_, 0, 0), 1u) << "of the other instance, too";
}

TEST_F(ShareBookTest, RoomIsTheNumberThatMayLeave) {
  for (uint32_t has = 0; ShareBook::MayHold(*tx_, 0, 0); ++has) {
    const uint32_t room = ShareBook::RoomOf(*tx_, 0, 0);
    const uint32_t left = Leave(*tx_, 0, 0);
    EXPECT_EQ(left, room) << has;
    book_.Return(*tx_, 0, 0, left);
    Leave(*tx_, 0, 0, 1);
  }
}

TEST_F(ShareBookTest, WaitingQueueReturnsWhenPdusOfItsDestinationEnd) {
  const uint32_t much = Leave(*tx_, 0, 0);
  Wait(*tx_, 0, 0);
  EXPECT_EQ(waits(), 1u);
  EXPECT_FALSE(tx_->scheduler.HasWork());
  book_.Return(*tx_, 0, 0, 1);
  ASSERT_TRUE(tx_->scheduler.HasWork());
  EXPECT_EQ(tx_->scheduler.Next(), Scheduler::IndexOf(0, 0));
  EXPECT_EQ(Leave(*tx_, 0, 0), 1u);
  EXPECT_EQ(tx_->scheduler.queue(0).held, much);
}

// As many queues are rechecked as PDUs have ended, those first that have waited longest.
TEST_F(ShareBookTest, QueuesOfOthersReturnInTurn) {
  Leave(*tx_, 0, 0);
  Leave(*tx_, 1, 0);
  Leave(*other_, 2, 0);
  Wait(*tx_, 1, 0);
  Wait(*other_, 2, 0);
  Wait(*tx_, 1, 3);
  book_.Return(*tx_, 0, 0, 2);
  ASSERT_TRUE(tx_->scheduler.HasWork());
  EXPECT_EQ(tx_->scheduler.Next(), Scheduler::IndexOf(1, 0));
  EXPECT_FALSE(tx_->scheduler.HasWork());
  ASSERT_TRUE(other_->scheduler.HasWork());
  EXPECT_EQ(other_->scheduler.Next(), Scheduler::IndexOf(2, 0));
  book_.Return(*tx_, 0, 0, 1);
  ASSERT_TRUE(tx_->scheduler.HasWork());
  EXPECT_EQ(tx_->scheduler.Next(), Scheduler::IndexOf(1, 3));
}

// A wider bound lets all waiting queues try again, with the PDUs in flight counted on.
TEST_F(ShareBookTest, WaitingQueuesReturnWhenBoundsChange) {
  const uint32_t much = Leave(*tx_, 0, 0);
  Wait(*tx_, 0, 0);
  rig_.lcore.instances[0]->params.inflight_pdus = 4 * rig_.params.inflight_pdus;
  book_.Resize();
  ASSERT_TRUE(tx_->scheduler.HasWork());
  EXPECT_GT(much + Leave(*tx_, 0, 0), 24u);
}

}  // namespace
}  // namespace suede
