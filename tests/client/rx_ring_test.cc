// SPDX-License-Identifier: Apache-2.0
#include "client/rx_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "segment_memory.h"

namespace suede {
namespace {

constexpr SegmentShape kSmall{.tx_lines = 64, .rx_lines = 64, .completion_count = 64};

// Delivers a command that arrived, as the daemon does.
bool Deliver(RxRingWriter* writer, const TestCommand& command, uint16_t source, uint16_t own) {
  uint8_t* record = writer->Reserve(command.lines());
  if (record == nullptr) return false;
  record[0] = command.data.empty() ? SUEDE_KIND_COMMAND : SUEDE_KIND_COMMAND_DATA;
  record[1] = 0;
  std::memcpy(record + 2, &source, 2);
  std::memset(record + 4, 0, 10);
  std::memcpy(record + 4, &own, 2);
  record[6] = 5;
  const std::vector<uint8_t> bytes = command.bytes();
  std::memcpy(record + SUEDE_RECORD_CONTROL, bytes.data(), bytes.size());
  return true;
}

TEST(RxRing, ClientSeesWhatWasDelivered) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 2);
  ClientReceiver receiver(memory.base(), 2);
  const TestCommand command(6, 100, 9);
  ASSERT_TRUE(Deliver(&writer, command, 1000, 3));
  ReceivedCommand got;
  EXPECT_EQ(receiver.Poll(&got, 1), 0u);
  writer.Publish();
  ASSERT_EQ(receiver.Poll(&got, 1), 1u);
  EXPECT_EQ(got.source_xpuid, 1000);
  EXPECT_EQ(got.own_xpuid, 3);
  EXPECT_EQ(got.instance, 5);
  EXPECT_EQ(got.vc, 2);
  ASSERT_EQ(got.control_bytes, 6);
  ASSERT_EQ(got.data_bytes, 100);
  EXPECT_EQ(std::memcmp(got.control, command.control.data(), 6), 0);
  EXPECT_EQ(std::memcmp(got.data, command.data.data(), 100), 0);
}

TEST(RxRing, RollbackForgets) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 0);
  ClientReceiver receiver(memory.base(), 0);
  ASSERT_TRUE(Deliver(&writer, TestCommand(2, 0, 1), 1, 1));
  writer.Rollback();
  ASSERT_TRUE(Deliver(&writer, TestCommand(4, 0, 2), 2, 1));
  writer.Publish();
  ReceivedCommand got[4];
  ASSERT_EQ(receiver.Poll(got, 4), 1u);
  EXPECT_EQ(got[0].source_xpuid, 2);
  EXPECT_EQ(got[0].control_bytes, 4);
}

TEST(RxRing, FullUntilTheClientReleases) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 0);
  ClientReceiver receiver(memory.base(), 0);
  for (int i = 0; i < 64; ++i) ASSERT_NE(writer.Reserve(1), nullptr);
  EXPECT_EQ(writer.Reserve(1), nullptr);
  writer.Rollback();
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(Deliver(&writer, TestCommand(2, 0, 1), 1, 1));
  writer.Publish();
  ReceivedCommand got[64];
  ASSERT_EQ(receiver.Poll(got, 64), 64u);
  EXPECT_FALSE(writer.HasRoom(1));
  EXPECT_EQ(writer.Reserve(1), nullptr);
  receiver.Release();
  EXPECT_TRUE(writer.HasRoom(64));
  EXPECT_FALSE(writer.HasRoom(65));
  EXPECT_NE(writer.Reserve(1), nullptr);
}

TEST(RxRing, ImpossibleTailIsNoCredit) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 0);
  for (int i = 0; i < 64; ++i) ASSERT_NE(writer.Reserve(1), nullptr);
  writer.Publish();
  for (const uint32_t tail : {65u, 128u, 0x80000000u, 0xffffffffu}) {
    memory.rx(0)->tail.value = tail;
    EXPECT_EQ(writer.Reserve(1), nullptr) << tail;
  }
  memory.rx(0)->tail.value = 10;
  for (int i = 0; i < 10; ++i) EXPECT_NE(writer.Reserve(1), nullptr);
  memory.rx(0)->tail.value = 9;  // back again
  EXPECT_EQ(writer.Reserve(1), nullptr);
  for (const uint32_t tail : {65u, 74u, 75u}) {  // not published yet
    memory.rx(0)->tail.value = tail;
    EXPECT_EQ(writer.Reserve(1), nullptr) << tail;
  }
  writer.Publish();
  memory.rx(0)->tail.value = 74;
  EXPECT_EQ(writer.FreeLines(), 64u);
}

// Room is given up to the ring's end, and from its start once a record does not fit there.
TEST(RxRing, RoomIsAllThatFollowsInOnePiece) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 0);
  uint8_t* const lines = reinterpret_cast<uint8_t*>(memory.rx(0) + 1);
  EXPECT_EQ(writer.Room(5).lines, 64u);
  writer.Take(60);
  EXPECT_EQ(writer.Room(4).lines, 4u);
  EXPECT_EQ(writer.Room(4).first, lines + size_t{60} * SUEDE_LINE_BYTES);
  EXPECT_EQ(writer.Room(5).lines, 0u) << "the client has not read the first lines yet";
  EXPECT_EQ(writer.Room(5).first, nullptr);
  writer.Publish();
  memory.rx(0)->tail.value = 50;
  const RecordRoom room = writer.Room(5);
  EXPECT_EQ(room.first, lines);
  EXPECT_EQ(room.lines, 50u);
  EXPECT_EQ(lines[size_t{60} * SUEDE_LINE_BYTES], SUEDE_KIND_NONE);
  writer.Take(46);
  EXPECT_EQ(writer.Room(4).lines, 4u);
  EXPECT_EQ(writer.Room(5).lines, 0u);
}

class RxRingProperty : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RxRingProperty, DeliversAllInOrder) {
  std::mt19937_64 random(GetParam());
  const SegmentShape shape{.tx_lines = 64, .rx_lines = 64u << random() % 3, .completion_count = 64};
  SegmentMemory memory(shape);
  const auto vc = static_cast<uint8_t>(random() % 4);
  RxRingWriter writer(memory.base(), shape, vc);
  ClientReceiver receiver(memory.base(), vc);
  std::deque<std::pair<uint16_t, TestCommand>> expected;
  for (uint32_t delivered = 0; delivered < 20000;) {
    const size_t before = expected.size();
    for (uint64_t n = random() % 12; n > 0; --n) {
      const TestCommand command(static_cast<uint32_t>(2 + 2 * (random() % 9)),
                                static_cast<uint32_t>(random() % 3 == 0 ? 0 : random() % 257),
                                static_cast<uint8_t>(random()));
      const auto source = static_cast<uint16_t>(random() % 1024);
      if (Deliver(&writer, command, source, 4)) expected.emplace_back(source, command);
    }
    if (random() % 8 == 0) {
      writer.Rollback();
      while (expected.size() > before) expected.pop_back();
    } else {
      writer.Publish();
    }
    ReceivedCommand got[8];
    const uint32_t count = receiver.Poll(got, static_cast<uint32_t>(1 + random() % 8));
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_FALSE(expected.empty());
      const auto& [source, command] = expected.front();
      ASSERT_EQ(got[i].source_xpuid, source);
      ASSERT_EQ(got[i].control_bytes, command.control.size());
      ASSERT_EQ(got[i].data_bytes, command.data.size());
      ASSERT_EQ(std::memcmp(got[i].control, command.bytes().data(), command.bytes().size()), 0);
      expected.pop_front();
      ++delivered;
    }
    if (random() % 2 == 0) receiver.Release();
  }
}

TEST(RxRing, ASpanHasWhatIsAlike) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 2);
  ClientReceiver receiver(memory.base(), 2);
  // Commands of one shape; then another type, which may differ; then other lengths, sources and
  // XPUs.
  for (const uint8_t seed : std::initializer_list<uint8_t>{0x00, 0x21, 0x42}) {
    ASSERT_TRUE(Deliver(&writer, TestCommand(8, 70, seed), 7, 3));
  }
  ASSERT_TRUE(Deliver(&writer, TestCommand(8, 71, 1), 7, 3));
  ASSERT_TRUE(Deliver(&writer, TestCommand(6, 71, 1), 7, 3));
  ASSERT_TRUE(Deliver(&writer, TestCommand(6, 71, 1), 8, 3));
  ASSERT_TRUE(Deliver(&writer, TestCommand(6, 71, 1), 8, 4));
  for (const uint8_t seed :
       std::initializer_list<uint8_t>{0x01, 0xe7}) {  // without data byte 1 is no length
    ASSERT_TRUE(Deliver(&writer, TestCommand(6, 0, seed), 8, 4));
  }
  ReceivedSpan span;
  EXPECT_EQ(receiver.PollRun(&span, 10), 0u);
  writer.Publish();
  ASSERT_EQ(receiver.PollRun(&span, 10), 3u);
  EXPECT_EQ(span.count, 3u);
  EXPECT_EQ(span.stride, 128u);
  EXPECT_EQ(span.source_xpuid, 7);
  EXPECT_EQ(span.own_xpuid, 3);
  EXPECT_EQ(span.instance, 5);
  EXPECT_EQ(span.vc, 2);
  EXPECT_EQ(span.At(2).control[0] >> 5, 2);
  EXPECT_EQ(span.At(2).data[69], static_cast<uint8_t>(0x42 * 3 + 69));
  for (const uint32_t expected : {1u, 1u, 1u, 1u, 2u}) {
    EXPECT_EQ(receiver.PollRun(&span, 10), expected);
  }
  EXPECT_EQ(span.data, nullptr);
  EXPECT_EQ(span.At(1).data, nullptr);
  EXPECT_EQ(receiver.PollRun(&span, 10), 0u);
  EXPECT_FALSE(receiver.HasWork());
}

TEST(RxRing, ASpanEndsAtTheRingsEndAndAtMax) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 0);
  ClientReceiver receiver(memory.base(), 0);
  ReceivedSpan span;
  const TestCommand command(8, 70, 1);  // two lines
  ASSERT_TRUE(Deliver(&writer, TestCommand(8, 32, 1), 1, 1));
  for (int i = 0; i < 29; ++i) ASSERT_TRUE(Deliver(&writer, command, 1, 1));
  writer.Publish();
  ASSERT_EQ(receiver.PollRun(&span, 100), 1u);
  ASSERT_EQ(receiver.PollRun(&span, 20), 20u);
  receiver.Release();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Deliver(&writer, command, 1, 1));
  writer.Publish();
  ASSERT_EQ(receiver.PollRun(&span, 0), 0u);
  EXPECT_EQ(span.count, 0u);
  ASSERT_EQ(receiver.PollRun(&span, 100), 11u) << "line 63 is padding";
  ASSERT_EQ(receiver.PollRun(&span, 100), 8u);
  EXPECT_EQ(span.control - SUEDE_RECORD_CONTROL, reinterpret_cast<uint8_t*>(memory.rx(0) + 1));
}

TEST(RxRing, ASpanDoesNotGoOnBehindTheRing) {
  SegmentMemory memory(kSmall);
  RxRingWriter writer(memory.base(), kSmall, 0);
  ClientReceiver receiver(memory.base(), 0);
  const TestCommand command(8, 32, 1);  // one line
  ReceivedSpan span;
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(Deliver(&writer, command, 1, 1));
  writer.Publish();
  ASSERT_EQ(receiver.PollRun(&span, 100), 60u);
  // The line behind the ring, which is the next ring's, looks like one more.
  std::memcpy(memory.rx(1), span.control - SUEDE_RECORD_CONTROL, SUEDE_LINE_BYTES);
  receiver.Release();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Deliver(&writer, command, 1, 1));
  writer.Publish();
  ASSERT_EQ(receiver.PollRun(&span, 100), 4u);
  ASSERT_EQ(receiver.PollRun(&span, 100), 6u);
}

// Spans and single commands in turn.
TEST_P(RxRingProperty, SpansDeliverAllInOrder) {
  std::mt19937_64 random(GetParam());
  const SegmentShape shape{.tx_lines = 64, .rx_lines = 64u << random() % 3, .completion_count = 64};
  SegmentMemory memory(shape);
  RxRingWriter writer(memory.base(), shape, 1);
  ClientReceiver receiver(memory.base(), 1);
  std::deque<std::pair<uint16_t, TestCommand>> expected;
  uint32_t delivered = 0;
  uint32_t spans = 0;
  TestCommand command(2, 0, 0);
  uint16_t source = 0;
  const auto expect = [&](const ReceivedCommand& got) {
    ASSERT_FALSE(expected.empty());
    const auto& [from, sent] = expected.front();
    ASSERT_EQ(got.source_xpuid, from);
    ASSERT_EQ(got.own_xpuid, 4);
    ASSERT_EQ(got.instance, 5);
    ASSERT_EQ(got.vc, 1);
    ASSERT_EQ(got.control_bytes, sent.control.size());
    ASSERT_EQ(got.data_bytes, sent.data.size());
    ASSERT_EQ(std::memcmp(got.control, sent.bytes().data(), sent.bytes().size()), 0);
    expected.pop_front();
    ++delivered;
  };
  while (delivered < 20000) {
    for (uint64_t n = random() % 12; n > 0; --n) {
      if (random() % 8 == 0) {
        command = TestCommand(static_cast<uint32_t>(2 + 2 * (random() % 9)),
                              static_cast<uint32_t>(random() % 3 == 0 ? 0 : random() % 257),
                              static_cast<uint8_t>(random()));
        source = static_cast<uint16_t>(random() % 1024);
      }
      if (Deliver(&writer, command, source, 4)) expected.emplace_back(source, command);
    }
    writer.Publish();
    if (random() % 4 == 0) {
      ReceivedCommand got[4];
      const uint32_t count = receiver.Poll(got, static_cast<uint32_t>(1 + random() % 4));
      for (uint32_t i = 0; i < count; ++i) expect(got[i]);
    } else {
      ReceivedSpan span;
      const uint32_t max = 1 + static_cast<uint32_t>(random() % 16);
      const uint32_t count = receiver.PollRun(&span, max);
      ASSERT_EQ(count, span.count);
      ASSERT_LE(count, max);
      ASSERT_TRUE(count != 0 || expected.empty());
      for (uint32_t i = 0; i < count; ++i) expect(span.At(i));
      spans += count > 1 ? 1 : 0;
    }
    if (HasFatalFailure()) return;
    if (random() % 2 == 0) receiver.Release();
  }
  EXPECT_GT(spans, 100u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RxRingProperty, ::testing::Range<uint64_t>(0, 16));

}  // namespace
}  // namespace suede
