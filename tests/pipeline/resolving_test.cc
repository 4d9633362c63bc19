// SPDX-License-Identifier: Apache-2.0
// Peers whose MAC address is not known yet: PDUs for them wait, and none is sent without an
// address.
#include "bench.h"
#include "lcore/settings.h"

namespace suede {
namespace {

class ResolvingTest : public ByHandTest {
 protected:
  void SetUp() override {
    resolving = true;
    Start();
    nowhere = network.AddPort({0, 0, 0, 0, 0, 0}, 64, 64, SimFaults());
    client = &Attach(*host);
  }
  void SetMac(uint32_t to) {
    EXPECT_EQ(Ask(*host, request::SetPeerMac{.peer = 0, .mac = MacOf(to)}), LcoreStatus::kBusy)
        << "it has no reply";
  }
  bool HasHello(const std::vector<Sent>& sent) {
    for (const Sent& frame : sent) {
      if (frame.rh.ver == static_cast<uint8_t>(RhVersion::kControl)) return true;
    }
    return false;
  }
  SimPort* nowhere = nullptr;
  Client* client = nullptr;
};

TEST_F(ResolvingTest, CommandsWaitAndThenGo) {
  for (uint8_t tag = 0; tag < 3; ++tag) client->SendTagged(tag, 1, tag);
  Run(milliseconds(20));
  EXPECT_EQ(host->Count(Counter::kTxFrames), 0u);
  EXPECT_EQ(host->Count(Counter::kTxWaitsMac), 3u);
  EXPECT_TRUE(client->Completions().empty());
  SetMac(1);
  EXPECT_EQ(host->Count(Counter::kNeighboursLearnt), 1u);
  EXPECT_TRUE(RunUntil([&] { return host->Count(Counter::kTxPdus) == 3; }));
  Run(microseconds(20));
  const std::vector<Sent> sent = TakeSent();
  ASSERT_FALSE(sent.empty());
  EXPECT_TRUE(Take(nowhere).empty());
  for (uint16_t psn = 0; psn < 3; ++psn) {
    ReliabilityHeader ack = Rh(0, 0);
    ack.op = RhOp::kAck;
    ack.rpsn = Psn(2);
    Inject({Build(ack, {})});
  }
  EXPECT_EQ(client->Completions().size(), 3u);
}

TEST_F(ResolvingTest, CreditBoundsWhatWaits) {
  uint32_t accepted = 0;
  while (client->SendTagged(accepted, 1) == SendResult::kOk) ++accepted;
  Run(milliseconds(1));
  EXPECT_EQ(client->SendTagged(0, 1), SendResult::kWouldBlock);
  EXPECT_LE(accepted, shape.credit_lines);
  SetMac(1);
  EXPECT_TRUE(RunUntil([&] { return host->Count(Counter::kTxCommands) == accepted; }));
}

TEST_F(ResolvingTest, APeerThatSpeaksFirstIsNotAnsweredYet) {
  plain_peers = false;
  Boot(*host, 2);
  client = &Attach(*host);
  client->SendTagged(0, 1);
  Inject({Control(Hello{.identities = {.own = 77},
                        .nonce = 1,
                        .window_pdus = 64,
                        .pack_limit_bytes = 2048,
                        .reply_wanted = true}),
          Build(Rh(0), Command(1))});
  Run(milliseconds(20));
  EXPECT_EQ(host->Count(Counter::kTxFrames), 0u);
  EXPECT_GE(host->Count(Counter::kTxNoMac), 1u);  // its HELLO's answer
  EXPECT_EQ(host->Count(Counter::kRxBeforeHello), 1u);
  EXPECT_TRUE(client->Receive().empty());
  SetMac(1);
  EXPECT_TRUE(RunUntil([&] { return HasHello(TakeSent()); })) << "the tries were not used up";
  // The PDU comes again, as it was not acknowledged.
  Meet();
  Inject({Build(Rh(0), Command(1))});
  EXPECT_EQ(client->Receive(), std::vector<uint8_t>{3});
  EXPECT_TRUE(RunUntil([&] { return host->Count(Counter::kTxAcks) > 0; }));
  EXPECT_TRUE(Take(nowhere).empty());
}

TEST_F(ResolvingTest, APeerWithoutAnAddressDelaysNoAcknowledgementOfAnother) {
  params.transport.ack_delay = microseconds(50);
  Boot(*host, 3);
  client = &Attach(*host);
  Ask(*host, request::SetPeerMac{.peer = 1, .mac = MacOf(1)});
  const auto from = [&](uint16_t xpu) {
    ReliabilityHeader rh = Rh(0);
    rh.xpuid = xpu;
    return Build(rh, Command(1), xpu);
  };
  Inject({from(1), from(2)});
  ASSERT_EQ(host->Count(Counter::kRxPdus), 2u);
  ASSERT_EQ(host->Count(Counter::kTxNoMac) + host->Count(Counter::kTxAcks), 0u);
  network.AdvanceTo(network.now() + microseconds(50));
  host->pipeline->Poll(network.now());
  EXPECT_EQ(host->Count(Counter::kTxNoMac), 1u);
  EXPECT_EQ(host->Count(Counter::kTxAcks), 1u) << "in the same turn";
  EXPECT_TRUE(host->pipeline->IsQuiet()) << "the one that could not leave is lost";
}

TEST_F(ResolvingTest, AnAddressThatChangesIsFollowed) {
  SetMac(1);
  client->SendTagged(0, 1);
  EXPECT_TRUE(RunUntil([&] { return host->Count(Counter::kTxPdus) == 1; }));
  Run(microseconds(20));
  EXPECT_FALSE(TakeSent().empty());
  SimPort* moved = AddPort(5);
  SetMac(5);
  TakeSent();
  EXPECT_TRUE(RunUntil([&] { return !Take(moved).empty(); })) << "retransmissions go there";
  EXPECT_TRUE(TakeSent().empty());
  EXPECT_EQ(host->Count(Counter::kNeighboursLearnt), 2u);
}

TEST_F(ResolvingTest, APeerThatNobodyFindsIsUnreachableUntilItIsFound) {
  for (uint8_t tag = 0; tag < 4; ++tag) client->SendTagged(tag, 1, tag);
  Run(milliseconds(1));
  Ask(*host, request::LosePeer{.peer = 0});
  EXPECT_EQ(Statuses(*client, 4), std::vector<int>(4, SUEDE_STATUS_UNREACHABLE));
  EXPECT_EQ(host->Count(Counter::kTxUnreachable), 4u);
  EXPECT_TRUE(host->pipeline->IsQuiet());
  // New ones are not taken in, and none of this costs credit or frames.
  for (int round = 0; round < 2000; ++round) {
    ASSERT_EQ(client->SendTagged(0, 1), SendResult::kOk) << round;
    EXPECT_EQ(Statuses(*client, 1)[0], SUEDE_STATUS_UNREACHABLE);
  }
  Ask(*host, request::LosePeer{.peer = 0});
  EXPECT_EQ(host->Count(Counter::kUnreachable), 1u);
  EXPECT_EQ(host->Count(Counter::kTxFrames), 0u);
  ExpectNoFramesOut();
  SetMac(1);
  client->SendTagged(7, 1);
  EXPECT_TRUE(RunUntil([&] { return host->Count(Counter::kTxPdus) == 1; }));
  // Too late: it has been found.
  Ask(*host, request::LosePeer{.peer = 0});
  ReliabilityHeader ack = Rh();
  ack.op = RhOp::kAck;
  ack.rpsn = Psn(0);
  Inject({Build(ack, {})});
  const std::vector<suede_completion> completions = client->Completions();
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].status, SUEDE_STATUS_OK);
}

// A peer that nobody knows is asked on all planes, and only one of them has an address.
TEST_F(ResolvingTest, AProbeWithoutAnAddressIsCountedAndNotSent) {
  hosts.clear();
  clients.clear();
  network = SimNetwork(1);
  planes = 2;
  plain_peers = false;
  Start();
  nowhere = network.AddPort({0, 0, 0, 0, 0, 0}, 64, 64, SimFaults());
  client = &Attach(*host);
  SetMac(1);
  client->SendTagged(0, 1);
  ASSERT_TRUE(RunUntil([&] {
    for (const Sent& frame : TakeSent()) {
      if (frame.rh.ver == static_cast<uint8_t>(RhVersion::kData)) return true;
    }
    return false;
  }));
  EXPECT_EQ(host->Count(Counter::kTxNoMac), 3u) << "a HELLO and two probes";
  EXPECT_TRUE(Take(nowhere).empty());
}

TEST_F(ResolvingTest, NewSettingsKeepTheAddress) {
  SetMac(1);
  SettingsChange change;
  change.settings = {.partition = params.partition,
                     .classes = params.classes,
                     .ack_class = params.ack_class,
                     .pack_limit_bytes = params.pack_limit_bytes,
                     .inflight_pdus = params.inflight_pdus,
                     .unclaimed_pdus = params.unclaimed_pdus,
                     .transport = params.transport};
  change.settings.classes[0].dscp = 11;
  change.done = false;
  Ask(*host, request::ChangeSettings{.settings = &change});
  ASSERT_TRUE(RunUntil([&] { return change.done.load(); }));
  client->SendTagged(0, 1);
  EXPECT_TRUE(RunUntil([&] { return host->Count(Counter::kTxPdus) == 1; }));
  Run(microseconds(20));
  const std::vector<Sent> sent = TakeSent();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().dscp, 11);
  EXPECT_TRUE(Take(nowhere).empty());
}

TEST_F(ResolvingTest, RequestsForNobodyAreIgnored) {
  Ask(*host, request::SetPeerMac{.instance = 9, .mac = MacOf(1)});
  Ask(*host, request::SetPeerMac{.peer = 9, .mac = MacOf(1)});
  Ask(*host, request::LosePeer{.instance = 9});
  Ask(*host, request::LosePeer{.peer = 9});
  EXPECT_EQ(host->Count(Counter::kUnreachable), 0u);
  EXPECT_EQ(host->Count(Counter::kNeighboursLearnt), 0u);
}

}  // namespace
}  // namespace suede
