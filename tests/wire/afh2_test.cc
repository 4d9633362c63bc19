// SPDX-License-Identifier: Apache-2.0
// The properties of AFH Gen 2 alone: its fields and its errors by name, normal and compressed.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "frames.h"

namespace suede {
namespace {

constexpr Encap kBothAfh2[] = {Encap::kAfh2, Encap::kAfh2c};

HeaderSpec Spec(Encap encap) { return SpecOf({encap, false}); }

// Runs `mend` on a good frame and parses it.
void ExpectError(Encap encap, FrameError expected, const std::function<void(Bytes& frame)>& mend) {
  Bytes frame = BuildBytes(encap, Spec(encap), Bytes(80, 0x12));
  mend(frame);
  EXPECT_EQ(ErrorOf(RulesOf(encap, Spec(encap)), frame), expected) << EncapName(encap);
}

TEST(Afh2, Fields) {
  HeaderSpec spec = Spec(Encap::kAfh2);
  spec.source.low = 0x01020304;
  spec.destination.low = 0xa1a2a3a4;
  const Bytes frame = BuildBytes(Encap::kAfh2, spec, Bytes(80, 0x12));
  EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 14),
            (Bytes{0x02, 64, 0xa1, 0xa2, 0xa3, 0xa4, 0xba, 0xff, 1, 2, 3, 4, 0x12, 0x34}));
}

TEST(Afh2c, Fields) {
  const ReliabilityHeader rh{.ver = 3,
                             .op = RhOp::kNack,
                             .xpuid = 7,
                             .psn = Psn(0x1234),
                             .vc = 2,
                             .partition = 0x3a5,
                             .rpsn = Psn(0xbeef)};
  const Bytes frame = BuildBytes(Encap::kAfh2c, Spec(Encap::kAfh2c), Bytes(80, 0x11), rh);
  // C: 11 01, 0x1234, 10, 11 1010 0101, 0xbeef.
  EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 15),
            (Bytes{0x82, 0xd1, 0x23, 0x4b, 0x14, 0x09, 0xba, 0xa5, 0xbe, 0xef, 0x14, 0x07, 0x12,
                   0x34, 0x11}));
  EXPECT_EQ(frame.size(), 14u + 80 + 4);
}

TEST(Afh2, FirstByte) {
  for (const Encap encap : kBothAfh2) {
    // W, V, bits 5 and 4, Z, Y, X: each of them says what the rest is.
    for (const uint8_t bit : Bytes{0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02}) {
      ExpectError(encap, FrameError::kNotSue, [bit](Bytes& frame) { frame[0] ^= bit; });
      ExpectError(encap, FrameError::kNotSue, [bit](Bytes& frame) { frame[0] ^= bit | 1; });
    }
  }
}

TEST(Afh2, Multicast) {
  for (const Encap encap : kBothAfh2) {
    ExpectError(encap, FrameError::kMulticast, [](Bytes& frame) { frame[0] |= 1; });
    // A multicast frame is told from one that ends too early.
    ExpectError(encap, FrameError::kMulticast, [](Bytes& frame) {
      frame[0] |= 1;
      frame.resize(14);
    });
  }
}

TEST(Afh2, HopLimit) {
  ExpectError(Encap::kAfh2, FrameError::kHopLimit, [](Bytes& frame) { frame[1] = 0; });
  ExpectError(Encap::kAfh2, FrameError::kNone, [](Bytes& frame) { frame[1] = 1; });
  ExpectError(Encap::kAfh2, FrameError::kNone, [](Bytes& frame) { frame[1] = 255; });
}

// There is no hop count: ver, op and psn stand in its place.
TEST(Afh2c, NoHopCount) {
  Bytes frame = BuildBytes(Encap::kAfh2c, Spec(Encap::kAfh2c), Bytes(80, 0x12),
                           {.op = RhOp::kAck, .xpuid = 7});
  ASSERT_EQ(frame[1], 0);
  const FrameRules rules = RulesOf(Encap::kAfh2c, Spec(Encap::kAfh2c));
  EXPECT_EQ(ErrorOf(rules, frame), FrameError::kNone);
  frame.resize(17);
  EXPECT_EQ(ErrorOf(rules, frame), FrameError::kTruncated);
}

TEST(Afh2, TagsAreNotLookedThrough) {
  for (const Encap encap : kBothAfh2) {
    ExpectError(encap, FrameError::kNotSue, [](Bytes& frame) {
      const Bytes tag{0x81, 0x00, 0x00, 0x64};
      frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    });
  }
}

TEST(Afh2, SessionIsOneByte) {
  HeaderSpec spec = Spec(Encap::kAfh2);
  spec.session = 0x1ff;
  const Bytes frame = BuildBytes(Encap::kAfh2, spec, Bytes(80, 0x12));
  EXPECT_EQ(frame[7], 0xff);
}

// The xpuid that the R-CRC covers is that of the source address, with any bits above it.
TEST(Afh2c, XpuidIsTheSourcesLowBits) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    HeaderSpec spec = Spec(Encap::kAfh2c);
    spec.source.low = random() & 0xffff;
    const auto xpuid = static_cast<uint16_t>(spec.source.low & 0x3ff);
    Bytes frame = BuildBytes(Encap::kAfh2c, spec, Bytes(80, 0x12), {.xpuid = xpuid});
    const ParsedFrame parsed = ParseBytes(RulesOf(Encap::kAfh2c, spec), frame);
    ASSERT_EQ(parsed.error, FrameError::kNone);
    ASSERT_EQ(DecodeRh(parsed.pdu).xpuid, xpuid);
    ASSERT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
  }
}

TEST(Afh2c, ARestoredFrameIsWhatItWas) {
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    HeaderSpec spec = Spec(Encap::kAfh2c);
    spec.source.low = random() & 0xffff;
    spec.destination.low = random() & 0xffff;
    const ReliabilityHeader rh{.ver = static_cast<uint8_t>(random() % 4),
                               .op = static_cast<RhOp>(random() % 3),
                               .xpuid = static_cast<uint16_t>(spec.source.low & 0x3ff),
                               .psn = Psn(static_cast<uint16_t>(random())),
                               .vc = static_cast<uint8_t>(random() % 4),
                               .partition = static_cast<uint16_t>(random() & 0x3ff),
                               .rpsn = Psn(static_cast<uint16_t>(random()))};
    const FrameRules rules = RulesOf(Encap::kAfh2c, spec);
    const Bytes sent = BuildBytes(Encap::kAfh2c, spec, Bytes(80, 0x12), rh);
    Bytes frame = sent;
    const ParsedFrame parsed = ParseFrame(rules, frame.data(), static_cast<uint32_t>(frame.size()),
                                          false);
    ASSERT_EQ(parsed.error, FrameError::kNone);
    ASSERT_NE(frame, sent);
    RestoreFrame(rules, frame.data(), parsed);
    ASSERT_EQ(frame, sent);
  }
}

TEST(Afh2c, AForeignXpuidBreaksTheRcrc) {
  Bytes frame = BuildBytes(Encap::kAfh2c, Spec(Encap::kAfh2c), Bytes(80, 0x12), {.xpuid = 8});
  const ParsedFrame parsed = ParseBytes(RulesOf(Encap::kAfh2c, Spec(Encap::kAfh2c)), frame);
  ASSERT_EQ(parsed.error, FrameError::kNone);
  EXPECT_FALSE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
}

// All of the RH but its xpuid is in the compressed header: no bit of it may flip unnoticed.
TEST(Afh2c, EveryFlippedBitOfTheRhBreaksTheRcrc) {
  const Bytes good = BuildBytes(Encap::kAfh2c, Spec(Encap::kAfh2c), Bytes(80, 0x12), {.xpuid = 7});
  for (const size_t at : {1, 2, 3, 7, 8, 9}) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      Bytes frame = good;
      frame[at] ^= static_cast<uint8_t>(1u << bit);
      const ParsedFrame parsed = ParseBytes(RulesOf(Encap::kAfh2c, Spec(Encap::kAfh2c)), frame);
      ASSERT_EQ(parsed.error, FrameError::kNone);
      EXPECT_FALSE(RcrcGood(parsed.pdu, parsed.pdu_bytes)) << at << "." << bit;
    }
  }
}

}  // namespace
}  // namespace suede
