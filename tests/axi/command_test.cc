// SPDX-License-Identifier: Apache-2.0
// Controls of docs/axi.md, octet by octet.
#include "axi/command.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "coded.h"

namespace suede::axi {
namespace {

constexpr Kind kRequests[] = {Kind::kRead, Kind::kWrite, Kind::kWriteWithAttributes};
constexpr Kind kContinuations[] = {Kind::kWriteMore, Kind::kAnswerMore};

Bytes Request(Kind kind, uint32_t number, const Address& address, uint32_t data_bytes) {
  Bytes control(kRequestControlBytes, 0xee);
  EncodeRequest(kind, number, address, data_bytes, control.data());
  return control;
}

Bytes More(Kind kind, uint32_t number, uint8_t part, uint32_t data_bytes) {
  Bytes control(kMoreControlBytes, 0xee);
  EncodeMore(kind, number, part, data_bytes, control.data());
  return control;
}

Bytes AnswerOf(uint32_t number, const Answer& answer, uint32_t data_bytes) {
  Bytes control(kAnswerControlBytes, 0xee);
  EncodeAnswer(number, answer, data_bytes, control.data());
  return control;
}

Parsed Parse(const Bytes& control, uint32_t data_bytes, Command* command) {
  return ParseControl(control.data(), static_cast<uint32_t>(control.size()), data_bytes, command);
}

Parsed Parse(const Bytes& control, uint32_t data_bytes) {
  Command command;
  return Parse(control, data_bytes, &command);
}

constexpr Address kAddress = {.address = 0x2122232425262728,
                              .id = 0xabcd'ef17,
                              .len = 0x1f,
                              .size = 5,
                              .burst = SUEDE_AXI_WRAP,
                              .cache = 0xb,
                              .prot = 6};

TEST(Controls, ARequestIsWrittenAsThePageSays) {
  EXPECT_EQ(Request(Kind::kWrite, 0x01020304, kAddress, 256),
            (Bytes{0xd9, 255, 0xbb, 1, 2, 3, 4, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
                   0x1f, 0xd6, 0x17}));
  EXPECT_EQ(Request(Kind::kRead, 0, {}, 0),
            (Bytes{0xc9, 0, 0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Request(Kind::kWriteWithAttributes, 0, {}, 1)[2], 0xc0);
}

TEST(Controls, AContinuationIsWrittenAsThePageSays) {
  EXPECT_EQ(More(Kind::kWriteMore, 0x01020304, 22, 1), (Bytes{0xd4, 0, 0xd0, 1, 2, 3, 4, 22}));
  EXPECT_EQ(More(Kind::kAnswerMore, 0xffffffff, 1, 256),
            (Bytes{0xd4, 255, 0xf0, 255, 255, 255, 255, 1}));
}

TEST(Controls, AnAnswerIsWrittenAsThePageSays) {
  EXPECT_EQ(AnswerOf(0x01020304,
                     {.is_read = true,
                      .has_beat_responses = true,
                      .response = SUEDE_AXI_DECERR,
                      .beat_user_bytes = 4},
                     17),
            (Bytes{0xd5, 16, 0xef, 1, 2, 3, 4, 0, 0x80, 0}));
  EXPECT_EQ(AnswerOf(9, {.response = SUEDE_AXI_EXOKAY, .user_bytes = 16}, 16),
            (Bytes{0xd5, 15, 0xe1, 0, 0, 0, 9, 0, 0x10, 0}));
  EXPECT_EQ(AnswerOf(9, {.response = SUEDE_AXI_SLVERR, .status = Status::kReset}, 0),
            (Bytes{0xc5, 0, 0xe2, 0, 0, 0, 9, 18, 0, 0}));
}

void ExpectSame(const Address& address, Kind kind) {
  Command command;
  ASSERT_EQ(Parse(Request(kind, 0x81828384, address, 5), 5, &command), Parsed::kCommand);
  EXPECT_EQ(command.kind, kind);
  EXPECT_EQ(command.number, 0x81828384);
  EXPECT_EQ(command.part, 0);
  EXPECT_EQ(std::memcmp(&command.address, &address, sizeof address), 0);
}

TEST(Controls, EachBitOfARequestIsKept) {
  for (const Kind kind : kRequests) {
    for (int bit = 0; bit < 64; ++bit) ExpectSame({.address = uint64_t{1} << bit}, kind);
    for (int bit = 0; bit < 8; ++bit) {
      ExpectSame({.id = 1u << bit}, kind);
      ExpectSame({.len = static_cast<uint8_t>(1 << bit)}, kind);
    }
    for (uint8_t value = 0; value < 16; ++value) {
      ExpectSame({.cache = value}, kind);
      ExpectSame({.size = static_cast<uint8_t>(value & 7)}, kind);
      ExpectSame({.burst = static_cast<uint8_t>(value & 3)}, kind);
      ExpectSame({.prot = static_cast<uint8_t>(value & 7)}, kind);
    }
  }
}

TEST(Controls, FieldsOfAttributesAreNotInARequest) {
  Command command;
  Address address = kAddress;
  address.lock = address.qos = address.region = 1;
  address.user[0] = address.user[1] = 1;
  ASSERT_EQ(Parse(Request(Kind::kWrite, 1, address, 5), 5, &command), Parsed::kCommand);
  EXPECT_EQ(command.address.id, 0x17u);
  EXPECT_EQ(command.address.lock + command.address.qos + command.address.region, 0);
  EXPECT_EQ(command.address.user[0] + command.address.user[1], 0u);
}

TEST(Controls, NumbersAndPartsAreKept) {
  for (const Kind kind : kContinuations) {
    for (int bit = 0; bit < 32; ++bit) {
      const uint32_t number = 1u << bit;
      const auto part = static_cast<uint8_t>(1 << bit % 8);
      Command command;
      ASSERT_EQ(Parse(More(kind, number, part, 256), 256, &command), Parsed::kCommand);
      EXPECT_EQ(command.kind, kind);
      EXPECT_EQ(command.number, number);
      EXPECT_EQ(command.part, part);
    }
  }
}

void ExpectSame(const Answer& answer, uint32_t data_bytes) {
  Command command;
  ASSERT_EQ(Parse(AnswerOf(7, answer, data_bytes), data_bytes, &command), Parsed::kCommand);
  EXPECT_EQ(command.kind, Kind::kAnswer);
  EXPECT_EQ(command.answer.is_read, answer.is_read);
  EXPECT_EQ(command.answer.has_beat_responses, answer.has_beat_responses);
  EXPECT_EQ(command.answer.response, answer.response);
  EXPECT_EQ(command.answer.status, answer.status);
  EXPECT_EQ(command.answer.user_bytes, answer.user_bytes);
  EXPECT_EQ(command.answer.beat_user_bytes, answer.beat_user_bytes);
}

TEST(Controls, EachFieldOfAnAnswerIsKept) {
  for (uint8_t response = 0; response < 4; ++response) {
    for (uint8_t bytes = 0; bytes <= kMaxUserBytes; ++bytes) {
      ExpectSame({.response = response, .user_bytes = bytes}, bytes);
    }
    for (uint8_t bytes = 0; bytes <= kMaxBeatUserBytes; ++bytes) {
      ExpectSame({.is_read = true, .response = response, .beat_user_bytes = bytes}, 1);
      ExpectSame({.is_read = true,
                  .has_beat_responses = true,
                  .response = response,
                  .beat_user_bytes = bytes},
                 256);
    }
  }
  for (const Status status : {Status::kBusy, Status::kMalformed, Status::kReset}) {
    ExpectSame({.response = SUEDE_AXI_SLVERR, .status = status}, 0);
    ExpectSame({.is_read = true, .response = SUEDE_AXI_SLVERR, .status = status}, 0);
  }
}

TEST(Controls, OthersAreForeign) {
  const Bytes good = Request(Kind::kRead, 1, kAddress, 0);
  for (uint8_t opcode_class = 0; opcode_class < 8; ++opcode_class) {
    Bytes control = good;
    control[0] = static_cast<uint8_t>((control[0] & 0x1f) | opcode_class << 5);
    EXPECT_EQ(Parse(control, 0), opcode_class == 6 ? Parsed::kCommand : Parsed::kForeign);
  }
  for (uint8_t kind = 0; kind < 10; ++kind) {
    Bytes control = good;
    control[2] = static_cast<uint8_t>(kind << 4);
    EXPECT_EQ(Parse(control, 0), Parsed::kForeign);
  }
}

TEST(Controls, EachKindHasOneLength) {
  for (uint8_t kind = 10; kind < 16; ++kind) {
    const uint32_t right = kind <= 12 ? 18 : kind == 14 ? 10 : 8;
    for (uint32_t bytes = 0; bytes <= kMaxControlBytes; bytes += 2) {
      Bytes control(bytes);
      if (bytes > 0) control[0] = static_cast<uint8_t>(0xd0 | bytes / 2);
      if (bytes > 2) control[2] = static_cast<uint8_t>(kind << 4);
      if (bytes == 8) control[7] = 1;
      if (kind == 14 && bytes > 2) control[2] |= 8;
      EXPECT_EQ(Parse(control, 1), bytes == right ? Parsed::kCommand : Parsed::kForeign)
          << int{kind} << " " << bytes;
    }
  }
}

// The refusal needs the kind and the number.
void ExpectMalformed(const Bytes& control, uint32_t data_bytes, Kind kind) {
  Command command;
  EXPECT_EQ(Parse(control, data_bytes, &command), Parsed::kMalformed);
  EXPECT_EQ(command.kind, kind);
  EXPECT_EQ(command.number, 0x01020304u);
}

TEST(Controls, AWriteHasData) {
  for (const Kind kind : {Kind::kWrite, Kind::kWriteWithAttributes}) {
    ExpectMalformed(Request(kind, 0x01020304, kAddress, 0), 0, kind);
  }
}

TEST(Controls, AContinuationHasDataAndANumber) {
  for (const Kind kind : kContinuations) {
    ExpectMalformed(More(kind, 0x01020304, 1, 0), 0, kind);
    ExpectMalformed(More(kind, 0x01020304, 0, 5), 5, kind);
    for (int bit = 0; bit < 4; ++bit) {
      Bytes control = More(kind, 0x01020304, 1, 5);
      control[2] |= static_cast<uint8_t>(1 << bit);
      ExpectMalformed(control, 5, kind);
    }
  }
}

void ExpectMalformed(const Answer& answer, uint32_t data_bytes) {
  ExpectMalformed(AnswerOf(0x01020304, answer, data_bytes), data_bytes, Kind::kAnswer);
}

TEST(Controls, AnAnswerHasTheFieldsOfItsDirection) {
  ExpectMalformed({.is_read = true}, 0);
  ExpectMalformed({.is_read = true, .beat_user_bytes = 5}, 5);
  ExpectMalformed({.is_read = true, .beat_user_bytes = 7}, 5);
  ExpectMalformed({.is_read = true, .user_bytes = 1}, 1);
  ExpectMalformed({.has_beat_responses = true}, 0);
  ExpectMalformed({.beat_user_bytes = 1}, 0);
  ExpectMalformed({.user_bytes = 17}, 17);
  ExpectMalformed({.user_bytes = 31}, 31);
  ExpectMalformed({.user_bytes = 2}, 1);
  ExpectMalformed({.user_bytes = 2}, 3);
  ExpectMalformed({.user_bytes = 0}, 1);
  ExpectMalformed({.user_bytes = 1}, 0);
}

TEST(Controls, AnAnswerHasAStatusThatTargetsGive) {
  for (int status = 0; status < 256; ++status) {
    Bytes control = AnswerOf(0x01020304, {.response = SUEDE_AXI_SLVERR}, 0);
    control[7] = static_cast<uint8_t>(status);
    const bool is_good = status == 0 || (status >= 16 && status <= 18);
    EXPECT_EQ(Parse(control, 0), is_good ? Parsed::kCommand : Parsed::kMalformed) << status;
  }
}

TEST(Controls, ARefusalHasNothingElse) {
  for (const Status status : {Status::kBusy, Status::kMalformed, Status::kReset}) {
    for (const bool is_read : {false, true}) {
      for (uint8_t response = 0; response < 4; ++response) {
        if (response == SUEDE_AXI_SLVERR) continue;
        ExpectMalformed({.is_read = is_read, .response = response, .status = status}, 0);
      }
      const Answer good = {.is_read = is_read, .response = SUEDE_AXI_SLVERR, .status = status};
      ExpectMalformed(good, 1);
      Answer bad = good;
      bad.has_beat_responses = true;
      ExpectMalformed(bad, 0);
      bad = good;
      bad.beat_user_bytes = 1;
      ExpectMalformed(bad, 0);
      bad = good;
      bad.user_bytes = 1;
      ExpectMalformed(bad, 0);
    }
  }
}

TEST(Controls, TheLastOctetOfAnAnswerIsZero) {
  for (int bit = 0; bit < 8; ++bit) {
    Bytes control = AnswerOf(0x01020304, {}, 0);
    control[9] = static_cast<uint8_t>(1 << bit);
    ExpectMalformed(control, 0, Kind::kAnswer);
  }
}

TEST(Controls, RequestsAreThoseOfVc0) {
  for (uint8_t kind = 10; kind < 16; ++kind) {
    EXPECT_EQ(IsRequest(static_cast<Kind>(kind)), kind < 14);
  }
}

}  // namespace
}  // namespace suede::axi
