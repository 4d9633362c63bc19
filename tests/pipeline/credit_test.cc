// SPDX-License-Identifier: Apache-2.0
// Receive credit (docs/control-pdus.md, CREDIT): no VC's receiver holds up another VC, nothing that
// was granted is refused, and nobody starves.
#include "bench.h"

namespace suede {
namespace {

class CreditTest : public PipelineTest {
 protected:
  void StartPair(uint8_t claims = 0xf) {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b, claims);
  }
  void Send(Client& client, int count, uint16_t xpuid, uint8_t vc) {
    for (int i = 0; i < count; ++i) {
      client.Send(TestCommand(8, 16, 1), xpuid, vc, SUEDE_RECORD_TRANSMIT_NOW);
    }
  }
  static uint32_t Promised(const Host& host, uint32_t vc) {
    return host.pipeline->instance(0).rx.credit.feeds[vc].promised;
  }

  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

// A VC whose client never reads, on both sides: requests fill both rings, responses pass.
TEST_F(CreditTest, FullRingsOnBothSidesDoNotStopAnotherVc) {
  shape.rx_lines = 64;
  StartPair();
  Send(*ca, 200, 1, 0);
  Send(*cb, 200, 0, 0);
  Run(milliseconds(5));
  for (uint64_t i = 0; i < 50; ++i) {
    ca->SendTagged(i, 1, 1);
    cb->SendTagged(i, 0, 1);
  }
  EXPECT_EQ(Statuses(*ca, 50, milliseconds(20)), std::vector<int>(50, kOk));
  EXPECT_EQ(Statuses(*cb, 50, milliseconds(20)), std::vector<int>(50, kOk));
  for (Host* host : {a, b}) {
    EXPECT_EQ(host->Count(Counter::kRxNotReady), 0u);
    EXPECT_EQ(host->Count(Counter::kTxRetransmissions), 0u);
  }
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == 200; }));
}

TEST_F(CreditTest, AVcThatNobodyClaimsStopsNoOther) {
  params.unclaimed_pdus = 8;
  StartPair(0xe);
  Send(*ca, 100, 1, 0);
  Run(milliseconds(5));
  for (uint64_t i = 0; i < 50; ++i) ca->SendTagged(i, 1, 1);
  EXPECT_EQ(Statuses(*ca, 50, milliseconds(20)), std::vector<int>(50, kOk));
  EXPECT_EQ(b->Count(Counter::kRxUnclaimed), 8u);
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
  // Waiting PDUs are delivered in order once a client claims.
  Ask(*b, request::Claim{.vc_mask = 1, .client = cb->number});
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == 100; }));
}

// A PDU with more lines than there are places still gets through: alone.
TEST_F(CreditTest, ALargePduFindsItsWayToAnUnclaimedVc) {
  params.unclaimed_pdus = 4;
  StartPair(0);
  for (int i = 0; i < 40; ++i) ca->Send(TestCommand(8, 16, 1), 1, 0);
  Run(milliseconds(5));
  EXPECT_EQ(b->Count(Counter::kRxUnclaimed), 1u);
  EXPECT_TRUE(a->pipeline->IsQuiet());
}

// The client goes while credit of its ring is out: all that was granted finds a place, and the
// other VCs go on, with either scope.
TEST_F(CreditTest, AClientThatDiesInMidBurstStopsNoOtherVc) {
  params.unclaimed_pdus = 4;
  StartPair(0x2);
  Client& victim = Attach(*b, 0x1);
  Send(*ca, 20, 1, 0);
  ASSERT_TRUE(RunUntil([&] { return b->Count(Counter::kRxCommands) >= 5; }));
  ASSERT_GT(Promised(*b, 0), 50u);
  b->pipeline->mailbox().requests.Push(request::Detach{.client = victim.number});
  Send(*ca, 200, 1, 0);
  Run(milliseconds(5));
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  for (uint64_t i = 0; i < 50; ++i) ca->SendTagged(i, 1, 1);
  EXPECT_EQ(Statuses(*ca, 50, milliseconds(20)), std::vector<int>(50, kOk));
  // Its heir gets the commands that it did not get, with a smaller ring.
  const uint64_t delivered = b->Count(Counter::kRxCommands) - 50;
  shape.rx_lines = 64;
  Client& heir = Attach(*b, 0x1);
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += heir.Receive(0).size()) == 220 - delivered; }))
      << got << " of " << 220 - delivered << ", kept "
      << b->pipeline->instance(0).rx.unclaimed_count[0] << ", promised " << Promised(*b, 0)
      << ", waits " << a->Count(Counter::kTxWaitsCredit);
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
  RunUntil([&] { return a->pipeline->IsQuiet(); });
  ExpectNoFramesOut();
}

// Grants are few: at most one for several PDUs where the client keeps up.
TEST_F(CreditTest, GrantsAreFew) {
  StartPair();
  size_t got = 0;
  for (int i = 0; i < 40; ++i) {
    Send(*ca, 25, 1, 0);
    RunUntil([&] { return (got += cb->Receive(0).size()) == static_cast<size_t>(25 * i + 25); });
  }
  EXPECT_EQ(got, 1000u);
  EXPECT_LE(b->Count(Counter::kTxCreditGrants), 40u);
  EXPECT_EQ(a->Count(Counter::kTxWaitsCredit), a->Count(Counter::kTxCreditAsks));
  EXPECT_LE(a->Count(Counter::kTxCreditAsks), 2u);
}

// A hundred peers on a ring of 64 lines, the first of which had it to themselves.
TEST_F(CreditTest, NobodyStarves) {
  constexpr uint32_t kPeers = 100;
  shape.rx_lines = 64;
  b = &AddHost(0, kPeers + 1);
  cb = &Attach(*b);
  std::vector<Client*> senders;
  for (uint32_t i = 1; i <= kPeers; ++i) senders.push_back(&Attach(AddHost(i, kPeers + 1)));
  size_t got = 0;
  for (Client* sender : senders) Send(*sender, 10, 0, 0);
  EXPECT_TRUE(
      RunUntil([&] { return (got += cb->Receive(0, 8).size()) == 10 * kPeers; }, milliseconds(400)))
      << got;
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
}

// Instances of one client share its rings: so many feed one ring that it has hardly a line for
// each.
class ManyFeedsTest : public CreditTest {
 protected:
  static constexpr uint32_t kInstances = 100;
  static constexpr uint32_t kSender = 500;

  void StartMany() {
    b = &AddHost(0, 0);
    b->pipeline = std::make_unique<Pipeline>();
    b->pipeline->AddPort(b->port, {.mac = MacOf(0)});
    for (uint32_t i = 0; i < kInstances; ++i) AddXpu(*b, i, kSender, kSender + 1);
    a = &AddHost(kSender, 0);
    a->pipeline = std::make_unique<Pipeline>();
    a->pipeline->AddPort(a->port, {.mac = MacOf(kSender)});
    AddXpu(*a, kSender, 0, kInstances);
    ca = &Attach(*a);
    cb = &Attach(*b);
    for (uint32_t i = 1; i < kInstances; ++i) {
      Ask(*b, request::Claim{.vc_mask = 0xf, .client = cb->number, .instance = i});
    }
  }
  void AddXpu(Host& on, uint32_t xpu, uint32_t first, uint32_t end) {
    InstanceParams p = params;
    p.xpuid = static_cast<uint16_t>(xpu);
    p.planes = {{.port = 0, .address = {.low = IpOf(xpu)}}};
    p.secret = {xpu, 1};
    for (uint32_t peer = first; peer < end; ++peer) {
      const uint32_t host = peer < kInstances ? 0 : kSender;
      p.peers.push_back({.xpuid = static_cast<uint16_t>(peer),
                         .planes = {{.address = {.low = IpOf(peer)}, .mac = MacOf(host)}}});
    }
    on.pipeline->AddInstance(p);
  }
  uint64_t CountOf(Counter counter) const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < kInstances; ++i) sum += b->pipeline->counters(i).Get(counter);
    return sum;
  }
  // Nothing is looked at where one that has to ask uses what it has.
  void ExpectOnDemandAsks() const {
    uint32_t on_demand = 0;
    for (uint32_t i = 0; i < kInstances; ++i) {
      const RxCredit& credit = b->pipeline->instance(i).rx.credit.queues[0];
      if (!credit.on_demand) continue;
      ++on_demand;
      EXPECT_LT(static_cast<int32_t>(credit.limit - credit.renew_at), 0) << i;
    }
    EXPECT_GT(on_demand, 0u);
  }
  // Takes the first `down` of the feeds that wait for a full ring out of service, so that they
  // cannot send their grants, and makes room. Returns the instance of the next feed.
  uint32_t MakeRoomBehind(uint32_t down) {
    shape.rx_lines = 64;
    StartMany();
    EXPECT_EQ(Exchange(1, 1), size_t{kInstances});
    for (uint16_t xpu = 0; xpu < kInstances; ++xpu) Send(*ca, 3, xpu, 0);
    Run(milliseconds(20));
    const CreditRing& ring = *b->pipeline->instance(0).rx.credit.ring[0];
    EXPECT_GT(ring.waiting, down);
    uint32_t next = ring.first_waiting;
    for (; down != 0; --down, next = b->pipeline->instance(next).rx.credit.feeds[0].next_waiting) {
      Ask(*b, Switch(OutOfService::kInstance, false, next));
    }
    EXPECT_FALSE(cb->Receive(0).empty());
    return next;
  }
  // Whether the instance sends a grant in the next poll iteration.
  bool IsGrantedNext(uint32_t instance) {
    const CounterBlock& counters = b->pipeline->counters(instance);
    const uint64_t before = counters.Get(Counter::kTxCreditGrants);
    b->pipeline->Poll(network.now());
    return counters.Get(Counter::kTxCreditGrants) != before;
  }
  // Each gets PDUs of so many commands, round about. Returns those that have come.
  size_t Exchange(uint32_t rounds, int commands) {
    size_t got = 0;
    for (uint32_t round = 0; round < rounds; ++round) {
      for (uint16_t xpu = 0; xpu < kInstances; ++xpu) {
        for (int i = 1; i <= commands; ++i) {
          const uint8_t flags = i == commands ? SUEDE_RECORD_TRANSMIT_NOW : 0;
          EXPECT_EQ(ca->Send(TestCommand(8, 16, 1), xpu, 0, flags), SendResult::kOk);
        }
      }
      const size_t want = got + static_cast<size_t>(commands) * kInstances;
      RunUntil([&] { return (got += cb->Receive(0).size()) == want; }, milliseconds(200));
    }
    return got;
  }
};

TEST_F(ManyFeedsTest, NobodyStarves) {
  shape.rx_lines = 64;
  StartMany();
  EXPECT_EQ(Exchange(6, 5), 6u * 5 * kInstances);
  EXPECT_EQ(CountOf(Counter::kRxNotReady), 0u);
}

// Where the ring has not two PDUs for each, they ask, each for the PDU that it is about to send:
// credit that one holds without a use for it, another one would have to wait for.
TEST_F(ManyFeedsTest, AScarceRingIsGrantedByTheAsk) {
  shape.rx_lines = 1024;
  StartMany();
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(Exchange(1, 8), 8u * kInstances);
    ExpectOnDemandAsks();
  }
  const uint64_t grants = CountOf(Counter::kTxCreditGrants);
  const uint64_t reclaims = CountOf(Counter::kTxCreditReclaims);
  ASSERT_EQ(Exchange(8, 8), 8u * 8 * kInstances);
  EXPECT_LE(CountOf(Counter::kTxCreditGrants) - grants, 9u * kInstances);
  EXPECT_EQ(CountOf(Counter::kTxCreditReclaims), reclaims);
}

// A client that reads nothing is found out by constant work: the ring's other feeds wait behind the
// first one, and all go on, in order, when it reads.
TEST_F(ManyFeedsTest, AFullRingIsOneStop) {
  shape.rx_lines = 64;
  StartMany();
  ASSERT_EQ(Exchange(1, 1), size_t{kInstances});
  for (uint16_t xpu = 0; xpu < kInstances; ++xpu) {
    for (int i = 0; i < 3; ++i) ca->Send(TestCommand(8, 16, 1), xpu, 0);
  }
  Run(milliseconds(20));
  const CreditRing& ring = *b->pipeline->instance(0).rx.credit.ring[0];
  EXPECT_GT(ring.waiting, kInstances / 2);
  EXPECT_TRUE(ring.listed);
  size_t got = 0;
  EXPECT_TRUE(
      RunUntil([&] { return (got += cb->Receive(0).size()) == 3 * kInstances; }, milliseconds(200)))
      << got;
  Run(milliseconds(5));
  EXPECT_EQ(ring.waiting, 0u);
}

TEST_F(ManyFeedsTest, ThreeFeedsThatCannotSendTheirGrantsHoldUpNoOther) {
  EXPECT_TRUE(IsGrantedNext(MakeRoomBehind(3)));
}

// Four may be all that there are: the others are served in the next turn.
TEST_F(ManyFeedsTest, FourFeedsThatCannotSendTheirGrantsEndATurn) {
  const uint32_t next = MakeRoomBehind(4);
  EXPECT_FALSE(IsGrantedNext(next));
  EXPECT_TRUE(IsGrantedNext(next));
}

// A claim that changes hands takes the feed out of the midst of those that wait.
TEST_F(ManyFeedsTest, AFeedThatMovesLeavesTheOthersInOrder) {
  shape.rx_lines = 64;
  StartMany();
  ASSERT_EQ(Exchange(1, 1), size_t{kInstances});
  for (uint16_t xpu = 0; xpu < kInstances; ++xpu) {
    for (int i = 0; i < 3; ++i) ca->Send(TestCommand(8, 16, 1), xpu, 0);
  }
  Run(milliseconds(20));
  Client& other = Attach(*b, 0);
  size_t got = 0;
  for (uint32_t i = 0; i < kInstances; i += 2) {
    Ask(*b, request::Unclaim{.vc_mask = 0xf, .client = cb->number, .instance = i});
    Ask(*b, request::Claim{.vc_mask = 0xf, .client = other.number, .instance = i});
  }
  EXPECT_TRUE(RunUntil(
      [&] { return (got += cb->Receive(0).size() + other.Receive(0).size()) == 3 * kInstances; },
      milliseconds(300)))
      << got;
}

// The credit of idle peers is asked back where others want it.
TEST_F(CreditTest, IdlePeersGiveBack) {
  shape.rx_lines = 64;
  constexpr uint32_t kPeers = 8;
  b = &AddHost(0, kPeers + 1);
  cb = &Attach(*b);
  std::vector<Client*> senders;
  for (uint32_t i = 1; i <= kPeers; ++i) senders.push_back(&Attach(AddHost(i, kPeers + 1)));
  size_t got = 0;
  for (uint32_t i = 0; i + 1 < kPeers; ++i) {
    Send(*senders[i], 20, 0, 0);
    const size_t want = got + 20;
    ASSERT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == want; }));
  }
  // A PDU of 40 lines is more than they have left over.
  const uint32_t held = Promised(*b, 0);
  ASSERT_GT(held, 64u - 5 - 40);
  for (int i = 0; i < 40; ++i) senders.back()->Send(TestCommand(8, 16, 1), 0, 0);
  EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == 20 * 7 + 40; })) << held;
  EXPECT_GT(b->Count(Counter::kTxCreditReclaims), 0u);
}

// Asks, grants and returns may all be lost.
TEST_F(CreditTest, LossOfControlPdusHoldsUpNobodyForLong) {
  shape.rx_lines = 64;
  params.transport.max_tries = 40;
  a = &AddHost(0, 2);
  b = &AddHost(1, 2);
  a->port->faults().loss = b->port->faults().loss = 0.3;
  ca = &Attach(*a);
  cb = &Attach(*b);
  size_t got = 0;
  for (int i = 0; i < 10; ++i) {
    Send(*ca, 50, 1, 0);
    Run(milliseconds(10));
    got += cb->Receive(0).size();
  }
  EXPECT_TRUE(
      RunUntil([&] { return (got += cb->Receive(0).size()) == 500; }, std::chrono::seconds(2)))
      << got;
}

// A restart of the receiver ends its grants and its counts.
TEST_F(CreditTest, CountsBeginAnewWithTheAssociation) {
  shape.rx_lines = 64;
  StartPair();
  Send(*ca, 40, 1, 0);
  Run(milliseconds(5));
  EXPECT_GT(Promised(*b, 0), 0u);
  Boot(*b, 2);
  Client& heir = Attach(*b);
  // These find out.
  Send(*ca, 10, 1, 0);
  Run(milliseconds(20));
  EXPECT_GT(a->Count(Counter::kPeerResets), 0u);
  heir.Receive(0);
  Send(*ca, 10, 1, 0);
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += heir.Receive(0).size()) >= 10; }));
}

// PDUs stay within the size of the peer's rings, also those that were packed before it was known.
TEST_F(CreditTest, NoPduHasMoreLinesThanThePeersRing) {
  shape.rx_lines = 64;
  params.receive_lines = 64;
  StartPair();
  size_t got = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) ca->Send(TestCommand(2, 0, 1), 1, 0);
    const size_t want = got + 100;
    EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == want; })) << got;
  }
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
}

class CreditByHandTest : public ByHandTest {
 protected:
  // The peer counts credit and has granted `lines` of VC 0.
  void MeetCounting(uint32_t lines, uint16_t receive_lines = 0) {
    Hello hello = HelloTo(InstanceAt(0));
    hello.counts_credit = true;
    hello.receive_lines = receive_lines;
    hello.credit_lines[0] = lines;
    met = hello.identities;
    Inject({Control(hello)});
  }
  std::vector<uint8_t> Of(Credit credit) {
    credit.identities = met;
    return Control(credit);
  }
  uint32_t Promised() const { return host->pipeline->instance(0).rx.credit.feeds[0].promised; }
  void InjectPdu(uint16_t psn, uint8_t seed = 1) { Inject({Build(Rh(psn, 0), Command(seed))}); }
  struct Seen {
    std::vector<Credit> credits;
    uint32_t pdus = 0;
  };
  Seen See() {
    Seen seen;
    for (const Sent& sent : TakeSent()) {
      ControlMessage message;
      if (sent.rh.ver != static_cast<uint8_t>(RhVersion::kControl)) {
        seen.pdus += !sent.commands.empty() && (sent.commands[0] & 0x0f) != 0;
      } else if (DecodeControl(sent.commands.data(), static_cast<uint32_t>(sent.commands.size()),
                               message) == ControlError::kNone) {
        if (const auto* credit = std::get_if<Credit>(&message)) seen.credits.push_back(*credit);
      }
    }
    return seen;
  }
  Identities met;
};

TEST_F(CreditByHandTest, ASenderStaysWithinItsLimit) {
  Start();
  Client& client = Attach(*host);
  MeetCounting(3);
  See();
  for (int i = 0; i < 10; ++i) {
    client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  }
  Run(microseconds(100));
  EXPECT_EQ(See().pdus, 3u);
  // An older limit changes nothing, a newer one does.
  Inject({Of({.vc = 0, .grant = true, .limit = 2})});
  EXPECT_EQ(See().pdus, 0u);
  Inject({Of({.vc = 0, .grant = true, .limit = 5})});
  EXPECT_EQ(See().pdus, 2u);
  // Credit that is asked back is not used any more, and an older grant does not bring it back.
  Inject({Of({.vc = 0, .grant = true, .give_back = true, .round = 1, .limit = 5})});
  const Seen seen = See();
  ASSERT_EQ(seen.credits.size(), 1u);
  EXPECT_TRUE(seen.credits[0].give_back);
  EXPECT_EQ(seen.credits[0].limit, 5u);
  EXPECT_EQ(seen.credits[0].sent, 5u);
  EXPECT_EQ(seen.credits[0].round, 1u);
  Inject({Of({.vc = 0, .grant = true, .round = 0, .limit = 9})});
  EXPECT_EQ(See().pdus, 0u);
  Inject({Of({.vc = 0, .grant = true, .round = 1, .limit = 9})});
  EXPECT_EQ(See().pdus, 4u);
}

TEST_F(CreditByHandTest, OneWithoutCreditAsksWithLongerAndLongerWaits) {
  params.transport.rto_initial = params.transport.rto_max = std::chrono::seconds(1);
  Start();
  Client& client = Attach(*host);
  MeetCounting(0);
  See();
  client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(100));
  std::vector<Credit> requests = See().credits;
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_FALSE(requests[0].grant);
  EXPECT_EQ(requests[0].wanted, 1u);
  EXPECT_EQ(requests[0].sent, 0u);
  size_t total = 0;
  for (int i = 0; i < 200; ++i) {
    Run(milliseconds(1));
    const Seen seen = See();
    EXPECT_EQ(seen.pdus, 0u);
    total += seen.credits.size();
    // The peer is there, and has no room.
    if (!seen.credits.empty()) Inject({Of({.vc = 0, .grant = true, .limit = 0})});
  }
  EXPECT_GE(total, 6u);
  EXPECT_LE(total, 12u);
}

// A peer that answers nothing is for the transport to find lost.
TEST_F(CreditByHandTest, APeerThatDoesNotAnswerIsFoundUnreachable) {
  Start();
  Client& client = Attach(*host);
  MeetCounting(0);
  client.SendTagged(0, 1);
  EXPECT_EQ(Statuses(client, 1, milliseconds(200)), std::vector<int>{SUEDE_STATUS_IN_DOUBT});
}

TEST_F(CreditByHandTest, ACommandThatNoRingHoldsIsGivenUp) {
  Start();
  Client& client = Attach(*host);
  MeetCounting(100, 2);
  client.Send(TestCommand(8, 256, 1), 1, 0, SUEDE_RECORD_COMPLETION, 0);
  client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  EXPECT_EQ(Statuses(client, 1), std::vector<int>{SUEDE_STATUS_UNREACHABLE});
  EXPECT_EQ(host->Count(Counter::kTxTooManyLines), 1u);
  Run(microseconds(50));
  EXPECT_EQ(See().pdus, 1u);
}

// It was packed before the size of the peer's rings was known.
TEST_F(CreditByHandTest, APduThatNoRingHoldsIsGivenUpAndTheNextOneLeaves) {
  plain_peers = false;
  Start();
  Client& client = Attach(*host);
  client.Send(TestCommand(8, 256, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION, 0);
  client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(20));
  MeetCounting(1, 2);
  EXPECT_EQ(Statuses(client, 1, milliseconds(1)), std::vector<int>{SUEDE_STATUS_UNREACHABLE});
  EXPECT_EQ(host->Count(Counter::kTxTooManyLines), 1u);
  EXPECT_EQ(host->Count(Counter::kTxWaitsCredit), 0u);
  EXPECT_EQ(See().pdus, 1u);
}

// The rest of the former rounds was taken back while that could not reach the sender.
TEST_F(CreditByHandTest, OfANewRoundOnlyItsOwnGrantsCount) {
  Start();
  Client& client = Attach(*host);
  MeetCounting(5);
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) {
      client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
    }
    Run(microseconds(20));
    return See().pdus;
  };
  ASSERT_EQ(send(3), 3u);
  Inject({Of({.vc = 0, .grant = true, .round = 1, .limit = 4})});
  EXPECT_EQ(send(5), 1u);
}

// The rings of its next boot may be the smallest that there are.
TEST_F(CreditByHandTest, APduForAPeerThatHasRestartedFitsAnyRing) {
  Start();
  Client& client = Attach(*host);
  MeetCounting(1000);
  Hello next = HelloTo(InstanceAt(0), 6);
  next.identities.peer = 0;
  Inject({Control(next)});
  for (int i = 0; i < 100; ++i) client.Send(TestCommand(2, 0, 1), 1, 0);
  Run(microseconds(20));
  ASSERT_EQ(host->Count(Counter::kTxPdus), 0u);
  Inject({Control(HelloTo(InstanceAt(0), 6))});
  Run(microseconds(20));
  EXPECT_EQ(host->Count(Counter::kTxCommands), 100u);
  EXPECT_EQ(host->Count(Counter::kTxPdus), 2u);
}

// PDUs are in doubt, and the peer says later how many of their lines have come.
TEST_F(CreditByHandTest, LinesThatNeverCameAreUsedAgainOnce) {
  Start();
  Client& client = Attach(*host);
  MeetCounting(3);
  for (uint64_t tag = 0; tag < 3; ++tag) {
    client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION,
                tag);
  }
  ASSERT_EQ(Statuses(client, 3), std::vector<int>(3, SUEDE_STATUS_IN_DOUBT));
  ReliabilityHeader answer = Rh();
  answer.op = RhOp::kNack;
  answer.rpsn = FirstPsn().Plus(1);
  ASSERT_TRUE(RunUntil([&] {
    Inject({Build(answer, {})});
    return !host->pipeline->instance(0).peers.connections[0].tx().lost();
  }));
  See();
  client.Send(TestCommand(8, 256, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(20));
  Seen seen = See();
  ASSERT_EQ(seen.credits.size(), 1u);
  EXPECT_TRUE(seen.credits[0].reply_wanted);
  EXPECT_EQ(seen.credits[0].sent, 3u);
  EXPECT_EQ(seen.credits[0].wanted, 5u);
  // It answers an ask from before, and says nothing of these lines.
  Inject({Of({.vc = 0, .grant = true, .limit = 3, .accepted = 1, .sent = 2})});
  EXPECT_TRUE(See().credits.empty());
  // One of the lines has come.
  Inject({Of({.vc = 0, .grant = true, .limit = 3, .accepted = 1, .sent = 3})});
  seen = See();
  ASSERT_EQ(seen.credits.size(), 1u) << "it is asked at once for what is still missing";
  EXPECT_EQ(seen.credits[0].sent, 1u);
  EXPECT_EQ(seen.credits[0].wanted, 5u);
  EXPECT_FALSE(seen.credits[0].reply_wanted);
  Inject({Of({.vc = 0, .grant = true, .limit = 6, .accepted = 1, .sent = 1})});
  ASSERT_EQ(See().pdus, 1u);
  answer.op = RhOp::kAck;
  ASSERT_EQ(host->pipeline->instance(0).peers.connections[0].in_flight().oldest_psn(), answer.rpsn);
  Inject({Build(answer, {})});
  // Nothing is in doubt any more.
  Inject({Of({.vc = 0, .grant = true, .limit = 6, .accepted = 1, .sent = 6})});
  client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  Run(microseconds(20));
  EXPECT_EQ(See().pdus, 0u);
}

// Requested credit is granted, again where the grant was lost; credit that nobody can need is not.
TEST_F(CreditByHandTest, AReceiverAnswersWhoAsks) {
  shape.rx_lines = 64;
  Start();
  Attach(*host);
  MeetCounting(0);
  See();
  Inject({Of({.vc = 0, .wanted = 10})});
  Seen seen = See();
  ASSERT_EQ(seen.credits.size(), 1u);
  EXPECT_TRUE(seen.credits[0].grant);
  const uint32_t limit = seen.credits[0].limit;
  EXPECT_GE(limit, 10u);
  EXPECT_LE(limit, 59u);
  Inject({Of({.vc = 0, .wanted = 10})});
  seen = See();
  ASSERT_EQ(seen.credits.size(), 1u);
  EXPECT_EQ(seen.credits[0].limit, limit);
  for (uint32_t wanted : {60u, 0x7fffffffu, ~0u}) Inject({Of({.vc = 0, .wanted = wanted})});
  Inject({Of({.vc = 0, .sent = 0x80000000u, .wanted = 5})});
  Run(milliseconds(1));
  for (const Credit& credit : See().credits) EXPECT_LE(credit.limit, 59u);
}

// Where nobody has claimed the VC, places are few.
TEST_F(CreditByHandTest, AVcThatNobodyClaimsIsGrantedWhatThePduTakes) {
  Start();
  MeetCounting(0);
  See();
  Inject({Of({.vc = 0, .wanted = 1})});
  Seen seen = See();
  ASSERT_EQ(seen.credits.size(), 1u);
  EXPECT_EQ(seen.credits[0].limit, 1u);
  EXPECT_EQ(Promised(), 1u);
  Inject({Of({.vc = 0, .wanted = 4})});
  seen = See();
  ASSERT_EQ(seen.credits.size(), 1u);
  EXPECT_EQ(seen.credits[0].limit, 4u);
  EXPECT_EQ(Promised(), 4u);
}

// Beyond its grant a peer is refused where there is no room, and spoils no sum.
TEST_F(CreditByHandTest, APeerThatDoesNotKeepToItIsRefused) {
  shape.rx_lines = 64;
  Start();
  Attach(*host);
  MeetCounting(0);
  for (uint16_t psn = 0; psn < 80; ++psn) InjectPdu(psn);
  EXPECT_EQ(host->Count(Counter::kRxPdus), 64u);
  EXPECT_GT(host->Count(Counter::kRxNotReady), 0u);
}

}  // namespace
}  // namespace suede
