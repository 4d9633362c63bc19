// SPDX-License-Identifier: Apache-2.0
#include "mem/target.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace suede::mem {
namespace {

struct SentResponse {
  Route to;
  Response response;
  std::vector<uint8_t> data;
};

// Takes responses while it has credit for {plane, XPU, VC}.
class CreditedSink final : public ResponseSink {
 public:
  bool Send(const Route& to, const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
            uint32_t data_bytes) override {
    if (is_full || to.xpuid == stopped) return false;
    SentResponse one{.to = to, .response = {}, .data = {data, data + data_bytes}};
    EXPECT_TRUE(ParseResponse(control, control_bytes, one.data.data(), data_bytes, &one.response));
    sent.push_back(std::move(one));
    return true;
  }
  int stopped = -1;
  bool is_full = false;
  std::deque<SentResponse> sent;
};

class Targets : public testing::Test {
 protected:
  void Make(const TargetParams& params = {}) {
    target = std::make_unique<Target>(params);
    target->windows().Add(1,
                          {.base = memory, .bytes = sizeof memory, .rights = Window::kAllRights});
  }
  void SetUp() override { Make(); }
  void TearDown() override { target->CheckInvariants(); }

  void Do(Request request, uint16_t from = 5, uint8_t plane = 0) {
    uint8_t control[kRequestControlBytes];
    uint8_t data[kRequestDataBytes];
    request.window = request.window == 0 ? 1 : request.window;
    request.response_vc = 1;
    EncodeRequest(request, control);
    uint32_t data_bytes = EncodeOperands(request, data);
    if (!IsAtomic(request.opcode) && request.opcode != Opcode::kGet) {
      for (uint32_t i = 0; i < request.bytes; ++i) data[data_bytes++] = request.data[i];
    }
    target->OnCommand({.xpuid = from, .plane = plane, .vc = 0}, control, sizeof control, data,
                      data_bytes, sink);
  }
  void Put(uint32_t number, uint64_t offset, uint16_t from = 5) {
    Do({.opcode = Opcode::kPut, .bytes = 4, .number = number, .offset = offset, .data = octets},
       from);
  }
  // The oldest response that was sent.
  SentResponse Take() {
    EXPECT_FALSE(sink.sent.empty());
    if (sink.sent.empty()) return {};
    SentResponse first = sink.sent.front();
    sink.sent.pop_front();
    return first;
  }

  alignas(8) uint8_t memory[512] = {};
  const uint8_t octets[256] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::unique_ptr<Target> target;
  CreditedSink sink;
};

TEST_F(Targets, APutIsInMemoryAndIsAcknowledged) {
  Put(9, 16);
  EXPECT_EQ(memory[16], 1);
  EXPECT_EQ(memory[19], 4);
  EXPECT_EQ(memory[20], 0);
  target->Flush(sink);
  const SentResponse sent = Take();
  EXPECT_EQ(sent.to, (Route{.xpuid = 5, .plane = 0, .vc = 1}));
  EXPECT_EQ(sent.response.status, Status::kOk);
  EXPECT_EQ(sent.response.number, 9u);
  EXPECT_EQ(target->counters().executed[1], 1u);
  EXPECT_EQ(target->counters().written_bytes, 4u);
}

TEST_F(Targets, ConsecutiveAcknowledgementsAreJoined) {
  for (uint32_t number = 0xfffffffe; number != 3; ++number) Put(number, 0);
  target->Flush(sink);
  const SentResponse sent = Take();
  EXPECT_EQ(sent.response.number, 0xfffffffeu);
  EXPECT_EQ(sent.response.count, 5u);
  EXPECT_TRUE(sink.sent.empty());
}

TEST_F(Targets, OthersAreNot) {
  Put(1, 0);
  Put(3, 0);       // another number
  Put(4, 0, 6);    // another initiator
  Put(5, 510, 6);  // another status
  target->Flush(sink);
  EXPECT_EQ(sink.sent.size(), 4u);
  EXPECT_EQ(sink.sent.back().response.status, Status::kBounds);
  EXPECT_EQ(sink.sent.back().response.count, 1u);
}

TEST_F(Targets, ResponsesOfOneInitiatorKeepTheOrderOfItsRequests) {
  Put(1, 0);
  Do({.opcode = Opcode::kGet, .bytes = 4, .number = 2});
  Put(3, 0);
  target->Flush(sink);
  for (const uint32_t number : {1u, 2u, 3u}) EXPECT_EQ(Take().response.number, number);
}

TEST_F(Targets, AGetReturnsTheOctets) {
  Put(1, 100);
  Do({.opcode = Opcode::kGet, .bytes = 6, .number = 2, .offset = 99});
  target->Flush(sink);
  Take();
  const SentResponse sent = Take();
  EXPECT_EQ(sent.response.kind, Response::Kind::kData);
  EXPECT_EQ(sent.data, (std::vector<uint8_t>{0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(target->counters().read_bytes, 6u);
}

TEST_F(Targets, AtomicsReturnTheOldValueAndIncrementsAnAcknowledgement) {
  memory[8] = 7;
  Do({.opcode = Opcode::kFetchAdd, .is_wide = true, .number = 1, .offset = 8, .operand = 3});
  Do({.opcode = Opcode::kReadIncrement, .boundary = 31, .number = 2, .offset = 8, .operand = 1});
  Do({.opcode = Opcode::kIncrement, .boundary = 31, .number = 3, .offset = 8, .operand = 1});
  target->Flush(sink);
  SentResponse sent = Take();
  EXPECT_EQ(sent.response.kind, Response::Kind::kValue);
  EXPECT_EQ(sent.response.value, 7u);
  EXPECT_EQ(Take().response.value, 10u);
  EXPECT_EQ(Take().response.kind, Response::Kind::kAcknowledgement);
  EXPECT_EQ(memory[8], 12);
}

TEST_F(Targets, ARefusedRequestTouchesNothingAndIsCounted) {
  Do({.opcode = Opcode::kPut, .window = 2, .bytes = 4, .number = 1, .data = octets});
  Do({.opcode = Opcode::kPut, .bytes = 4, .number = 2, .offset = 509, .data = octets});
  Do({.opcode = Opcode::kFetchAdd, .number = 3, .offset = 2, .operand = 1});
  target->Flush(sink);
  EXPECT_EQ(Take().response.status, Status::kNoWindow);
  EXPECT_EQ(Take().response.status, Status::kBounds);
  const SentResponse sent = Take();
  EXPECT_EQ(sent.response.status, Status::kAlignment);
  EXPECT_EQ(sent.response.kind, Response::Kind::kAcknowledgement);
  for (const uint8_t octet : memory) ASSERT_EQ(octet, 0);
  EXPECT_EQ(target->counters().refused[SUEDE_MEM_BOUNDS - 16], 1u);
  EXPECT_EQ(target->counters().executed[1], 0u);
}

TEST_F(Targets, MalformedRequestsAreAnsweredAndForeignCommandsAreNot) {
  uint8_t control[kRequestControlBytes] = {0x89, 0, 0xf2, 0, 0, 0, 44};
  target->OnCommand({.xpuid = 5}, control, sizeof control, nullptr, 0, sink);
  control[0] = 0x09;
  target->OnCommand({.xpuid = 5}, control, sizeof control, nullptr, 0, sink);
  target->Flush(sink);
  const SentResponse sent = Take();
  EXPECT_EQ(sent.response.status, Status::kMalformed);
  EXPECT_EQ(sent.response.number, 44u);
  EXPECT_EQ(sent.to.vc, 2);
  EXPECT_TRUE(sink.sent.empty());
  EXPECT_EQ(target->counters().foreign, 1u);
}

TEST_F(Targets, ANoticeSaysWhichPutItWasOf) {
  Do({.opcode = Opcode::kPutImmediate,
      .bytes = 4,
      .number = 1,
      .offset = 260,
      .data = octets,
      .immediate = 99,
      .total_bytes = 250});
  EXPECT_EQ(memory[260], 1);
  Notice notice;
  ASSERT_TRUE(target->TakeNotice(&notice));
  EXPECT_EQ(notice.source, 5);
  EXPECT_EQ(notice.window, 1);
  EXPECT_EQ(notice.offset, 14u);
  EXPECT_EQ(notice.bytes, 250u);
  EXPECT_EQ(notice.immediate, 99u);
  EXPECT_FALSE(target->has_notices());
  EXPECT_FALSE(target->TakeNotice(&notice));
}

// The lcore has executed the request and answered it.
TEST_F(Targets, AWindowThatTheLcoreServesGetsNoticesAlone) {
  Make({.notice_places = 2});
  target->windows().Add(
      2, {.base = memory, .bytes = 256, .rights = Window::kAllRights, .is_served_by_lcore = true});
  const auto notice_of = [&](uint32_t immediate, uint16_t bytes) {
    Do({.opcode = Opcode::kPutImmediate,
        .window = 2,
        .bytes = bytes,
        .offset = 100,
        .data = octets,
        .immediate = immediate,
        .total_bytes = 60});
  };
  EXPECT_FALSE(target->has_notices());
  notice_of(7, 0);
  EXPECT_TRUE(target->has_notices());
  notice_of(8, 1);
  Do({.opcode = Opcode::kPut, .window = 2, .bytes = 4, .data = octets});
  Do({.opcode = Opcode::kGet, .window = 2, .bytes = 4});
  EXPECT_EQ(target->counters().foreign, 3u);
  notice_of(9, 0);
  notice_of(10, 0);
  EXPECT_EQ(target->counters().foreign, 4u) << "there is no place";
  EXPECT_EQ(target->free_notice_places(), 0u);
  Notice notice;
  ASSERT_TRUE(target->TakeNotice(&notice));
  EXPECT_EQ(notice.source, 5);
  EXPECT_EQ(notice.window, 2);
  EXPECT_EQ(notice.offset, 40u);
  EXPECT_EQ(notice.bytes, 60u);
  EXPECT_EQ(notice.immediate, 7u);
  ASSERT_TRUE(target->TakeNotice(&notice));
  EXPECT_EQ(notice.immediate, 9u);
  EXPECT_FALSE(target->TakeNotice(&notice));
  target->Flush(sink);
  EXPECT_TRUE(sink.sent.empty());
  for (const uint8_t octet : memory) ASSERT_EQ(octet, 0);
}

TEST_F(Targets, AFullQueueOfNoticesRefusesAndTouchesNothing) {
  Make({.notice_places = 2});
  const auto put = [&](uint32_t number) {
    Do({.opcode = Opcode::kPutImmediate,
        .bytes = 1,
        .number = number,
        .offset = number,
        .data = octets,
        .immediate = number,
        .total_bytes = 1});
    target->Flush(sink);
    return Take().response.status;
  };
  EXPECT_EQ(put(1), Status::kOk);
  EXPECT_EQ(put(2), Status::kOk);
  EXPECT_EQ(put(3), Status::kBusy);
  EXPECT_EQ(memory[3], 0);
  Notice notice;
  ASSERT_TRUE(target->TakeNotice(&notice));
  EXPECT_EQ(notice.immediate, 1u);
  EXPECT_EQ(put(4), Status::kOk);
  ASSERT_TRUE(target->TakeNotice(&notice));
  EXPECT_EQ(notice.immediate, 2u);
  ASSERT_TRUE(target->TakeNotice(&notice));
  EXPECT_EQ(notice.immediate, 4u);
}

// ---- Responses that wait.

TEST_F(Targets, ResponsesWithoutCreditWaitInOrderAndStopNobodyElse) {
  sink.stopped = 5;
  Do({.opcode = Opcode::kGet, .bytes = 1, .number = 1});
  Put(2, 0);
  Do({.opcode = Opcode::kGet, .bytes = 1, .number = 3, .offset = 0});
  Do({.opcode = Opcode::kGet, .bytes = 1, .number = 7}, 6);
  target->Flush(sink);
  ASSERT_EQ(sink.sent.size(), 1u);
  EXPECT_EQ(Take().response.number, 7u);
  EXPECT_TRUE(target->HasWaiting());
  sink.stopped = -1;
  Do({.opcode = Opcode::kGet, .bytes = 1, .number = 9});
  EXPECT_TRUE(sink.sent.empty()) << "behind those that wait";
  target->Flush(sink);
  EXPECT_FALSE(target->HasWaiting());
  EXPECT_EQ(sink.sent.back().response.number, 9u);
  const SentResponse first = Take();
  EXPECT_EQ(first.response.number, 1u);
  EXPECT_EQ(first.data[0], 0) << "as it was when the request was executed";
  EXPECT_EQ(Take().response.number, 2u);
  EXPECT_EQ(Take().data[0], 1);
}

TEST_F(Targets, InitiatorsThatWaitAgainAreServedAgain) {
  for (int round = 0; round < 3; ++round) {
    sink.is_full = true;
    for (const uint16_t from : {uint16_t{5}, uint16_t{6}, uint16_t{5}}) {
      if (round == 1 && from != 5) continue;
      Do({.opcode = Opcode::kGet, .bytes = 1}, from);
    }
    target->Flush(sink);
    EXPECT_TRUE(target->HasWaiting());
    sink.is_full = false;
    target->Flush(sink);
    EXPECT_FALSE(target->HasWaiting());
    target->CheckInvariants();
    EXPECT_EQ(sink.sent.size(), round == 1 ? 2u : 3u);
    sink.sent.clear();
  }
  EXPECT_EQ(target->counters().waited, 8u);
}

TEST_F(Targets, ARequestWithoutAPlaceIsNotExecuted) {
  Make({.response_places = 64, .max_places_per_initiator = 8});
  sink.stopped = 5;
  for (uint32_t number = 0; number < 20; number += 2) Put(number, number * 4);
  target->Flush(sink);
  EXPECT_EQ(target->counters().executed[1], 9u) << "8 places, and one that is being joined";
  EXPECT_EQ(target->counters().dropped, 1u);
  EXPECT_EQ(memory[18 * 4], 0);
  EXPECT_EQ(memory[16 * 4], 1);
  Put(100, 0, 6);
  target->Flush(sink);
  EXPECT_EQ(Take().response.number, 100u) << "others go on";
}

TEST_F(Targets, InitiatorsThatReadNothingLeavePlacesForOthers) {
  class Closed final : public ResponseSink {
    bool Send(const Route&, const uint8_t*, uint32_t, const uint8_t*, uint32_t) override {
      return false;
    }
  } closed;
  Make({.response_places = 64, .max_places_per_initiator = 1024});
  uint8_t control[kRequestControlBytes];
  uint8_t none[1] = {};
  for (uint32_t number = 0; number < 1000; number += 2) {
    for (uint16_t from = 0; from < 8; ++from) {
      EncodeRequest({.opcode = Opcode::kGet, .window = 1, .bytes = 8, .number = number}, control);
      target->OnCommand({.xpuid = from}, control, sizeof control, none, 0, closed);
    }
  }
  target->CheckInvariants();
  EncodeRequest({.opcode = Opcode::kGet, .window = 1, .bytes = 8, .number = 1}, control);
  const uint64_t before = target->counters().executed[3];
  target->OnCommand({.xpuid = 99}, control, sizeof control, none, 0, closed);
  EXPECT_EQ(target->counters().executed[3], before + 1);
}

TEST_F(Targets, WhatWaitsOnALostPlaneIsForgotten) {
  Make({.planes = 2});
  sink.stopped = 5;
  Do({.opcode = Opcode::kGet, .bytes = 1, .number = 1}, 5, 0);
  Do({.opcode = Opcode::kGet, .bytes = 1, .number = 2}, 5, 1);
  Put(3, 0);
  target->OnPlaneLost(0);
  sink.stopped = -1;
  target->Flush(sink);
  ASSERT_EQ(sink.sent.size(), 1u);
  EXPECT_EQ(Take().response.number, 2u);
  // An acknowledgement that is being joined waits on the other plane.
  Put(4, 0);
  target->OnPlaneLost(1);
  target->Flush(sink);
  ASSERT_EQ(sink.sent.size(), 1u);
  EXPECT_EQ(Take().response.number, 4u);
}

}  // namespace
}  // namespace suede::mem
