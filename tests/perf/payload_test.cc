// SPDX-License-Identifier: Apache-2.0
#include "perf/payload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "base/sue.h"
#include "perf/protocol.h"
#include "perf/streams.h"

namespace suede::perf {
namespace {

constexpr ContentKey kKey{.source = 1, .destination = 2, .vc = 3, .flow = 4, .sequence = 5};

struct Content {
  uint8_t control[32] = {};
  uint8_t data[kMaxDataBytes + 8] = {};
  explicit Content(const ContentKey& key) { FillContent(key, control, 18, data, 256); }
  bool IsRight(const ContentKey& key) const { return ContentIsRight(key, control, 18, data, 256); }
};

TEST(PayloadTest, EveryFlippedBitIsNoticed) {
  Content content(kKey);
  ASSERT_TRUE(content.IsRight(kKey));
  for (uint32_t bit = 0; bit < 256 * 8; ++bit) {
    content.data[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    EXPECT_FALSE(content.IsRight(kKey)) << bit;
    content.data[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
  for (uint32_t bit = 8 * 8; bit < 18 * 8; ++bit) {
    content.control[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    EXPECT_FALSE(content.IsRight(kKey)) << bit;
    content.control[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
}

TEST(PayloadTest, EachPartOfTheKeyMatters) {
  const Content content(kKey);
  ContentKey other = kKey;
  other.source = 9;
  EXPECT_FALSE(content.IsRight(other));
  other = kKey, other.destination = 9;
  EXPECT_FALSE(content.IsRight(other));
  other = kKey, other.vc = 0;
  EXPECT_FALSE(content.IsRight(other));
  other = kKey, other.flow = 0;
  EXPECT_FALSE(content.IsRight(other));
  other = kKey, other.sequence = 6;
  EXPECT_FALSE(content.IsRight(other));
}

TEST(PayloadTest, ShiftedContentIsNoticed) {
  Content content(kKey);
  std::memmove(content.data, content.data + 8, 248);
  EXPECT_FALSE(content.IsRight(kKey));
}

TEST(PayloadTest, ShorterDataIsAPrefixAndBytesBehindItAreNotLookedAt) {
  Content content(kKey);
  for (uint32_t bytes = 0; bytes <= 256; ++bytes) {
    content.data[bytes] ^= 0xff;
    EXPECT_TRUE(ContentIsRight(kKey, content.control, 8, content.data, bytes)) << bytes;
    content.data[bytes] ^= 0xff;
  }
}

TEST(PayloadTest, NothingIsWrittenBehindTheContent) {
  for (uint32_t control_bytes = 8; control_bytes <= 18; control_bytes += 2) {
    for (uint32_t bytes = 0; bytes <= 256; ++bytes) {
      uint8_t control[32];
      uint8_t data[kMaxDataBytes + 8];
      std::memset(control, 0xa5, sizeof control);
      std::memset(data, 0xa5, sizeof data);
      FillContent(kKey, control, control_bytes, data, bytes);
      EXPECT_TRUE(ContentIsRight(kKey, control, control_bytes, data, bytes)) << bytes;
      for (uint32_t i = 0; i < 8; ++i) {
        ASSERT_EQ(control[control_bytes + i], 0xa5) << control_bytes;
        ASSERT_EQ(data[bytes + i], 0xa5) << bytes;
      }
    }
  }
}

TEST(ProtocolTest, MessagesComeBackAsTheyWereSent) {
  const Message message{.code = Code::kReport, .flow = 3, .run = 0x12345678};
  const StreamCounts counts{.received = 1, .data_bytes = 2, .wrong = 3, .lost = 4,
                            .duplicated = 5, .misordered = 6, .sent_back = 1ull << 40};
  const EncodedMessage encoded = EncodeReport(message, counts);
  EXPECT_EQ(encoded.control[0], 0xf4);  // class 7, data, four units of control
  EXPECT_EQ(encoded.control[1], 55);
  const auto decoded = DecodeMessage(encoded.control, 8);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->code, Code::kReport);
  EXPECT_EQ(decoded->flow, 3);
  EXPECT_EQ(decoded->run, 0x12345678u);
  const auto back = DecodeStreamCounts(encoded.data, 56);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->received, 1u);
  EXPECT_EQ(back->misordered, 6u);
  EXPECT_EQ(back->sent_back, 1ull << 40);
  EXPECT_FALSE(DecodeStreamCounts(encoded.data, 55).has_value());
}

TEST(ProtocolTest, WhatIsNotAMessageIsRefused) {
  EncodedMessage encoded = EncodeReportRequest({.code = Code::kReportRequest, .flow = 1, .run = 2});
  EXPECT_EQ(encoded.control[0], 0xe4);
  EXPECT_TRUE(DecodeMessage(encoded.control, 8).has_value());
  EXPECT_FALSE(DecodeMessage(encoded.control, 10).has_value());
  encoded.control[2] = 9;
  EXPECT_FALSE(DecodeMessage(encoded.control, 8).has_value());
  encoded.control[2] = 1, encoded.control[3] = kMaxFlows;
  EXPECT_FALSE(DecodeMessage(encoded.control, 8).has_value());
}

TEST(ProtocolTest, AStartWithAnImpossibleShapeIsRefused) {
  const Message message{.code = Code::kStart, .flow = 0, .run = 1};
  const auto decode = [&](ReverseLoad load) {
    const EncodedMessage encoded = EncodeStart(message, load);
    return DecodeReverseLoad(encoded.data, kStartDataBytes);
  };
  EXPECT_TRUE(decode({.control_bytes = 18, .data_bytes = 256}).has_value());
  EXPECT_FALSE(decode({.control_bytes = 20}).has_value());
  EXPECT_FALSE(decode({.control_bytes = 0}).has_value());
  EXPECT_FALSE(decode({.control_bytes = 7}).has_value());
  EXPECT_FALSE(decode({.data_bytes = 257}).has_value());
}

TEST(RxStreamTest, SequenceNumbersWrap) {
  RxStream stream;
  stream.OnSequenced(UINT32_MAX - 1, 0);  // no start seen: counts from here
  stream.OnSequenced(UINT32_MAX, 0);
  stream.OnSequenced(0, 0);
  stream.OnSequenced(2, 0);
  EXPECT_EQ(stream.counts().received, 4u);
  EXPECT_EQ(stream.counts().lost, 1u);
  stream.OnSequenced(1, 0);
  EXPECT_EQ(stream.counts().lost, 0u);
  EXPECT_EQ(stream.counts().misordered, 1u);
  stream.OnSequenced(UINT32_MAX, 0);
  EXPECT_EQ(stream.counts().duplicated, 1u);
  EXPECT_EQ(stream.counts().received, 5u);
}

TEST(RxStreamTest, OldCommandsAfterAStartAreDuplicates) {
  RxStream stream;
  stream.Start(1);
  stream.OnSequenced(UINT32_MAX, 0);
  EXPECT_EQ(stream.counts().duplicated, 1u);
  stream.OnSequenced(0, 0);
  stream.OnSequenced(100, 0);
  EXPECT_EQ(stream.counts().lost, 99u);
  stream.OnSequenced(99, 0);
  EXPECT_EQ(stream.counts().misordered, 1u);
  EXPECT_EQ(stream.counts().lost, 98u);
}

// As over planes: whole runs come late, from far behind, and each once.
TEST(RxStreamTest, LateCommandsAreToldFromDoubledOnesHoweverLate) {
  RxStream stream;
  stream.Start(1);
  for (uint32_t first = 1000; first < 100000; first += 2000) {
    for (uint32_t i = 0; i < 1000; ++i) stream.OnSequenced(first + i, 0);
  }
  EXPECT_EQ(stream.counts().lost, 50000u);
  // From the middle of the gaps to both ends.
  for (uint32_t gap = 0; gap < 100000; gap += 2000) {
    for (uint32_t i = 0; i < 500; ++i) {
      stream.OnSequenced(gap + 499 - i, 0);
      stream.OnSequenced(gap + 500 + i, 0);
    }
  }
  EXPECT_EQ(stream.counts().lost, 0u);
  EXPECT_EQ(stream.counts().misordered, 50000u);
  EXPECT_EQ(stream.counts().duplicated, 0u);
  EXPECT_EQ(stream.counts().received, 100000u);
  for (const uint32_t again : {0u, 499u, 500u, 999u, 1000u, 99999u}) stream.OnSequenced(again, 0);
  EXPECT_EQ(stream.counts().duplicated, 6u);
  EXPECT_EQ(stream.counts().received, 100000u);
}

// Spans in which flows, opcodes and gaps mix are counted as if command by command.
TEST(RxTableTest, RunsCountLikeSingleCommands) {
  constexpr uint32_t kSpan = 32;
  std::mt19937 random(1);
  RxTable by_run(/*from_zero=*/true);
  RxTable by_command(/*from_zero=*/true);
  uint32_t in_runs = 0;
  uint32_t next[2] = {};
  for (int round = 0; round < 2000; ++round) {
    uint8_t controls[kSpan][kSequencedControlBytes] = {};
    for (auto& control : controls) {
      const uint8_t flow = random() % 16 == 0;
      SetShape(control, random() % 32 == 0 ? Opcode::kEcho : Opcode::kLoad, sizeof control, 32);
      control[2] = flow;
      if (random() % 64 == 0) next[flow] += static_cast<uint32_t>(random() % 4);
      StoreBe32(control + 4, random() % 64 == 0 ? next[flow] / 2 : next[flow]++);
    }
    const ReceivedSpan span{.control = controls[0],
                            .data = controls[0],
                            .stride = kSequencedControlBytes,
                            .count = kSpan,
                            .control_bytes = kSequencedControlBytes,
                            .data_bytes = 32,
                            .source_xpuid = 7,
                            .vc = 1};
    for (uint32_t at = 0; at < kSpan; ++at) {
      const ReceivedCommand command = span.At(at);
      by_command.Count(command, OpcodeOf(command.control));
    }
    for (uint32_t at = 0; at < kSpan;) {
      const uint32_t run = by_run.CountRun(span, at);
      if (run == 0) by_run.Count(span.At(at), OpcodeOf(span.At(at).control));
      in_runs += run;
      at += std::max(run, 1u);
    }
  }
  for (const auto& field : kCountFields) {
    EXPECT_EQ(by_run.Total().*field.first, by_command.Total().*field.first) << field.second;
  }
  EXPECT_GT(by_run.Total().lost, 0u);
  EXPECT_GT(by_run.Total().duplicated, 0u);
  EXPECT_GT(in_runs, 2000 * kSpan / 2);
}

}  // namespace
}  // namespace suede::perf
