// SPDX-License-Identifier: Apache-2.0
// A peer's report of the PDUs that it has accepted: when it counts, when it does not, and how a
// lost peer is found again (wire profile §6).
#include "bench.h"

namespace suede {
namespace {

constexpr uint8_t kVc = 2;

class ProbesTest : public ByHandTest {
 protected:
  // The peer speaks no HELLO.
  void StartPlain() {
    params.transport.hello_tries = 0;
    params.transport.max_tries = 2;
    params.transport.nack_timeout = microseconds(50);
    Start();
    client = &Attach(*host);
  }
  void SendPdus(uint64_t first, uint64_t count) {
    for (uint64_t tag = first; tag < first + count; ++tag) {
      ASSERT_EQ(client->Send(TestCommand(8, 16, static_cast<uint8_t>(tag)), 1, kVc,
                             SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION, tag),
                SendResult::kOk);
    }
  }
  // An unsequenced PDU of the peer.
  void Say(RhOp op, uint16_t rpsn, uint16_t psn = 0) {
    ReliabilityHeader rh = Rh(psn, kVc);
    rh.op = op;
    rh.rpsn = Psn(rpsn);
    Inject({Build(rh, {})});
  }
  // Runs until a probe has come. Returns its PSN and DSCP.
  std::pair<int, int> NextProbe() {
    std::pair<int, int> found{-1, -1};
    RunUntil([&] {
      for (const Sent& sent : TakeSent()) {
        const bool sequenced = !sent.commands.empty() && (sent.commands[0] & 0xf) != 0;
        if (sent.rh.ver == 0 && !sequenced) found = {sent.rh.psn.value(), sent.dscp};
      }
      return found.first >= 0;
    });
    return found;
  }
  bool IsLost() const {
    const Instance& instance = host->pipeline->instance(0);
    return instance.peers.StateOf(0) == ConnectionState::kLost;
  }
  std::vector<uint16_t> DataPsns() {
    std::vector<uint16_t> psns;
    for (const Sent& sent : TakeSent()) {
      if (sent.rh.ver == 0 && !sent.commands.empty() && (sent.commands[0] & 0xf) != 0) {
        psns.push_back(sent.rh.psn.value());
      }
    }
    return psns;
  }
  Client* client = nullptr;
};

// All ACKs of the peer were lost: it has accepted everything, and has no reason of its own to
// speak.
TEST_F(ProbesTest, PlainPeerOfWhichOnlyTheAcksWereLostIsFoundAgain) {
  params.classes[kVc].dscp = 12;
  StartPlain();
  SendPdus(0, 3);
  EXPECT_EQ(Statuses(*client, 3), std::vector<int>(3, SUEDE_STATUS_IN_DOUBT));
  ASSERT_TRUE(IsLost());
  // One more than that of the next sequenced PDU, behind those that were given up.
  EXPECT_EQ(NextProbe(), (std::pair<int, int>{4, 12}));
  Say(RhOp::kNack, 3);
  EXPECT_TRUE(IsLost());
  // Every second one goes to another quarter, where the peer might be.
  EXPECT_EQ(NextProbe(), (std::pair<int, int>{4 + (1 << 14), 12}));
  Say(RhOp::kNack, 3);
  EXPECT_FALSE(IsLost());
  TakeSent();
  SendPdus(0, 1);
  Run(microseconds(20));
  EXPECT_EQ(DataPsns(), std::vector<uint16_t>{3});
  Say(RhOp::kAck, 3);
  EXPECT_EQ(Statuses(*client, 1), std::vector<int>{kOk});
}

// The peer has restarted without a word, or we have: it is far ahead of all that was sent.
TEST_F(ProbesTest, PlainPeerThatIsElsewhereIsFoundAgain) {
  StartPlain();
  SendPdus(0, 3);
  Run(microseconds(20));
  Say(RhOp::kAck, 29'999, 41'000);  // duplicates, to it
  EXPECT_EQ(host->Count(Counter::kRxRpsnInvalid) + host->Count(Counter::kRxRpsnImplausible), 1u);
  EXPECT_EQ(Statuses(*client, 3), std::vector<int>(3, SUEDE_STATUS_IN_DOUBT));
  for (int answers = 0; answers < 2;) {
    const int psn = NextProbe().first;
    ASSERT_GE(psn, 0);
    if (!Psn(static_cast<uint16_t>(psn)).IsAfter(Psn(30'000))) continue;  // old, to it
    Say(RhOp::kNack, 30'000, 41'000);
    ++answers;
  }
  EXPECT_FALSE(IsLost());
  TakeSent();
  SendPdus(0, 1);
  Run(microseconds(20));
  EXPECT_EQ(DataPsns(), std::vector<uint16_t>{30'000});
}

// The device has stopped with given-up frames in its ring. The peer's answers meanwhile, even two,
// are of before: with those PSNs the old frames would be accepted in place of new ones.
TEST_F(ProbesTest, NothingGoesOnWhileTheDeviceHoldsWhatWasGivenUp) {
  params.transport.pause_limit = {};
  StartPlain();
  SendPdus(0, 1);
  Run(microseconds(20));
  Say(RhOp::kAck, 0);
  ASSERT_EQ(Statuses(*client, 1), std::vector<int>{kOk});
  host->port->SetPaused(true);
  SendPdus(0, 4);
  EXPECT_EQ(Statuses(*client, 4), std::vector<int>(4, SUEDE_STATUS_IN_DOUBT));
  TakeSent();
  for (int i = 0; i < 6; ++i) {
    Say(RhOp::kNack, 1);
    Run(milliseconds(3));
  }
  EXPECT_TRUE(IsLost());
  EXPECT_TRUE(TakeSent().empty());
  host->port->SetPaused(false);
  Run(microseconds(20));
  // Now the peer has them, and the probes behind them.
  EXPECT_EQ(DataPsns().back(), 4);
  for (int answers = 0; answers < 2;) {
    const int psn = NextProbe().first;
    ASSERT_EQ(psn & 0x3fff, 6);
    if (!Psn(static_cast<uint16_t>(psn)).IsAfter(Psn(5))) continue;
    Say(RhOp::kNack, 5);
    ++answers;
  }
  EXPECT_FALSE(IsLost());
  TakeSent();
  SendPdus(0, 1);
  Run(microseconds(20));
  EXPECT_EQ(DataPsns(), std::vector<uint16_t>{5});
  ExpectNoFramesOut();
}

// Blind ACKs while frames are lost: they have to guess the peer's PSN, too.
TEST_F(ProbesTest, AcknowledgementsWithAPsnThatThePeerCannotHaveSentAreIgnored) {
  Start();
  client = &Attach(*host);
  Meet();
  SendPdus(0, 4);
  Run(microseconds(100));
  const uint16_t last = static_cast<uint16_t>(
      host->pipeline->instance(0).peers.connections[0].in_flight().next_psn().value() - 1);
  for (uint16_t psn = 1000; psn < 64'000; psn = static_cast<uint16_t>(psn + 1000)) {
    Say(RhOp::kAck, last, psn);
    Say(RhOp::kNack, static_cast<uint16_t>(last + 1), psn);
  }
  EXPECT_EQ(host->Count(Counter::kRxRpsnImplausible), 126u);
  EXPECT_TRUE(client->Completions().empty());
  EXPECT_EQ(host->pipeline->instance(0).tx.inflight, 4u);
  Say(RhOp::kAck, last, 0);
  EXPECT_EQ(Statuses(*client, 4), std::vector<int>(4, kOk));
}

// ACKs that have overtaken data are no loss of its tail; if the data does not come, they are.
TEST_F(ProbesTest, DataThatIsOvertakenIsNotAskedForAgain) {
  params.transport.reorder_allowance = microseconds(100);
  Start();
  Meet();
  client = &Attach(*host);
  Say(RhOp::kNothing, 0, 3);
  Run(microseconds(50));
  Inject({Build(Rh(0, kVc), Command(1)), Build(Rh(1, kVc), Command(2)),
          Build(Rh(2, kVc), Command(3))});
  Run(milliseconds(2));
  EXPECT_EQ(client->Receive(kVc).size(), 3u);
  EXPECT_EQ(host->Count(Counter::kTxNacks), 0u);
  // Where PDUs are lost, a NACK comes sooner than the sender's timeout.
  Inject({Build(Rh(4), Command(5))});
  Run(milliseconds(1));
  EXPECT_EQ(host->Count(Counter::kTxNacks), 1u);
  Say(RhOp::kNothing, 0, 4);
  Run(microseconds(50));
  EXPECT_EQ(host->Count(Counter::kTxNacks), 1u);
  Run(microseconds(200));
  EXPECT_EQ(host->Count(Counter::kTxNacks), 2u);
}

// Two hosts whose link loses long frames: PDUs behind one are reported as a gap again and again.
TEST_F(ProbesTest, PduThatCannotPassIsFoundOutWhateverPassesBehindIt) {
  params.transport.max_tries = 5;
  params.transport.nack_timeout = microseconds(50);
  Host& a = AddHost(0, 2);
  Host& b = AddHost(1, 2);
  Client& sender = Attach(a);
  Client& receiver = Attach(b);
  sender.SendTagged(0, 1);
  ASSERT_EQ(Statuses(sender, 1), std::vector<int>{kOk});
  a.port->faults().max_bytes = 250;
  sender.Send(TestCommand(8, 256, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION, 0);
  for (int i = 0; i < 30; ++i) {
    sender.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  }
  EXPECT_EQ(Statuses(sender, 1), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
  EXPECT_GT(b.Count(Counter::kTxNacks), 3u);
  EXPECT_EQ(receiver.Receive().size(), 1u);
}

// A peer that speaks no HELLO is heard from PSN 0 on once that is known, and no other peer with it.
TEST_F(ProbesTest, APeerThatIsFoundPlainIsHeardFromZeroOn) {
  plain_peers = false;
  params.transport.hello_tries = 1;
  host = &AddHost(0, 3);
  wire = AddPort(1);
  client = &Attach(*host);
  Inject({Build(Rh(0), Command(1))});
  EXPECT_EQ(host->Count(Counter::kRxBeforeHello), 1u);
  Say(RhOp::kNack, 0);
  ASSERT_TRUE(RunUntil([&] { return host->pipeline->instance(0).peers[0].handshake().plain(); }));
  ReliabilityHeader other = Rh(0);
  other.xpuid = 2;
  Inject({Build(other, Command(2), 2)});
  EXPECT_EQ(host->Count(Counter::kRxBeforeHello), 2u);
  EXPECT_EQ(host->Count(Counter::kRxPdus), 0u);
  Inject({Build(Rh(0), Command(3))});
  EXPECT_EQ(host->Count(Counter::kRxPdus), 1u);
  EXPECT_EQ(client->Receive(), std::vector<uint8_t>{9});
}

// Before that, no PDU has more lines than the smallest ring.
TEST_F(ProbesTest, PdusToAPeerThatIsFoundPlainHaveAnyNumberOfLines) {
  plain_peers = false;
  params.transport.hello_tries = 1;
  params.transport.window_pdus = 1;
  Start();
  client = &Attach(*host);
  Inject({Build(Rh(0), Command(1))});
  Say(RhOp::kNack, 0);
  const Instance& instance = host->pipeline->instance(0);
  ASSERT_TRUE(RunUntil([&] { return instance.peers[0].handshake().plain(); }));
  SendPdus(0, 1);
  Run(microseconds(50));
  ASSERT_EQ(instance.tx.inflight, 1u);
  for (int i = 0; i < 100; ++i) client->Send(TestCommand(2, 0, 1), 1, kVc);
  Run(microseconds(50));
  EXPECT_EQ(instance.tx.queued, 1u);
}

}  // namespace
}  // namespace suede
