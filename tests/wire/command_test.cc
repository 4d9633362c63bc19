// SPDX-License-Identifier: Apache-2.0
#include "wire/command.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <vector>

#include "packed.h"

namespace suede {
namespace {

// A copy of exactly the given bytes, so that a sanitizer sees every read beyond them.
CommandSummary Validate(const Bytes& bytes) {
  const Bytes exact(bytes.begin(), bytes.end());
  return ValidateCommands(exact.data(), static_cast<uint32_t>(exact.size()));
}

TEST(CommandShape, ReadsTypeAndLength) {
  EXPECT_EQ(ReadCommandShape(0x00, 0xff).control_bytes, 0);
  EXPECT_EQ(ReadCommandShape(0x0a, 0).control_bytes, 0);
  EXPECT_EQ(ReadCommandShape(0x1f, 0).control_bytes, 0);
  EXPECT_EQ(ReadCommandShape(0x01, 0xff).control_bytes, 2);
  EXPECT_EQ(ReadCommandShape(0x01, 0xff).data_bytes, 0);
  EXPECT_EQ(ReadCommandShape(0xe9, 7).bytes(), 18u);
  EXPECT_EQ(ReadCommandShape(0x19, 0xff).bytes(), 274u);
  EXPECT_EQ(ReadCommandShape(0x11, 0).bytes(), 3u);
  EXPECT_EQ(ReadCommandShape(0x11, 0).packed_bytes(), 4u);
  EXPECT_TRUE(ReadCommandShape(0x11, 0).has_data);
  EXPECT_FALSE(ReadCommandShape(0xe1, 0).has_data);
}

TEST(CommandReader, NothingIsValid) {
  EXPECT_EQ(Validate({}).error, CommandError::kNone);
  EXPECT_EQ(Validate({}).count, 0u);
  EXPECT_EQ(ValidateCommands(nullptr, 0).error, CommandError::kNone);
}

TEST(CommandReader, ZeroLengthEndsCommands) {
  EXPECT_EQ(Validate({0, 0, 0, 0, 0, 0}).error, CommandError::kNone);
  const CommandSummary summary = Validate({0x01, 0xaa, 0, 0, 0, 0});
  EXPECT_EQ(summary.error, CommandError::kNone);
  EXPECT_EQ(summary.count, 1u);
  EXPECT_EQ(summary.bytes, 2u);
}

TEST(CommandReader, PaddingMustBeZero) {
  for (size_t at = 0; at < 30; ++at) {
    Bytes bytes(32);
    bytes[0] = 0x01;
    bytes[2 + at] = 0x80;  // in a first byte this still says L = 0
    EXPECT_EQ(Validate(bytes).error, CommandError::kBadPadding) << at;
  }
  EXPECT_EQ(Validate({0x00, 0x00, 0x01, 0x00}).error, CommandError::kBadPadding);
  EXPECT_EQ(Validate({0x10, 0x00}).error, CommandError::kBadPadding);
}

TEST(CommandReader, OneByteLeft) {
  EXPECT_EQ(Validate({0}).error, CommandError::kNone);
  EXPECT_EQ(Validate({1}).error, CommandError::kBadPadding);
  EXPECT_EQ(Validate({0x0f}).error, CommandError::kBadPadding);
  EXPECT_EQ(Validate({0x01, 0xaa, 0}).error, CommandError::kNone);
  EXPECT_EQ(Validate({0x01, 0xaa, 0}).bytes, 2u);
  EXPECT_EQ(Validate({0x01, 0xaa, 9}).error, CommandError::kBadPadding);
}

TEST(CommandReader, LengthsThatAreNone) {
  for (unsigned length = 10; length <= 15; ++length) {
    for (unsigned rest : {0x00u, 0x10u, 0xe0u}) {
      Bytes bytes(64, 0);
      bytes[0] = static_cast<uint8_t>(rest | length);
      EXPECT_EQ(Validate(bytes).error, CommandError::kBadLength);
      bytes.insert(bytes.begin(), {0x01, 0x00});
      EXPECT_EQ(Validate(bytes).error, CommandError::kBadLength);
      EXPECT_EQ(Validate(bytes).count, 0u) << "none of its commands counts";
    }
  }
}

TEST(CommandReader, OverrunAtEveryLength) {
  for (unsigned length : {1u, 9u}) {
    for (unsigned data : {0u, 1u, 2u, 255u, 256u}) {
      TestCommand command{Bytes(length * 2, 0x5a), Bytes(data, 0xa5)};
      command.control[0] = static_cast<uint8_t>((data != 0 ? 0x10 : 0) | length);
      command.control[1] = static_cast<uint8_t>(data - 1);
      Bytes bytes;
      AppendPacked(command, bytes);
      const CommandSummary whole = Validate(bytes);
      EXPECT_EQ(whole.error, CommandError::kNone);
      EXPECT_EQ(whole.count, 1u);
      EXPECT_EQ(whole.bytes, bytes.size());
      for (size_t cut = 2; cut < bytes.size(); ++cut) {
        EXPECT_EQ(Validate(Bytes(bytes.begin(), bytes.begin() + static_cast<long>(cut))).error,
                  CommandError::kOverrun)
            << length << " " << data << " " << cut;
      }
    }
  }
}

TEST(CommandReader, ByteBehindOddDataMustBeZero) {
  EXPECT_EQ(Validate({0x11, 0x00, 0xff, 0x00}).error, CommandError::kNone);
  EXPECT_EQ(Validate({0x11, 0x00, 0xff, 0x01}).error, CommandError::kBadPadding);
  EXPECT_EQ(Validate({0x11, 0x00, 0xff, 0x01, 0x01, 0x00}).error, CommandError::kBadPadding);
}

TEST(CommandReader, StopsAtTheCommandThatIsWrong) {
  const Bytes good{0x01, 0xaa};
  for (const auto& [wrong, error] :
       {std::pair{Bytes{0x11, 0x00, 0xff, 0x01, 0x01, 0xaa}, CommandError::kBadPadding},
        std::pair{Bytes{0x0a, 0x00, 0x01, 0xaa}, CommandError::kBadLength},
        std::pair{Bytes{0x19, 0xff, 0x01, 0xaa}, CommandError::kOverrun}}) {
    Bytes bytes = good;
    bytes.insert(bytes.end(), wrong.begin(), wrong.end());
    CommandReader reader(bytes.data(), static_cast<uint32_t>(bytes.size()));
    EXPECT_TRUE(reader.Next());
    EXPECT_TRUE(reader.IsFollowed());
    EXPECT_TRUE(reader.ok());
    EXPECT_FALSE(reader.Next());
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.error(), error);
  }
}

TEST(CommandReader, StaysAtItsEnd) {
  const Bytes bytes{0x01, 0xaa, 0, 0};
  CommandReader reader(bytes.data(), 4);
  EXPECT_TRUE(reader.Next());
  EXPECT_FALSE(reader.Next());
  EXPECT_FALSE(reader.Next());
  EXPECT_EQ(reader.command(), bytes.data() + 2);
  EXPECT_EQ(reader.error(), CommandError::kNone);
}

TEST(CommandReader, ReadsWhatWasPacked) {
  std::mt19937 random(20240611);
  for (int round = 0; round < 2000; ++round) {
    std::vector<TestCommand> sent(random() % 15);
    Bytes bytes;
    for (TestCommand& command : sent) {
      command = RandomCommand(random);
      AppendPacked(command, bytes);
    }
    const size_t packed = bytes.size();
    bytes.resize(packed + random() % 48, 0);
    std::vector<TestCommand> read;
    CommandReader reader(bytes.data(), static_cast<uint32_t>(bytes.size()));
    while (reader.Next()) {
      const uint8_t* data = reader.command() + reader.shape().control_bytes;
      read.push_back(
          {Bytes(reader.command(), data), Bytes(data, data + reader.shape().data_bytes)});
    }
    ASSERT_EQ(reader.error(), CommandError::kNone) << "round " << round;
    ASSERT_EQ(read, sent) << "round " << round;
    ASSERT_EQ(Validate(bytes).bytes, packed);
    ASSERT_EQ(Validate(bytes).count, sent.size());
  }
}

// The commands of a PDU have no more than 4096 bytes; padding may follow.
TEST(CommandReader, RefusesMoreThanAPduMayHave) {
  const Bytes one(256 + 18, 0);
  Bytes bytes;
  for (int i = 0; i < 16; ++i) {
    bytes.push_back(0x18);  // 16 bytes of control and 240 of data
    bytes.push_back(239);
    bytes.insert(bytes.end(), 254, 0x55);
  }
  ASSERT_EQ(bytes.size(), 4096u);
  EXPECT_EQ(Validate(bytes).error, CommandError::kNone);
  bytes.insert(bytes.end(), 64, 0);
  EXPECT_EQ(Validate(bytes).error, CommandError::kNone);
  EXPECT_EQ(Validate(bytes).bytes, 4096u);
  bytes[4096] = 1;  // a command of two bytes
  EXPECT_EQ(Validate(bytes).error, CommandError::kTooLong);
}

// Walks by runs, of which each ends wherever `stop` says.
CommandSummary WalkRuns(const Bytes& bytes, const std::function<bool()>& stop) {
  CommandReader reader(bytes.data(), static_cast<uint32_t>(bytes.size()));
  uint32_t count = 0;
  while (reader.Next()) {
    CommandRun run = reader.run();
    do ++count;
    while (!stop() && run.Next());
    reader.SkipRun(run);
  }
  if (!reader.ok()) return {.error = reader.error()};
  return {.count = count, .bytes = static_cast<uint32_t>(reader.command() - bytes.data())};
}

TEST(CommandRun, EndsWhereAnotherCommandBegins) {
  const Bytes bytes{0x01, 0xaa, 0x01, 0xaa, 0x01, 0xab, 0x21, 0xab, 0, 0};
  CommandReader reader(bytes.data(), static_cast<uint32_t>(bytes.size()));
  std::vector<long> runs;
  while (reader.Next()) {
    CommandRun run = reader.run();
    while (run.Next()) continue;
    reader.SkipRun(run);
    runs.push_back(run.end() - bytes.data());
  }
  EXPECT_EQ(runs, (std::vector<long>{4, 6, 8}));
  EXPECT_TRUE(reader.ok());
}

// By runs a PDU is judged as it is command by command: also where a run meets a bad padding byte or
// the end in the middle of a command.
TEST(CommandRun, RunsAreJudgedAsSingleCommandsAre) {
  std::mt19937 random(99);
  std::map<CommandError, int> seen;
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes;
    for (size_t runs = random() % 4; runs != 0; --runs) {
      TestCommand command = RandomCommand(random);
      if (random() % 2 == 0 && !command.data.empty()) {
        command.data.resize(1 + command.data.size() % 9);
        command.control[1] = static_cast<uint8_t>(command.data.size() - 1);
      }
      for (size_t count = 1 + random() % 30; count != 0; --count) AppendPacked(command, bytes);
    }
    if (random() % 3 == 0) bytes.resize(bytes.size() + random() % 20, 0);
    if (random() % 2 == 0 && !bytes.empty()) {
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    if (random() % 3 == 0 && bytes.size() > 1) bytes.resize(bytes.size() - 1 - random() % 2);
    const Bytes exact(bytes.begin(), bytes.end());
    const CommandSummary whole = Validate(exact);
    for (const CommandSummary& by_runs : {WalkRuns(exact, [] { return false; }),
                                          WalkRuns(exact, [&] { return random() % 4 == 0; })}) {
      ASSERT_EQ(by_runs.error, whole.error) << round;
      ASSERT_EQ(by_runs.count, whole.count) << round;
      ASSERT_EQ(by_runs.bytes, whole.bytes) << round;
    }
    ++seen[whole.error];
  }
  EXPECT_EQ(seen.size(), 5u) << "every verdict";
}

}  // namespace
}  // namespace suede
