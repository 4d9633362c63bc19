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
  EXPECT_TRUE(Append(pdu, Command(10)).new_run);
  EXPECT_FALSE(Append(pdu, Command(20)).new_run);
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

// Several commands of one length, as they lie in lines of a ring.
class PackerRunTest : public PackerTest {
 protected:
  PackInput Run(uint16_t length, uint32_t count) {
    PackInput in = Command(length);
    in.lines = static_cast<uint8_t>((14 + length + 63) / 64);
    in.stride = in.lines * 64u;
    source.assign(count * in.stride + kCopyBytes, 0x99);
    for (uint32_t i = 0; i < count; ++i) {
      std::fill_n(source.begin() + i * in.stride, length, static_cast<uint8_t>(i + 1));
    }
    in.command = source.data();
    return in;
  }
};

TEST_F(PackerRunTest, EachCommandOfARunIsAsIfItWereAlone) {
  for (const int bytes_each : {2, 8, 11, 40, 47, 48, 49, 100, 201, 274}) {
    const auto length = static_cast<uint16_t>(bytes_each);
    for (uint32_t count = 1; count <= 7; ++count) {
      const PackInput run = Run(length, count);
      bytes.assign(bytes.size(), 0xee);
      pdu = Pdu();
      pdu.commands = bytes.data();
      pdu.room = 4000;
      const Appended all = Append(pdu, run, count);
      std::vector<uint8_t> single_bytes(bytes.size(), 0xee);
      Pdu single;
      single.commands = single_bytes.data();
      single.room = 4000;
      for (uint32_t i = 0; i < count; ++i) {
        PackInput one = run;
        one.command += size_t{i} * run.stride;
        EXPECT_EQ(Append(single, one).new_run, i == 0);
      }
      ASSERT_EQ(all.count, count);
      EXPECT_TRUE(all.new_run);
      ASSERT_EQ(pdu.bytes, single.bytes);
      EXPECT_EQ(pdu.room, single.room);
      EXPECT_EQ(pdu.lines, single.lines);
      EXPECT_EQ(pdu.command_count, single.command_count);
      EXPECT_EQ(pdu.run_count, single.run_count);
      EXPECT_EQ(pdu.runs[0].lines, single.runs[0].lines);
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + pdu.bytes, single_bytes.begin()));
    }
  }
}

TEST_F(PackerRunTest, OfARunThePduTakesWhatItHasRoomFor) {
  const PackInput run = Run(40, 10);
  pdu.room = 3 * 40 + 39;
  EXPECT_EQ(Append(pdu, run, 10).count, 3u);
  EXPECT_FALSE(CanAppend(pdu, run));
}

TEST_F(PackerRunTest, OfARunThePduTakesTheCommandThatFillsIt) {
  const PackInput run = Run(40, 10);
  pdu.room = 3 * 40;
  EXPECT_EQ(Append(pdu, run, 10).count, 3u);
  EXPECT_EQ(pdu.room, 0);
}

TEST_F(PackerRunTest, OfARunThePduTakesWhatTheReceiverHasLinesFor) {
  const PackInput run = Run(100, 10);  // of two lines
  EXPECT_EQ(Append(pdu, run, 10, 9).count, 4u);
  EXPECT_EQ(pdu.lines, 8);
  EXPECT_FALSE(CanAppend(pdu, run, 9));
  EXPECT_TRUE(CanAppend(pdu, run, 10));  // the last two lines
}

TEST_F(PackerRunTest, OfARunToBeSentNowThePduTakesOne) {
  PackInput run = Run(8, 4);
  run.transmit_now = true;
  EXPECT_EQ(Append(pdu, run, 4).count, 1u);
  EXPECT_EQ(pdu.room, 0);
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
    EXPECT_TRUE(Append(pdu, Command(8, queue)).new_run);
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
