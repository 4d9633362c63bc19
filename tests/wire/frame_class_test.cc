// SPDX-License-Identifier: Apache-2.0
// Link VCs of frames (docs/link.md, "Link VCs").
#include "wire/frame_class.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/frame_builder.h"
#include "wire/rh.h"

namespace suede {
namespace {

FrameClassRule RuleFor(Encap encap) {
  return {.afh2 = encap == Encap::kAfh2 || encap == Encap::kAfh2c};
}

std::vector<uint8_t> FrameOf(Encap encap, const ReliabilityHeader& rh, uint32_t bytes,
                             const TrafficClass& traffic_class, bool tagged) {
  const HeaderSpec spec{.source_mac = {2, 0, 0, 0, 0, 1},
                        .destination_mac = {2, 0, 0, 0, 0, 2},
                        .tagged = tagged,
                        .source = {.low = 0x0a000001},
                        .destination = {.low = 0x0a000002},
                        .traffic_class = traffic_class};
  const HeaderTemplate header = MakeTemplate(encap, spec);
  std::vector<uint8_t> commands(bytes);
  if (bytes != 0) commands[0] = 1;
  std::vector<uint8_t> buffer(FrameBufferBytes(bytes) + 64);
  const auto frame = BuildFrame(header, rh, commands, buffer);
  return {frame.begin(), frame.end()};
}

class LinkVcTest : public ::testing::TestWithParam<size_t> {
 protected:
  Encap encap() const { return static_cast<Encap>(GetParam()); }
  uint8_t LinkVc(const ReliabilityHeader& rh, uint32_t bytes, const TrafficClass& of = {},
                 bool tagged = false) const {
    const std::vector<uint8_t> frame = FrameOf(encap(), rh, bytes, of, tagged);
    return LinkVcOf(RuleFor(encap()), frame.data(), static_cast<uint32_t>(frame.size()));
  }
};

TEST_P(LinkVcTest, OfClass0ItIsTheVc) {
  for (uint8_t vc = 0; vc < 4; ++vc) {
    for (const uint32_t bytes : {2u, 64u, 1000u}) {
      EXPECT_EQ(LinkVc({.xpuid = 1, .vc = vc}, bytes), vc) << bytes;
      EXPECT_EQ(LinkVc({.ver = 1, .xpuid = 1, .vc = vc}, bytes), vc) << "sealed";
    }
    EXPECT_EQ(LinkVc({.xpuid = 1, .vc = vc}, 0), kAckLinkVc);
    EXPECT_EQ(LinkVc({.ver = 3, .xpuid = 1, .vc = vc}, 64), kAckLinkVc);
    EXPECT_EQ(LinkVc({.ver = 2, .xpuid = 1, .vc = vc}, 64), kAckLinkVc);
  }
}

TEST_P(LinkVcTest, OfAnyOtherClassItIsTheClass) {
  if (TraitsOf(encap()).has_class) {
    EXPECT_EQ(LinkVc({.xpuid = 1, .vc = 2}, 64, {.dscp = 26}), 3);
    EXPECT_EQ(LinkVc({.xpuid = 1, .vc = 2}, 64, {.dscp = 7}), 2) << "class 0";
  }
  if (!TraitsOf(encap()).can_be_tagged) return;
  const uint8_t expected = TraitsOf(encap()).has_class ? 2 : 5;
  EXPECT_EQ(LinkVc({.xpuid = 1, .vc = 2}, 64, {.pcp = 5}, true), expected);
}

// Frames end anywhere, and are changed on their way.
TEST_P(LinkVcTest, NothingBehindAFrameIsRead) {
  std::vector<uint8_t> whole = FrameOf(encap(), {.xpuid = 1, .vc = 3}, 64, {}, false);
  for (uint32_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const std::vector<uint8_t> frame(whole.begin(), whole.begin() + bytes);
    EXPECT_LT(LinkVcOf(RuleFor(encap()), frame.data(), bytes), 8);
  }
}

INSTANTIATE_TEST_SUITE_P(Encapsulations, LinkVcTest, ::testing::Range(size_t{0}, kEncapCount),
                         [](const auto& param_info) {
                           return std::string(EncapName(static_cast<Encap>(param_info.param)));
                         });

}  // namespace
}  // namespace suede
