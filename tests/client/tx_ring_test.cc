// SPDX-License-Identifier: Apache-2.0
#include "client/tx_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "segment_memory.h"

namespace suede {
namespace {

constexpr SegmentShape kSmallTx{.tx_lines = 64,
                              .rx_lines = 64,
                              .completion_count = 64,
                              .credit_lines = 64,
                              .aggregate_lines = 64};

class TxRingTest : public ::testing::Test {
 protected:
  // Writes a record of one line and shows it to the reader.
  suede_record* Put(uint32_t line) {
    suede_record* record = memory_.tx_record(line);
    *record = {};
    record->kind = SUEDE_KIND_COMMAND;
    record->vc = 1;
    record->xpuid = 7;
    record->control[0] = 8;
    memory_.tx()->head.value = line + 1;
    return record;
  }
  TxRecord PollOne() {
    TxRecord record[2];
    EXPECT_EQ(PollEach(reader_, record, 2), 1u);
    return record[0];
  }
  SegmentMemory memory_{kSmallTx};
  TxRingReader reader_{memory_.base(), kSmallTx, 0};
};

TEST_F(TxRingTest, WhatWaitsIsWhatWasNotPolled) {
  for (uint32_t line = 0; line < 3; ++line) Put(line);
  EXPECT_EQ(reader_.Waiting(), 3u);
  TxRecord records[2];
  ASSERT_EQ(PollEach(reader_, records, 2), 2u);
  EXPECT_EQ(reader_.Waiting(), 1u);
}

TEST_F(TxRingTest, GivesWhatTheClientSent) {
  ClientQueue queue(memory_.base(), 0);
  const TestCommand command(18, 14, 5);
  ASSERT_EQ(queue.Send(command.To(1023, 3, SUEDE_RECORD_COMPLETION | SUEDE_RECORD_TRANSMIT_NOW,
                                  0x0123456789abcdefull)),
            SendResult::kOk);
  EXPECT_FALSE(reader_.HasWork());
  queue.Flush();
  EXPECT_TRUE(reader_.HasWork());
  const TxRecord record = PollOne();
  EXPECT_FALSE(reader_.HasWork());
  EXPECT_EQ(record.verdict, RecordVerdict::kCommand);
  EXPECT_EQ(record.tag(), 0x0123456789abcdefull);
  EXPECT_EQ(record.xpuid(), 1023);
  EXPECT_EQ(record.vc(), 3);
  EXPECT_EQ(record.flags(), SUEDE_RECORD_COMPLETION | SUEDE_RECORD_TRANSMIT_NOW);
  EXPECT_EQ(record.bytes, 32);
  EXPECT_EQ(record.lines, 1);
  EXPECT_EQ(record.type_and_length() & 0xff, command.control[0]);
  EXPECT_EQ(record.type_and_length() >> 8, command.control[1]);
  EXPECT_EQ(std::memcmp(record.line + SUEDE_RECORD_CONTROL, command.bytes().data(), 32), 0);
}

TEST_F(TxRingTest, GivesNothingOfWhatLiesBehindTheClientsCommand) {
  for (uint32_t control_bytes = 2; control_bytes <= 18; control_bytes += 2) {
    for (const uint32_t data_bytes : {0u, 1u, 3u, 40u}) {
      TestCommand command(control_bytes, data_bytes, 5);
      const uint32_t end = SUEDE_RECORD_CONTROL + control_bytes + data_bytes;
      const uint32_t lines = command.lines();
      command.control.resize(control_bytes + 64, 0xee);
      if (data_bytes != 0) command.data.resize(data_bytes + 64, 0xee);
      SegmentMemory memory(kSmallTx);
      ClientQueue queue(memory.base(), 0);
      ASSERT_EQ(queue.Send(command.To(7, 1)), SendResult::kOk);
      const auto* const record = reinterpret_cast<const uint8_t*>(memory.tx_record(0));
      uint32_t sent;
      for (const uint8_t flags : std::initializer_list<uint8_t>{0, SUEDE_RECORD_COMPLETION}) {
        ASSERT_EQ(queue.SendRun({.first = command.To(7, 1, flags)}, 2, &sent), SendResult::kOk);
      }
      for (uint32_t at = 0; at < 5 * lines * SUEDE_LINE_BYTES; ++at) {
        if (at % (lines * SUEDE_LINE_BYTES) < end) continue;
        ASSERT_EQ(record[at], 0) << control_bytes << " " << data_bytes << " " << at;
      }
    }
  }
}

TEST_F(TxRingTest, ErrorMarkKeepsWhatACompletionNeeds) {
  ClientQueue queue(memory_.base(), 0);
  const TestCommand command(18, 256, 5);
  queue.Send(command.To(9, 2, SUEDE_RECORD_COMPLETION | SUEDE_RECORD_ERROR, 77));
  queue.Flush();
  const TxRecord record = PollOne();
  EXPECT_EQ(record.verdict, RecordVerdict::kErrorMark);
  EXPECT_EQ(record.tag(), 77u);
  EXPECT_EQ(record.xpuid(), 9);
  EXPECT_EQ(record.vc(), 2);
  EXPECT_EQ(record.lines, 5);
}

TEST_F(TxRingTest, ForeignKindIsMalformed) {
  Put(0)->kind = 3;
  const TxRecord record = PollOne();
  EXPECT_EQ(record.verdict, RecordVerdict::kMalformed);
  EXPECT_EQ(record.bytes, 0) << "it has no command";
  EXPECT_EQ(record.count, 1);
}

TEST_F(TxRingTest, UnknownFlagsAreIgnored) {
  for (uint32_t line = 0; line < 5; ++line) {
    const auto flag = static_cast<uint8_t>(8 << line);
    Put(line)->flags = flag | SUEDE_RECORD_TRANSMIT_NOW;
    const TxRecord record = PollOne();
    EXPECT_EQ(record.verdict, RecordVerdict::kCommand) << int{flag};
    EXPECT_EQ(record.flags(), SUEDE_RECORD_TRANSMIT_NOW) << int{flag};
  }
}

// The caller's array holds what an earlier call gave.
TEST_F(TxRingTest, NothingIsLeftOfEarlierRecords) {
  TxRecord record;
  for (uint32_t line = 0; line < 3; ++line) Put(line);
  ASSERT_EQ(reader_.Poll(&record, 3), 1u);
  EXPECT_EQ(record.count, 3);
  Put(3)->flags = SUEDE_RECORD_ERROR;
  ASSERT_EQ(reader_.Poll(&record, 1), 1u);
  EXPECT_EQ(record.verdict, RecordVerdict::kErrorMark);
  EXPECT_EQ(record.count, 1);
  Put(4);
  ASSERT_EQ(reader_.Poll(&record, 1), 1u);
  EXPECT_EQ(record.verdict, RecordVerdict::kCommand);
  EXPECT_EQ(record.bytes, 16);
}

TEST_F(TxRingTest, KindAndDataBitMustAgree) {
  Put(0)->control[0] = 0x18;
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kMalformed);
  Put(1)->kind = SUEDE_KIND_COMMAND_DATA;
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kMalformed);
}

TEST_F(TxRingTest, ControlLengthOutOfRangeIsMalformed) {
  Put(0)->control[0] = 0;
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kMalformed);
  Put(1)->control[0] = 10;
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kMalformed);
  Put(2)->control[0] = 9;
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kCommand);
}

TEST_F(TxRingTest, MalformedAddressesStillIndexTables) {
  suede_record* record = Put(0);
  record->vc = 0xff;
  record->xpuid = 0xffff;
  const TxRecord got = PollOne();
  EXPECT_EQ(got.verdict, RecordVerdict::kMalformed);
  EXPECT_LT(got.vc(), kVcCount);
  EXPECT_LT(got.xpuid(), kMaxXpus);
  EXPECT_EQ(got.lines, 1);
  Put(1)->xpuid = 1024;
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kMalformed);
  Put(2)->xpuid = 1023;
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kCommand);
}

TEST_F(TxRingTest, RecordPastThePublishedHeadTakesOneLine) {
  suede_record* record = Put(0);
  record->kind = SUEDE_KIND_COMMAND_DATA;
  record->control[0] = 0x19;
  record->control[1] = 255;
  memory_.tx()->head.value = 4;
  TxRecord records[8];
  ASSERT_GE(PollEach(reader_, records, 8), 1u);
  EXPECT_EQ(records[0].verdict, RecordVerdict::kMalformed);
  EXPECT_EQ(records[1].line - records[0].line, 64);
}

TEST_F(TxRingTest, RecordAcrossTheEndOfTheRingIsMalformed) {
  for (uint32_t line = 0; line < 62; ++line) Put(line);
  TxRecord records[64];
  ASSERT_EQ(PollEach(reader_, records, 64), 62u);
  reader_.Release();
  suede_record* record = Put(62);
  record->kind = SUEDE_KIND_COMMAND_DATA;
  record->control[0] = 0x19;
  record->control[1] = 255;
  memory_.tx()->head.value = 67;
  ASSERT_GE(PollEach(reader_, records, 1), 1u);
  EXPECT_EQ(records[0].verdict, RecordVerdict::kMalformed);
}

TEST_F(TxRingTest, NoneSkipsToTheEnd) {
  Put(0);
  Put(1)->kind = SUEDE_KIND_NONE;
  memory_.tx()->head.value = 64;
  TxRecord records[4];
  EXPECT_EQ(PollEach(reader_, records, 4), 1u);
  EXPECT_FALSE(reader_.HasWork());
  reader_.Release();
  EXPECT_EQ(memory_.tx()->tail.value, 64u);
}

TEST_F(TxRingTest, NoneAtTheStartOrPastTheHeadIsMalformed) {
  Put(0)->kind = SUEDE_KIND_NONE;
  memory_.tx()->head.value = 64;
  TxRecord records[1];
  ASSERT_EQ(PollEach(reader_, records, 1), 1u);
  EXPECT_EQ(records[0].verdict, RecordVerdict::kMalformed);
  reader_.Restart();
  Put(0);
  Put(1)->kind = SUEDE_KIND_NONE;
  TxRecord both[4];
  ASSERT_EQ(PollEach(reader_, both, 4), 2u);
  EXPECT_EQ(both[0].verdict, RecordVerdict::kCommand);
  EXPECT_EQ(both[1].verdict, RecordVerdict::kMalformed);
}

TEST_F(TxRingTest, HeadTooFarBreaks) {
  memory_.tx()->head.value = 65;
  TxRecord records[4];
  EXPECT_EQ(PollEach(reader_, records, 4), 0u);
  EXPECT_TRUE(reader_.broken());
  EXPECT_FALSE(reader_.HasWork());
  EXPECT_EQ(reader_.Waiting(), 0u);
  EXPECT_EQ(PollEach(reader_, records, 4), 0u) << "nothing more before Restart";
  reader_.Restart();
  EXPECT_FALSE(reader_.broken());
  EXPECT_EQ(memory_.tx()->head.value, 0u);
  EXPECT_EQ(memory_.tx()->tail.value, 0u);
  Put(0);
  EXPECT_EQ(PollOne().verdict, RecordVerdict::kCommand);
}

TEST_F(TxRingTest, HeadGoingBackBreaks) {
  for (uint32_t line = 0; line < 8; ++line) Put(line);
  TxRecord records[8];
  ASSERT_EQ(PollEach(reader_, records, 8), 8u);
  memory_.tx()->head.value = 7;
  EXPECT_EQ(PollEach(reader_, records, 8), 0u);
  EXPECT_TRUE(reader_.broken());
  // Behind what was released, too.
  reader_.Restart();
  for (uint32_t line = 0; line < 12; ++line) {
    Put(line);
    if (line != 7 && line != 11) continue;
    PollEach(reader_, records, 8);
    if (line == 7) reader_.Release();
  }
  EXPECT_FALSE(reader_.broken());
  memory_.tx()->head.value = 10;
  EXPECT_EQ(PollEach(reader_, records, 8), 0u);
  EXPECT_TRUE(reader_.broken());
}

TEST_F(TxRingTest, UnreleasedLinesMayNotBeHandedOverAgain) {
  for (uint32_t line = 0; line < 8; ++line) Put(line);
  TxRecord records[8];
  ASSERT_EQ(PollEach(reader_, records, 8), 8u);
  memory_.tx()->head.value = 72;  // 64 behind `taken`, but 72 behind the tail
  EXPECT_EQ(PollEach(reader_, records, 8), 0u);
  EXPECT_TRUE(reader_.broken());
}

// ---- Runs.

TEST_F(TxRingTest, RecordsThatDifferInContentOnlyAreARun) {
  for (uint32_t line = 0; line < 7; ++line) Put(line)->control[1] = 0x55;
  for (uint32_t line = 0; line < 7; ++line)
    memory_.tx_record(line)->control[2] = static_cast<uint8_t>(line);
  TxRecord runs[16];
  ASSERT_EQ(reader_.Poll(runs, 16), 1u);
  EXPECT_EQ(runs[0].count, 7);
  EXPECT_EQ(runs[0].line, reinterpret_cast<uint8_t*>(memory_.tx_record(0)));
  reader_.Release();
  EXPECT_EQ(memory_.tx()->tail.value, 7u);
}

TEST_F(TxRingTest, ARunEndsWhereItsHeadChanges) {
  const auto counts = [&] {
    TxRecord runs[16];
    std::vector<uint32_t> found;
    for (uint32_t i = 0, n = reader_.Poll(runs, 16); i < n; ++i) found.push_back(runs[i].count);
    return found;
  };
  const auto changed = [&](auto change) {
    reader_.Restart();
    for (uint32_t line = 0; line < 6; ++line) Put(line);
    change(memory_.tx_record(3));
    return counts();
  };
  const std::vector<uint32_t> apart{3, 1, 2};
  EXPECT_EQ(changed([](suede_record* r) { r->vc = 2; }), apart);
  EXPECT_EQ(changed([](suede_record* r) { r->xpuid = 8; }), apart);
  EXPECT_EQ(changed([](suede_record* r) { r->control[0] = 9; }), apart);
  EXPECT_EQ(changed([](suede_record* r) { r->control[1] = 1; }), apart);
  EXPECT_EQ(changed([](suede_record* r) { r->flags = SUEDE_RECORD_TRANSMIT_NOW; }), apart);
  EXPECT_EQ(changed([](suede_record* r) { r->flags = SUEDE_RECORD_COMPLETION; }), apart);
  EXPECT_EQ(changed([](suede_record* r) { r->flags = SUEDE_RECORD_ERROR; }), apart);
  EXPECT_EQ(changed([](suede_record* r) { r->kind = 7; }), apart) << "malformed";
  // Each bit of kind, VC and XPU, and of flags and lengths.
  for (uint32_t bit = 0; bit < 128; ++bit) {
    if ((bit >= 32 && bit < 96) || bit / 8 == offsetof(suede_record, reserved)) continue;
    const auto flip = [&](suede_record* r) {
      reinterpret_cast<uint8_t*>(r)[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    };
    EXPECT_GT(changed(flip).size(), 1u) << bit;
  }
  EXPECT_EQ(changed([](suede_record* r) { r->tag[0] = 1; }), (std::vector<uint32_t>{6}))
      << "of no account";
}

TEST_F(TxRingTest, TaggedAndMarkedRecordsAreNoRuns) {
  for (const int flag : {SUEDE_RECORD_COMPLETION, SUEDE_RECORD_ERROR}) {
    reader_.Restart();
    for (uint32_t line = 0; line < 4; ++line) Put(line)->flags = static_cast<uint8_t>(flag);
    TxRecord runs[16];
    EXPECT_EQ(reader_.Poll(runs, 16), 4u);
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(runs[i].count, 1);
  }
}

TEST_F(TxRingTest, ARunHasNoMoreThanWasAskedForOrPublished) {
  for (uint32_t line = 0; line < 12; ++line) Put(line);
  memory_.tx()->head.value = 9;
  TxRecord runs[16];
  ASSERT_EQ(reader_.Poll(runs, 5), 1u);
  EXPECT_EQ(runs[0].count, 5);
  ASSERT_EQ(reader_.Poll(runs, 16), 1u);
  EXPECT_EQ(runs[0].count, 4);
  EXPECT_EQ(reader_.Poll(runs, 16), 0u);
}

// Records of three lines: the last would leave the ring, or what is published.
TEST_F(TxRingTest, ARunStaysInTheRing) {
  const auto put = [&](uint32_t line) {
    suede_record* record = Put(line);
    record->kind = SUEDE_KIND_COMMAND_DATA;
    record->control[0] = 0x18;
    record->control[1] = 119;
  };
  for (uint32_t line = 0; line < 63; line += 3) put(line);
  put(63);
  memory_.tx()->head.value = 64;
  TxRecord runs[64];
  ASSERT_EQ(reader_.Poll(runs, 64), 2u);
  EXPECT_EQ(runs[0].count, 21);
  EXPECT_EQ(runs[0].lines, 3);
  EXPECT_EQ(runs[1].verdict, RecordVerdict::kMalformed);
  reader_.Restart();
  for (uint32_t line = 0; line < 9; line += 3) put(line);
  memory_.tx()->head.value = 8;
  ASSERT_GE(reader_.Poll(runs, 64), 2u);
  EXPECT_EQ(runs[0].count, 2);
  EXPECT_EQ(runs[1].verdict, RecordVerdict::kMalformed);
}

// A run goes on behind the ring's end as a new one.
TEST_F(TxRingTest, TheRingsEndEndsARun) {
  for (uint32_t line = 0; line < 60; ++line) Put(line);
  TxRecord runs[64];
  ASSERT_EQ(reader_.Poll(runs, 64), 1u);
  reader_.Release();
  for (uint32_t line = 60; line < 70; ++line) {
    Put(line % 64);
    memory_.tx()->head.value = line + 1;
  }
  ASSERT_EQ(reader_.Poll(runs, 64), 2u);
  EXPECT_EQ(runs[0].count, 4);
  EXPECT_EQ(runs[1].count, 6);
  EXPECT_EQ(runs[1].line, reinterpret_cast<uint8_t*>(memory_.tx_record(0)));
}

// Every byte of the record's head at every value, at several places: never out of bounds (ASan),
// verdicts by an independent rule.
TEST_F(TxRingTest, EveryByteOfTheHeadAtEveryValue) {
  for (size_t byte = 0; byte < 16; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      reader_.Restart();
      suede_record* record = Put(0);
      reinterpret_cast<uint8_t*>(record)[byte] = static_cast<uint8_t>(value);
      TxRecord out[1];
      ASSERT_EQ(PollEach(reader_, out, 1), 1u);
      const bool good = record->kind == 1 && record->vc < 4 && record->xpuid < 1024 &&
                        (record->control[0] & 0x1f) >= 1 && (record->control[0] & 0x1f) <= 9;
      EXPECT_EQ(out[0].verdict == RecordVerdict::kMalformed, !good) << byte << ' ' << value;
    }
  }
}

struct Sent {
  std::vector<uint8_t> bytes;
  uint64_t tag;
  uint8_t flags;
  uint16_t xpuid;
  uint8_t vc;
};

// Random commands through rings of random sizes, from positions near 2^32 too.
class TxRingProperty : public ::testing::TestWithParam<uint64_t> {};

TEST_P(TxRingProperty, DeliversAllInOrder) {
  std::mt19937_64 random(GetParam());
  const SegmentShape shape{.tx_lines = 64u << random() % 4,
                           .rx_lines = 64,
                           .completion_count = 64,
                           .credit_lines = static_cast<uint32_t>(5 + random() % 60),
                           .aggregate_lines = static_cast<uint32_t>(5 + random() % 200)};
  SegmentMemory memory(shape);
  ClientQueue queue(memory.base(), 0);
  TxRingReader reader(memory.base(), shape, 0);
  CreditWriter credits(memory.base(), shape, 0);
  std::deque<Sent> expected;
  std::deque<TxRecord> unreturned;
  CompletionWriter completions(memory.base(), shape, 0);
  uint32_t control_bytes = 2;
  uint32_t data_bytes = 0;
  uint16_t xpuid = 0;
  uint8_t vc = 0;
  uint8_t flags = 0;
  uint32_t delivered = 0;
  while (delivered < 20000) {
    for (uint64_t n = random() % 20; n > 0; --n) {
      if (random() % 4 == 0) {  // otherwise like the one before
        control_bytes = static_cast<uint32_t>(2 + 2 * (random() % 9));
        data_bytes = static_cast<uint32_t>(random() % 3 == 0 ? 0 : random() % 257);
        xpuid = static_cast<uint16_t>(random() % 4);
        vc = static_cast<uint8_t>(random() % 4);
        flags = random() % 4 == 0 ? SUEDE_RECORD_COMPLETION : 0;
      }
      const TestCommand command(control_bytes, data_bytes, static_cast<uint8_t>(random()));
      const Sent sent{command.bytes(), random(), flags, xpuid, vc};
      const SendResult result = queue.Send(command.To(sent.xpuid, sent.vc, sent.flags, sent.tag));
      ASSERT_TRUE(result == SendResult::kOk || result == SendResult::kWouldBlock);
      if (result == SendResult::kOk) expected.push_back(sent);
    }
    if (random() % 2 == 0) queue.Flush();
    TxRecord records[16];
    const uint32_t count = PollEach(reader, records, static_cast<uint32_t>(1 + random() % 16));
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(records[i].verdict, RecordVerdict::kCommand);
      ASSERT_FALSE(expected.empty());
      const Sent sent = expected.front();
      expected.pop_front();
      ASSERT_EQ(records[i].bytes, sent.bytes.size());
      ASSERT_EQ(records[i].flags(), sent.flags);
      if (sent.flags != 0) {
        ASSERT_EQ(records[i].tag(), sent.tag);
        ASSERT_TRUE(completions.Push(sent.tag, sent.xpuid, sent.vc, SUEDE_STATUS_OK));
      }
      ASSERT_EQ(records[i].xpuid(), sent.xpuid);
      ASSERT_EQ(records[i].vc(), sent.vc);
      ASSERT_EQ(
          std::memcmp(records[i].line + SUEDE_RECORD_CONTROL, sent.bytes.data(), sent.bytes.size()),
          0);
      ASSERT_TRUE(credits.Take(records[i].xpuid(), records[i].vc(), records[i].lines));
      unreturned.push_back(records[i]);
      ++delivered;
    }
    reader.Release();
    completions.Publish();
    suede_completion done[64];
    queue.PollCompletions(done, 64);
    for (uint64_t n = random() % 24; n > 0 && !unreturned.empty(); --n) {
      credits.Return(unreturned.front().xpuid(), unreturned.front().vc(), unreturned.front().lines);
      unreturned.pop_front();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TxRingProperty, ::testing::Range<uint64_t>(0, 24));

// The free-running positions pass 2^32 without anybody noticing. Whole rings are skipped with NONE
// records, so that it does not take 2^32 commands.
TEST(TxRingWrap, PositionsPassTheEndOfThirtyTwoBits) {
  const SegmentShape shape{.tx_lines = 1u << 20, .rx_lines = 64, .completion_count = 64};
  SegmentMemory memory(shape);
  TxRingReader reader(memory.base(), shape, 0);
  uint32_t head = 0;
  for (int round = 0; round < 4100; ++round) {
    suede_record* record = memory.tx_record(0);
    record->kind = SUEDE_KIND_COMMAND;
    record->control[0] = 9;
    memory.tx_record(1)->kind = SUEDE_KIND_NONE;
    head += 1u << 20;
    StoreRelease(memory.tx()->head.value, head);
    TxRecord records[4];
    ASSERT_EQ(reader.Poll(records, 4), 1u) << round;
    ASSERT_EQ(records[0].verdict, RecordVerdict::kCommand);
    reader.Release();
    ASSERT_EQ(memory.tx()->tail.value, head);
  }
}

}  // namespace
}  // namespace suede
