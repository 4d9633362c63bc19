// SPDX-License-Identifier: Apache-2.0
// Ports and instances that an operator takes out of service stand still and go on without loss;
// unsolicited events of an lcore.
#include "bench.h"
#include "lcore/snapshot.h"

namespace suede {
namespace {

class AdminTest : public PipelineTest {
 protected:
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
    ca->SendTagged(0, 1);
    EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
    EXPECT_EQ(cb->Receive(0).size(), 1u);
  }
  void Set(Host& host, OutOfService kind, bool up) {
    const uint32_t before = host.pipeline->admin_done();
    ASSERT_TRUE(host.pipeline->mailbox().requests.Push(Switch(kind, up)));
    Run(microseconds(10));
    EXPECT_EQ(host.pipeline->admin_done(), before + 1);
  }
  // Down for much longer than it takes to find a peer unreachable.
  void HoldsStillAndGoesOn(OutOfService kind) {
    // The other side's commands, up to its credit, are in flight when this one goes down.
    cb->SendTagged(0, 0);
    EXPECT_EQ(Statuses(*cb, 1), std::vector<int>{0});
    EXPECT_EQ(ca->Receive(0).size(), 1u);
    Run(milliseconds(1));
    const uint64_t sent = a->Count(Counter::kTxFrames);
    const uint64_t received = b->Count(Counter::kRxFrames);
    // Handed over before the client could see it.
    ASSERT_TRUE(a->pipeline->mailbox().requests.Push(Switch(kind, false)));
    for (uint64_t tag = 0; tag < 5; ++tag) EXPECT_EQ(ca->SendTagged(tag, 1), SendResult::kOk);
    Run(microseconds(10));
    EXPECT_EQ(ca->SendTagged(5, 1), SendResult::kInReset);
    cb->SendTagged(0, 0);
    Run(milliseconds(5));
    const uint64_t dropped = a->Count(Counter::kRxAdminDown);
    EXPECT_GE(dropped, 1u);
    Run(milliseconds(20));
    EXPECT_EQ(a->Count(Counter::kTxFrames), sent);
    EXPECT_EQ(b->Count(Counter::kRxFrames), received);
    EXPECT_TRUE(ca->Receive(0).empty());
    EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
    Set(*a, kind, true);
    EXPECT_EQ(Statuses(*ca, 5), std::vector<int>(5, 0));
    EXPECT_EQ(cb->Receive(0).size(), 5u);
    // The other side could not know: it found us unreachable, and comes back.
    EXPECT_EQ(Statuses(*cb, 1), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
    Run(milliseconds(20));
    cb->SendTagged(0, 0);
    EXPECT_EQ(Statuses(*cb, 1), std::vector<int>{0});
    EXPECT_EQ(ca->Receive(0).size(), 1u);
    ExpectNoFramesOut();
  }
  std::vector<LcoreEvent> TakeEvents(Host& host) {
    std::vector<LcoreEvent> all;
    LcoreEvent event;
    while (host.pipeline->mailbox().events.Pop(event)) all.push_back(event);
    return all;
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

TEST_F(AdminTest, APortThatIsDownStandsStill) {
  StartPair();
  HoldsStillAndGoesOn(OutOfService::kPort);
}

TEST_F(AdminTest, AnInstanceThatIsDownStandsStill) {
  StartPair();
  HoldsStillAndGoesOn(OutOfService::kInstance);
}

// States of a client's first queue, and of its first VC's receive ring.
uint32_t QueueState(Client& client) {
  return static_cast<suede_segment*>(client.memory.base())->queue_state[0].value;
}
uint32_t ReceiveState(Client& client) {
  return static_cast<suede_segment*>(client.memory.base())->rx_state[0].value;
}

TEST_F(AdminTest, QueuesAndReceiveRingsOfWhatIsDownAreInReset) {
  StartPair();
  for (const auto kind : {OutOfService::kPort, OutOfService::kInstance}) {
    Set(*a, kind, false);
    EXPECT_EQ(QueueState(*ca), SUEDE_QUEUE_IN_RESET);
    EXPECT_EQ(ReceiveState(*ca), SUEDE_QUEUE_IN_RESET);
    EXPECT_EQ(QueueState(*cb), SUEDE_QUEUE_READY) << "another endpoint's";
    // A client that comes meanwhile, and the client's own reset, do not end it.
    Client& late = Attach(*a, 0);
    EXPECT_EQ(QueueState(late), SUEDE_QUEUE_IN_RESET);
    EXPECT_EQ(ReceiveState(late), SUEDE_QUEUE_READY) << "it has claimed nothing";
    a->pipeline->mailbox().requests.Push(request::ResetQueue{.queue = 0, .client = ca->number});
    Run(microseconds(10));
    EXPECT_EQ(QueueState(*ca), SUEDE_QUEUE_IN_RESET);
    Set(*a, kind, true);
    for (Client* client : {ca, &late}) {
      EXPECT_EQ(QueueState(*client), SUEDE_QUEUE_READY);
      EXPECT_EQ(ReceiveState(*client), SUEDE_QUEUE_READY);
      client->queues[0].Restart(false);
    }
  }
  Run(milliseconds(20));
  EXPECT_EQ(ca->SendTagged(0, 1), SendResult::kOk);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
}

TEST_F(AdminTest, QueuesAreInResetWhileTheLcoreDrains) {
  StartPair();
  ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::Drain{}));
  for (uint64_t tag = 0; tag < 5; ++tag) EXPECT_EQ(ca->SendTagged(tag, 1), SendResult::kOk);
  Run(microseconds(10));
  EXPECT_EQ(QueueState(*ca), SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(ca->SendTagged(5, 1), SendResult::kInReset);
  EXPECT_EQ(ReceiveState(*ca), SUEDE_QUEUE_READY) << "what comes is still delivered";
  EXPECT_EQ(Statuses(*ca, 5), std::vector<int>(5, 0));
  EXPECT_EQ(cb->Receive(0).size(), 5u);
}

TEST_F(AdminTest, WhatWasInFlightIsSentAgain) {
  StartPair();
  for (const auto kind : {OutOfService::kPort, OutOfService::kInstance}) {
    b->port->SetLink(false);
    for (uint64_t tag = 0; tag < 3; ++tag) ca->SendTagged(tag, 1);
    // Long enough for a try, so that it goes back; then the object goes down in the middle of it.
    Run(microseconds(400));
    Set(*a, kind, false);
    b->port->SetLink(true);
    Run(milliseconds(20));
    EXPECT_TRUE(cb->Receive(0).empty());
    Set(*a, kind, true);
    EXPECT_EQ(Statuses(*ca, 3), std::vector<int>(3, 0));
    EXPECT_EQ(cb->Receive(0).size(), 3u);
  }
  ExpectNoFramesOut();
}

TEST_F(AdminTest, AnAcknowledgementThatIsOwedIsPaidLater) {
  StartPair();
  params.transport.max_tries = 200;
  cb->SendTagged(0, 0);
  // The command has arrived; the acknowledgement may still be delayed.
  ASSERT_TRUE(RunUntil([&] { return ca->Receive(0).size() == 1; }));
  Set(*a, OutOfService::kInstance, false);
  Run(milliseconds(1));
  Set(*a, OutOfService::kInstance, true);
  EXPECT_EQ(Statuses(*cb, 1), std::vector<int>{0});
}

TEST_F(AdminTest, RequestsForWhatIsNotThereChangeNothing) {
  StartPair();
  for (const auto kind : {OutOfService::kPort, OutOfService::kInstance}) {
    a->pipeline->mailbox().requests.Push(Switch(kind, false, 7));
  }
  // There is one peer, 0, and one plane.
  a->pipeline->mailbox().requests.Push(request::SetWeight{.peer = 1, .weight = 0});
  a->pipeline->mailbox().requests.Push(
      request::SetWeight{.peer = 0, .plane = 1, .weight = kMaxPlaneWeight});
  Run(microseconds(10));
  EXPECT_EQ(a->pipeline->admin_done(), 4u);
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
}

TEST_F(AdminTest, PeersThatGoAndComeAreTold) {
  StartPair();
  EXPECT_TRUE(TakeEvents(*a).empty());
  b->port->SetLink(false);
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
  b->port->SetLink(true);
  Run(milliseconds(20));
  const std::vector<LcoreEvent> events = TakeEvents(*a);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, LcoreEventKind::kPeerUnreachable);
  EXPECT_EQ(events[1].kind, LcoreEventKind::kPeerReachable);
  for (const LcoreEvent& event : events) {
    EXPECT_EQ(event.peer_xpuid, 1);
    EXPECT_EQ(event.vc, LcoreEvent::kAllVcs);
  }
  Boot(*b, 2);
  Client& reborn = Attach(*b);
  reborn.SendTagged(0, 0);
  EXPECT_EQ(Statuses(reborn, 1), std::vector<int>{0});
  const std::vector<LcoreEvent> reset = TakeEvents(*a);
  ASSERT_EQ(reset.size(), 1u);
  EXPECT_EQ(reset[0].kind, LcoreEventKind::kPeerReset);
}

TEST_F(AdminTest, AForeignScopeIsToldOnceUntilItIsRight) {
  params.transport.psn_scope = PsnScope::kVc;
  a = &AddHost(0, 2);
  params.transport.psn_scope = PsnScope::kPort;
  b = &AddHost(1, 2);
  cb = &Attach(*b);
  cb->SendTagged(0, 0);
  Run(milliseconds(5));
  EXPECT_GT(a->Count(Counter::kHelloMismatch), 1u);
  const std::vector<LcoreEvent> events = TakeEvents(*a);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, LcoreEventKind::kHelloMismatch);
  EXPECT_EQ(events[0].peer_xpuid, 1);
}

TEST_F(AdminTest, ABrokenQueueIsToldOnce) {
  StartPair();
  suede_segment* segment = static_cast<suede_segment*>(ca->memory.base());
  auto* ring = AtOffset<suede_ring>(segment, segment->tx_ring[0]);
  StoreRelease(ring->head.value, LoadAcquire(ring->head.value) + 1'000'000);
  Run(milliseconds(1));
  const std::vector<LcoreEvent> events = TakeEvents(*a);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, LcoreEventKind::kQueueBroken);
  EXPECT_EQ(events[0].client, ca->number);
}

TEST_F(AdminTest, CommandsWithTheErrorMarkAreTold) {
  StartPair();
  for (int i = 0; i < 50; ++i) {
    ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_ERROR | SUEDE_RECORD_COMPLETION, 0);
  }
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{SUEDE_STATUS_ERROR_MARK});
  Run(milliseconds(1));
  const std::vector<LcoreEvent> events = TakeEvents(*a);
  ASSERT_EQ(events.size(), 1u) << "a flood of them takes no room of other events";
  EXPECT_EQ(events[0].kind, LcoreEventKind::kTxError);
  EXPECT_EQ(events[0].client, ca->number);
  EXPECT_EQ(events[0].queue, 0u);
  Run(milliseconds(150));
  ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_ERROR, 0);
  Run(milliseconds(1));
  EXPECT_EQ(TakeEvents(*a).size(), 1u);
}

TEST_F(AdminTest, WhatFindsNoRoomIsCounted) {
  StartPair();
  LcoreEvent filler;
  while (a->pipeline->mailbox().events.Push(filler)) {
  }
  b->port->SetLink(false);
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
  EXPECT_EQ(a->Count(Counter::kEventsLost), 1u);
}

TEST_F(AdminTest, QueuesAreShownAsTheLcoreSeesThem) {
  StartPair();
  ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::SetPort{.up = false}));
  ca->SendTagged(0, 1);
  ca->SendTagged(1, 999);  // no such XPU
  Run(microseconds(50));
  QueueSnapshot queues;
  queues.done.store(false);
  ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::Queues{.snapshot = &queues}));
  Run(microseconds(10));
  ASSERT_TRUE(queues.done.load());
  ASSERT_EQ(queues.count, 1u);
  EXPECT_EQ(queues.rows[0].client, ca->number);
  EXPECT_EQ(queues.rows[0].discarded, 1u);
  EXPECT_EQ(queues.rows[0].credit_lines, 1u);  // taken into a PDU that has not left
  EXPECT_EQ(queues.rows[0].waiting_lines, 0u);
  EXPECT_FALSE(queues.rows[0].broken);
  EXPECT_FALSE(queues.rows[0].leaving);
  // A client that lies about its ring shows no more than the ring has.
  suede_segment* segment = static_cast<suede_segment*>(ca->memory.base());
  auto* ring = AtOffset<suede_ring>(segment, segment->tx_ring[0]);
  const TxRingReader reader(segment, shape, 0);
  StoreRelease(ring->head.value, 4'000'000'000u);
  EXPECT_EQ(reader.Waiting(), shape.tx_lines);
}

TEST_F(AdminTest, AQueueIsLeavingUntilWhatItHoldsIsTaken) {
  StartPair();
  ca->SendTagged(0, 1);
  QueueSnapshot queues;
  queues.done.store(false);
  a->pipeline->mailbox().requests.Push(request::Detach{.client = ca->number});
  a->pipeline->mailbox().requests.Push(request::Queues{.snapshot = &queues});
  a->pipeline->Poll(network.now());
  ASSERT_TRUE(queues.done.load());
  ASSERT_EQ(queues.count, 1u);
  EXPECT_TRUE(queues.rows[0].leaving);
  EXPECT_EQ(queues.rows[0].waiting_lines, 1u);
  Run(microseconds(50));
  queues.done.store(false);
  a->pipeline->mailbox().requests.Push(request::Queues{.snapshot = &queues});
  a->pipeline->Poll(network.now());
  ASSERT_TRUE(queues.done.load());
  EXPECT_EQ(queues.count, 0u);
}

TEST_F(AdminTest, ConnectionsCountWhatTheyCarry) {
  StartPair();
  const Connection& out = a->pipeline->instance(0).peers.connections[0];
  const Connection& in = b->pipeline->instance(0).peers.connections[0];
  EXPECT_EQ(out.tx().tx_pdus(), 1u);
  EXPECT_EQ(in.rx().rx_pdus(), 1u);
  EXPECT_EQ(out.tx().retransmissions(), 0u);
  b->port->SetLink(false);
  ca->SendTagged(0, 1);
  Run(microseconds(500));
  b->port->SetLink(true);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{0});
  EXPECT_EQ(out.tx().tx_pdus(), 2u);
  EXPECT_EQ(in.rx().rx_pdus(), 2u);
  EXPECT_EQ(out.tx().retransmissions(), a->Count(Counter::kTxRetransmissions));
  EXPECT_GE(out.tx().retransmissions(), 1u);
}

// A PDU that waits for a peer that then does not fit ends with that, not with its silence.
class MismatchTest : public ByHandTest {};
TEST_F(MismatchTest, WhatWaitedForAPeerThatDoesNotFitEndsAtOnce) {
  plain_peers = false;
  Start();
  Client& client = Attach(*host);
  client.SendTagged(0, 1);
  Run(microseconds(20));
  Hello hello = HelloTo(InstanceAt(0));
  hello.psn_scope = 1 - hello.psn_scope;
  Inject({Control(hello)});
  EXPECT_EQ(host->Count(Counter::kHelloMismatch), 1u);
  EXPECT_EQ(Statuses(client, 1, microseconds(10)), std::vector<int>{SUEDE_STATUS_UNREACHABLE});
}

// Anybody on the path has copies of HELLOs. One that brings back no nonce of ours declares nothing.
TEST_F(MismatchTest, AHelloThatIsNotVerifiedDeclaresNoMismatch) {
  Start();
  Meet();
  TakeSent();
  Hello hello = HelloTo(InstanceAt(0));
  const uint64_t nonce = hello.echo;
  hello.psn_scope = 1 - hello.psn_scope;
  hello.reply_wanted = true;
  hello.echo = 0;
  Inject({Control(hello)});
  EXPECT_EQ(host->Count(Counter::kHelloMismatch), 0u);
  EXPECT_EQ(host->Count(Counter::kRxHelloUnverified), 1u);
  const Handshake& handshake = InstanceAt(0).peers[InstanceAt(0).peers.OfXpu(1)].handshake();
  EXPECT_TRUE(handshake.associated());
  // The peer is asked to prove it.
  const std::vector<Sent> sent = TakeSent();
  ASSERT_FALSE(sent.empty());
  ControlMessage message;
  ASSERT_EQ(DecodeControl(sent[0].commands.data(), static_cast<uint32_t>(sent[0].commands.size()),
                          message),
            ControlError::kNone);
  ASSERT_TRUE(std::holds_alternative<Hello>(message));
  EXPECT_TRUE(std::get<Hello>(message).reply_wanted);
  EXPECT_EQ(std::get<Hello>(message).echo, hello.nonce);
  EXPECT_EQ(std::get<Hello>(message).nonce, nonce);
  hello.echo = nonce;
  Inject({Control(hello)});
  EXPECT_EQ(host->Count(Counter::kHelloMismatch), 1u);
}

}  // namespace
}  // namespace suede
