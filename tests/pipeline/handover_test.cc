// SPDX-License-Identifier: Apache-2.0
// Two pipelines that share a port: frames that one receives for the other's instance arrive there,
// in order, whichever queue of the device they came by.
#include "link/handover.h"

#include <utility>

#include "bench.h"
#include "steered_device.h"
#include "trimmed_frame.h"

namespace suede {
namespace {

uint32_t First(const Frame& /*frame*/) { return 0; }
uint32_t Second(const Frame& /*frame*/) { return 1; }
uint32_t AsTheyAreFor(const Frame& frame) { return DestinationOf(frame); }
uint32_t ToTheOther(const Frame& frame) { return 1 - DestinationOf(frame); }

// XPU 0 and XPU 1 are on two lcores behind one port, XPU 2 is behind another.
class HandoverTest : public SteeredTest {
 protected:
  static constexpr uint32_t kFar = 2;

  void StartPair(const SteeredDevice::Steer& steer) {
    device = std::make_unique<SteeredDevice>(AddPort(0), 2, steer);
    lane = std::make_unique<PacketLane>(FrameRules{}, SimPort::kMaxFrameBytes, 64);
    for (uint32_t xpu : {0u, 1u}) {
      Host& host = NewHost();
      host.pipeline->AddPort(device->queue(xpu), {.mac = MacOf(0), .trimmed_dscp = trimmed_dscp},
                             xpu == 0 ? lane.get() : nullptr);
      host.pipeline->AddInstance(ParamsOf(xpu, 0, {{kFar, kFar}}));
    }
    for (uint32_t xpu : {0u, 1u}) {
      hosts[xpu]->pipeline->SharePort(0, {.from = &rings[1 - xpu],
                                          .to = &rings[xpu],
                                          .addresses = {{.low = IpOf(1 - xpu)}},
                                          .packets = xpu == 0 ? nullptr : lane.get()});
    }
  }
  void StartFar() {
    Host& host = NewHost();
    host.pipeline->AddPort(AddPort(kFar), {.mac = MacOf(kFar)});
    host.pipeline->AddInstance(ParamsOf(kFar, 0, {{0, 0}, {1, 0}}));
  }
  // Instead of a far pipeline, one that is played by hand.
  void StartByHand() { wire = AddPort(kFar); }

  uint64_t OfInstance(uint32_t xpu, Counter counter) const {
    return hosts[xpu]->pipeline->counters(0).Get(counter);
  }
  std::vector<uint8_t> FrameTo(uint32_t xpu) const { return FrameBetween(kFar, xpu); }

  std::optional<uint8_t> trimmed_dscp;
  HandoverRing rings[2];  // from XPU 0's lcore, from XPU 1's
};

struct Steering {
  const char* name;
  SteeredDevice::Steer steer;
  uint32_t handing;  // lcores that hand over, a mask
};

class HandoverTrafficTest : public HandoverTest, public ::testing::WithParamInterface<Steering> {};

TEST_P(HandoverTrafficTest, BothInstancesSendAndReceiveInOrder) {
  constexpr uint8_t kCount = 80;
  StartPair(GetParam().steer);
  StartFar();
  Client* near[] = {&Attach(*hosts[0]), &Attach(*hosts[1])};
  Client& far = Attach(*hosts[2]);
  std::vector<uint8_t> sent;
  std::vector<uint8_t> received[2];
  std::vector<uint8_t> answered;
  for (uint8_t i = 0; i < kCount; ++i) {
    sent.push_back(static_cast<uint8_t>(i * 3));
    for (const uint16_t xpu : {uint16_t{0}, uint16_t{1}}) {
      ASSERT_EQ(far.Send(TestCommand(8, 16, i), xpu), SendResult::kOk);
      ASSERT_EQ(near[xpu]->Send(TestCommand(8, 16, i), kFar), SendResult::kOk);
    }
    Run(microseconds(i % 3 * 20));
  }
  ASSERT_TRUE(RunUntil([&] {
    for (uint32_t xpu : {0u, 1u}) {
      for (const uint8_t seed : near[xpu]->Receive()) received[xpu].push_back(seed);
    }
    for (const uint8_t seed : far.Receive()) answered.push_back(seed);
    return received[0].size() + received[1].size() >= 2u * kCount && answered.size() >= 2u * kCount;
  }));
  EXPECT_EQ(received[0], sent);
  EXPECT_EQ(received[1], sent);
  EXPECT_EQ(answered.size(), 2u * kCount);
  uint64_t frames = 0;
  for (uint32_t xpu : {0u, 1u}) {
    const bool hands = (GetParam().handing & 1u << xpu) != 0;
    EXPECT_EQ(OfLcore(xpu, Counter::kRxHandedOver) != 0, hands) << xpu;
    EXPECT_EQ(OfLcore(xpu, Counter::kRxHandoverFull), 0u);
    EXPECT_EQ(OfLcore(xpu, Counter::kRxUnknownDestination), 0u);
    EXPECT_EQ(OfInstance(xpu, Counter::kRxCommands), kCount);
    EXPECT_EQ(OfInstance(xpu, Counter::kGoBacks), 0u);
    frames += OfLcore(xpu, Counter::kRxFrames);
  }
  // Each frame is counted once, by its receiver.
  EXPECT_EQ(frames, OfLcore(2, Counter::kTxFrames));
  Run(milliseconds(1));
  EXPECT_LE(device->wire()->frames_out(), 2 * 3 * kBurst);
}

INSTANTIATE_TEST_SUITE_P(All, HandoverTrafficTest,
                         ::testing::Values(Steering{"AllByTheFirst", First, 1},
                                           Steering{"AllByTheSecond", Second, 2},
                                           Steering{"EachByItsOwn", AsTheyAreFor, 0},
                                           Steering{"EachByTheOther", ToTheOther, 3}),
                         [](const auto& test) { return test.param.name; });

TEST_F(HandoverTest, AFullRingDropsAndCounts) {
  StartPair(First);
  StartByHand();
  std::unique_ptr<Host> asleep = std::move(hosts[1]);
  hosts.pop_back();
  const uint32_t frames_before = device->wire()->frames_out();
  constexpr uint32_t kMore = 256;
  for (uint32_t i = 0; i < kHandoverFrames + kMore; i += 32) {
    Inject(std::vector(32, FrameTo(1)));
  }
  EXPECT_EQ(OfLcore(0, Counter::kRxHandedOver), kHandoverFrames);
  EXPECT_EQ(OfLcore(0, Counter::kRxHandoverFull), kMore);
  // Its own are not held up.
  Inject({FrameTo(0)});
  EXPECT_EQ(OfInstance(0, Counter::kRxBeforeHello), 1u);
  hosts.push_back(std::move(asleep));
  Run(microseconds(100));
  EXPECT_EQ(OfInstance(1, Counter::kRxBeforeHello), kHandoverFrames);
  Inject({FrameTo(1)});
  EXPECT_EQ(OfInstance(1, Counter::kRxBeforeHello), kHandoverFrames + 1);
  EXPECT_EQ(OfLcore(0, Counter::kRxHandoverFull), kMore);
  Run(milliseconds(1));
  EXPECT_LE(device->wire()->frames_out(), frames_before + 2 * 3 * kBurst);
}

TEST_F(HandoverTest, APortOrInstanceThatIsDownTakesNothingThatIsHandedToIt) {
  StartPair(First);
  StartByHand();
  const auto set = [&](uint32_t xpu, OutOfService kind, bool up) {
    ASSERT_TRUE(hosts[xpu]->pipeline->mailbox().requests.Push(Switch(kind, up)));
    Run(microseconds(10));
  };
  set(1, OutOfService::kInstance, false);
  Inject({FrameTo(1), FrameTo(0)});
  EXPECT_EQ(OfInstance(1, Counter::kRxAdminDown), 1u);
  EXPECT_EQ(OfInstance(0, Counter::kRxBeforeHello), 1u);
  set(1, OutOfService::kInstance, true);
  set(1, OutOfService::kPort, false);
  Inject({FrameTo(1), FrameTo(0)});
  EXPECT_EQ(OfLcore(1, Counter::kRxAdminDown), 1u);
  EXPECT_EQ(OfInstance(0, Counter::kRxBeforeHello), 2u);
  set(1, OutOfService::kPort, true);
  // The lcore by whose queue it comes is down: it does not get that far.
  set(0, OutOfService::kPort, false);
  Inject({FrameTo(1), FrameTo(0)});
  EXPECT_EQ(OfLcore(0, Counter::kRxAdminDown), 2u);
  EXPECT_EQ(OfInstance(1, Counter::kRxBeforeHello), 0u);
  set(0, OutOfService::kPort, true);
  Inject({FrameTo(1), FrameTo(0)});
  EXPECT_EQ(OfInstance(1, Counter::kRxBeforeHello), 1u);
  EXPECT_EQ(OfInstance(0, Counter::kRxBeforeHello), 3u);
}

TEST_F(HandoverTest, WhatIsForNobodyGoesNowhere) {
  StartPair(Second);
  StartByHand();
  Inject({FrameTo(7)});
  EXPECT_EQ(OfLcore(1, Counter::kRxUnknownDestination), 1u);
  EXPECT_EQ(OfLcore(1, Counter::kRxHandedOver), 0u);
}

TEST_F(HandoverTest, TrimmedFramesReachTheLcoreThatTheyAreFor) {
  trimmed_dscp = kTrimmedDscp;
  peers_are_plain = true;
  StartPair(Second);
  StartByHand();
  TakeSent();
  Inject({Cut(FrameTo(0)), Cut(FrameTo(1)), Cut(FrameTo(7))});
  EXPECT_EQ(OfLcore(1, Counter::kRxHandedOver), 1u);
  EXPECT_EQ(OfInstance(0, Counter::kRxTrimmed), 1u);
  EXPECT_EQ(OfInstance(1, Counter::kRxTrimmed), 1u);
  EXPECT_EQ(OfLcore(1, Counter::kRxTrimmedUnknown), 1u);
  EXPECT_EQ(OfLcore(0, Counter::kRxTrimmedUnknown), 0u);
  Run(microseconds(100));
  uint32_t nacks[2] = {};
  for (const Sent& sent : TakeSent()) {
    if (sent.rh.op == RhOp::kNack) ++nacks[sent.rh.xpuid];
  }
  EXPECT_EQ(nacks[0], 1u) << "each asks for its PDU";
  EXPECT_EQ(nacks[1], 1u);
}

TEST_F(HandoverTest, ManagementPacketsReachTheFirstLcoresLane) {
  StartPair(Second);
  StartByHand();
  std::vector<uint8_t> arp = FrameTo(1);
  arp[12] = 0x08;
  arp[13] = 0x06;
  Inject({arp});
  EXPECT_EQ(OfLcore(1, Counter::kRxNotSue), 1u) << "nobody receives them";
  lane->SetReceiving(true);
  Inject({arp});
  EXPECT_EQ(OfLcore(1, Counter::kRxHandedOver), 1u);
  EXPECT_EQ(OfLcore(0, Counter::kMgmtRxPackets), 1u);
  const std::span<const uint8_t> up = lane->Received();
  EXPECT_EQ(std::vector<uint8_t>(up.begin(), up.end()), arp);
  // A broken one of SUE's is not among them.
  std::vector<uint8_t> broken = FrameTo(0);
  broken[24] ^= 1;
  Inject({broken});
  EXPECT_EQ(OfLcore(1, Counter::kRxIpChecksum), 1u);
  EXPECT_EQ(OfLcore(1, Counter::kRxHandedOver), 1u);
}

}  // namespace
}  // namespace suede
