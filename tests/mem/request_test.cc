// SPDX-License-Identifier: Apache-2.0
// The format of docs/memory.md, octet by octet.
#include "mem/request.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mem/response.h"

namespace suede::mem {
namespace {

using Bytes = std::vector<uint8_t>;

struct Command {
  Bytes control = Bytes(kRequestControlBytes);
  Bytes data;
};

Command Encode(const Request& request) {
  Command command;
  EncodeRequest(request, command.control.data());
  command.data.resize(kRequestDataBytes);
  command.data.resize(EncodeOperands(request, command.data.data()));
  if (!IsAtomic(request.opcode) && request.opcode != Opcode::kGet) {
    command.data.insert(command.data.end(), request.data, request.data + request.bytes);
  }
  return command;
}

Parsed Parse(const Command& command, Request* request) {
  return ParseRequest(command.control.data(), static_cast<uint32_t>(command.control.size()),
                      command.data.data(), static_cast<uint32_t>(command.data.size()), request);
}

constexpr uint8_t kOctets[] = {0xd0, 0xd1, 0xd2};

TEST(Requests, APutIsWrittenAsThePageSays) {
  const Command command = Encode({.opcode = Opcode::kPut,
                                  .response_vc = 1,
                                  .window = 0x0a0b,
                                  .bytes = 3,
                                  .number = 0x01020304,
                                  .key = 0x11121314,
                                  .offset = 0x2122232425,
                                  .data = kOctets});
  EXPECT_EQ(command.control, (Bytes{0x99, 2, 0x11, 1, 2, 3, 4, 0x0a, 0x0b, 0x11, 0x12, 0x13, 0x14,
                                    0x21, 0x22, 0x23, 0x24, 0x25}));
  EXPECT_EQ(command.data, (Bytes{0xd0, 0xd1, 0xd2}));
}

TEST(Requests, APutWithImmediateHasItsHeadInTheData) {
  const Command command = Encode({.opcode = Opcode::kPutImmediate,
                                  .bytes = 3,
                                  .offset = 0x100,
                                  .data = kOctets,
                                  .immediate = 0xa1a2a3a4,
                                  .total_bytes = 0x103});
  EXPECT_EQ(command.control[0], 0x99);
  EXPECT_EQ(command.control[1], 10);
  EXPECT_EQ(command.control[2], 0x20);
  EXPECT_EQ(command.data, (Bytes{0xa1, 0xa2, 0xa3, 0xa4, 0, 0, 1, 3, 0xd0, 0xd1, 0xd2}));
}

TEST(Requests, AGetHasItsLengthInTheControl) {
  const Command command = Encode({.opcode = Opcode::kGet, .response_vc = 3, .bytes = 256});
  EXPECT_EQ(command.control[0], 0x89);
  EXPECT_EQ(command.control[1], 255);
  EXPECT_EQ(command.control[2], 0x33);
  EXPECT_TRUE(command.data.empty());
}

TEST(Requests, NothingOfAFormerRequestStays) {
  Request request{.boundary = 7,
                  .data = kOctets,
                  .operand = 8,
                  .desired = 9,
                  .immediate = 10,
                  .total_bytes = 11};
  EXPECT_EQ(Parse(Encode({.opcode = Opcode::kGet, .bytes = 256}), &request), Parsed::kRequest);
  EXPECT_EQ(request.data, nullptr);
  EXPECT_EQ(request.boundary, 0);
  EXPECT_EQ(request.operand | request.desired | request.immediate | request.total_bytes, 0u);
}

TEST(Requests, OperandsAreBigEndianAndAsLongAsTheWidthSays) {
  const Command narrow = Encode({.opcode = Opcode::kCompareSwap,
                                 .operand = 0x0102030405060708,
                                 .desired = 0x1112131415161718});
  EXPECT_EQ(narrow.control[1], 7);
  EXPECT_EQ(narrow.control[2], 0x50);
  EXPECT_EQ(narrow.data, (Bytes{5, 6, 7, 8, 0x15, 0x16, 0x17, 0x18}));
  const Command wide = Encode({.opcode = Opcode::kReadIncrement,
                               .is_wide = true,
                               .boundary = 63,
                               .operand = 0x0102030405060708});
  EXPECT_EQ(wide.control[1], 8);
  EXPECT_EQ(wide.control[2], 0x88);
  EXPECT_EQ(wide.data, (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 63}));
}

TEST(Requests, WhatIsWrittenIsRead) {
  for (const bool is_wide : {false, true}) {
    for (int code = 1; code <= 8; ++code) {
      const auto opcode = static_cast<Opcode>(code);
      if (is_wide && !IsAtomic(opcode)) continue;
      const uint64_t mask = is_wide ? UINT64_MAX : UINT32_MAX;
      const Request sent{.opcode = opcode,
                         .is_wide = is_wide,
                         .response_vc = 2,
                         .boundary = static_cast<uint8_t>(code >= 7 ? 31 : 0),
                         .window = 4095,
                         .bytes = static_cast<uint16_t>(IsAtomic(opcode) ? (is_wide ? 8 : 4) : 3),
                         .number = 0xfffffffe,
                         .key = 7,
                         .offset = kOffsetLimit - 8,
                         .data = kOctets,
                         .operand = 0xfedcba9876543210 & mask,
                         .desired = 0x0123456789abcdef & mask,
                         .immediate = 0x55555555,
                         .total_bytes = 5};
      const Command command = Encode(sent);
      Request read;
      ASSERT_EQ(Parse(command, &read), Parsed::kRequest) << code;
      EXPECT_EQ(read.opcode, opcode);
      EXPECT_EQ(read.is_wide, is_wide);
      EXPECT_EQ(read.response_vc, 2);
      EXPECT_EQ(read.window, 4095);
      EXPECT_EQ(read.bytes, sent.bytes);
      EXPECT_EQ(read.number, sent.number);
      EXPECT_EQ(read.key, 7u);
      EXPECT_EQ(read.offset, sent.offset);
      if (opcode == Opcode::kPut || opcode == Opcode::kPutImmediate) {
        EXPECT_EQ(Bytes(read.data, read.data + read.bytes), Bytes({0xd0, 0xd1, 0xd2}));
      }
      if (opcode == Opcode::kPutImmediate) {
        EXPECT_EQ(read.immediate, 0x55555555u);
        EXPECT_EQ(read.total_bytes, 5u);
      }
      if (IsAtomic(opcode)) {
        EXPECT_EQ(read.operand, sent.operand);
      }
      if (opcode == Opcode::kCompareSwap) {
        EXPECT_EQ(read.desired, sent.desired);
      }
      if (code >= 7) {
        EXPECT_EQ(read.boundary, 31);
      }
    }
  }
}

TEST(Requests, OfAWrongShapeAreMalformedAndKeepTheirNumber) {
  const Command good =
      Encode({.opcode = Opcode::kFetchAdd, .response_vc = 1, .number = 77, .operand = 1});
  Request request;
  const auto expect_malformed = [&](const Command& command, const char* why) {
    EXPECT_EQ(Parse(command, &request), Parsed::kMalformed) << why;
    EXPECT_EQ(request.number, 77u) << why;
    EXPECT_EQ(request.response_vc, 1) << why;
  };
  Command bad = good;
  bad.data.push_back(0);
  expect_malformed(bad, "too much data");
  bad.data.resize(3);
  expect_malformed(bad, "too little data");
  bad = good;
  bad.control[2] |= 0x04;
  expect_malformed(bad, "reserved bit");
  for (const int code : {0, 9, 15}) {
    bad = good;
    bad.control[2] = static_cast<uint8_t>(code << 4 | 1);
    expect_malformed(bad, "unknown operation");
  }
  bad =
      Encode({.opcode = Opcode::kPut, .response_vc = 1, .bytes = 3, .number = 77, .data = kOctets});
  bad.control[2] |= 0x08;
  expect_malformed(bad, "wide put");
  bad.control[2] = 0x11;
  bad.data.clear();
  expect_malformed(bad, "put of nothing");
  bad.control[2] = 0x21;
  bad.data.resize(7);
  expect_malformed(bad, "half a head");
  bad = Encode({.opcode = Opcode::kGet, .response_vc = 1, .bytes = 3, .number = 77});
  bad.data.resize(1);
  expect_malformed(bad, "get with data");
  for (const bool is_wide : {false, true}) {
    bad = Encode({.opcode = Opcode::kIncrement,
                  .is_wide = is_wide,
                  .response_vc = 1,
                  .boundary = static_cast<uint8_t>(is_wide ? 64 : 32),
                  .number = 77});
    expect_malformed(bad, "boundary");
  }
}

TEST(Requests, AnImmediateOfAPutThatBeginsBeforeTheWindowIsMalformed) {
  Request request{.opcode = Opcode::kPutImmediate, .bytes = 3, .offset = 10, .data = kOctets};
  for (const uint32_t total : {3u, 13u}) {
    request.total_bytes = total;
    Request read;
    EXPECT_EQ(Parse(Encode(request), &read), Parsed::kRequest) << total;
  }
  for (const uint32_t total : {0u, 2u, 14u, UINT32_MAX}) {
    request.total_bytes = total;
    Request read;
    EXPECT_EQ(Parse(Encode(request), &read), Parsed::kMalformed) << total;
  }
}

TEST(Requests, OtherCommandsAreForeign) {
  Command command = Encode({.opcode = Opcode::kGet, .bytes = 1});
  Request request;
  for (int other = 0; other < 8; ++other) {
    if (other == kRequestClass) continue;
    command.control[0] = static_cast<uint8_t>(other << 5 | 9);
    EXPECT_EQ(Parse(command, &request), Parsed::kForeign) << other;
  }
  command = Encode({.opcode = Opcode::kGet, .bytes = 1});
  for (size_t bytes = 2; bytes < kRequestControlBytes; bytes += 2) {
    command.control.resize(bytes);
    EXPECT_EQ(Parse(command, &request), Parsed::kForeign) << bytes;
  }
}

// ---- Responses.

Bytes Encode(const Response& response) {
  Bytes control(kResponseControlBytes);
  control.resize(EncodeResponse(response, control.data()));
  return control;
}

bool Parse(const Bytes& control, const Bytes& data, Response* response) {
  return ParseResponse(control.data(), static_cast<uint32_t>(control.size()), data.data(),
                       static_cast<uint32_t>(data.size()), response);
}

TEST(Responses, AreWrittenAsThePageSays) {
  EXPECT_EQ(Encode({.status = Status::kBounds, .count = 0x0203, .number = 0x0a0b0c0d}),
            (Bytes{0xa5, 0, 0x10, 20, 0x0a, 0x0b, 0x0c, 0x0d, 2, 3}));
  EXPECT_EQ(Encode({.kind = Response::Kind::kData, .data_bytes = 256, .number = 1}),
            (Bytes{0xb4, 255, 0x20, 0, 0, 0, 0, 1}));
  EXPECT_EQ(Encode({.kind = Response::Kind::kValue, .number = 1, .value = 0x0102030405060708}),
            (Bytes{0xa8, 0, 0x30, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Responses, WhatIsWrittenIsRead) {
  Response read;
  ASSERT_TRUE(Parse(Encode({.status = Status::kKey, .count = 65535, .number = 9}), {}, &read));
  EXPECT_EQ(read.kind, Response::Kind::kAcknowledgement);
  EXPECT_EQ(read.status, Status::kKey);
  EXPECT_EQ(read.count, 65535);
  EXPECT_EQ(read.number, 9u);
  const Bytes octets = {1, 2, 3};
  ASSERT_TRUE(
      Parse(Encode({.kind = Response::Kind::kData, .data_bytes = 3, .number = 8}), octets, &read));
  EXPECT_EQ(read.kind, Response::Kind::kData);
  EXPECT_EQ(read.data_bytes, 3);
  EXPECT_EQ(read.data, octets.data());
  EXPECT_EQ(read.count, 1);
  ASSERT_TRUE(
      Parse(Encode({.kind = Response::Kind::kValue, .number = 8, .value = UINT64_MAX}), {}, &read));
  EXPECT_EQ(read.value, UINT64_MAX);
}

TEST(Responses, OfAWrongShapeAreNone) {
  Response read;
  const Bytes good = Encode({.count = 2, .number = 9});
  EXPECT_FALSE(Parse(good, {1}, &read)) << "with data";
  Bytes bad = good;
  bad[9] = 0;
  EXPECT_FALSE(Parse(bad, {}, &read)) << "of no requests";
  for (const int status : {1, 15, 24, 32, 33, 255}) {
    bad = good;
    bad[3] = static_cast<uint8_t>(status);
    EXPECT_FALSE(Parse(bad, {}, &read)) << "status " << status;
  }
  bad = good;
  bad[2] = 0x11;
  EXPECT_FALSE(Parse(bad, {}, &read)) << "reserved bits";
  bad[2] = 0x40;
  EXPECT_FALSE(Parse(bad, {}, &read)) << "kind";
  bad = good;
  bad[0] = 0x85;
  EXPECT_FALSE(Parse(bad, {}, &read)) << "class";
  for (size_t bytes = 2; bytes < good.size(); bytes += 2) {
    EXPECT_FALSE(Parse(Bytes(good.begin(), good.begin() + bytes), {}, &read)) << bytes;
  }
  EXPECT_FALSE(Parse(Encode({.kind = Response::Kind::kData, .number = 1}), {}, &read));
  Bytes value = Encode({.kind = Response::Kind::kValue, .number = 1});
  value[3] = 20;
  EXPECT_FALSE(Parse(value, {}, &read)) << "a value of a refused request";
}

}  // namespace
}  // namespace suede::mem
