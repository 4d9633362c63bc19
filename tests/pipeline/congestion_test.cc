// SPDX-License-Identifier: Apache-2.0
// Congestion control in the data path (docs/congestion.md): credit that is granted (RCCC), and
// marks that are echoed (NSCC).
#include <optional>
#include <vector>

#include "bench.h"

namespace suede {
namespace {

class CongestionTest : public PipelineTest {
 protected:
  static constexpr uint64_t kManyPdus = 200;

  CongestionTest() {
    shape.tx_lines = 2048;
    shape.rx_lines = 2048;
    shape.credit_lines = 2048;
    shape.aggregate_lines = 4096;
    params.pack_limit_bytes = 512;
    params.congestion.base_rtt = microseconds(10);
    params.congestion.initial_percent = 1;
    params.congestion.repeat_max = microseconds(200);
  }
  // Host 0 sends by the law, host 1 by windows alone.
  void StartPair(CongestionControl control) {
    params.congestion.control = control;
    a = &AddHost(0, 2);
    params.congestion.control = CongestionControl::kFixed;
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
  }
  // Brings the association about.
  void Meet() {
    ca->SendTagged(0, 1);
    ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    cb->Receive();
  }
  // Commands that are a PDU each.
  void Send(uint64_t count, uint8_t vc = 0) {
    for (uint64_t tag = 0; tag < count; ++tag) {
      ASSERT_EQ(ca->Send(TestCommand(8, 256, 1), 1, vc,
                         SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION, tag),
                SendResult::kOk);
    }
  }
  const CongestionContext& Context() const { return a->pipeline->instance(0).tx.contexts[0]; }
  uint32_t OctetsOfPdu() const { return a->pipeline->instance(0).tx.OctetsOf(1, 264); }

 public:
  // The CONGESTION that a frame carries, if it does.
  static std::optional<Congestion> CongestionIn(std::span<const uint8_t> frame) {
    std::vector<uint8_t> copy(frame.begin(), frame.end());
    const ParsedFrame parsed =
        ParseFrame({}, copy.data(), static_cast<uint32_t>(copy.size()), false);
    if (parsed.error != FrameError::kNone || !RhWord(parsed.pdu).Is(RhVersion::kControl)) return {};
    ControlMessage message;
    if (DecodeControl(parsed.pdu + kRhBytes, parsed.pdu_bytes - kRhBytes - kRcrcBytes, message) !=
        ControlError::kNone) {
      return {};
    }
    const auto* found = std::get_if<Congestion>(&message);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }

 protected:
  void LoseGrants() {
    network.SetFilter([](std::span<const uint8_t> frame) {
      const std::optional<Congestion> congestion = CongestionIn(frame);
      return !congestion || !congestion->grant;
    });
  }
  void LoseNothing() { network.SetFilter(nullptr); }
  // Every frame that could be marked is, on its way.
  void MarkAll() {
    for (TrafficClass& vc : params.classes) vc.ecn = 2;
    for (fabric::ClassParams& own : network.params().of_class) {
      own.ecn = {.least_bytes = 0, .most_bytes = 0};
    }
  }
  void ExpectNoCongestionPdus() {
    for (const auto& host : hosts) {
      for (const Counter counter : {Counter::kTxCongestionRequests, Counter::kRxCongestionRequests,
                                    Counter::kTxCongestionGrants, Counter::kRxCongestionGrants,
                                    Counter::kTxCongestionEchoes, Counter::kRxCongestionEchoes,
                                    Counter::kTxWaitsCongestion}) {
        EXPECT_EQ(host->Count(counter), 0u) << static_cast<int>(counter);
      }
    }
  }

  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

TEST_F(CongestionTest, WindowsAloneSendNothingOfIt) {
  StartPair(CongestionControl::kFixed);
  Send(kManyPdus);
  EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
  ExpectNoCongestionPdus();
}

// ---- RCCC.

TEST_F(CongestionTest, InitialCreditAloneLeavesWithoutAGrantAndTheRestFollowsGrants) {
  StartPair(CongestionControl::kRccc);
  Meet();
  Run(milliseconds(1));
  LoseGrants();
  const int64_t before = Context().allowance();
  const uint64_t sent = a->Count(Counter::kTxPdus);
  ASSERT_LT(before, static_cast<int64_t>(10 * OctetsOfPdu()));
  Send(kManyPdus);
  Run(microseconds(60));
  EXPECT_EQ(a->Count(Counter::kTxPdus) - sent, static_cast<uint64_t>(before) / OctetsOfPdu());
  EXPECT_GT(a->Count(Counter::kTxWaitsCongestion), 0u);
  EXPECT_GT(b->Count(Counter::kTxCongestionGrants), 0u);
  LoseNothing();
  EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
  EXPECT_GT(a->Count(Counter::kRxCongestionGrants), 0u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  ExpectNoFramesOut();
}

TEST_F(CongestionTest, RequestsAreRepeatedUntilGrantsCome) {
  StartPair(CongestionControl::kRccc);
  Meet();
  Run(milliseconds(1));
  LoseGrants();
  const uint64_t before = a->Count(Counter::kTxCongestionRequests);
  Send(kManyPdus);
  Run(microseconds(300));
  EXPECT_GE(a->Count(Counter::kTxCongestionRequests) - before, 3u);
  EXPECT_LE(a->Count(Counter::kTxCongestionRequests) - before, 8u);
  LoseNothing();
  EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
}

TEST_F(CongestionTest, PeerThatGrantsNothingGetsAPduNowAndThenAndIsToldOfOnce) {
  StartPair(CongestionControl::kRccc);
  Meet();
  LoseGrants();
  Events(*a, LcoreEventKind::kNoGrant);
  Send(kManyPdus);
  Run(milliseconds(2));
  const uint64_t early = a->Count(Counter::kTxPdus);
  Run(milliseconds(40));
  const uint64_t late = a->Count(Counter::kTxPdus) - early;
  EXPECT_GE(late, 3u);
  EXPECT_LE(late, 20u);
  std::vector<LcoreEvent> events;
  for (LcoreEvent event; a->pipeline->mailbox().events.Pop(event);) {
    if (event.kind == LcoreEventKind::kNoGrant) events.push_back(event);
  }
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].peer_xpuid, 1);
  EXPECT_EQ(events[0].plane, 0);
  EXPECT_EQ(events[0].what, 0) << "nothing of that kind";
  EXPECT_EQ(events[0].vc, LcoreEvent::kAllVcs);
  EXPECT_EQ(events[0].instance, 0u);
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
  LoseNothing();
  Run(milliseconds(60));
  EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
  EXPECT_TRUE(Events(*a, LcoreEventKind::kNoGrant).empty());
}

TEST_F(CongestionTest, PeerThatDiesIsFoundUnreachable) {
  StartPair(CongestionControl::kRccc);
  Meet();
  b->port->SetLink(false);
  Send(kManyPdus);
  for (const int status : Statuses(*ca, kManyPdus)) {
    EXPECT_TRUE(status == SUEDE_STATUS_IN_DOUBT || status == SUEDE_STATUS_UNREACHABLE) << status;
  }
  EXPECT_EQ(a->Count(Counter::kUnreachable), 1u);
  EXPECT_EQ(Context().in_flight(), 0u) << "of a connection that is lost nothing is";
  ExpectNoFramesOut();
}

TEST_F(CongestionTest, RetransmissionsWaitForCredit) {
  StartPair(CongestionControl::kRccc);
  Meet();
  Run(milliseconds(1));
  bool lost = false;
  network.SetFilter([&](std::span<const uint8_t> frame) {
    const std::optional<Congestion> congestion = CongestionIn(frame);
    if (congestion) return !congestion->grant;
    return frame.size() < 200 || std::exchange(lost, true);
  });
  Send(kManyPdus);
  Run(microseconds(100));
  ASSERT_TRUE(lost);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  LoseNothing();
  EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
  EXPECT_GT(a->Count(Counter::kTxRetransmissions), 0u);
  EXPECT_EQ(cb->Receive().size(), kManyPdus);
}

TEST_F(CongestionTest, PeerThatRestartsIsSentToAnew) {
  StartPair(CongestionControl::kRccc);
  Meet();
  Send(kManyPdus);
  ASSERT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
  Boot(*b, 2);
  Client& heir = Attach(*b);
  ca->SendTagged(0, 1);
  Run(milliseconds(20));
  ASSERT_GT(a->Count(Counter::kPeerResets), 0u);
  ca->Completions();
  heir.Receive();
  Send(kManyPdus);
  EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
  EXPECT_EQ(heir.Receive().size(), kManyPdus);
  EXPECT_EQ(Context().in_flight(), 0u);
}

TEST_F(CongestionTest, ClientThatDoesNotReadIsGrantedWhatItsRingTakesAndAnotherVcGoesOn) {
  shape.rx_lines = 64;
  StartPair(CongestionControl::kRccc);
  Meet();
  Run(milliseconds(1));
  // The four rings, and what a source and the turn of a target may have besides.
  const int64_t max = 4 * 64 * SUEDE_LINE_BYTES + 4 * Context().allowance();
  Send(kManyPdus);
  int64_t seen = 0;
  RunUntil(
      [&] {
        seen = std::max(seen, Context().allowance());
        return false;
      },
      milliseconds(2));
  EXPECT_LE(seen, max);
  ca->Completions();
  for (uint64_t i = 0; i < 50; ++i) {
    ca->SendTagged(i, 1, 1);
    Run(microseconds(50));
    EXPECT_EQ(cb->Receive(1).size(), 1u) << i;
  }
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == kManyPdus; })) << got;
}

// Instance 1 of a host has its own rings, and its own credit.
TEST_F(CongestionTest, InstanceWhoseClientDoesNotReadDoesNotStopAnother) {
  constexpr uint32_t kSecond = 2;
  shape.rx_lines = 64;
  params.congestion.control = CongestionControl::kRccc;
  a = &AddHost(0, 3);
  b = &AddHost(1, 3);
  ca = &Attach(*a);
  cb = &Attach(*b);
  InstanceParams second = b->pipeline->instance(0).params;
  second.xpuid = kSecond;
  second.planes = {{.port = 0, .address = {.low = IpOf(kSecond)}}};
  second.secret = {kSecond, 1};
  b->pipeline->AddInstance(second);
  uint8_t mac[6];
  std::copy_n(MacOf(kSecond).begin(), 6, mac);
  network.Learn(mac, b->port);
  Client& reader = Attach(*b, 0xf, 1);
  Send(kManyPdus);
  Run(milliseconds(2));
  ca->Completions();
  for (int i = 0; i < 100; ++i) {
    ca->Send(TestCommand(8, 256, 1), kSecond, 0, SUEDE_RECORD_TRANSMIT_NOW);
  }
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += reader.Receive().size()) == 100; })) << got;
  EXPECT_LT(b->pipeline->counters(0).Get(Counter::kRxPdus), kManyPdus);
}

// Peers ask two instances of a port for credit: 1 to 15 the first one, 16 the second one.
class GrantsByHandTest : public ByHandTest {
 protected:
  static constexpr uint16_t kMany = 15;
  static constexpr uint32_t kSecond = 100;

  void StartTwo() {
    plain_peers = false;
    host = &AddHost(0, kMany + 2);
    wire = AddPort(1);
    InstanceParams second = host->pipeline->instance(0).params;
    second.xpuid = kSecond;
    second.planes = {{.port = 0, .address = {.low = IpOf(kSecond)}}};
    second.secret = {kSecond, 1};
    host->pipeline->AddInstance(second);
    for (uint16_t peer = 1; peer <= kMany + 1; ++peer) {
      uint8_t mac[6];
      std::copy_n(MacOf(peer).begin(), 6, mac);
      network.Learn(mac, wire);
    }
  }
  static uint32_t InstanceOf(uint16_t peer) { return peer <= kMany ? 0 : kSecond; }
  void Inject(uint16_t peer, const ControlMessage& message) {
    std::vector<uint8_t> body(kMaxControlPduBytes);
    body.resize(EncodeControl(message, body.data()));
    ByHandTest::Inject({Build(ControlRh(peer, kPartition), body, peer, InstanceOf(peer))});
  }
  void Meet(uint16_t peer, bool answers_congestion) {
    Hello hello = HelloTo(InstanceAt(InstanceOf(peer)), peer, peer);
    hello.answers_congestion = answers_congestion;
    identities_[peer] = hello.identities;
    Inject(peer, hello);
  }
  // Asks for much more than there is. A peer that keeps its credit has sent none of it.
  void Ask(uint16_t peer, bool keeps) {
    Inject(peer, Congestion{.identities = identities_[peer],
                            .request = true,
                            .target = limits_[peer] + 400'000,
                            .sent = keeps ? 0 : limits_[peer],
                            .limit = limits_[peer]});
    TakeGrants();
  }
  void TakeGrants() {
    Frame* frame;
    while (wire->Receive(&frame, 1) == 1) {
      if (const auto heard = CongestionTest::CongestionIn({frame->data, frame->length})) {
        const ParsedFrame parsed = ParseFrame({}, frame->data, frame->length, false);
        const auto peer = static_cast<uint32_t>(parsed.destination.low) - IpOf(0);
        if (heard->grant) limits_[peer] = heard->granted;
        ++heard_;
      }
      wire->Release(&frame, 1);
    }
  }

  uint32_t limits_[kMany + 2] = {};
  Identities identities_[kMany + 2] = {};
  uint32_t heard_ = 0;  // CONGESTIONs
};

TEST_F(GrantsByHandTest, SendersThatKeepTheirCreditLeaveThePortToAnotherInstance) {
  StartTwo();
  for (uint16_t peer = 1; peer <= kMany + 1; ++peer) Meet(peer, true);
  const auto all_ask = [&] {
    for (uint16_t peer = 1; peer <= kMany; ++peer) Ask(peer, true);
  };
  all_ask();
  Run(milliseconds(3));  // they are granted what they may hold
  all_ask();
  const uint32_t before = limits_[kMany + 1];
  const Time begin = network.now();
  while (network.now() - begin < milliseconds(5)) {
    Ask(kMany + 1, false);
    Run(microseconds(50));
  }
  TakeGrants();
  const double octets = double{kCreditUnitOctets} * (limits_[kMany + 1] - before);
  // The credit that a peer may hold bounds its rate, as nothing of it arrives. With a part of the
  // port for each of the others it had a sixteenth.
  EXPECT_GT(octets / (5e-3 * 1e11 / 8), 0.25);
}

TEST_F(GrantsByHandTest, GaugesShowTheSendersOfEachInstance) {
  StartTwo();
  for (uint16_t peer = 1; peer <= kMany + 1; ++peer) Meet(peer, true);
  for (int times = 0; times < 40; ++times) {
    for (uint16_t peer = 1; peer <= kMany + 1; ++peer) Ask(peer, false);
    Run(microseconds(500));
  }
  EXPECT_EQ(host->pipeline->gauges(0).Get(Gauge::kCongestionSenders), kMany);
  EXPECT_EQ(host->pipeline->gauges(1).Get(Gauge::kCongestionSenders), 1);
}

// A port that negotiates reports no speed, and then perhaps another than before.
TEST_F(GrantsByHandTest, GrantsFollowTheSpeedOfTheLink) {
  StartTwo();
  Meet(kMany + 1, true);
  // Gb/s that are granted.
  const auto rate = [&] {
    Run(milliseconds(11));
    Ask(kMany + 1, false);
    Run(milliseconds(1));
    TakeGrants();
    const uint32_t before = limits_[kMany + 1];
    const Time begin = network.now();
    while (network.now() - begin < milliseconds(5)) {
      Ask(kMany + 1, false);
      Run(microseconds(20));
    }
    TakeGrants();
    return kCreditUnitOctets * (limits_[kMany + 1] - before) * 8 / 5e6;
  };
  // The credit that the peer may hold bounds its rate to a third of the link's, as nothing of it
  // arrives.
  const auto expect_follows = [&](double speed) {
    const double granted = rate();
    EXPECT_GT(granted, 0.3 * speed);
    EXPECT_LT(granted, 1.05 * speed);
    const auto bps = static_cast<uint64_t>(speed * 1e9);
    EXPECT_EQ(host->pipeline->instance(0).peers.own.link_bps[0], bps)
        << "weights are measured by it";
  };
  host->port->faults().bits_per_ns = 1;
  expect_follows(1);
  host->port->faults().bits_per_ns = 10;
  expect_follows(10);
  host->port->SetLink(false);
  host->port->faults().bits_per_ns = 2;
  Run(milliseconds(11));
  host->port->SetLink(true);
  expect_follows(2);
}

// Two bits of the features have to be set: without the bit of answers nothing is sent.
TEST_F(GrantsByHandTest, PeerThatDoesNotSayThatItTakesPartIsSentNothing) {
  StartTwo();
  Meet(1, false);
  Meet(2, true);
  for (int i = 0; i < 3; ++i) {
    Ask(1, false);
    Run(milliseconds(1));
  }
  TakeGrants();
  EXPECT_EQ(heard_, 0u);
  EXPECT_EQ(host->Count(Counter::kTxCongestionGrants), 0u);
  Ask(2, false);
  Run(milliseconds(1));
  TakeGrants();
  EXPECT_GT(heard_, 0u);
}

// ---- Planes.

// The acknowledgements of a plane are lost, and its death shows that all its PDUs have arrived.
TEST_F(CongestionTest, PdusThatAFenceFindsToHaveArrivedAreInFlightNoLonger) {
  planes = 2;
  params.transport.rto_initial = params.transport.rto_min = params.transport.rto_max =
      milliseconds(5);
  params.paths.ordering = Ordering::kUnordered;
  params.paths.hello_interval = microseconds(100);
  StartPair(CongestionControl::kNscc);
  Meet();
  Run(milliseconds(1));
  b->ports[0]->faults().loss = 1;
  Send(16);
  Run(microseconds(50));
  ASSERT_GT(Context().in_flight(), 0u);
  EXPECT_EQ(Statuses(*ca, 16), std::vector<int>(16, kOk));
  EXPECT_EQ(a->Count(Counter::kPlaneDeaths), 1u);
  EXPECT_EQ(a->Count(Counter::kTxMoved), 0u);
  EXPECT_EQ(Context().in_flight(), 0u) << "its window is free for when it is back";
}

// ---- As it is shown.

TEST_F(CongestionTest, AConnectionIsShownWithTheWindowOfItsPlane) {
  for (const CongestionControl control : {CongestionControl::kRccc, CongestionControl::kNscc}) {
    hosts.clear();
    clients.clear();
    network = SimNetwork(1);
    StartPair(control);
    Meet();
    ConnectionSnapshot snapshot;
    EXPECT_EQ(Ask(*a, request::Connections{.snapshot = &snapshot}), LcoreStatus::kBusy);
    ASSERT_EQ(snapshot.count, 1u);
    EXPECT_EQ(snapshot.rows[0].congestion, Context().state_name());
    EXPECT_NE(snapshot.rows[0].congestion, "fixed");
    EXPECT_EQ(snapshot.rows[0].congestion_window_octets, Context().window_octets());
    EXPECT_GT(snapshot.rows[0].congestion_window_octets, 0u);
    EXPECT_EQ(snapshot.rows[0].base_rtt_ns, Context().base_rtt().count());
    EXPECT_GT(snapshot.rows[0].base_rtt_ns, 0);
  }
}

// ---- NSCC.

TEST_F(CongestionTest, MarksAreEchoedToThePeerThatWantsThem) {
  MarkAll();
  StartPair(CongestionControl::kNscc);
  Congestion last;
  uint32_t times = 0;
  network.SetFilter([&](std::span<const uint8_t> frame) {
    const std::optional<Congestion> congestion = CongestionIn(frame);
    if (!congestion) return true;
    EXPECT_FALSE(congestion->request || congestion->grant);
    EXPECT_GE(congestion->marked, last.marked);
    EXPECT_EQ(congestion->sessions, 1u) << "the first, and there is no other";
    last = *congestion;
    ++times;
    return true;
  });
  Meet();
  Send(kManyPdus);
  EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
  EXPECT_GE(last.marked, kManyPdus);
  EXPECT_EQ(last.marked, b->Count(Counter::kRxMarked));
  EXPECT_EQ(times, b->Count(Counter::kTxCongestionEchoes));
  EXPECT_EQ(times, a->Count(Counter::kRxCongestionEchoes));
  EXPECT_LE(times, kManyPdus);
  // PDUs of host 1 are marked on their way, too, and host 1 does not want to know.
  cb->SendTagged(0, 0);
  EXPECT_EQ(Statuses(*cb, 1), std::vector<int>{kOk});
  EXPECT_GT(a->Count(Counter::kRxMarked), 0u);
  EXPECT_EQ(a->Count(Counter::kTxCongestionEchoes), 0u);
}

TEST_F(CongestionTest, AcknowledgementsToNsccDoNotWait) {
  params.transport.ack_delay = microseconds(60);
  for (const CongestionControl control : {CongestionControl::kFixed, CongestionControl::kNscc}) {
    hosts.clear();
    clients.clear();
    network = SimNetwork(1);
    StartPair(control);
    Meet();
    Run(milliseconds(1));
    const Time begin = network.now();
    ca->SendTagged(0, 1);
    EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    const Duration took = network.now() - begin;
    if (control == CongestionControl::kFixed) {
      EXPECT_GE(took, microseconds(60));
    } else {
      EXPECT_LE(took, microseconds(20));
    }
  }
}

TEST_F(CongestionTest, AWindowIsNoMoreThanTheLinkCarriesInARoundTrip) {
  StartPair(CongestionControl::kNscc);
  Meet();
  const uint64_t before = Context().window_octets();
  a->port->faults().bits_per_ns = 1;
  Run(milliseconds(11));
  EXPECT_LT(Context().window_octets(), before / 4);
  EXPECT_GT(Context().window_octets(), 0u);
}

TEST_F(CongestionTest, MarksShrinkTheWindow) {
  params.congestion.base_rtt = microseconds(1);
  uint64_t windows[2];
  for (const bool marked : {false, true}) {
    hosts.clear();
    clients.clear();
    network = SimNetwork(1);
    if (marked) MarkAll();
    StartPair(CongestionControl::kNscc);
    Meet();
    Send(kManyPdus);
    EXPECT_EQ(Statuses(*ca, kManyPdus), std::vector<int>(kManyPdus, kOk));
    windows[marked] = Context().window_octets();
  }
  EXPECT_LT(windows[1], windows[0] / 2);
}

// A peer by hand, whose echoes come behind PDUs that have waited in a queue.
class EchoesByHandTest : public ByHandTest {
 protected:
  void StartSender() {
    params.pack_limit_bytes = 512;
    params.congestion.control = CongestionControl::kNscc;
    params.congestion.base_rtt = microseconds(20);
    params.transport.rto_initial = params.transport.rto_min = params.transport.rto_max =
        std::chrono::seconds(1);
    Start();
    client_ = &Attach(*host);
    host->port->faults().bits_per_ns = 1;
    Run(milliseconds(11));
    Hello hello = HelloTo(InstanceAt(0));
    hello.answers_congestion = true;
    hello.sessions = static_cast<uint16_t>(params.sessions);
    hello.answers_planes = hello.sends_generations = params.sessions > 1;
    identities_ = hello.identities;
    Inject({ByHandTest::Control(hello)});
  }
  std::vector<uint8_t> Of(Congestion echo) const {
    echo.identities = identities_;
    echo.echo = true;
    return ByHandTest::Control(echo);
  }
  // The window after the PDUs in flight are acknowledged, behind the echo.
  uint64_t WindowAfter(const Congestion& echo) {
    const Instance& instance = host->pipeline->instance(0);
    while (instance.tx.queued < 16) {
      client_->Send(TestCommand(8, 256, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
      Run(microseconds(2));
    }
    Run(wait_ += microseconds(1));
    ReliabilityHeader ack = Rh();
    ack.op = RhOp::kAck;
    ack.rpsn = instance.peers.connections[0].in_flight().next_psn().Plus(-1);
    Inject({Of(echo), Build(ack, {})});
    TakeSent();
    return instance.tx.contexts[0].window_octets();
  }

 private:
  Client* client_ = nullptr;
  Identities identities_;
  Duration wait_ = microseconds(10);  // longer each time: the queue grows
};

TEST_F(EchoesByHandTest, AnEchoSaysWhatIsNewSinceTheLastOne) {
  StartSender();
  for (int i = 0; i < 8; ++i) WindowAfter({});  // until the queue has its delay
  const auto shrinks = [&](const Congestion& echo) {
    uint64_t before = 0;
    for (int i = 0; i < 4; ++i) before = WindowAfter({});  // until it may shrink again
    return WindowAfter(echo) < before;
  };
  const Congestion first{.received = 100, .marked = 20};
  const Congestion second{.received = 220, .marked = 20, .trimmed = 3};
  const uint64_t heard = host->Count(Counter::kRxCongestionEchoes);
  EXPECT_TRUE(shrinks(first));
  EXPECT_FALSE(shrinks({.received = 200, .marked = 20})) << "no more marks";
  EXPECT_TRUE(shrinks(second)) << "trimmed PDUs are as those with a mark";
  EXPECT_FALSE(shrinks(second)) << "a copy";
  EXPECT_FALSE(shrinks(first)) << "it was overtaken";
  EXPECT_FALSE(shrinks({.received = 221, .marked = 30, .trimmed = 3})) << "more marks than PDUs";
  EXPECT_FALSE(shrinks(second));
  EXPECT_EQ(host->Count(Counter::kRxCongestionEchoes) - heard, 7u * 5);
}

TEST_F(EchoesByHandTest, MarksCountForTheSessionsThatTheEchoNames) {
  params.sessions = 4;
  StartSender();
  const SessionGroup& group = host->pipeline->instance(0).peers.groups[0];
  ASSERT_EQ(group.count(), 4u);
  ASSERT_EQ(group.open(), 1u);
  Inject({Of({.received = 10, .marked = 4, .sessions = 2})});
  EXPECT_EQ(group.slot(SessionIndex(0)).marked, 0u);
  Inject({Of({.received = 20, .marked = 9, .sessions = 1})});
  EXPECT_EQ(group.slot(SessionIndex(0)).marked, 5u);
}

// One VC goes back all the time, and the others' PDUs stay in flight: the bytes sent and not
// acknowledged keep to the window of all VCs.
TEST_F(CongestionTest, GoBackOfOneVcLeavesThePdusOfOthersInFlight) {
  params.transport.psn_scope = PsnScope::kVc;
  params.congestion.window_max_percent = 100;
  StartPair(CongestionControl::kNscc);
  Meet();
  Run(milliseconds(1));
  bool holds = true;
  network.SetFilter([&](std::span<const uint8_t> frame) {
    const ParsedFrame parsed = ParseFrame({}, const_cast<uint8_t*>(frame.data()),
                                          static_cast<uint32_t>(frame.size()), false);
    return !holds || parsed.error != FrameError::kNone || frame.size() < 200;
  });
  Send(1, 1);
  Run(microseconds(60));
  for (int i = 0; i < 3; ++i) ca->Send(TestCommand(8, 256, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
  const Instance& instance = a->pipeline->instance(0);
  EXPECT_TRUE(RunUntil([&] { return a->Count(Counter::kGoBacks) != 0; }, milliseconds(2)));
  RunUntil(
      [&] {
        uint64_t unacked = 0;
        for (const Connection& connection : instance.peers.connections) {
          if (connection.in_flight().HasRetransmission()) continue;
          unacked +=
              instance.tx.OctetsOf(connection.in_flight().count(), connection.in_flight().bytes());
        }
        EXPECT_GE(Context().in_flight(), unacked);
        return false;
      },
      milliseconds(1));
  holds = false;
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] { return (got += cb->Receive(0).size()) == 3; })) << got;
  EXPECT_TRUE(RunUntil([&] { return a->pipeline->IsQuiet(); }));
  EXPECT_EQ(Context().in_flight(), 0u);
}

// The window of a plane is that of all its connections.
TEST_F(CongestionTest, QueueThatWaitsForTheSharedWindowIsWokenByAnotherVcsAcknowledgement) {
  params.transport.psn_scope = PsnScope::kVc;
  params.pack_limit_bytes = 274;
  params.congestion.base_rtt = Duration(10);
  params.congestion.window_max_percent = 100;
  params.congestion.window_min_permille = 1000;
  StartPair(CongestionControl::kNscc);
  Meet();
  Send(1, 0);
  Send(4, 1);
  EXPECT_TRUE(RunUntil([&] { return a->pipeline->IsQuiet(); }, milliseconds(1)));
  EXPECT_GT(a->Count(Counter::kTxWaitsCongestion), 0u);
  EXPECT_EQ(cb->Receive(1).size(), 4u);
}

}  // namespace
}  // namespace suede
