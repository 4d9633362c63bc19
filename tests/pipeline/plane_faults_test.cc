// SPDX-License-Identifier: Apache-2.0
// The effects of one plane, one end or one moment on the others: outages of any length, fences,
// waits.
#include "planes_bench.h"

namespace suede {
namespace {

class PlaneFaultsTest : public PlanesTest {
 protected:
  // Runs with long steps: for waits of seconds.
  bool RunLong(const std::function<bool()>& done, Duration limit) {
    const Time end = network.now() + limit;
    while (!done()) {
      if (network.now() >= end) return false;
      network.AdvanceTo(network.now() + microseconds(50));
      for (const auto& host : hosts) host->pipeline->Poll(network.now());
    }
    return true;
  }
  static bool Never() { return false; }
  // The number of commands, of `count`, that complete as unreachable, or in doubt.
  int GivenUp(size_t count) {
    int found = 0;
    for (const int status : Statuses(*ca, count)) {
      found += status == SUEDE_STATUS_UNREACHABLE || status == SUEDE_STATUS_IN_DOUBT;
    }
    return found;
  }
  bool BothUp() { return SessionOf(*a, 0).up() && SessionOf(*a, 1).up(); }
  // A control PDU to host a on plane 1, as if host b had sent it.
  template <typename Message>
  void SayAsPeer(Message message) {
    message.identities = b->pipeline->instance(0).peers[0].handshake().identities();
    std::vector<uint8_t> body(kMaxControlPduBytes);
    body.resize(EncodeControl(message, body.data()));
    std::vector<uint8_t> buffer(FrameBufferBytes(static_cast<uint32_t>(body.size())));
    const HeaderTemplate header =
        Udp4::MakeTemplate({.source_mac = MacOf(OnPlane(1, 1)),
                            .destination_mac = MacOf(OnPlane(1, 0)),
                            .source = {.low = IpOf(OnPlane(1, 1))},
                            .destination = {.low = IpOf(OnPlane(1, 0))}});
    const std::span<uint8_t> bytes = BuildFrame(header, ControlRh(1, kPartition), body, buffer);
    if (stranger == nullptr) stranger = AddPort(0xfff);
    Frame* frame;
    ASSERT_EQ(stranger->Allocate(&frame, 1), 1u);
    frame->data = frame->buffer + Frame::kCommandOffset;
    std::copy(bytes.begin(), bytes.end(), frame->data);
    frame->length = static_cast<uint32_t>(bytes.size());
    ASSERT_EQ(stranger->Transmit(&frame, 1), 1u);
    stranger->Release(&frame, 1);
    Run(microseconds(10));
  }
  void SetPlane(uint32_t plane, PlaneAdmin admin) {
    a->pipeline->mailbox().requests.Push(
        request::SetPlane{.plane = PlaneIndex(plane), .plane_admin = admin});
    Run(microseconds(4));
  }
  SimPort* stranger = nullptr;  // of which the switch knows nothing
  const PeerPaths& Paths() const { return a->pipeline->instance(0).peers.paths[0]; }
};

// ---- Outages.

// However many PLANEs were lost meanwhile, a plane is back as soon as one lost for a moment is.
TEST_F(PlaneFaultsTest, APlaneComesBackAtOnceHoweverLongItWasDead) {
  StartPair();
  WarmUp();
  for (const Duration outage : {milliseconds(20), milliseconds(7000)}) {
    Cut(1, true);
    RunLong(Never, outage);
    EXPECT_FALSE(SessionOf(*a, 1).up());
    Cut(1, false);
    EXPECT_TRUE(RunLong([&] { return BothUp() && SessionOf(*b, 1).up(); },
                        params.paths.hold_down_max + 3 * params.paths.hello_idle))
        << outage.count();
  }
}

TEST_F(PlaneFaultsTest, APeerComesBackAtOnceHoweverLongItWasAway) {
  params.paths.hello_idle = microseconds(100);  // it is asked as often
  StartPair();
  WarmUp();
  for (const Duration outage : {milliseconds(20), milliseconds(4000), milliseconds(7000)}) {
    Cut(0, true);
    Cut(1, true);
    RunLong(Never, outage);
    EXPECT_FALSE(SessionOf(*a, 0).up());
    EXPECT_FALSE(SessionOf(*a, 1).up());
    Cut(0, false);
    Cut(1, false);
    EXPECT_TRUE(RunLong([&] { return BothUp(); }, params.paths.hold_down_max + milliseconds(5)))
        << outage.count();
    ca->SendTagged(0, 1);
    EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  }
}

// The dead plane's own timers are slow then; the live plane's are not.
TEST_F(PlaneFaultsTest, APeerIsGivenUpInTimeThoughOnePlaneWasDeadBefore) {
  params.paths.hello_idle = milliseconds(400);
  StartPair();
  WarmUp();
  Cut(1, true);
  SendPdus(20);
  EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, kOk));
  RunLong(Never, milliseconds(1500));  // the waits have become long
  EXPECT_FALSE(SessionOf(*a, 1).up());
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  const Time last_sign = network.now();
  Cut(0, true);
  ca->SendTagged(0, 1);
  EXPECT_EQ(GivenUp(1), 1);
  EXPECT_GE(network.now() - last_sign, params.paths.unreachable - microseconds(100));
  EXPECT_LE(network.now() - last_sign, params.paths.unreachable + milliseconds(1));
  // A peer is also given up by a link that is lost, which takes no question.
  Cut(0, false);
  Cut(1, false);
  EXPECT_TRUE(RunLong([&] { return BothUp(); }, milliseconds(2000)));
  Cut(1, true);
  SendPdus(20);
  EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, kOk));
  RunLong(Never, milliseconds(1500));
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  const Time last = network.now();
  a->ports[0]->SetLink(false);
  ca->SendTagged(0, 1);
  EXPECT_EQ(GivenUp(1), 1);
  EXPECT_LE(network.now() - last, params.paths.unreachable + milliseconds(1));
}

// PDUs on an idle plane that has died meanwhile are moved as soon as on one that was busy.
TEST_F(PlaneFaultsTest, APlaneThatDiedWhileIdleIsFoundWithinTheIntervals) {
  params.paths.hello_idle = milliseconds(40);
  params.transport.rto_initial = params.transport.rto_min = milliseconds(30);
  params.transport.rto_max = milliseconds(50);
  params.paths.unreachable = milliseconds(100);
  StartPair();
  WarmUp();
  const Time heard = SessionOf(*a, 1).last_received();
  ASSERT_TRUE(RunUntil([&] { return SessionOf(*a, 1).last_received() != heard; }));
  Run(milliseconds(1));
  Cut(1, true);
  const Time sent = network.now();
  SendPdus(10);
  EXPECT_TRUE(RunUntil([&] { return !SessionOf(*a, 1).up(); }));
  // The interval in which nothing is asked, those that are not answered, and the sibling's.
  EXPECT_LE(network.now() - sent,
            (params.paths.hello_multiplier + 2) * params.paths.hello_interval + microseconds(100));
  EXPECT_EQ(Statuses(*ca, 10), std::vector<int>(10, kOk));
}

// ---- Standing still.

// The time for which this lcore stood still is not the peer's.
TEST_F(PlaneFaultsTest, APauseOfThisEndIsNoReasonToGiveThePeerUp) {
  StartPair();
  WarmUp();
  Cut(0, true);
  Cut(1, true);
  SendPdus(2);
  Run(milliseconds(2));  // all planes are silent now
  ASSERT_GE(SessionOf(*a, 0).missed(), params.paths.hello_multiplier);
  ASSERT_GE(SessionOf(*a, 1).missed(), params.paths.hello_multiplier);
  network.AdvanceTo(network.now() + 3 * params.paths.unreachable);
  a->pipeline->Poll(network.now());
  EXPECT_FALSE(Paths().unreachable);
  const Time woken = network.now();
  EXPECT_TRUE(RunUntil([&] { return Paths().unreachable; }));
  EXPECT_GE(network.now() - woken, milliseconds(2));
  EXPECT_LE(network.now() - woken, params.paths.unreachable);
}

// ---- Events.

TEST_F(PlaneFaultsTest, UnreachableAndReachableAreToldOnceEach) {
  StartPair();
  WarmUp();
  Cut(0, true);
  Cut(1, true);
  ca->SendTagged(0, 1);
  EXPECT_EQ(GivenUp(1), 1);
  std::vector<LcoreEvent> events = Events(*a, LcoreEventKind::kPeerUnreachable);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].peer_xpuid, 1);
  Cut(0, false);
  Cut(1, false);
  EXPECT_TRUE(RunUntil([&] { return BothUp(); }));
  events = Events(*a, LcoreEventKind::kPeerReachable);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].peer_xpuid, 1);
}

// The peer was given up before it had ever said HELLO.
TEST_F(PlaneFaultsTest, APeerThatWasGivenUpBeforeItsFirstHelloIsReachableAfterIt) {
  a = &AddHost(0, 2);
  ca = &Attach(*a);
  SendPdus(10);
  EXPECT_EQ(GivenUp(10), 10);
  EXPECT_EQ(Events(*a, LcoreEventKind::kPeerReachable).size(), 0u);
  b = &AddHost(1, 2);
  cb = &Attach(*b);
  EXPECT_TRUE(RunUntil([&] { return BothUp(); }, milliseconds(100)));
  EXPECT_GE(Events(*a, LcoreEventKind::kPeerReachable).size(), 1u);
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
}

// ---- Waiting for a plane.

// Commands wait while every link is down, and go as soon as a plane is up: nothing else wakes them.
TEST_F(PlaneFaultsTest, WhatWaitsGoesOnWhenAPlaneComesUp) {
  for (const Ordering ordering : {Ordering::kUnordered, Ordering::kStrict}) {
    hosts.clear();
    clients.clear();
    network = SimNetwork(1);
    params.paths.ordering = ordering;
    params.paths.unreachable = milliseconds(50);
    StartPair();
    WarmUp();
    for (SimPort* port : a->ports) port->SetLink(false);
    Run(microseconds(200));
    ca->SendTagged(0, 1);
    Run(milliseconds(1));
    EXPECT_NE(a->pipeline->instance(0).tx.blocked[0], 0);
    for (SimPort* port : a->ports) port->SetLink(true);
    EXPECT_EQ(Statuses(*ca, 1, milliseconds(10)), std::vector<int>{kOk});
  }
}

// Every plane is drained, and then one is not any more.
TEST_F(PlaneFaultsTest, WhatWaitsGoesOnWhenAnOperatorSetsAPlaneUp) {
  for (const Ordering ordering : {Ordering::kUnordered, Ordering::kStrict}) {
    hosts.clear();
    clients.clear();
    network = SimNetwork(1);
    params.paths.ordering = ordering;
    StartPair();
    WarmUp();
    for (uint32_t plane = 0; plane < 2; ++plane) SetPlane(plane, PlaneAdmin::kDrain);
    ca->SendTagged(0, 1);
    Run(milliseconds(1));
    EXPECT_NE(a->pipeline->instance(0).tx.blocked[0], 0);
    SetPlane(a->pipeline->instance(0).peers.paths[0].home[0], PlaneAdmin::kUp);
    EXPECT_EQ(Statuses(*ca, 1, milliseconds(10)), std::vector<int>{kOk});
  }
}

// In strict mode: the home is drained with PDUs in flight, and waiting PDUs take the other plane.
TEST_F(PlaneFaultsTest, WhatWaitsForAHomeToDrainGoesOnOverTheNextOne) {
  params.paths.ordering = Ordering::kStrict;
  params.transport.window_pdus = 4;
  StartPair();
  WarmUp();
  for (SimPort* port : a->ports) port->faults().delay = microseconds(50);
  SendPdus(8);
  Run(microseconds(5));
  const uint32_t home = Paths().home[0];
  EXPECT_NE(a->pipeline->instance(0).tx.blocked[0], 0);
  SetPlane(home, PlaneAdmin::kDrain);
  EXPECT_TRUE(Paths().moving);
  EXPECT_EQ(Statuses(*ca, 8, milliseconds(10)), std::vector<int>(8, kOk));
  EXPECT_NE(Paths().home[0], home);
}

// In strict mode: PDUs behind a plane that has died leave over the other once it is fenced.
TEST_F(PlaneFaultsTest, WhatWaitsForAFenceGoesOnAfterIt) {
  params.paths.ordering = Ordering::kStrict;
  params.transport.window_pdus = 4;
  StartPair();
  WarmUp();
  // A flow that begins takes the plane that has carried the least.
  const uint32_t dead = Carried(0) != 0 ? 1 : 0;
  Cut(dead, true);
  SendPdus(4);
  Run(microseconds(50));  // the window is full
  SendPdus(4);
  Run(microseconds(50));
  EXPECT_NE(a->pipeline->instance(0).tx.blocked[0], 0);
  EXPECT_EQ(Statuses(*ca, 4, milliseconds(3)).size(), 4u);
  Run(milliseconds(2));
  EXPECT_EQ(cb->Receive().size(), 8u);
}

// In strict mode another plane is drawn as soon as its weight makes it the peer's.
TEST_F(PlaneFaultsTest, AWeightMovesTheHomeAtOnce) {
  params.paths.ordering = Ordering::kStrict;
  StartPair();
  WarmUp();
  const uint32_t home = Paths().home[0];
  Ask(*a, request::SetWeight{.peer = request::SetWeight::kAllPeers,
                             .plane = PlaneIndex(1 - home),
                             .weight = kMaxPlaneWeight});
  EXPECT_EQ(Paths().home[0], 1 - home);
  const uint32_t before = Carried(home);
  SendPdus(10);
  EXPECT_EQ(Statuses(*ca, 10), std::vector<int>(10, kOk));
  EXPECT_EQ(Carried(home), before);
}

// ---- Generations and fences.

// The answer is counted, changes nothing, and the fence stays open for the right answer.
TEST_F(PlaneFaultsTest, AnImpossibleAnswerToAFenceIsCountedAndIgnored) {
  StartPair();
  WarmUp();
  Cut(0, true);
  SendPdus(20);
  ASSERT_TRUE(RunUntil([&] { return SessionOf(*a, 0).fencing(); }));
  for (SimPort* port : b->ports) port->faults().loss = 1;  // its own answer is lost
  const Instance& instance = a->pipeline->instance(0);
  const Psn next = instance.peers.connections[0].in_flight().next_psn();
  Fenced fenced{.plane = 0, .generation = SessionOf(*a, 0).tx_generation()};
  fenced.expected.fill(next.Plus(1));
  const uint64_t before = a->Count(Counter::kRxRpsnInvalid);
  SayAsPeer(fenced);
  EXPECT_EQ(a->Count(Counter::kRxRpsnInvalid), before + 1);
  EXPECT_TRUE(SessionOf(*a, 0).fencing());
  EXPECT_TRUE(instance.peers.connections[0].tx().frozen());
  for (SimPort* port : b->ports) port->faults().loss = 0;
  EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, kOk));
}

// A peer that says so again would say so for ever: the counts of the two cannot be brought into
// step.
TEST_F(PlaneFaultsTest, TwoImpossibleAnswersToAFenceInARowStartOver) {
  StartPair();
  WarmUp();
  Cut(0, true);
  SendPdus(20);
  ASSERT_TRUE(RunUntil([&] { return SessionOf(*a, 0).fencing(); }));
  for (SimPort* port : b->ports) port->faults().loss = 1;
  const Psn next = a->pipeline->instance(0).peers.connections[0].in_flight().next_psn();
  Fenced fenced{.plane = 0, .generation = SessionOf(*a, 0).tx_generation()};
  fenced.expected.fill(next.Plus(1));
  const uint64_t identity = a->pipeline->instance(0).peers[0].handshake().identities().own;
  SayAsPeer(fenced);
  EXPECT_EQ(a->Count(Counter::kDesynchronized), 0u);
  SayAsPeer(fenced);
  EXPECT_EQ(a->Count(Counter::kDesynchronized), 1u);
  EXPECT_NE(a->pipeline->instance(0).peers[0].handshake().identities().own, identity);
  EXPECT_FALSE(SessionOf(*a, 0).fencing());
  for (SimPort* port : b->ports) port->faults().loss = 0;
  Cut(0, false);
  // PDUs that the fence would have told about are of the old association.
  const std::vector<int> ended = Statuses(*ca, 20);
  EXPECT_GT(std::count(ended.begin(), ended.end(), SUEDE_STATUS_PEER_RESET), 0);
  EXPECT_EQ(std::count(ended.begin(), ended.end(), -1), 0);
  ASSERT_TRUE(RunUntil([&] { return BothUp(); }));
  cb->Receive();
  SendPdus(20);
  EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, kOk));
  EXPECT_EQ(cb->Receive().size(), 20u);
}

// Impossible answers to two fences, not in a row: the fence answered in between was another one.
TEST_F(PlaneFaultsTest, AnImpossibleAnswerToEachOfTwoFencesDoesNotStartOver) {
  StartPair();
  WarmUp();
  for (int round = 0; round < 2; ++round) {
    Cut(0, true);
    SendPdus(20);
    ASSERT_TRUE(RunUntil([&] { return SessionOf(*a, 0).fencing(); }));
    for (SimPort* port : b->ports) port->faults().loss = 1;
    Fenced fenced{.plane = 0, .generation = SessionOf(*a, 0).tx_generation()};
    fenced.expected.fill(
        a->pipeline->instance(0).peers.connections[0].in_flight().next_psn().Plus(1));
    SayAsPeer(fenced);
    for (SimPort* port : b->ports) port->faults().loss = 0;
    Cut(0, false);
    EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, kOk));
    ASSERT_TRUE(RunUntil([&] { return BothUp(); }));
  }
  EXPECT_EQ(a->Count(Counter::kDesynchronized), 0u);
}

// A generation begins far from the last one's end.
TEST_F(PlaneFaultsTest, AGenerationBeginsFarFromTheLastOne) {
  params.transport.psn_scope = PsnScope::kVc;
  StartPair();
  WarmUp();
  Cut(0, true);
  SendPdus(40);
  const Connection& connection = a->pipeline->instance(0).peers.connections[0];
  EXPECT_TRUE(RunUntil([&] { return connection.tx().frozen(); }));
  const Psn old = connection.in_flight().next_psn();
  EXPECT_TRUE(RunUntil([&] { return !connection.tx().frozen(); }));
  EXPECT_EQ(connection.in_flight().next_psn(), old.Plus(1 << 15));
  EXPECT_EQ(Statuses(*ca, 40), std::vector<int>(40, kOk));
}

// The peer is started while one of the planes is dead both ways.
TEST_F(PlaneFaultsTest, APeerThatStartsWhileAPlaneIsDead) {
  for (const uint32_t dead : {0u, 1u}) {
    hosts.clear();
    clients.clear();
    network = SimNetwork(1);
    params.transport.max_tries = 100;
    params.paths.unreachable = milliseconds(20);
    a = &AddHost(0, 2);
    ca = &Attach(*a);
    SendPdus(40);
    Run(milliseconds(3));
    b = &AddHost(1, 2);
    cb = &Attach(*b);
    Cut(dead, true);
    EXPECT_EQ(Statuses(*ca, 40), std::vector<int>(40, kOk)) << "plane " << dead;
    EXPECT_EQ(cb->Receive().size(), 40u);
    Cut(dead, false);
    EXPECT_TRUE(RunUntil([&] { return BothUp(); }));
  }
}

// With no plane left that is up, a FENCE takes any whose port can send, not its own alone.
TEST_F(PlaneFaultsTest, PlanesThatDieTogetherAreFencedOverEachOther) {
  StartPair();
  WarmUp();
  uint32_t over_another = 0;
  network.SetFilter([&](std::span<const uint8_t> frame) {
    std::vector<uint8_t> copy(frame.begin(), frame.end());
    const ParsedFrame parsed =
        ParseFrame({}, copy.data(), static_cast<uint32_t>(copy.size()), false);
    ControlMessage message;
    if (DecodeRh(parsed.pdu).ver == static_cast<uint8_t>(RhVersion::kControl) &&
        DecodeControl(parsed.pdu + kRhBytes, parsed.pdu_bytes - kRhBytes - kRcrcBytes, message) ==
            ControlError::kNone) {
      const auto* fence = std::get_if<Fence>(&message);
      over_another += fence != nullptr && !fence->own ? 1 : 0;
    }
    return false;
  });
  SendPdus(20);
  ASSERT_TRUE(RunUntil([&] { return !SessionOf(*a, 0).up() && !SessionOf(*a, 1).up(); }));
  ASSERT_TRUE(SessionOf(*a, 0).fencing() && SessionOf(*a, 1).fencing());
  Run(microseconds(4));  // the frames sent up to then have passed
  over_another = 0;
  Run(milliseconds(5));
  EXPECT_GT(over_another, 0u);
}

// PDUs that have moved are their new plane's: a removal from its burst for another peer leaves them
// there.
TEST_F(PlaneFaultsTest, WhatHasMovedLeavesThoughAnotherPeerRestarts) {
  a = &AddHost(0, 3);
  b = &AddHost(1, 3);
  Host& c = AddHost(2, 3);
  ca = &Attach(*a);
  cb = &Attach(*b);
  Client& cc = Attach(c);
  WarmUp();
  ca->SendTagged(0, 2);
  ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  Run(milliseconds(1));
  cc.Receive();
  network.Block(a->ports[0], b->ports[0], true);
  network.Block(b->ports[0], a->ports[0], true);
  b->ports[1]->faults().delay = microseconds(60);  // of the FENCED
  SendPdus(20);
  ASSERT_TRUE(RunUntil([&] { return SessionOf(*a, 0).fencing(); }));
  SetPlane(0, PlaneAdmin::kDrain);
  // The port's device is full, and some PDUs to XPU 2 wait behind it.
  a->ports[1]->SetPaused(true);
  for (int i = 0; i < 70; ++i) ca->Send(TestCommand(8, 16, 1), 2, 0, SUEDE_RECORD_TRANSMIT_NOW);
  ASSERT_TRUE(RunUntil([&] { return !SessionOf(*a, 0).fencing(); }, milliseconds(1)));
  EXPECT_GT(a->Count(Counter::kTxMoved), 0u);
  const uint64_t again = a->Count(Counter::kTxRetransmissions);
  c.pipeline.reset();
  Boot(c, 3);
  Attach(c).SendTagged(0, 0);
  ASSERT_TRUE(RunUntil([&] { return a->Count(Counter::kPeerResets) != 0; }));
  a->ports[1]->SetPaused(false);
  Run(milliseconds(2));
  EXPECT_EQ(cb->Receive().size(), 20u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), again);
}

// ---- FENCEs of planes on which the peer has said nothing.

class UnnamedFenceTest : public ByHandTest {
 protected:
  UnnamedFenceTest() { planes = 2; }
  void SetUp() override {
    Start();
    Meet();
  }
  void Say(const Fence& fence) { Inject({Control(fence)}); }
};

TEST_F(UnnamedFenceTest, IsAnsweredWhereNothingHasCome) {
  Say({.plane = 1});
  EXPECT_EQ(host->Count(Counter::kRxFences), 1u);
  EXPECT_EQ(host->Count(Counter::kRxPlaneStale), 0u);
  // Nothing of that generation is accepted from then on.
  Inject({Build(Rh(0), Command(1))});
  EXPECT_EQ(host->Count(Counter::kRxFenced), 1u);
  EXPECT_EQ(host->Count(Counter::kRxPdus), 0u);
}

TEST_F(UnnamedFenceTest, IsNotAnsweredWhereSomethingHasCome) {
  Inject({Build(Rh(0), Command(1))});
  EXPECT_EQ(host->Count(Counter::kRxPdus), 1u);
  Say({.plane = 1});
  EXPECT_EQ(host->Count(Counter::kRxFences), 0u);
  EXPECT_EQ(host->Count(Counter::kRxPlaneStale), 1u);
  Inject({Build(Rh(1), Command(2))});
  EXPECT_EQ(host->Count(Counter::kRxPdus), 2u);
}

}  // namespace
}  // namespace suede
