// SPDX-License-Identifier: Apache-2.0
// Traces of single PDUs through the lcores of both ends.
#include "lcore/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bench.h"

namespace suede {
namespace {

class TraceTest : public PipelineTest {
 protected:
  // The host's answers, a piece in each turn. Returns their number.
  uint32_t Ask(Host& host, TraceWish wish, const TraceSettings& settings = {}) {
    snapshot_.wish = wish;
    snapshot_.settings = settings;
    snapshot_.first = 0;
    for (uint32_t pieces = 1;; ++pieces) {
      snapshot_.done = false;
      EXPECT_TRUE(host.pipeline->mailbox().requests.Push(request::Trace{.snapshot = &snapshot_}));
      host.pipeline->Poll(network.now());
      EXPECT_TRUE(snapshot_.done);
      if (!snapshot_.more) return pieces;
      snapshot_.first = snapshot_.next;
    }
  }
  std::vector<TraceRow> Rows(Host& host) {
    Ask(host, TraceWish::kRead);
    return {snapshot_.rows.begin(), snapshot_.rows.begin() + snapshot_.count};
  }
  static std::vector<TraceRow> Of(const std::vector<TraceRow>& rows, bool received) {
    std::vector<TraceRow> of;
    std::ranges::copy_if(rows, std::back_inserter(of),
                         [=](const TraceRow& row) { return row.is_received == received; });
    return of;
  }
  static size_t Count(const std::vector<TraceRow>& rows, TraceState state) {
    return static_cast<size_t>(std::ranges::count(rows, state, &TraceRow::state));
  }
  void AddPair() {
    left = &AddHost(0, 2);
    right = &AddHost(1, 2);
    sender = &Attach(*left);
    receiver = &Attach(*right);
  }
  // Sends a command alone in its PDU, and awaits its acknowledgement.
  void SendOne(uint8_t seed, uint8_t vc = 0) {
    const uint64_t before = right->Count(Counter::kRxPdus);
    sender->Send(TestCommand(8, 16, seed), 1, vc);
    ASSERT_TRUE(RunUntil([&] { return right->Count(Counter::kRxPdus) == before + 1; }));
    Run(microseconds(200));
  }

  Host* left = nullptr;
  Host* right = nullptr;
  Client* sender = nullptr;
  Client* receiver = nullptr;
  TraceSnapshot snapshot_;
};

TEST_F(TraceTest, FollowsAPduFromTheQueueToItsReader) {
  AddPair();
  Ask(*left, TraceWish::kBegin);
  Ask(*right, TraceWish::kBegin);
  SendOne(1, 2);
  std::vector<TraceRow> sent = Rows(*left);
  std::vector<TraceRow> received = Rows(*right);
  ASSERT_EQ(sent.size(), 1u);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].state, TraceState::kDelivered);
  EXPECT_EQ(received[0].At(TraceStage::kRead), kNever);
  const Time read_from = network.now();
  EXPECT_EQ(receiver->Receive(2).size(), 1u);
  Run(microseconds(10));
  received = Rows(*right);
  const TraceRow& tx = sent[0];
  const TraceRow& rx = received[0];
  EXPECT_EQ(tx.state, TraceState::kAcked);
  EXPECT_EQ(rx.state, TraceState::kRead);
  EXPECT_EQ(tx.psn, rx.psn);
  EXPECT_EQ(tx.path.vc, 2u);
  EXPECT_EQ(rx.path.vc, 2u);
  EXPECT_EQ(tx.path.peer_xpuid, 1u);
  EXPECT_EQ(rx.path.peer_xpuid, 0u);
  EXPECT_EQ(tx.commands, 1u);
  EXPECT_GT(tx.bytes, 16u);
  EXPECT_EQ(tx.transmissions, 1u);
  EXPECT_LE(tx.At(TraceStage::kQueued), tx.At(TraceStage::kStaged));
  EXPECT_LE(tx.At(TraceStage::kStaged), tx.At(TraceStage::kSent));
  EXPECT_LT(tx.At(TraceStage::kSent), rx.At(TraceStage::kReceived));
  EXPECT_LE(rx.At(TraceStage::kReceived), rx.At(TraceStage::kDelivered));
  EXPECT_LT(rx.At(TraceStage::kDelivered), tx.At(TraceStage::kAcked));
  EXPECT_GE(rx.At(TraceStage::kRead), read_from);
}

TEST_F(TraceTest, BothEndsTakeTheSamePdus) {
  params.transport.psn_scope = PsnScope::kVc;
  AddPair();
  const TraceSettings settings{.peer_xpuid = 1, .vc = 1, .stride = 4, .count = 3};
  Ask(*left, TraceWish::kBegin, settings);
  Ask(*right, TraceWish::kBegin, {.peer_xpuid = 0, .vc = 1, .stride = 4, .count = 3});
  for (uint8_t i = 0; i < 20; ++i) {
    SendOne(i, 1);
    SendOne(i, 3);
    receiver->Receive(1);
    receiver->Receive(3);
  }
  std::vector<uint16_t> psns;
  for (const TraceRow& row : Rows(*left)) {
    EXPECT_EQ(row.path.vc, 1u);
    EXPECT_EQ(row.psn.value() % 4, 0);
    psns.push_back(row.psn.value());
  }
  EXPECT_EQ(psns.size(), 3u);
  std::vector<uint16_t> at_the_other_end;
  for (const TraceRow& row : Rows(*right)) at_the_other_end.push_back(row.psn.value());
  EXPECT_EQ(psns, at_the_other_end);
  // Each direction has ended by itself.
  EXPECT_EQ(left->pipeline->instance(0).tx.trace, nullptr);
  EXPECT_FALSE(right->pipeline->instance(0).trace.follows_received());
  EXPECT_FALSE(right->pipeline->instance(0).peers.connections[1].rx().traced());
}

TEST_F(TraceTest, AnotherPeerHasNoRows) {
  AddPair();
  Ask(*left, TraceWish::kBegin, {.peer_xpuid = 7});
  Ask(*right, TraceWish::kBegin, {.peer_xpuid = 7});
  SendOne(1);
  EXPECT_TRUE(Rows(*left).empty());
  EXPECT_TRUE(Rows(*right).empty());
}

TEST_F(TraceTest, LostPdusAreSentAgainAndArriveAheadOrTwice) {
  AddPair();
  SendOne(0);
  receiver->Receive();
  Ask(*left, TraceWish::kBegin, {.count = 64});
  Ask(*right, TraceWish::kBegin, {.count = 64});
  // Frames of both directions are lost for a while.
  left->port->faults().loss = 0.3;
  right->port->faults().loss = 0.3;
  for (uint8_t i = 0; i < 12; ++i) {
    sender->Send(TestCommand(8, 200, i), 1);
    Run(microseconds(20));
  }
  ASSERT_TRUE(RunUntil([&] { return left->Count(Counter::kTxRetransmissions) > 3; }));
  left->port->faults() = right->port->faults() = {};
  ASSERT_TRUE(RunUntil([&] {
    receiver->Receive();
    return right->Count(Counter::kRxCommands) == 13;
  }));
  Run(milliseconds(5));
  const std::vector<TraceRow> sent = Rows(*left);
  const std::vector<TraceRow> received = Rows(*right);
  EXPECT_EQ(Count(sent, TraceState::kAcked), sent.size());
  EXPECT_TRUE(std::ranges::any_of(sent, [](const TraceRow& row) { return row.transmissions > 1; }));
  EXPECT_GT(Count(received, TraceState::kAhead) + Count(received, TraceState::kDuplicate), 0u);
  ASSERT_LT(received.size(), Trace::kMaxOfDirection);
  EXPECT_EQ(Count(received, TraceState::kRead), sent.size());
}

TEST_F(TraceTest, EarlyPdusOfStrictOrderAreDeliveredLater) {
  params.transport.recovery = LossRecovery::kSelective;
  params.transport.reorder_allowance = microseconds(50);
  AddPair();
  SendOne(0);
  receiver->Receive();
  left->port->faults().loss = 1;
  sender->Send(TestCommand(8, 200, 1), 1);
  Run(microseconds(6));
  left->port->faults() = {};
  Ask(*right, TraceWish::kBegin);
  sender->Send(TestCommand(8, 200, 2), 1);
  Run(microseconds(12));
  std::vector<TraceRow> received = Rows(*right);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].state, TraceState::kEarly);
  ASSERT_TRUE(RunUntil([&] { return right->Count(Counter::kRxCommands) == 3; }));
  received = Rows(*right);
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(Count(received, TraceState::kDelivered), 2u);
  EXPECT_GT(received[0].At(TraceStage::kDelivered), received[0].At(TraceStage::kReceived));
}

TEST_F(TraceTest, PdusWithoutAClientAreKept) {
  params.unclaimed_pdus = 1;
  params.counts_credit = false;
  left = &AddHost(0, 2);
  right = &AddHost(1, 2);
  sender = &Attach(*left);
  Ask(*right, TraceWish::kBegin);
  sender->Send(TestCommand(8, 16, 1), 1);
  ASSERT_TRUE(RunUntil([&] { return right->Count(Counter::kRxUnclaimed) == 1; }));
  sender->Send(TestCommand(8, 16, 2), 1);
  ASSERT_TRUE(RunUntil([&] { return right->Count(Counter::kRxNotReady) > 0; }));
  const std::vector<TraceRow> received = Rows(*right);
  ASSERT_GE(received.size(), 2u);
  EXPECT_EQ(received[0].state, TraceState::kKept);
  EXPECT_EQ(received[1].state, TraceState::kRefused);
}

TEST_F(TraceTest, PdusOfALostPeerAreGivenUp) {
  AddPair();
  SendOne(0);
  Ask(*left, TraceWish::kBegin);
  right->port->SetLink(false);
  sender->Send(TestCommand(8, 16, 1), 1);
  ASSERT_TRUE(
      RunUntil([&] { return Count(Rows(*left), TraceState::kGivenUp) == 1; }, milliseconds(500)));
  EXPECT_EQ(left->pipeline->instance(0).tx.trace, &left->pipeline->instance(0).trace)
      << "it has taken one of 16 PDUs";
}

TEST_F(TraceTest, UnreadPdusOfAClientThatEndsAreLost) {
  AddPair();
  Ask(*right, TraceWish::kBegin, {.count = 1});
  SendOne(1);
  EXPECT_EQ(Rows(*right)[0].state, TraceState::kDelivered);
  PipelineTest::Ask(*right, request::Detach{.client = receiver->number});
  Run(microseconds(50));
  EXPECT_EQ(Rows(*right)[0].state, TraceState::kLost);
  EXPECT_FALSE(right->pipeline->instance(0).trace.follows_received());
}

TEST_F(TraceTest, ClearDiscardsAndEnds) {
  AddPair();
  Ask(*left, TraceWish::kBegin);
  Ask(*right, TraceWish::kBegin);
  SendOne(1);
  Ask(*left, TraceWish::kEnd);
  Ask(*right, TraceWish::kEnd);
  SendOne(2);
  EXPECT_TRUE(Rows(*left).empty());
  EXPECT_TRUE(Rows(*right).empty());
}

TEST_F(TraceTest, APieceIsBounded) {
  params.transport.psn_scope = PsnScope::kVc;
  Host& host = AddHost(0, 200);
  EXPECT_EQ(Ask(host, TraceWish::kBegin), 4u);  // of 256 connections: 199 peers with 4 each
  snapshot_.instance = 1;
  EXPECT_EQ(Ask(host, TraceWish::kBegin), 1u);
}

}  // namespace
}  // namespace suede
