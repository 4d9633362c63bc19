// SPDX-License-Identifier: Apache-2.0
#include "mem/initiator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "suede/layout.h"

namespace suede::mem {
namespace {

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
  void Start(const Call& call, suede_mem_handle* handle = nullptr) {
    ASSERT_EQ(initiator->Start(call, handle), Started::kOk);
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

TEST_F(Initiators, APutIsOneCommandAndCompleteWhenItIsAcknowledged) {
  Start(PutOf(8));
  ASSERT_EQ(sink.sent.size(), 1u);
  const Sent& sent = sink.sent[0];
  EXPECT_EQ(sent.request.number, 1000u);
  EXPECT_EQ(sent.request.offset, 64u);
  EXPECT_EQ(sent.data, std::vector<uint8_t>(source, source + 8));
  EXPECT_EQ(sent.request.response_vc, 1);
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING);
  EXPECT_EQ(initiator->pending_writes(0), 1u);
  Acknowledge(1000);
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  EXPECT_EQ(initiator->pending_writes(0), 0u);
}

TEST_F(Initiators, ALongPutIsSplitInOrder) {
  Start(PutOf(256 * 20 + 7));
  ASSERT_EQ(sink.sent.size(), 21u);
  std::vector<uint8_t> all;
  for (const Sent& sent : sink.sent) {
    EXPECT_EQ(sent.request.offset, 64 + all.size());
    all.insert(all.end(), sent.data.begin(), sent.data.end());
  }
  EXPECT_EQ(all, std::vector<uint8_t>(source, source + 256 * 20 + 7));
  EXPECT_LT(sink.bursts, 8u);
  Acknowledge(1000, 20);
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING);
  Acknowledge(1020);
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
}

TEST_F(Initiators, EachSixteenthRequestAndTheLastAskForACompletion) {
  Start(PutOf(256 * 40));
  std::vector<size_t> asked;
  for (size_t i = 0; i < sink.sent.size(); ++i) {
    if (sink.sent[i].wants_completion) asked.push_back(i);
  }
  EXPECT_EQ(asked, (std::vector<size_t>{15, 31, 39}));
}

TEST_F(Initiators, SmallOperationsOfOneShapeShareABurst) {
  for (uint32_t i = 0; i < 20; ++i) {
    Call call = PutOf(8);
    call.source = source + i;
    call.offset = i * 8;
    ASSERT_EQ(initiator->Start(call, nullptr), Started::kOk);
  }
  Call other = PutOf(4);
  ASSERT_EQ(initiator->Start(other, nullptr), Started::kOk);
  initiator->Pump(sink);
  ASSERT_EQ(sink.sent.size(), 21u);
  EXPECT_EQ(sink.bursts, 4u) << "15, the one that asks for a completion, 4, another length";
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(sink.sent[i].request.offset, i * 8);
    EXPECT_EQ(sink.sent[i].data, std::vector<uint8_t>(source + i, source + i + 8));
    EXPECT_EQ(sink.sent[i].wants_completion, i == 15);
  }
  EXPECT_TRUE(sink.sent[20].wants_completion);
  Acknowledge(1000, 21);
  EXPECT_EQ(initiator->open_operations(), 0u);
}

TEST_F(Initiators, AtomicsOfOneWidthShareABurst) {
  for (uint32_t i = 0; i < 6; ++i) {
    Call call = PutOf(1000);  // its octets are ignored
    call.opcode = Opcode::kSwap;
    call.is_wide = i >= 3;
    call.operand = i;
    ASSERT_EQ(initiator->Start(call, nullptr), Started::kOk);
  }
  initiator->Pump(sink);
  ASSERT_EQ(sink.sent.size(), 6u);
  EXPECT_EQ(sink.bursts, 3u) << "3 narrow ones, 2 wide ones, the one that asks for a completion";
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(sink.sent[i].request.is_wide, i >= 3);
    EXPECT_EQ(sink.sent[i].request.operand, i);
    EXPECT_EQ(sink.sent[i].wants_completion, i == 5);
  }
}

TEST_F(Initiators, ALongPutIsABurstAndItsLastRequest) {
  for (const uint64_t bytes : {uint64_t{513}, uint64_t{768}, uint64_t{769}, uint64_t{1024}}) {
    sink.bursts = 0;
    Start(PutOf(bytes));
    EXPECT_EQ(sink.bursts, 2u) << bytes;
  }
  sink.bursts = 0;
  Start(PutOf(256));
  EXPECT_EQ(sink.bursts, 1u);
}

TEST_F(Initiators, ABurstThatIsTakenInPartGoesOnWhereItEnded) {
  for (uint32_t i = 0; i < 10; ++i) {
    Call call = PutOf(8);
    call.offset = i * 8;
    ASSERT_EQ(initiator->Start(call, nullptr), Started::kOk);
  }
  for (const uint32_t room : {3u, 0u, 1u, 100u}) {
    sink.room = room;
    initiator->Pump(sink);
    initiator->CheckInvariants();
  }
  ASSERT_EQ(sink.sent.size(), 10u);
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(sink.sent[i].request.offset, i * 8);
    EXPECT_EQ(sink.sent[i].request.number, 1000 + i);
  }
}

TEST_F(Initiators, AGetCollectsItsPiecesInAnyOrder) {
  Start(GetOf(600));
  ASSERT_EQ(sink.sent.size(), 3u);
  EXPECT_EQ(sink.sent[2].request.bytes, 88);
  for (const uint32_t i : {2u, 0u, 1u}) {
    EXPECT_EQ(initiator->pending_reads(0), 1u);
    Hear({.kind = Response::Kind::kData,
          .data_bytes = sink.sent[i].request.bytes,
          .number = 1000 + i,
          .data = source + i * 256});
  }
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  EXPECT_TRUE(std::equal(room, room + 600, source));
  EXPECT_EQ(room[600], 0);
}

TEST_F(Initiators, AnAtomicReturnsItsValue) {
  Call call = PutOf(0);
  call.opcode = Opcode::kFetchAdd;
  call.is_wide = true;
  call.operand = 3;
  Start(call);
  EXPECT_EQ(sink.sent[0].request.operand, 3u);
  EXPECT_EQ(initiator->pending_reads(0), 1u);
  Hear({.kind = Response::Kind::kValue, .number = 1000, .value = UINT64_MAX});
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  EXPECT_EQ(result.value, UINT64_MAX);
}

TEST_F(Initiators, NothingCompletesByAnAnswerThatIsNotItsOwn) {
  Start(GetOf(8));
  Hear({.kind = Response::Kind::kData, .data_bytes = 8, .number = 1001, .data = source});
  Hear({.kind = Response::Kind::kData, .data_bytes = 8, .number = 1000, .data = source}, 6);
  Hear({.kind = Response::Kind::kData, .data_bytes = 7, .number = 1000, .data = source});
  Hear({.kind = Response::Kind::kData, .data_bytes = 8, .number = 1000 + 4096, .data = source});
  Hear({.kind = Response::Kind::kValue, .number = 1000, .value = 1});
  Acknowledge(1000);
  Acknowledge(900, 65535);
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING);
  EXPECT_EQ(room[0], 0);
  EXPECT_EQ(initiator->counters().stray, 7u);
  Hear({.kind = Response::Kind::kData, .data_bytes = 8, .number = 1000, .data = source});
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  Hear({.kind = Response::Kind::kData, .data_bytes = 8, .number = 1000, .data = source});
  EXPECT_EQ(initiator->counters().stray, 8u) << "answered once";
}

TEST_F(Initiators, AValueOf32BitsHasNoUpperHalf) {
  Call call = PutOf(0);
  call.opcode = Opcode::kSwap;
  Start(call);
  Hear({.kind = Response::Kind::kValue, .number = 1000, .value = uint64_t{1} << 32});
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING);
  Hear({.kind = Response::Kind::kValue, .number = 1000, .value = UINT32_MAX});
  EXPECT_EQ(result.value, UINT32_MAX);
}

TEST_F(Initiators, ARefusalEndsTheOperationAndWhatWasNotSentIsNotSent) {
  sink.room = 4;
  Start(PutOf(256 * 10));
  ASSERT_EQ(sink.sent.size(), 4u);
  Acknowledge(1000, 1, Status::kRights);
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING) << "three are in flight";
  sink.room = 100;
  initiator->Pump(sink);
  EXPECT_EQ(sink.sent.size(), 4u);
  Acknowledge(1001, 3, Status::kBounds);
  EXPECT_EQ(result.status, SUEDE_MEM_RIGHTS) << "the first";
  const suede_mem_failures failures = initiator->TakeFailures(0, /*of_reads=*/false);
  EXPECT_EQ(failures.count, 1u);
  EXPECT_EQ(failures.status, SUEDE_MEM_RIGHTS);
  EXPECT_EQ(initiator->TakeFailures(0, false).count, 0u);
}

TEST_F(Initiators, ABlockedTargetStopsNoOther) {
  Make({.requests_to_target = 4, .first_number = 1000});
  Start(PutOf(256 * 10));
  EXPECT_EQ(sink.sent.size(), 4u);
  Start(PutOf(8, 6));
  EXPECT_EQ(sink.sent.size(), 5u);
  EXPECT_EQ(sink.sent.back().to.xpuid, 6);
  Acknowledge(1000, 2);
  initiator->Pump(sink);
  EXPECT_EQ(sink.sent.size(), 7u);
  EXPECT_EQ(sink.sent.back().request.offset, 64 + 5u * 256);
}

TEST_F(Initiators, EachTargetIsSentToOnceItHasSomething) {
  for (int round = 0; round < 3; ++round) {
    sink.sent.clear();
    // Lanes that were active before, in another order.
    for (const uint16_t xpuid : {uint16_t{5}, uint16_t{6}, uint16_t{7}, uint16_t{5}}) {
      if (round == 1 && xpuid != 5) continue;
      EXPECT_EQ(initiator->Start(PutOf(8, xpuid), nullptr), Started::kOk);
      EXPECT_TRUE(initiator->HasUnsent());
    }
    initiator->Pump(sink);
    EXPECT_FALSE(initiator->HasUnsent());
    EXPECT_EQ(sink.sent.size(), round == 1 ? 2u : 4u);
  }
}

TEST_F(Initiators, TargetsTakeTurnsWhereTheDaemonTakesLittle) {
  for (const uint16_t xpuid : {uint16_t{5}, uint16_t{6}, uint16_t{7}}) {
    ASSERT_EQ(initiator->Start(PutOf(8192, xpuid), nullptr), Started::kOk);
  }
  std::map<uint16_t, uint32_t> of;
  for (int turn = 0; turn < 9; ++turn) {
    sink.room = 4;
    sink.sent.clear();
    initiator->Pump(sink);
    EXPECT_TRUE(initiator->HasUnsent());
    for (const Sent& sent : sink.sent) ++of[sent.to.xpuid];
  }
  EXPECT_EQ(of, (std::map<uint16_t, uint32_t>{{5, 12}, {6, 12}, {7, 12}}));
}

TEST_F(Initiators, LanesAtTheEndsOfTheRangesAreApart) {
  Make({.planes = 2, .request_vcs = 0b1111});
  std::vector<Route> expected;
  for (const int plane : {0, 1}) {
    for (const uint16_t xpuid : {uint16_t{0}, uint16_t{1}, uint16_t{1023}}) {
      for (int vc = 0; vc < 4; ++vc) {
        Call call = PutOf(8, xpuid);
        call.plane = static_cast<int8_t>(plane);
        call.vc = static_cast<int8_t>(vc);
        ASSERT_EQ(initiator->Start(call, nullptr), Started::kOk);
        expected.push_back(
            {.xpuid = xpuid, .plane = static_cast<uint8_t>(plane), .vc = static_cast<uint8_t>(vc)});
      }
    }
  }
  initiator->Pump(sink);
  ASSERT_EQ(sink.sent.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(sink.sent[i].to, expected[i]);
    EXPECT_TRUE(sink.sent[i].wants_completion) << "it is the last one of its lane";
  }
}

TEST_F(Initiators, TargetsTakeTurnsWhereTheTableIsFull) {
  Make({.requests = 64, .requests_to_target = 64});
  for (uint16_t xpuid = 0; xpuid < 4; ++xpuid) {
    ASSERT_EQ(initiator->Start(PutOf(8192, xpuid), nullptr), Started::kOk);
    ASSERT_EQ(initiator->Start(PutOf(8192, xpuid), nullptr), Started::kOk);
    ASSERT_EQ(initiator->Start(PutOf(8192, xpuid), nullptr), Started::kOk);
  }
  std::vector<uint32_t> of(4);
  for (int turn = 0; turn < 8; ++turn) {
    initiator->Pump(sink);
    for (const Sent& sent : sink.sent) {
      ++of[sent.to.xpuid];
      Acknowledge(sent.request.number, 1, Status::kOk, sent.to.xpuid);
    }
    sink.sent.clear();
  }
  for (const uint32_t requests : of) EXPECT_GE(requests, 64u);
}

TEST_F(Initiators, ANumberInUseIsSkipped) {
  Make({.requests = 64, .requests_to_target = 64, .first_number = 0xffffffe0});
  Start(PutOf(8, 7));  // is not answered
  for (int i = 0; i < 200; ++i) {
    sink.sent.clear();
    ASSERT_EQ(initiator->Start(PutOf(8), nullptr), Started::kOk);
    initiator->Pump(sink);
    const uint32_t number = sink.sent[0].request.number;
    EXPECT_NE(number % 64, 0xffffffe0 % 64);
    Acknowledge(number);
  }
  EXPECT_EQ(initiator->open_requests(), 1u);
}

TEST_F(Initiators, APutWithImmediateSaysItLast) {
  for (const uint64_t bytes :
       {uint64_t{0}, uint64_t{1}, uint64_t{248}, uint64_t{249}, uint64_t{256}, uint64_t{1000}}) {
    Make({});
    Call call = PutOf(bytes);
    call.opcode = Opcode::kPutImmediate;
    call.immediate = 77;
    Start(call);
    uint64_t at = 0;
    for (size_t i = 0; i < sink.sent.size(); ++i) {
      const Request& request = sink.sent[i].request;
      const bool is_last = i + 1 == sink.sent.size();
      EXPECT_EQ(request.opcode, is_last ? Opcode::kPutImmediate : Opcode::kPut);
      EXPECT_EQ(request.offset, 64 + at);
      EXPECT_TRUE(std::equal(request.data, request.data + request.bytes, source + at));
      if (is_last) {
        EXPECT_EQ(request.total_bytes, bytes);
      }
      at += request.bytes;
    }
    EXPECT_EQ(at, bytes);
    Acknowledge(0, static_cast<uint16_t>(sink.sent.size()));
    EXPECT_EQ(result.status, SUEDE_MEM_OK);
  }
}

TEST_F(Initiators, OnAnUnorderedPathTheImmediateWaitsForTheOctets) {
  Make({.is_unordered = true});
  Call call = PutOf(1000);
  call.opcode = Opcode::kPutImmediate;
  Start(call);
  ASSERT_EQ(sink.sent.size(), 3u);
  Acknowledge(0, 2);
  initiator->Pump(sink);
  ASSERT_EQ(sink.sent.size(), 3u);
  Acknowledge(2);
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING);
  initiator->Pump(sink);
  ASSERT_EQ(sink.sent.size(), 4u);
  EXPECT_EQ(sink.sent[3].request.opcode, Opcode::kPutImmediate);
}

TEST_F(Initiators, NothingIsSentForNoOctets) {
  Start(PutOf(0));
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  Start(GetOf(0));
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  EXPECT_TRUE(sink.sent.empty());
}

TEST_F(Initiators, AMulticastIsCompleteWhenAllHaveIt) {
  const uint16_t all[] = {3, 4, 9};
  suede_mem_handle handle = 0;
  Call call = PutOf(8);
  call.counter = 5;
  ASSERT_EQ(initiator->StartMany(call, all, &handle), Started::kOk);
  initiator->Pump(sink);
  ASSERT_EQ(sink.sent.size(), 3u);
  EXPECT_EQ(initiator->pending_writes(5), 1u);
  Acknowledge(1000, 1, Status::kOk, 3);
  Acknowledge(1002, 1, Status::kKey, 9);
  EXPECT_EQ(initiator->Test(handle, nullptr), 0);
  Acknowledge(1001, 1, Status::kOk, 4);
  suede_mem_result outcome;
  EXPECT_EQ(initiator->Test(handle, &outcome), 1);
  EXPECT_EQ(outcome.status, SUEDE_MEM_KEY);
  EXPECT_EQ(result.status, SUEDE_MEM_KEY);
  EXPECT_EQ(initiator->pending_writes(5), 0u);
  EXPECT_EQ(initiator->Test(handle, &outcome), -1) << "void";
}

TEST_F(Initiators, AMulticastTakesAPlaceForEachTargetAndOneMore) {
  Make({.operations = 3});
  const uint16_t all[] = {3, 4, 9};
  Call call = PutOf(8, 5000);  // is ignored
  EXPECT_EQ(initiator->StartMany(call, all, nullptr), Started::kNoRoom);
  EXPECT_EQ(initiator->StartMany(call, std::span(all).first(2), nullptr), Started::kOk);
  initiator->Pump(sink);
  Acknowledge(0, 1, Status::kOk, 3);
  Acknowledge(1, 1, Status::kOk, 4);
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  // The places of its parts are those of an operation and of another multicast now.
  suede_mem_result single = {};
  call = PutOf(8);
  call.result = &single;
  Start(call);
  EXPECT_EQ(initiator->StartMany(PutOf(8), std::span(all).first(1), nullptr), Started::kOk);
  initiator->Pump(sink);
  initiator->CheckInvariants();
  Acknowledge(3, 1, Status::kOk, 3);
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  EXPECT_EQ(single.status, SUEDE_MEM_PENDING);
  Acknowledge(2);
  EXPECT_EQ(single.status, SUEDE_MEM_OK);
}

TEST_F(Initiators, AMulticastSaysThePlaneAndTheVcOfItsCall) {
  Make({.planes = 2, .request_vcs = 0b1101});
  const uint16_t all[] = {3, 4};
  Call call = PutOf(8);
  call.plane = 1;
  call.vc = 2;
  ASSERT_EQ(initiator->StartMany(call, all, nullptr), Started::kOk);
  EXPECT_EQ(result.plane, 1);
  EXPECT_EQ(result.vc, 2);
  initiator->Pump(sink);
  ASSERT_EQ(sink.sent.size(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(sink.sent[i].to, (Route{.xpuid = all[i], .plane = 1, .vc = 2}));
    Hear({.number = i}, all[i], 1);
  }
  EXPECT_EQ(result.status, SUEDE_MEM_OK);
  EXPECT_EQ(result.plane, 1);
  EXPECT_EQ(result.vc, 2);
  // It is none of the operations to the XPU of the call.
  call.plane = -1;
  call.vc = -1;
  Start(call);
  EXPECT_EQ(result.vc, 0);
  call.vc = 0;
  Start(call);
  EXPECT_EQ(result.vc, 0) << "it is named";
}

TEST_F(Initiators, PlacesOfOperationsThatAreCompleteAreUsedAgain) {
  Make({.operations = 4});
  for (uint32_t round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) Start(PutOf(8));
    EXPECT_EQ(initiator->Start(PutOf(8), nullptr), Started::kNoRoom);
    const bool fails = round % 2 == 0;
    Acknowledge(4 * round, 4, fails ? Status::kKey : Status::kOk);
    EXPECT_EQ(result.status, fails ? SUEDE_MEM_KEY : SUEDE_MEM_OK);
    EXPECT_EQ(initiator->open_operations(), 0u);
    EXPECT_EQ(initiator->completed(), 4 * (round + 1));
  }
}

TEST_F(Initiators, AResultIsWrittenAtTheCallAndAtTheEnd) {
  for (const bool is_end : {false, true}) {
    result = {.status = 77, .plane = 7, .vc = 7, .reserved = 7, .value = 7};
    if (is_end)
      Acknowledge(1000);
    else
      Start(PutOf(8));
    EXPECT_EQ(result.status, is_end ? SUEDE_MEM_OK : SUEDE_MEM_PENDING);
    EXPECT_EQ(result.plane, 0);
    EXPECT_EQ(result.vc, 0);
    EXPECT_EQ(result.reserved, 0);
    EXPECT_EQ(result.value, 0u);
  }
}

TEST_F(Initiators, WhatHappensIsCounted) {
  sink.room = 2;
  Start(PutOf(1000));
  EXPECT_EQ(initiator->counters().blocked, 1u);
  for (const uint16_t each : {uint16_t{6}, uint16_t{6}}) {
    ASSERT_EQ(initiator->Start(PutOf(8, each), nullptr), Started::kOk);
  }
  initiator->Pump(sink);
  EXPECT_EQ(initiator->counters().blocked, 3u) << "of both targets";
  EXPECT_EQ(initiator->counters().requests, 2u);
  sink.room = 100;
  initiator->Pump(sink);
  EXPECT_EQ(initiator->counters().blocked, 3u);
  EXPECT_EQ(initiator->counters().requests, 6u);
  Acknowledge(1000, 6, Status::kRights);
  for (const Sent& sent : sink.sent) {
    Acknowledge(sent.request.number, 1, Status::kOk, sent.to.xpuid);
  }
  EXPECT_EQ(initiator->open_operations(), 0u);
  EXPECT_EQ(initiator->counters().operations, 3u);
  EXPECT_EQ(initiator->counters().failed, 1u);
  const uint8_t control[kRequestControlBytes] = {0x89};
  initiator->OnCommand({.xpuid = 5}, control, kRequestControlBytes, nullptr, 0);
  EXPECT_EQ(initiator->counters().foreign, 1u);
}

TEST_F(Initiators, AHandleOfAnEarlierOperationIsKnownAsSuch) {
  suede_mem_handle first = 0;
  Start(PutOf(8), &first);
  Acknowledge(1000);
  EXPECT_EQ(initiator->Test(first, nullptr), 1);
  const suede_mem_handle next = first + (uint64_t{1} << 32);  // the next generation
  EXPECT_EQ(initiator->Test(next, nullptr), -1) << "not given to anybody yet";
  suede_mem_handle second = 0;
  Start(PutOf(8), &second);
  EXPECT_NE(first, second);
  EXPECT_EQ(initiator->Test(first, nullptr), -1);
  EXPECT_EQ(initiator->Test(second, nullptr), 0);
  EXPECT_EQ(initiator->Test(0, nullptr), -1);
  Acknowledge(1001);
}

TEST_F(Initiators, OperationsWithHandlesKeepTheirPlacesUntilTheyAreTested) {
  Make({.operations = 2});
  suede_mem_handle handle = 0;
  Start(PutOf(8), &handle);
  Start(PutOf(8));
  EXPECT_EQ(initiator->Start(PutOf(8), nullptr), Started::kNoRoom);
  Acknowledge(0, 2);
  Start(PutOf(8));
  EXPECT_EQ(initiator->Start(PutOf(8), nullptr), Started::kNoRoom);
  EXPECT_EQ(initiator->Test(handle, nullptr), 1);
  Start(PutOf(8));
  const uint16_t all[] = {1, 2};
  EXPECT_EQ(initiator->StartMany(PutOf(8), all, nullptr), Started::kNoRoom);
  Acknowledge(2, 2);
}

TEST_F(Initiators, CallsOutOfRangeStartNothing) {
  const auto refused = [&](const Call& call) {
    return initiator->Start(call, nullptr) == Started::kInvalid;
  };
  Call call = PutOf(8, 1024);
  EXPECT_TRUE(refused(call));
  call = PutOf(8);
  call.counter = 16;
  EXPECT_TRUE(refused(call));
  call = PutOf(8);
  call.window = 4096;
  EXPECT_TRUE(refused(call));
  call = PutOf(8);
  call.plane = 1;
  EXPECT_TRUE(refused(call));
  call = PutOf(8);
  call.vc = 2;
  EXPECT_TRUE(refused(call)) << "not one of the VCs for requests";
  call.vc = -2;
  EXPECT_TRUE(refused(call));
  call.vc = -1;
  call.plane = -2;
  EXPECT_TRUE(refused(call));
  call = PutOf(9);
  call.offset = kOffsetLimit - 8;
  EXPECT_TRUE(refused(call));
  call.bytes = 8;
  EXPECT_EQ(initiator->FindInvalidArgument(call), nullptr);
  call.opcode = Opcode::kSwap;
  for (const bool is_wide : {false, true}) {
    call.is_wide = is_wide;
    call.offset = kOffsetLimit - (is_wide ? 8 : 4);
    EXPECT_EQ(initiator->FindInvalidArgument(call), nullptr);
    ++call.offset;
    EXPECT_TRUE(refused(call));
  }
  call = PutOf(8);
  call.source = nullptr;
  EXPECT_TRUE(refused(call));
  call = GetOf(8);
  call.room = nullptr;
  EXPECT_TRUE(refused(call));
  call = PutOf(uint64_t{1} << 32);
  call.opcode = Opcode::kPutImmediate;
  EXPECT_TRUE(refused(call));
  call = PutOf(0);
  call.opcode = Opcode::kIncrement;
  call.boundary = 32;
  EXPECT_TRUE(refused(call));
  const uint16_t unknown[] = {1, 1024};
  EXPECT_EQ(initiator->StartMany(PutOf(8), unknown, nullptr), Started::kInvalid);
  EXPECT_EQ(initiator->StartMany(PutOf(8), {}, nullptr), Started::kInvalid);
}

TEST_F(Initiators, AnAutomaticVcIsTheOneWithLeastToDoAndIsTold) {
  Make({.planes = 3, .request_vcs = 0b1101});
  Call call = PutOf(8);
  suede_mem_result results[4];
  for (suede_mem_result& each : results) {
    call.result = &each;
    Start(call);
  }
  EXPECT_EQ(results[0].vc, 0);
  EXPECT_EQ(results[1].vc, 2);
  EXPECT_EQ(results[2].vc, 3);
  EXPECT_EQ(results[3].vc, 0);
  EXPECT_EQ(results[0].plane, 5 % 3);
  EXPECT_EQ(sink.sent[1].to, (Route{.xpuid = 5, .plane = 2, .vc = 2}));
}

// ---- Failures.

TEST_F(Initiators, WhatWasNotDeliveredIsUnreachableAndWhatWentBeforeIsInDoubt) {
  suede_mem_result results[3];
  for (suede_mem_result& each : results) {
    Call call = PutOf(8);
    call.result = &each;
    Start(call);
  }
  initiator->OnCompletion({.xpuid = 5}, 1001, SUEDE_STATUS_UNREACHABLE);
  EXPECT_EQ(results[0].status, SUEDE_MEM_IN_DOUBT);
  EXPECT_EQ(results[1].status, SUEDE_MEM_UNREACHABLE);
  EXPECT_EQ(results[2].status, SUEDE_MEM_PENDING);
  Acknowledge(1000, 3);
  EXPECT_EQ(results[0].status, SUEDE_MEM_IN_DOUBT);
  EXPECT_EQ(results[2].status, SUEDE_MEM_OK);
}

TEST_F(Initiators, ACompletionWithAnErrorEndsNothingOfOtherLanes) {
  Start(PutOf(8, 6));
  Start(PutOf(8));
  suede_mem_result of_five = {};
  std::swap(of_five, result);
  initiator->OnCompletion({.xpuid = 7}, 1001, SUEDE_STATUS_IN_DOUBT);
  EXPECT_EQ(initiator->open_requests(), 2u);
  initiator->OnCompletion({.xpuid = 5}, 1001, SUEDE_STATUS_OK);
  EXPECT_EQ(initiator->open_requests(), 2u);
  initiator->OnCompletion({.xpuid = 5}, 1001, SUEDE_STATUS_PEER_RESET);
  EXPECT_EQ(initiator->open_requests(), 1u);
  EXPECT_EQ(result.status, SUEDE_MEM_IN_DOUBT);
}

TEST_F(Initiators, ALongPutThatWasNotDeliveredIsInDoubt) {
  Start(PutOf(1000));
  initiator->OnCompletion({.xpuid = 5}, 1003, SUEDE_STATUS_UNREACHABLE);
  EXPECT_EQ(result.status, SUEDE_MEM_IN_DOUBT);
}

// An endpoint without such a peer has sent none of the requests, the silent ones included.
TEST_F(Initiators, PutsOfAnyLengthToNoPeerAreUnreachable) {
  for (const unsigned status : {SUEDE_STATUS_UNKNOWN_XPU, SUEDE_STATUS_MALFORMED}) {
    for (const uint64_t bytes : {256u, 257u, 1000u, 5000u}) {
      Make({.first_number = 1000});
      Start(PutOf(bytes));
      for (const Sent& one : sink.sent) {
        if (one.wants_completion) {
          initiator->OnCompletion({.xpuid = 5}, one.request.number, static_cast<uint8_t>(status));
        }
      }
      EXPECT_EQ(result.status, SUEDE_MEM_UNREACHABLE) << bytes;
      EXPECT_EQ(initiator->open_requests(), 0u);
    }
  }
  Make({.first_number = 1000});
  Start(PutOf(1000));
  Acknowledge(1000, 1);
  initiator->OnCompletion({.xpuid = 5}, 1003, SUEDE_STATUS_UNKNOWN_XPU);
  EXPECT_EQ(result.status, SUEDE_MEM_IN_DOUBT) << "a part of it was executed";
}

TEST_F(Initiators, EachMistakeHasItsOwnSentence) {
  std::vector<Call> calls(7, PutOf(8));
  calls[0].xpuid = 1024;
  calls[1].counter = 16;
  calls[2].window = 4096;
  calls[3].offset = uint64_t{1} << 40;
  calls[4].plane = 5;
  calls[5].vc = 3;
  calls[6].source = nullptr;
  std::set<std::string> sentences;
  for (const Call& call : calls) {
    const char* const mistake = initiator->FindInvalidArgument(call);
    ASSERT_NE(mistake, nullptr);
    sentences.insert(mistake);
  }
  EXPECT_EQ(sentences.size(), calls.size());
  EXPECT_EQ(initiator->FindInvalidArgument(PutOf(8)), nullptr);
}

TEST_F(Initiators, DeadlinesEndOperationsInFlightAndUnsent) {
  sink.room = 3;
  Call call = PutOf(1000);
  call.deadline = TimeFromNs(100);
  Start(call);
  suede_mem_result later = {};
  call.result = &later;
  call.deadline = TimeFromNs(200);
  Start(call);
  initiator->OnTime(TimeFromNs(99));
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING);
  initiator->OnTime(TimeFromNs(100));
  EXPECT_EQ(result.status, SUEDE_MEM_TIMED_OUT);
  EXPECT_EQ(later.status, SUEDE_MEM_PENDING);
  initiator->CheckInvariants();
  initiator->OnTime(TimeFromNs(200));
  EXPECT_EQ(later.status, SUEDE_MEM_TIMED_OUT);
  Acknowledge(1000, 3);
  EXPECT_EQ(initiator->open_requests(), 0u);
  EXPECT_FALSE(room[0]);
}

// Wherever the operation is in its lane.
TEST_F(Initiators, ADeadlineOfAnUnsentOperationStopsNoOther) {
  for (uint32_t late = 0; late < 3; ++late) {
    Make({});
    sink.room = 0;
    for (uint32_t i = 0; i < 3; ++i) {
      Call call = PutOf(8);
      call.offset = i * 8;
      if (i == late) call.deadline = TimeFromNs(100);
      ASSERT_EQ(initiator->Start(call, nullptr), Started::kOk);
    }
    initiator->Pump(sink);
    initiator->OnTime(TimeFromNs(100));
    EXPECT_EQ(initiator->open_operations(), 2u);
    Call call = PutOf(8);
    call.offset = 3 * 8;
    sink.room = 9;
    Start(call);
    std::vector<uint64_t> offsets;
    for (const Sent& sent : sink.sent) offsets.push_back(sent.request.offset);
    std::vector<uint64_t> expected = {0, 8, 16, 24};
    expected.erase(expected.begin() + late);
    EXPECT_EQ(offsets, expected);
    EXPECT_FALSE(initiator->HasUnsent());
    Acknowledge(0, 3);
    EXPECT_EQ(initiator->open_operations(), 0u);
  }
}

TEST_F(Initiators, ALatePieceOfAGetThatTimedOutIsNotWritten) {
  Call call = GetOf(8);
  call.deadline = TimeFromNs(100);
  Start(call);
  initiator->OnTime(TimeFromNs(100));
  Hear({.kind = Response::Kind::kData, .data_bytes = 8, .number = 1000, .data = source + 1});
  EXPECT_EQ(room[0], 0);
}

TEST_F(Initiators, AMulticastTimesOutWithItsParts) {
  const uint16_t all[] = {3, 4};
  Call call = PutOf(8);
  call.deadline = TimeFromNs(100);
  ASSERT_EQ(initiator->StartMany(call, all, nullptr), Started::kOk);
  initiator->Pump(sink);
  Acknowledge(1000, 1, Status::kOk, 3);
  initiator->OnTime(TimeFromNs(100));
  EXPECT_EQ(result.status, SUEDE_MEM_TIMED_OUT);
  EXPECT_EQ(initiator->open_operations(), 0u);
}

TEST_F(Initiators, APutOfWhichAPartWasExecutedIsInDoubtWhenItsPlaneIsLost) {
  sink.room = 1;
  Start(PutOf(300));
  Acknowledge(1000);
  EXPECT_EQ(result.status, SUEDE_MEM_PENDING);
  initiator->OnPlaneLost(0);
  EXPECT_EQ(result.status, SUEDE_MEM_IN_DOUBT);
}

TEST_F(Initiators, ALostPlaneEndsWhatIsOnIt) {
  Make({.planes = 2, .first_number = 1000});
  suede_mem_result results[3];
  for (int i = 0; i < 3; ++i) {
    Call call = PutOf(8);
    call.plane = i == 1 ? 1 : 0;
    call.result = &results[i];
    sink.room = i == 2 ? 0 : 1;
    Start(call);
  }
  initiator->OnPlaneLost(0);
  EXPECT_EQ(results[0].status, SUEDE_MEM_IN_DOUBT);
  EXPECT_EQ(results[1].status, SUEDE_MEM_PENDING);
  EXPECT_EQ(results[2].status, SUEDE_MEM_UNREACHABLE);
  sink.room = 9;
  initiator->Pump(sink);
  EXPECT_EQ(sink.sent.size(), 2u);
}

}  // namespace
}  // namespace suede::mem
