// SPDX-License-Identifier: Apache-2.0
// Receive credit that is promised (docs/control-pdus.md, CREDIT): it is asked back where others
// wait for it, and it goes along with a claim.
#include "bench.h"

namespace suede {
namespace {

// XPUs 1 and 2 by hand. Both count credit, and want that of one small ring.
class HoldersTest : public ByHandTest {
 protected:
  static constexpr uint32_t kRing = 64 - SUEDE_MAX_RECORD_LINES;  // lines that can be promised

  void StartTwo() {
    host = &AddHost(0, 3);
    wire = AddPort(1);
    wires_[1] = wire;
    wires_[2] = AddPort(2);
    client = &Attach(*host);
    // Then no credit counts as used of late.
    Run(milliseconds(3));
  }
  void Meet(uint16_t peer) {
    Hello hello = HelloTo(InstanceAt(0), 5u + peer, peer);
    hello.reply_wanted = true;
    hello.counts_credit = true;
    met_[peer] = hello.identities;
    Inject(peer, hello);
    Heard(peer);
  }
  void Inject(uint16_t peer, ControlMessage message) {
    IdentitiesOf(message) = met_[peer];
    ByHandTest::Inject({Control(message, peer)});
  }
  // A PDU of commands that take a line each.
  void InjectPdu(uint16_t peer, Psn psn, uint32_t lines) {
    ReliabilityHeader rh = Rh();
    rh.xpuid = peer;
    rh.psn = psn;
    std::vector<uint8_t> commands;
    for (uint32_t i = 0; i < lines; ++i) {
      const std::vector<uint8_t> command = Command(static_cast<uint8_t>(i));
      commands.insert(commands.end(), command.begin(), command.end());
    }
    ByHandTest::Inject({Build(rh, commands, peer)});
  }
  // CREDITs that the peer has got since the last call.
  std::vector<Credit> Heard(uint16_t peer) {
    std::vector<Credit> credits;
    for (const Sent& sent : Take(wires_[peer])) {
      ControlMessage message;
      if (sent.rh.ver != static_cast<uint8_t>(RhVersion::kControl) ||
          DecodeControl(sent.commands.data(), static_cast<uint32_t>(sent.commands.size()),
                        message) != ControlError::kNone) {
        continue;
      }
      if (const auto* credit = std::get_if<Credit>(&message)) credits.push_back(*credit);
    }
    return credits;
  }
  // The limit that the last grant has told the peer; 0: none came.
  uint32_t Granted(uint16_t peer) {
    const std::vector<Credit> credits = Heard(peer);
    return credits.empty() || credits.back().give_back ? 0 : credits.back().limit;
  }
  // Peer 1 holds most of the ring, and peer 2 wants more than is left.
  void HoldAndWant() {
    shape.rx_lines = 64;
    StartTwo();
    Meet(1);
    Meet(2);
    Inject(1, Credit{.wanted = 50});
    ASSERT_EQ(Granted(1), 50u);
    Inject(2, Credit{.wanted = 30});
    ASSERT_EQ(Granted(2), 0u);
  }
  uint32_t Promised() const { return host->pipeline->instance(0).rx.credit.feeds[0].promised; }

  Client* client = nullptr;

 private:
  SimPort* wires_[3] = {};
  Identities met_[3] = {};
};

TEST_F(HoldersTest, AHolderThatDoesNotAnswerIsAskedAgainAndThenLosesItsCredit) {
  HoldAndWant();
  std::vector<Credit> asked = Heard(1);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0], (Credit{.identities = asked[0].identities,
                              .grant = true,
                              .give_back = true,
                              .round = 1,
                              .limit = 50}));
  // Microseconds between a question and the next.
  std::vector<int> waits;
  uint32_t granted = 0;
  Time since = network.now();
  while (granted == 0 && waits.size() < 10) {
    Run(microseconds(50));
    asked = Heard(1);
    granted = Granted(2);
    if (asked.empty() && granted == 0) continue;
    waits.push_back(static_cast<int>((network.now() - since) / microseconds(1)));
    since = network.now();
    if (granted == 0) {
      EXPECT_TRUE(asked.at(0).give_back);
    }
  }
  ASSERT_EQ(waits.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(waits[static_cast<size_t>(i)], 500 << i, 60) << i;
  EXPECT_EQ(granted, 30u);
  EXPECT_EQ(Promised(), 30u);
  EXPECT_EQ(host->Count(Counter::kTxCreditReclaims), 1u);
  // That is over: the peer is granted again what it asks for, and its late answer changes nothing.
  Inject(1, Credit{.wanted = 10});
  const uint32_t again = Granted(1);
  EXPECT_GE(again, 10u);
  Inject(1, Credit{.give_back = true, .round = 1, .limit = 1, .sent = 1});
  EXPECT_EQ(Promised(), 30 + again);
}

TEST_F(HoldersTest, AHolderThatAnswersKeepsWhatItSaysThatItHasSent) {
  HoldAndWant();
  // One that answers another question has not answered this one.
  Inject(1, Credit{.give_back = true, .round = 0, .limit = 0});
  EXPECT_EQ(Granted(2), 0u);
  Inject(1, Credit{.give_back = true, .round = 1, .limit = 5, .sent = 5});
  EXPECT_EQ(Granted(2), 30u);
  EXPECT_EQ(Promised(), 35u);
}

TEST_F(HoldersTest, AnAnswerBeyondTheLimitGivesAllBack) {
  HoldAndWant();
  Inject(1, Credit{.give_back = true, .round = 1, .limit = 51, .sent = 51});
  EXPECT_EQ(Granted(2), 30u);
  EXPECT_EQ(Promised(), 30u);
}

// It could take the grant for one of the former round.
TEST_F(HoldersTest, AHolderThatIsAskedToGiveBackIsGrantedNothingBeforeItsAnswer) {
  shape.rx_lines = 64;
  StartTwo();
  Meet(1);
  Meet(2);
  Inject(1, Credit{.wanted = 50});
  ASSERT_EQ(Granted(1), 50u);
  Inject(2, Credit{.wanted = 5});
  EXPECT_EQ(Granted(2), 5u);
  ASSERT_EQ(Heard(1).size(), 1u) << "hardly anything is left";
  Inject(1, Credit{.wanted = 51});
  EXPECT_EQ(Heard(1).size(), 0u);
  // Another one need not wait for that.
  Inject(2, Credit{.sent = 5, .wanted = 2});
  EXPECT_EQ(Granted(2), 7u);
  Run(microseconds(600));
  const std::vector<Credit> asked = Heard(1);
  ASSERT_EQ(asked.size(), 1u) << "it is asked again meanwhile";
  EXPECT_TRUE(asked[0].give_back);
  for (int i = 0; i < 3; ++i) Inject(1, Credit{.wanted = 51});
  Inject(1, Credit{.give_back = true, .round = 1, .limit = 10, .sent = 10});
  const std::vector<Credit> grants = Heard(1);
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_FALSE(grants[0].give_back);
  EXPECT_EQ(grants[0].round, 1u);
  EXPECT_GE(grants[0].limit, 51u);
  EXPECT_TRUE(host->pipeline->instance(0).rx.credit.feeds[0].waiting.empty());
  EXPECT_LE(Promised(), kRing);
}

TEST_F(HoldersTest, TheFirstGrantIsAShareByThePeersOfTheRing) {
  shape.rx_lines = 1024;
  const uint32_t share = (1024 - SUEDE_MAX_RECORD_LINES) / 8;  // two peers, and room for as many
  StartTwo();
  Meet(1);
  EXPECT_EQ(Promised(), share);
  // A claim that comes and goes leaves no peers behind, and takes the credit along.
  for (int i = 0; i < 10; ++i) {
    Ask(*host, request::Unclaim{.vc_mask = 1, .client = client->number});
    Ask(*host, request::Claim{.vc_mask = 1, .client = client->number});
  }
  EXPECT_EQ(Promised(), share);
  Meet(2);
  EXPECT_EQ(Promised(), 2 * share);
  EXPECT_EQ(host->pipeline->instance(0).rx.credit.ring[0]->promised, 2 * share);
}

// A PDU with more lines might find no room in a small ring.
TEST_F(HoldersTest, PdusWaitTogetherUpToTheLinesOfAnyReceiver) {
  params.unclaimed_pdus = 1;
  shape.rx_lines = 1024;
  StartTwo();
  Meet(1);
  ASSERT_GE(Promised(), TxQueue::kUnknownReceiver + 2u);
  Ask(*host, request::Unclaim{.vc_mask = 1, .client = client->number});
  const Instance& instance = host->pipeline->instance(0);
  InjectPdu(1, Psn(0), 1);
  EXPECT_EQ(instance.rx.unclaimed_count[0], 1u);
  InjectPdu(1, Psn(1), TxQueue::kUnknownReceiver - 1);
  EXPECT_EQ(instance.rx.unclaimed_count[0], 1u);
  EXPECT_EQ(instance.rx.credit.ring[0]->kept_lines, TxQueue::kUnknownReceiver);
  InjectPdu(1, Psn(2), 1);
  EXPECT_EQ(instance.rx.unclaimed_count[0], 2u);
  EXPECT_EQ(instance.rx.credit.ring[0]->kept_lines, TxQueue::kUnknownReceiver + 1u);
}

// ---- PDUs that wait for a client.

class WaitingPdusTest : public PipelineTest {
 protected:
  void StartWaiting(uint8_t count) {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    Client& sender = Attach(*a);
    receiver = &Attach(*b, 0);
    for (uint8_t i = 0; i < count; ++i) {
      sender.Send(TestCommand(8, 16, i), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
      seeds.push_back(static_cast<uint8_t>(i * 3));
    }
    Run(milliseconds(5));
    ASSERT_EQ(KeptLines(), count);
  }
  uint32_t KeptLines() const { return b->pipeline->instance(0).rx.credit.ring[0]->kept_lines; }
  LcoreRequest Claim() const { return request::Claim{.vc_mask = 1, .client = receiver->number}; }

  Host* a = nullptr;
  Host* b = nullptr;
  Client* receiver = nullptr;
  std::vector<uint8_t> seeds;
};

TEST_F(WaitingPdusTest, AClaimThatIsTakenBackAtOnceLeavesThem) {
  StartWaiting(5);
  b->pipeline->mailbox().requests.Push(Claim());
  b->pipeline->mailbox().requests.Push(request::Unclaim{.vc_mask = 1, .client = receiver->number});
  Run(milliseconds(1));
  EXPECT_EQ(KeptLines(), 5u);
  EXPECT_TRUE(receiver->Receive().empty());
  b->pipeline->mailbox().requests.Push(Claim());
  Run(microseconds(10));
  EXPECT_EQ(receiver->Receive(), seeds);
  EXPECT_EQ(KeptLines(), 0u);
}

TEST_F(WaitingPdusTest, ToHandThemOverIsWork) {
  shape.rx_lines = 64;
  params.unclaimed_pdus = 100;
  StartWaiting(100);
  Ask(*b, Claim());
  Run(milliseconds(1));
  EXPECT_FALSE(b->pipeline->Poll(network.now()));
  const size_t got = receiver->Receive().size();
  EXPECT_LT(got, 100u);
  EXPECT_TRUE(b->pipeline->Poll(network.now()));
  EXPECT_EQ(got + receiver->Receive().size(), 100u);
}

TEST_F(WaitingPdusTest, AClaimThatIsAskedForTwiceDeliversThemOnce) {
  StartWaiting(5);
  b->pipeline->mailbox().requests.Push(Claim());
  b->pipeline->mailbox().requests.Push(Claim());
  Run(microseconds(10));
  EXPECT_EQ(receiver->Receive(), seeds);
  EXPECT_EQ(KeptLines(), 0u);
  ExpectNoFramesOut();
}

}  // namespace
}  // namespace suede
