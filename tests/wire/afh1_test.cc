// SPDX-License-Identifier: Apache-2.0
// The properties of AFH Gen 1 alone: its fields and its errors by name, with and without the shim.
#include <gtest/gtest.h>

#include <functional>

#include "frames.h"

namespace suede {
namespace {

constexpr Encap kBoth[] = {Encap::kAfh1, Encap::kAfh1s};

// Runs `mend` on a good frame, untagged and tagged, and parses it. `inner` follows the Ethernet
// header and the tag.
void ExpectError(Encap encap, FrameError expected,
                 const std::function<void(Bytes& frame, uint8_t* inner)>& mend) {
  for (const bool tagged : {false, true}) {
    const HeaderSpec spec = SpecOf({encap, tagged});
    Bytes frame = BuildBytes(encap, spec, Bytes(80, 0x12));
    mend(frame, &frame[tagged ? 18 : 14]);
    EXPECT_EQ(ErrorOf(RulesOf(encap, spec), frame), expected) << "tagged " << tagged;
  }
}

TEST(Afh1, Fields) {
  const Bytes frame = BuildBytes(Encap::kAfh1, SpecOf({Encap::kAfh1, false}), Bytes(80, 0x12));
  EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 14),
            (Bytes{0x06, 0x00, 0xbe, 0xef, 0x14, 0x09,  //
                   0x06, 0x00, 0xbe, 0xef, 0x14, 0x07, 0x12, 0x34}));
}

TEST(Afh1s, Fields) {
  const Bytes frame = BuildBytes(Encap::kAfh1s, SpecOf({Encap::kAfh1s, false}), Bytes(80, 0x12));
  EXPECT_EQ(Bytes(frame.begin() + 14, frame.begin() + 22),
            (Bytes{0x00, 0xba, 64, 1, 0xff, 0xff, 0, 92}));
}

TEST(Afh1, DefaultPrefix) {
  const Bytes frame = BuildBytes(Encap::kAfh1, {.destination = {.low = 0x1234}}, Bytes(80, 1));
  EXPECT_EQ(Bytes(frame.begin(), frame.begin() + 6), (Bytes{0x02, 0x53, 0x55, 0x45, 0x12, 0x34}));
}

TEST(Afh1, AnotherPrefixIsNotSue) {
  for (const Encap encap : kBoth) {
    for (const size_t at : {0, 1, 2, 3, 6, 7, 8, 9}) {
      ExpectError(encap, FrameError::kNotSue, [at](Bytes& frame, uint8_t*) { frame[at] ^= 0x10; });
    }
    for (const size_t at : {4, 5, 10, 11}) {
      ExpectError(encap, FrameError::kNone, [at](Bytes& frame, uint8_t*) { frame[at] ^= 0x10; });
    }
  }
}

TEST(Afh1, GoesToTheEndOfTheFrame) {
  const HeaderSpec spec = SpecOf({Encap::kAfh1, false});
  Bytes frame = BuildBytes(Encap::kAfh1, spec, Bytes(80, 0x12));
  frame.resize(frame.size() + 4);
  const ParsedFrame parsed = ParseBytes(RulesOf(Encap::kAfh1, spec), frame);
  ASSERT_EQ(parsed.error, FrameError::kNone);
  EXPECT_EQ(parsed.pdu_bytes, frame.size() - 14);
  EXPECT_FALSE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
}

TEST(Afh1s, HopLimit) {
  const auto set = [](uint8_t limit) {
    return [limit](Bytes&, uint8_t* shim) { shim[2] = limit; };
  };
  ExpectError(Encap::kAfh1s, FrameError::kHopLimit, set(0));
  ExpectError(Encap::kAfh1s, FrameError::kNone, set(1));
  ExpectError(Encap::kAfh1s, FrameError::kNone, set(255));
}

TEST(Afh1s, ShimVersion) {
  for (const uint8_t bit : Bytes{0x10, 0x20, 0x40, 0x80}) {
    ExpectError(Encap::kAfh1s, FrameError::kShimVersion,
                [bit](Bytes&, uint8_t* shim) { shim[0] = bit; });
  }
  for (const uint8_t reserved : Bytes{0x01, 0x02, 0x04, 0x08}) {
    ExpectError(Encap::kAfh1s, FrameError::kNone,
                [reserved](Bytes&, uint8_t* shim) { shim[0] = reserved; });
  }
}

TEST(Afh1s, NextHeader) {
  for (const uint8_t next : Bytes{0, 2, 17, 255}) {
    ExpectError(Encap::kAfh1s, FrameError::kNextHeader,
                [next](Bytes&, uint8_t* shim) { shim[3] = next; });
  }
}

// A frame with several errors yields the one that says most about its owner.
TEST(Afh1s, OrderOfErrors) {
  const auto wrong = [](Bytes&, uint8_t* shim) {
    shim[0] = 0x10;
    shim[2] = 0;
    shim[3] = 2;
    StoreBe16(shim + 6, 0);
  };
  ExpectError(Encap::kAfh1s, FrameError::kNotSue, [wrong](Bytes& frame, uint8_t* shim) {
    wrong(frame, shim);
    frame[0] ^= 1;
  });
  ExpectError(Encap::kAfh1s, FrameError::kShimVersion, wrong);
  ExpectError(Encap::kAfh1s, FrameError::kNextHeader, [wrong](Bytes& frame, uint8_t* shim) {
    wrong(frame, shim);
    shim[0] = 0;
  });
  ExpectError(Encap::kAfh1s, FrameError::kHopLimit, [wrong](Bytes& frame, uint8_t* shim) {
    wrong(frame, shim);
    shim[0] = 0;
    shim[3] = 1;
  });
}

TEST(Afh1s, LengthsThatRunOut) {
  for (const uint16_t bytes : std::vector<uint16_t>{0, 11, 93, 0xffff}) {
    ExpectError(Encap::kAfh1s, FrameError::kTruncated,
                [bytes](Bytes&, uint8_t* shim) { StoreBe16(shim + 6, bytes); });
  }
  ExpectError(Encap::kAfh1s, FrameError::kNone,
              [](Bytes&, uint8_t* shim) { StoreBe16(shim + 6, 12); });
}

TEST(Afh1s, WhatFollowsTheRcrcIsIgnored) {
  const HeaderSpec spec = SpecOf({Encap::kAfh1s, true});
  Bytes frame = BuildBytes(Encap::kAfh1s, spec, Bytes(80, 0x12));
  frame.resize(frame.size() + 30, 0xcc);
  const ParsedFrame parsed = ParseBytes(RulesOf(Encap::kAfh1s, spec), frame);
  ASSERT_EQ(parsed.error, FrameError::kNone);
  EXPECT_EQ(parsed.pdu_bytes, 92u);
  EXPECT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
}

}  // namespace
}  // namespace suede
