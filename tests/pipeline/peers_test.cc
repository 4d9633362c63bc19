// SPDX-License-Identifier: Apache-2.0
// Peers that restart, cannot be reached, or have no room; classes and packing on the wire.
#include "bench.h"

namespace suede {
namespace {

class PeersTest : public PipelineTest {
 protected:
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

TEST_F(PeersTest, CommandsArriveAndComplete) {
  StartPair();
  ca->SendTagged(0, 1);
  ca->SendTagged(1, 1, 2);
  EXPECT_EQ(Statuses(*ca, 2), (std::vector<int>{0, 0}));
  EXPECT_EQ(cb->Receive(0).size(), 1u);
  EXPECT_EQ(cb->Receive(2).size(), 1u);
  ExpectNoFramesOut();
}

TEST_F(PeersTest, UnreachablePeerAndItsReturn) {
  StartPair();
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
  b->port->SetLink(false);
  ca->SendTagged(0, 1);
  ca->SendTagged(1, 1, 3);
  EXPECT_EQ(Statuses(*ca, 2), std::vector<int>(2, SUEDE_STATUS_IN_DOUBT));
  EXPECT_EQ(a->Count(Counter::kUnreachable), 1u);
  EXPECT_EQ(a->Count(Counter::kTxInDoubt), 2u);
  EXPECT_EQ(a->Count(Counter::kTxUnreachable), 0u);
  // Nothing is held for a peer that is lost, and it is certain that it was not sent.
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{SUEDE_STATUS_UNREACHABLE});
  EXPECT_EQ(a->Count(Counter::kTxUnreachable), 1u);
  b->port->SetLink(true);
  cb->Receive(0);
  Run(milliseconds(10));
  ca->SendTagged(0, 1);
  cb->SendTagged(0, 0);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
  EXPECT_EQ(Statuses(*cb, 1), std::vector<int>{0});
  EXPECT_EQ(cb->Receive(0).size(), 1u);
  ExpectNoFramesOut();
}

// A PDU that the device was never given cannot arrive, and is not sent once its client was told so;
// one that it was given may arrive whenever the device lets it go.
TEST_F(PeersTest, WhatTheDeviceHoldsIsInDoubtAndWhatItNeverTookIsUnreachable) {
  params.transport.pause_limit = {};
  constexpr uint64_t kRing = 64;
  StartPair();
  ca->SendTagged(0, 1);
  ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{0});
  ASSERT_EQ(cb->Receive().size(), 1u);
  a->port->SetPaused(true);
  constexpr uint64_t kCount = 120;
  for (uint64_t tag = 0; tag < kCount; ++tag) {
    ASSERT_EQ(ca->Send(TestCommand(8, 16, static_cast<uint8_t>(tag)), 1, 0,
                       SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION, tag),
              SendResult::kOk);
  }
  std::vector<int> want(kCount, SUEDE_STATUS_UNREACHABLE);
  std::fill_n(want.begin(), kRing, SUEDE_STATUS_IN_DOUBT);
  EXPECT_EQ(Statuses(*ca, kCount), want);
  EXPECT_EQ(a->Count(Counter::kTxInDoubt), kRing);
  EXPECT_EQ(a->Count(Counter::kTxUnreachable), kCount - kRing);
  a->port->SetPaused(false);
  Run(milliseconds(20));
  EXPECT_EQ(cb->Receive().size(), kRing);
  ExpectNoFramesOut();
}

TEST_F(PeersTest, RestartOfThePeer) {
  StartPair();
  for (uint64_t tag = 0; tag < 3; ++tag) {
    ca->SendTagged(0, 1);
    cb->SendTagged(0, 0);
    Statuses(*ca, 1);
    Statuses(*cb, 1);
  }
  b->port->SetLink(false);
  ca->SendTagged(0, 1);
  Run(microseconds(20));
  b->port->SetLink(true);
  Boot(*b, 2);
  Client& reborn = Attach(*b);
  reborn.SendTagged(0, 0);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{SUEDE_STATUS_PEER_RESET});
  EXPECT_EQ(Statuses(reborn, 1), std::vector<int>{0});
  EXPECT_EQ(a->Count(Counter::kPeerResets), 1u);
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
  EXPECT_EQ(reborn.Receive(0).size(), 1u);
}

TEST_F(PeersTest, UnclaimedPdusWaitAndAreDeliveredInOrderAfterTheClaim) {
  a = &AddHost(0, 2);
  b = &AddHost(1, 2);
  ca = &Attach(*a);
  cb = &Attach(*b, 0);
  for (uint8_t i = 1; i <= 5; ++i) {
    ca->Send(TestCommand(8, 16, i), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  }
  Run(milliseconds(2));
  EXPECT_EQ(b->Count(Counter::kRxUnclaimed), 5u);
  EXPECT_EQ(Ask(*b, request::Claim{.vc_mask = 1, .client = cb->number}), LcoreStatus::kDone);
  EXPECT_EQ(cb->Receive(0), (std::vector<uint8_t>{3, 6, 9, 12, 15}));
  ExpectNoFramesOut();
}

TEST_F(PeersTest, SecondClaimantIsRefused) {
  StartPair();
  Client& second = Attach(*b, 0);
  const request::Claim claim{.vc_mask = 2, .client = second.number};
  EXPECT_EQ(Ask(*b, claim), LcoreStatus::kClaimed);
  Ask(*b, request::Unclaim{.vc_mask = 2, .client = cb->number});
  EXPECT_EQ(Ask(*b, claim), LcoreStatus::kDone);
}

// With any scope: the sender knows that there is no room, and sends nothing there.
class FullRingTest : public PeersTest, public ::testing::WithParamInterface<PsnScope> {};
INSTANTIATE_TEST_SUITE_P(Scopes, FullRingTest, ::testing::Values(PsnScope::kPort, PsnScope::kVc));

TEST_P(FullRingTest, OfOneVcDoesNotStopTheOthers) {
  params.transport.psn_scope = GetParam();
  params.transport.max_tries = 2;
  shape.rx_lines = 64;
  StartPair();
  for (int i = 0; i < 200; ++i) ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(milliseconds(5));
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
  EXPECT_GT(a->Count(Counter::kTxWaitsCredit), 0u);
  for (uint64_t i = 0; i < 20; ++i) ca->SendTagged(i, 1, 2);
  EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, 0));
  EXPECT_EQ(cb->Receive(2).size(), 20u);
  // Far longer than all tries together: a full ring is no loss.
  Run(milliseconds(50));
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == 200; }));
  ExpectNoFramesOut();
}

// The client gives back just the room that the next PDU needs, again and again.
TEST_F(PeersTest, RefusedAndAcceptedByTurns) {
  shape.rx_lines = 64;
  StartPair();
  for (int i = 0; i < 250; ++i) ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(milliseconds(5));
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0, 1).size()) == 250; },
                       std::chrono::seconds(2)));
  EXPECT_TRUE(a->pipeline->IsQuiet() || RunUntil([&] { return a->pipeline->IsQuiet(); }));
}

TEST_F(PeersTest, ErrorMarkUnknownXpuAndBrokenRing) {
  StartPair();
  ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_ERROR | SUEDE_RECORD_COMPLETION, 0);
  ca->SendTagged(1, 55);
  EXPECT_EQ(Statuses(*ca, 2),
            (std::vector<int>{SUEDE_STATUS_ERROR_MARK, SUEDE_STATUS_UNKNOWN_XPU}));
  EXPECT_EQ(a->Count(Counter::kTxErrorMark), 1u);
  EXPECT_EQ(a->Count(Counter::kTxUnknownXpu), 1u);
  Client& hostile = Attach(*a, 0);
  hostile.memory.tx()->head.value = 0x7fffffff;
  Run(microseconds(50));
  EXPECT_EQ(hostile.queues[0].state(), SUEDE_QUEUE_BROKEN);
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
  EXPECT_EQ(cb->Receive().size(), 1u);
}

TEST_F(PeersTest, DetachedClientsCommandsAreStillDelivered) {
  StartPair();
  for (int i = 0; i < 50; ++i) ca->Send(TestCommand(8, 16, 1), 1);
  a->pipeline->mailbox().requests.Push(request::Detach{.client = ca->number});
  LcoreReply reply;
  EXPECT_TRUE(RunUntil([&] { return a->pipeline->mailbox().replies.Pop(reply); }));
  std::memset(ca->memory.base(), 0xff, ca->memory.offsets.bytes);  // nobody looks any more
  Run(milliseconds(5));
  EXPECT_EQ(cb->Receive().size(), 50u);
  ExpectNoFramesOut();
}

// Twice as many queues as there are, each of which has sent.
TEST_F(PeersTest, QueuesOfClientsThatLeftServeOthers) {
  StartPair();
  shape = {.queue_count = SUEDE_MAX_QUEUES,
           .tx_lines = 64,
           .rx_lines = 64,
           .completion_count = 64,
           .credit_lines = 8,
           .aggregate_lines = 64};
  for (uint32_t left = 0; left < 2 * Pipeline::kMaxQueues; left += SUEDE_MAX_QUEUES) {
    Client& client = Attach(*a, 0);
    for (uint32_t queue = 0; queue < SUEDE_MAX_QUEUES; ++queue) {
      client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_COMPLETION, 0, queue);
    }
    for (uint32_t queue = 0; queue < SUEDE_MAX_QUEUES; ++queue) {
      ASSERT_TRUE(RunUntil([&] { return client.Completions(queue).size() == 1; }))
          << left << ", " << queue;
    }
    cb->Receive();
    a->pipeline->mailbox().requests.Push(request::Detach{.client = client.number});
    LcoreReply reply;
    ASSERT_TRUE(RunUntil([&] { return a->pipeline->mailbox().replies.Pop(reply); }));
    EXPECT_EQ(reply.kind, LcoreReplyKind::kDetach);
  }
}

TEST_F(PeersTest, StalledDestinationDoesNotStopAnother) {
  a = &AddHost(0, 3);
  b = &AddHost(1, 3);
  Host& silent = AddHost(2, 3);
  ca = &Attach(*a);
  cb = &Attach(*b);
  silent.port->SetLink(false);
  while (ca->Send(TestCommand(8, 16, 1), 2) == SendResult::kOk) {
  }
  for (uint64_t i = 0; i < 100; ++i) ca->SendTagged(i, 1);
  EXPECT_EQ(Statuses(*ca, 100, milliseconds(1)), std::vector<int>(100, 0));
}

class WireTest : public ByHandTest {};

TEST_F(WireTest, ClassesPerVcAndForPdusWithoutCommands) {
  for (uint8_t vc = 0; vc < kVcCount; ++vc) params.classes[vc].dscp = static_cast<uint8_t>(10 + vc);
  params.ack_class.dscp = 40;
  Start();
  Meet();
  Client& client = Attach(*host);
  for (uint8_t vc = 0; vc < kVcCount; ++vc) client.SendTagged(vc, 1, vc);
  Run(microseconds(300));
  Hello asking = HelloTo(host->pipeline->instance(0));
  asking.reply_wanted = true;
  Inject({Build(Rh(), Command(1)), Control(asking)});
  Run(microseconds(300));
  uint32_t data = 0;
  uint32_t acks = 0;
  for (const Sent& sent : TakeSent()) {
    const bool sequenced = sent.rh.ver == 0 && (sent.commands[0] & 0xf) != 0;
    EXPECT_EQ(sent.dscp, sequenced ? 10 + sent.rh.vc : 40);
    ++(sequenced ? data : acks);
  }
  EXPECT_GE(data, 4u);
  EXPECT_GE(acks, 2u);  // a HELLO and an ACK
}

TEST_F(WireTest, TransmitNowClosesAPdu) {
  Start();
  Client& client = Attach(*host);
  client.Send(TestCommand(8, 16, 1), 1);
  client.Send(TestCommand(8, 16, 2), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  client.Send(TestCommand(8, 16, 3), 1);
  Run(microseconds(200));
  const std::vector<Sent> sent = TakeSent();
  ASSERT_GE(sent.size(), 2u);
  EXPECT_EQ(sent[0].commands.size(), 48u);
  EXPECT_EQ(sent[1].commands.size(), 24u);
}

// The peer restarts while PDUs wait for its window, and its second HELLO is lost: the PDUs must not
// wait for ever.
TEST_F(WireTest, QueueThatWaitedWhenThePeerRestartedGoesOnThoughAHelloIsLost) {
  params.transport.window_pdus = 1;
  params.transport.rto_initial = milliseconds(5);
  plain_peers = false;
  Start();
  Client& client = Attach(*host);
  client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(50));
  Meet();
  ReliabilityHeader ack = Rh();
  ack.op = RhOp::kAck;
  ack.rpsn = FirstPsn();
  Inject({Build(ack, {})});
  client.Send(TestCommand(8, 16, 2), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  client.Send(TestCommand(8, 16, 3), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(50));
  TakeSent();
  Hello reborn = HelloTo(host->pipeline->instance(0), 6);  // answers the host's question, and
  reborn.identities.peer = 0;                              // does not know it yet
  reborn.reply_wanted = true;
  Inject({Control(reborn)});
  Run(milliseconds(3));
  uint32_t hellos = 0;
  bool data = false;
  for (const Sent& sent : TakeSent()) {
    hellos += sent.rh.ver == 3 && sent.commands[0] == static_cast<uint8_t>(ControlType::kHello);
    data |= sent.rh.ver == 0 && (sent.commands[0] & 0xf) != 0;
  }
  EXPECT_GE(hellos, 2u);
  EXPECT_FALSE(data);  // the peer has not said yet that it knows us
  Meet();
  Run(microseconds(100));
  for (const Sent& sent : TakeSent()) {
    data |= sent.rh.ver == 0 && (sent.commands[0] & 0xf) != 0 && sent.rh.psn == FirstPsn();
  }
  EXPECT_TRUE(data);
}

// Frames of before may still be in a device: PDUs to the new boot are numbered far from them, in
// the quarter of all numbers that is opposite to theirs.
TEST_F(PeersTest, NumbersAfterARestartAreFarFromThoseBefore) {
  StartPair();
  ca->SendTagged(0, 1);
  ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  for (uint64_t restart = 1; restart <= 8; ++restart) {
    const Psn old = a->pipeline->instance(0).peers.connections[0].in_flight().next_psn();
    Boot(*b, 2);
    Client& reborn = Attach(*b);
    reborn.SendTagged(0, 0);
    ASSERT_EQ(Statuses(reborn, 1), std::vector<int>{kOk});
    ASSERT_EQ(a->Count(Counter::kPeerResets), restart);
    const Psn first = a->pipeline->instance(0).peers[0].handshake().first()[0];
    const auto ahead = static_cast<uint16_t>(first.value() - old.value());
    EXPECT_GE(ahead, 3u << 13);
    EXPECT_LT(ahead, 5u << 13);
    ca->SendTagged(0, 1);
    ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    ca->Receive();
  }
}

}  // namespace
}  // namespace suede
