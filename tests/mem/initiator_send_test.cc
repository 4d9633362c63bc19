// SPDX-License-Identifier: Apache-2.0
// Requests of an initiator: their order, bursts and turns.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "initiators.h"
#include "mem/initiator.h"

namespace suede::mem {
namespace {

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
    Queue(call);
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
    Queue(call);
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
    Queue(call);
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
    Queue(PutOf(8192, xpuid));
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
        Queue(call);
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
    Queue(PutOf(8192, xpuid));
    Queue(PutOf(8192, xpuid));
    Queue(PutOf(8192, xpuid));
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
    Queue(PutOf(8));
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

}  // namespace
}  // namespace suede::mem
