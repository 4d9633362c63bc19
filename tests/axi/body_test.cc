// SPDX-License-Identifier: Apache-2.0
// Bodies of transactions, from the beats of a bus to those of another.
#include "axi/body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "coded.h"

namespace suede::axi {
namespace {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint64_t Word() { return engine_(); }
  // 0 to count - 1
  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(engine_() % count); }
  bool OneIn(uint32_t count) { return Below(count) == 0; }
  void Shuffle(std::vector<Coded>& commands) { std::ranges::shuffle(commands, engine_); }

 private:
  std::mt19937_64 engine_;
};

// Returns a value of up to 16 octets.
void DrawUser(Random& random, uint64_t user[2]) {
  const uint32_t bits = random.Below(129);
  user[0] = bits == 0 ? 0 : bits >= 64 ? random.Word() : random.Word() >> (64 - bits);
  user[1] = bits <= 64 ? 0 : random.Word() >> (128 - bits);
}

Address DrawAddress(Random& random, uint32_t bus_bytes) {
  constexpr uint8_t kWrapLengths[] = {1, 3, 7, 15};
  for (;;) {
    Address address = {.address = random.Word(),
                       .size = static_cast<uint8_t>(random.Below(8)),
                       .burst = static_cast<uint8_t>(random.Below(3)),
                       .cache = static_cast<uint8_t>(random.Below(16)),
                       .prot = static_cast<uint8_t>(random.Below(8))};
    address.id = random.OneIn(2) ? random.Below(256) : static_cast<uint32_t>(random.Word());
    address.len = static_cast<uint8_t>(random.Below(random.OneIn(4) ? 256 : 16));
    if (address.burst == SUEDE_AXI_WRAP) address.len = kWrapLengths[random.Below(4)];
    if (!random.OneIn(3)) address.address &= ~(uint64_t{SizeOf(address)} - 1);
    if (address.burst == SUEDE_AXI_INCR && random.OneIn(2)) address.address &= ~uint64_t{0xfff};
    if (address.burst == SUEDE_AXI_INCR && random.OneIn(4)) {  // 4 KiB, if the bus is that wide
      address.address &= ~uint64_t{0xfff};
      address.size = static_cast<uint8_t>(4 + random.Below(4));
      address.len = static_cast<uint8_t>(kMaxBurstBytes / SizeOf(address) - 1);
    }
    if (random.OneIn(2)) {
      address.qos = static_cast<uint8_t>(random.Below(16));
      address.region = static_cast<uint8_t>(random.Below(16));
      DrawUser(random, address.user);
    }
    if (random.OneIn(8)) address.lock = 1;
    if (FindViolation(address, bus_bytes) == nullptr) return address;
  }
}

uint32_t UserMask(uint32_t bytes) { return static_cast<uint32_t>((uint64_t{1} << bytes * 8) - 1); }

void DrawBeats(Random& random, Transaction& transaction) {
  transaction.beat_user_bytes = random.OneIn(2) ? 0 : random.Below(5);
  const uint32_t user_mask = UserMask(transaction.beat_user_bytes);
  const bool has_all_strobes = random.OneIn(2);
  const bool has_one_response = random.OneIn(2);
  const auto response = static_cast<uint8_t>(random.Below(4));
  for (uint32_t beat = 0; beat < BeatsOf(transaction.address); ++beat) {
    WriteBeat written = {};
    ReadBeat read = {};
    for (uint8_t& octet : written.data) octet = static_cast<uint8_t>(random.Word());
    std::memcpy(read.data, written.data, sizeof read.data);
    written.strobes[0] = has_all_strobes ? UINT64_MAX : random.Word() | random.Word();
    written.strobes[1] = has_all_strobes ? UINT64_MAX : random.Word() & random.Word();
    written.user = read.user = static_cast<uint32_t>(random.Word()) & user_mask;
    read.response = has_one_response ? response : static_cast<uint8_t>(random.Below(4));
    if (transaction.is_answer)
      transaction.read_beats.push_back(read);
    else
      transaction.write_beats.push_back(written);
  }
}

Transaction Draw(Random& random) {
  Transaction transaction = {.direction = random.OneIn(2) ? Direction::kRead : Direction::kWrite,
                             .is_answer = random.OneIn(2),
                             .bus_bytes = 4u << random.Below(6),
                             .number = static_cast<uint32_t>(random.Word())};
  transaction.address = DrawAddress(random, transaction.bus_bytes);
  const bool is_write = transaction.direction == Direction::kWrite;
  if (transaction.is_answer && is_write) {
    DrawUser(random, transaction.user);
    transaction.response = static_cast<uint8_t>(random.Below(4));
  }
  if (transaction.is_answer != is_write) DrawBeats(random, transaction);
  return transaction;
}

void ExpectRoundTrip(const Transaction& transaction, const std::vector<Coded>& commands) {
  Transaction parsed;
  ASSERT_EQ(Parse(commands, transaction, &parsed), Outcome::kComplete);
  EXPECT_TRUE(AreSame(transaction, parsed));
}

TEST(Bodies, ArriveAsTheyWere) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Transaction transaction = Draw(random);
    std::vector<Coded> commands = Encode(transaction);
    ExpectRoundTrip(transaction, commands);
    random.Shuffle(commands);
    ExpectRoundTrip(transaction, commands);
    if (HasFailure()) return;
  }
}

TEST(Bodies, DoNotDependOnTheBus) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Transaction transaction = {.direction = Direction::kWrite, .bus_bytes = 4};
    transaction.address = DrawAddress(random, 4);
    DrawBeats(random, transaction);
    const std::vector<Coded> commands = Encode(transaction);
    Transaction wide = transaction;
    wide.bus_bytes = 128;
    for (uint32_t i = 0; i < wide.write_beats.size(); ++i) {
      const WriteBeat& from = transaction.write_beats[i];
      WriteBeat& to = wide.write_beats[i];
      to = {.user = from.user};
      const auto lane = static_cast<uint32_t>(BeatAddress(wide.address, i) % 128 / 4 * 4);
      std::memcpy(to.data + lane, from.data, 4);
      to.strobes[lane / 64] = (from.strobes[0] & 15) << lane % 64;
    }
    ASSERT_EQ(Encode(wide), commands) << seed;
  }
}

TEST(Bodies, AreNotWholeWithoutAPart) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Transaction transaction = Draw(random);
    const std::vector<Coded> commands = Encode(transaction);
    for (size_t missing = 0; missing < commands.size(); ++missing) {
      std::vector<Coded> others = commands;
      others.erase(others.begin() + static_cast<int64_t>(missing));
      Transaction parsed;
      ASSERT_EQ(Parse(others, transaction, &parsed), Outcome::kNotYet) << seed << " " << missing;
    }
  }
}

TEST(Bodies, ArePartsOfTheirLength) {
  uint32_t longest = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Transaction transaction = Draw(random);
    const std::vector<Coded> commands = Encode(transaction);
    longest = std::max(longest, static_cast<uint32_t>(commands.size()));
    if (commands.size() == 1 && commands[0].data.empty()) continue;
    const auto part = random.Below(static_cast<uint32_t>(commands.size()));
    const auto last = static_cast<uint32_t>(commands.size()) - 1;
    Transaction parsed;
    std::vector<Coded> bad = commands;
    bad[part].data.pop_back();
    ASSERT_EQ(Parse(bad, transaction, &parsed), Outcome::kMalformed) << seed;
    bad = commands;
    bad[last].data.push_back(0);
    if (bad[last].data.size() > kPartBytes) continue;
    ASSERT_EQ(Parse(bad, transaction, &parsed), Outcome::kMalformed) << seed;
  }
  EXPECT_GE(longest, 20u);
}

TEST(Bodies, HaveNoOtherParts) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const Transaction transaction = Draw(random);
    const std::vector<Coded> commands = Encode(transaction);
    if (commands.size() < 2) continue;
    Transaction parsed;
    std::vector<Coded> bad = commands;
    bad.insert(bad.begin() + random.Below(static_cast<uint32_t>(bad.size())), bad[1]);
    ASSERT_EQ(Parse(bad, transaction, &parsed), Outcome::kMalformed) << "duplicate " << seed;
    for (const uint32_t part : {static_cast<uint32_t>(commands.size()), 23u, 31u, 32u, 255u}) {
      bad = commands;
      Coded more = commands[1];
      more.control[7] = static_cast<uint8_t>(part);
      bad.push_back(more);
      ASSERT_EQ(Parse(bad, transaction, &parsed), Outcome::kMalformed) << part << " " << seed;
      // As soon as the length is known, and not only when all is there.
      bad.erase(bad.end() - 2);
      ASSERT_EQ(Parse(bad, transaction, &parsed), Outcome::kMalformed) << part << " " << seed;
    }
  }
}

// Beats of 64 and 128 octets, whose strobes begin in any bit of an octet.
TEST(Bodies, HaveTheStrobesOfWideBeats) {
  for (uint32_t offset = 0; offset < 128; ++offset) {
    for (const uint8_t size : {uint8_t{6}, uint8_t{7}}) {
      Random random(offset);
      Transaction write = {.direction = Direction::kWrite, .bus_bytes = 128, .number = 7};
      write.address = {.address = 0x1000 + offset, .len = 2, .size = size, .burst = SUEDE_AXI_INCR};
      for (int beat = 0; beat < 3; ++beat) {
        write.write_beats.push_back({.strobes = {random.Word(), random.Word()}});
        for (uint8_t& octet : write.write_beats.back().data) octet = 0xee;
      }
      ASSERT_NO_FATAL_FAILURE(ExpectRoundTrip(write, Encode(write))) << offset;
    }
  }
}

// Finishes the sender's part of a transaction. Returns the kind of the first command.
Kind Fill(const Transaction& transaction, Body& sender, Answer& answer) {
  if (!transaction.is_answer && transaction.direction == Direction::kRead) {
    sender.FinishRead(transaction.address);
    return Kind::kRead;
  }
  sender.Begin(transaction.address);
  for (const WriteBeat& beat : transaction.write_beats) {
    sender.AddBeat(beat, transaction.bus_bytes);
  }
  for (const ReadBeat& beat : transaction.read_beats) sender.AddBeat(beat, transaction.bus_bytes);
  if (!transaction.is_answer) return sender.FinishWrite(transaction.beat_user_bytes);
  if (transaction.direction == Direction::kRead) {
    sender.FinishReadAnswer(transaction.beat_user_bytes, &answer);
  } else {
    sender.FinishWriteAnswer(transaction.user, &answer);
  }
  return Kind::kAnswer;
}

bool IsWhole(const Transaction& transaction, Kind kind, const Answer& answer, Body& receiver) {
  Address address = transaction.address;
  uint64_t user[2];
  switch (kind) {
    case Kind::kRead:
      return receiver.ParseRead(&address);
    case Kind::kAnswer:
      return answer.is_read ? receiver.ParseReadAnswer(answer, address) == Body::Whole::kComplete
                            : receiver.ParseWriteAnswer(answer, user);
    default:
      return receiver.ParseWrite(kind, &address) == Body::Whole::kComplete &&
             std::memcmp(&address, &transaction.address, sizeof address) == 0;
  }
}

TEST(Bodies, AreUsedAgain) {
  Body sender;
  Body receiver;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const Transaction transaction = Draw(random);
    const std::vector<Coded> commands = Encode(transaction);
    Answer answer;
    const Kind kind = Fill(transaction, sender, answer);
    ASSERT_EQ(PartsOf(sender.bytes()), commands.size());
    receiver.BeginParts();
    for (uint32_t part = 0; part < commands.size(); ++part) {
      const Bytes data(sender.Part(part), sender.Part(part) + sender.PartBytes(part));
      ASSERT_EQ(data, commands[part].data) << seed;
      ASSERT_TRUE(receiver.Store(part, data.data(), static_cast<uint32_t>(data.size())));
    }
    ASSERT_TRUE(IsWhole(transaction, kind, answer, receiver)) << seed;
  }
}

// ---- Store

TEST(Parts, AreStoredOnce) {
  Body body;
  body.BeginParts();
  const Bytes data(kPartBytes, 7);
  EXPECT_FALSE(body.HasPart(0));
  EXPECT_TRUE(body.Store(0, data.data(), kPartBytes));
  EXPECT_TRUE(body.HasPart(0));
  EXPECT_FALSE(body.Store(0, data.data(), kPartBytes));
  EXPECT_FALSE(body.HasPart(1));
  body.BeginParts();
  EXPECT_FALSE(body.HasPart(0));
  EXPECT_EQ(body.bytes(), 0u);
}

TEST(Parts, EndWithTheLongestBody) {
  Body body;
  const Bytes data(kPartBytes + 1, 7);
  constexpr uint32_t kRest = kMaxBodyBytes % kPartBytes;
  EXPECT_EQ(kMaxBodyBytes, 22u + 4 * 256 + 512 + 4096);
  EXPECT_EQ(kMaxParts, 23u);
  body.BeginParts();
  EXPECT_FALSE(body.Store(kMaxParts - 1, data.data(), kRest + 1));
  EXPECT_TRUE(body.Store(kMaxParts - 1, data.data(), kRest));
  EXPECT_EQ(body.bytes(), kMaxBodyBytes);
  for (const uint32_t part : {23u, 24u, 31u, 32u, 255u}) {
    EXPECT_FALSE(body.Store(part, data.data(), 1)) << part;
  }
  EXPECT_FALSE(body.Store(0, data.data(), kPartBytes + 1));
}

TEST(Parts, OneIsShort) {
  Body body;
  const Bytes data(kPartBytes, 7);
  body.BeginParts();
  EXPECT_TRUE(body.Store(3, data.data(), 255));
  EXPECT_FALSE(body.Store(2, data.data(), 255));
  EXPECT_TRUE(body.Store(2, data.data(), 256));
}

TEST(Parts, AreCountedByTheirBytes) {
  EXPECT_EQ(PartsOf(0), 1u);
  EXPECT_EQ(PartsOf(1), 1u);
  EXPECT_EQ(PartsOf(256), 1u);
  EXPECT_EQ(PartsOf(257), 2u);
  EXPECT_EQ(PartsOf(kMaxBodyBytes), kMaxParts);
}

}  // namespace
}  // namespace suede::axi
