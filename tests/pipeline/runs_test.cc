// SPDX-License-Identifier: Apache-2.0
// PDUs of one queue that leave in a row end where one of them alone would have to wait.
#include "bench.h"

namespace suede {
namespace {

constexpr uint32_t kPdus = 40;
constexpr uint32_t kBytes = 24;  // of each PDU: one command

class RunsTest : public ByHandTest {
 protected:
  RunsTest() { params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1); }
  // XPU 1 has spoken, and no acknowledgement comes from it.
  void Begin() {
    Start();
    client = &Attach(*host);
    Hello hello = HelloTo(InstanceAt(0));
    hello.window_pdus = 512;
    hello.counts_credit = credit_lines != 0;
    hello.credit_lines[0] = credit_lines;
    hello.receive_lines = credit_lines != 0 ? 512 : 0;
    Inject({Control(hello)});
    TakeSent();
  }
  // All commands are in the ring before the lcore polls it.
  void SendAll(uint32_t count = kPdus) {
    for (uint32_t i = 0; i < count; ++i) {
      client->queues[0].Send(TestCommand(8, kBytes - 8, static_cast<uint8_t>(i))
                                 .To(1, 0, SUEDE_RECORD_TRANSMIT_NOW, 0));
    }
    client->queues[0].Flush();
  }
  // PDUs with commands that have come, in order; their PSNs follow each other.
  std::vector<Sent> Pdus() {
    Run(microseconds(200));
    std::vector<Sent> pdus;
    for (const Sent& sent : TakeSent()) {
      if (sent.rh.ver != static_cast<uint8_t>(RhVersion::kData)) continue;
      if (sent.commands.empty() || (sent.commands[0] & 0x0f) == 0) continue;
      EXPECT_EQ(sent.rh.psn, next_psn);
      next_psn = sent.rh.psn.Next();
      pdus.push_back(sent);
    }
    return pdus;
  }
  uint32_t Count() { return static_cast<uint32_t>(Pdus().size()); }
  void Acknowledge(uint32_t pdus) {
    ReliabilityHeader rh = Rh();
    rh.op = RhOp::kAck;
    rh.rpsn = FirstPsn().Plus(static_cast<int>(pdus) - 1);
    Inject({Build(rh, {})});
  }
  // PDUs in a run are counted as PDUs alone are.
  void ExpectCounts(uint32_t pdus) {
    EXPECT_EQ(host->Count(Counter::kTxPdus), pdus);
    EXPECT_EQ(host->Count(Counter::kTxCommands), pdus);
    EXPECT_EQ(host->Count(Counter::kTxCommandBytes), uint64_t{pdus} * kBytes);
    const Instance& instance = host->pipeline->instance(0);
    EXPECT_EQ(instance.tx.inflight, pdus);
    EXPECT_EQ(instance.tx.inflight_bytes, uint64_t{pdus} * kBytes);
    EXPECT_EQ(instance.stats.histograms[HistogramId::kPduCommands].sum(), pdus);
  }

  Client* client = nullptr;
  uint32_t credit_lines = 0;
  Psn next_psn;
};

TEST_F(RunsTest, AsManyAsAre) {
  Begin();
  next_psn = FirstPsn();
  SendAll();
  const auto pdus = Pdus();
  ASSERT_EQ(pdus.size(), kPdus);
  for (uint32_t i = 0; i < kPdus; ++i) EXPECT_EQ(pdus[i].commands[8], static_cast<uint8_t>(i * 3));
  ExpectCounts(kPdus);
  // Lines are back with the client as PDUs have left.
  EXPECT_EQ(client->queues[0].Credit(1, 0), static_cast<int>(shape.credit_lines));
  Acknowledge(kPdus);
  EXPECT_EQ(host->pipeline->instance(0).tx.inflight, 0u);
  const auto& latency = host->pipeline->instance(0).stats.histograms[HistogramId::kCommandLatency];
  EXPECT_GT(latency.sum(), 0u);
}

class RunsWindowTest : public RunsTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(RunsWindowTest, TheWindowInPdus) {
  const uint32_t window = GetParam();
  params.transport.window_pdus = window;
  Begin();
  next_psn = FirstPsn();
  SendAll();
  EXPECT_EQ(Count(), window);
  ExpectCounts(window);
  Acknowledge(window);
  EXPECT_EQ(Count(), std::min(window, kPdus - window));
}

INSTANTIATE_TEST_SUITE_P(Windows, RunsWindowTest, testing::Values(1, 2, 7, 31, 32, 33));

TEST_F(RunsTest, TheWindowInBytes) {
  params.transport.window_bytes = 10 * kBytes + kBytes / 2;
  Begin();
  next_psn = FirstPsn();
  SendAll();
  EXPECT_EQ(Count(), 10u);
  ExpectCounts(10);
  Acknowledge(3);
  EXPECT_EQ(Count(), 3u);
}

TEST_F(RunsTest, TheShareOfPdusInFlight) {
  params.inflight_pdus = 16;
  Begin();
  next_psn = FirstPsn();
  SendAll();
  Shares shares;
  const Shares& as = host->pipeline->instance(0).tx.held;
  shares.Set(as.own(), params.inflight_pdus - as.own());
  uint32_t max = 0;
  while (shares.MayTake(max)) shares.OnTake(max++);
  EXPECT_EQ(Count(), max);
  EXPECT_GT(max, 1u);
  EXPECT_GT(host->Count(Counter::kTxWaitsShare), 0u);
}

TEST_F(RunsTest, TheReceiversCredit) {
  credit_lines = 9;
  Begin();
  next_psn = FirstPsn();
  SendAll();
  EXPECT_EQ(Count(), 9u);
  ExpectCounts(9);
}

TEST_F(RunsTest, ThePortsBurst) {
  Begin();
  next_psn = FirstPsn();
  SendAll();
  host->pipeline->Poll(network.now());
  EXPECT_EQ(host->Count(Counter::kTxPdus), uint64_t{kBurst});
  host->pipeline->Poll(network.now());
  EXPECT_EQ(host->Count(Counter::kTxPdus), uint64_t{kPdus});
}

// Two queues of clients share a PDU's destination: each gets its own lines and shares back.
TEST_F(RunsTest, PdusOfSeveralQueues) {
  shape.queue_count = 3;
  Begin();
  next_psn = FirstPsn();
  for (uint32_t i = 0; i < 60; ++i) {
    const uint8_t flags = i % 4 == 0 ? SUEDE_RECORD_TRANSMIT_NOW : 0;
    client->queues[i % 3].Send(TestCommand(8, 16, 1).To(1, 0, flags, 0));
  }
  for (ClientQueue& queue : client->queues) queue.Flush();
  Run(microseconds(200));
  EXPECT_EQ(host->Count(Counter::kTxCommands), 60u);
  for (ClientQueue& queue : client->queues) {
    EXPECT_EQ(queue.Credit(1, 0), static_cast<int>(shape.credit_lines));
  }
  host->pipeline->CheckInvariants();
}

}  // namespace
}  // namespace suede
