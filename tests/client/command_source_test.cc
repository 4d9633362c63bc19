// SPDX-License-Identifier: Apache-2.0
// The code that takes commands and delivers them, over rings in a segment and over plain memory.
#include <gtest/gtest.h>

#include "memory_commands.h"

namespace suede {
namespace {

constexpr SegmentShape kSourceShape{.tx_lines = 64, .rx_lines = 64, .completion_count = 64};

// ---- Sources.

struct RingSource {
  void Put(const TestCommand& command, uint16_t xpuid, uint8_t vc, uint64_t tag) {
    ASSERT_EQ(client.Send(command.To(xpuid, vc, 0, tag)), SendResult::kOk);
    client.Flush();
  }
  TxRingReader& source() { return reader; }
  SegmentMemory memory{kSourceShape};
  ClientQueue client{memory.base(), 0};
  TxRingReader reader{memory.base(), kSourceShape, 0};
};

struct PlainSource {
  void Put(const TestCommand& command, uint16_t xpuid, uint8_t vc, uint64_t tag) {
    memory.Put(command, xpuid, vc, tag);
  }
  MemorySource& source() { return memory; }
  MemorySource memory;
};

struct Taken {
  uint16_t xpuid;
  uint8_t vc;
  uint64_t tag;
  std::vector<uint8_t> bytes;
  friend bool operator==(const Taken&, const Taken&) = default;
};
Taken Copy(const TxRecord& record) {
  EXPECT_EQ(record.verdict, RecordVerdict::kCommand);
  const uint8_t* command = record.line + SUEDE_RECORD_CONTROL;
  return {record.xpuid(), record.vc(), record.tag(), {command, command + record.bytes}};
}

template <typename Bench>
class CommandSourceTest : public ::testing::Test {
 protected:
  void Put(uint8_t seed) {
    const TestCommand command(8, seed * 20u, seed);
    bench.Put(command, seed, seed % kVcCount, 0x0123456700000000u + seed);
    put.push_back(
        {seed, static_cast<uint8_t>(seed % kVcCount), 0x0123456700000000u + seed, command.bytes()});
    lines += command.lines();
  }
  Bench bench;
  std::vector<Taken> put;
  uint32_t lines = 0;
};
using Sources = ::testing::Types<RingSource, PlainSource>;
TYPED_TEST_SUITE(CommandSourceTest, Sources);

TYPED_TEST(CommandSourceTest, ABurstIsLookedUpThenTakenThenReleased) {
  for (uint8_t seed = 1; seed <= 6; ++seed) this->Put(seed);
  auto& source = this->bench.source();
  EXPECT_TRUE(source.HasWork());
  EXPECT_EQ(source.Waiting(), this->lines);
  std::vector<Taken> taken;
  std::vector<uint32_t> steps;
  TxRecord records[4];
  const auto burst = [&] {
    return TakeBurst(
        source, records, 4, [&](uint32_t i, const TxRecord&) { steps.push_back(i); },
        [&](uint32_t i, const TxRecord& record) {
          steps.push_back(10 + i);
          taken.push_back(Copy(record));
        });
  };
  EXPECT_EQ(burst(), 4u);
  EXPECT_EQ(steps, (std::vector<uint32_t>{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(burst(), 2u);
  EXPECT_EQ(burst(), 0u);
  EXPECT_EQ(taken, this->put);
  EXPECT_FALSE(source.HasWork());
  EXPECT_FALSE(source.broken());
}

// Each round sends more than the source could hold without the lines that were released before.
TYPED_TEST(CommandSourceTest, WhatWasTakenMakesRoom) {
  TxRecord records[32];
  for (int round = 0; round < 20; ++round) {
    for (uint8_t seed = 1; seed <= 8; ++seed) this->Put(seed);
    uint32_t count = 0;
    TakeBurst(
        this->bench.source(), records, 32, [](uint32_t, const TxRecord&) {},
        [&](uint32_t, const TxRecord&) { ++count; });
    ASSERT_EQ(count, 8u);
  }
}

TYPED_TEST(CommandSourceTest, TheRestIsTakenBeforeAResetButNoMoreThanAllowed) {
  for (uint8_t seed = 1; seed <= 5; ++seed) this->Put(seed);
  std::vector<Taken> taken;
  auto& source = this->bench.source();
  TakeRest(source, 3, [&](const TxRecord& record) { taken.push_back(Copy(record)); });
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_TRUE(source.HasWork());
  source.Restart();
  EXPECT_FALSE(source.HasWork());
  TakeRest(source, 3, [&](const TxRecord&) { ADD_FAILURE(); });
}

// ---- Sinks.

struct RingSink {
  RxRingWriter& sink() { return writer; }
  std::vector<Taken> Receive() {
    std::vector<Taken> all;
    ReceivedCommand got;
    while (client.Poll(&got, 1) == 1) {
      all.push_back({got.source_xpuid,
                     got.vc,
                     got.own_xpuid,
                     {got.control, got.control + got.control_bytes}});
      all.back().bytes.insert(all.back().bytes.end(), got.data, got.data + got.data_bytes);
    }
    client.Release();
    return all;
  }
  SegmentMemory memory{kSourceShape};
  RxRingWriter writer{memory.base(), kSourceShape, 2};
  ClientReceiver client{memory.base(), 2};
};

struct PlainSink {
  MemorySink& sink() { return writer; }
  std::vector<Taken> Receive() {
    std::vector<Taken> all;
    while (seen < writer.published()) {
      const uint8_t* record = writer.memory() + size_t{seen} * SUEDE_LINE_BYTES;
      uint16_t source;
      uint16_t own;
      std::memcpy(&source, record + 2, 2);
      std::memcpy(&own, record + 4, 2);
      const uint8_t* command = record + SUEDE_RECORD_CONTROL;
      const uint32_t control = (command[0] & 0xfu) * 2;
      const uint32_t data = record[0] == SUEDE_KIND_COMMAND_DATA ? command[1] + 1u : 0;
      all.push_back({source, record[1], own, {command, command + control + data}});
      seen += RecordLines(control + data);
    }
    return all;
  }
  MemorySink writer{kSourceShape.rx_lines};
  uint32_t seen = 0;
};

// Commands as a PDU would have them.
class Sequence {
 public:
  struct Shape {
    uint32_t bytes() const { return size; }
    uint32_t size = 0;
    bool has_data = false;
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  explicit Sequence(const std::vector<TestCommand>* commands, bool ok = true) : ok_(ok) {
    for (const TestCommand& command : *commands) {
      all_.push_back(command.bytes());
      shapes_.push_back({static_cast<uint32_t>(all_.back().size()), !command.data.empty()});
      all_.back().resize(all_.back().size() + kCopyBytes);
    }
  }
  bool Next() { return ++at_ <= all_.size(); }
  bool ok() const { return ok_; }
  const uint8_t* command() const { return all_[at_ - 1].data(); }
  const Shape& shape() const { return shapes_[at_ - 1]; }
  // Commands of one length and kind, whatever their first two bytes are.
  class Run {
   public:
    Run(const Sequence& of, size_t at) : of_(of), at_(at) {}
    bool Next() {
      if (at_ == of_.all_.size() || of_.shapes_[at_] != of_.shapes_[at_ - 1]) return false;
      ++at_;
      return true;
    }
    const uint8_t* command() const { return of_.all_[at_ - 1].data(); }
    size_t at() const { return at_; }

   private:
    const Sequence& of_;
    size_t at_;
  };
  bool IsFollowed() const { return at_ < all_.size(); }
  Run run() const { return {*this, at_}; }
  void SkipRun(const Run& run) { at_ = run.at(); }

 private:
  std::vector<std::vector<uint8_t>> all_;
  std::vector<Shape> shapes_;
  size_t at_ = 0;
  bool ok_;
};

template <typename Bench>
class CommandSinkTest : public ::testing::Test {
 protected:
  DeliveredCommands Deliver(const std::vector<TestCommand>& commands, bool ok = true) {
    return DeliverCommands<Sequence>(bench.sink(), ReceivedHead(2, 1000, 3, 5), &commands, ok);
  }
  Bench bench;
};
using Sinks = ::testing::Types<RingSink, PlainSink>;
TYPED_TEST_SUITE(CommandSinkTest, Sinks);

TYPED_TEST(CommandSinkTest, AllCommandsOfAPduAreDelivered) {
  const std::vector<TestCommand> commands = {TestCommand(8, 0, 1), TestCommand(18, 256, 2),
                                             TestCommand(2, 50, 3)};
  const DeliveredCommands delivered = this->Deliver(commands);
  EXPECT_EQ(delivered.fate, CommandsFate::kDelivered);
  EXPECT_EQ(delivered.count, 3u);
  EXPECT_EQ(delivered.bytes, 8u + 274 + 52);
  EXPECT_EQ(delivered.lines, 1u + 5 + 2);
  EXPECT_TRUE(this->bench.Receive().empty()) << "not published yet";
  this->bench.sink().Publish();
  std::vector<Taken> want;
  for (const TestCommand& command : commands) want.push_back({1000, 2, 3, command.bytes()});
  EXPECT_EQ(this->bench.Receive(), want);
}

TYPED_TEST(CommandSinkTest, APduIsDeliveredAsAWholeOrNotAtAll) {
  auto& sink = this->bench.sink();
  ASSERT_EQ(this->Deliver(std::vector<TestCommand>(12, TestCommand(18, 256, 7))).lines, 60u);
  sink.Publish();
  const uint32_t mark = sink.Mark();
  // The first would fit; the need of the whole PDU is counted all the same.
  const DeliveredCommands refused =
      this->Deliver({TestCommand(8, 0, 1), TestCommand(18, 256, 2), TestCommand(8, 0, 3)});
  EXPECT_EQ(refused.fate, CommandsFate::kRefused);
  EXPECT_EQ(refused.lines, 7u);
  EXPECT_EQ(sink.Mark(), mark);
  EXPECT_EQ(sink.FreeLines(), 4u);
  // A PDU that turns out to be malformed leaves none of its commands, either.
  EXPECT_EQ(this->Deliver({TestCommand(8, 0, 1), TestCommand(8, 0, 2)}, false).fate,
            CommandsFate::kMalformed);
  EXPECT_EQ(sink.Mark(), mark);
  sink.Publish();
  EXPECT_EQ(this->bench.Receive().size(), 12u);
  EXPECT_TRUE(sink.HasRoom(1));
}

}  // namespace
}  // namespace suede
