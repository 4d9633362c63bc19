// SPDX-License-Identifier: Apache-2.0
// Frames from one lcore of a port to another, without pipelines.
#include "link/handover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fake_port.h"
#include "link/link.h"

namespace suede {
namespace {

// An lcore with two neighbours.
class HandoverRingTest : public ::testing::Test {
 protected:
  HandoverRingTest() {
    for (auto& ring : from) ring = std::make_unique<HandoverRing>();
    for (auto& ring : to) ring = std::make_unique<HandoverRing>();
  }
  void Share() {
    EXPECT_FALSE(handover().is_shared());
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(handover().Add({.from = from[i].get(),
                                .to = to[i].get(),
                                .addresses = {},
                                .packets = i == 1 ? &lane : nullptr}),
                i);
    }
  }
  Handover& handover() { return link.handover(); }
  std::vector<Frame*> Arrive(HandoverRing& ring, uint32_t count) {
    std::vector<Frame*> frames;
    for (uint32_t i = 0; i < count; ++i) {
      frames.push_back(port.MakeFrame());
      EXPECT_TRUE(ring.Push(frames.back()));
    }
    ring.Publish();
    return frames;
  }
  std::vector<Frame*> Receive() {
    Frame* frames[2 * kBurst];
    const uint32_t count = link.Receive(frames, TimeFromNs(1));
    return {frames, frames + count};
  }

  FakePort port;
  PacketLane lane{FrameRules{}, 1518, 64};
  std::unique_ptr<HandoverRing> from[2];
  std::unique_ptr<HandoverRing> to[2];
  Link link{&port};
};

TEST_F(HandoverRingTest, AnothersFramesComeBehindTheDevicesOwn) {
  Share();
  const std::vector<Frame*> other = Arrive(*from[0], 3);
  Frame* own = port.MakeFrame();
  port.arrived.push_back(own);
  const std::vector<Frame*> all = Receive();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0], own);
  EXPECT_TRUE(std::equal(other.begin(), other.end(), all.begin() + 1));
  // The lcore that received them has counted them.
  EXPECT_EQ(handover().frames(), 3u);
  EXPECT_EQ(handover().bytes(), 3 * 60u);
  EXPECT_TRUE(Receive().empty());
  EXPECT_EQ(handover().frames(), 0u);
  EXPECT_EQ(handover().bytes(), 0u);
}

TEST_F(HandoverRingTest, NeighboursTakeTurnsAtBeingFirst) {
  Share();
  const std::vector<Frame*> first = Arrive(*from[0], 2 * kBurst);
  const std::vector<Frame*> second = Arrive(*from[1], 2 * kBurst);
  EXPECT_EQ(Receive(), std::vector<Frame*>(first.begin(), first.begin() + kBurst));
  EXPECT_EQ(Receive(), std::vector<Frame*>(second.begin(), second.begin() + kBurst));
  EXPECT_EQ(Receive(), std::vector<Frame*>(first.begin() + kBurst, first.end()));
}

TEST_F(HandoverRingTest, WhatIsPushedIsSeenFromPublishOnAndAFullRingRefuses) {
  Share();
  Frame* frame = port.MakeFrame();
  Frame* seen = nullptr;
  ASSERT_TRUE(handover().Push(1, frame));
  EXPECT_EQ(to[1]->Pop(&seen, 1), 0u);
  handover().Publish();
  EXPECT_EQ(to[0]->Pop(&seen, 1), 0u);
  ASSERT_EQ(to[1]->Pop(&seen, 1), 1u);
  EXPECT_EQ(seen, frame);
  for (uint32_t i = 0; i < kHandoverFrames; ++i) EXPECT_TRUE(handover().Push(0, frame));
  EXPECT_FALSE(handover().Push(0, frame));
  EXPECT_TRUE(handover().Push(1, frame));
}

TEST_F(HandoverRingTest, ManagementPacketsGoToTheLcoreThatServesThem) {
  EXPECT_FALSE(handover().LaneReceivesElsewhere());
  Share();
  EXPECT_FALSE(handover().LaneReceivesElsewhere());
  lane.SetReceiving(true);
  EXPECT_TRUE(handover().LaneReceivesElsewhere());
  Frame* frame = port.MakeFrame();
  ASSERT_TRUE(handover().PushPacket(frame));
  handover().Publish();
  Frame* seen = nullptr;
  ASSERT_EQ(to[1]->Pop(&seen, 1), 1u);
  EXPECT_EQ(seen, frame);
}

}  // namespace
}  // namespace suede
