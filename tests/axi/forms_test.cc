// SPDX-License-Identifier: Apache-2.0
// Bodies of docs/axi.md, octet by octet, and bodies that break its rules.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "axi/body.h"
#include "coded.h"

namespace suede::axi {
namespace {

void ExpectArrives(const Transaction& transaction, const std::vector<Coded>& commands) {
  Transaction parsed;
  ASSERT_EQ(Parse(commands, transaction, &parsed), Outcome::kComplete);
  EXPECT_TRUE(AreSame(transaction, parsed));
}

// ---- Writes

Transaction WriteOf(const Address& address, uint32_t bus_bytes) {
  Transaction write = {
      .direction = Direction::kWrite, .bus_bytes = bus_bytes, .number = 7, .address = address};
  for (uint32_t beat = 0; beat < BeatsOf(address); ++beat) {
    WriteBeat written = {.strobes = {UINT64_MAX, UINT64_MAX}};
    for (uint32_t lane = 0; lane < kMaxBusBytes; ++lane) {
      written.data[lane] = static_cast<uint8_t>(0x10 * (beat + 1) + lane);
    }
    write.write_beats.push_back(written);
  }
  return write;
}

TEST(Writes, PlainOnesAreActiveOctets) {
  const std::vector<Coded> commands =
      Encode(WriteOf({.address = 0x1003, .id = 255, .len = 1, .size = 2, .burst = 1}, 8));
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].control[2], 0xb0);
  EXPECT_EQ(commands[0].data, (Bytes{0x13, 0x24, 0x25, 0x26, 0x27}));
}

TEST(Writes, WrapInTheOrderOfTheirBeats) {
  const std::vector<Coded> commands =
      Encode(WriteOf({.address = 0x1004, .len = 1, .size = 2, .burst = SUEDE_AXI_WRAP}, 8));
  EXPECT_EQ(commands[0].data, (Bytes{0x14, 0x15, 0x16, 0x17, 0x20, 0x21, 0x22, 0x23}));
}

TEST(Writes, FixedOnesUseTheSameLanes) {
  const std::vector<Coded> commands =
      Encode(WriteOf({.address = 0x1006, .len = 1, .size = 2, .burst = SUEDE_AXI_FIXED}, 8));
  EXPECT_EQ(commands[0].data, (Bytes{0x16, 0x17, 0x26, 0x27}));
}

TEST(Writes, StrobesAreBitsOfActiveOctets) {
  Transaction write = WriteOf({.address = 0x1001, .len = 2, .size = 2, .burst = 1}, 4);
  write.write_beats[0].strobes[0] = 0b1011;  // bit 0 is not active
  write.write_beats[1].strobes[0] = 0;
  const std::vector<Coded> commands = Encode(write);
  EXPECT_EQ(commands[0].control[2], 0xc0);
  EXPECT_EQ(commands[0].data, (Bytes{0x40, 0, 0, 0, 0, 0,  //
                                     0b10000101, 0b111,    //
                                     0x11, 0, 0x13, 0, 0, 0, 0, 0x30, 0x31, 0x32, 0x33}));
}

TEST(Writes, AttributesAreWrittenAsThePageSays) {
  Transaction write = WriteOf({.address = 0x1000,
                               .user = {0x0102030405060708, 0x1a},
                               .id = 0xa1a2a3a4,
                               .len = 1,
                               .size = 0,
                               .burst = 1,
                               .lock = 1,
                               .qos = 0xc,
                               .region = 0xd},
                              4);
  write.beat_user_bytes = 3;
  write.write_beats[0].user = 0x313233;
  write.write_beats[1].user = 0x41;
  EXPECT_EQ(Encode(write)[0].data, (Bytes{0x80, 0xcd, 0xa1, 0xa2, 0xa3, 0x69,           //
                                          0x1a, 1,    2,    3,    4,    5,    6, 7, 8,  //
                                          0x31, 0x32, 0x33, 0,    0,    0x41,           //
                                          0x10, 0x21}));
}

// Each field that only attributes carry needs them.
TEST(Writes, EachFieldOfAttributesNeedsThem) {
  const Address plain = {.address = 0x1000, .id = 255, .size = 2, .burst = 1};
  EXPECT_EQ(Encode(WriteOf(plain, 4))[0].control[2] >> 4, 11);
  std::vector<Address> others(6, plain);
  others[0].id = 256;
  others[1].lock = 1;
  others[2].qos = 1;
  others[3].region = 1;
  others[4].user[0] = 1;
  others[5].user[1] = 1;
  for (const Address& address : others) {
    const Transaction write = WriteOf(address, 4);
    const std::vector<Coded> commands = Encode(write);
    EXPECT_EQ(commands[0].control[2] >> 4, 12);
    ExpectArrives(write, commands);
    Transaction read = {.address = address};
    EXPECT_GE(Encode(read)[0].data.size(), 6u);
    ExpectArrives(read, Encode(read));
  }
}

TEST(Writes, UserValuesHaveTheOctetsThatTheyNeed) {
  for (uint32_t bits = 0; bits <= 128; ++bits) {
    Transaction write = WriteOf({.address = 0x1000, .size = 2, .burst = 1}, 4);
    if (bits > 64)
      write.address.user[1] = uint64_t{1} << (bits - 65);
    else if (bits > 0)
      write.address.user[0] = uint64_t{1} << (bits - 1);
    const std::vector<Coded> commands = Encode(write);
    const uint32_t attributes = bits == 0 ? 0 : 6 + (bits + 7) / 8;
    EXPECT_EQ(commands[0].data.size(), attributes + 4) << bits;
    ExpectArrives(write, commands);
  }
}

TEST(Writes, TheLongestHas23Commands) {
  Transaction write = WriteOf(
      {.address = 0x1000, .user = {UINT64_MAX, UINT64_MAX}, .len = 255, .size = 4, .burst = 1}, 16);
  write.beat_user_bytes = 4;
  write.write_beats[100].strobes[0] = 0x5555;
  const std::vector<Coded> commands = Encode(write);
  EXPECT_EQ(commands.size(), 23u);
  EXPECT_EQ(commands[22].data.size(), 22u);
  EXPECT_EQ(commands[22].control[7], 22);
  ExpectArrives(write, commands);
}

// ---- Malformed bodies

void ExpectMalformed(const Transaction& transaction, const std::vector<Coded>& commands) {
  Transaction parsed;
  EXPECT_EQ(Parse(commands, transaction, &parsed), Outcome::kMalformed);
}

TEST(MalformedWrites, ReservedBits) {
  const Transaction write = WriteOf({.address = 0x1000, .size = 2, .burst = 1, .qos = 1}, 4);
  const std::vector<Coded> good = Encode(write);
  for (int bit = 0; bit < 6; ++bit) {
    std::vector<Coded> bad = good;
    bad[0].data[0] = static_cast<uint8_t>(1 << bit);
    ExpectMalformed(write, bad);
  }
}

TEST(MalformedWrites, OctetsOfUserValues) {
  const Transaction write = WriteOf({.address = 0x1000, .size = 2, .burst = 1, .qos = 1}, 4);
  for (int octets = 0; octets < 256; ++octets) {
    std::vector<Coded> commands = Encode(write);
    commands[0].data[5] = static_cast<uint8_t>(octets);
    const int user = octets & 31;
    const int beat_user = octets >> 5;
    commands[0].data.insert(commands[0].data.begin() + 6, static_cast<size_t>(user + beat_user), 1);
    Transaction parsed;
    const bool is_good = user <= 16 && beat_user <= 4;
    EXPECT_EQ(Parse(commands, write, &parsed), is_good ? Outcome::kComplete : Outcome::kMalformed)
        << octets;
    if (!is_good || user == 0) continue;
    commands[0].data[6] = 0;
    ExpectMalformed(write, commands);
  }
}

TEST(MalformedWrites, AttributesThatAreNotWhole) {
  const Transaction write = WriteOf(
      {.address = 0x1000, .user = {UINT64_MAX, UINT64_MAX}, .size = 2, .burst = 1, .qos = 1}, 4);
  for (size_t bytes = 1; bytes < 26; ++bytes) {
    std::vector<Coded> commands = Encode(write);
    commands[0].data.resize(bytes);
    ExpectMalformed(write, commands);
  }
}

TEST(MalformedWrites, AttributesThatSayNothing) {
  Transaction write = WriteOf({.address = 0x1000, .size = 2, .burst = 1}, 4);
  std::vector<Coded> commands = Encode(write);
  commands[0].control[2] = 0xc0;
  commands[0].data.insert(commands[0].data.begin(), 6, 0);
  ExpectMalformed(write, commands);
  Transaction read = {.address = {.address = 0x1000, .size = 2, .burst = 1}};
  commands = Encode(read);
  commands[0].data.resize(6);
  ExpectMalformed(read, commands);
}

TEST(MalformedWrites, RulesOfAxi4) {
  Transaction write = WriteOf({.address = 0x1000, .len = 1, .size = 2, .burst = 1}, 4);
  for (const int shape : {0x0b, 0x0a}) {  // AxBURST 3; WRAP of an unaligned address
    std::vector<Coded> commands = Encode(write);
    commands[0].control[14] = 2;
    commands[0].control[16] = static_cast<uint8_t>(shape);
    ExpectMalformed(write, commands);
  }
  std::vector<Coded> commands = Encode(write);
  commands[0].control[13] = 0x1f;
  commands[0].control[14] = 0xfc;
  ExpectMalformed(write, commands);
}

TEST(MalformedWrites, Strobes) {
  Transaction write = WriteOf({.address = 0x1001, .len = 2, .size = 2, .burst = 1}, 4);
  write.write_beats[1].strobes[0] = 0b0111;
  const std::vector<Coded> good = Encode(write);
  ASSERT_EQ(good[0].data.size(), 6 + 2 + 11u);
  ExpectArrives(write, good);
  for (int bit = 3; bit < 8; ++bit) {
    std::vector<Coded> bad = good;
    bad[0].data[7] |= static_cast<uint8_t>(1 << bit);
    ExpectMalformed(write, bad);
  }
  std::vector<Coded> bad = good;
  bad[0].data[8 + 6] = 1;  // an octet whose strobe is 0
  ExpectMalformed(write, bad);
  bad = good;
  bad[0].data[6] = 0xff;  // all are 1
  ExpectMalformed(write, bad);
}

// ---- Reads

TEST(Reads, HaveNoDataWithoutAttributes) {
  const Transaction read = {.address = {.address = 0x1000, .size = 2, .burst = 1}};
  const std::vector<Coded> commands = Encode(read);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_TRUE(commands[0].data.empty());
}

TEST(Reads, AttributesHaveNothingOfWrites) {
  const Transaction read = {.address = {.address = 0x1000, .size = 2, .burst = 1, .qos = 1}};
  for (int bit = 0; bit < 7; ++bit) {
    std::vector<Coded> bad = Encode(read);
    bad[0].data[0] |= static_cast<uint8_t>(1 << bit);
    ExpectMalformed(read, bad);
  }
  for (int octets = 1; octets < 8; ++octets) {
    std::vector<Coded> bad = Encode(read);
    bad[0].data[5] |= static_cast<uint8_t>(octets << 5);
    ExpectMalformed(read, bad);
  }
}

TEST(Reads, AttributesHaveOneLength) {
  const Transaction read = {
      .address = {.address = 0x1000, .user = {0x1234, 0}, .size = 2, .burst = 1}};
  const std::vector<Coded> good = Encode(read);
  ASSERT_EQ(good[0].data.size(), 8u);
  for (size_t bytes = 1; bytes <= 256; ++bytes) {
    if (bytes == 8) continue;
    std::vector<Coded> bad = good;
    bad[0].data.resize(bytes);
    ExpectMalformed(read, bad);
  }
}

TEST(Reads, AreChecked) {
  Transaction read = {.address = {.address = 0x1ffe, .len = 1, .size = 2, .burst = 1}};
  ExpectMalformed(read, Encode(read));
  read.address = {.address = 0x1001, .len = 1, .size = 2, .burst = 1, .lock = 1};
  ExpectMalformed(read, Encode(read));
}

// ---- Answers

Transaction AnswerOf(const Address& address, uint32_t bus_bytes) {
  Transaction answer = {.direction = Direction::kRead,
                        .is_answer = true,
                        .bus_bytes = bus_bytes,
                        .number = 7,
                        .address = address};
  for (uint32_t beat = 0; beat < BeatsOf(address); ++beat) {
    ReadBeat read = {};
    for (uint32_t lane = 0; lane < kMaxBusBytes; ++lane) {
      read.data[lane] = static_cast<uint8_t>(0x10 * (beat + 1) + lane);
    }
    answer.read_beats.push_back(read);
  }
  return answer;
}

constexpr Address kFiveBeats = {.address = 0x1001, .len = 4, .size = 1, .burst = 1};

TEST(ReadAnswers, AreWrittenAsThePageSays) {
  Transaction answer = AnswerOf(kFiveBeats, 4);
  answer.beat_user_bytes = 2;
  for (uint32_t i = 0; i < 5; ++i) answer.read_beats[i].user = 0x5000 + i;
  answer.read_beats[1].response = SUEDE_AXI_SLVERR;
  answer.read_beats[4].response = SUEDE_AXI_EXOKAY;
  const std::vector<Coded> commands = Encode(answer);
  EXPECT_EQ(commands[0].control, (Bytes{0xd5, 20, 0xee, 0, 0, 0, 7, 0, 0x40, 0}));
  EXPECT_EQ(commands[0].data, (Bytes{0x08, 0x01,                                               //
                                     0x50, 0,    0x50, 1,    0x50, 2,    0x50, 3,    0x50, 4,  //
                                     0x11, 0x22, 0x23, 0x30, 0x31, 0x42, 0x43, 0x50, 0x51}));
  ExpectArrives(answer, commands);
}

TEST(ReadAnswers, OneResponseIsInTheControl) {
  for (uint8_t response = 0; response < 4; ++response) {
    Transaction answer = AnswerOf(kFiveBeats, 4);
    for (ReadBeat& beat : answer.read_beats) beat.response = response;
    const std::vector<Coded> commands = Encode(answer);
    EXPECT_EQ(commands[0].control[2], 0xe8 | response);
    EXPECT_EQ(commands[0].data.size(), 9u);
    ExpectArrives(answer, commands);
  }
}

TEST(ReadAnswers, ResponsesOfBeatsHaveOneForm) {
  Transaction answer = AnswerOf(kFiveBeats, 4);
  answer.read_beats[1].response = SUEDE_AXI_SLVERR;
  const std::vector<Coded> good = Encode(answer);
  ASSERT_EQ(good[0].data[0], 0x08);
  ExpectArrives(answer, good);
  for (int bit = 2; bit < 8; ++bit) {  // beats that are not there
    std::vector<Coded> bad = good;
    bad[0].data[1] |= static_cast<uint8_t>(1 << bit);
    ExpectMalformed(answer, bad);
  }
  for (const int worst : {0, 1, 3}) {
    std::vector<Coded> bad = good;
    bad[0].control[2] = static_cast<uint8_t>(0xec | worst);
    ExpectMalformed(answer, bad);
  }
  std::vector<Coded> bad = good;
  bad[0].data[0] = 0xaa;  // all are the same
  bad[0].data[1] = 0x02;
  ExpectMalformed(answer, bad);
}

TEST(WriteAnswers, HaveTheOctetsOfBuserThatTheyNeed) {
  for (uint32_t bits = 0; bits <= 128; ++bits) {
    Transaction answer = {.direction = Direction::kWrite, .is_answer = true};
    if (bits > 64)
      answer.user[1] = uint64_t{1} << (bits - 65);
    else if (bits > 0)
      answer.user[0] = uint64_t{1} << (bits - 1);
    std::vector<Coded> commands = Encode(answer);
    ASSERT_EQ(commands.size(), 1u);
    EXPECT_EQ(commands[0].data.size(), (bits + 7) / 8);
    EXPECT_EQ(commands[0].control[8], (bits + 7) / 8);
    ExpectArrives(answer, commands);
    if (bits == 0) continue;
    commands[0].data[0] = 0;
    ExpectMalformed(answer, commands);
  }
}

TEST(Refusals, HaveNoBody) {
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    const Transaction answer = {.direction = direction,
                                .is_answer = true,
                                .address = kFiveBeats,
                                .status = Status::kBusy,
                                .response = SUEDE_AXI_SLVERR};
    const std::vector<Coded> commands = Encode(answer);
    ASSERT_EQ(commands.size(), 1u);
    EXPECT_TRUE(commands[0].data.empty());
    ExpectArrives(answer, commands);
  }
}

}  // namespace
}  // namespace suede::axi
