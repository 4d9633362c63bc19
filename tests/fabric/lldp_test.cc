// SPDX-License-Identifier: Apache-2.0
// LLDP frames between ports and the control thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fabric/lldp_tap.h"
#include "fabric_fixture.h"

namespace suede::fabric {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes LldpFrame(size_t bytes = 60, uint8_t group = 0x0e, uint16_t type = kTypeLldp) {
  Bytes frame{0x01, 0x80, 0xc2, 0, 0, group, 2, 0, 0, 0, 0, 7};
  frame.push_back(static_cast<uint8_t>(type >> 8));
  frame.push_back(static_cast<uint8_t>(type));
  frame.resize(bytes, 0x55);
  return frame;
}

class LldpTest : public testing::TestWithParam<Forwarding> {
 protected:
  LldpTest() : fabric_(ParamsOf(2, GetParam())) { fabric_.the_switch.port(0).SetLldp(&tap_); }
  uint64_t Count(SwitchPortCounter counter) { return fabric_.Count(0, counter); }

  LldpTap tap_;
  Fabric fabric_;
};

TEST_P(LldpTest, FramesAreCopiedAndNotForwarded) {
  fabric_.In(0, LldpFrame(), At(1));
  const std::span<const uint8_t> front = tap_.Front();
  EXPECT_EQ(Bytes(front.begin(), front.end()), LldpFrame());
  tap_.Pop();
  EXPECT_TRUE(tap_.Front().empty());
  EXPECT_EQ(tap_.dropped(), 0u);
  EXPECT_EQ(Count(SwitchPortCounter::kRxLinkLocal), 0u);
  EXPECT_TRUE(fabric_.Out(1, At(1)).empty());
}

TEST_P(LldpTest, OtherLinkLocalFramesAreDropped) {
  fabric_.In(0, LldpFrame(60, 0x03), At(1));
  fabric_.In(0, LldpFrame(60, 0x0e, 0x88cd), At(1));
  EXPECT_EQ(Count(SwitchPortCounter::kRxLinkLocal), 2u);
  EXPECT_TRUE(tap_.Front().empty());
}

TEST_P(LldpTest, WithoutLldpTheyAreDropped) {
  fabric_.In(1, LldpFrame(), At(1));
  EXPECT_EQ(fabric_.Count(1, SwitchPortCounter::kRxLinkLocal), 1u);
  EXPECT_TRUE(tap_.Front().empty());
}

TEST_P(LldpTest, FloodIsBounded) {
  for (int i = 0; i < 5000; ++i) fabric_.In(0, LldpFrame(), At(1));
  EXPECT_EQ(tap_.dropped(), 5000 - LldpTap::kWaiting);
  uint32_t waiting = 0;
  for (; !tap_.Front().empty(); ++waiting) tap_.Pop();
  EXPECT_EQ(waiting, LldpTap::kWaiting);
  // A second later the rate permits frames again.
  const Time later = At(1) + std::chrono::seconds(1);
  for (int i = 0; i < 10; ++i) fabric_.In(0, LldpFrame(), later);
  for (waiting = 0; !tap_.Front().empty(); ++waiting) tap_.Pop();
  EXPECT_EQ(waiting, 10u);
}

TEST_P(LldpTest, TooLongFramesAreDropped) {
  fabric_.In(0, LldpFrame(LldpTap::kFrameBytes + 1), At(1));
  EXPECT_EQ(tap_.dropped(), 1u);
  EXPECT_TRUE(tap_.Front().empty());
}

TEST_P(LldpTest, OwnFramesLeaveByTheirPort) {
  EXPECT_TRUE(fabric_.the_switch.SendOwn(1, LldpFrame(100), At(1)));
  EXPECT_EQ(fabric_.the_switch.touched().size(), 1u);
  EXPECT_TRUE(fabric_.Out(0, At(1)).empty());
  const auto out = fabric_.Out(1, At(1));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0], LldpFrame(100));
  fabric_.the_switch.CheckInvariants();
}

TEST_P(LldpTest, NothingLeavesByAPortThatIsDown) {
  fabric_.the_switch.SetDown(1, true);
  EXPECT_FALSE(fabric_.the_switch.SendOwn(1, LldpFrame(), At(1)));
  fabric_.the_switch.SetDown(1, false);
  EXPECT_TRUE(fabric_.Out(1, At(1)).empty());
}

INSTANTIATE_TEST_SUITE_P(Forwardings, LldpTest,
                         testing::Values(Forwarding::kMac, Forwarding::kAfh1, Forwarding::kAfh2,
                                         Forwarding::kIp));

}  // namespace
}  // namespace suede::fabric
