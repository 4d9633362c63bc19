// SPDX-License-Identifier: Apache-2.0
// Frames of the link itself: HELLO (docs/link.md) and PFC (docs/pfc.md), octet by octet.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "wire/link_frame.h"
#include "wire/pfc.h"

namespace suede {
namespace {

constexpr uint16_t kType = 0x88b5;
constexpr std::array<uint8_t, 6> kSource{2, 0, 0, 0, 0, 1};

LinkHelloBody SomeHello() {
  LinkHelloBody hello{.nonce = 0x0102030405060708, .echo = 0x1112131415161718, .hears = true};
  hello.offer = {.llr = true,
                 .cbfc = true,
                 .window_frames = 0x2122,
                 .window_octets = 0x31323334,
                 .credit_octets = 128,
                 .credit_overhead = -4};
  for (uint32_t vc = 0; vc < kLinkVcs; ++vc) hello.offer.credits[vc] = 1000 + vc;
  return hello;
}

std::vector<uint8_t> Encoded(const LinkHelloBody& hello) {
  std::vector<uint8_t> frame(LinkHelloBody::kBytes);
  EncodeLinkHello(kType, kSource, hello, frame.data());
  return frame;
}

TEST(LinkHelloFrames, AreReadAsTheyWereWritten) {
  const LinkHelloBody hello = SomeHello();
  const std::vector<uint8_t> frame = Encoded(hello);
  EXPECT_TRUE(IsToNeighbour(frame.data()));
  EXPECT_TRUE(HasLinkType(frame.data(), LinkHelloBody::kBytes, kType));
  EXPECT_EQ(LoadLinkWord(frame.data()).kind, LinkKind::kHello);
  EXPECT_EQ(DecodeLinkHello(frame.data(), LinkHelloBody::kBytes), hello);
  EXPECT_EQ(frame[24], 1);     // nonce
  EXPECT_EQ(frame[32], 0x11);  // echo
  for (bool LinkHelloBody::*flag : {&LinkHelloBody::hears}) {
    LinkHelloBody without = hello;
    without.*flag = false;
    EXPECT_EQ(DecodeLinkHello(Encoded(without).data(), LinkHelloBody::kBytes), without);
  }
  for (bool LinkOffer::*flag : {&LinkOffer::llr, &LinkOffer::cbfc}) {
    LinkHelloBody without = hello;
    without.offer.*flag = false;
    EXPECT_EQ(DecodeLinkHello(Encoded(without).data(), LinkHelloBody::kBytes), without);
  }
}

TEST(LinkHelloFrames, WithoutANonceOrTooShortAreMalformed) {
  LinkHelloBody hello = SomeHello();
  EXPECT_FALSE(DecodeLinkHello(Encoded(hello).data(), LinkHelloBody::kBytes - 1).has_value());
  hello.nonce = 0;
  EXPECT_FALSE(DecodeLinkHello(Encoded(hello).data(), LinkHelloBody::kBytes).has_value());
}

TEST(PfcFrames, AreReadFromTheirFieldsOn) {
  PfcFrame pfc{.classes = 0x81};
  for (uint32_t c = 0; c < kPfcClasses; ++c) pfc.quanta[c] = static_cast<uint16_t>(0x100 * c + 7);
  std::array<uint8_t, PfcFrame::kBytes> frame{};
  frame.fill(0xff);
  EncodePfc(pfc, kSource, frame.data());
  EXPECT_EQ(DecodePfc(frame.data(), PfcFrame::kBytes), pfc);
  EXPECT_TRUE(std::all_of(frame.begin() + 34, frame.end(), [](uint8_t byte) { return byte == 0; }));
  // Without padding, and one byte less.
  EXPECT_EQ(DecodePfc(frame.data(), 34), pfc);
  EXPECT_FALSE(DecodePfc(frame.data(), 33).has_value());
  EXPECT_TRUE(ClaimsPfc(frame.data(), 16));
  EXPECT_FALSE(ClaimsPfc(frame.data(), 15));
  frame[5] = 2;  // for somebody else
  EXPECT_FALSE(DecodePfc(frame.data(), PfcFrame::kBytes).has_value());
  EXPECT_TRUE(ClaimsPfc(frame.data(), PfcFrame::kBytes));
}

TEST(PfcFrames, APauseIsAskedForAgainAtHalfOfItsTime) {
  constexpr uint64_t kRate = 100'000'000'000;
  PauseSender sender(1000, kRate);  // 5.12 us
  EXPECT_EQ(PauseOf(1000, kRate), Duration(5120));
  EXPECT_EQ(PauseOf(1000, 0), Duration(5120)) << "100 Gb/s where the rate is not known";
  const Time start = TimeFromNs(1'000'000);
  EXPECT_FALSE(sender.Poll(0, start).has_value());
  EXPECT_EQ(sender.deadline(), kNever);
  ASSERT_TRUE(sender.Poll(0b10, start).has_value());
  EXPECT_EQ(sender.deadline(), start + Duration(2560));
  EXPECT_FALSE(sender.Poll(0b10, start + Duration(2559)).has_value());
  const std::optional<PfcFrame> again = sender.Poll(0b10, start + Duration(2560));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->classes, 0b10);
  EXPECT_EQ(again->quanta[1], 1000);
  EXPECT_EQ(sender.pauses(), 1u);
  const std::optional<PfcFrame> end = sender.Poll(0, start + Duration(3000));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->classes, 0b10);
  EXPECT_EQ(end->quanta[1], 0);
  EXPECT_EQ(sender.deadline(), kNever);
}

}  // namespace
}  // namespace suede
