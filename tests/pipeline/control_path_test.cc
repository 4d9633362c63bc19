// SPDX-License-Identifier: Apache-2.0
// Requests of the control thread to an lcore: a queue's reset (docs/shared-memory.md, "Reset") and
// the drain before the end.
#include "bench.h"

namespace suede {
namespace {

constexpr int kReset = SUEDE_STATUS_RESET;

class ControlPathTest : public PipelineTest {
 protected:
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    client = &Attach(*a);
    far = &Attach(*b);
  }
  const suede_credits& Credits() {
    return *AtOffset<suede_credits>(client->memory.base(), client->memory.offsets.credits[0]);
  }
  LcoreStatus Reset(uint16_t queue = 0) {
    return Ask(*a, request::ResetQueue{.queue = queue, .client = client->number});
  }
  void AskForDrain() { AskForDrain(*a); }
  void AskForDrain(Host& host) { host.pipeline->mailbox().requests.Push(request::Drain{}); }
  bool Drained() { return Drained(*a); }
  bool Drained(Host& host) {
    LcoreReply reply;
    return host.pipeline->mailbox().replies.Pop(reply) && reply.kind == LcoreReplyKind::kDrain &&
           reply.status == LcoreStatus::kDone;
  }
  uint32_t LinesInRing() {
    return client->memory.tx()->head.value - client->memory.tx()->tail.value;
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* client = nullptr;
  Client* far = nullptr;
};

// ---- Reset.

TEST_F(ControlPathTest, ResetDiscardsWhatWasNotPackedAndKeepsTheCreditOfWhatWas) {
  StartPair();
  for (uint64_t tag = 0; tag < 4; ++tag) client->SendTagged(tag, 1);
  a->pipeline->Poll(network.now());  // packed, and held until the peer has said HELLO
  for (uint64_t tag = 4; tag < 44; ++tag) client->SendTagged(tag, 1);
  ASSERT_EQ(Reset(), LcoreStatus::kDone);

  EXPECT_EQ(client->queues[0].state(), SUEDE_QUEUE_READY);
  EXPECT_EQ(client->memory.tx()->head.value, 0u);
  EXPECT_EQ(client->memory.tx()->tail.value, 0u);
  EXPECT_EQ(Credits().aggregate_returned, 0u - 4);
  EXPECT_EQ(Credits().returned[1 * kVcCount], 0u - 4);
  EXPECT_EQ(a->Count(Counter::kTxReset), 40u);

  // The client finds the tags of discarded commands at once; packed ones go on.
  std::vector<suede_completion> discarded = client->Completions();
  ASSERT_EQ(discarded.size(), 40u);
  for (size_t i = 0; i < discarded.size(); ++i) {
    EXPECT_EQ(discarded[i].tag, i + 4);
    EXPECT_EQ(discarded[i].status, kReset);
    EXPECT_EQ(discarded[i].xpuid, 1);
  }
  EXPECT_EQ(Statuses(*client, 4), std::vector<int>(4, kOk));
  EXPECT_EQ(far->Receive(), (std::vector<uint8_t>{0, 3, 6, 9}));
  ExpectNoFramesOut();
}

TEST_F(ControlPathTest, CreditOfWhatWasPackedBeforeAResetComesBackWhenItLeaves) {
  StartPair();
  for (uint64_t tag = 0; tag < 4; ++tag) client->SendTagged(tag, 1);
  a->pipeline->Poll(network.now());
  ASSERT_EQ(Reset(), LcoreStatus::kDone);
  client->queues[0].Restart(false);
  EXPECT_EQ(client->queues[0].Credit(1, 0), shape.credit_lines - 4);

  // The rest can be used while the old commands are still held.
  uint64_t tag = 4;
  while (client->SendTagged(tag, 1) == SendResult::kOk) ++tag;
  EXPECT_EQ(tag, shape.credit_lines);
  EXPECT_EQ(Statuses(*client, tag), std::vector<int>(tag, kOk));
  EXPECT_EQ(a->Count(Counter::kTxNoCredit), 0u);
  EXPECT_EQ(far->Receive().size(), tag);
  EXPECT_EQ(Credits().returned[1 * kVcCount], shape.credit_lines - 4);
  EXPECT_EQ(Credits().aggregate_returned, shape.credit_lines - 4);
  EXPECT_EQ(client->queues[0].Credit(1, 0), shape.credit_lines);
}

TEST_F(ControlPathTest, ResetLeavesTheClientsOtherQueuesAlone) {
  shape.queue_count = 2;
  StartPair();
  client->Send(TestCommand(8, 16, 1), 1, 0, 0, 0, 0);
  client->Send(TestCommand(8, 16, 2), 1, 0, SUEDE_RECORD_COMPLETION, 9, 1);
  ASSERT_EQ(Reset(0), LcoreStatus::kDone);
  Run(milliseconds(2));
  EXPECT_EQ(far->Receive(), std::vector<uint8_t>{6});
  const std::vector<suede_completion> completions = client->Completions(1);
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].status, kOk);
  EXPECT_EQ(Reset(2), LcoreStatus::kUnknown);
}

TEST_F(ControlPathTest, ResetBringsABrokenQueueBack) {
  StartPair();
  client->SendTagged(0, 1);
  client->memory.tx()->head.value = shape.tx_lines + 7;
  a->pipeline->Poll(network.now());
  EXPECT_EQ(client->queues[0].state(), SUEDE_QUEUE_BROKEN);
  ASSERT_EQ(Reset(), LcoreStatus::kDone);
  client->queues[0].Restart(true);
  EXPECT_EQ(a->Count(Counter::kTxReset), 0u);  // a broken ring is discarded unread
  client->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*client, 1), std::vector<int>{kOk});
  EXPECT_EQ(far->Receive().size(), 1u);
}

// ---- Drain.

TEST_F(ControlPathTest, DrainEndsOnceAllThatWasHandedOverIsAcknowledged) {
  StartPair();
  for (uint64_t tag = 0; tag < 100; ++tag) client->SendTagged(tag, 1, tag % kVcCount);
  Run(microseconds(20));
  for (uint64_t tag = 100; tag < 200; ++tag) client->SendTagged(tag, 1, tag % kVcCount);
  AskForDrain();
  b->port->SetLink(false);  // for a while nothing gets through
  Run(microseconds(500));
  EXPECT_FALSE(Drained());
  b->port->SetLink(true);
  ASSERT_TRUE(RunUntil([&] { return Drained(); }));
  EXPECT_TRUE(a->pipeline->IsQuiet());
  size_t received = 0;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) received += far->Receive(vc).size();
  EXPECT_EQ(received, 200u);
  EXPECT_EQ(Statuses(*client, 200), std::vector<int>(200, kOk));
}

// The peer, or the cable, is gone for good more often than for a moment.
TEST_F(ControlPathTest, DrainDoesNotWaitForAcknowledgementsThatNoLinkTakes) {
  StartPair();
  client->SendTagged(0, 1);
  ASSERT_TRUE(RunUntil([&] { return b->Count(Counter::kRxCommands) == 1; }));
  ASSERT_FALSE(b->pipeline->IsQuiet());  // the acknowledgement is delayed
  b->port->SetLink(false);
  AskForDrain(*b);
  b->pipeline->Poll(network.now());
  EXPECT_TRUE(Drained(*b));
}

TEST_F(ControlPathTest, CommandsThatComeAfterTheDrainStayInTheRing) {
  StartPair();
  client->SendTagged(0, 1);
  AskForDrain();
  ASSERT_TRUE(RunUntil([&] { return Drained(); }));
  EXPECT_EQ(Statuses(*client, 1), std::vector<int>{kOk});
  // By clients that do not mind being in reset.
  Client& late = Attach(*a, 0);
  for (Client* one : {client, &late}) {
    EXPECT_EQ(one->SendTagged(0, 1), SendResult::kInReset);
    static_cast<suede_segment*>(one->memory.base())->queue_state[0].value = SUEDE_QUEUE_READY;
    EXPECT_EQ(one->SendTagged(0, 1), SendResult::kOk);
  }
  Run(milliseconds(2));
  EXPECT_EQ(LinesInRing(), 1u);
  EXPECT_TRUE(late.Completions().empty());
  EXPECT_EQ(a->Count(Counter::kTxCommands), 1u);
  EXPECT_EQ(far->Receive().size(), 1u);
}

// The client gets no more than a ring's worth of commands in, and the drain ends all the same.
TEST_F(ControlPathTest, ClientThatGoesOnSendingDoesNotHoldTheDrainUp) {
  shape.tx_lines = 64;
  StartPair();
  uint64_t sent = 0;
  const auto send_more = [&] {
    while (client->Send(TestCommand(8, 16, 1), 1) == SendResult::kOk) ++sent;
  };
  send_more();
  AskForDrain();
  ASSERT_TRUE(RunUntil([&] {
    send_more();
    far->Receive();
    return Drained();
  }));
  EXPECT_EQ(a->Count(Counter::kTxCommands), shape.tx_lines);
  EXPECT_EQ(LinesInRing(), sent - shape.tx_lines);
  EXPECT_EQ(b->Count(Counter::kRxCommands), shape.tx_lines);
}

}  // namespace
}  // namespace suede
