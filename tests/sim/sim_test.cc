// SPDX-License-Identifier: Apache-2.0
// The simulated network itself: frames on ports that are not their own, and the ways of dying.
#include "sim/sim.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace suede {
namespace {

using std::chrono::microseconds;

class SimTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kFrames = 16;
  static constexpr uint32_t kRing = 4;
  static constexpr uint8_t kMacs[3][6] = {
      {2, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

  SimTest() {
    for (int i = 0; i < 3; ++i) ports[i] = network.AddPort(kMacs[i], kFrames, kRing, {});
  }
  // Sends a frame of `pool` through `port` to `to`, and gives it up. Returns whether it was taken.
  bool Send(SimPort* pool, SimPort* port, int to, uint32_t length = 100) {
    Frame* frame = nullptr;
    EXPECT_EQ(pool->Allocate(&frame, 1), 1u);
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = length;
    std::memset(frame->data, 0, length);
    std::memcpy(frame->data, kMacs[to], 6);
    const bool taken = port->Transmit(&frame, 1) == 1;
    EXPECT_EQ(pool->IsBusy(frame), taken);
    EXPECT_EQ(port->IsBusy(frame), taken);
    ports[2]->Release(&frame, 1);
    return taken;
  }
  void Pass(Duration time = microseconds(10)) {
    network.AdvanceTo(network.now() + time);
    for (SimPort* port : ports) port->Transmit(nullptr, 0);
  }
  uint32_t Received(SimPort* port) {
    Frame* frames[kFrames];
    const uint32_t count = port->Receive(frames, kFrames);
    port->Release(frames, count);
    return count;
  }

  SimNetwork network{1};
  SimPort* ports[3];
};

TEST_F(SimTest, AFrameLeavesThroughAnyPortAndReturnsToItsOwn) {
  EXPECT_TRUE(Send(ports[0], ports[1], 2));
  EXPECT_EQ(ports[0]->frames_out(), 1u);
  EXPECT_EQ(ports[1]->frames_out(), 0u);
  Pass();
  EXPECT_EQ(ports[0]->frames_out(), 0u);
  EXPECT_EQ(ports[0]->max_frames_out(), 1u);
  EXPECT_EQ(ports[1]->bytes().sent, 100u);
  EXPECT_EQ(Received(ports[2]), 1u);
}

TEST_F(SimTest, ALinkThatIsDownLosesWhatLeavesAndWhatArrives) {
  ports[0]->SetLink(false);
  EXPECT_FALSE(ports[0]->link().up);
  Send(ports[0], ports[0], 1);
  Send(ports[1], ports[1], 0);
  Pass();
  ports[0]->SetLink(true);
  Pass();
  EXPECT_EQ(Received(ports[0]), 0u);
  EXPECT_EQ(Received(ports[1]), 0u);
  EXPECT_EQ(network.frames_lost(), 2u);
}

TEST_F(SimTest, ARingThatIsKeptComesOutWhenTheLinkReturns) {
  ports[0]->KeepRingWhileDown(true);
  Send(ports[0], ports[0], 1);
  ports[0]->SetLink(false);
  while (Send(ports[0], ports[0], 1)) {
  }
  Pass();
  EXPECT_EQ(ports[0]->frames_out(), kRing);
  EXPECT_EQ(Received(ports[1]), 0u);
  ports[0]->SetLink(true);
  Pass();
  EXPECT_EQ(ports[0]->frames_out(), 0u);
  EXPECT_EQ(Received(ports[1]), kRing);
}

TEST_F(SimTest, APausedPortFillsUp) {
  ports[0]->SetPaused(true);
  for (uint32_t i = 0; i < kRing; ++i) EXPECT_TRUE(Send(ports[0], ports[0], 1));
  EXPECT_FALSE(Send(ports[0], ports[0], 1));
  Pass(microseconds(1000));
  EXPECT_EQ(Received(ports[1]), 0u);
  EXPECT_EQ(network.next_arrival(), kNever);
  ports[0]->SetPaused(false);
  EXPECT_GT(network.next_arrival(), network.now());
  Pass();
  EXPECT_EQ(Received(ports[1]), kRing);
}

TEST_F(SimTest, SilenceIsOfOneDirectionOrBoth) {
  ports[0]->SetSilent(true, false);
  EXPECT_TRUE(ports[0]->link().up);
  Send(ports[0], ports[0], 1);
  Send(ports[1], ports[1], 0);
  Pass();
  EXPECT_EQ(Received(ports[0]), 1u);
  EXPECT_EQ(Received(ports[1]), 0u);
  ports[0]->SetSilent(false, true);
  Send(ports[0], ports[0], 1);
  Send(ports[1], ports[1], 0);
  Pass();
  EXPECT_EQ(Received(ports[0]), 0u);
  EXPECT_EQ(Received(ports[1]), 1u);
}

TEST_F(SimTest, ABlockedPairIsDeafToItselfAlone) {
  network.Block(ports[0], ports[1], true);
  Send(ports[0], ports[0], 1);
  Send(ports[0], ports[0], 2);
  Send(ports[1], ports[1], 0);
  Pass();
  EXPECT_EQ(Received(ports[0]), 1u);
  EXPECT_EQ(Received(ports[1]), 0u);
  EXPECT_EQ(Received(ports[2]), 1u);
  network.Block(ports[0], ports[1], false);
  Send(ports[0], ports[0], 1);
  Pass();
  EXPECT_EQ(Received(ports[1]), 1u);
}

TEST_F(SimTest, LongFramesAreLostAlone) {
  ports[0]->faults().max_bytes = 200;
  Send(ports[0], ports[0], 1, 200);
  Send(ports[0], ports[0], 1, 201);
  Pass();
  EXPECT_EQ(Received(ports[1]), 1u);
}

TEST_F(SimTest, RateAndDelayMayChange) {
  ports[0]->faults().bits_per_ns = 10;
  EXPECT_EQ(ports[0]->link().speed_bps, 10'000'000'000u);
  for (int i = 0; i < 2; ++i) Send(ports[0], ports[0], 1, 976);  // 800 ns each
  ports[0]->faults().bits_per_ns = 1;  // the first is on its way
  ports[0]->faults().delay = microseconds(3);
  Pass(Duration(3799));
  EXPECT_EQ(Received(ports[1]), 0u);
  Pass(Duration(1));
  EXPECT_EQ(Received(ports[1]), 1u);
  Pass(Duration(7999));
  EXPECT_EQ(Received(ports[1]), 0u);
  Pass(Duration(1));
  EXPECT_EQ(Received(ports[1]), 1u);
}

TEST_F(SimTest, ANewProcessFindsEveryFrameInItsPool) {
  ports[0]->SetPaused(true);
  ports[1]->SetPaused(true);
  Send(ports[0], ports[1], 2);
  Send(ports[1], ports[0], 2);
  Send(ports[2], ports[2], 0);
  Frame* held = nullptr;
  ASSERT_EQ(ports[0]->Allocate(&held, 1), 1u);
  Pass();
  SimPort* const host[] = {ports[0], ports[1]};
  SimPort::Restart(host);
  EXPECT_EQ(ports[0]->frames_out(), 0u);
  EXPECT_EQ(ports[1]->frames_out(), 0u);
  for (SimPort* port : host) port->SetPaused(false);
  Pass();
  EXPECT_EQ(Received(ports[0]), 0u);
  EXPECT_EQ(Received(ports[2]), 0u);
}

// ---- Classes.

class SimClassesTest : public ::testing::Test {
 protected:
  static constexpr uint8_t kMacs[3][6] = {
      {2, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

  SimClassesTest() {
    classes.on = true;
    Begin();
  }
  void Begin() {
    network = std::make_unique<SimNetwork>(1);
    network->SetPorts(3);
    network->SetClasses(classes);
    for (int i = 0; i < 3; ++i) {
      ports[i] = network->AddPort(kMacs[i], 64, 32, {.bits_per_ns = 10});
    }
  }
  // A tagged frame of the class from port 0 or 1 to port 2: 800 ns on a link.
  void Send(uint8_t pcp, int from = 0) {
    Frame* frame = nullptr;
    ASSERT_EQ(ports[from]->Allocate(&frame, 1), 1u);
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = 976;
    std::memset(frame->data, 0, frame->length);
    std::memcpy(frame->data, kMacs[2], 6);
    frame->data[12] = 0x81;
    frame->data[14] = static_cast<uint8_t>(pcp << 5);
    ASSERT_EQ(ports[from]->Transmit(&frame, 1), 1u);
    ports[from]->Release(&frame, 1);
  }
  // The classes of the frames that have come to port 2, in order.
  std::string Came(Duration time = microseconds(100)) {
    network->AdvanceTo(network->now() + time);
    Frame* frames[64];
    const uint32_t count = ports[2]->Receive(frames, 64);
    std::string text;
    for (uint32_t i = 0; i < count; ++i) text += static_cast<char>('0' + (frames[i]->data[14] >> 5));
    ports[2]->Release(frames, count);
    return text;
  }

  SimClasses classes;
  std::unique_ptr<SimNetwork> network;
  SimPort* ports[3];
};

TEST_F(SimClassesTest, AHigherClassOvertakesWhatWaits) {
  // Two senders to one port: every second frame waits there.
  for (int i = 0; i < 4; ++i) {
    Send(0, 0);
    Send(0, 1);
  }
  Send(6, 0);
  EXPECT_EQ(Came(), "000060000");
}

TEST_F(SimClassesTest, WeightLetsLowerClassesHaveTurns) {
  classes.weighted = true;
  Begin();
  for (int i = 0; i < 16; ++i) {
    Send(6, 0);
    Send(0, 1);
  }
  const std::string came = Came();
  EXPECT_EQ(came.size(), 32u);
  EXPECT_LT(came.find('0'), came.rfind('6'));
}

TEST_F(SimClassesTest, ClassesHaveDelaysAndLossOfTheirOwn) {
  classes.of[1].delay = microseconds(5);
  classes.of[2].loss = 1;
  Begin();
  Send(1);
  Send(2);
  Send(0);
  EXPECT_EQ(Came(), "01");
  EXPECT_EQ(network->frames_lost(), 1u);
}

TEST_F(SimClassesTest, APausedClassWaitsAndTheOthersPass) {
  classes.max_wait = microseconds(1000);
  Begin();
  ports[2]->SetClassesPaused(1u << 3);
  Send(3);
  Send(4);
  Send(2);
  EXPECT_EQ(Came(), "42");
  EXPECT_TRUE(ports[2]->waits_for_class());
  EXPECT_EQ(Came(), "");
  ports[2]->SetClassesPaused(0);
  EXPECT_GT(network->next_arrival(), network->now());
  EXPECT_EQ(Came(), "3");
  EXPECT_FALSE(ports[2]->waits_for_class());
  EXPECT_EQ(network->next_arrival(), kNever);
}

TEST_F(SimClassesTest, WhatIsTooManyOrTooOldIsLost) {
  classes.max_held = 2;
  classes.max_wait = microseconds(50);
  Begin();
  ports[2]->SetClassesPaused(1);
  for (int i = 0; i < 3; ++i) Send(0);
  EXPECT_EQ(Came(microseconds(20)), "");
  EXPECT_EQ(network->frames_lost(), 1u);
  EXPECT_EQ(Came(microseconds(100)), "");
  ports[2]->SetClassesPaused(0);
  EXPECT_EQ(Came(), "");
  EXPECT_EQ(network->frames_lost(), 3u);
}

TEST_F(SimClassesTest, AskedPausesLastAndEndByThemselves) {
  classes.max_wait = {};
  Begin();
  ports[2]->SetClassesPaused(1);
  Send(0);
  EXPECT_EQ(Came(microseconds(5000)), "");
  // PFC frames do not come through any more, so the pause is not renewed.
  ports[2]->SetSilent(true, false);
  EXPECT_EQ(Came(microseconds(400)), "0");
}

TEST_F(SimClassesTest, ADeviceObeysTheSwitch) {
  network = std::make_unique<SimNetwork>(1);
  network->SetPorts(3);
  network->SetClasses(classes);
  fabric::SwitchParams& params = network->params();
  params.cell_bytes = 256;
  for (fabric::ClassParams& own : params.of_class) own.reserved_bytes = 2048;
  params.of_class[3].lossless = true;
  params.of_class[3].headroom_bytes = fabric::HeadroomBytes(10'000'000'000, 200, 1024);
  params.buffer_bytes = 4 * (8 * 2048 + params.of_class[3].headroom_bytes);
  for (int i = 0; i < 3; ++i) {
    ports[i] = network->AddPort(kMacs[i], 64, 32, {.bits_per_ns = 10});
  }
  for (int i = 0; i < 16; ++i) {
    Send(3, 0);
    Send(3, 1);
  }
  Send(4, 0);
  const std::string came = Came();
  EXPECT_EQ(came.size(), 33u);
  EXPECT_LT(came.find('4'), 20u);  // it did not wait for the paused class
  EXPECT_EQ(network->frames_lost(), 0u);
  EXPECT_GT(network->the_switch().port(0).counters().Get(SwitchPortCounter::kTxPfc), 0u);
  // A port that does not obey has its frames dropped, and is handed what it was told.
  for (SimPort* port : ports) port->SetObeysPfc(false);
  for (int i = 0; i < 30; ++i) {
    Send(3, 0);
    Send(3, 1);
  }
  EXPECT_LT(Came().size(), 60u);
  EXPECT_GT(network->frames_lost(), 0u);
  Frame* frame = nullptr;
  ASSERT_EQ(ports[0]->Receive(&frame, 1), 1u);
  EXPECT_TRUE(fabric::DecodePfc(frame->data, frame->length).has_value());
  ports[0]->Release(&frame, 1);
}

// ---- The switch.

TEST_F(SimTest, ADeviceDropsFramesToGroupsThatNobodyAskedFor) {
  const std::vector<uint8_t> frame = [] {
    std::vector<uint8_t> bytes(60);
    const uint8_t group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
    std::copy_n(group, 6, bytes.begin());
    return bytes;
  }();
  ports[1]->Arrive(frame);
  EXPECT_EQ(Received(ports[1]), 1u) << "no filter";
  ports[1]->SetGroups({});
  ports[1]->Arrive(frame);
  EXPECT_EQ(Received(ports[1]), 0u);
  Send(ports[0], ports[0], 1);
  Pass();
  EXPECT_EQ(Received(ports[1]), 1u) << "its own address";
  ports[1]->SetGroups({{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}});
  ports[1]->Arrive(frame);
  EXPECT_EQ(Received(ports[1]), 1u);
}

TEST_F(SimTest, AnAddressMovesAndOthersAreUnknown) {
  Send(ports[0], ports[0], 1);
  network.Learn(kMacs[1], ports[2]);
  Pass();
  EXPECT_EQ(Received(ports[1]), 0u);
  EXPECT_EQ(Received(ports[2]), 1u);
  const uint8_t nowhere[64] = {2, 9, 9, 9, 9, 9};
  network.Inject(nowhere);
  EXPECT_EQ(network.frames_lost(), 1u);
  uint8_t there[64] = {};
  std::memcpy(there, kMacs[1], 6);
  network.Inject(there);
  EXPECT_EQ(Received(ports[2]), 1u);
}

TEST(SimAfh2Test, TheSwitchForwardsByTheHeadersAddress) {
  constexpr uint8_t kMacs[2][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
  SimNetwork network(1);
  network.params().forwarding = fabric::Forwarding::kAfh2;
  network.AddPort(kMacs[0], 16, 16, {});
  SimPort* const to = network.AddPort(kMacs[1], 16, 16, {});
  // Hop count 64; destination 2.
  uint8_t bytes[60] = {2, 64, 0, 0, 0, 2};
  bytes[12] = 0x88;
  bytes[13] = 0xb5;
  network.Inject(bytes);
  Frame* frame = nullptr;
  ASSERT_EQ(to->Receive(&frame, 1), 1u);
  EXPECT_EQ(frame->data[1], 63);
  to->Release(&frame, 1);
}

TEST(SimDigestTest, ASeedIsARun) {
  const auto digest_of = [](uint64_t seed) {
    constexpr uint8_t kMacs[2][6] = {{2, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 1}};
    SimNetwork network(seed);
    network.TakeDigest();
    SimPort* const from = network.AddPort(
        kMacs[0], 64, 64, {.loss = 0.1, .reorder = 0.1, .duplicate = 0.1, .corrupt = 0.1});
    network.AddPort(kMacs[1], 64, 64, {});
    for (int i = 0; i < 100; ++i) {
      Frame* frame = nullptr;
      EXPECT_EQ(from->Allocate(&frame, 1), 1u);
      frame->data = frame->buffer + Frame::kCommandOffset;
      frame->length = 200;
      std::memset(frame->data, i, frame->length);
      std::memcpy(frame->data, kMacs[1], 6);
      from->Transmit(&frame, 1);
      from->Release(&frame, 1);
      network.AdvanceTo(network.now() + microseconds(1));
    }
    return network.digest();
  };
  EXPECT_EQ(digest_of(1), digest_of(1));
  EXPECT_NE(digest_of(1), digest_of(2));
  EXPECT_NE(digest_of(1), 0u);
}

// ---- The frames of the pool that a device keeps.

TEST(SimPortTest, TheReceiveRingTakesFramesOfThePool) {
  constexpr uint8_t kMacs[2][6] = {{2, 0, 0, 0, 0, 0}, {2, 0, 0, 0, 0, 1}};
  SimNetwork network(1);
  SimPort* from = network.AddPort(kMacs[0], 16, 16, {});
  SimPort* to = network.AddPort(kMacs[1], 10, 4, {}, 4);
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) {
      Frame* frame = nullptr;
      ASSERT_EQ(from->Allocate(&frame, 1), 1u);
      frame->data = frame->buffer + Frame::kCommandOffset;
      frame->length = 60;
      std::memcpy(frame->data, kMacs[1], 6);
      from->Transmit(&frame, 1);
      from->Release(&frame, 1);
    }
    network.AdvanceTo(network.now() + microseconds(10));
    from->Transmit(nullptr, 0);
  };
  // Four wait in the ring, and no more.
  send(6);
  EXPECT_EQ(network.frames_lost(), 2u);
  Frame* frames[16];
  EXPECT_EQ(to->Receive(frames, 16), 4u);
  EXPECT_EQ(to->frames_out(), 4u);
  // The ring has again four of the six others.
  EXPECT_EQ(to->Allocate(frames + 4, 12), 2u);
  // The four are there for arriving frames, but nothing takes their place then.
  send(3);
  EXPECT_EQ(to->Receive(frames + 6, 10), 3u);
  send(2);
  EXPECT_EQ(to->Receive(frames + 9, 7), 1u);
  EXPECT_EQ(network.frames_lost(), 3u);
  to->Release(frames, 10);
  EXPECT_EQ(to->frames_out(), 0u);
  EXPECT_EQ(to->Receive(frames, 16), 0u);
  EXPECT_EQ(to->Allocate(frames, 16), 6u);
}

// ---- Networks that are no switch of the simulator's own.

TEST(EarliestTest, ItIsTheFirstOfAllAndOfEqualOnesTheLowest) {
  Earliest times(5);
  EXPECT_EQ(times.time(), kNever);
  const int64_t values[] = {30, 20, 50, 20, 40};
  for (uint32_t i = 0; i < 5; ++i) times.Set(i, TimeFromNs(values[i]));
  EXPECT_EQ(times.time(), TimeFromNs(20));
  EXPECT_EQ(times.index(), 1u);
  times.Set(1, TimeFromNs(60));
  EXPECT_EQ(times.index(), 3u);
  times.Lower(3, TimeFromNs(70));
  EXPECT_EQ(times[3], TimeFromNs(20));
  times.Lower(4, TimeFromNs(10));
  EXPECT_EQ(times.index(), 4u);
  for (uint32_t i = 0; i < 5; ++i) times.Set(i, kNever);
  EXPECT_EQ(times.time(), kNever);
}

// A frame of 100 bytes takes 9.92 ns at 100 Gb/s, and the cable 3 us.
TEST(CableTest, FramesOfEitherEndArriveAtTheOtherAfterTheDelay) {
  SimNetwork network{1};
  network.SetCable(microseconds(3));
  SimPort* ports[2];
  std::vector<Time> arrivals;
  for (SimPort*& port : ports) {
    port = network.AddPort(8, 4, {});
    port->SetObeysPfc(false);
    port->SetWaker([&arrivals](Time at) { arrivals.push_back(at); });
  }
  for (int from = 0; from < 2; ++from) {
    Frame* frame = nullptr;
    ASSERT_EQ(ports[from]->Allocate(&frame, 1), 1u);
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = 100;
    std::memset(frame->data, 1, 100);
    ports[from]->Transmit(&frame, 1);
    ports[from]->Release(&frame, 1);
  }
  EXPECT_EQ(network.next_event(), TimeFromNs(9));
  network.AdvanceTo(TimeFromNs(3008));
  EXPECT_TRUE(arrivals.empty());
  network.AdvanceTo(TimeFromNs(3009));
  EXPECT_EQ(arrivals, std::vector<Time>(2, TimeFromNs(3009)));
  EXPECT_EQ(network.next_event(), kNever);
  for (SimPort* port : ports) {
    EXPECT_EQ(port->bytes().received, 100u);
    Frame* frame = nullptr;
    EXPECT_EQ(port->Receive(&frame, 1), 1u);
    port->Release(&frame, 1);
  }
}

TEST(GivenSwitchTest, ItHasAsManyPortsAsItsParametersAndSettingsChangeAtAnyTime) {
  fabric::SwitchParams params{.learns = false, .floods = false, .buffer_bytes = 64u << 20};
  params.ports.resize(300);
  SimNetwork network{1};
  network.SetSwitch(params);
  std::vector<SimPort*> ports;
  for (uint32_t i = 0; i < 300; ++i) ports.push_back(network.AddPort(4, 4, {}));
  network.Change(ports[299], [](fabric::Switch& the_switch, uint32_t port) {
    EXPECT_EQ(port, 299u);
    EXPECT_TRUE(
        the_switch.table().AddStatic(fabric::ForwardingTable::MacKey(0x020000000007, 0), 299));
    the_switch.port(200).in().Set({.delay = microseconds(2)});
  });
  const auto send = [&] {
    Frame* frame = nullptr;
    ASSERT_EQ(ports[200]->Allocate(&frame, 1), 1u);
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = 100;
    std::memset(frame->data, 0, 100);
    frame->data[0] = 2;
    frame->data[5] = 7;
    ports[200]->Transmit(&frame, 1);
    ports[200]->Release(&frame, 1);
    network.AdvanceTo(network.now() + microseconds(5));
    ports[200]->Transmit(nullptr, 0);
  };
  send();
  EXPECT_EQ(ports[299]->bytes().received, 100u);
  network.Change(ports[299],
                 [](fabric::Switch& the_switch, uint32_t port) { the_switch.SetDown(port, true); });
  send();
  EXPECT_EQ(ports[299]->bytes().received, 100u);
  EXPECT_EQ(network.the_switch().port(299).counters(0).Get(SwitchClassCounter::kDownDrop), 1u);
}

}  // namespace
}  // namespace suede
