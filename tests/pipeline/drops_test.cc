// SPDX-License-Identifier: Apache-2.0
// Every reason for dropping a frame: dropped, answered by nothing, counted once, under its own
// name; with and without a tap, which gets the frame as it was received.
#include "../port/drop_recorder.h"
#include "bench.h"
#include "receive/drop_counter.h"

namespace suede {
namespace {

class DropsTest : public ByHandTest, public testing::WithParamInterface<bool> {
 protected:
  // Injects a frame and expects exactly `counter` of all counters of drops to move, by one.
  void ExpectDrop(const std::vector<uint8_t>& frame, Counter counter) {
    const CounterSnapshot before = Snapshot();
    TakeSent();
    Inject({frame});
    const CounterSnapshot after = Snapshot();
    for (size_t i = 0; i < kCounterCount; ++i) {
      if (CounterRows()[i].severity != Severity::kDrop) continue;
      const uint64_t want = i == static_cast<size_t>(counter) ? 1 : 0;
      EXPECT_EQ(after[i] - before[i], want) << CounterRows()[i].name;
    }
    EXPECT_EQ(after[static_cast<size_t>(Counter::kRxPdus)],
              before[static_cast<size_t>(Counter::kRxPdus)]);
    ExpectTapped({frame}, counter);
  }
  // Expects that the tap, if there is one, has got these frames since the last call.
  void ExpectTapped(const std::vector<std::vector<uint8_t>>& frames, Counter counter) {
    std::vector<DropRecorder::Dropped> expected;
    for (size_t i = 0; i < frames.size() && GetParam(); ++i) {
      expected.push_back({.bytes = frames[i],
                          .direction = FrameDirection::kIn,
                          .counter = CounterRows()[static_cast<size_t>(counter)].name});
    }
    EXPECT_EQ(tap.dropped, expected) << CounterRows()[static_cast<size_t>(counter)].name;
    tap.dropped.clear();
  }
  CounterSnapshot Snapshot() const {
    CounterSnapshot sum{};
    host->pipeline->counters(0).AddTo(sum);
    host->pipeline->port_counters().AddTo(sum);
    return sum;
  }
  void SetUp() override {
    Start();
    Meet();
    Attach(*host);
    if (GetParam()) host->pipeline->drop_tap(0).Set(&tap);
  }

  DropRecorder tap;
};
INSTANTIATE_TEST_SUITE_P(Taps, DropsTest, testing::Bool(),
                         [](const auto& watched) { return watched.param ? "Tapped" : "Plain"; });

// Each counter of frames dropped on receive is known as one by its name.
TEST(DropWatchTest, KnowsTheCountersOfReceivedFrames) {
  for (const auto& [counter, is_of_frames] : {std::pair(Counter::kRxRcrc, true),
                                              {Counter::kRxUnsealed, true},
                                              {Counter::kRxControlUnknown, true},
                                              {Counter::kMgmtRxRingFull, true},
                                              {Counter::kRxHandoverFull, true},
                                              {Counter::kMgmtRxCopiesLost, false},
                                              {Counter::kRxPdus, false},
                                              {Counter::kTxInDoubt, false},
                                              {Counter::kMemoryRefused, false}}) {
    const CounterRow& row = CounterRows()[static_cast<size_t>(counter)];
    EXPECT_EQ(CountsDroppedFrames(row), is_of_frames) << row.name;
  }
}

// Tools name the reason of a drop without a pipeline: it is the name of the counter all the same.
TEST(DropCounterTest, IsNamedAsTheReason) {
  for (size_t i = 1; i < kFrameErrorNames.size(); ++i) {
    const auto error = static_cast<FrameError>(i);
    EXPECT_EQ(CounterRows()[static_cast<size_t>(DropCounter(error))].name,
              "rx_drop_" + std::string(FrameErrorName(error)) + "_total");
  }
  EXPECT_EQ(FrameErrorName(FrameError::kMulticast), "multicast");  // the last one has its name
}

TEST_P(DropsTest, GoodPduIsNoDrop) {
  Inject({Build(Rh(), Command(1))});
  EXPECT_EQ(host->Count(Counter::kRxPdus), 1u);
  EXPECT_EQ(clients[0]->Receive(), std::vector<uint8_t>{3});
  EXPECT_TRUE(tap.dropped.empty());
}

// The frames of a burst that are dropped are told from the others.
TEST_P(DropsTest, TheTapGetsTheDroppedFramesOfABurst) {
  std::vector<uint8_t> bad = Build(Rh(1), Command(9));
  bad[60] ^= 1;
  Inject({Build(Rh(0), Command(1)), bad, Build(Rh(1), Command(2)), bad});
  EXPECT_EQ(clients[0]->Receive(), (std::vector<uint8_t>{3, 6}));
  ExpectTapped({bad, bad}, Counter::kRxRcrc);
  host->pipeline->drop_tap(0).Set(nullptr);
  Inject({bad});
  EXPECT_EQ(host->Count(Counter::kRxRcrc), 3u);
  EXPECT_TRUE(tap.dropped.empty());
}

TEST_P(DropsTest, FramesForAPortThatIsDown) {
  Ask(*host, Switch(OutOfService::kPort, false));
  ExpectDrop(Build(Rh(), Command(1)), Counter::kRxAdminDown);
}

TEST_P(DropsTest, Rcrc) {
  std::vector<uint8_t> frame = Build(Rh(), Command(1));
  frame[60] ^= 1;
  ExpectDrop(frame, Counter::kRxRcrc);
  EXPECT_TRUE(TakeSent().empty());
}

// The R-CRC covers the reserved bits as they are on the wire.
TEST_P(DropsTest, ReservedBitsAreCoveredAsTheyCame) {
  for (const auto& [at, bits] : {std::pair(0u, 0x0cu), std::pair(4u, 0x3cu)}) {
    std::vector<uint8_t> frame = Build(Rh(), Command(1));
    frame[kRhAt + at] |= static_cast<uint8_t>(bits);
    ExpectDrop(frame, Counter::kRxRcrc);
    const auto covered = static_cast<uint32_t>(frame.size()) - kRhAt - kRcrcBytes;
    StoreRcrc(&frame[kRhAt], covered);
    const uint64_t before = host->Count(Counter::kRxPdus) + host->Count(Counter::kRxDuplicate);
    Inject({frame});
    EXPECT_EQ(host->Count(Counter::kRxPdus) + host->Count(Counter::kRxDuplicate), before + 1);
  }
}

TEST_P(DropsTest, MoreThan4096BytesOfCommandsAreMalformed) {
  std::vector<uint8_t> commands;
  while (commands.size() < kMaxPackBytes + 2) commands.insert(commands.end(), {0x21, 0});
  // BuildFrame makes none so long, so the frame lacks a command, which is added by hand.
  std::vector<uint8_t> frame = Build(Rh(), {commands.begin(), commands.end() - 2});
  frame.insert(frame.end() - kRcrcBytes, {0x21, 0});
  StoreBe16(&frame[16], static_cast<uint16_t>(frame.size() - 14));
  StoreBe16(&frame[38], static_cast<uint16_t>(frame.size() - 34));
  StoreBe16(&frame[24], 0);
  uint32_t sum = 0;
  for (uint32_t i = 14; i < 34; i += 2) sum += LoadBe16(&frame[i]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  StoreBe16(&frame[24], static_cast<uint16_t>(~sum));
  StoreRcrc(&frame[kRhAt], static_cast<uint32_t>(frame.size()) - kRhAt - kRcrcBytes);
  ExpectDrop(frame, Counter::kRxMalformed);
}

// Without an agreement on several sessions, the number of a PDU's session does not matter.
TEST_P(DropsTest, TheSourcePortIsIgnoredWithoutSessions) {
  uint16_t psn = 0;
  for (const uint16_t source_port : {uint16_t{0}, uint16_t{1}, uint16_t{50000}, uint16_t{65535}}) {
    std::vector<uint8_t> frame = Build(Rh(psn++), Command(1));
    StoreBe16(&frame[kSourcePortAt], source_port);
    Inject({frame});
  }
  EXPECT_EQ(host->Count(Counter::kRxPdus), psn);
  EXPECT_EQ(host->Count(Counter::kRxSession), 0u);
}

TEST_P(DropsTest, ReservedVersions) {
  ReliabilityHeader rh = Rh();
  for (const uint8_t ver : {uint8_t{1}, uint8_t{2}}) {
    rh.ver = ver;
    ExpectDrop(Build(rh, Command(1)), Counter::kRxVersion);
    EXPECT_TRUE(TakeSent().empty());
  }
}

TEST_P(DropsTest, PartitionIsEnforcedOnDataAndControl) {
  ReliabilityHeader rh = Rh();
  rh.partition = kPartition + 1;
  ExpectDrop(Build(rh, Command(1)), Counter::kRxPartition);
  rh.ver = 3;
  ExpectDrop(Build(rh, {3, 0, 0, 4, 0, 0, 0, 0}), Counter::kRxPartition);
  EXPECT_TRUE(TakeSent().empty());
}

// A property of one frame of a burst is not taken for granted of the next.
TEST_P(DropsTest, EveryFrameOfABurstIsChecked) {
  const auto with = [&](const std::function<void(ReliabilityHeader&)>& change) {
    ReliabilityHeader rh = Rh(1);
    change(rh);
    return Build(rh, Command(1));
  };
  std::vector<uint8_t> damaged = Build(Rh(1), Command(1));
  damaged[60] ^= 1;
  std::vector<uint8_t> address = Build(Rh(1), Command(1));
  address[24] ^= 1;
  const std::pair<std::vector<uint8_t>, Counter> bad[] = {
      {damaged, Counter::kRxRcrc},
      {address, Counter::kRxIpChecksum},
      {with([](auto& rh) { rh.ver = 1; }), Counter::kRxVersion},
      {with([](auto& rh) { rh.ver = 2; }), Counter::kRxVersion},
      {with([](auto& rh) { ++rh.partition; }), Counter::kRxPartition},
      {with([](auto& rh) { rh.xpuid = 77; }), Counter::kRxUnknownXpu},
      {Build(Rh(1), Command(1), 9), Counter::kRxSource},
      {Build(Rh(1), Command(1), 1, 5), Counter::kRxUnknownDestination},
      {Build(Rh(1), {0x0a, 0}), Counter::kRxMalformed},
      {Build(Rh(9), Command(1)), Counter::kRxAhead},
  };
  uint16_t psn = 0;
  for (const auto& [frame, counter] : bad) {
    std::vector<uint8_t> moved = frame;
    const bool is_of_connection = counter == Counter::kRxMalformed || counter == Counter::kRxAhead;
    if (is_of_connection) {
      const auto next = static_cast<uint16_t>(counter == Counter::kRxAhead ? psn + 9 : psn + 1);
      moved = Build(Rh(next),
                    counter == Counter::kRxAhead ? Command(1) : std::vector<uint8_t>{0x0a, 0});
    }
    // A malformed PDU is accepted: the third frame and the fourth are duplicates.
    const bool accepted = counter == Counter::kRxMalformed;
    const CounterSnapshot before = Snapshot();
    Inject({Build(Rh(psn), Command(1)), moved,
            Build(Rh(static_cast<uint16_t>(psn + 1)), Command(2)), moved});
    psn = static_cast<uint16_t>(psn + 2);
    const CounterSnapshot after = Snapshot();
    for (size_t i = 0; i < kCounterCount; ++i) {
      if (CounterRows()[i].severity != Severity::kDrop || i == static_cast<size_t>(counter))
        continue;
      const bool again = i == static_cast<size_t>(Counter::kRxDuplicate) && is_of_connection;
      EXPECT_LE(after[i] - before[i], again ? accepted ? 2u : 1u : 0u) << CounterRows()[i].name;
    }
    const auto index = static_cast<size_t>(counter);
    EXPECT_EQ(after[index] - before[index], accepted ? 1u : 2u) << CounterRows()[index].name;
    EXPECT_EQ(after[static_cast<size_t>(Counter::kRxPdus)] -
                  before[static_cast<size_t>(Counter::kRxPdus)],
              accepted ? 1u : 2u)
        << CounterRows()[index].name;
    const auto delivered = accepted ? std::vector<uint8_t>{3} : std::vector<uint8_t>{3, 6};
    EXPECT_EQ(clients[0]->Receive(), delivered);
  }
}

// Frames of one burst for several VCs: each goes to the client that has claimed its VC.
TEST_P(DropsTest, FramesOfABurstGoToTheirVcs) {
  std::vector<std::vector<uint8_t>> frames;
  uint16_t psn = 0;
  for (const unsigned vc : {0u, 0u, 3u, 0u, 3u, 3u, 1u}) {
    const auto seed = static_cast<uint8_t>(psn + 1);
    frames.push_back(Build(Rh(psn, static_cast<uint8_t>(vc)), Command(seed)));
    ++psn;
  }
  Inject(frames);
  EXPECT_EQ(clients[0]->Receive(0), (std::vector<uint8_t>{3, 6, 12}));
  EXPECT_EQ(clients[0]->Receive(1), (std::vector<uint8_t>{21}));
  EXPECT_EQ(clients[0]->Receive(3), (std::vector<uint8_t>{9, 15, 18}));
}

TEST_P(DropsTest, UnknownXpu) {
  ReliabilityHeader rh = Rh();
  rh.xpuid = 77;
  ExpectDrop(Build(rh, Command(1)), Counter::kRxUnknownXpu);
  EXPECT_TRUE(TakeSent().empty());
}

TEST_P(DropsTest, SourceAddressOfAnotherXpu) {
  ExpectDrop(Build(Rh(), Command(1), 9), Counter::kRxSource);
  EXPECT_TRUE(TakeSent().empty());
}

TEST_P(DropsTest, DestinationThatIsNoInstance) {
  ExpectDrop(Build(Rh(), Command(1), 1, 5), Counter::kRxUnknownDestination);
}

TEST_P(DropsTest, NotSue) {
  std::vector<uint8_t> frame = Build(Rh(), Command(1));
  frame[12] = 0x08;
  frame[13] = 0x06;  // ARP
  ExpectDrop(frame, Counter::kRxNotSue);
}

TEST_P(DropsTest, Truncated) {
  std::vector<uint8_t> frame = Build(Rh(), std::vector<uint8_t>(Command(1)));
  frame.resize(frame.size() - 8);
  ExpectDrop(frame, Counter::kRxTruncated);
}

TEST_P(DropsTest, IpOptionsFragmentsAndImpossibleLengths) {
  const std::vector<uint8_t> good = Build(Rh(), Command(1));
  std::vector<uint8_t> options = good;
  options[14] = 0x46;
  options.insert(options.begin() + 34, {1, 1, 1, 0});
  ExpectDrop(options, Counter::kRxIpHeader);
  std::vector<uint8_t> version = good;
  version[14] = 0x65;
  ExpectDrop(version, Counter::kRxIpHeader);
  std::vector<uint8_t> first_fragment = good;
  first_fragment[20] |= 0x20;  // more fragments
  ExpectDrop(first_fragment, Counter::kRxIpHeader);
  std::vector<uint8_t> length = good;
  length[16] = 0;
  length[17] = 27;  // no room for a UDP header
  ExpectDrop(length, Counter::kRxIpHeader);
  EXPECT_TRUE(TakeSent().empty());
}

TEST_P(DropsTest, UdpChecksum) {
  std::vector<uint8_t> frame = Build(Rh(), Command(1));
  frame[40] = 0x12;
  frame[41] = 0x34;
  ExpectDrop(frame, Counter::kRxUdpChecksum);
  EXPECT_TRUE(TakeSent().empty());
}

TEST_P(DropsTest, IpChecksum) {
  std::vector<uint8_t> frame = Build(Rh(), Command(1));
  frame[24] ^= 1;
  ExpectDrop(frame, Counter::kRxIpChecksum);
}

TEST_P(DropsTest, MalformedCommandsDeliverNone) {
  std::vector<uint8_t> commands = Command(1);
  commands.insert(commands.end(), {0x0a, 0});  // L of 10
  ExpectDrop(Build(Rh(), commands), Counter::kRxMalformed);
  EXPECT_TRUE(clients[0]->Receive().empty());
  // The PDU is not sent again in another form: the connection goes on behind it.
  Inject({Build(Rh(), Command(2)), Build(Rh(1), Command(3))});
  EXPECT_EQ(clients[0]->Receive(), std::vector<uint8_t>{9});
  EXPECT_EQ(host->Count(Counter::kRxDuplicate), 1u);
  Run(microseconds(100));
  const std::vector<Sent> answers = TakeSent();
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.back().rh.op, RhOp::kAck);
  EXPECT_EQ(answers.back().rh.rpsn, Psn(1));
  LcoreEvent event;
  uint32_t events = 0;
  while (host->pipeline->mailbox().events.Pop(event)) {
    events += event.kind == LcoreEventKind::kMalformed ? 1 : 0;
  }
  EXPECT_EQ(events, 1u);
}

TEST_P(DropsTest, MalformedPduWithoutCommands) {
  ExpectDrop(Build(Rh(), {0, 0, 0, 9}), Counter::kRxMalformed);
}

// A boot that nobody has heard of yet accepts nothing: it may be meant for the last one.
TEST_P(DropsTest, SequencedPduBeforeHello) {
  plain_peers = false;
  Host& fresh = AddHost(2, 3);
  if (GetParam()) fresh.pipeline->drop_tap(0).Set(&tap);
  ReliabilityHeader rh = Rh(0);
  const std::vector<uint8_t> early = Build(rh, Command(1), 1, 2, 2);
  Inject({early});
  ExpectTapped({early}, Counter::kRxBeforeHello);
  EXPECT_EQ(fresh.Count(Counter::kRxBeforeHello), 1u);
  EXPECT_EQ(fresh.Count(Counter::kRxPdus), 0u);
  Run(microseconds(100));
  EXPECT_EQ(fresh.Count(Counter::kTxControlPdus), 1u) << "it asks for a HELLO";
  Meet(1, 2, 2);
  Inject({Build(rh, Command(1), 1, 2, 2)});
  EXPECT_EQ(fresh.Count(Counter::kRxPdus), 1u);
}

TEST_P(DropsTest, DuplicateIsAcknowledgedAtOnce) {
  Inject({Build(Rh(), Command(1))});
  Run(microseconds(100));
  ExpectDrop(Build(Rh(), Command(1)), Counter::kRxDuplicate);
  bool acknowledged = false;
  for (const Sent& sent : TakeSent()) {
    acknowledged |= sent.rh.ver == 0 && sent.rh.op == RhOp::kAck && sent.rh.rpsn == Psn(0);
  }
  EXPECT_TRUE(acknowledged);
  EXPECT_EQ(clients[0]->Receive().size(), 1u);
}

TEST_P(DropsTest, AheadIsAnsweredWithOneNack) {
  ExpectDrop(Build(Rh(1), Command(1)), Counter::kRxAhead);
  ExpectDrop(Build(Rh(2), Command(1)), Counter::kRxAhead);
  EXPECT_EQ(host->Count(Counter::kTxNacks), 1u);
}

TEST_P(DropsTest, UnsequencedPduAheadIsAnsweredWithANack) {
  Inject({Build(Rh(1), {})});
  EXPECT_EQ(host->Count(Counter::kRxAcks), 1u);
  EXPECT_EQ(host->Count(Counter::kTxNacks), 0u);  // it may have overtaken the data
  Run(params.transport.rto_initial - microseconds(10));
  EXPECT_EQ(host->Count(Counter::kTxNacks), 0u);
  Run(microseconds(50));
  EXPECT_EQ(host->Count(Counter::kTxNacks), 1u);
}

TEST_P(DropsTest, UnsequencedPduInStepIsNeverAnswered) {
  Inject({Build(Rh(0), {})});
  Run(milliseconds(1));
  EXPECT_TRUE(TakeSent().empty());
}

TEST_P(DropsTest, ControlOfUnknownType) {
  ReliabilityHeader rh = ControlRh(1, kPartition);
  ExpectDrop(Build(rh, {99, 0, 0, 0}), Counter::kRxControlUnknown);
}

TEST_P(DropsTest, ControlThatDoesNotParse) {
  ReliabilityHeader rh = ControlRh(1, kPartition);
  ExpectDrop(Build(rh, {8, 0, 0, 2, 0, 0}), Counter::kRxControlMalformed);
  EXPECT_TRUE(TakeSent().empty());
}

TEST_P(DropsTest, AcknowledgementOfWhatWasNeverSent) {
  ReliabilityHeader rh = Rh();
  rh.op = RhOp::kAck;
  rh.rpsn = Psn(9);
  Inject({Build(rh, {})});
  EXPECT_EQ(host->Count(Counter::kRxRpsnInvalid), 1u);
}

TEST_P(DropsTest, HelloOfAnotherPsnScopeIsCountedAndRefused) {
  Hello other = HelloTo(host->pipeline->instance(0));
  other.psn_scope = 1;
  other.reply_wanted = true;
  Inject({Control(other)});
  EXPECT_EQ(host->Count(Counter::kHelloMismatch), 1u);
  // The peer is told ours, so that it finds the same; nothing else goes there.
  const std::vector<Sent> sent = TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  ControlMessage message;
  ASSERT_EQ(DecodeControl(sent[0].commands.data(), static_cast<uint32_t>(sent[0].commands.size()),
                          message),
            ControlError::kNone);
  const Hello* hello = std::get_if<Hello>(&message);
  ASSERT_NE(hello, nullptr);
  EXPECT_EQ(hello->psn_scope, 0);
  EXPECT_FALSE(hello->reply_wanted);
  Client& client = Attach(*host);
  client.SendTagged(0, 1);
  EXPECT_EQ(Statuses(client, 1), std::vector<int>{SUEDE_STATUS_UNREACHABLE});
  Meet();
  client.SendTagged(0, 1);
  Run(microseconds(50));
  bool data = false;
  for (const Sent& s : TakeSent()) data |= s.rh.ver == 0 && (s.commands[0] & 0xf) != 0;
  EXPECT_TRUE(data);
}

// For every reason: the frame goes back to its pool.
TEST_P(DropsTest, NoDropKeepsAFrame) {
  std::vector<std::vector<uint8_t>> frames(2, Build(Rh(), Command(1)));
  frames[0][60] ^= 1;    // R-CRC
  frames[1].resize(40);  // truncated
  const auto add = [&](auto change) {
    ReliabilityHeader rh = Rh();
    change(rh);
    frames.push_back(Build(rh, Command(1)));
  };
  add([](ReliabilityHeader& rh) { rh.ver = 1; });
  add([](ReliabilityHeader& rh) { rh.partition = kPartition + 1; });
  add([](ReliabilityHeader& rh) { rh.xpuid = 77; });
  add([](ReliabilityHeader& rh) { rh.psn = Psn(9); });       // ahead
  add([](ReliabilityHeader& rh) { rh.psn = Psn(0xffff); });  // a duplicate
  add([](ReliabilityHeader& rh) { rh.ver = 3; });            // control, and nonsense
  frames.push_back(Build(Rh(), Command(1), 9));              // from another address
  frames.push_back(Build(Rh(), Command(1), 1, 5));           // to nobody
  std::vector<uint8_t> malformed = Command(1);
  malformed.resize(malformed.size() - 4);
  frames.push_back(Build(Rh(), malformed));
  frames.push_back(Build(Rh(), {0, 0, 0, 9}));  // malformed, and without commands
  for (const std::vector<uint8_t>& frame : frames) {
    for (int i = 0; i < 200; ++i) Inject({frame});
    ExpectNoFramesOut();
  }
}

// A control PDU between other boots than those that run: dropped, and its sender asked for its
// HELLO.
TEST_P(DropsTest, ControlOfAnotherAssociation) {
  Identities others = Met();
  ++others.own;
  ExpectDrop(Control(Ready{.identities = others}), Counter::kRxAssociation);
  const std::vector<Sent> sent = TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  ControlMessage message;
  ASSERT_EQ(DecodeControl(sent[0].commands.data(), static_cast<uint32_t>(sent[0].commands.size()),
                          message),
            ControlError::kNone);
  ASSERT_TRUE(std::holds_alternative<Hello>(message));
  EXPECT_TRUE(std::get<Hello>(message).reply_wanted);
}

// ---- Sessions: the UDP source port is a session's number.

class SessionFloodTest : public ByHandTest {
 protected:
  static constexpr uint32_t kSessions = 4;
  void SetUp() override {
    params.sessions = kSessions;
    Start();
    Hello hello = HelloTo(InstanceAt(0));
    hello.answers_planes = true;
    hello.sends_generations = true;
    hello.sessions = kSessions;
    Inject({Control(hello)});
    ASSERT_EQ(Group().count(), kSessions);
    TakeSent();
  }
  const SessionGroup& Group() const { return host->pipeline->instance(0).peers.groups[0]; }
  // A good PDU but for its source port.
  std::vector<uint8_t> From(uint32_t source_port) const {
    std::vector<uint8_t> frame = Build(Rh(), Command(1));
    StoreBe16(&frame[kSourcePortAt], static_cast<uint16_t>(source_port));
    return frame;
  }
  bool IsAgreed(uint32_t source_port) const {
    return source_port >= kFirstSourcePort && source_port < kFirstSourcePort + kSessions;
  }
};

TEST_F(SessionFloodTest, PortsWithoutEndAreCountedAndOpenNothing) {
  constexpr uint32_t kPorts = 1u << 16;
  constexpr uint32_t kAtOnce = 32;
  std::vector<std::vector<uint8_t>> frames;
  for (uint32_t source_port = 0; source_port < kPorts; ++source_port) {
    if (!IsAgreed(source_port)) frames.push_back(From(source_port));
    if (frames.size() != kAtOnce && source_port + 1 != kPorts) continue;
    Inject(frames);
    frames.clear();
  }
  EXPECT_EQ(host->Count(Counter::kRxSession), kPorts - kSessions);
  EXPECT_EQ(host->Count(Counter::kRxPdus), 0u);
  EXPECT_EQ(Group().open(), 1u);
  for (uint32_t slot = 0; slot < kSessions; ++slot) {
    EXPECT_EQ(Group().slot(SessionIndex(slot)).rx_number, slot);
    EXPECT_EQ(Group().slot(SessionIndex(slot)).state == SessionSlot::State::kOpen, slot == 0);
  }
  EXPECT_LT(TakeSent().size(), kPorts / 100) << "its own PLANEs, and no answers";
  ExpectNoFramesOut();
  // The agreed ones are none of them.
  for (uint32_t slot = 0; slot < kSessions; ++slot) Inject({From(kFirstSourcePort + slot)});
  EXPECT_EQ(host->Count(Counter::kRxSession), kPorts - kSessions);
}

}  // namespace
}  // namespace suede
