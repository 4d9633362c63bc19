// SPDX-License-Identifier: Apache-2.0
// A served target with a window, and the lcore's other side of its segment: requests are delivered,
// and responses taken, by hand.
#ifndef SUEDE_TESTS_SERVE_TARGET_BENCH_H_
#define SUEDE_TESTS_SERVE_TARGET_BENCH_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "../client/segment_memory.h"
#include "client/client_receiver.h"
#include "client/rx_ring.h"
#include "client/tx_ring.h"
#include "mem/request.h"
#include "mem/response.h"
#include "serve/served_target.h"

namespace suede {

inline constexpr uint8_t kRequestVc = 0;
inline constexpr uint8_t kResponseVc = 1;

struct Answered {
  uint16_t xpuid = 0;
  uint8_t vc = 0;
  mem::Response response;
  std::vector<uint8_t> data;
};

// Writes a request as a record of XPU `source`. False: the ring has no room.
inline bool Deliver(RxRingWriter& ring, mem::Request request, uint16_t source) {
  request.response_vc = kResponseVc;
  uint8_t command[mem::kRequestControlBytes + mem::kRequestDataBytes + 8];
  mem::EncodeRequest(request, command);
  uint8_t* data = command + mem::kRequestControlBytes;
  uint32_t data_bytes = mem::EncodeOperands(request, data);
  if (!mem::IsAtomic(request.opcode) && request.opcode != mem::Opcode::kGet) {
    if (request.bytes != 0) std::memcpy(data + data_bytes, request.data, request.bytes);
    data_bytes += request.bytes;
  }
  const uint32_t bytes = mem::kRequestControlBytes + data_bytes;
  uint8_t* record = ring.Reserve(RecordLines(bytes));
  if (record == nullptr) return false;
  WriteRecordHead(record, ReceivedWord(ReceivedHead(kRequestVc, source, 1, 0), data_bytes != 0));
  std::memcpy(record + SUEDE_RECORD_CONTROL, command, bytes);
  ring.Publish();
  return true;
}

// A target's segment, as the lcore has it.
struct TargetSide {
  explicit TargetSide(ServedTarget& target)
      : requests(target.segment(), target.shape(), kRequestVc),
        responses(target.segment(), target.shape(), 0),
        credits(target.segment(), target.shape(), 0) {
    SetQueueState(target.segment(), 0, SUEDE_QUEUE_READY);
  }
  // The responses that have been sent. Their credit comes back at once if `gives_credit`.
  std::vector<Answered> Take(bool gives_credit = true) {
    std::vector<Answered> all;
    TxRecord record;
    while (PollEach(responses, &record, 1) == 1) {
      EXPECT_EQ(record.verdict, RecordVerdict::kCommand);
      Answered& answered = all.emplace_back();
      answered.xpuid = record.xpuid();
      answered.vc = record.vc();
      const uint8_t* control = record.line + SUEDE_RECORD_CONTROL;
      const uint32_t control_bytes = (control[0] & 0xfu) * 2;
      answered.data.assign(control + control_bytes, control + record.bytes);
      EXPECT_TRUE(mem::ParseResponse(control, control_bytes, answered.data.data(),
                                     static_cast<uint32_t>(answered.data.size()),
                                     &answered.response));
      EXPECT_EQ(credits.Take(record.xpuid(), record.vc(), record.lines), 1u);
      if (gives_credit) credits.Return(record.xpuid(), record.vc(), record.lines);
    }
    responses.Release();
    return all;
  }

  RxRingWriter requests;
  TxRingReader responses;
  CreditWriter credits;
};

inline SegmentShape TestShape() {
  return {.queue_count = 1,
          .tx_lines = 256,
          .rx_lines = 1024,
          .completion_count = 64,
          .credit_lines = 64,
          .aggregate_lines = 256};
}

}  // namespace suede

#endif  // SUEDE_TESTS_SERVE_TARGET_BENCH_H_
