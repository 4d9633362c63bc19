// The simulated network itself: frames on ports that are not their own, and the ways of dying.
#include "sim/sim.h"

#include <gtest/gtest.h>

#include <cstring>

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
  EXPECT_EQ(ports[0]->most_frames_out(), 1u);
  EXPECT_EQ(ports[1]->octets_sent(), 100u);
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
  ports[0]->faults().longest = 200;
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

}  // namespace
}  // namespace suede
