// SPDX-License-Identifier: Apache-2.0
// An initiator, and a sink that keeps its requests.
#ifndef SUEDE_TESTS_MEM_INITIATORS_H_
#define SUEDE_TESTS_MEM_INITIATORS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "mem/initiator.h"

namespace suede::mem {

struct Sent {
  Route to;
  Request request;
  std::vector<uint8_t> data;
  bool wants_completion = false;
};

class Sink final : public BurstSink {
 public:
  int Send(const Burst& burst) override {
    if (burst.to.xpuid == lost) return kLost;
    uint32_t taken = 0;
    for (; taken < burst.count && room > 0; ++taken, --room) {
      Sent one{.to = burst.to, .request = {}, .data = {}};
      const uint8_t* data = burst.data + size_t{taken} * burst.data_bytes;
      if (burst.data_bytes != 0) one.data.assign(data, data + burst.data_bytes);
      EXPECT_EQ(ParseRequest(burst.controls + taken * kRequestControlBytes, kRequestControlBytes,
                             one.data.data(), burst.data_bytes, &one.request),
                Parsed::kRequest);
      one.wants_completion = burst.wants_completion;
      EXPECT_EQ(one.request.number, burst.tag + taken) << "places are free here";
      sent.push_back(std::move(one));
    }
    bursts += 1;
    return static_cast<int>(taken);
  }
  uint32_t room = 1u << 20;
  int lost = -1;
  uint32_t bursts = 0;
  std::deque<Sent> sent;
};

class Initiators : public testing::Test {
 protected:
  void Make(const InitiatorParams& params = {}) {
    initiator = std::make_unique<Initiator>(params);
    sink.sent.clear();
  }
  void SetUp() override {
    Make({.first_number = 1000});
    std::iota(std::begin(source), std::end(source), uint8_t{0});
  }
  void TearDown() override { initiator->CheckInvariants(); }

  Call PutOf(uint64_t bytes, uint16_t xpuid = 5) {
    return {.opcode = Opcode::kPut,
            .xpuid = xpuid,
            .window = 1,
            .offset = 64,
            .bytes = bytes,
            .source = source,
            .result = &result};
  }
  Call GetOf(uint64_t bytes, uint16_t xpuid = 5) {
    Call call = PutOf(bytes, xpuid);
    call.opcode = Opcode::kGet;
    call.source = nullptr;
    call.room = room;
    return call;
  }
  void Queue(const Call& call, suede_mem_handle* handle = nullptr) {
    ASSERT_EQ(initiator->Start(call, handle), Started::kOk);
  }
  void Start(const Call& call, suede_mem_handle* handle = nullptr) {
    Queue(call, handle);
    initiator->Pump(sink);
  }
  void Hear(const Response& response, uint16_t from = 5, uint8_t plane = 0) {
    uint8_t control[kResponseControlBytes];
    const uint32_t bytes = EncodeResponse(response, control);
    initiator->OnCommand({.xpuid = from, .plane = plane, .vc = 1}, control, bytes, response.data,
                         response.data_bytes);
  }
  void Acknowledge(uint32_t number, uint16_t count = 1, Status status = Status::kOk,
                   uint16_t from = 5) {
    Hear({.status = status, .count = count, .number = number}, from);
  }

  uint8_t source[8192];
  uint8_t room[8192] = {};
  suede_mem_result result = {};
  std::unique_ptr<Initiator> initiator;
  Sink sink;
};

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_INITIATORS_H_
