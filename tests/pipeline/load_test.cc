// SPDX-License-Identifier: Apache-2.0
// The load of their instances as clients see it, and that the clients' words in it harm nobody.
#include <random>

#include "bench.h"
#include "client/client_load.h"

namespace suede {
namespace {

constexpr uint32_t kCommandBytes = 24;  // of a TestCommand(8, 16): one line of a ring

class LoadTest : public ByHandTest {
 protected:
  LoadTest() { params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1); }
  static LoadReader ReaderOf(Client& client, uint32_t queue = 0) {
    return LoadReader(client.memory.base(), client.memory.offsets.bytes, queue);
  }
  static LoadState StateOf(Client& client, uint32_t queue = 0) {
    LoadState state;
    EXPECT_TRUE(ReaderOf(client, queue).Read(&state));
    return state;
  }
  static uint32_t UpdatesOf(Client& client, uint32_t queue = 0) {
    LoadState state;
    uint32_t updates = 0;
    EXPECT_TRUE(ReaderOf(client, queue).Read(&state, &updates));
    return updates;
  }
  // The lcore's answer to a wish; it comes with the next state.
  static constexpr uint32_t kWish = SUEDE_WISH_VALID | 7u << 16;
  DestinationState Ask(Client& client, uint16_t xpuid) {
    LoadReader reader = ReaderOf(client);
    reader.SetWish(5, kWish | xpuid);
    DestinationState state;
    EXPECT_TRUE(RunUntil([&] { return reader.ReadAnswer(5, kWish | xpuid, &state); }));
    return state;
  }
  // Commands that each make a PDU.
  void SendPdus(Client& client, uint32_t count, uint8_t vc = 0) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(client.Send(TestCommand(8, 16, 1), 1, vc, SUEDE_RECORD_TRANSMIT_NOW),
                SendResult::kOk);
    }
  }
  void Acknowledge(uint16_t psn) {
    ReliabilityHeader rh = Rh();
    rh.op = RhOp::kAck;
    rh.rpsn = Psn(psn);
    Inject({Build(rh, {})});
  }
};

TEST_F(LoadTest, IsThereFromTheStart) {
  Start();
  Client& client = Attach(*host);
  EXPECT_EQ(UpdatesOf(client), 1u);
  EXPECT_EQ(StateOf(client), LoadState());
}

TEST_F(LoadTest, CountsWhatIsInFlightUntilItIsAcknowledged) {
  Start();
  Client& client = Attach(*host);
  SendPdus(client, 100);
  Run(microseconds(200));
  EXPECT_EQ(StateOf(client), (LoadState{.load = 100 * kCommandBytes / 64,
                                        .inflight_pdus = 100,
                                        .inflight_bytes = 100 * kCommandBytes}));
  EXPECT_EQ(Ask(client, 1), (DestinationState{.flags = SUEDE_DESTINATION_KNOWN,
                                              .inflight_pdus = 100,
                                              .inflight_bytes = 100 * kCommandBytes}));
  Acknowledge(39);
  Run(microseconds(200));
  EXPECT_EQ(StateOf(client).inflight_pdus, 60u);
  EXPECT_EQ(StateOf(client).inflight_bytes, 60 * kCommandBytes);
  Acknowledge(99);
  Run(microseconds(200));
  EXPECT_EQ(StateOf(client), LoadState());
}

TEST_F(LoadTest, CountsWhatIsQueuedOfAllClients) {
  params.transport.window_pdus = 2;
  Start();
  Client& client = Attach(*host);
  Client& other = Attach(*host, 0);
  SendPdus(client, 12);
  SendPdus(other, 5);
  Run(microseconds(300));
  // Commands in flight have given their credit back.
  const LoadState expected{.load = 15 + 2 * kCommandBytes / 64,
                           .queued_pdus = 15,
                           .inflight_pdus = 2,
                           .inflight_bytes = 2 * kCommandBytes,
                           .credit_lines = 15};
  EXPECT_EQ(StateOf(client), expected);
  EXPECT_EQ(StateOf(other), expected);
  EXPECT_EQ(Ask(client, 1).queued_lines + Ask(other, 1).queued_lines, 15u);
  EXPECT_EQ(Ask(other, 1).queued_lines, 5u);
  EXPECT_EQ(Ask(other, 1).inflight_pdus, 2u);
}

TEST_F(LoadTest, QueuesOfOneClientHaveTheirOwnInstances) {
  shape.queue_count = 2;
  Start();
  InstanceParams second = params;
  second.xpuid = 0;
  second.instance = 1;
  second.planes = {{.address = {.low = IpOf(10)}}};
  second.peers = {
      {.xpuid = 1, .planes = {{.address = {.low = IpOf(1)}, .mac = MacOf(1)}}, .plain = true}};
  host->pipeline->AddInstance(second);
  Client client(1, shape);
  const uint32_t instances[] = {1, 0};
  ASSERT_EQ(PipelineTest::Ask(*host, request::Attach{.client = 1,
                                                     .queue_instances = instances,
                                                     .segment = client.memory.base(),
                                                     .shape = &shape}),
            LcoreStatus::kDone);
  ASSERT_EQ(client.Send(TestCommand(8, 16, 1), 1, 0, 0, 0, 0), SendResult::kOk);
  Run(microseconds(300));
  EXPECT_EQ(StateOf(client, 0).inflight_pdus, 1u);
  EXPECT_EQ(StateOf(client, 1).inflight_pdus, 0u);
}

TEST_F(LoadTest, ADestinationThatIsNotReadyIsPaused) {
  Start();
  Meet();
  const Psn second = FirstPsn().Next();
  Client& client = Attach(*host);
  LoadReader reader = ReaderOf(client);
  SendPdus(client, 3, 2);
  Run(microseconds(50));
  Inject({Control(NotReady{.vc = 2, .expected = second, .backoff_us = 1000})});
  Run(microseconds(300));
  EXPECT_EQ(StateOf(client).paused, 1u);
  EXPECT_EQ(StateOf(client).unreachable, 0u);
  EXPECT_TRUE(reader.IsPaused(1));
  EXPECT_FALSE(reader.IsPaused(0));
  EXPECT_EQ(Ask(client, 1).flags, SUEDE_DESTINATION_KNOWN | SUEDE_DESTINATION_PAUSED);
  Inject({Control(Ready{.vc = 2, .expected = second})});
  Run(microseconds(200));
  EXPECT_EQ(StateOf(client).paused, 0u);
  EXPECT_FALSE(reader.IsPaused(1));
}

TEST_F(LoadTest, ADestinationThatGrantsNoCreditIsPaused) {
  Start();
  Hello hello = HelloTo(InstanceAt(0));
  hello.counts_credit = true;
  Inject({Control(hello)});
  Client& client = Attach(*host);
  LoadReader reader = ReaderOf(client);
  SendPdus(client, 1, 3);
  Run(microseconds(300));
  EXPECT_EQ(StateOf(client).paused, 1u);
  EXPECT_TRUE(reader.IsPaused(1));
  Inject({Control(Credit{.identities = hello.identities, .vc = 3, .grant = true, .limit = 10})});
  Run(microseconds(300));
  EXPECT_EQ(StateOf(client).paused, 0u);
  EXPECT_FALSE(reader.IsPaused(1));
}

TEST_F(LoadTest, ADestinationThatDoesNotAnswerIsUnreachable) {
  params.transport.rto_initial = microseconds(300);
  params.transport.rto_max = milliseconds(1);
  Start();
  Client& client = Attach(*host);
  LoadReader reader = ReaderOf(client);
  SendPdus(client, 3);
  ASSERT_TRUE(RunUntil([&] { return host->Count(Counter::kUnreachable) != 0; }));
  Run(milliseconds(11));  // it does nothing now, so that the state comes more seldom
  EXPECT_EQ(StateOf(client), LoadState{.unreachable = 1});
  EXPECT_TRUE(reader.IsUnreachable(1));
  EXPECT_FALSE(reader.IsUnreachable(0));
  EXPECT_EQ(Ask(client, 1),
            (DestinationState{.flags = SUEDE_DESTINATION_KNOWN | SUEDE_DESTINATION_UNREACHABLE}));
  // The peer expects the first PDU that it had not received, and says so again when it is asked.
  for (int answers = 0; answers < 2; ++answers) {
    ReliabilityHeader nack = Rh();
    nack.op = RhOp::kNack;
    nack.rpsn = Psn(3);
    Inject({Build(nack, {})});
    Run(milliseconds(25));
  }
  EXPECT_EQ(StateOf(client).unreachable, 0u);
  EXPECT_FALSE(reader.IsUnreachable(1));
}

TEST_F(LoadTest, TellsOfDestinationsThatThereAreNot) {
  Start();
  Client& client = Attach(*host);
  EXPECT_EQ(Ask(client, 700), DestinationState());
  EXPECT_EQ(Ask(client, 1).flags, SUEDE_DESTINATION_KNOWN);
}

TEST_F(LoadTest, WhatIsOutOfServiceSaysSo) {
  Start();
  Client& client = Attach(*host);
  for (const auto kind : {OutOfService::kPort, OutOfService::kInstance}) {
    for (const bool up : {false, true}) {
      ASSERT_TRUE(host->pipeline->mailbox().requests.Push(Switch(kind, up)));
      Run(milliseconds(11));
      EXPECT_EQ(StateOf(client).flags, up ? 0 : SUEDE_LOAD_DOWN);
    }
  }
}

// The load of an instance with several planes is one sum; it is out of service with all planes.
TEST_F(LoadTest, PlanesCountTogether) {
  planes = 2;
  params.paths.ordering = Ordering::kUnordered;
  plain_peers = false;
  params.transport.rto_initial = params.transport.rto_max = milliseconds(2);
  Host& a = AddHost(0, 2);
  Host& b = AddHost(1, 2);
  Client& client = Attach(a);
  Client& receiver = Attach(b);
  ASSERT_EQ(client.SendTagged(0, 1), SendResult::kOk);
  ASSERT_EQ(Statuses(client, 1), std::vector<int>{kOk});
  Run(milliseconds(20));
  // Nothing that b sends arrives.
  for (SimPort* port : b.ports) port->faults().loss = 1;
  SendPdus(client, 40);
  Run(microseconds(200));
  const uint64_t inflight = 40 * kCommandBytes;
  EXPECT_EQ(StateOf(client).inflight_pdus, 40u);
  EXPECT_EQ(StateOf(client).inflight_bytes, inflight);
  EXPECT_EQ(Ask(client, 1), (DestinationState{.flags = SUEDE_DESTINATION_KNOWN,
                                              .inflight_pdus = 40,
                                              .inflight_bytes = inflight}));
  for (SimPort* port : b.ports) port->faults().loss = 0;
  ASSERT_TRUE(RunUntil([&] { return a.pipeline->instance(0).tx.inflight == 0; }));
  EXPECT_EQ(receiver.Receive(0).size(), 41u);
  for (uint8_t plane = 0; plane < 2; ++plane) {
    EXPECT_EQ(StateOf(client).flags, 0u);
    ASSERT_TRUE(a.pipeline->mailbox().requests.Push(
        request::SetPlane{.plane = PlaneIndex(plane), .plane_admin = PlaneAdmin::kDown}));
    Run(milliseconds(11));
  }
  EXPECT_EQ(StateOf(client).flags, SUEDE_LOAD_DOWN);
}

TEST_F(LoadTest, IsShownOftenUnderLoadAndNowAndThenWithout) {
  Start();
  Client& client = Attach(*host);
  Run(milliseconds(100));
  const uint32_t idle = UpdatesOf(client);
  EXPECT_GE(idle, 9u);
  EXPECT_LE(idle, 12u);
  SendPdus(client, 1);
  Run(milliseconds(10));
  EXPECT_GE(UpdatesOf(client) - idle, 140u);
  EXPECT_LE(UpdatesOf(client) - idle, 160u);
}

// However many queues there are, each has its turn.
TEST_F(LoadTest, ManyQueuesTakeTurns) {
  shape = {.queue_count = 16, .tx_lines = 64, .rx_lines = 64, .completion_count = 64,
           .credit_lines = 16, .aggregate_lines = 64};
  Start();
  for (int i = 0; i < 4; ++i) Attach(*host, 0);
  ASSERT_EQ(clients[0]->Send(TestCommand(8, 16, 1), 1, 0, 0, 0, 3), SendResult::kOk);
  Run(milliseconds(1));
  for (const auto& client : clients) {
    for (uint32_t q = 0; q < 16; ++q) EXPECT_EQ(StateOf(*client, q).inflight_pdus, 1u) << q;
  }
}

TEST_F(LoadTest, ManyDestinationsTakeTurns) {
  constexpr uint32_t kPeers = 200;
  params.transport.rto_initial = microseconds(300);
  params.transport.rto_max = milliseconds(1);
  wire = AddPort(1);
  host = &AddHost(0, kPeers);
  Client& client = Attach(*host);
  for (uint16_t peer = 1; peer < kPeers; ++peer) {
    ASSERT_EQ(client.Send(TestCommand(8, 16, 1), peer), SendResult::kOk);
  }
  ASSERT_TRUE(RunUntil([&] { return host->Count(Counter::kUnreachable) == kPeers - 1; }));
  Run(milliseconds(140));
  EXPECT_EQ(StateOf(client).unreachable, kPeers - 1);
  for (uint16_t peer = 1; peer < kPeers; ++peer) {
    EXPECT_TRUE(ReaderOf(client).IsUnreachable(peer)) << peer;
  }
}

// One client scribbles over its load area all the time. It is served on, and the other one
// neither loses anything nor is told anything that is not so.
TEST_F(LoadTest, AClientThatScribblesHarmsNobody) {
  params.transport.rto_initial = microseconds(300);
  Host& a = AddHost(0, 2);
  Host& b = AddHost(1, 2);
  Client& villain = Attach(a, 0);
  Client& sender = Attach(a);
  Client& receiver = Attach(b);
  std::mt19937_64 random(1);
  auto* area = AtOffset<uint32_t>(villain.memory.base(), villain.memory.offsets.load);
  constexpr uint32_t kWords = sizeof(suede_load_area) / 4;
  std::vector<int> statuses(200, -1);
  uint64_t tag = 0;
  size_t received = 0;
  ReaderOf(sender).SetWish(0, kWish | 1);
  ASSERT_TRUE(RunUntil([&] {
    for (uint32_t i = 0; i < kWords; ++i) {
      area[i] = static_cast<uint32_t>(random());
      if (i % 2 == 0) area[i] = SUEDE_WISH_VALID | static_cast<uint16_t>(random() % 2000);
    }
    if (tag < statuses.size()) sender.SendTagged(tag++, 1);
    villain.Send(TestCommand(8, 16, 1), 1, 1);
    received += receiver.Receive(0).size();
    receiver.Receive(1);
    for (const suede_completion& c : sender.Completions()) statuses.at(c.tag) = c.status;
    return received == statuses.size() && std::count(statuses.begin(), statuses.end(), 0) == 200;
  }));
  Run(milliseconds(1));
  EXPECT_EQ(StateOf(sender), LoadState());
  DestinationState state;
  ASSERT_TRUE(ReaderOf(sender).ReadAnswer(0, kWish | 1, &state));
  EXPECT_EQ(state, DestinationState{.flags = SUEDE_DESTINATION_KNOWN});
  // Once the client behaves, its load is shown correctly, too.
  Run(milliseconds(20));
  EXPECT_EQ(StateOf(villain), LoadState());
}

TEST_F(LoadTest, AClientThatHasGoneIsNotWrittenTo) {
  Start();
  Client& client = Attach(*host);
  SendPdus(client, 3);
  Run(microseconds(200));
  ASSERT_EQ(PipelineTest::Ask(*host, request::Detach{.client = client.number}), LcoreStatus::kDone);
  const uint32_t updates = UpdatesOf(client);
  Run(milliseconds(30));
  EXPECT_EQ(UpdatesOf(client), updates);
}

}  // namespace
}  // namespace suede
