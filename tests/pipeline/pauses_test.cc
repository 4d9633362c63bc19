// SPDX-License-Identifier: Apache-2.0
// Ports that a switch pauses: frames stay in the device, and silence then says nothing of planes and
// peers, up to a bound.
#include "planes_bench.h"

namespace suede {
namespace {

// ---- One port.

class PausedPortTest : public PipelineTest {
 protected:
  void Start() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
    ca->SendTagged(0, 1);
    EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    Run(milliseconds(1));
    cb->Receive();
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

// All tries would be used up several times over.
TEST_F(PausedPortTest, APauseIsNoTry) {
  Start();
  for (const Duration pause : {milliseconds(1), milliseconds(20), milliseconds(50)}) {
    a->port->SetPaused(true);
    for (uint64_t tag = 0; tag < 5; ++tag) ca->SendTagged(tag, 1);
    Run(pause);
    EXPECT_TRUE(ca->Completions().empty());
    EXPECT_FALSE(a->pipeline->instance(0).peers.connections[0].tx().lost());
    a->port->SetPaused(false);
    EXPECT_EQ(Statuses(*ca, 5), std::vector<int>(5, kOk));
    EXPECT_EQ(cb->Receive().size(), 5u);
    Run(milliseconds(1));
  }
  EXPECT_EQ(a->Count(Counter::kRtoFired), 0u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
  EXPECT_EQ(a->Count(Counter::kTxHeldUp), 3u);
  const std::vector<LcoreEvent> held_up = Events(*a, LcoreEventKind::kHeldUp);
  ASSERT_EQ(held_up.size(), 1u);  // they came too close upon each other
  EXPECT_EQ(held_up[0].what, 0u);
  ExpectNoFramesOut();
}

// The ring is full, and the device takes nothing any more.
TEST_F(PausedPortTest, ADeviceThatTakesNothingIsPausedToo) {
  Start();
  a->port->SetPaused(true);
  for (uint64_t tag = 0; tag < 120; ++tag) {
    ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION, tag);
    Run(microseconds(4));
  }
  EXPECT_GT(a->Count(Counter::kTxPortFull), 0u);
  Run(milliseconds(30));
  EXPECT_TRUE(ca->Completions().empty());
  a->port->SetPaused(false);
  EXPECT_EQ(Statuses(*ca, 120), std::vector<int>(120, kOk));
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
}

TEST_F(PausedPortTest, APauseBeyondTheLimitIsSilenceAsEver) {
  params.transport.pause_limit = milliseconds(10);
  Start();
  a->port->SetPaused(true);
  const Time began = network.now();
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
  EXPECT_GE(network.now() - began, milliseconds(12));
  EXPECT_LE(network.now() - began, milliseconds(25));
}

// A frame that was lost on the way is sent again as ever: its device has let it go.
TEST_F(PausedPortTest, LossIsNoPause) {
  Start();
  a->port->faults().loss = 1;
  const Time began = network.now();
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
  EXPECT_LE(network.now() - began, milliseconds(12));
  EXPECT_EQ(a->Count(Counter::kTxHeldUp), 0u);
}

// Gaps are reported in time, however long this end's own PDUs have to wait.
class PausedByHandTest : public ByHandTest {};
TEST_F(PausedByHandTest, WhileItIsPausedGapsAreReportedInTime) {
  params.transport.reorder_allowance = microseconds(100);
  Start();
  Client& client = Attach(*host);
  Meet();
  client.SendTagged(0, 1);
  Run(microseconds(50));
  ReliabilityHeader ack = Rh();
  ack.op = RhOp::kAck;
  ack.rpsn = FirstPsn();
  Inject({Build(ack, {})});
  ASSERT_EQ(Statuses(client, 1), std::vector<int>{kOk});
  Inject({Build(Rh(2), Command(1))});  // PDUs are lost here
  host->port->SetPaused(true);
  client.SendTagged(0, 1);
  Run(milliseconds(20));
  EXPECT_EQ(host->Count(Counter::kTxHeldUp), 1u);
  for (uint16_t psn = 3; psn < 10; ++psn) {
    const uint64_t before = host->Count(Counter::kTxNacks);
    Inject({Build(Rh(psn), {})});
    Run(microseconds(200));
    EXPECT_EQ(host->Count(Counter::kTxNacks), before + 1) << psn;
    Run(milliseconds(3));
  }
  EXPECT_EQ(host->Count(Counter::kRtoFired), 0u);
}

// ---- Several planes.

class PausedPlaneTest : public PlanesTest {
 protected:
  PausedPlaneTest() { params.paths.unreachable = milliseconds(20); }
  uint64_t Deaths() {
    return a->Count(Counter::kPlaneDeaths) + b->Count(Counter::kPlaneDeaths);
  }
  // Both send for so long, PDU by PDU; all of it arrives.
  void SendBothWays(Duration time) {
    const Time end = network.now() + time;
    size_t from_a = 0;
    size_t from_b = 0;
    while (network.now() < end) {
      from_a += Say(*ca, 1, from_a);
      from_b += Say(*cb, 0, from_b);
      Run(microseconds(50));
      at_b += cb->Receive().size();
      at_a += ca->Receive().size();
    }
    sent_a += from_a;
    sent_b += from_b;
  }
  static bool Say(Client& client, uint16_t to, uint64_t tag) {
    return client.Send(TestCommand(8, 16, 1), to, 0, SUEDE_RECORD_TRANSMIT_NOW, tag) ==
           SendResult::kOk;
  }
  bool AllThere() {
    at_b += cb->Receive().size();
    at_a += ca->Receive().size();
    return at_b == sent_a && at_a == sent_b;
  }
  size_t sent_a = 0;
  size_t sent_b = 0;
  size_t at_a = 0;
  size_t at_b = 0;
};

// Neither end takes it for a dead plane: not the one that is paused, nor the one that hears nothing.
TEST_F(PausedPlaneTest, APauseIsNoDeath) {
  for (const Ordering ordering : {Ordering::kUnordered, Ordering::kStrict}) {
    for (const uint32_t plane : {0u, 1u}) {
      hosts.clear();
      clients.clear();
      network = SimNetwork(1);
      sent_a = sent_b = at_a = at_b = 0;
      params.paths.ordering = ordering;
      StartPair();
      WarmUp();
      for (const Duration pause : {milliseconds(1), milliseconds(10), milliseconds(50)}) {
        a->ports[plane]->SetPaused(true);
        SendBothWays(pause);
        a->ports[plane]->SetPaused(false);
        EXPECT_TRUE(RunUntil([&] { return AllThere(); }, milliseconds(20)));
        Run(milliseconds(4));
      }
      EXPECT_EQ(Deaths(), 0u);
      EXPECT_GT(a->Count(Counter::kTxHeldUp), 0u);
      EXPECT_GT(b->Count(Counter::kRxHeldUp), 0u);
      EXPECT_TRUE(Events(*b, LcoreEventKind::kPlaneDown).empty());
    }
  }
}

// Nothing is in flight, and questions and answers do not leave.
TEST_F(PausedPlaneTest, APauseOfAnIdlePlaneIsNoDeath) {
  StartPair();
  WarmUp();
  a->ports[0]->SetPaused(true);
  Run(milliseconds(40));
  a->ports[0]->SetPaused(false);
  Run(milliseconds(10));
  EXPECT_EQ(Deaths(), 0u);
}

// Both ends ask at the same time, and one's questions and answers are held up and then come at
// once.
TEST_F(PausedPlaneTest, AShortPauseOfAnIdlePlaneIsNoDeath) {
  params.paths.hello_multiplier = 2;
  StartPair();
  WarmUp();
  for (Duration pause = milliseconds(1); pause < milliseconds(4); pause += microseconds(50)) {
    a->ports[0]->SetPaused(true);
    Run(pause);
    a->ports[0]->SetPaused(false);
    Run(microseconds(1030));
    ASSERT_EQ(Deaths(), 0u) << pause.count();
  }
}

// Each end's port to one plane is paused, and each is heard on the other one. No plane is up but the
// one that is waited for.
TEST_F(PausedPlaneTest, APauseIsToldWherePeersOnlyHear) {
  params.paths.unreachable = milliseconds(200);
  StartPair();
  b->ports[1]->SetPaused(true);
  WarmUp();
  ASSERT_TRUE(SessionOf(*a, 0).up());
  ASSERT_FALSE(SessionOf(*a, 1).up());
  ASSERT_FALSE(SessionOf(*b, 1).up());
  a->ports[0]->SetPaused(true);
  SendBothWays(milliseconds(40));
  EXPECT_GT(b->Count(Counter::kRxHeldUp), 0u);
  EXPECT_EQ(Deaths(), 0u);
  a->ports[0]->SetPaused(false);
  EXPECT_TRUE(RunUntil([&] { return AllThere(); }, milliseconds(20)));
  EXPECT_EQ(Deaths(), 0u);
}

// All planes at once: nobody is given up. (The other end hears of nothing, but it waits longer.)
TEST_F(PausedPlaneTest, APauseOfAllPlanesIsNoDeath) {
  params.paths.unreachable = milliseconds(100);
  StartPair();
  WarmUp();
  for (SimPort* port : a->ports) port->SetPaused(true);
  SendPdus(20);
  Run(milliseconds(60));
  for (SimPort* port : a->ports) port->SetPaused(false);
  EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, kOk));
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
  EXPECT_EQ(Deaths(), 0u);
}

// A storm of pauses fails over, and says why. The frames in the ring come out later, and are not
// taken twice.
TEST_F(PausedPlaneTest, APauseBeyondTheLimitEndsThePlane) {
  params.transport.pause_limit = milliseconds(5);
  StartPair();
  WarmUp();
  a->ports[0]->SetPaused(true);
  const Time began = network.now();
  SendPdus(60);
  ASSERT_TRUE(RunUntil([&] { return !SessionOf(*a, 0).up(); }));
  EXPECT_GE(network.now() - began, milliseconds(5));
  EXPECT_LE(network.now() - began, milliseconds(6));
  const std::vector<LcoreEvent> events = Events(*a, LcoreEventKind::kPlaneDown);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].what, static_cast<uint8_t>(PlaneDownReason::kPaused));
  EXPECT_EQ(Statuses(*ca, 60), std::vector<int>(60, kOk));
  a->ports[0]->SetPaused(false);
  EXPECT_TRUE(RunUntil([&] { return SessionOf(*a, 0).up() && SessionOf(*b, 0).up(); }));
  std::vector<uint8_t> got = cb->Receive();
  std::sort(got.begin(), got.end());
  std::vector<uint8_t> want = Seeds(60);
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
}

// The other end's word is not taken for longer than the limit, either.
TEST_F(PausedPlaneTest, APeerThatIsPausedForTooLongIsLostOnThePlane) {
  params.transport.pause_limit = milliseconds(5);
  StartPair();
  WarmUp();
  a->ports[0]->SetPaused(true);
  const Time began = network.now();
  while (network.now() - began < milliseconds(4)) SendBothWays(microseconds(100));
  EXPECT_TRUE(SessionOf(*b, 0).up());
  SendBothWays(milliseconds(6));
  EXPECT_FALSE(SessionOf(*b, 0).up());
}

}  // namespace
}  // namespace suede
