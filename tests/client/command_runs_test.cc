// SPDX-License-Identifier: Apache-2.0
// Commands delivered by runs, beside the same commands delivered one record at a time: both give
// the same outcome and leave the same records, whatever the PDU holds and wherever the ring ends.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "client/command_sink.h"
#include "memory_commands.h"
#include "wire/command.h"

namespace suede {
namespace {

constexpr uint64_t kHead = ReceivedHead(1, 700, 3, 5);

// The commands of a PDU as they arrive, with the bytes behind them that a frame has.
struct Packed {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(kCopyBytes);
  uint32_t size = 0;

  void Add(const TestCommand& command) {
    const std::vector<uint8_t> more = command.bytes();
    bytes.insert(bytes.begin() + size, more.begin(), more.end());
    size += static_cast<uint32_t>(more.size());
    if (size % 2 != 0) AddZeros(1);
  }
  void AddZeros(uint32_t count) {
    bytes.insert(bytes.begin() + size, count, 0);
    size += count;
  }
};

// Delivers one record at a time.
template <typename Sink>
DeliveredCommands DeliverSingly(Sink& sink, const uint8_t* commands, uint32_t bytes) {
  const uint32_t mark = sink.Mark();
  CommandReader reader(commands, bytes);
  DeliveredCommands delivered;
  while (reader.Next()) {
    const uint32_t lines = RecordLines(reader.shape().bytes());
    delivered.lines += lines;
    if (delivered.fate == CommandsFate::kRefused) continue;
    uint8_t* record = sink.Room(lines).first;
    if (record == nullptr) {
      delivered.fate = CommandsFate::kRefused;
      continue;
    }
    sink.Take(lines);
    const uint64_t word =
        kHead | (reader.shape().has_data ? SUEDE_KIND_COMMAND_DATA : SUEDE_KIND_COMMAND);
    std::memcpy(record, &word, sizeof word);
    std::memset(record + sizeof word, 0, SUEDE_RECORD_CONTROL - sizeof word);
    std::memcpy(record + SUEDE_RECORD_CONTROL, reader.command(), reader.shape().bytes());
    ++delivered.count;
    delivered.bytes += reader.shape().bytes();
  }
  if (!reader.ok()) delivered.fate = CommandsFate::kMalformed;
  if (delivered.fate != CommandsFate::kDelivered) sink.RollbackTo(mark);
  return delivered;
}

template <typename Sink>
DeliveredCommands DeliverByRuns(Sink& sink, const Packed& pdu) {
  return DeliverCommands<CommandReader>(sink, kHead, pdu.bytes.data(), pdu.size);
}

auto Outcome(const DeliveredCommands& delivered) {
  const bool done = delivered.fate == CommandsFate::kDelivered;
  return std::tuple(delivered.fate, delivered.lines, done ? delivered.count : 0,
                    done ? delivered.bytes : 0);
}

// Two rings of the same history.
class Twins {
 public:
  void Deliver(const Packed& pdu) {
    const DeliveredCommands by_runs = DeliverByRuns(writers_[0], pdu);
    const DeliveredCommands singly = DeliverSingly(writers_[1], pdu.bytes.data(), pdu.size);
    ASSERT_EQ(Outcome(by_runs), Outcome(singly));
    ASSERT_EQ(writers_[0].Mark(), writers_[1].Mark());
    ++fates[static_cast<uint32_t>(by_runs.fate)];
    for (RxRingWriter& writer : writers_) writer.Publish();
  }
  // Both clients take up to `max` commands, and see the same.
  void Take(uint32_t max, bool release) {
    for (; max != 0; --max) {
      ReceivedCommand got[2];
      const uint32_t count = clients_[0].Poll(&got[0], 1);
      ASSERT_EQ(clients_[1].Poll(&got[1], 1), count);
      if (count == 0) break;
      ASSERT_EQ(got[0].control_bytes, got[1].control_bytes);
      ASSERT_EQ(got[0].data_bytes, got[1].data_bytes);
      const uint32_t bytes = got[0].control_bytes + uint32_t{got[0].data_bytes};
      const uint32_t head = SUEDE_RECORD_CONTROL;
      ASSERT_EQ(std::memcmp(got[0].control - head, got[1].control - head, head + bytes), 0);
      ASSERT_EQ(clients_[0].position(), clients_[1].position());
    }
    if (!release) return;
    for (ClientReceiver& client : clients_) client.Release();
  }

  uint32_t fates[3] = {};

 private:
  static constexpr SegmentShape kShape{.tx_lines = 64, .rx_lines = 64, .completion_count = 64};
  SegmentMemory memories_[2] = {SegmentMemory(kShape), SegmentMemory(kShape)};
  RxRingWriter writers_[2] = {{memories_[0].base(), kShape, 1}, {memories_[1].base(), kShape, 1}};
  ClientReceiver clients_[2] = {{memories_[0].base(), 1}, {memories_[1].base(), 1}};
};

// Every length of a run, from every line of the ring, of records of one to five lines; runs that
// do not fit are refused as a whole.
TEST(CommandRuns, EveryLengthFromEveryLineOfTheRing) {
  for (const uint32_t data : {0u, 1u, 31u, 32u, 33u, 41u, 42u, 95u, 106u, 107u, 170u, 256u}) {
    Twins twins;
    for (uint32_t count = 1; count <= 66; ++count) {
      Packed pdu;
      for (uint32_t i = 0; i < count && pdu.size <= 4096 - 264; ++i) {
        pdu.Add(TestCommand(8, data, static_cast<uint8_t>(data == 0 ? 5 : i)));
      }
      for (int from = 0; from < 7; ++from) {
        twins.Deliver(pdu);
        ASSERT_FALSE(HasFatalFailure()) << data << " " << count;
        twins.Take(64, true);
        Packed one;
        one.Add(TestCommand(4, 0, 1));
        twins.Deliver(one);
      }
    }
    EXPECT_NE(twins.fates[static_cast<uint32_t>(CommandsFate::kRefused)], 0u);
  }
}

Packed RandomPdu(std::mt19937_64& random) {
  Packed pdu;
  for (uint64_t runs = random() % 5; runs != 0; --runs) {
    const auto control = static_cast<uint32_t>(2 + 2 * (random() % 9));
    const auto data = static_cast<uint32_t>(random() % 3 == 0 ? random() % 257 : random() % 40);
    const auto seed = static_cast<uint8_t>(random());
    for (uint64_t count = 1 + random() % (random() % 2 == 0 ? 3 : 40); count != 0; --count) {
      if (pdu.size > 4096) break;
      pdu.Add(TestCommand(control, data, seed));
      // The control and data of a run's commands differ, their first two bytes do not.
      for (uint32_t i = pdu.size - (control + data) + 2; i + 1 < pdu.size; ++i) {
        pdu.bytes[i] = static_cast<uint8_t>(random());
      }
      if ((control + data) % 2 != 0) pdu.bytes[pdu.size - 1] = 0;
    }
  }
  if (random() % 3 == 0) pdu.AddZeros(static_cast<uint32_t>(random() % 70));
  // Bytes that make it malformed, or another PDU: in the middle of a run, in its padding, cut off.
  if (random() % 4 == 0 && pdu.size != 0) {
    pdu.bytes[random() % pdu.size] ^= static_cast<uint8_t>(1u << random() % 8);
  }
  if (random() % 6 == 0 && pdu.size != 0) --pdu.size;
  return pdu;
}

class CommandRunsProperty : public ::testing::TestWithParam<uint64_t> {};

TEST_P(CommandRunsProperty, RunsAreWhatSingleRecordsAre) {
  std::mt19937_64 random(GetParam());
  Twins twins;
  for (int round = 0; round < 4000; ++round) {
    twins.Deliver(RandomPdu(random));
    ASSERT_FALSE(HasFatalFailure()) << round;
    if (random() % 3 != 0) twins.Take(static_cast<uint32_t>(random() % 64), random() % 2 == 0);
    ASSERT_FALSE(HasFatalFailure()) << round;
  }
  for (const uint32_t count : twins.fates) EXPECT_GT(count, 100u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CommandRunsProperty, ::testing::Range<uint64_t>(0, 8));

// Behind the command, a record is only written as far as a short copy may write.
TEST(CommandRuns, NothingIsWrittenBehindACommand) {
  for (uint32_t data = 0; data <= 256; ++data) {
    Packed pdu;
    for (int i = 0; i < 3; ++i) pdu.Add(TestCommand(10, data, 9));
    MemorySink sink(16);
    uint8_t* memory = sink.Room(1).first;
    std::memset(memory, 0xee, 16 * SUEDE_LINE_BYTES);
    const DeliveredCommands delivered = DeliverByRuns(sink, pdu);
    ASSERT_EQ(delivered.count, 3u);
    const uint32_t lines = delivered.lines / 3;
    for (uint32_t record = 0; record < 3; ++record) {
      const uint32_t end = std::max(10 + data, kCopyBytes) + SUEDE_RECORD_CONTROL;
      for (uint32_t at = end; at < lines * SUEDE_LINE_BYTES; ++at) {
        ASSERT_EQ(memory[record * lines * SUEDE_LINE_BYTES + at], 0xee) << data << " " << at;
      }
    }
    for (uint32_t at = delivered.lines * SUEDE_LINE_BYTES; at < 16 * SUEDE_LINE_BYTES; ++at) {
      ASSERT_EQ(memory[at], 0xee) << data << " " << at;
    }
  }
}

// A run takes the room that is left up to the ring's end, and goes on at its start.
TEST(CommandRuns, ARunGoesOnAtTheStartOfTheRing) {
  Twins twins;
  Packed first;
  for (int i = 0; i < 31; ++i) first.Add(TestCommand(8, 100, 7));  // 62 of 64 lines
  twins.Deliver(first);
  twins.Take(31, true);
  Packed over;
  for (int i = 0; i < 20; ++i) over.Add(TestCommand(8, 150, 7));  // 3 lines each: 2 are skipped
  twins.Deliver(over);
  twins.Take(10, true);
  twins.Take(64, true);
  EXPECT_EQ(twins.fates[0], 2u);
}

}  // namespace
}  // namespace suede
