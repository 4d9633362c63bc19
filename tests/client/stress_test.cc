// SPDX-License-Identifier: Apache-2.0
// Client and daemon on two threads. Run under TSan too: the rings' contents are plain data that
// only the positions protect.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "segment_memory.h"

namespace suede {
namespace {

#ifdef SUEDE_SANITIZED
constexpr uint64_t kCommands = 200'000;
#else
constexpr uint64_t kCommands = 2'000'000;
#endif

constexpr SegmentShape kStressShape{.tx_lines = 256,
                              .rx_lines = 512,
                              .completion_count = 128,
                              .credit_lines = 100,
                              .aggregate_lines = 200};

TestCommand CommandOf(uint64_t n) {
  return TestCommand(static_cast<uint32_t>(2 + 2 * (n % 9)),
                     static_cast<uint32_t>(n % 5 == 0 ? 0 : n * 7 % 257), static_cast<uint8_t>(n));
}

// The daemon: loops every command back into the client's receive ring, returns credit, completes.
void Loop(SegmentMemory* memory, uint64_t commands) {
  TxRingReader reader(memory->base(), kStressShape, 0);
  CreditWriter credits(memory->base(), kStressShape, 0);
  CompletionWriter completions(memory->base(), kStressShape, 0);
  RxRingWriter writer(memory->base(), kStressShape, 0);
  for (uint64_t done = 0; done < commands;) {
    TxRecord records[32];
    const uint32_t count = PollEach(reader, records, 32);
    if (count == 0) std::this_thread::yield();
    for (uint32_t i = 0; i < count; ++i) {
      const TxRecord& record = records[i];
      ASSERT_EQ(record.verdict, RecordVerdict::kCommand);
      ASSERT_TRUE(credits.Take(record.xpuid(), record.vc(), record.lines));
      uint8_t* to;
      while ((to = writer.Reserve(record.lines)) == nullptr) {
        writer.Publish();
        std::this_thread::yield();
      }
      to[0] = static_cast<uint8_t>((record.type_and_length() & 0x10) != 0 ? 2 : 1);
      std::memcpy(to + 1, record.line + 1, record.bytes + size_t{SUEDE_RECORD_CONTROL} - 1);
      credits.Return(record.xpuid(), record.vc(), record.lines);
      if ((record.flags() & SUEDE_RECORD_COMPLETION) != 0) {
        ASSERT_TRUE(completions.Push(record.tag(), record.xpuid(), record.vc(), SUEDE_STATUS_OK));
      }
    }
    done += count;
    writer.Publish();
    completions.Publish();
    reader.Release();
  }
}

TEST(Stress, TwoThreads) {
  SegmentMemory memory(kStressShape);
  std::thread daemon(Loop, &memory, kCommands);
  ClientQueue queue(memory.base(), 0);
  ClientReceiver receiver(memory.base(), 0);
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t tagged = 0;
  uint64_t completed = 0;
  while (received < kCommands || completed < tagged) {
    bool progress = false;
    for (int i = 0; i < 16 && sent < kCommands; ++i) {
      const uint8_t flags = sent % 3 == 0 ? SUEDE_RECORD_COMPLETION : 0;
      const auto xpuid = static_cast<uint16_t>(sent % 1024);
      const TestCommand command = CommandOf(sent);
      if (queue.Send(command.To(xpuid, sent % 4, flags, sent)) != SendResult::kOk) break;
      tagged += flags != 0 ? 1 : 0;
      ++sent;
      progress = true;
    }
    queue.Flush();
    ReceivedCommand got[32];
    const uint32_t count = receiver.Poll(got, 32);
    for (uint32_t i = 0; i < count; ++i, ++received) {
      const TestCommand command = CommandOf(received);
      ASSERT_EQ(got[i].source_xpuid, received % 1024);
      ASSERT_EQ(got[i].control_bytes, command.control.size());
      ASSERT_EQ(got[i].data_bytes, command.data.size());
      ASSERT_EQ(std::memcmp(got[i].control, command.bytes().data(), command.bytes().size()), 0);
    }
    receiver.Release();
    suede_completion completions[32];
    const uint32_t n = queue.PollCompletions(completions, 32);
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(completions[i].tag, 3 * completed++);
    if (!progress && count == 0 && n == 0) std::this_thread::yield();
  }
  daemon.join();
}

constexpr uint64_t kBatched = kCommands / 4;

// Command n of the batches: 24 in a row are of one shape, and the type bits are 0.
TestCommand BatchCommandOf(uint64_t n) {
  const TestCommand shape = CommandOf(n / 24);
  return TestCommand(static_cast<uint32_t>(shape.control.size()),
                     static_cast<uint32_t>(shape.data.size()), static_cast<uint8_t>(n & 0x1f));
}

// Sends up to `count` commands from `first` on, all of one shape: batches and reservations in turn.
uint32_t SendBatch(ClientQueue* queue, uint64_t first, uint32_t count, bool in_place) {
  const uint8_t flags = first / 24 % 3 == 0 ? SUEDE_RECORD_COMPLETION : 0;
  const auto xpuid = static_cast<uint16_t>(first / 24 % 1024);
  std::vector<uint8_t> controls;
  std::vector<uint8_t> data;
  for (uint64_t n = first; n < first + count; ++n) {
    const TestCommand command = BatchCommandOf(n);
    controls.insert(controls.end(), command.control.begin(), command.control.end());
    data.insert(data.end(), command.data.begin(), command.data.end());
  }
  const auto control_bytes = static_cast<uint32_t>(controls.size() / count);
  const auto data_bytes = static_cast<uint32_t>(data.size() / count);
  if (!in_place) {
    uint32_t sent;
    queue->SendRun({.first = {.xpuid = xpuid,
                              .flags = flags,
                              .tag = first,
                              .control = controls.data(),
                              .data = data.data()},
                    .control_stride = control_bytes,
                    .data_stride = data_bytes},
                   count, &sent);
    return sent;
  }
  CommandSpan span;
  queue->Reserve(
      {.xpuid = xpuid, .flags = flags, .type = controls[0], .length = controls[1], .tag = first},
      count, &span);
  for (uint32_t i = 0; i < span.count; ++i) {
    const uint32_t kept = data_bytes != 0 ? 2 : 1;  // bytes that Reserve has written
    std::memcpy(span.control + i * span.stride + kept, controls.data() + i * control_bytes + kept,
                control_bytes - kept);
    if (data_bytes != 0) {
      std::memcpy(span.data + i * span.stride, data.data() + i * data_bytes, data_bytes);
    }
  }
  return queue->Commit(span.count) == SendResult::kOk ? span.count : 0;
}

TEST(Stress, TwoThreadsInBatches) {
  SegmentMemory memory(kStressShape);
  std::thread daemon(Loop, &memory, kBatched);
  ClientQueue queue(memory.base(), 0);
  ClientReceiver receiver(memory.base(), 0);
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t turns = 0;
  while (received < kBatched) {
    const uint64_t in_row = std::min(24 - sent % 24, kBatched - sent);
    uint32_t count = 0;
    if (in_row != 0) {
      count = SendBatch(&queue, sent, static_cast<uint32_t>(in_row), ++turns % 2 == 0);
      sent += count;
      queue.Flush();
    }
    suede_completion completions[32];
    const uint32_t completed = queue.PollCompletions(completions, 32);
    ReceivedSpan span;
    while (const uint32_t n = receiver.PollRun(&span, 32)) {
      ASSERT_EQ(span.source_xpuid, received / 24 % 1024);
      for (uint32_t i = 0; i < n; ++i, ++received) {
        const std::vector<uint8_t> bytes = BatchCommandOf(received).bytes();
        ASSERT_EQ(span.control_bytes + span.data_bytes, bytes.size());
        ASSERT_EQ(std::memcmp(span.At(i).control, bytes.data(), bytes.size()), 0) << received;
      }
      count += n;
    }
    receiver.Release();
    if (count + completed == 0) std::this_thread::yield();
  }
  daemon.join();
}

}  // namespace
}  // namespace suede
