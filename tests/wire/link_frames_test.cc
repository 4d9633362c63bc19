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

TEST(LinkFrames, BeginWithAddressesAndWord) {
  const LinkWord word{
      .kind = LinkKind::kNack, .tag = 0xf123, .sequence = 0x4567, .acknowledged = 0x89ab};
  std::vector<uint8_t> frame(kMinLinkFrameBytes + 1, 0xee);
  BeginLinkFrame(kType, kSource, word, frame.data());
  std::vector<uint8_t> expected{0x01, 0x80, 0xc2, 0,    0,    0x0e, 2,    0,    0,    0,
                                0,    1,    0x88, 0xb5, 0x41, 0x23, 0x45, 0x67, 0x89, 0xab};
  expected.resize(kMinLinkFrameBytes);
  expected.push_back(0xee);
  EXPECT_EQ(frame, expected) << "a tag has 12 bits";
  const LinkWord read = LoadLinkWord(frame.data());
  EXPECT_EQ(read.kind, LinkKind::kNack);
  EXPECT_EQ(read.tag, 0x123);
  EXPECT_EQ(read.sequence, 0x4567);
  EXPECT_EQ(read.acknowledged, 0x89ab);
  EXPECT_TRUE(IsToNeighbour(frame.data()));
  frame[5] = 1;
  EXPECT_FALSE(IsToNeighbour(frame.data()));
  EXPECT_TRUE(HasLinkType(frame.data(), 14, kType));
  EXPECT_FALSE(HasLinkType(frame.data(), 13, kType));
  EXPECT_FALSE(HasLinkType(frame.data(), 14, kType + 1));
}

// The shim stands behind the addresses, and takes its place from in front of the frame.
TEST(LinkFrames, AShimComesAndGoes) {
  std::vector<uint8_t> buffer(40);
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<uint8_t>(i);
  const std::vector<uint8_t> before = buffer;
  uint8_t* const whole = buffer.data() + kLinkShimBytes;
  uint8_t* const with_shim = InsertShim(whole);
  ASSERT_EQ(with_shim, buffer.data());
  EXPECT_TRUE(std::equal(with_shim, with_shim + 12, &before[kLinkShimBytes]));
  EXPECT_TRUE(std::equal(with_shim + kLinkBodyAt, &buffer[0] + buffer.size(), &before[20]));
  std::fill_n(with_shim + kLinkTypeAt, kLinkShimBytes, uint8_t{0xee});
  ASSERT_EQ(RemoveShim(with_shim), whole);
  EXPECT_TRUE(std::equal(whole, whole + 32, &before[kLinkShimBytes]));
}

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
  std::vector<uint8_t> frame(kMaxLinkFrameBytes, 0xee);
  frame.resize(EncodeLinkHello(kType, kSource, hello, frame.data()));
  return frame;
}

TEST(LinkHelloFrames, AreReadAsTheyWereWritten) {
  const LinkHelloBody hello = SomeHello();
  const std::vector<uint8_t> frame = Encoded(hello);
  EXPECT_EQ(frame.size(), 180u);
  EXPECT_TRUE(IsToNeighbour(frame.data()));
  EXPECT_TRUE(HasLinkType(frame.data(), LinkHelloBody::kBytes, kType));
  EXPECT_EQ(LoadLinkWord(frame.data()).kind, LinkKind::kHello);
  EXPECT_EQ(DecodeLinkHello(frame.data(), LinkHelloBody::kBytes), hello);
  const std::vector<uint8_t> body{
      1,    0x83, 0,    0,                             // version, flags
      1,    2,    3,    4,    5,    6,    7,    8,     // nonce
      0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,  // echo
      0x21, 0x22, 0,    0,    0x31, 0x32, 0x33, 0x34,  // window: frames, octets
      0,    0x80, 0xff, 0xfc, 0,    0,    3,    0xe8,  // credit: octets, overhead, of VC 0
      0,    0,    3,    0xe9};
  EXPECT_TRUE(std::equal(body.begin(), body.end(), &frame[kLinkBodyAt]));
  EXPECT_EQ(frame[179], (1000 + 31) % 256);
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

TEST(LinkHelloFrames, EachFlagHasABit) {
  for (const int flags : {0x00, 0x01, 0x02, 0x80}) {
    LinkHelloBody hello = SomeHello();
    hello.offer.llr = flags == 0x01;
    hello.offer.cbfc = flags == 0x02;
    hello.hears = flags == 0x80;
    EXPECT_EQ(Encoded(hello)[21], flags);
  }
}

TEST(LinkHelloFrames, WithoutANonceOrTooShortOrOfAnotherVersionAreMalformed) {
  LinkHelloBody hello = SomeHello();
  for (const uint8_t version : std::vector<uint8_t>{0, 2}) {
    std::vector<uint8_t> frame = Encoded(hello);
    frame[20] = version;
    EXPECT_FALSE(DecodeLinkHello(frame.data(), LinkHelloBody::kBytes).has_value());
  }
  EXPECT_FALSE(DecodeLinkHello(Encoded(hello).data(), LinkHelloBody::kBytes - 1).has_value());
  hello.nonce = 0;
  EXPECT_FALSE(DecodeLinkHello(Encoded(hello).data(), LinkHelloBody::kBytes).has_value());
}

LinkHelloBody PlacedHello() {
  LinkHelloBody hello = SomeHello();
  hello.place = {
      .mesh = 0x0102, .device = 0x0304, .port = 5, .plane = 3, .specification = 0x0123'4567'89ab};
  return hello;
}

TEST(LinkHelloFrames, HaveAPlaceBehindTheCredits) {
  const LinkHelloBody hello = PlacedHello();
  const std::vector<uint8_t> frame = Encoded(hello);
  const std::vector<uint8_t> place{1, 2, 3, 4, 5, 0x83, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab};
  ASSERT_EQ(frame.size(), 192u);
  EXPECT_TRUE(std::equal(place.begin(), place.end(), &frame[180]));
  const std::vector<uint8_t> without = Encoded(SomeHello());
  EXPECT_TRUE(std::equal(without.begin(), without.end(), frame.begin())) << "the rest is the same";
  EXPECT_EQ(DecodeLinkHello(frame.data(), 192), hello);
}

TEST(LinkHelloFrames, HaveThePlaceWithAllBitsOfItsFields) {
  LinkHelloBody hello = PlacedHello();
  hello.place = {.mesh = 0xffff,
                 .device = 0xffff,
                 .port = 0xff,
                 .plane = 0xf,
                 .specification = 0xffff'ffff'ffff};
  EXPECT_EQ(DecodeLinkHello(Encoded(hello).data(), 192), hello);
  hello.place = LinkPlace{};
  const std::vector<uint8_t> frame = Encoded(hello);
  EXPECT_EQ(frame.size(), 192u);
  EXPECT_EQ(DecodeLinkHello(frame.data(), 192), hello) << "M0D0P0 is a place";
}

TEST(LinkHelloFrames, HaveNoPlaceIn180OctetsOrWithoutItsBit) {
  std::vector<uint8_t> frame = Encoded(PlacedHello());
  EXPECT_EQ(DecodeLinkHello(frame.data(), 180), SomeHello());
  frame[185] &= 0x7f;
  EXPECT_EQ(DecodeLinkHello(frame.data(), 192), SomeHello());
}

TEST(LinkHelloFrames, CutWithinThePlaceAreMalformed) {
  const std::vector<uint8_t> frame = Encoded(PlacedHello());
  for (uint32_t bytes = 181; bytes < 192; ++bytes) {
    EXPECT_FALSE(DecodeLinkHello(frame.data(), bytes).has_value()) << bytes;
  }
}

TEST(LinkHelloFrames, AreReadWithReservedBitsAndOctetsBehindThePlace) {
  std::vector<uint8_t> frame = Encoded(PlacedHello());
  frame[21] |= 0x7c;
  frame[22] = frame[23] = frame[42] = frame[43] = 0xff;
  frame[185] |= 0x70;
  frame.resize(200, 0xff);
  EXPECT_EQ(DecodeLinkHello(frame.data(), 200), PlacedHello());
}

TEST(PfcFrames, AreReadFromTheirFieldsOn) {
  PfcFrame pfc{.classes = 0x81};
  for (uint32_t c = 0; c < kPfcClasses; ++c) pfc.quanta[c] = static_cast<uint16_t>(0x100 * c + 7);
  std::array<uint8_t, PfcFrame::kBytes> frame{};
  frame.fill(0xff);
  EncodePfc(pfc, kSource, frame.data());
  const std::vector<uint8_t> head{0x01, 0x80, 0xc2, 0,    0, 1, 2,    0, 0, 0, 0,
                                  1,    0x88, 0x08, 0x01, 1, 0, 0x81, 0, 7, 1, 7};
  EXPECT_TRUE(std::equal(head.begin(), head.end(), frame.begin()));
  EXPECT_EQ(DecodePfc(frame.data(), PfcFrame::kBytes), pfc);
  EXPECT_TRUE(std::all_of(frame.begin() + 34, frame.end(), [](uint8_t byte) { return byte == 0; }));
  // Without padding, and one byte less.
  EXPECT_EQ(DecodePfc(frame.data(), 34), pfc);
  EXPECT_FALSE(DecodePfc(frame.data(), 33).has_value());
  EXPECT_TRUE(ClaimsPfc(frame.data(), 16));
  EXPECT_FALSE(ClaimsPfc(frame.data(), 15));
  for (const size_t at : {12, 13, 14, 15}) {
    frame[at] ^= 1;
    EXPECT_FALSE(ClaimsPfc(frame.data(), PfcFrame::kBytes)) << at;
    EXPECT_FALSE(DecodePfc(frame.data(), PfcFrame::kBytes).has_value()) << at;
    frame[at] ^= 1;
  }
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

// A frame names the classes that are paused and those that were; only a pause that begins counts.
TEST(PfcFrames, APauseOfAnotherClassLeavesTheFirst) {
  PauseSender sender(1000, 100'000'000'000);
  const auto quanta = [](const PfcFrame& pfc) {
    return std::vector<uint16_t>(pfc.quanta.begin(), pfc.quanta.end());
  };
  Time now = TimeFromNs(1'000'000);
  struct Step {
    uint8_t wanted;
    uint8_t classes;
    std::vector<uint16_t> quanta;
    uint64_t pauses;
  };
  const Step steps[] = {{0b0001, 0b0001, {1000, 0, 0, 0, 0, 0, 0, 0}, 1},
                        {0b1001, 0b1001, {1000, 0, 0, 1000, 0, 0, 0, 0}, 2},
                        {0b1000, 0b1001, {0, 0, 0, 1000, 0, 0, 0, 0}, 2},
                        {0b10000011, 0b10001011, {1000, 1000, 0, 0, 0, 0, 0, 1000}, 5}};
  for (const Step& step : steps) {
    const std::optional<PfcFrame> pfc = sender.Poll(step.wanted, now);
    ASSERT_TRUE(pfc.has_value());
    EXPECT_EQ(pfc->classes, step.classes);
    EXPECT_EQ(quanta(*pfc), step.quanta) << int{step.wanted};
    EXPECT_EQ(sender.pauses(), step.pauses) << int{step.wanted};
    now += Duration(1);
    EXPECT_FALSE(sender.Poll(step.wanted, now).has_value());
  }
  // At a tenth of the rate a pause lasts ten times as long.
  sender.SetRate(10'000'000'000);
  ASSERT_TRUE(sender.Poll(1, now).has_value());
  EXPECT_EQ(sender.deadline(), now + Duration(25'600));
}

}  // namespace
}  // namespace suede
