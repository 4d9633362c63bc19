// SPDX-License-Identifier: Apache-2.0
// An lcore's samples of an instance's load.
#include <gtest/gtest.h>

#include "bench.h"
#include "lcore/record_snapshot.h"

namespace suede {
namespace {

class RecordTest : public PipelineTest {
 protected:
  // The host's answers, a piece in each turn.
  uint32_t Ask(Host& host, RecordSnapshot& snapshot, bool record = true) {
    snapshot.record = record;
    snapshot.first = 0;
    for (uint32_t pieces = 1;; ++pieces) {
      snapshot.done = false;
      EXPECT_TRUE(host.pipeline->mailbox().requests.Push(request::Record{.snapshot = &snapshot}));
      host.pipeline->Poll(network.now());
      EXPECT_TRUE(snapshot.done);
      if (!snapshot.more) return pieces;
      snapshot.first = snapshot.next;
    }
  }
  void SetUp() override { params.transport.psn_scope = PsnScope::kVc; }
};

TEST_F(RecordTest, SumsGrowAsTheCountersDo) {
  Host& left = AddHost(0, 2);
  Host& right = AddHost(1, 2);
  Client& sender = Attach(left);
  Client& receiver = Attach(right);
  RecordSnapshot of_left, of_right;
  Ask(left, of_left);
  Ask(right, of_right);
  EXPECT_EQ(of_left.paths[0][2], PathLoad{});
  for (uint8_t i = 0; i < 20; ++i) sender.Send(TestCommand(8, 16, i), 1, i % 2 == 0 ? 0 : 2);
  size_t got = 0;
  ASSERT_TRUE(RunUntil([&] {
    got += receiver.Receive(0).size() + receiver.Receive(2).size();
    return got == 20;
  }));
  Run(milliseconds(1));
  Ask(left, of_left);
  Ask(right, of_right);
  const PathLoad sums[] = {of_left.paths[0][0], of_left.paths[0][2], of_right.paths[0][0],
                           of_right.paths[0][2]};
  for (const PathLoad& each : {sums[0], sums[1]}) {
    EXPECT_GT(each.tx_bytes, 0u);
    EXPECT_EQ(each.rx_bytes, 0u);
    EXPECT_EQ(each.inflight_pdus, 0u);
  }
  EXPECT_EQ(sums[0].tx_pdus + sums[1].tx_pdus, left.Count(Counter::kTxPdus));
  EXPECT_EQ(sums[0].tx_bytes + sums[1].tx_bytes, left.Count(Counter::kTxCommandBytes));
  EXPECT_EQ(sums[2].rx_pdus + sums[3].rx_pdus, right.Count(Counter::kRxPdus));
  EXPECT_EQ(sums[2].rx_bytes + sums[3].rx_bytes, right.Count(Counter::kRxCommandBytes));
  EXPECT_EQ(of_left.paths[0][1], PathLoad{});
  EXPECT_TRUE(of_right.vcs[0].ring_lines.has_value());
}

// PDUs that wait or are in flight are seen at their place.
TEST_F(RecordTest, StatesAreThoseOfTheMoment) {
  params.transport.window_pdus = 2;
  Host& left = AddHost(0, 2);
  AddHost(1, 2);
  Client& sender = Attach(left);
  Client& receiver = Attach(*hosts[1]);
  sender.Send(TestCommand(8, 16, 1), 1, 3);
  ASSERT_TRUE(RunUntil([&] { return !receiver.Receive(3).empty(); }));
  for (uint8_t i = 0; i < 40; ++i) sender.Send(TestCommand(8, 200, i), 1, 3);
  RecordSnapshot snapshot;
  // Only the sender polls, so nothing is acknowledged.
  for (int i = 0; i < 20; ++i) left.pipeline->Poll(network.now());
  Ask(left, snapshot);
  EXPECT_EQ(snapshot.paths[0][3].inflight_pdus, 2u);
  EXPECT_GT(snapshot.paths[0][3].inflight_bytes, 400u);
  EXPECT_GT(snapshot.queued_pdus, 0u);
  EXPECT_GT(snapshot.vcs[3].queued_octets, 0u);
  EXPECT_GT(snapshot.vcs[3].credit_lines, 0u);
  EXPECT_EQ(snapshot.vcs[2].queued_octets, 0u);
  const uint64_t waiting = snapshot.tx_ring_lines;
  size_t got = 0;
  ASSERT_TRUE(RunUntil([&] { return (got += receiver.Receive(3).size()) == 40; }));
  Run(milliseconds(1));
  Ask(left, snapshot);
  EXPECT_EQ(snapshot.paths[0][3].inflight_pdus, 0u);
  EXPECT_EQ(snapshot.queued_pdus + snapshot.vcs[3].queued_octets + snapshot.tx_ring_lines, 0u);
  EXPECT_LE(waiting, 40u * 5);
}

// Bytes are counted between the first snapshot and the last.
TEST_F(RecordTest, NothingIsCountedBehindTheEnd) {
  Host& left = AddHost(0, 2);
  Host& right = AddHost(1, 2);
  Client& sender = Attach(left);
  Client& receiver = Attach(right);
  const auto exchange = [&] {
    sender.Send(TestCommand(8, 16, 1), 1);
    ASSERT_TRUE(RunUntil([&] { return !receiver.Receive().empty(); }));
  };
  exchange();
  RecordSnapshot snapshot, of_right;
  Ask(left, snapshot);
  Ask(right, of_right);
  EXPECT_EQ(snapshot.paths[0][0].tx_bytes + of_right.paths[0][0].rx_bytes, 0u);
  exchange();
  Ask(left, snapshot, false);
  Ask(right, of_right, false);
  const uint64_t bytes = snapshot.paths[0][0].tx_bytes;
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(of_right.paths[0][0].rx_bytes, bytes);
  exchange();
  Ask(left, snapshot, false);
  Ask(right, of_right, false);
  EXPECT_EQ(snapshot.paths[0][0].tx_bytes, bytes);
  EXPECT_EQ(of_right.paths[0][0].rx_bytes, bytes);
  EXPECT_EQ(snapshot.paths[0][0].tx_pdus, 3u);
}

TEST_F(RecordTest, APieceIsBounded) {
  Host& host = AddHost(0, 200);
  RecordSnapshot snapshot;
  EXPECT_EQ(Ask(host, snapshot), 4u);  // of 256 connections: 199 peers with 4 each
  snapshot.instance = 1;
  EXPECT_EQ(Ask(host, snapshot), 1u);
}

}  // namespace
}  // namespace suede
