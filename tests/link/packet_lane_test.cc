// SPDX-License-Identifier: Apache-2.0
// Packets that the control thread's end of a lane takes and refuses, for every encapsulation.
#include "link/packet_lane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "wire/frame_builder.h"

namespace suede {
namespace {

using std::chrono::microseconds;

constexpr uint32_t kFrameBytes = 1518;

std::vector<uint8_t> Arp(uint32_t bytes = 60) {
  std::vector<uint8_t> frame(bytes, 0xff);
  frame[6] = 2;
  if (bytes >= 14) {
    frame[12] = 0x08;
    frame[13] = 0x06;
  }
  return frame;
}

std::vector<uint8_t> Sue(Encap encap, bool tagged) {
  std::vector<uint8_t> commands(24);
  commands[0] = 4;
  std::vector<uint8_t> buffer(FrameBufferBytes(24));
  const HeaderTemplate header =
      MakeTemplate(encap, {.tagged = tagged, .source = {.low = 1}, .destination = {.low = 2}});
  const std::span<uint8_t> frame = BuildFrame(header, {.xpuid = 1}, commands, buffer);
  return {frame.begin(), frame.end()};
}

class PacketLaneTest : public ::testing::TestWithParam<Encap> {
 protected:
  uint64_t Count(Counter counter) const { return lane.control_counters().Get(counter); }
  PacketLane lane{{.encap = GetParam()}, kFrameBytes, 64};
  const Time now = TimeFromNs(1'000'000'000);
};

TEST_P(PacketLaneTest, TakesWhatIsNotSue) {
  for (const uint32_t bytes : {42u, 60u, 200u, 600u, kFrameBytes}) {
    EXPECT_TRUE(lane.Send(Arp(bytes), now)) << bytes;
  }
  std::vector<uint8_t> tagged = Arp();
  tagged.insert(tagged.begin() + 12, {0x81, 0x00, 0x00, 0x07});
  EXPECT_TRUE(lane.Send(tagged, now));
  std::vector<uint8_t> lldp = Arp(14);
  lldp[12] = 0x88;
  lldp[13] = 0xcc;
  EXPECT_TRUE(lane.Send(lldp, now));
}

TEST_P(PacketLaneTest, RefusesPdusWholeAndBroken) {
  uint64_t refused = 0;
  for (const bool tagged : {false, true}) {
    if (tagged && (GetParam() == Encap::kAfh2 || GetParam() == Encap::kAfh2c)) continue;
    const std::vector<uint8_t> good = Sue(GetParam(), tagged);
    EXPECT_FALSE(lane.Send(good, now));
    EXPECT_EQ(Count(Counter::kMgmtTxSue), ++refused);
    std::vector<uint8_t> cut = good;
    cut.resize(good.size() - 4);
    EXPECT_FALSE(lane.Send(cut, now));
    EXPECT_EQ(Count(Counter::kMgmtTxSue), ++refused);
    std::vector<uint8_t> padded = good;
    padded.resize(1400);
    EXPECT_FALSE(lane.Send(padded, now));
    EXPECT_EQ(Count(Counter::kMgmtTxSue), ++refused);
  }
  EXPECT_FALSE(lane.HasPacket());
}

TEST_P(PacketLaneTest, RefusesWhatIsNoFrame) {
  EXPECT_FALSE(lane.Send({}, now));
  EXPECT_FALSE(lane.Send(Arp(13), now));
  std::vector<uint8_t> cut_tag = Arp(16);
  cut_tag[12] = 0x81;
  cut_tag[13] = 0x00;
  EXPECT_FALSE(lane.Send(cut_tag, now));
  EXPECT_EQ(Count(Counter::kMgmtTxMalformed), 3u);
  EXPECT_FALSE(lane.Send(Arp(kFrameBytes + 1), now));
  EXPECT_EQ(Count(Counter::kMgmtTxTooLong), 1u);
}

TEST_P(PacketLaneTest, RateThenRing) {
  PacketLane wide({.encap = GetParam()}, kFrameBytes, 300);
  for (uint32_t i = 0; i < 310; ++i) EXPECT_EQ(wide.Send(Arp(), now), i < kLanePackets);
  EXPECT_EQ(wide.control_counters().Get(Counter::kMgmtTxRingFull), 300 - kLanePackets);
  EXPECT_EQ(wide.control_counters().Get(Counter::kMgmtTxRate), 10u);
  for (uint32_t i = 0; i < 65; ++i) EXPECT_EQ(lane.Send(Arp(), now), i < 64);
  EXPECT_EQ(Count(Counter::kMgmtTxRate), 1u);
  EXPECT_TRUE(lane.Send(Arp(), now + microseconds(100)));
}

// The way up: the control thread gets copies, in order.
TEST(PacketLane, ReceivedFramesComeUpInOrderAndWithinBounds) {
  PacketLane lane({}, kFrameBytes, 300);
  CounterBlock counters;
  Time now = TimeFromNs(1'000'000'000);
  std::vector<uint8_t> bytes = Arp();
  Frame frame;
  frame.data = bytes.data();
  frame.length = static_cast<uint32_t>(bytes.size());
  EXPECT_TRUE(lane.Received().empty());
  for (uint32_t i = 0; i < 310; ++i) {
    bytes[20] = static_cast<uint8_t>(i);
    lane.OfferUp(frame, now, counters);
  }
  EXPECT_EQ(counters.Get(Counter::kMgmtRxPackets), kLanePackets);
  EXPECT_EQ(counters.Get(Counter::kMgmtRxRingFull), 300 - kLanePackets);
  EXPECT_EQ(counters.Get(Counter::kMgmtRxRate), 10u);
  for (uint32_t i = 0; i < kLanePackets; ++i) {
    bytes[20] = static_cast<uint8_t>(i);
    const std::span<const uint8_t> got = lane.Received();
    ASSERT_TRUE(std::ranges::equal(got, bytes)) << i;
    lane.PopReceived();
  }
  EXPECT_TRUE(lane.Received().empty());
  lane.OfferUp(frame, now + microseconds(99), counters);
  EXPECT_TRUE(lane.Received().empty()) << "10,000 a second";
  lane.OfferUp(frame, now + microseconds(100), counters);
  EXPECT_FALSE(lane.Received().empty());
}

INSTANTIATE_TEST_SUITE_P(Encapsulations, PacketLaneTest,
                         ::testing::Values(Encap::kUdp4, Encap::kUdp6, Encap::kAfh1, Encap::kAfh1s,
                                           Encap::kAfh2, Encap::kAfh2c),
                         [](const auto& test) { return std::string(EncapName(test.param)); });

}  // namespace
}  // namespace suede
