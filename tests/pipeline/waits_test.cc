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

// One turn of the lcore stages a burst; what is left waits for the next.
TEST_F(WaitsTest, Turn) {
  params.transport.window_pdus = 512;
  StartPair();
  Meet();
  Send(200);
  a->pipeline->Poll(network.now());
  const WaitRow row = Only();
  EXPECT_EQ(row.cause, WaitCause::kTurn);
  EXPECT_GT(row.queued_octets, 0u);
}

// A port that is slower than its lcore takes no more frames.
TEST_F(WaitsTest, Port) {
  params.transport.window_pdus = 512;
  StartPair();
  Meet();
  a->port->faults().bits_per_ns = 0.001;
  Send(200);
  Run(microseconds(50));
  EXPECT_EQ(Only().cause, WaitCause::kPort);
}

// Lost PDUs that wait for a slow port hold up those behind them.
TEST_F(WaitsTest, Retransmission) {
  params.transport.window_pdus = 64;
  StartPair();
  Meet();
  Cut();
  Send(100);
  Run(microseconds(100));
  a->port->faults() = {.bits_per_ns = 0.01};
  b->port->faults() = {};
  for (int i = 0; i < 200 && Only().cause != WaitCause::kRetransmission; ++i) Run(microseconds(20));
  const WaitRow row = Only();
  EXPECT_EQ(row.cause, WaitCause::kRetransmission);
  EXPECT_GE(row.queued_ns, 100'000);
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

class WaitsOfPlanesTest : public PlanesTest {
 protected:
  // Sends PDUs that get lost. Returns their plane, which stays cut.
  uint32_t SendAndLose() {
    Cut(0, true);
    Cut(1, true);
    SendPdus(4);
    Run(microseconds(10));
    const uint32_t home = a->pipeline->instance(0).peers.connections[0].in_flight().empty() ? 1 : 0;
    Cut(1 - home, false);
    return home;
  }
  // The row of VC 0; its cause is kFlight without one.
  WaitRow Row() {
    WaitSnapshot snapshot;
    snapshot.done.store(false);
    EXPECT_TRUE(a->pipeline->mailbox().requests.Push(request::Waits{.snapshot = &snapshot}));
    EXPECT_TRUE(RunUntil([&] { return snapshot.done.load(); }));
    return snapshot.count != 0 ? snapshot.rows[0] : WaitRow{};
  }
};

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

// Routes of all planes are withdrawn.
TEST_F(WaitsOfPlanesTest, NoPlane) {
  StartPair();
  WarmUp();
  for (const PlaneIndex plane : {PlaneIndex(0), PlaneIndex(1)}) {
    Ask(*a, request::SetWeight{.peer = PeerIndex(0), .plane = plane, .weight = 0});
  }
  SendPdus(2);
  Run(microseconds(10));
  EXPECT_EQ(Row().cause, WaitCause::kNoPlane);
  EXPECT_GT(Row().queued_ns, 0);
}

// Strict order: a flow leaves a plane behind its PDUs in flight there.
TEST_F(WaitsOfPlanesTest, MovesBehindPdusInFlight) {
  params.paths.ordering = Ordering::kStrict;
  StartPair();
  WarmUp();
  const uint32_t home = SendAndLose();
  Ask(*a, request::SetPlane{.plane = PlaneIndex(home), .plane_admin = PlaneAdmin::kDrain});
  SendPdus(4);
  Run(microseconds(10));
  EXPECT_EQ(Row().cause, WaitCause::kMoving);
  EXPECT_GT(Row().queued_ns, 0);
}

// Strict order: the home plane dies, and the other end is asked which PDUs have arrived.
TEST_F(WaitsOfPlanesTest, AsksWhichPdusHaveArrived) {
  params.paths.ordering = Ordering::kStrict;
  StartPair();
  WarmUp();
  const uint32_t home = SendAndLose();
  b->ports[1 - home]->SetSilent(/*sends_nothing=*/true, false);  // answers no FENCE
  a->ports[home]->SetLink(false);
  SendPdus(4);
  for (int i = 0; i < 20 && Row().cause != WaitCause::kFence; ++i) Run(microseconds(20));
  EXPECT_EQ(Row().cause, WaitCause::kFence);
  EXPECT_EQ(Row().plane, home);
}

}  // namespace
}  // namespace suede
