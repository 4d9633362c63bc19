// SPDX-License-Identifier: Apache-2.0
// libsuede's calls for batches, against a server.
#include <gtest/gtest.h>

#include <numeric>

#include "fake_daemon.h"
#include "suede/suede.hpp"

namespace suede {
namespace {

using client::Client;

class BatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(client_.Connect(path_), 0) << suede_error_text();
    ASSERT_EQ(client_.Claim(1, 0, 0xf), 0) << suede_error_text();
    suede_set_lengths(control_, 8, 20);
    std::iota(std::begin(data_), std::end(data_), uint8_t{});
  }
  suede_batch Batch(uint16_t xpuid = 1, uint8_t flags = 0) {
    suede_batch batch{};
    batch.size = sizeof batch;
    batch.xpuid = xpuid;
    batch.flags = flags;
    batch.tag = 100;
    batch.control = control_;
    batch.data = data_;
    return batch;
  }
  suede_shape Shape(uint16_t xpuid = 1, uint8_t flags = 0) {
    suede_shape shape{};
    shape.size = sizeof shape;
    shape.xpuid = xpuid;
    shape.flags = flags;
    shape.tag = 100;
    shape.control_bytes = 8;
    shape.data_bytes = 20;
    return shape;
  }
  int SendBatch(const suede_batch& batch, uint32_t count) {
    return suede_send_batch(queue(), &batch, count);
  }
  int Reserve(const suede_shape& shape, uint32_t count) {
    return suede_reserve(queue(), &shape, count, &span_);
  }
  // Expects -EINVAL with a sentence on it.
  void ExpectInvalid(int result) {
    EXPECT_EQ(result, -EINVAL);
    EXPECT_STRNE(suede_error_text(), "");
  }
  suede_queue* queue() { return suede_get_queue(client_.get(), 0); }
  // Receives `count` commands, in spans of which each is of one shape.
  std::vector<suede_received_span> Receive(uint32_t count) {
    std::vector<suede_received_span> spans;
    for (int i = 0; count > 0 && i < 5000; ++i) {
      suede_received_span span;
      const int n = client_.ReceiveSpan(0, &span, 1000);
      if (n == 0) {
        usleep(1000);
        continue;
      }
      if (n < 0) break;
      EXPECT_EQ(static_cast<uint32_t>(n), span.count);
      spans.push_back(span);
      count -= std::min(count, span.count);
    }
    EXPECT_EQ(count, 0u);
    return spans;
  }
  std::vector<suede_completion> Completions(size_t n) {
    std::vector<suede_completion> all;
    for (int i = 0; all.size() < n && i < 5000; ++i) {
      suede_completion some[64];
      const int count = client_.queue(0).PollCompletions(some);
      if (count < 0) break;
      all.insert(all.end(), some, some + count);
      if (count == 0) usleep(1000);
    }
    return all;
  }

  TestDirectory directory_;
  const std::string path_ = directory_.Socket();
  FakeDaemon daemon_{TestConfig(path_)};
  Client client_;
  uint8_t control_[8] = {};
  uint8_t data_[64];
  suede_span span_{};
};

TEST_F(BatchTest, ABatchArrivesAsASpanAndCompletes) {
  uint8_t controls[10][8];
  for (uint8_t i = 0; i < 10; ++i) {
    std::memcpy(controls[i], control_, 8);
    controls[i][0] |= static_cast<uint8_t>(i << 5);  // the bits that are each command's own
    controls[i][2] = i;
  }
  suede_batch batch = Batch(1, SUEDE_RECORD_COMPLETION | SUEDE_RECORD_TRANSMIT_NOW);
  batch.control = controls[0];
  batch.control_stride = 8;
  batch.data_stride = 1;
  ASSERT_EQ(SendBatch(batch, 10), 10) << suede_error_text();
  client_.queue(0).Flush();
  uint8_t number = 0;
  for (const suede_received_span& span : Receive(10)) {
    EXPECT_EQ(span.control_bytes, 8);
    EXPECT_EQ(span.data_bytes, 20);
    EXPECT_EQ(span.source_xpuid, 1);
    EXPECT_EQ(span.own_xpuid, 1);
    EXPECT_EQ(span.vc, 0);
    for (uint32_t i = 0; i < span.count; ++i, ++number) {
      EXPECT_EQ(span.control[i * span.stride + 2], number);
      EXPECT_EQ(span.control[i * span.stride] >> 5, number % 8);
      EXPECT_EQ(span.data[i * span.stride + 19], number + 19);
    }
  }
  const auto completions = Completions(10);
  ASSERT_EQ(completions.size(), 10u);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(completions[i].tag, 100 + i);
}

TEST_F(BatchTest, WhatIsReservedIsWrittenInPlaceAndTheFirstOnesAreSent) {
  suede_shape shape = Shape(1, SUEDE_RECORD_COMPLETION);
  shape.type = 0xa0;
  ASSERT_EQ(Reserve(shape, 6), 6) << suede_error_text();
  EXPECT_EQ(span_.count, 6u);
  for (uint8_t i = 0; i < 6; ++i) {
    EXPECT_EQ(span_.control[i * span_.stride], 0xa0 | 0x14);
    EXPECT_EQ(span_.control[i * span_.stride + 1], 19);
    std::memset(span_.control + i * span_.stride + 2, i, 6);
    std::memset(span_.data + i * span_.stride, 0x40 + i, 20);
  }
  ASSERT_EQ(suede_commit(queue(), 4), 4) << suede_error_text();
  ExpectInvalid(suede_commit(queue(), 1));
  client_.queue(0).Flush();
  uint8_t number = 0;
  for (const suede_received_span& span : Receive(4)) {
    for (uint32_t i = 0; i < span.count; ++i, ++number) {
      EXPECT_EQ(span.control[i * span.stride + 7], number);
      EXPECT_EQ(span.data[i * span.stride + 19], 0x40 + number);
    }
  }
  EXPECT_EQ(number, 4);
  EXPECT_EQ(Completions(4).back().tag, 103u);
}

TEST_F(BatchTest, CommandsWithoutDataHaveNone) {
  suede_shape shape = Shape();
  shape.data_bytes = 0;
  ASSERT_EQ(Reserve(shape, 2), 2);
  EXPECT_EQ(span_.data, nullptr);
  span_.control[1] = 77;  // without data the program's
  std::memset(span_.control + 2, 0, 6);
  std::memset(span_.control + span_.stride + 2, 0, 6);
  ASSERT_EQ(suede_commit(queue(), 2), 2);
  client_.queue(0).Flush();
  const auto spans = Receive(2);
  EXPECT_EQ(spans[0].data, nullptr);
  EXPECT_EQ(spans[0].data_bytes, 0);
  EXPECT_EQ(spans[0].control[1], 77);
}

TEST_F(BatchTest, CreditEndsABatchAndItsReturnEndsAWait) {
  daemon_.Pause();
  EXPECT_EQ(SendBatch(Batch(), 100), 64);
  EXPECT_EQ(SendBatch(Batch(), 1), 0);
  EXPECT_EQ(Reserve(Shape(), 1), 0);
  EXPECT_EQ(span_.count, 0u);
  EXPECT_EQ(client_.queue(0).Credit(1, 0), 0);
  EXPECT_EQ(Reserve(Shape(2), 1000), 64) << "another destination";
  EXPECT_EQ(suede_commit(queue(), 10), 10);
  EXPECT_EQ(client_.queue(0).Credit(2, 0), 54);
  const suede_wait_set want{.credit_queues = 1, .completion_queues = 0, .rx_vcs = 0};
  EXPECT_EQ(client_.Wait(want, nullptr, 10), 0);
  daemon_.Resume();
  EXPECT_EQ(client_.Wait(want, nullptr, 5000), 1);
  Receive(64);
  EXPECT_EQ(SendBatch(Batch(), 64), 64);
}

TEST_F(BatchTest, BadParametersAreRefusedAndCostNothing) {
  ASSERT_EQ(Reserve(Shape(), 3), 3);
  suede_span other;
  const auto reserve = [&](const suede_shape& shape) {
    return suede_reserve(queue(), &shape, 1, &other);
  };
  suede_batch batch = Batch();
  const suede_shape fine = Shape();
  suede_shape shape = fine;
  ExpectInvalid(suede_send_batch(nullptr, &batch, 1));
  ExpectInvalid(suede_send_batch(queue(), nullptr, 1));
  ExpectInvalid(suede_reserve(nullptr, &shape, 1, &other));
  ExpectInvalid(suede_reserve(queue(), nullptr, 1, &other));
  ExpectInvalid(suede_reserve(queue(), &shape, 1, nullptr));
  ExpectInvalid(suede_commit(nullptr, 0));
  batch.size = shape.size = 4;
  ExpectInvalid(SendBatch(batch, 1));
  ExpectInvalid(reserve(shape));
  ExpectInvalid(SendBatch(Batch(1024), 1));
  ExpectInvalid(reserve(Shape(1024)));
  ExpectInvalid(SendBatch(Batch(1, 8), 1));
  ExpectInvalid(reserve(Shape(1, 8)));
  batch = Batch(), shape = fine;
  batch.vc = shape.vc = 4;
  ExpectInvalid(SendBatch(batch, 1));
  ExpectInvalid(reserve(shape));
  batch = Batch();
  batch.data = nullptr;
  ExpectInvalid(SendBatch(batch, 1));
  batch.control = nullptr;
  ExpectInvalid(SendBatch(batch, 1));
  batch = Batch();
  for (const uint8_t type : std::initializer_list<uint8_t>{0x10, 0x00, 0x1a}) {
    const uint8_t control[20] = {type};
    batch.control = control;
    ExpectInvalid(SendBatch(batch, 1));
  }
  for (const uint16_t bytes : std::initializer_list<uint16_t>{0, 3, 20, 0x1002}) {
    shape = fine, shape.control_bytes = bytes;
    ExpectInvalid(reserve(shape));
  }
  shape = fine, shape.data_bytes = 257;
  ExpectInvalid(reserve(shape));
  shape = fine, shape.type = 0x30;
  ExpectInvalid(reserve(shape));
  shape = fine, shape.reserved[2] = 1;
  ExpectInvalid(reserve(shape));
  suede_received_span received;
  ExpectInvalid(suede_receive_span(nullptr, 0, &received, 1));
  ExpectInvalid(suede_receive_span(client_.get(), 4, &received, 1));
  ExpectInvalid(suede_receive_span(client_.get(), 0, nullptr, 1));
  ExpectInvalid(suede_receive_span(client_.get(), 0, &received, 0));
  ExpectInvalid(suede_commit(queue(), 4));
  EXPECT_EQ(suede_commit(queue(), 3), 3) << "the reservation was left alone";
  EXPECT_EQ(suede_commit(queue(), 0), 0) << "none of none";
  EXPECT_EQ(SendBatch(Batch(), 0), 0);
  EXPECT_EQ(Reserve(fine, 0), 0);
}

TEST_F(BatchTest, OtherCallsForTheQueueEndAReservation) {
  const auto is_void = [&] { return suede_commit(queue(), 1) == -EINVAL; };
  suede_command command = client::MakeCommand(2, 0, control_, {data_, 20});
  ASSERT_EQ(Reserve(Shape(), 2), 2);
  EXPECT_EQ(suede_send(queue(), &command), 0);
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(Shape(), 2), 2);
  EXPECT_EQ(SendBatch(Batch(2), 1), 1);
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(Shape(), 2), 2);
  client_.queue(0).Credit(3, 0);
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(Shape(), 2), 2);
  EXPECT_EQ(client_.queue(0).Reset(), 0) << suede_error_text();
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(Shape(), 2), 2);
  client_.queue(0).Flush();
  EXPECT_EQ(suede_queue_state(queue()), static_cast<int>(SUEDE_QUEUE_READY));
  EXPECT_EQ(suede_commit(queue(), 2), 2) << "these calls leave it";
}

TEST_F(BatchTest, StatesOfTheQueueRefuseBatches) {
  ASSERT_EQ(Reserve(Shape(), 2), 2);
  daemon_.SetState(0, SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(suede_commit(queue(), 2), -EBUSY);
  EXPECT_EQ(SendBatch(Batch(), 2), -EBUSY);
  EXPECT_EQ(Reserve(Shape(), 2), -EBUSY);
  const suede_wait_set want{.credit_queues = 1, .completion_queues = 0, .rx_vcs = 0};
  EXPECT_EQ(client_.Wait(want, nullptr, 10), 0);
  daemon_.SetState(0, SUEDE_QUEUE_READY);
  EXPECT_EQ(client_.Wait(want, nullptr, 5000), 1);
  EXPECT_EQ(Reserve(Shape(), 2), 2);
  daemon_.SetState(0, SUEDE_QUEUE_BROKEN);
  EXPECT_EQ(suede_commit(queue(), 2), -EIO);
  EXPECT_EQ(SendBatch(Batch(), 2), -EIO);
  EXPECT_EQ(Reserve(Shape(), 2), -EIO);
  EXPECT_EQ(client_.queue(0).Reset(), 0);
  EXPECT_EQ(SendBatch(Batch(), 2), 2);
}

TEST_F(BatchTest, ADaemonThatHasGoneIsNoticed) {
  ASSERT_EQ(Reserve(Shape(), 2), 2);
  daemon_.Stop();
  while (client_.Status() == 0) usleep(1000);
  EXPECT_EQ(suede_commit(queue(), 2), -ECONNRESET);
  EXPECT_EQ(SendBatch(Batch(), 2), -ECONNRESET);
  EXPECT_EQ(Reserve(Shape(), 2), -ECONNRESET);
  suede_received_span span;
  EXPECT_EQ(client_.ReceiveSpan(0, &span, 8), -ECONNRESET);
  EXPECT_EQ(client_.Reconnect(), -ENOENT);
  EXPECT_EQ(suede_commit(queue(), 0), -ECONNRESET);
  EXPECT_EQ(SendBatch(Batch(), 2), -ECONNRESET);
  EXPECT_EQ(Reserve(Shape(), 2), -ECONNRESET);
  EXPECT_EQ(client_.ReceiveSpan(0, &span, 8), -ECONNRESET);
  FakeDaemon again{TestConfig(path_)};
  ASSERT_EQ(client_.Reconnect(), 0) << suede_error_text();
  ExpectInvalid(suede_commit(queue(), 1));
  EXPECT_EQ(SendBatch(Batch(), 2), 2);
}

// Singles, batches and reservations in turn; the numbers arrive in order, through many rounds of
// both rings, whose ends the spans meet.
TEST_F(BatchTest, AllWaysOfSendingAndReceivingMix) {
  uint32_t sent = 0;
  uint32_t received = 0;
  for (int round = 0; received < 20000 && round < 200000; ++round) {
    const uint32_t want = 1 + static_cast<uint32_t>(round) % 40;
    const auto number = [&](uint8_t* control, uint32_t n) {
      std::memcpy(control + 2, &n, sizeof n);
    };
    if (sent >= 20000) {
    } else if (round % 3 == 0) {
      uint8_t controls[40][8];
      for (uint32_t i = 0; i < want; ++i) {
        std::memcpy(controls[i], control_, 8);
        number(controls[i], sent + i);
      }
      suede_batch batch = Batch();
      batch.control = controls[0];
      batch.control_stride = 8;
      sent += static_cast<uint32_t>(SendBatch(batch, want));
    } else if (round % 3 == 1) {
      suede_shape shape = Shape();
      shape.data_bytes = 60;  // two lines
      const int n = Reserve(shape, want);
      for (int i = 0; i < n; ++i)
        number(span_.control + i * span_.stride, sent + static_cast<uint32_t>(i));
      if (round % 5 != 0)
        sent += static_cast<uint32_t>(suede_commit(queue(), static_cast<uint32_t>(n)));
    } else {
      number(control_, sent);
      const suede_command command = client::MakeCommand(1, 0, control_, {data_, 20});
      if (suede_send(queue(), &command) == 0) ++sent;
    }
    client_.queue(0).Flush();
    const auto expect = [&](const uint8_t* control) {
      uint32_t n;
      std::memcpy(&n, control + 2, sizeof n);
      ASSERT_EQ(n, received);
      ++received;
    };
    if (round % 4 == 0) {
      suede_received commands[16];
      const int n = client_.Receive(0, commands);
      for (int i = 0; i < n; ++i) expect(commands[i].control);
    } else {
      suede_received_span span;
      const int n = client_.ReceiveSpan(0, &span, 24);
      for (int i = 0; i < n; ++i) expect(span.control + static_cast<uint32_t>(i) * span.stride);
      if (n == 0) usleep(100);
    }
    if (HasFatalFailure()) return;
    client_.Release(0);
  }
  EXPECT_GE(received, 20000u);
}

}  // namespace
}  // namespace suede
