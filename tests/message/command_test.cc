// SPDX-License-Identifier: Apache-2.0
#include "message/command.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace suede::message {
namespace {

using Octets = std::vector<uint8_t>;

Octets Encode(const Command& command) {
  Octets control(kControlBytes);
  EncodeCommand(command, control.data());
  return control;
}

Parsed Parse(const Octets& control, Command* command, uint32_t data_bytes = 0) {
  static const uint8_t data[kDataBytes] = {};
  return ParseCommand(control.data(), static_cast<uint32_t>(control.size()), data, data_bytes,
                      command);
}

// The tables of docs/sockets.md, "Commands".
TEST(Commands, AreLaidOutAsThePageSays) {
  EXPECT_EQ(Encode({.kind = Kind::kConnect,
                    .traits = {.is_datagram = true, .vc = 2},
                    .id = 0x0102,
                    .epoch = 0x11121314,
                    .own_tag = 0x21222324}),
            (Octets{0xc9, 0, 0x10, 0x21, 0, 0, 0, 0, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
                    1, 2}));
  EXPECT_EQ(Encode({.kind = Kind::kAnnounce,
                    .traits = {.is_private = true, .vc = 1},
                    .id = 5,
                    .epoch = 6,
                    .own_tag = 7}),
            (Octets{0xc9, 0, 0x20, 0x12, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 7, 0, 5}));
  EXPECT_EQ(Encode({.kind = Kind::kAccept, .id = 5, .tag = 8, .own_tag = 7, .limit = 4096}),
            (Octets{0xc9, 0, 0x30, 0, 0, 0, 0, 8, 0, 0, 16, 0, 0, 0, 0, 7, 0, 5}));
  EXPECT_EQ(Encode({.kind = Kind::kCredit, .id = 5, .tag = 8, .limit = 4352, .received = 256}),
            (Octets{0xc9, 0, 0x40, 0, 0, 0, 0, 8, 0, 0, 17, 0, 0, 0, 1, 0, 0, 5}));
  EXPECT_EQ(
      Encode({.kind = Kind::kRefuse, .status = Status::kEpoch, .id = 5, .tag = 8, .epoch = 9}),
      (Octets{0xc9, 0, 0x50, 17, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(Encode({.kind = Kind::kClosed, .id = 5, .tag = 8, .own_tag = 7}),
            (Octets{0xc9, 0, 0x60, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7, 0, 5}));
  EXPECT_EQ(Encode({.kind = Kind::kData,
                    .flags = kFirst | kWantsCredit,
                    .id = 5,
                    .tag = 8,
                    .epoch = 9,
                    .number = 10,
                    .data_bytes = 256}),
            (Octets{0xd9, 255, 0x85, 0, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10, 0, 5}));
  EXPECT_EQ(Encode({.kind = Kind::kEnd,
                    .status = Status::kAborted,
                    .id = 5,
                    .tag = 8,
                    .epoch = 9,
                    .number = 10}),
            (Octets{0xc9, 0, 0x90, 23, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10, 0, 5}));
}

TEST(Commands, AreReadAsTheyWereWritten) {
  Command read;
  ASSERT_EQ(Parse(Encode({.kind = Kind::kConnect,
                          .traits = {.is_datagram = true, .is_private = true, .vc = 3},
                          .id = 65535,
                          .epoch = 0xfedcba98,
                          .own_tag = 0x89abcdef}),
                  &read),
            Parsed::kCommand);
  EXPECT_EQ(read.kind, Kind::kConnect);
  EXPECT_EQ(read.traits, (Traits{.is_datagram = true, .is_private = true, .vc = 3}));
  EXPECT_EQ(read.id, 65535);
  EXPECT_EQ(read.epoch, 0xfedcba98);
  EXPECT_EQ(read.own_tag, 0x89abcdef);
  ASSERT_EQ(
      Parse(Encode({.kind = Kind::kCredit, .limit = 0xffffff00, .received = 0xfffff000}), &read),
      Parsed::kCommand);
  EXPECT_EQ(read.limit, 0xffffff00);
  EXPECT_EQ(read.received, 0xfffff000);
  ASSERT_EQ(
      Parse(Encode({.kind = Kind::kData, .flags = kLast, .number = 77, .data_bytes = 3}), &read, 3),
      Parsed::kCommand);
  EXPECT_EQ(read.flags, kLast);
  EXPECT_EQ(read.number, 77);
  EXPECT_EQ(read.data_bytes, 3);
}

TEST(Commands, NothingOfAFormerCommandStays) {
  const Command former{.flags = kLast,
                       .traits = {.is_datagram = true, .is_private = true, .vc = 3},
                       .status = Status::kAborted,
                       .id = 1,
                       .tag = 2,
                       .epoch = 3,
                       .own_tag = 4,
                       .limit = 5,
                       .received = 6,
                       .number = 7,
                       .data_bytes = 8};
  Command read = former;
  ASSERT_EQ(Parse(Encode({.kind = Kind::kClosed}), &read), Parsed::kCommand);
  EXPECT_EQ(read.traits, Traits{});
  EXPECT_EQ(read.status, Status::kOk);
  EXPECT_EQ(read.flags | read.id | read.tag | read.epoch | read.own_tag | read.limit |
                read.received | read.number | read.data_bytes,
            0u);
  read = former;
  ASSERT_EQ(Parse(Encode({.kind = Kind::kEnd}), &read), Parsed::kCommand);
  EXPECT_EQ(read.own_tag | read.limit | read.received, 0u);
}

TEST(Commands, OthersAreForeign) {
  Command read;
  Octets control = Encode({.kind = Kind::kClosed});
  for (uint32_t type = 0; type < 8; ++type) {
    control[0] = static_cast<uint8_t>(type << 5 | 9);
    EXPECT_EQ(Parse(control, &read), type == kSocketClass ? Parsed::kCommand : Parsed::kForeign);
  }
  control[0] = 0xc8;
  control.resize(16);
  EXPECT_EQ(Parse(control, &read), Parsed::kForeign);
}

TEST(Commands, WhatThePageDoesNotHaveIsMalformed) {
  Command read;
  const auto is_malformed = [&](Octets control, size_t at, uint8_t value, uint32_t data_bytes = 0) {
    control[at] = value;
    return Parse(control, &read, data_bytes) == Parsed::kMalformed;
  };
  const Octets closed = Encode({.kind = Kind::kClosed, .id = 5, .tag = 8});
  for (const int kind : {0, 7, 10, 11, 12, 13, 14, 15}) {
    EXPECT_TRUE(is_malformed(closed, 2, static_cast<uint8_t>(kind << 4)));
    EXPECT_EQ(read.tag, 8u) << "by which it is refused";
    EXPECT_EQ(read.id, 5u);
  }
  EXPECT_TRUE(is_malformed(closed, 2, 0x61));  // flags are DATA's
  EXPECT_TRUE(is_malformed(closed, 3, 1));
  EXPECT_TRUE(is_malformed(closed, 3, 0, 1));  // data are DATA's
  EXPECT_TRUE(is_malformed(Encode({.kind = Kind::kData, .data_bytes = 1}), 2, 0x88, 1));
  EXPECT_TRUE(is_malformed(Encode({.kind = Kind::kConnect}), 3, 0x04));
  EXPECT_TRUE(is_malformed(Encode({.kind = Kind::kConnect}), 3, 0x40));
  EXPECT_TRUE(is_malformed(Encode({.kind = Kind::kRefuse, .status = Status::kEpoch}), 3, 0));
  EXPECT_TRUE(is_malformed(Encode({.kind = Kind::kRefuse, .status = Status::kEpoch}), 3, 24));
  EXPECT_TRUE(is_malformed(Encode({.kind = Kind::kEnd}), 3, 22));
  EXPECT_FALSE(is_malformed(Encode({.kind = Kind::kEnd}), 3, 23));
}

}  // namespace
}  // namespace suede::message
