// SPDX-License-Identifier: Apache-2.0
// The cost of planes with as many peers as an instance can have.
#include "planes_bench.h"

namespace suede {
namespace {

class ManyPeersTest : public PlanesTest {
 protected:
  static constexpr uint32_t kPeers = 1023;

  // Host a is XPU 0; all others are instances of one pipeline, each with a for its only peer.
  // `hello_idle`: of all.
  void StartAll(Duration hello_idle) {
    params.paths.hello_interval = milliseconds(1);
    params.paths.hello_idle = hello_idle;
    params.paths.hold_down = milliseconds(10);
    params.paths.unreachable = milliseconds(1000);
    params.inflight_pdus = 4096;
    b = NewHost(1);
    for (uint32_t peer = 1; peer <= kPeers; ++peer) {
      InstanceParams p = ParamsOf(peer);
      p.peers.push_back(PeerAt(0, 0));
      b->pipeline->AddInstance(p);
    }
    a = NewHost(0);
    InstanceParams p = ParamsOf(0);
    for (uint32_t peer = 1; peer <= kPeers; ++peer) p.peers.push_back(PeerAt(peer, 1));
    a->pipeline->AddInstance(p);
    ca = &Attach(*a);
    for (uint32_t peer = 1; peer <= kPeers; ++peer) {
      while (ca->Send(TestCommand(8, 16, 1), static_cast<uint16_t>(peer)) != SendResult::kOk) {
        Turns(milliseconds(1));
      }
      if (peer % 32 == 0) Turns(milliseconds(1));
    }
  }
  Host* NewHost(uint32_t number) {
    hosts.push_back(std::make_unique<Host>());
    Host& host = *hosts.back();
    host.number = number;
    host.pipeline = std::make_unique<Pipeline>();
    for (uint32_t plane = 0; plane < planes; ++plane) {
      uint8_t mac[6];
      std::copy_n(MacOf(OnPlane(plane, number)).begin(), 6, mac);
      host.ports.push_back(network.AddPort(mac, 16384, 1024, SimFaults()));
      host.pipeline->AddPort(host.ports[plane], {.mac = MacOf(OnPlane(plane, number))});
    }
    host.port = host.ports[0];
    return &host;
  }
  InstanceParams ParamsOf(uint32_t xpu) const {
    InstanceParams p = params;
    p.xpuid = static_cast<uint16_t>(xpu);
    p.secret = {xpu, 1};
    for (uint32_t plane = 0; plane < planes; ++plane) {
      p.planes.push_back({.port = plane, .address = {.low = IpOf(OnPlane(plane, xpu))}});
    }
    return p;
  }
  PeerParams PeerAt(uint32_t xpu, uint32_t host) const {
    PeerParams peer{.xpuid = static_cast<uint16_t>(xpu)};
    for (uint32_t plane = 0; plane < planes; ++plane) {
      peer.planes.push_back(
          {.address = {.low = IpOf(OnPlane(plane, xpu))}, .mac = MacOf(OnPlane(plane, host))});
    }
    return peer;
  }
  void Turns(Duration time) {
    const Time end = network.now() + time;
    while (network.now() < end) {
      network.AdvanceTo(network.now() + microseconds(100));
      for (const auto& host : hosts) host->pipeline->Poll(network.now());
    }
  }
  uint32_t UpOn(PlaneIndex plane) const {
    uint32_t up = 0;
    const Instance& instance = a->pipeline->instance(0);
    for (PeerIndex peer = 0; peer < kPeers; ++peer) {
      up += instance.peers.sessions[instance.map.PathAt(peer, plane)].up();
    }
    return up;
  }
};

// A dead plane to each of them costs as much as an idle one, and not an interval's question each.
TEST_F(ManyPeersTest, DeadPlanesAreAskedAsRarelyAsIdleOnes) {
  StartAll(milliseconds(1000));
  Turns(milliseconds(200));
  ASSERT_EQ(UpOn(0), kPeers);
  ASSERT_EQ(UpOn(1), kPeers);
  Cut(1, true);
  Turns(milliseconds(3500));
  ASSERT_EQ(UpOn(0), kPeers);
  ASSERT_EQ(UpOn(1), 0u);
  const uint64_t before = a->Count(Counter::kTxControlPdus);
  Turns(milliseconds(1000));
  // On the living plane a question and an answer each, on the dead one a question.
  EXPECT_LE(a->Count(Counter::kTxControlPdus) - before, kPeers * 5);
  EXPECT_EQ(UpOn(0), kPeers);
}

// PDUs to one peer are in flight on the plane. Without them it takes seconds to ask all others.
TEST_F(ManyPeersTest, APlaneThatFailsToOnePeerIsAskedAboutAtAll) {
  StartAll(milliseconds(2000));
  Turns(milliseconds(2500));  // what was found meanwhile is over
  ASSERT_EQ(UpOn(1), kPeers);
  Cut(1, true);
  Turns(milliseconds(20));
  ASSERT_EQ(UpOn(1), kPeers) << "nothing is in flight";
  for (int i = 0; i < 8; ++i) ca->Send(TestCommand(8, 16, 1), 500, 0, SUEDE_RECORD_TRANSMIT_NOW);
  const uint64_t before = a->Count(Counter::kTxControlPdus);
  const uint64_t sweeps = a->Count(Counter::kPlaneSweeps);
  // Until it is found, for the peers one after the other, and until it is found for the last one.
  Turns(milliseconds(5 + kPeers / 16 / 10 + 5 + 1));
  EXPECT_EQ(UpOn(1), 0u);
  EXPECT_EQ(UpOn(0), kPeers);
  EXPECT_EQ(a->Count(Counter::kPlaneSweeps), sweeps + 1);
  EXPECT_EQ(a->Count(Counter::kTxNoFrame), 0u);
  // To each a report, three questions, one on the living plane or two, and their answers.
  EXPECT_LE(a->Count(Counter::kTxControlPdus) - before, kPeers * 7);
}

}  // namespace
}  // namespace suede
