// SPDX-License-Identifier: Apache-2.0
// Pauses of classes by PFC frames (docs/pfc.md): obeyed by VC, asked for, bounded by the watchdog.
#include "wire/pfc.h"

#include "planes_bench.h"

namespace suede {
namespace {

constexpr uint8_t kAckClass = 6;

class PfcTest : public PipelineTest {
 protected:
  PfcTest() {
    pfc = true;
    params.transport.psn_scope = PsnScope::kVc;
    params.counts_credit = false;
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      params.classes[vc].dscp = static_cast<uint8_t>(ClassOf(vc) << 3);
    }
    params.ack_class.dscp = kAckClass << 3;
    shape.credit_lines = 1024;
  }
  static double ToMicros(Duration time) { return static_cast<double>(time.count()) / 1000; }
  static uint8_t ClassOf(uint32_t vc) { return static_cast<uint8_t>(vc + 1); }

  void Start() {
    network.SetNeighbour([this](const SimPort* from, std::span<const uint8_t> bytes) {
      if (const auto frame = DecodePfc(bytes.data(), static_cast<uint32_t>(bytes.size()))) {
        heard.push_back({from, *frame});
      }
    });
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
    ca->SendTagged(0, 1);
    EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    Run(milliseconds(1));
    cb->Receive();
  }
  static uint8_t ClassBit(uint32_t flow) { return static_cast<uint8_t>(1u << ClassOf(flow)); }
  // Frames of the neighbour's.
  static std::vector<uint8_t> Pfc(uint8_t classes, uint16_t quanta) {
    PfcFrame pfc{.classes = classes};
    pfc.quanta.fill(quanta);
    std::vector<uint8_t> bytes(PfcFrame::kBytes);
    EncodePfc(pfc, MacOf(99), bytes.data());
    return bytes;
  }
  // Keeps the classes paused for the time: the frames come again and again.
  void PauseFor(
      SimPort* port, uint8_t classes, Duration time, const std::function<void()>& each = [] {}) {
    const Time end = network.now() + time;
    while (network.now() < end) {
      port->Arrive(Pfc(classes, 0xffff));
      Run(std::min<Duration>(microseconds(100), end - network.now()));
      each();
    }
    port->Arrive(Pfc(classes, 0));
  }
  void SendOn(uint32_t vc, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(ca->Send(TestCommand(8, 16, static_cast<uint8_t>(i)), 1, static_cast<uint8_t>(vc),
                         SUEDE_RECORD_TRANSMIT_NOW),
                SendResult::kOk);
    }
  }
  uint32_t CountEvents(Host& host, LcoreEventKind kind, LcoreEvent* last = nullptr) {
    uint32_t count = 0;
    LcoreEvent event;
    while (host.pipeline->mailbox().events.Pop(event)) {
      if (event.kind != kind) continue;
      ++count;
      if (last != nullptr) *last = event;
    }
    return count;
  }
  const LinkPauses& PausesOf(const Host& host) const {
    return *host.pipeline->instance(0).ports[0]->link.pauses();
  }

  struct Heard {
    const SimPort* from;
    PfcFrame frame;
  };
  std::vector<Heard> heard;
  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

// ---- Obeyed.

TEST_F(PfcTest, APausedVcWaitsAndTheOthersGoOn) {
  Start();
  a->port->Arrive(Pfc(ClassBit(0), 0xffff));  // 335 µs at 100 Gb/s
  Run(microseconds(10));
  EXPECT_EQ(PausesOf(*a).paused(), 1u);
  SendOn(0, 40);
  SendOn(1, 40);
  Run(microseconds(200));
  EXPECT_EQ(cb->Receive(0).size(), 0u);
  EXPECT_EQ(cb->Receive(1).size(), 40u);
  // The pause ends by itself.
  Run(microseconds(200));
  EXPECT_EQ(PausesOf(*a).paused(), 0u);
  EXPECT_EQ(cb->Receive(0).size(), 40u);
  EXPECT_EQ(a->Count(Counter::kRxPfc), 1u);
}

TEST_F(PfcTest, APauseEndsAtOnceByAFrame) {
  Start();
  a->port->Arrive(Pfc(ClassBit(2), 0xffff));
  Run(microseconds(10));
  SendOn(2, 5);
  Run(microseconds(50));
  EXPECT_EQ(cb->Receive(2).size(), 0u);
  a->port->Arrive(Pfc(ClassBit(2), 0));
  Run(microseconds(20));
  EXPECT_EQ(cb->Receive(2).size(), 5u);
}

TEST_F(PfcTest, VcsOfAClassPauseTogether) {
  params.classes[1].dscp = params.classes[0].dscp;
  Start();
  a->port->Arrive(Pfc(ClassBit(0), 0xffff));
  Run(microseconds(10));
  EXPECT_EQ(PausesOf(*a).paused(), 3u);
}

// Every class of the frame, each with its own time.
TEST_F(PfcTest, EachClassHasItsTime) {
  Start();
  PfcFrame frame{.classes = 0b110};
  frame.quanta[1] = 10'000;  // 51 µs
  frame.quanta[2] = 40'000;  // 205 µs
  frame.quanta[3] = 0xffff;  // not named
  std::vector<uint8_t> bytes(PfcFrame::kBytes);
  EncodePfc(frame, MacOf(99), bytes.data());
  a->port->Arrive(bytes);
  Run(microseconds(20));
  EXPECT_EQ(PausesOf(*a).paused(), 3u);
  Run(microseconds(60));
  EXPECT_EQ(PausesOf(*a).paused(), 2u);
  Run(microseconds(150));
  EXPECT_EQ(PausesOf(*a).paused(), 0u);
}

// Acknowledgements and control PDUs are behind nothing that waits for VC 0, whose queues are full.
TEST_F(PfcTest, AcknowledgementsPassASaturatedPausedVc) {
  Start();
  // All of VC 0's window, and more commands in the queue.
  PauseFor(a->port, ClassBit(0), milliseconds(2),
           [&] { ca->Send(TestCommand(8, 64, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW); });
  a->port->Arrive(Pfc(ClassBit(0), 0xffff));
  SendOn(0, 50);
  Run(microseconds(20));
  const uint64_t before = b->Count(Counter::kRtoFired) + b->Count(Counter::kTxRetransmissions);
  for (uint64_t tag = 0; tag < 20; ++tag) cb->SendTagged(tag, 0, 1);
  EXPECT_EQ(Statuses(*cb, 20, microseconds(150)), std::vector<int>(20, kOk));
  EXPECT_EQ(b->Count(Counter::kRtoFired) + b->Count(Counter::kTxRetransmissions), before);
}

// Their own class holds them up, and that only: data goes on, and takes acknowledgements along.
TEST_F(PfcTest, APauseOfAcknowledgementsHoldsUpNoData) {
  Start();
  a->port->Arrive(Pfc(1u << kAckClass, 0xffff));
  Run(microseconds(10));
  const uint64_t acks = a->Count(Counter::kTxAcks);
  SendOn(0, 20);
  for (uint64_t tag = 0; tag < 4; ++tag) cb->SendTagged(tag, 0, 1);
  Run(microseconds(150));
  EXPECT_EQ(cb->Receive(0).size(), 20u);
  EXPECT_EQ(ca->Receive(1).size(), 4u);
  EXPECT_EQ(a->Count(Counter::kTxAcks), acks);
  EXPECT_EQ(Statuses(*cb, 4), std::vector<int>(4, kOk));
}

// Retransmissions wait, too, and other VCs' do not.
TEST_F(PfcTest, RetransmissionsOfAPausedVcWait) {
  Start();
  a->port->SetSilent(true, false);
  SendOn(0, 3);
  SendOn(1, 3);
  Run(microseconds(20));
  a->port->SetSilent(false, false);
  PauseFor(a->port, ClassBit(0), milliseconds(3));
  EXPECT_EQ(cb->Receive(0).size(), 0u);
  EXPECT_EQ(cb->Receive(1).size(), 3u);
  Run(milliseconds(1));
  EXPECT_EQ(cb->Receive(0).size(), 3u);
  Run(milliseconds(3));
  EXPECT_TRUE(a->pipeline->IsQuiet());
}

TEST_F(PfcTest, RetransmissionsThatAreAskedForDuringAPauseFollowAtItsEnd) {
  Start();
  a->port->SetSilent(true, false);
  SendOn(0, 1);
  Run(microseconds(4));
  a->port->SetSilent(false, false);
  SendOn(0, 2);
  a->pipeline->Poll(network.now());
  PauseFor(a->port, ClassBit(0), milliseconds(3));
  EXPECT_EQ(a->Count(Counter::kGoBacks), 1u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  EXPECT_EQ(cb->Receive(0).size(), 0u);
  Run(microseconds(100));
  EXPECT_EQ(cb->Receive(0).size(), 3u);
}

// The pause is many times as long as all tries.
TEST_F(PfcTest, ALongPauseIsNoTryAndNoEndOfThePeer) {
  params.transport.pause_limit = milliseconds(5);
  Start();
  for (const uint8_t classes : {ClassBit(0), uint8_t(0xff)}) {
    a->port->SetSilent(true, false);
    SendOn(0, 5);  // they are lost, and are to go again
    Run(microseconds(10));
    a->port->SetSilent(false, false);
    PauseFor(a->port, classes, milliseconds(60));
    Run(milliseconds(5));
    EXPECT_EQ(cb->Receive(0).size(), 5u);
    EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
    EXPECT_EQ(a->Count(Counter::kTxHeldUp), 0u) << "it is not the device that holds frames";
  }
}

// A greeting that cannot be said is no greeting without an answer.
TEST_F(PfcTest, APeerThatCannotBeGreetedIsNotLost) {
  a = &AddHost(0, 2);
  b = &AddHost(1, 2);
  ca = &Attach(*a);
  cb = &Attach(*b);
  a->port->Arrive(Pfc(0xff, 0xffff));
  Run(microseconds(10));
  SendOn(0, 3);
  PauseFor(a->port, 0xff, milliseconds(50));
  Run(milliseconds(5));
  EXPECT_EQ(cb->Receive(0).size(), 3u);
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
  EXPECT_FALSE(a->pipeline->instance(0).peers[0].handshake().plain());
}

// With several planes, another one takes the PDUs that one may not send, or they wait.
TEST_F(PfcTest, AnotherPlaneTakesPdusOfAPausedVcWhereOrderPermits) {
  planes = 2;
  params.transport.pause_limit = milliseconds(3);
  for (const Ordering ordering : {Ordering::kUnordered, Ordering::kStrict}) {
    hosts.clear();
    clients.clear();
    network = SimNetwork(1);
    params.paths.ordering = ordering;
    Start();
    Run(milliseconds(10));
    cb->Receive(0);
    const uint32_t home = a->pipeline->instance(0).peers.paths[0].home[0];
    size_t got = 0;
    SendOn(0, 1);
    PauseFor(a->ports[home], ClassBit(0), milliseconds(20), [&] {
      ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
      got += cb->Receive(0).size();
    });
    if (ordering == Ordering::kUnordered) {
      EXPECT_GT(got, 100u);
    } else {
      EXPECT_LE(got, 1u);
    }
    Run(milliseconds(5));
    got += cb->Receive(0).size();
    EXPECT_EQ(got, 201u);
    EXPECT_EQ(a->Count(Counter::kPlaneDeaths) + b->Count(Counter::kPlaneDeaths), 0u)
        << "PLANEs pass all the time";
  }
}

// Without acknowledgements and PLANEs a plane is of no use where there is another one.
TEST_F(PfcTest, APlaneWhoseAcknowledgementsArePausedForTooLongFailsOver) {
  planes = 2;
  pause_params.storm = milliseconds(3);
  params.transport.pause_limit = milliseconds(3);
  Start();
  Run(milliseconds(10));
  const uint32_t home = a->pipeline->instance(0).peers.paths[0].home[0];
  PauseFor(a->ports[home], 0xff, milliseconds(20),
           [&] { ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW); });
  Run(milliseconds(5));
  EXPECT_EQ(cb->Receive(0).size(), 200u);
  EXPECT_EQ(a->Count(Counter::kPlaneDeaths), 1u);
  LcoreEvent event;
  ASSERT_EQ(CountEvents(*a, LcoreEventKind::kPlaneDown, &event), 1u);
  EXPECT_EQ(event.what, static_cast<uint8_t>(PlaneDownReason::kPaused));
  EXPECT_EQ(a->Count(Counter::kUnreachable) + b->Count(Counter::kUnreachable), 0u);
}

// All planes are paused for ever: no peer is given up, and no plane.
TEST_F(PfcTest, PausesOfAllPlanesEndNone) {
  planes = 2;
  params.transport.pause_limit = milliseconds(3);
  params.paths.unreachable = milliseconds(10);
  Start();
  Run(milliseconds(10));
  size_t sent = 0;
  PauseFor(a->ports[0], 0xff, milliseconds(60), [&] {
    a->ports[1]->Arrive(Pfc(0xff, 0xffff));
    sent += ca->Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW) == SendResult::kOk;
  });
  EXPECT_GT(sent, 100u);
  a->ports[1]->Arrive(Pfc(0xff, 0));
  EXPECT_EQ(a->Count(Counter::kPlaneDeaths), 0u);
  EXPECT_EQ(a->Count(Counter::kUnreachable), 0u);
  size_t got = 0;
  EXPECT_TRUE(RunUntil(
      [&] {
        got += cb->Receive(0).size();
        return got == sent;
      },
      milliseconds(40)))
      << got << " of " << sent;
}

TEST_F(PfcTest, AStormIsToldOnceWhilePdusWait) {
  pause_params.storm = milliseconds(10);
  Start();
  PauseFor(a->port, ClassBit(0), milliseconds(30));
  EXPECT_EQ(a->Count(Counter::kPfcStorms), 0u) << "nothing waits";
  Run(microseconds(10));
  a->port->Arrive(Pfc(ClassBit(0), 0xffff));
  Run(microseconds(10));
  SendOn(0, 5);
  PauseFor(a->port, ClassBit(0), milliseconds(9));
  EXPECT_EQ(a->Count(Counter::kPfcStorms), 0u);
  Run(microseconds(20));
  EXPECT_EQ(cb->Receive(0).size(), 5u);
  a->port->Arrive(Pfc(ClassBit(0), 0xffff));
  Run(microseconds(10));
  SendOn(0, 5);
  PauseFor(a->port, ClassBit(0), milliseconds(40), [&] {
    if (a->Count(Counter::kPfcStorms) != 0) {
      EXPECT_EQ(a->pauses[0]->stormy(), 1u);
    }
  });
  EXPECT_EQ(a->Count(Counter::kPfcStorms), 1u);
  LcoreEvent event;
  EXPECT_EQ(CountEvents(*a, LcoreEventKind::kPfcStorm, &event), 1u);
  EXPECT_EQ(event.what, 1u);
  Run(microseconds(50));
  EXPECT_EQ(a->pauses[0]->stormy(), 0u);
  EXPECT_EQ(cb->Receive(0).size(), 5u);
}

TEST_F(PfcTest, AStormNamesThePlaneOfItsPort) {
  planes = 2;
  pause_params.storm = milliseconds(10);
  Start();
  Run(milliseconds(10));
  const uint32_t home = a->pipeline->instance(0).peers.paths[0].home[0];
  a->ports[home]->Arrive(Pfc(ClassBit(0), 0xffff));
  Run(microseconds(10));
  SendOn(0, 5);
  PauseFor(a->ports[home], ClassBit(0), milliseconds(15));
  LcoreEvent event;
  EXPECT_EQ(CountEvents(*a, LcoreEventKind::kPfcStorm, &event), 1u);
  EXPECT_EQ(event.plane, home);
  EXPECT_EQ(event.instance, 0u);
}

TEST_F(PfcTest, TheTimePausedAdvancesDuringAPause) {
  Start();
  const PortPauses& port = *a->pauses[0];
  const Time began = network.now();
  a->port->Arrive(Pfc(ClassBit(0), 0xffff));
  Run(microseconds(50));
  EXPECT_NEAR(ToMicros(port.PausedFor(ClassOf(0), network.now())), 50, 4);
  a->port->Arrive(Pfc(ClassBit(0), 0xffff));
  Run(microseconds(50));
  EXPECT_NEAR(ToMicros(port.PausedFor(ClassOf(0), network.now())), 100, 4);
  a->port->Arrive(Pfc(ClassBit(0), 0));
  Run(microseconds(50));
  const Duration all = port.PausedFor(ClassOf(0), network.now());
  EXPECT_NEAR(ToMicros(all), 100, 6);
  Run(microseconds(500));
  EXPECT_EQ(port.PausedFor(ClassOf(0), network.now()), all);
  EXPECT_EQ(port.PausedFor(ClassOf(1), network.now()), Duration{});
  EXPECT_GE(network.now() - began, microseconds(650));
}

TEST_F(PfcTest, MalformedFramesAreCountedAndDropped) {
  Start();
  std::vector<uint8_t> bytes = Pfc(0xff, 0xffff);
  bytes.resize(30);
  a->port->Arrive(bytes);
  bytes = Pfc(0xff, 0xffff);
  bytes[5] = 2;
  a->port->Arrive(bytes);
  bytes = Pfc(0xff, 0xffff);
  bytes[14] = 0;  // the pause of a whole link: not PFC
  a->port->Arrive(bytes);
  Run(microseconds(10));
  EXPECT_EQ(a->Count(Counter::kRxPfcMalformed), 2u);
  EXPECT_EQ(a->Count(Counter::kRxPfc), 0u);
  EXPECT_EQ(PausesOf(*a).paused(), 0u);
}

TEST_F(PfcTest, PauseFramesAreNotKept) {
  Start();
  for (uint32_t i = 0; i < 4 * kBurst; ++i) {
    a->port->Arrive(Pfc(ClassBit(0), 0));
    Run(microseconds(2));
  }
  EXPECT_EQ(a->Count(Counter::kRxPfc), uint64_t{4 * kBurst});
  ExpectNoFramesOut();
}

TEST_F(PfcTest, WherePfcIsOffItsFramesAreNotSues) {
  pfc = false;
  Start();
  a->port->Arrive(Pfc(0xff, 0xffff));
  Run(microseconds(10));
  EXPECT_EQ(a->Count(Counter::kRxNotSue), 1u);
  SendOn(0, 5);
  Run(microseconds(50));
  EXPECT_EQ(cb->Receive(0).size(), 5u);
}

// ---- Asked for.

class PfcAskTest : public PfcTest {
 protected:
  PfcAskTest() {
    shape.rx_lines = 256;
    params.receive_lines = 256;
  }
  // Whether the last frame heard since the last call that names the class is a pause (1) or ends
  // one (0); -1: no frame names it.
  int LastOf(uint8_t traffic_class) {
    int last = -1;
    for (const Heard& h : heard) {
      if (h.from != b->port || (h.frame.classes >> traffic_class & 1) == 0) continue;
      last = h.frame.quanta[traffic_class] != 0 ? 1 : 0;
    }
    heard.clear();
    return last;
  }
};

TEST_F(PfcAskTest, ARingThatFillsPausesItsClassAndEndsThat) {
  Start();
  SendOn(1, 120);
  Run(microseconds(300));
  EXPECT_EQ(LastOf(ClassOf(1)), -1) << "less than three quarters";
  SendOn(1, 80);
  Run(microseconds(100));
  EXPECT_EQ(LastOf(ClassOf(1)), 1);
  EXPECT_EQ(b->Count(Counter::kTxPfc), 1u);
  // The pause is asked again at half of its time: 335 µs at 100 Gb/s.
  Run(microseconds(340));
  EXPECT_GE(b->Count(Counter::kTxPfc), 2u);
  EXPECT_LE(b->Count(Counter::kTxPfc), 4u);
  EXPECT_EQ(LastOf(ClassOf(1)), 1);
  // Between the two bounds it stays as it is.
  cb->Receive(1, 30);
  Run(microseconds(50));
  EXPECT_NE(LastOf(ClassOf(1)), 0);
  cb->Receive(1);
  Run(microseconds(20));
  EXPECT_EQ(LastOf(ClassOf(1)), 0);
  const uint64_t sent = b->Count(Counter::kTxPfc);
  Run(milliseconds(2));
  EXPECT_EQ(b->Count(Counter::kTxPfc), sent);
}

// A client that never reads pauses nobody for ever.
TEST_F(PfcAskTest, AClientThatNeverReadsPausesForABoundedTime) {
  pause_params.storm = milliseconds(10);
  Start();
  SendOn(1, 200);
  Run(milliseconds(9));
  EXPECT_EQ(LastOf(ClassOf(1)), 1);
  EXPECT_EQ(b->Count(Counter::kPfcUndrained), 0u);
  Run(milliseconds(2));
  EXPECT_EQ(LastOf(ClassOf(1)), 0);
  EXPECT_EQ(b->Count(Counter::kPfcUndrained), 1u);
  LcoreEvent event;
  EXPECT_EQ(CountEvents(*b, LcoreEventKind::kPfcUndrained, &event), 1u);
  EXPECT_EQ(event.vc, 1);
  // NOT_READY does.
  SendOn(1, 100);
  Run(milliseconds(20));
  EXPECT_EQ(LastOf(ClassOf(1)), -1);
  EXPECT_GT(b->Count(Counter::kRxNotReady), 0u);
  size_t got = 0;
  EXPECT_TRUE(RunUntil([&] {
    got += cb->Receive(1).size();
    return got == 300;
  }));
  Run(milliseconds(1));
  SendOn(1, 200);
  Run(milliseconds(1));
  EXPECT_EQ(LastOf(ClassOf(1)), 1) << "it has drained, and may ask again";
}

// PDUs on a VC that nobody has claimed count, too.
TEST_F(PfcAskTest, PdusWithoutAClientPauseTheirClass) {
  Start();
  Ask(*b, request::Unclaim{.vc_mask = 2, .client = cb->number, .instance = 0});
  SendOn(1, 55);
  Run(microseconds(100));
  EXPECT_EQ(LastOf(ClassOf(1)), 1);
  Ask(*b, request::Claim{.vc_mask = 2, .client = cb->number, .instance = 0});
  Run(microseconds(50));
  EXPECT_EQ(LastOf(ClassOf(1)), 0);
  EXPECT_EQ(cb->Receive(1).size(), 55u);
}

// A request for a pause goes before everything, and no pause holds it up.
TEST_F(PfcAskTest, PausesArePausedByNothing) {
  Start();
  b->port->Arrive(Pfc(0xff, 0xffff));
  Run(microseconds(5));
  SendOn(1, 200);
  Run(microseconds(100));
  EXPECT_EQ(LastOf(ClassOf(1)), 1);
}

// Both ends: the sender stops before the ring overflows, and nothing is refused or sent twice.
TEST_F(PfcAskTest, HostsPauseEachOtherByTheirFrames) {
  Start();
  network.SetNeighbour([this](const SimPort* from, std::span<const uint8_t> bytes) {
    (from == a->port ? b : a)->port->Arrive(bytes);
  });
  uint32_t sent = 0;
  size_t got = 0;
  std::vector<uint8_t> all;
  ASSERT_TRUE(RunUntil(
      [&] {
        for (; sent < 3000 && ca->Send(TestCommand(8, 16, static_cast<uint8_t>(sent)), 1, 1,
                                       SUEDE_RECORD_TRANSMIT_NOW) == SendResult::kOk;) {
          ++sent;
        }
        got += cb->Receive(1, 1).size();
        return got == 3000;
      },
      milliseconds(100)));
  EXPECT_EQ(b->Count(Counter::kRxNotReady), 0u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  EXPECT_GT(a->Count(Counter::kRxPfc), 1u);
}

}  // namespace
}  // namespace suede
