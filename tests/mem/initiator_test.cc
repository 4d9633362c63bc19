// SPDX-License-Identifier: Apache-2.0
// Calls, responses and results of an initiator.
#include "mem/initiator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "initiators.h"

namespace suede::mem {
namespace {

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
    Queue(PutOf(8, each));
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
  using Change = void (*)(Call&);
  const Change changes[] = {
      [](Call& call) { call.xpuid = 1024; },
      [](Call& call) { call.counter = 16; },
      [](Call& call) { call.window = 4096; },
      [](Call& call) { call.plane = 1; },
      [](Call& call) { call.plane = -2; },
      [](Call& call) { call.vc = 2; },  // not one of the VCs for requests
      [](Call& call) { call.vc = -2; },
      [](Call& call) { call.source = nullptr; },
      [](Call& call) { call.opcode = Opcode::kGet; },  // has no room
      [](Call& call) {
        call.opcode = Opcode::kPutImmediate;
        call.bytes = uint64_t{1} << 32;
      },
      [](Call& call) {
        call.opcode = Opcode::kIncrement;
        call.boundary = 32;
      },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    Call call = PutOf(8);
    changes[i](call);
    EXPECT_TRUE(refused(call)) << i;
  }
  Call call = PutOf(9);
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
  const uint16_t unknown[] = {1, 1024};
  EXPECT_EQ(initiator->StartMany(PutOf(8), unknown, nullptr), Started::kInvalid);
  EXPECT_EQ(initiator->StartMany(PutOf(8), {}, nullptr), Started::kInvalid);
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

}  // namespace
}  // namespace suede::mem
