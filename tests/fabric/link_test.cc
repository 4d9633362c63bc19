// SPDX-License-Identifier: Apache-2.0
// The switch's end of a link: it repeats what the cable loses, and what it keeps is no frame of its
// buffer.
#include <gtest/gtest.h>

#include <vector>

#include "fabric/link_port.h"
#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

using Bytes = std::vector<uint8_t>;

LinkParams RetryParamsOf(uint64_t boot) {
  LinkParams link;
  link.retry.on = true;
  link.retry.window_frames = 4;
  link.secret = {boot, 7};
  return link;
}

SwitchParams LinkedSwitch() {
  SwitchParams params = ParamsOf(2);
  params.learns = false;
  params.ports[1].link = RetryParamsOf(1);
  return params;
}

// What is at the far end of port 1.
struct Neighbour {
  LinkEnd end{RetryParamsOf(2)};
  uint8_t memory[2048] = {};

  // The frame as it is handed up; empty: it was the link's.
  Bytes Hear(const Bytes& bytes, Time now) {
    Frame frame;
    frame.buffer = memory;
    frame.data = memory + 64;
    frame.length = static_cast<uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), frame.data);
    if (end.OnFrame(frame, now) != LinkEnd::Fate::kUp) return {};
    return {frame.data, frame.data + frame.length};
  }
  std::vector<Bytes> Says(Time now) {
    std::vector<Bytes> said;
    end.Poll(now);
    while (end.HasNext(now)) {
      Bytes bytes(kMostLinkFrameBytes);
      bytes.resize(end.Next(bytes.data(), now));
      said.push_back(bytes);
    }
    return said;
  }
};

class LinkedFabric : public ::testing::Test {
 protected:
  LinkedFabric() { fabric.the_switch.AddAddress(Switch::MacKey(MacNumber(2), 0), 1); }
  // Everything that leaves port 1 arrives; what the neighbour says comes back.
  std::vector<Bytes> Carry() {
    std::vector<Bytes> up;
    for (const Bytes& bytes : fabric.Out(1, now)) {
      if (Bytes whole = neighbour.Hear(bytes, now); !whole.empty()) up.push_back(whole);
    }
    for (const Bytes& bytes : neighbour.Says(now)) fabric.In(1, bytes, now);
    return up;
  }
  void Agree() {
    for (int i = 0; i < 8; ++i, now += std::chrono::microseconds(200)) Carry();
    ASSERT_TRUE(fabric.the_switch.link(1)->numbers());
  }
  void Send(uint32_t bytes = 100) {
    fabric.In(0, SueFrame{.from = 1, .to = 2, .bytes = bytes}, now);
  }
  uint64_t Count(LinkCounter counter) { return fabric.the_switch.link(1)->counters().Get(counter); }

  Fabric fabric{LinkedSwitch()};
  Neighbour neighbour;
  Time now = At(1000);
};

TEST_F(LinkedFabric, HellosAreNotForwardedAndFramesComeAsTheyWere) {
  Agree();
  EXPECT_TRUE(fabric.Out(0, now).empty());
  Send();
  const std::vector<Bytes> up = Carry();
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0], BytesOf(SueFrame{.from = 1, .to = 2, .bytes = 100}));
  now += std::chrono::microseconds(10);
  Carry();
  EXPECT_EQ(fabric.the_switch.frames_inside(), 0u);
  EXPECT_EQ(fabric.the_switch.buffer().used(), 0u);
}

TEST_F(LinkedFabric, ALostFrameIsSentAgain) {
  Agree();
  Send();
  Send(200);
  std::vector<Bytes> left = fabric.Out(1, now);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(fabric.the_switch.frames_inside(), 2u);
  EXPECT_TRUE(neighbour.Hear(left[1], now).empty());
  EXPECT_TRUE(Carry().empty()) << "the NACK goes";
  EXPECT_EQ(Carry().size(), 2u);
  EXPECT_EQ(Count(LinkCounter::kLlrReplays), 1u);
}

TEST_F(LinkedFabric, AFullWindowLeavesFramesInTheirQueue) {
  Agree();
  for (int i = 0; i < 9; ++i) Send();
  EXPECT_EQ(fabric.Out(1, now).size(), 4u);
  EXPECT_EQ(fabric.the_switch.frames_inside(), 9u);
  EXPECT_GT(fabric.the_switch.deadline(1, now), now) << "it waits for the neighbour";
  now += std::chrono::microseconds(50);
  uint32_t up = 0;
  for (int i = 0; i < 6; ++i, now += std::chrono::microseconds(5)) {
    up += static_cast<uint32_t>(Carry().size());
  }
  EXPECT_EQ(up, 9u);
}

TEST_F(LinkedFabric, APortThatIsSetDownKeepsNothingThatWaits) {
  Agree();
  for (int i = 0; i < 9; ++i) Send();
  fabric.Out(1, now);
  fabric.the_switch.SetDown(1, true);
  EXPECT_EQ(fabric.the_switch.frames_inside(), 4u + fabric.the_switch.ended().size());
  EXPECT_TRUE(fabric.Out(1, now).empty());
}

TEST_F(LinkedFabric, ANeighbourWithoutItIsServedAsEver) {
  Send();
  const std::vector<Bytes> left = fabric.Out(1, now);
  ASSERT_EQ(left.size(), 2u) << "a HELLO, and the frame";
  EXPECT_EQ(left[1], BytesOf(SueFrame{.from = 1, .to = 2, .bytes = 100}));
}

}  // namespace
}  // namespace suede::fabric
