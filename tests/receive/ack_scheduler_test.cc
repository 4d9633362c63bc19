// SPDX-License-Identifier: Apache-2.0
// The lists on which a connection's acknowledgement waits.
#include "receive/ack_scheduler.h"

#include <gtest/gtest.h>

#include "lcore_rig.h"

namespace suede {
namespace {

class AckSchedulerTest : public ::testing::Test {
 protected:
  static constexpr Time kNow = TimeFromNs(1'000'000);

  Connection& connection(ConnectionIndex number) { return instance_.peers.connections[number]; }
  // PDUs are accepted, and an acknowledgement is scheduled after each.
  void Accept(ConnectionIndex number, uint32_t pdus, Time now = kNow) {
    for (uint32_t i = 0; i < pdus; ++i) {
      connection(number).rx().Accept();
      AckScheduler::Schedule(instance_.rx, instance_.ports, number, connection(number), now);
    }
  }
  const Fifo<AckDue>& delayed(uint32_t plane = 0) { return rig_.ports[plane]->ack_due[0].due; }
  const Fifo<ConnectionRef>& at_once(uint32_t plane = 0) { return rig_.ports[plane]->ack_now; }

  LcoreRig rig_{/*planes=*/2};
  Instance& instance_ = rig_.Add();
};

TEST_F(AckSchedulerTest, FirstPduBeginsTheDelay) {
  const ConnectionIndex number = instance_.map.At(1, 0, 0, 0);
  Accept(number, 3);
  ASSERT_EQ(delayed().size(), 1u);
  EXPECT_EQ(rig_.ports[0]->ack_due[0].due.front().connection, number);
  EXPECT_EQ(rig_.ports[0]->ack_due[0].due.front().since, kNow);
  EXPECT_TRUE(at_once().empty());
}

TEST_F(AckSchedulerTest, ManyPdusAreAcknowledgedAtOnce) {
  const ConnectionIndex number = instance_.map.At(1, 0, 0, 0);
  Accept(number, instance_.params.transport.ack_every_pdus - 1);
  EXPECT_TRUE(at_once().empty());
  Accept(number, 2);
  ASSERT_EQ(at_once().size(), 1u) << "once";
  EXPECT_EQ(rig_.ports[0]->ack_now.front().connection, number);
}

TEST_F(AckSchedulerTest, SmallWindowIsAcknowledgedAtAQuarter) {
  const ConnectionIndex number = instance_.map.At(2, 0, 0, 0);
  connection(number).rx().SetPeerWindow(8);
  Accept(number, 1);
  EXPECT_TRUE(at_once().empty());
  Accept(number, 1);
  EXPECT_EQ(at_once().size(), 1u);
}

TEST_F(AckSchedulerTest, DuplicateIsAnsweredAtOnce) {
  const ConnectionIndex number = instance_.map.At(0, 0, 0, 0);
  connection(number).rx().OnDuplicate(Psn(0xffff), instance_.params.transport);
  AckScheduler::Schedule(instance_.rx, instance_.ports, number, connection(number), kNow);
  EXPECT_EQ(at_once().size(), 1u);
  EXPECT_TRUE(delayed().empty());
}

TEST_F(AckSchedulerTest, NothingToAcknowledgeIsNotScheduled) {
  const ConnectionIndex number = instance_.map.At(0, 0, 0, 0);
  AckScheduler::Schedule(instance_.rx, instance_.ports, number, connection(number), kNow);
  EXPECT_TRUE(at_once().empty());
  EXPECT_TRUE(delayed().empty());
}

TEST_F(AckSchedulerTest, EachPlaneHasListsOfItsOwn) {
  Accept(instance_.map.At(1, 1, 0, 0), 1);
  EXPECT_TRUE(delayed(0).empty());
  EXPECT_EQ(delayed(1).size(), 1u);
}

}  // namespace
}  // namespace suede
