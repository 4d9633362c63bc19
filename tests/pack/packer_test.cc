// SPDX-License-Identifier: Apache-2.0
#include "pack/packer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace suede {
namespace {

class PackerTest : public ::testing::Test {
 protected:
  PackerTest() : bytes(8192, 0xee) {
    pdu.commands = bytes.data();
    pdu.room = kMaxPackBytes;
  }
  // A command of so many bytes whose first two say so.
  PackInput Command(uint16_t bytes, uint16_t queue = 0) {
    source.assign(std::max<size_t>(bytes, kCopyBytes), 0x99);
    std::fill_n(source.begin(), bytes, 0x55);
    return {.command = source.data(), .bytes = bytes, .queue = queue, .type_and_length = 0x7731,
            .lines = 2};
  }
  PackInput Tagged(uint64_t tag, uint16_t queue = 0) {
    PackInput in = Command(8, queue);
    in.tagged = true;
    in.tag = tag;
    return in;
  }
  Pdu pdu;
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> source;
};

TEST_F(PackerTest, CopiesTheCommandOnceBehindTheOthers) {
  EXPECT_TRUE(Append(pdu, Command(10)));
  EXPECT_FALSE(Append(pdu, Command(20)));
  EXPECT_EQ(pdu.bytes, 30);
  EXPECT_EQ(pdu.command_count, 2);
  EXPECT_EQ(bytes[10], 0x31);
  EXPECT_EQ(bytes[12], 0x55);
  EXPECT_EQ(bytes[29], 0x55);
}

TEST_F(PackerTest, TypeAndLengthGivenByValueWinOverSharedMemory) {
  PackInput in = Command(12);
  source[0] = 0xff;  // the client scribbles after the check
  source[1] = 0xff;
  Append(pdu, in);
  EXPECT_EQ(bytes[0], 0x31);
  EXPECT_EQ(bytes[1], 0x77);
  EXPECT_EQ(bytes[2], 0x55);
}

TEST_F(PackerTest, OddLengthIsPaddedWithAZeroByte) {
  Append(pdu, Command(11));
  EXPECT_EQ(pdu.bytes, 12);
  EXPECT_EQ(bytes[10], 0x55);
  EXPECT_EQ(bytes[11], 0);
}

TEST_F(PackerTest, EveryLengthIsCopied) {
  for (uint16_t length = 2; length <= kMaxCommandBytes; ++length) {
    bytes.assign(bytes.size(), 0xee);
    pdu = Pdu();
    pdu.commands = bytes.data();
    Append(pdu, Command(length));
    ASSERT_EQ(pdu.bytes, (length + 1) & ~1);
    for (uint32_t i = 2; i < length; ++i) ASSERT_EQ(bytes[i], 0x55) << length;
    ASSERT_EQ(bytes[length], 0) << length;
    ASSERT_EQ(bytes[std::max<size_t>(length + 1u, kCopyBytes)], 0xee) << length;
  }
}

TEST_F(PackerTest, CanAppendUpToTheLimitOfBytes) {
  pdu.room = 300;
  Append(pdu, Command(200));
  EXPECT_TRUE(CanAppend(pdu, Command(100)));
  EXPECT_FALSE(CanAppend(pdu, Command(101)));
  EXPECT_TRUE(CanAppend(pdu, Command(99)));
}

TEST_F(PackerTest, CanAppendWhileThereAreTags) {
  for (uint64_t tag = 0; tag < Pdu::kMaxTags; ++tag) {
    ASSERT_TRUE(CanAppend(pdu, Tagged(tag)));
    Append(pdu, Tagged(tag));
  }
  EXPECT_FALSE(CanAppend(pdu, Tagged(99)));
  EXPECT_TRUE(CanAppend(pdu, Command(8)));
  EXPECT_EQ(pdu.tags[63], 63u);
}

TEST_F(PackerTest, CanAppendWhileThereAreRuns) {
  for (uint16_t queue = 0; queue < Pdu::kMaxRuns; ++queue) {
    ASSERT_TRUE(CanAppend(pdu, Command(8, queue)));
    EXPECT_TRUE(Append(pdu, Command(8, queue)));
  }
  EXPECT_FALSE(CanAppend(pdu, Command(8, Pdu::kMaxRuns)));
  EXPECT_TRUE(CanAppend(pdu, Command(8, Pdu::kMaxRuns - 1)));
}

TEST_F(PackerTest, TransmitNowClosesThePdu) {
  PackInput in = Command(8);
  in.transmit_now = true;
  Append(pdu, in);
  EXPECT_EQ(pdu.room, 0);
  EXPECT_FALSE(CanAppend(pdu, Command(8)));
}

TEST_F(PackerTest, RunsRememberWhereCommandsCameFrom) {
  Append(pdu, Tagged(10, 4));
  Append(pdu, Command(8, 4));
  Append(pdu, Tagged(11, 9));
  Append(pdu, Tagged(12, 4));
  ASSERT_EQ(pdu.run_count, 3);
  EXPECT_EQ(pdu.runs[0].queue, 4);
  EXPECT_EQ(pdu.runs[0].lines, 4);
  EXPECT_EQ(pdu.runs[0].tags, 1);
  EXPECT_EQ(pdu.runs[1].queue, 9);
  EXPECT_EQ(pdu.runs[2].queue, 4);
  EXPECT_EQ(pdu.tag_count, 3);
  EXPECT_EQ(pdu.tags[2], 12u);
}

}  // namespace
}  // namespace suede
