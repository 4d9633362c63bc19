// SPDX-License-Identifier: Apache-2.0
// The causes for which commands wait, as an operator is told (docs/why.md): one test for each.
#include "lcore/wait_snapshot.h"
#include "planes_bench.h"
#include "wire/pfc.h"

namespace suede {
namespace {

class WaitsTest : public PipelineTest {
 protected:
  WaitsTest() {
    params.transport.window_pdus = 8;
    params.counts_credit = false;
    shape.tx_lines = shape.rx_lines = shape.credit_lines = 2048;
    shape.aggregate_lines = 4096;
  }
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
  }
  // Brings the association about.
  void Meet() {
    ca->SendTagged(0, 1);
    ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    Run(milliseconds(1));
    cb->Receive();
  }
  // Commands that are a PDU each.
  void Send(uint32_t count, uint8_t vc = 0) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(ca->Send(TestCommand(8, 256, 1), 1, vc, SUEDE_RECORD_TRANSMIT_NOW, i),
                SendResult::kOk);
    }
  }
  // Nothing gets through from now on.
  void Cut() { a->port->faults().loss = b->port->faults().loss = 1; }
  void Ask(Host& host) {
    snapshot.done.store(false);
    ASSERT_TRUE(host.pipeline->mailbox().requests.Push(request::Waits{.snapshot = &snapshot}));
    ASSERT_TRUE(RunUntil([&] { return snapshot.done.load(); }));
  }
  // The only row of host a.
  WaitRow Only() {
    Ask(*a);
    EXPECT_EQ(snapshot.count, 1u);
    return snapshot.count != 0 ? snapshot.rows[0] : WaitRow{};
  }

  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
  WaitSnapshot snapshot;
};

TEST_F(WaitsTest, WithoutWorkNothingWaits) {
  StartPair();
  Meet();
  Ask(*a);
  EXPECT_EQ(snapshot.count, 0u);
  EXPECT_FALSE(snapshot.more);
  EXPECT_EQ(snapshot.readers[0].client, ca->number);
  EXPECT_EQ(snapshot.readers[0].ring_lines, shape.rx_lines);
  EXPECT_EQ(snapshot.readers[0].filled_lines, 0u);
}

TEST_F(WaitsTest, UnreadCommandsFillTheRing) {
  StartPair();
  Meet();
  Send(3, 2);
  Run(milliseconds(1));
  Ask(*b);
  EXPECT_EQ(snapshot.count, 0u);
  EXPECT_GT(snapshot.readers[2].filled_lines, 0u);
  EXPECT_EQ(snapshot.readers[1].filled_lines, 0u);
}

TEST_F(WaitsTest, OnTheWay) {
  StartPair();
  Meet();
  Cut();
  Send(3);
  Run(microseconds(20));
  const WaitRow row = Only();
  EXPECT_EQ(row.cause, WaitCause::kFlight);
  EXPECT_EQ(row.peer_xpuid, 1);
  EXPECT_EQ(row.inflight_pdus, 3u);
  EXPECT_GE(row.inflight_ns, 20'000);
  EXPECT_EQ(row.queued_ns, -1);
  EXPECT_EQ(row.queued_octets, 0u);
}

TEST_F(WaitsTest, Window) {
  StartPair();
  Meet();
  Cut();
  Send(20, 1);
  Run(microseconds(20));
  const WaitRow row = Only();
  EXPECT_EQ(row.cause, WaitCause::kWindow);
  EXPECT_EQ(row.vc, 1);
  EXPECT_EQ(row.plane, 0);
  EXPECT_EQ(row.inflight_pdus, 8u);
  EXPECT_GE(row.queued_ns, 20'000);
  EXPECT_GT(row.queued_octets, 12u * 256);
}

TEST_F(WaitsTest, Congestion) {
  params.transport.window_pdus = 512;
  params.congestion.control = CongestionControl::kRccc;
  params.congestion.base_rtt = microseconds(10);
  params.congestion.initial_percent = 1;
  StartPair();
  Meet();
  Cut();
  Send(200);
  Run(microseconds(20));
  EXPECT_EQ(Only().cause, WaitCause::kCongestion);
}

TEST_F(WaitsTest, ReceiveCredit) {
  params.counts_credit = true;
  shape.rx_lines = 64;
  params.transport.window_pdus = 512;
  StartPair();
  Meet();
  Send(60);
  Run(milliseconds(2));
  const WaitRow row = Only();
  EXPECT_EQ(row.cause, WaitCause::kCredit);
  ASSERT_TRUE(row.credit_lines);
  EXPECT_LT(*row.credit_lines, 8u);
  EXPECT_GE(row.queued_ns, 1'000'000);
}

TEST_F(WaitsTest, NotReady) {
  shape.rx_lines = 64;
  params.unclaimed_pdus = 1;
  params.transport.window_pdus = 512;
  StartPair();
  Meet();
  Send(60);
  Run(milliseconds(2));
  EXPECT_EQ(Only().cause, WaitCause::kNotReady);
}

TEST_F(WaitsTest, Pause) {
  pfc = true;
  params.classes[1].dscp = 3 << 3;
  params.transport.psn_scope = PsnScope::kVc;
  StartPair();
  Meet();
  PfcFrame pause{.classes = 1 << 3};
  pause.quanta.fill(0xffff);
  std::vector<uint8_t> bytes(PfcFrame::kBytes);
  EncodePfc(pause, MacOf(99), bytes.data());
  a->port->Arrive(bytes);
  Run(microseconds(10));
  Send(2, 1);
  Run(microseconds(50));
  const WaitRow row = Only();
  EXPECT_EQ(row.cause, WaitCause::kPause);
  EXPECT_GE(row.since_ns, 50'000);
  EXPECT_LE(row.since_ns, 100'000);
}

TEST_F(WaitsTest, DownLinkAndOperator) {
  StartPair();
  Meet();
  ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::SetPort{.port = 0, .up = false}));
  Send(2);
  Run(microseconds(20));
  EXPECT_EQ(Only().cause, WaitCause::kDown);
  ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::SetPort{.port = 0, .up = true}));
  a->port->SetLink(false);
  Run(microseconds(20));
  EXPECT_EQ(Only().cause, WaitCause::kNoLink);
  ASSERT_TRUE(
      a->pipeline->mailbox().requests.Push(request::SetInstance{.instance = 0, .up = false}));
  Run(microseconds(20));
  EXPECT_EQ(Only().cause, WaitCause::kDown);
}

TEST_F(WaitsTest, WithoutMacAddress) {
  resolving = true;
  StartPair();
  Send(2);
  Run(microseconds(20));
  EXPECT_EQ(Only().cause, WaitCause::kNoMac);
}

TEST_F(WaitsTest, WithoutAnswerToHello) {
  a = &AddHost(0, 2);
  ca = &Attach(*a);
  Send(2);
  Run(microseconds(20));
  EXPECT_EQ(Only().cause, WaitCause::kNoAssociation);
}

TEST_F(WaitsTest, Share) {
  params.inflight_pdus = 2;
  StartPair();
  Meet();
  Cut();
  Send(6);
  Run(microseconds(20));
  EXPECT_EQ(Only().cause, WaitCause::kShare);
}

// A peer without a place is listed piece by piece, and a wanted one alone.
TEST_F(WaitsTest, OnePeerOfMany) {
  a = &AddHost(0, 200);
  ca = &Attach(*a);
  for (const uint16_t peer : {uint16_t{5}, uint16_t{199}}) {
    ASSERT_EQ(ca->Send(TestCommand(8, 16, 1), peer, 3, SUEDE_RECORD_TRANSMIT_NOW), SendResult::kOk);
  }
  Run(microseconds(20));
  std::vector<uint16_t> found;
  uint32_t pieces = 0;
  for (snapshot.first = 0; pieces == 0 || snapshot.more; snapshot.first = snapshot.next, ++pieces) {
    Ask(*a);
    for (uint32_t i = 0; i < snapshot.count; ++i) found.push_back(snapshot.rows[i].peer_xpuid);
  }
  EXPECT_EQ(found, (std::vector<uint16_t>{5, 199}));
  EXPECT_EQ(pieces, 4u) << "a request visits up to 256 queues";
}

class WaitsOfPlanesTest : public PlanesTest {};

// Both planes die: PDUs are in flight, and are given up in the end.
TEST_F(WaitsOfPlanesTest, DeadPlanes) {
  StartPair();
  WarmUp();
  Cut(0, true);
  Cut(1, true);
  SendPdus(4);
  std::vector<WaitCause> causes;
  WaitSnapshot snapshot;
  const auto ended = [&] { return !causes.empty() && causes.back() == WaitCause::kUnreachable; };
  for (uint32_t i = 0; i < 1000 && !ended(); ++i) {
    Run(microseconds(50));
    snapshot.done.store(false);
    ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::Waits{.snapshot = &snapshot}));
    ASSERT_TRUE(RunUntil([&] { return snapshot.done.load(); }));
    if (snapshot.count == 0) continue;
    const WaitCause cause = snapshot.rows[0].cause;
    if (causes.empty() || causes.back() != cause) causes.push_back(cause);
  }
  ASSERT_TRUE(ended());
  EXPECT_EQ(causes.front(), WaitCause::kFlight);
  EXPECT_EQ(snapshot.rows[0].queued_ns, -1);
}

}  // namespace
}  // namespace suede
