// SPDX-License-Identifier: Apache-2.0
// An lcore's report on its connections.
#include "lcore/snapshot.h"

#include <gtest/gtest.h>

#include "bench.h"

namespace suede {
namespace {

class SnapshotTest : public PipelineTest {
 protected:
  // The host's answer, written in its next turn.
  static const ConnectionSnapshot& Ask(Host& host, ConnectionSnapshot& snapshot) {
    snapshot.done = false;
    EXPECT_TRUE(
        host.pipeline->mailbox().requests.Push(request::Connections{.snapshot = &snapshot}));
    host.pipeline->Poll(Time{});
    EXPECT_TRUE(snapshot.done);
    LcoreReply reply;
    EXPECT_FALSE(host.pipeline->mailbox().replies.Pop(reply));
    return snapshot;
  }
};

TEST_F(SnapshotTest, APieceIsBoundedAndTheNextGoesOn) {
  params.transport.psn_scope = PsnScope::kVc;
  Host& host = AddHost(0, 200);
  ConnectionSnapshot snapshot;
  snapshot.unused = true;
  uint32_t rows = 0;
  uint32_t pieces = 0;
  for (bool more = true; more; ++pieces) {
    Ask(host, snapshot);
    for (uint32_t i = 0; i < snapshot.count; ++i, ++rows) {
      EXPECT_EQ(snapshot.rows[i].peer_xpuid, rows / kVcCount + 1);  // 0 is itself
      EXPECT_EQ(snapshot.rows[i].vc, rows % kVcCount);
      EXPECT_EQ(snapshot.rows[i].state, ConnectionState::kNew);
    }
    more = snapshot.more;
    snapshot.first = snapshot.next;
  }
  EXPECT_EQ(rows, 199u * kVcCount);
  EXPECT_EQ(pieces, 7u);  // of 128 rows
  // Looking costs as little where nothing is found.
  snapshot.first = 0;
  snapshot.unused = false;
  Ask(host, snapshot);
  EXPECT_EQ(snapshot.count, 0u);
  EXPECT_EQ(snapshot.next, ConnectionSnapshot::kMaxLooks);
  EXPECT_TRUE(snapshot.more);
}

TEST_F(SnapshotTest, WhatIsAskedForNonsenseIsEmpty) {
  Host& host = AddHost(0, 3);
  ConnectionSnapshot snapshot;
  snapshot.unused = true;
  snapshot.instance = 1;
  EXPECT_EQ(Ask(host, snapshot).count, 0u);
  EXPECT_FALSE(snapshot.more);
  snapshot.instance = 0;
  snapshot.first = 1000;
  EXPECT_EQ(Ask(host, snapshot).count, 0u);
  EXPECT_FALSE(snapshot.more);
  snapshot.first = 0;
  snapshot.peer_xpuid = 2;
  EXPECT_EQ(Ask(host, snapshot).count, 1u);
  EXPECT_EQ(snapshot.rows[0].peer_xpuid, 2u);
}

TEST_F(SnapshotTest, PlanesAreThoseOfThePeerThatIsAskedFor) {
  planes = 2;
  Host& host = AddHost(0, 4);
  PlaneSnapshot snapshot;
  const auto ask = [&](uint32_t peer_xpuid) {
    snapshot.peer_xpuid = peer_xpuid;
    snapshot.done = false;
    EXPECT_TRUE(host.pipeline->mailbox().requests.Push(request::Planes{.snapshot = &snapshot}));
    host.pipeline->Poll(Time{});
    EXPECT_TRUE(snapshot.done);
  };
  ask(2);
  ASSERT_EQ(snapshot.count, 2u);
  for (uint8_t plane = 0; plane < 2; ++plane) {
    EXPECT_EQ(snapshot.rows[plane].peer_xpuid, 2);
    EXPECT_EQ(snapshot.rows[plane].plane, plane);
  }
  ask(PlaneSnapshot::kAnyPeer);
  EXPECT_EQ(snapshot.count, 6u);
  ask(9);
  EXPECT_EQ(snapshot.count, 0u);
}

}  // namespace
}  // namespace suede
