// SPDX-License-Identifier: Apache-2.0
// Instances with several ports: which plane PDUs take, planes that die and come back, and peers
// with one port or without sessions.
#include <algorithm>

#include "planes_bench.h"

namespace suede {
namespace {

TEST_F(PlanesTest, UnorderedPdusTakeBothPlanes) {
  StartPair();
  WarmUp();
  SendPdus(100);
  EXPECT_EQ(Statuses(*ca, 100), std::vector<int>(100, kOk));
  std::vector<uint8_t> got = cb->Receive();
  std::sort(got.begin(), got.end());
  std::vector<uint8_t> want = Seeds(100);
  std::sort(want.begin(), want.end());
  EXPECT_EQ(got, want);
  EXPECT_GE(Carried(0), 45u);
  EXPECT_GE(Carried(1), 45u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  ExpectNoFramesOut();
}

// Frames of a generation that are still under way fit nowhere in the next one.
TEST_F(PlanesTest, EachGenerationBeginsHalfTheNumbersFromTheLast) {
  StartPair();
  WarmUp();
  SendPdus(20);
  Run(microseconds(2));
  const Connection& connection = a->pipeline->instance(0).peers.connections[0];
  const Psn before = connection.in_flight().next_psn();
  ASSERT_NE(connection.in_flight().count(), 0u);
  Cut(0, true);
  ASSERT_TRUE(RunUntil(
      [&] { return a->Count(Counter::kPlaneDeaths) != 0 && connection.in_flight().empty(); }));
  EXPECT_EQ(connection.in_flight().next_psn(), before.Plus(1 << 15));
  EXPECT_EQ(b->Count(Counter::kRxFences), 1u);
  EXPECT_EQ(b->pipeline->instance(0).peers.connections[0].rx().closed(), true);
}

TEST_F(PlanesTest, StrictTakesOnePlaneAndKeepsTheOrder) {
  params.paths.ordering = Ordering::kStrict;
  StartPair();
  WarmUp();
  const uint32_t before[] = {Carried(0), Carried(1)};
  SendPdus(80);
  EXPECT_EQ(Statuses(*ca, 80), std::vector<int>(80, kOk));
  EXPECT_EQ(cb->Receive(), Seeds(80));
  EXPECT_TRUE(Carried(0) == before[0] || Carried(1) == before[1])
      << Carried(0) << " " << Carried(1);
}

TEST_F(PlanesTest, SilentPlaneIsFoundDeadAndItsPdusMoveOnce) {
  for (const Ordering ordering : {Ordering::kUnordered, Ordering::kStrict}) {
    hosts.clear();
    clients.clear();
    params.paths.ordering = ordering;
    network = SimNetwork(1);
    StartPair();
    WarmUp();
    SendPdus(60);
    Run(microseconds(2));
    const uint32_t dead = a->pipeline->instance(0).peers.paths[0].inflight_bytes[0] != 0 ? 0 : 1;
    Cut(dead, true);
    EXPECT_EQ(Statuses(*ca, 60), std::vector<int>(60, kOk));
    std::vector<uint8_t> got = cb->Receive();
    if (ordering == Ordering::kStrict) {
      EXPECT_EQ(got, Seeds(60));
    }
    std::sort(got.begin(), got.end());
    std::vector<uint8_t> want = Seeds(60);
    std::sort(want.begin(), want.end());
    EXPECT_EQ(got, want);
    EXPECT_EQ(a->Count(Counter::kPlaneDeaths), 1u);
    EXPECT_GT(a->Count(Counter::kTxMoved), 0u);
    EXPECT_EQ(b->Count(Counter::kRxFences), 1u);
    EXPECT_FALSE(SessionOf(*a, dead).up());
    EXPECT_FALSE(SessionOf(*b, dead).up());  // both ends agree
    const std::vector<LcoreEvent> events = Events(*a, LcoreEventKind::kPlaneDown);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].plane, dead);
    EXPECT_EQ(events[0].what, static_cast<uint8_t>(PlaneDownReason::kSilence));
    ExpectNoFramesOut();
    // The plane comes back with a generation of its own, and is used again.
    Cut(dead, false);
    EXPECT_TRUE(RunUntil([&] { return SessionOf(*a, dead).up() && SessionOf(*b, dead).up(); }));
    EXPECT_EQ(SessionOf(*a, dead).tx_generation(), 2);
    EXPECT_EQ(SessionOf(*b, dead).rx_generation(), 2);
    const uint32_t before = Carried(dead);
    // In strict mode each burst of the flow has one plane; they share by the planes' weights.
    for (int burst = 0; burst < 4; ++burst) {
      SendPdus(60);
      EXPECT_EQ(Statuses(*ca, 60), std::vector<int>(60, kOk));
      EXPECT_EQ(cb->Receive().size(), 60u);
    }
    EXPECT_GT(Carried(dead), before);
  }
}

TEST_F(PlanesTest, LinkDownIsFoundAtOnce) {
  StartPair();
  WarmUp();
  const auto both_up = [&] { return SessionOf(*a, 0).up() && SessionOf(*a, 1).up(); };
  EXPECT_TRUE(both_up());
  a->ports[1]->SetLink(false);
  Run(microseconds(100));
  EXPECT_FALSE(SessionOf(*a, 1).up());
  const std::vector<LcoreEvent> events = Events(*a, LcoreEventKind::kPlaneDown);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].what, static_cast<uint8_t>(PlaneDownReason::kLink));
  SendPdus(20);
  EXPECT_EQ(Statuses(*ca, 20, milliseconds(1)), std::vector<int>(20, kOk));
  a->ports[1]->SetLink(true);
  EXPECT_TRUE(RunUntil(both_up));
  // Nothing was in doubt, so the generation goes on.
  EXPECT_EQ(SessionOf(*a, 1).tx_generation(), 1);
}

TEST_F(PlanesTest, OneWayPlaneIsDownAtBothEnds) {
  StartPair();
  WarmUp();
  b->ports[1]->faults().loss = 1;  // b hears a there, a does not hear b
  SendPdus(60);
  EXPECT_EQ(Statuses(*ca, 60), std::vector<int>(60, kOk));
  EXPECT_TRUE(RunUntil([&] { return !SessionOf(*a, 1).up() && !SessionOf(*b, 1).up(); }));
  EXPECT_EQ(cb->Receive().size(), 60u);
  Run(milliseconds(20));
  EXPECT_FALSE(SessionOf(*a, 1).up());
  EXPECT_FALSE(SessionOf(*b, 1).up());
}

TEST_F(PlanesTest, AllPlanesDeadIsUnreachableForThatPeerAloneUntilOneReturns) {
  a = &AddHost(0, 3);
  b = &AddHost(1, 3);
  Host& other = AddHost(2, 3);
  ca = &Attach(*a);
  cb = &Attach(*b);
  Client& co = Attach(other);
  WarmUp();
  Cut(0, true);
  Cut(1, true);
  b->ports[0]->faults().loss = b->ports[1]->faults().loss = 1;
  a->ports[0]->faults().loss = a->ports[1]->faults().loss = 0;
  SendPdus(40);
  for (uint64_t i = 0; i < 40; ++i) ca->SendTagged(100 + i, 2, 1);
  std::vector<suede_completion> all;
  EXPECT_TRUE(RunUntil([&] {
    for (const suede_completion& c : ca->Completions()) all.push_back(c);
    return all.size() == 80;
  }));
  uint32_t in_doubt = 0;
  uint32_t unreachable = 0;
  for (const suede_completion& c : all) {
    if (c.tag >= 100) {
      EXPECT_EQ(c.status, SUEDE_STATUS_OK) << c.tag;
    } else {
      in_doubt += c.status == SUEDE_STATUS_IN_DOUBT;
      unreachable += c.status == SUEDE_STATUS_UNREACHABLE;
    }
  }
  // PDUs that went over the one plane and then, once that was fenced, over the other, are in doubt
  // there.
  EXPECT_EQ(in_doubt + unreachable, 40u);
  EXPECT_GE(in_doubt, 1u);
  EXPECT_EQ(co.Receive(1).size(), 40u);
  EXPECT_EQ(a->Count(Counter::kUnreachable), 1u);
  // Commands that come now are refused at once.
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1, milliseconds(1)), std::vector<int>{SUEDE_STATUS_UNREACHABLE});
  // Delivered commands were delivered before they were given up, and once.
  const size_t early = cb->Receive().size();
  EXPECT_LE(early, 40u);
  b->ports[1]->faults().loss = 0;
  EXPECT_TRUE(RunUntil([&] { return a->pipeline->instance(0).peers.paths[0].usable != 0; }));
  ca->SendTagged(0, 1);
  EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  EXPECT_EQ(cb->Receive().size(), 1u);
  ExpectNoFramesOut();
}

// A peer that stands still for longer than a plane takes to be found dead has no dead planes.
TEST_F(PlanesTest, SilenceOnAllPlanesIsThePeersPause) {
  StartPair();
  WarmUp();
  SendPdus(10);
  const Time until = network.now() + milliseconds(3);
  while (network.now() < until) {
    network.AdvanceTo(network.now() + microseconds(2));
    a->pipeline->Poll(network.now());
  }
  EXPECT_EQ(Statuses(*ca, 10), std::vector<int>(10, kOk));
  EXPECT_EQ(a->Count(Counter::kPlaneDeaths), 0u);
  EXPECT_EQ(b->Count(Counter::kPlaneDeaths), 0u);
}

TEST_F(PlanesTest, DrainAndSetDown) {
  StartPair();
  WarmUp();
  SendPdus(60);
  Run(microseconds(2));
  a->pipeline->mailbox().requests.Push(
      request::SetPlane{.plane = 0, .plane_admin = PlaneAdmin::kDrain});
  EXPECT_EQ(Statuses(*ca, 60), std::vector<int>(60, kOk));
  EXPECT_EQ(a->pipeline->admin_done(), 1u);
  EXPECT_EQ(a->Count(Counter::kTxRetransmissions), 0u);
  EXPECT_EQ(a->Count(Counter::kTxMoved), 0u);
  const uint32_t drained = Carried(0);
  SendPdus(60);
  EXPECT_EQ(Statuses(*ca, 60), std::vector<int>(60, kOk));
  EXPECT_EQ(Carried(0), drained);
  EXPECT_TRUE(SessionOf(*a, 0).up());
  // Down does not wait.
  a->pipeline->mailbox().requests.Push(
      request::SetPlane{.plane = 0, .plane_admin = PlaneAdmin::kUp});
  Run(milliseconds(1));
  SendPdus(60);
  Run(microseconds(2));
  a->pipeline->mailbox().requests.Push(
      request::SetPlane{.plane = 0, .plane_admin = PlaneAdmin::kDown});
  EXPECT_EQ(Statuses(*ca, 60), std::vector<int>(60, kOk));
  EXPECT_FALSE(SessionOf(*a, 0).up());
  EXPECT_EQ(cb->Receive().size(), 180u);
  a->pipeline->mailbox().requests.Push(
      request::SetPlane{.plane = 0, .plane_admin = PlaneAdmin::kUp});
  EXPECT_TRUE(RunUntil([&] { return SessionOf(*a, 0).up(); }));
}

// PDUs that wait for a port that takes nothing any more get away from it.
TEST_F(PlanesTest, StrictLeavesAPortThatIsSetDown) {
  params.paths.ordering = Ordering::kStrict;
  StartPair();
  WarmUp();
  const uint32_t home = Carried(0) != 0 ? 0 : 1;
  SendPdus(200);
  Run(microseconds(2));
  a->pipeline->mailbox().requests.Push(request::SetPort{.port = home, .up = false});
  EXPECT_EQ(Statuses(*ca, 200), std::vector<int>(200, kOk));
  EXPECT_EQ(cb->Receive(), Seeds(200));
}

TEST_F(PlanesTest, WeightsAreSharesOfWhatIsCarried) {
  StartPair();
  Ask(*a, request::SetWeight{.peer = request::SetWeight::kAllPeers, .plane = 0, .weight = 3});
  WarmUp();
  const uint32_t before[] = {Carried(0), Carried(1)};
  // One at a time, so that nothing but the weights decides.
  for (int i = 0; i < 200; ++i) {
    ca->SendTagged(0, 1);
    Statuses(*ca, 1);
    cb->Receive();
  }
  EXPECT_NEAR(Carried(0) - before[0], 150, 2);
  EXPECT_NEAR(Carried(1) - before[1], 50, 2);
}

// Nothing announces that a plane carries half of what its weight stands for.
TEST_F(PlanesTest, APlaneThatCarriesLessThanItsWeightIsFoundByMeasurement) {
  constexpr double kGbps = 1;
  params.paths.weights = PlaneWeights::kMeasured;
  StartPair();
  InstanceParams p = a->pipeline->instance(0).params;
  a->pipeline = std::make_unique<Pipeline>();
  for (uint32_t plane = 0; plane < planes; ++plane) {
    a->ports[plane]->faults().bits_per_ns = plane == 0 ? kGbps : kGbps / 2;
    a->pipeline->AddPort(a->ports[plane],
                         {.mac = MacOf(OnPlane(plane, 0)), .rate_bps = uint64_t{1'000'000'000}});
  }
  a->pipeline->AddInstance(p);
  Client& client = Attach(*a);
  const PeerPaths& paths = a->pipeline->instance(0).peers.paths[0];
  const auto is_found = [&] {
    while (client.Send(TestCommand(8, 200, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW) == SendResult::kOk)
      ;
    cb->Receive();
    return paths.part[1] < PathRate::kWhole * 55 / 100;
  };
  EXPECT_TRUE(RunUntil(is_found, milliseconds(100)));
  PlaneSnapshot snapshot;
  EXPECT_EQ(Ask(*a, request::Planes{.snapshot = &snapshot}), LcoreStatus::kBusy);
  ASSERT_EQ(snapshot.count, 2u);
  EXPECT_NEAR(static_cast<double>(snapshot.rows[1].measured_bps), 1e9 * kGbps / 2, 3e7);
  EXPECT_NEAR(snapshot.rows[1].measured_part, PathRate::kWhole / 2, PathRate::kWhole / 20);
  EXPECT_GT(snapshot.rows[0].measured_part, PathRate::kWhole * 3 / 4);
}

TEST_F(PlanesTest, PeerWithOnePort) {
  planes = 1;
  b = &AddHost(1, 2);
  planes = 2;
  a = &AddHost(0, 2);
  // The peer is to be found on plane 1 alone.
  a->pipeline = std::make_unique<Pipeline>();
  InstanceParams p = params;
  for (uint32_t plane = 0; plane < 2; ++plane) {
    a->pipeline->AddPort(a->ports[plane], {.mac = MacOf(OnPlane(plane, 0))});
    p.planes.push_back({.port = plane, .address = {.low = IpOf(plane == 1 ? 0 : 0x500)}});
  }
  p.secret = {1, 1};
  p.peers.push_back({.xpuid = 1});
  p.peers[0].planes = {{.present = false}, {.address = {.low = IpOf(1)}, .mac = MacOf(1)}};
  a->pipeline->AddInstance(p);
  b->pipeline = std::make_unique<Pipeline>();
  b->pipeline->AddPort(b->port, {.mac = MacOf(1)});
  InstanceParams q = params;
  q.xpuid = 1;
  q.secret = {2, 2};
  q.planes = {{.address = {.low = IpOf(1)}}};
  q.peers.push_back({.xpuid = 0});
  q.peers[0].planes = {{.address = {.low = IpOf(0)}, .mac = MacOf(OnPlane(1, 0))}};
  b->pipeline->AddInstance(q);
  ca = &Attach(*a);
  cb = &Attach(*b);
  WarmUp();
  SendPdus(50);
  for (uint64_t i = 0; i < 50; ++i) cb->SendTagged(i, 0);
  EXPECT_EQ(Statuses(*ca, 50), std::vector<int>(50, kOk));
  EXPECT_EQ(Statuses(*cb, 50), std::vector<int>(50, kOk));
  EXPECT_EQ(cb->Receive(), Seeds(50));
}

// The peer is started so late that commands have been sent in generation 0 by then.
TEST_F(PlanesTest, PeerThatComesLate) {
  a = &AddHost(0, 2);
  ca = &Attach(*a);
  SendPdus(40);
  Run(milliseconds(3));
  b = &AddHost(1, 2);
  cb = &Attach(*b);
  Statuses(*ca, 40);
  EXPECT_TRUE(RunUntil([&] { return SessionOf(*a, 0).up() && SessionOf(*a, 1).up(); }));
  cb->Receive();
  SendPdus(40);
  EXPECT_EQ(Statuses(*ca, 40), std::vector<int>(40, kOk));
  EXPECT_EQ(cb->Receive().size(), 40u);
}

// Without a link there is nobody to say hello to, and no try is counted.
TEST_F(PlanesTest, NoLinkAtFirst) {
  StartPair();
  for (SimPort* port : a->ports) port->SetLink(false);
  SendPdus(40);
  Run(milliseconds(20));
  for (SimPort* port : a->ports) port->SetLink(true);
  EXPECT_EQ(Statuses(*ca, 40), std::vector<int>(40, kOk));
  EXPECT_EQ(cb->Receive().size(), 40u);
  EXPECT_TRUE(SessionOf(*a, 0).up());
  EXPECT_EQ(SessionOf(*a, 0).tx_generation(), 1);
}

TEST_F(PlanesTest, RestartOfThePeer) {
  StartPair();
  WarmUp();
  for (SimPort* port : b->ports) port->SetLink(false);
  SendPdus(10);
  Run(microseconds(20));
  for (SimPort* port : b->ports) port->SetLink(true);
  Boot(*b, 2);
  Client& reborn = Attach(*b);
  reborn.SendTagged(0, 0);
  std::vector<int> want(10, SUEDE_STATUS_PEER_RESET);
  EXPECT_EQ(Statuses(*ca, 10), want);
  EXPECT_EQ(Statuses(reborn, 1), std::vector<int>{kOk});
  EXPECT_EQ(a->Count(Counter::kPeerResets), 1u);
  SendPdus(50);
  EXPECT_EQ(Statuses(*ca, 50), std::vector<int>(50, kOk));
  EXPECT_EQ(reborn.Receive().size(), 50u);
}

// XPU 1 is played by hand, over two bare ports, and speaks no HELLO.
TEST_F(PlanesTest, PlainPeer) {
  plain_peers = true;
  a = &AddHost(0, 2);
  ca = &Attach(*a);
  SimPort* wires[] = {AddPort(OnPlane(0, 1)), AddPort(OnPlane(1, 1))};
  SendPdus(20);
  Run(milliseconds(2));
  uint32_t pdus = 0;
  for (uint32_t plane = 0; plane < 2; ++plane) {
    uint16_t expected = 0;
    for (const Sent& sent : Take(wires[plane])) {
      if (sent.rh.ver != 0 || (sent.commands[0] & 0xf) == 0) continue;
      if (sent.rh.psn != Psn(expected)) continue;  // sent again
      ++expected;
      ++pdus;
    }
    EXPECT_GE(expected, 5) << "plane " << plane;
  }
  EXPECT_EQ(pdus, 20u);
  // Nobody acknowledges: in the end all of it is given up, on both planes.
  EXPECT_EQ(Statuses(*ca, 20), std::vector<int>(20, SUEDE_STATUS_IN_DOUBT));
  ExpectNoFramesOut();
}

// A plane that was drained for a while has its share afterwards, and does not make up for the
// while.
TEST_F(PlanesTest, APlaneThatComesBackOwesNothing) {
  StartPair();
  WarmUp();
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) {  // one at a time, so that nothing but the shares decides
      ca->SendTagged(0, 1);
      Statuses(*ca, 1);
      cb->Receive();
    }
  };
  for (const uint32_t plane : {1u, 0u}) {
    SCOPED_TRACE(plane);
    Ask(*a, request::SetPlane{.plane = PlaneIndex(plane), .plane_admin = PlaneAdmin::kDrain});
    send(100);
    Ask(*a, request::SetPlane{.plane = PlaneIndex(plane), .plane_admin = PlaneAdmin::kUp});
    const uint32_t before[] = {Carried(0), Carried(1)};
    send(40);
    EXPECT_NEAR(Carried(0) - before[0], 20, 2);
    EXPECT_NEAR(Carried(1) - before[1], 20, 2);
  }
}

}  // namespace
}  // namespace suede
