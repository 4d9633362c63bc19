// SPDX-License-Identifier: Apache-2.0
#include "wire/rh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "packed.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

TEST(Rh, ReadsWhatWasEncoded) {
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    const ReliabilityHeader sent{.ver = static_cast<uint8_t>(random() % 4),
                                 .op = static_cast<RhOp>(random() % 3),
                                 .xpuid = static_cast<uint16_t>(random() % 1024),
                                 .psn = Psn(static_cast<uint16_t>(random())),
                                 .vc = static_cast<uint8_t>(random() % 4),
                                 .partition = static_cast<uint16_t>(random() % 1024),
                                 .rpsn = Psn(static_cast<uint16_t>(random()))};
    uint8_t bytes[kRhBytes];
    EncodeRh(sent, bytes);
    const ReliabilityHeader read = DecodeRh(bytes);
    ASSERT_EQ(read.ver, sent.ver);
    ASSERT_EQ(RhWord(bytes).Is(RhVersion::kData), sent.ver == 0);
    ASSERT_EQ(RhWord(bytes).Is(RhVersion::kControl), sent.ver == 3);
    ASSERT_EQ(read.op, sent.op);
    ASSERT_EQ(read.xpuid, sent.xpuid);
    ASSERT_EQ(read.psn, sent.psn);
    ASSERT_EQ(read.vc, sent.vc);
    ASSERT_EQ(read.partition, sent.partition);
    ASSERT_EQ(read.rpsn, sent.rpsn);
    ASSERT_EQ(bytes[0] & 0x0c, 0);
    ASSERT_EQ(bytes[4] & 0x3c, 0);
  }
}

TEST(Rh, ReservedBitsAreIgnoredAndOpThreeIsNothing) {
  uint8_t bytes[kRhBytes];
  EncodeRh({.op = RhOp::kAck, .xpuid = 1, .vc = 1, .partition = 2}, bytes);
  bytes[0] |= 0x3c;
  bytes[4] |= 0x3c;
  const ReliabilityHeader read = DecodeRh(bytes);
  EXPECT_EQ(read.op, RhOp::kNothing);
  EXPECT_EQ(read.xpuid, 1);
  EXPECT_EQ(read.vc, 1);
  EXPECT_EQ(read.partition, 2);
}

TEST(Rcrc, CheckValueOfCrc32) {
  const Bytes digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  EXPECT_EQ(Rcrc(digits.data(), digits.size()), 0xcbf43926u);
  Bytes pdu(digits);
  pdu.resize(13);
  StoreRcrc(pdu.data(), 9);
  EXPECT_EQ(Bytes(pdu.begin() + 9, pdu.end()), (Bytes{0x26, 0x39, 0xf4, 0xcb}));
  EXPECT_TRUE(RcrcGood(pdu.data(), 13));
}

TEST(FinishPdu, PadsToTheLeastFrame) {
  for (uint32_t header_bytes : {42u, 46u, 6u, 14u, 66u}) {
    for (uint32_t command_bytes = 0; command_bytes <= 64; command_bytes += 2) {
      Bytes pdu(160, 0xee);
      const uint32_t bytes =
          FinishPdu(pdu.data(), command_bytes, header_bytes, {.xpuid = 3, .psn = Psn(9)});
      EXPECT_EQ(header_bytes + bytes,
                std::max(kMinFrameBytes, header_bytes + kRhBytes + command_bytes + kRcrcBytes));
      EXPECT_TRUE(RcrcGood(pdu.data(), bytes));
      for (uint32_t i = kRhBytes; i < bytes - kRcrcBytes; ++i) {
        EXPECT_EQ(pdu[i], i < kRhBytes + command_bytes ? 0xee : 0) << i;
      }
      for (uint32_t i = bytes; i < pdu.size(); ++i) ASSERT_EQ(pdu[i], 0xee) << "wrote behind";
      EXPECT_EQ(DecodeRh(pdu.data()).psn, Psn(9));
    }
  }
}

TEST(FinishPdu, AnEmptyPduIsOneWithoutCommands) {
  const ReliabilityHeader rh{.op = RhOp::kAck, .xpuid = 3, .psn = Psn(9), .rpsn = Psn(8)};
  for (uint32_t header_bytes = 0; header_bytes <= 80; ++header_bytes) {
    Bytes pdu(kRhBytes + kMinFrameBytes + 8, 0xee);
    Bytes empty = pdu;
    const uint32_t bytes = FinishPdu(pdu.data(), 0, header_bytes, rh);
    ASSERT_EQ(FinishEmptyPdu(empty.data(), header_bytes, rh), bytes) << header_bytes;
    EXPECT_TRUE(std::equal(pdu.begin(), pdu.begin() + bytes, empty.begin())) << header_bytes;
    EXPECT_EQ(Bytes(empty.end() - 8, empty.end()), Bytes(8, 0xee)) << "wrote behind its room";
  }
}

TEST(FinishPdu, EveryFlippedBitBreaksTheRcrc) {
  Bytes pdu(64, 0x11);
  const uint32_t bytes = FinishPdu(pdu.data(), 20, 42, {.xpuid = 3});
  for (uint32_t bit = 0; bit < bytes * 8; ++bit) {
    pdu[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    EXPECT_FALSE(RcrcGood(pdu.data(), bytes)) << bit;
    pdu[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
}

TEST(BuildFrame, RefusesSmallBuffersAndLargePdus) {
  const HeaderTemplate header = MakeTemplate(Encap::kUdp4, {.tagged = true});
  const Bytes commands(kMaxPackBytes + 2);
  Bytes buffer(8192);
  EXPECT_TRUE(BuildFrame(header, {}, commands, buffer).empty());
  const std::span<const uint8_t> max(commands.data(), kMaxPackBytes);
  Bytes exact(FrameBufferBytes(kMaxPackBytes));
  EXPECT_EQ(BuildFrame(header, {}, max, exact).size(), 46u + 8 + kMaxPackBytes + 4);
  exact.pop_back();
  EXPECT_TRUE(BuildFrame(header, {}, max, exact).empty());
}

}  // namespace
}  // namespace suede
