// SPDX-License-Identifier: Apache-2.0
// Instances with queue pairs of their own on one device: each sends by its own, and receives frames
// that come by any.
#include <set>

#include "bench.h"
#include "steered_device.h"

namespace suede {
namespace {

// Three XPUs behind one device with a queue pair for each: 0 and 1 on one lcore, 2 on another. XPU
// 3 is behind another device.
class QueuePairsTest : public SteeredTest {
 protected:
  static constexpr uint32_t kNear = 3;
  static constexpr uint32_t kFar = 3;

  struct Place {
    uint32_t host;
    uint32_t instance;
  };
  static constexpr Place kPlaces[kNear] = {{0, 0}, {0, 1}, {1, 0}};

  void StartNear(const SteeredDevice::Steer& steer) {
    device = std::make_unique<SteeredDevice>(AddPort(0), kNear, steer);
    device->OnSent(
        [this](uint32_t queue, const Frame& frame) { senders[queue].insert(SourceOf(frame)); });
    lane = std::make_unique<PacketLane>(FrameRules{}, SimPort::kMaxFrameBytes, 64);
    const PortParams port{.mac = MacOf(0)};
    Pipeline& one = *NewHost().pipeline;
    ASSERT_EQ(one.AddPort(device->queue(0), port, lane.get()), 0u);
    ASSERT_EQ(one.AddPair(0, device->queue(1)), 1u);
    Pipeline& other = *NewHost().pipeline;
    ASSERT_EQ(other.AddPort(device->queue(2), port), 0u);
    for (uint32_t xpu = 0; xpu < kNear; ++xpu) {
      const auto [host, pair] = kPlaces[xpu];
      hosts[host]->pipeline->AddInstance(ParamsOf(xpu, pair, {{kFar, kFar}}));
    }
    one.SharePort(0, {.from = &back, .to = &forth, .addresses = {{.low = IpOf(2)}}});
    other.SharePort(0, {.from = &forth,
                        .to = &back,
                        .addresses = {{.low = IpOf(0)}, {.low = IpOf(1)}},
                        .packets = lane.get()});
  }
  void StartFar() {
    Host& host = NewHost();
    host.pipeline->AddPort(AddPort(kFar), {.mac = MacOf(kFar)});
    host.pipeline->AddInstance(ParamsOf(kFar, 0, {{0, 0}, {1, 0}, {2, 0}}));
  }
  uint64_t OfXpu(uint32_t xpu, Counter counter) const {
    return hosts[kPlaces[xpu].host]->pipeline->counters(kPlaces[xpu].instance).Get(counter);
  }
  std::vector<uint8_t> FrameTo(uint32_t xpu) const { return FrameBetween(kFar, xpu); }

  std::set<uint32_t> senders[kNear];  // XPUs whose frames have left by each queue
  HandoverRing forth;                 // from the lcore of two
  HandoverRing back;
};

struct Arrival {
  const char* name;
  SteeredDevice::Steer steer;
  bool hands_forth;
  bool hands_back;
};

class QueuePairsTrafficTest : public QueuePairsTest,
                              public ::testing::WithParamInterface<Arrival> {};

TEST_P(QueuePairsTrafficTest, EachSendsByItsOwnAndReceivesByAny) {
  constexpr uint8_t kCount = 80;
  StartNear(GetParam().steer);
  StartFar();
  std::vector<Client*> near;
  for (const Place& place : kPlaces) {
    near.push_back(&Attach(*hosts[place.host], 0xf, place.instance));
  }
  Client& far = Attach(*hosts[2]);
  std::vector<uint8_t> sent;
  std::vector<uint8_t> received[kNear];
  size_t answered = 0;
  for (uint8_t i = 0; i < kCount; ++i) {
    sent.push_back(static_cast<uint8_t>(i * 3));
    for (uint16_t xpu = 0; xpu < kNear; ++xpu) {
      ASSERT_EQ(far.Send(TestCommand(8, 16, i), xpu), SendResult::kOk);
      ASSERT_EQ(near[xpu]->Send(TestCommand(8, 16, i), kFar), SendResult::kOk);
    }
    Run(microseconds(i % 3 * 20));
  }
  ASSERT_TRUE(RunUntil([&] {
    size_t count = 0;
    for (uint32_t xpu = 0; xpu < kNear; ++xpu) {
      for (const uint8_t seed : near[xpu]->Receive()) received[xpu].push_back(seed);
      count += received[xpu].size();
    }
    answered += far.Receive().size();
    return count >= size_t{kNear} * kCount && answered >= size_t{kNear} * kCount;
  }));
  for (uint32_t xpu = 0; xpu < kNear; ++xpu) {
    EXPECT_EQ(received[xpu], sent);
    EXPECT_EQ(senders[xpu], std::set<uint32_t>{xpu});
    EXPECT_EQ(OfXpu(xpu, Counter::kRxCommands), kCount);
    EXPECT_EQ(OfXpu(xpu, Counter::kGoBacks), 0u);
  }
  EXPECT_EQ(answered, size_t{kNear} * kCount);
  // Within an lcore nothing is handed over.
  EXPECT_EQ(OfLcore(0, Counter::kRxHandedOver) != 0, GetParam().hands_forth);
  EXPECT_EQ(OfLcore(1, Counter::kRxHandedOver) != 0, GetParam().hands_back);
  // Each frame is counted once, by its receiver.
  EXPECT_EQ(OfLcore(0, Counter::kRxFrames) + OfLcore(1, Counter::kRxFrames),
            OfLcore(2, Counter::kTxFrames));
  Run(milliseconds(1));
  EXPECT_LE(device->wire()->frames_out(), kNear * 3 * kBurst);
}

INSTANTIATE_TEST_SUITE_P(
    All, QueuePairsTrafficTest,
    ::testing::Values(Arrival{"AllByTheFirst", [](const Frame&) { return 0u; }, true, false},
                      Arrival{"AllByTheSecond", [](const Frame&) { return 1u; }, true, false},
                      Arrival{"AllByTheThird", [](const Frame&) { return 2u; }, false, true},
                      Arrival{"EachByItsOwn", DestinationOf, false, false},
                      Arrival{"EachByTheNext",
                              [](const Frame& frame) { return (DestinationOf(frame) + 1) % 3; },
                              true, true}),
    [](const auto& test) { return test.param.name; });

TEST_F(QueuePairsTest, ManagementPacketsComeByAnyAndLeaveByTheFirst) {
  uint32_t by = 0;
  StartNear([&](const Frame&) { return by; });
  wire = AddPort(kFar);
  std::vector<uint8_t> arp = FrameTo(0);
  arp[12] = 0x08;
  arp[13] = 0x06;
  lane->SetReceiving(true);
  for (by = 0; by < kNear; ++by) {
    Inject({arp});
    const std::span<const uint8_t> up = lane->Received();
    EXPECT_EQ(std::vector<uint8_t>(up.begin(), up.end()), arp) << by;
    lane->PopReceived();
  }
  EXPECT_EQ(OfLcore(0, Counter::kMgmtRxPackets), kNear);
  EXPECT_EQ(OfLcore(1, Counter::kRxHandedOver), 1u);
}

TEST_F(QueuePairsTest, APairThatIsDownTakesNothing) {
  uint32_t by = 1;
  StartNear([&](const Frame&) { return by; });
  wire = AddPort(kFar);
  const auto set = [&](uint32_t pair, bool up) {
    ASSERT_TRUE(
        hosts[0]->pipeline->mailbox().requests.Push(request::SetPort{.port = pair, .up = up}));
    Run(microseconds(10));
  };
  set(1, false);
  Inject({FrameTo(0), FrameTo(1)});
  EXPECT_EQ(OfLcore(0, Counter::kRxAdminDown), 2u);
  set(1, true);
  Inject({FrameTo(0), FrameTo(1)});
  EXPECT_EQ(OfXpu(0, Counter::kRxBeforeHello), 1u);
  EXPECT_EQ(OfXpu(1, Counter::kRxBeforeHello), 1u);
}

}  // namespace
}  // namespace suede
