// SPDX-License-Identifier: Apache-2.0
// Frames that a switch has cut to their headers (docs/congestion.md, docs/switch.md).
#include "bench.h"
#include "trimmed_frame.h"

namespace suede {
namespace {

class TrimmingTest : public ByHandTest {
 protected:
  // Host 0, which knows trimmed frames by `dscp`.
  void StartTrimmed(std::optional<uint8_t> dscp = kTrimmedDscp) {
    plain_peers = false;
    host = &AddHost(0, 2);
    InstanceParams own = host->pipeline->instance(0).params;
    host->pipeline = std::make_unique<Pipeline>();
    host->pipeline->AddPort(host->port, {.mac = MacOf(0), .trimmed_dscp = dscp});
    host->pipeline->AddInstance(own);
    wire = AddPort(1);
    client = &Attach(*host);
  }
  void StartMet() {
    StartTrimmed();
    Meet();
    TakeSent();
  }
  std::vector<uint8_t> Whole(uint16_t psn) const { return Build(Rh(psn), Command(1)); }
  // The PSNs that NACKs have named since the last call.
  std::vector<uint16_t> TakeNacks() {
    std::vector<uint16_t> named;
    for (const Sent& sent : TakeSent()) {
      if (sent.rh.ver == 0 && sent.rh.op == RhOp::kNack) named.push_back(sent.rh.rpsn.value());
    }
    return named;
  }

  using Psns = std::vector<uint16_t>;
  Client* client = nullptr;
};

TEST_F(TrimmingTest, ExpectedPduIsAskedForAtOnceAndNeverDelivered) {
  StartMet();
  Inject({Cut(Whole(0))});
  EXPECT_EQ(TakeNacks(), Psns{0});
  EXPECT_EQ(host->Count(Counter::kRxTrimmed), 1u);
  EXPECT_EQ(host->Count(Counter::kRxTruncated), 0u);
  EXPECT_TRUE(client->Receive().empty());
  EXPECT_EQ(host->pipeline->instance(0).peers.connections[0].rx().expected(), Psn(0));
  Inject({Whole(0)});
  EXPECT_EQ(client->Receive().size(), 1u);
  Run(microseconds(100));
  const std::vector<Sent> answers = TakeSent();
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.back().rh.op, RhOp::kAck);
  EXPECT_EQ(answers.back().rh.rpsn, Psn(0));
}

TEST_F(TrimmingTest, PduAheadIsAskedForWhenThoseInFrontHaveCome) {
  StartMet();
  Inject({Cut(Whole(2)), Whole(0)});
  EXPECT_EQ(TakeNacks(), Psns{});
  Inject({Whole(1)});
  EXPECT_EQ(TakeNacks(), Psns{2});
}

// A malformed PDU takes its PSN, too.
TEST_F(TrimmingTest, PduBehindAMalformedOneIsAskedForAtOnce) {
  StartMet();
  Inject({Cut(Whole(1))});
  EXPECT_EQ(TakeNacks(), Psns{});
  std::vector<uint8_t> commands = Command(1);
  commands.insert(commands.end(), {0x0a, 0});  // L of 10
  Inject({Build(Rh(0), commands)});
  EXPECT_EQ(host->Count(Counter::kRxMalformed), 1u);
  EXPECT_EQ(TakeNacks(), Psns{1});
}

TEST_F(TrimmingTest, FloodMakesOneNackInABaseRoundTrip) {
  StartMet();
  const Time begin = network.now();
  for (int i = 0; i < 40; ++i) {
    Inject({Cut(Whole(0)), Cut(Whole(0)), Cut(Whole(3)), Cut(Whole(0))});
  }
  const auto rounds = static_cast<uint64_t>((network.now() - begin) /
                                            host->pipeline->instance(0).params.target.base_rtt);
  const size_t nacks = TakeNacks().size();
  EXPECT_GE(nacks, rounds / 2);
  EXPECT_LE(nacks, rounds + 1);
  EXPECT_EQ(host->Count(Counter::kRxTrimmed), 160u);
}

TEST_F(TrimmingTest, FramesThatAreForNoConnectionAreCountedAndSayNothing) {
  StartMet();
  ReliabilityHeader other_xpu = Rh();
  other_xpu.xpuid = 9;
  ReliabilityHeader other_partition = Rh();
  other_partition.partition = kPartition + 1;
  ReliabilityHeader control = Rh();
  control.ver = static_cast<uint8_t>(RhVersion::kControl);
  const std::vector<std::vector<uint8_t>> frames = {
      Build(other_xpu, Command(1)), Build(other_partition, Command(1)), Build(control, Command(1)),
      Build(Rh(), Command(1), 5),   Build(Rh(), Command(1), 1, 7),
  };
  uint64_t count = 0;
  for (const std::vector<uint8_t>& frame : frames) {
    Inject({Cut(frame)});
    EXPECT_EQ(host->Count(Counter::kRxTrimmedUnknown), ++count);
    EXPECT_TRUE(TakeSent().empty()) << count;
  }
  EXPECT_EQ(host->Count(Counter::kRxTrimmed), 0u);
}

TEST_F(TrimmingTest, NoneIsKept) {
  StartMet();
  ReliabilityHeader other_xpu = Rh();
  other_xpu.xpuid = 9;
  const std::vector<uint8_t> for_nobody = Build(Rh(), Command(1), 1, 7);
  for (uint32_t i = 0; i < 4 * kBurst; ++i) {
    Inject({Cut(Whole(0)), Cut(for_nobody), Cut(Build(other_xpu, Command(1)))});
  }
  EXPECT_EQ(host->Count(Counter::kRxTrimmedUnknown), uint64_t{8 * kBurst});
  ExpectNoFramesOut();
}

TEST_F(TrimmingTest, PeerWithoutAnAssociationIsNotAnswered) {
  StartTrimmed();
  host->pipeline->Poll(network.now());
  TakeSent();
  Inject({Cut(Whole(0))});
  ASSERT_TRUE(host->pipeline->instance(0).peers.connections[0].rx().closed());
  EXPECT_EQ(host->Count(Counter::kRxTrimmedUnknown), 1u);
  EXPECT_EQ(TakeNacks(), Psns{});
}

TEST_F(TrimmingTest, InstanceThatIsDownDoesNotAnswer) {
  StartMet();
  Ask(*host, Switch(OutOfService::kInstance, false));
  ASSERT_TRUE(host->pipeline->instance(0).down);
  TakeSent();
  Inject({Cut(Whole(0))});
  EXPECT_EQ(host->Count(Counter::kRxTrimmedUnknown), 1u);
  EXPECT_TRUE(TakeSent().empty());
}

TEST_F(TrimmingTest, PortThatDoesNotKnowThemDropsThemAsTruncated) {
  StartTrimmed(std::nullopt);
  Meet();
  TakeSent();
  Inject({Cut(Whole(0))});
  EXPECT_EQ(host->Count(Counter::kRxTruncated), 1u);
  EXPECT_EQ(host->Count(Counter::kRxTrimmed), 0u);
  EXPECT_EQ(TakeNacks(), Psns{});
}

TEST_F(TrimmingTest, PeerThatWantsEchoesIsToldOfThem) {
  StartTrimmed();
  Hello hello = HelloTo(InstanceAt(0));
  hello.answers_congestion = true;
  hello.wants_echoes = true;
  std::vector<uint8_t> body(kMaxControlPduBytes);
  body.resize(EncodeControl(hello, body.data()));
  Inject({Build(ControlRh(1, kPartition), body)});
  TakeSent();
  Inject({Whole(0), Cut(Whole(1))});
  EXPECT_EQ(host->Count(Counter::kTxCongestionEchoes), 1u);
  uint32_t echoes = 0;
  for (const Sent& sent : TakeSent()) {
    ControlMessage message;
    if (sent.rh.ver != 3 ||
        DecodeControl(sent.commands.data(), static_cast<uint32_t>(sent.commands.size()), message) !=
            ControlError::kNone) {
      continue;
    }
    const auto* congestion = std::get_if<Congestion>(&message);
    if (congestion == nullptr) continue;
    ++echoes;
    EXPECT_TRUE(congestion->echo);
    EXPECT_EQ(congestion->received, 1u);
    EXPECT_EQ(congestion->marked, 0u);
    EXPECT_EQ(congestion->trimmed, 1u);
  }
  EXPECT_EQ(echoes, 1u);
}

// Somebody sends headers of what host 1 is about to send.
TEST_F(TrimmingTest, ForgedFramesMakeTheSenderGoBackOnceInABaseRoundTrip) {
  StartTrimmed();
  Host& sender = AddHost(1, 2);
  Client& source = Attach(sender);
  source.SendTagged(0, 0);
  ASSERT_EQ(Statuses(source, 1), std::vector<int>{kOk});
  client->Receive();
  constexpr uint64_t kCount = 400;
  const uint64_t before = sender.Count(Counter::kGoBacks);
  const Time begin = network.now();
  uint64_t sent = 0;
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] {
    if (sent < kCount) sent += source.SendTagged(sent, 0) == SendResult::kOk;
    const Psn expected = host->pipeline->instance(0).peers.connections[0].rx().expected();
    network.Inject(Cut(Whole(expected.value())));
    source.Completions();
    return (got += client->Receive().size()) == kCount;
  }));
  Run(microseconds(200));
  EXPECT_TRUE(client->Receive().empty());
  const auto rounds = static_cast<uint64_t>((network.now() - begin) /
                                            host->pipeline->instance(0).params.target.base_rtt);
  EXPECT_GT(host->Count(Counter::kRxTrimmed), kCount / 2);
  EXPECT_LE(sender.Count(Counter::kGoBacks) - before, rounds + 1);
}

// ---- RCCC in a peer's HELLO.

class HelloOfCreditTest : public TrimmingTest {
 protected:
  // Sends more than the initial credit. Returns how many PDUs have left at once.
  uint64_t SendTo(bool answers_congestion) {
    params.congestion.control = CongestionControl::kRccc;
    params.congestion.initial_percent = 1;
    params.pack_limit_bytes = 512;
    StartTrimmed();
    Hello hello = HelloTo(InstanceAt(0));
    hello.answers_congestion = answers_congestion;
    std::vector<uint8_t> body(kMaxControlPduBytes);
    body.resize(EncodeControl(hello, body.data()));
    Inject({Build(ControlRh(1, kPartition), body)});
    for (int i = 0; i < 40; ++i)
      client->Send(TestCommand(8, 256, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
    Run(microseconds(20));
    return host->Count(Counter::kTxPdus);
  }
};

TEST_F(HelloOfCreditTest, PeerThatGrantsIsAskedForCredit) {
  EXPECT_LE(SendTo(true), 10u);
  EXPECT_GT(host->Count(Counter::kTxCongestionRequests), 0u);
}

TEST_F(HelloOfCreditTest, PeerThatGrantsNoneIsSentToByWindowsAlone) {
  EXPECT_EQ(SendTo(false), 40u);
  EXPECT_EQ(host->Count(Counter::kTxCongestionRequests), 0u);
  EXPECT_EQ(host->Count(Counter::kTxWaitsCongestion), 0u);
}

}  // namespace
}  // namespace suede
