// SPDX-License-Identifier: Apache-2.0
// Operations of an initiator that fail.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "initiators.h"
#include "mem/initiator.h"
#include "suede/layout.h"

namespace suede::mem {
namespace {

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
      Queue(call);
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
