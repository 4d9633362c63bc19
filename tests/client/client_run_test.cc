// SPDX-License-Identifier: Apache-2.0
// Batches and reservations of a client's queue: what each limit does to them, and that they are
// what as many single commands are.
#include <gtest/gtest.h>

#include <random>

#include "segment_memory.h"

namespace suede {
namespace {

constexpr SegmentShape kRunShape{.tx_lines = 128,
                                 .rx_lines = 64,
                                 .completion_count = 64,
                                 .credit_lines = 20,
                                 .aggregate_lines = 100};

// As a daemon has it: a queue's ends of the rings.
struct Daemon {
  explicit Daemon(const SegmentShape& shape)
      : memory(shape),
        reader(memory.base(), shape, 0),
        credits(memory.base(), shape, 0),
        completions(memory.base(), shape, 0),
        queue(memory.base(), 0) {}

  // Takes up to `max` records, checks that there was credit, and adds them to `taken`.
  void Take(uint32_t max, std::vector<TxRecord>* taken) {
    TxRecord records[64];
    const uint32_t count = PollEach(reader, records, max);
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_NE(records[i].verdict, RecordVerdict::kMalformed);
      ASSERT_TRUE(credits.Take(records[i].xpuid(), records[i].vc(), records[i].lines));
      taken->push_back(records[i]);
    }
  }
  void Return(const TxRecord& record) { credits.Return(record.xpuid(), record.vc(), record.lines); }
  // Takes and returns everything.
  void Drain() {
    std::vector<TxRecord> taken;
    Take(64, &taken);
    for (const TxRecord& record : taken) Return(record);
    reader.Release();
  }

  SegmentMemory memory;
  TxRingReader reader;
  CreditWriter credits;
  CompletionWriter completions;
  ClientQueue queue;
};

std::vector<uint8_t> BytesOf(const TxRecord& record) {
  return {record.line, record.line + SUEDE_RECORD_CONTROL + record.bytes};
}

class ClientRunTest : public ::testing::Test {
 protected:
  uint32_t SendRun(const ClientCommand& command, uint32_t count,
                   SendResult expected = SendResult::kOk) {
    uint32_t sent = 77;
    EXPECT_EQ(daemon_.queue.SendRun({.first = command}, count, &sent), expected);
    return sent;
  }
  ClientShape ShapeOf(const TestCommand& command, uint16_t xpuid, uint8_t vc,
                      uint8_t flags = 0) const {
    return {.xpuid = xpuid,
            .vc = vc,
            .flags = flags,
            .type = command.control[0],
            .length = command.control[1],
            .tag = 5};
  }
  uint32_t Reserve(const ClientShape& shape, uint32_t count,
                   SendResult expected = SendResult::kOk) {
    EXPECT_EQ(daemon_.queue.Reserve(shape, count, &span_), expected);
    return span_.count;
  }
  std::vector<TxRecord> Take() {
    std::vector<TxRecord> taken;
    daemon_.queue.Flush();
    daemon_.Take(64, &taken);
    return taken;
  }
  // Moves the ring's positions to `line` of it.
  void MoveTo(uint32_t line) {
    for (uint32_t i = 0; i < line; ++i) {
      ASSERT_EQ(daemon_.queue.Send(one_.To(9, 0)), SendResult::kOk);
      daemon_.queue.Flush();
      daemon_.Drain();
    }
  }

  Daemon daemon_{kRunShape};
  const TestCommand one_{8, 32, 1};
  const TestCommand two_{18, 90, 2};
  CommandSpan span_;
};

TEST_F(ClientRunTest, CreditOfADestinationEndsABatch) {
  EXPECT_EQ(SendRun(one_.To(1, 0), 64, SendResult::kWouldBlock), 20u);
  EXPECT_TRUE(daemon_.reader.HasWork()) << "what was accepted is flushed where the rest blocks";
  EXPECT_EQ(SendRun(one_.To(1, 0), 1, SendResult::kWouldBlock), 0u);
  EXPECT_EQ(SendRun(two_.To(2, 1), 11, SendResult::kWouldBlock), 10u) << "another destination";
  daemon_.Drain();
  EXPECT_EQ(daemon_.queue.Credit(1, 0), 20u);
  EXPECT_EQ(SendRun(one_.To(1, 0), 20), 20u);
}

TEST_F(ClientRunTest, TheAggregateEndsABatch) {
  uint32_t sum = 0;
  for (uint16_t xpuid = 1; xpuid <= 10; ++xpuid) {
    for (uint8_t vc = 0; vc < 4; ++vc) {
      uint32_t sent;
      daemon_.queue.SendRun({.first = one_.To(xpuid, vc)}, 100, &sent);
      sum += sent;
    }
  }
  EXPECT_EQ(sum, daemon_.queue.sent());
  EXPECT_GT(sum, 90u);
  EXPECT_LE(sum, 100u);
}

TEST_F(ClientRunTest, ABatchGoesOnBehindTheRingsEnd) {
  MoveTo(125);
  EXPECT_EQ(SendRun(two_.To(1, 0), 5), 5u);  // one before the end, one line of padding
  const std::vector<TxRecord> taken = Take();
  ASSERT_EQ(taken.size(), 5u);
  EXPECT_EQ(taken[1].line, reinterpret_cast<uint8_t*>(daemon_.memory.tx_record(0)));
  EXPECT_EQ(daemon_.queue.Credit(1, 0), 10u) << "padding costs no credit";
}

TEST_F(ClientRunTest, TheRingEndsABatch) {
  // Credit comes back before the lines do.
  std::vector<TxRecord> taken;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(SendRun(one_.To(1, 0), 15), 15u);
    daemon_.queue.Flush();
    daemon_.Take(64, &taken);
    for (const TxRecord& record : taken) daemon_.Return(record);
    taken.clear();
  }
  EXPECT_EQ(SendRun(one_.To(1, 0), 15, SendResult::kWouldBlock), 8u);
  daemon_.reader.Release();
  EXPECT_EQ(SendRun(one_.To(1, 0), 7), 7u);
}

TEST_F(ClientRunTest, TagsCountUpAndEndABatch) {
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(SendRun(one_.To(1, 0, SUEDE_RECORD_COMPLETION, 0xfffffffeu), 10), 10u);
    const std::vector<TxRecord> taken = Take();
    for (uint64_t t = 0; t < 10; ++t) EXPECT_EQ(taken[t].tag(), 0xfffffffeu + t);
    for (const TxRecord& record : taken) daemon_.Return(record);
    daemon_.reader.Release();
  }
  EXPECT_EQ(SendRun(one_.To(1, 0, SUEDE_RECORD_COMPLETION, ~0ull), 10, SendResult::kWouldBlock),
            4u);
  EXPECT_EQ(Take()[1].tag(), 0u) << "modulo 2^64";
  EXPECT_EQ(SendRun(one_.To(1, 0), 10), 10u) << "untagged ones go on";
  for (uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(daemon_.completions.Push(i, 1, 0, 0));
  daemon_.completions.Publish();
  suede_completion out[8];
  ASSERT_EQ(daemon_.queue.PollCompletions(out, 8), 7u);
  EXPECT_EQ(Reserve(ShapeOf(one_, 2, 0, SUEDE_RECORD_COMPLETION), 10), 7u);
}

TEST_F(ClientRunTest, UntaggedOnesKeepTheTag) {
  EXPECT_EQ(SendRun(one_.To(1, 0, 0, 42), 3), 3u);
  for (const TxRecord& record : Take()) EXPECT_EQ(record.tag(), 42u);
}

TEST_F(ClientRunTest, OnlyTheLastOfABatchIsMarked) {
  EXPECT_EQ(SendRun(one_.To(1, 0, SUEDE_RECORD_TRANSMIT_NOW), 7), 7u);
  EXPECT_EQ(SendRun(one_.To(1, 0, SUEDE_RECORD_TRANSMIT_NOW), 64, SendResult::kWouldBlock), 13u);
  const std::vector<TxRecord> taken = Take();
  ASSERT_EQ(taken.size(), 20u);
  for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i].flags(), i == 6 ? 1 : 0) << i;
}

TEST_F(ClientRunTest, InvalidOnesCostNothing) {
  EXPECT_EQ(Reserve(ShapeOf(one_, 1, 0), 3), 3u);
  const CommandSpan kept = span_;
  EXPECT_EQ(SendRun(one_.To(1024, 0), 3, SendResult::kInvalid), 0u);
  EXPECT_EQ(SendRun(one_.To(1, 4), 3, SendResult::kInvalid), 0u);
  EXPECT_EQ(SendRun(one_.To(1, 0, 8), 3, SendResult::kInvalid), 0u);
  ClientCommand command = one_.To(1, 0);
  command.data = nullptr;
  EXPECT_EQ(SendRun(command, 3, SendResult::kInvalid), 0u);
  TestCommand bad = one_;
  for (const uint8_t type : std::initializer_list<uint8_t>{0x10, 0x1a, 0x0a, 0x00}) {
    bad.control[0] = type;
    EXPECT_EQ(SendRun(bad.To(1, 0), 3, SendResult::kInvalid), 0u);
    EXPECT_EQ(Reserve(ShapeOf(bad, 1, 0), 3, SendResult::kInvalid), 0u);
  }
  EXPECT_EQ(Reserve(ShapeOf(one_, 1024, 0), 3, SendResult::kInvalid), 0u);
  EXPECT_EQ(Reserve(ShapeOf(one_, 1, 4), 3, SendResult::kInvalid), 0u);
  EXPECT_EQ(Reserve(ShapeOf(one_, 1, 0, 0x80), 3, SendResult::kInvalid), 0u);
  EXPECT_EQ(span_.control, nullptr);
  EXPECT_EQ(SendRun(one_.To(1, 0), 0), 0u) << "none of none: valid";
  EXPECT_EQ(Reserve(ShapeOf(one_, 1, 0), 3), 3u);
  EXPECT_EQ(span_.control, kept.control);
  EXPECT_EQ(daemon_.queue.sent(), 0u);
  EXPECT_EQ(daemon_.queue.Credit(1, 0), 20u);
}

TEST_F(ClientRunTest, StatesStopBatchesAndReservations) {
  ASSERT_EQ(Reserve(ShapeOf(one_, 1, 0), 3), 3u);
  for (const auto& [state, expected] : {std::pair{SUEDE_QUEUE_IN_RESET, SendResult::kInReset},
                                        std::pair{SUEDE_QUEUE_BROKEN, SendResult::kBroken}}) {
    SetQueueState(daemon_.memory.base(), 0, state);
    EXPECT_EQ(daemon_.queue.Commit(3), expected);
  }
  SetQueueState(daemon_.memory.base(), 0, SUEDE_QUEUE_READY);
  EXPECT_EQ(daemon_.queue.Commit(3), SendResult::kOk) << "the reservation stayed";
  SetQueueState(daemon_.memory.base(), 0, SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(SendRun(one_.To(1, 0), 3, SendResult::kInReset), 0u);
  EXPECT_EQ(Reserve(ShapeOf(one_, 1, 0), 3, SendResult::kInReset), 0u);
  SetQueueState(daemon_.memory.base(), 0, SUEDE_QUEUE_BROKEN);
  EXPECT_EQ(SendRun(one_.To(1, 0), 3, SendResult::kBroken), 0u);
  EXPECT_EQ(Reserve(ShapeOf(one_, 1, 0), 3, SendResult::kBroken), 0u);
  SetQueueState(daemon_.memory.base(), 0, SUEDE_QUEUE_READY);
  EXPECT_EQ(daemon_.queue.sent(), 3u);
}

TEST_F(ClientRunTest, AReservationCostsNothingAndIsRepeatable) {
  const ClientShape shape = ShapeOf(one_, 1, 0, SUEDE_RECORD_COMPLETION);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Reserve(shape, 64), 20u);
  EXPECT_EQ(daemon_.queue.Commit(0), SendResult::kOk);
  EXPECT_EQ(daemon_.queue.Commit(1), SendResult::kInvalid) << "it has ended";
  EXPECT_EQ(daemon_.queue.sent(), 0u);
  daemon_.queue.Flush();
  EXPECT_FALSE(daemon_.reader.HasWork());
  EXPECT_EQ(daemon_.queue.Credit(1, 0), 20u);
  for (uint32_t i = 0; i < 64; ++i) {  // tags likewise
    ASSERT_EQ(SendRun(one_.To(static_cast<uint16_t>(i % 8), 0, SUEDE_RECORD_COMPLETION), 1), 1u);
    daemon_.queue.Flush();
    daemon_.Drain();
  }
}

TEST_F(ClientRunTest, CommitHandsOverTheFirstOnes) {
  ASSERT_EQ(Reserve(ShapeOf(one_, 1, 0, SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION), 10),
            10u);
  for (uint32_t i = 0; i < span_.count; ++i) {
    std::memset(span_.control + i * span_.stride + 2, static_cast<int>(i), 6);
    std::memset(span_.data + i * span_.stride, static_cast<int>(i), 32);
  }
  EXPECT_EQ(daemon_.queue.Commit(11), SendResult::kInvalid);
  EXPECT_EQ(daemon_.queue.Commit(4), SendResult::kOk);
  EXPECT_EQ(daemon_.queue.Commit(1), SendResult::kInvalid) << "the rest is given up";
  const std::vector<TxRecord> taken = Take();
  ASSERT_EQ(taken.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(taken[i].tag(), 5u + i);
    EXPECT_EQ(taken[i].flags(), i == 3 ? 5 : 4) << "the last one committed is marked";
    EXPECT_EQ(taken[i].line[16], i);
    EXPECT_EQ(taken[i].line[53], i);
  }
  EXPECT_EQ(daemon_.queue.Credit(1, 0), 16u);
}

TEST_F(ClientRunTest, AReservationNeverWraps) {
  MoveTo(123);
  ASSERT_EQ(Reserve(ShapeOf(two_, 1, 0), 5), 2u);
  EXPECT_EQ(daemon_.queue.Commit(2), SendResult::kOk);
  ASSERT_EQ(Reserve(ShapeOf(two_, 1, 0), 5), 5u) << "behind a line of padding";
  EXPECT_EQ(span_.control - SUEDE_RECORD_CONTROL,
            reinterpret_cast<uint8_t*>(daemon_.memory.tx_record(0)));
  EXPECT_EQ(Take().size(), 2u);
  ASSERT_EQ(Reserve(ShapeOf(one_, 1, 0), 5), 1u)
      << "a shorter one fits where the padding was to be";
  ASSERT_EQ(Reserve(ShapeOf(two_, 1, 0), 5), 5u);
  EXPECT_EQ(daemon_.queue.Commit(5), SendResult::kOk);
  EXPECT_EQ(Take().size(), 5u);
  EXPECT_EQ(daemon_.queue.Credit(1, 0), 6u);
}

TEST_F(ClientRunTest, CallsThatSendOrReadCreditEndAReservation) {
  const ClientShape shape = ShapeOf(one_, 1, 0);
  const auto is_void = [&] { return daemon_.queue.Commit(1) == SendResult::kInvalid; };
  for (int i = 0; i < 2; ++i) {  // the second one reads no credit
    ASSERT_EQ(Reserve(shape, 2), 2u);
    EXPECT_EQ(daemon_.queue.Send(two_.To(2, 0)), SendResult::kOk);
    EXPECT_TRUE(is_void());
    ASSERT_EQ(Reserve(shape, 2), 2u);
    SendRun(two_.To(2, 0), 1);
    EXPECT_TRUE(is_void());
  }
  ASSERT_EQ(Reserve(shape, 2), 2u);
  EXPECT_EQ(Reserve(shape, 0), 0u);
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(shape, 2), 2u);
  daemon_.queue.Credit(1, 3);
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(shape, 2), 2u);
  daemon_.queue.Abandon();
  EXPECT_TRUE(is_void());
  SendRun(one_.To(3, 0), 20);
  ASSERT_EQ(Reserve(shape, 2), 2u);
  EXPECT_EQ(daemon_.queue.Send(one_.To(3, 0)), SendResult::kWouldBlock);
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(shape, 2), 2u);
  daemon_.queue.Restart(false);
  EXPECT_TRUE(is_void());
  ASSERT_EQ(Reserve(shape, 2), 2u);
  daemon_.queue.Flush();
  suede_completion out[1];
  daemon_.queue.PollCompletions(out, 1);
  EXPECT_FALSE(is_void()) << "other calls leave it";
}

// ---- The model: one queue gets batches and reservations, the other the same as single commands
// ----

class ClientRunModel : public ::testing::TestWithParam<uint64_t> {
 protected:
  struct Content {
    std::vector<uint8_t> controls;
    std::vector<uint8_t> data;
    uint32_t control_bytes = 0;
    uint32_t data_bytes = 0;
    uint32_t control_stride = 0;
    uint32_t data_stride = 0;

    const uint8_t* Data(uint32_t i) const { return data.data() + size_t{i} * data_stride; }
    // With the lengths of the first one, as every command is to be sent.
    std::vector<uint8_t> Control(uint32_t i) const {
      const uint8_t* from = controls.data() + size_t{i} * control_stride;
      std::vector<uint8_t> control(from, from + control_bytes);
      control[0] = static_cast<uint8_t>((control[0] & 0xe0) | (controls[0] & 0x1f));
      if (data_bytes != 0) control[1] = controls[1];
      return control;
    }
  };

  uint32_t Any(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  Content MakeContent(uint32_t count) {
    Content content;
    content.control_bytes = Any(2) == 0 ? 8 : 2 + 2 * Any(9);
    const uint32_t sizes[] = {0, Any(257), Any(257), 32, Any(70), Any(20)};
    content.data_bytes = sizes[Any(6)];
    content.control_stride = Any(4) == 0 ? 0 : content.control_bytes + Any(5);
    content.data_stride = Any(4) == 0 ? 0 : content.data_bytes + Any(5);
    // Exactly as long as they may be read.
    content.controls.resize(size_t{count - 1} * content.control_stride + content.control_bytes);
    content.data.resize(size_t{count - 1} * content.data_stride + content.data_bytes);
    for (uint8_t& byte : content.controls) byte = static_cast<uint8_t>(random_());
    for (uint8_t& byte : content.data) byte = static_cast<uint8_t>(random_());
    content.controls[0] =
        static_cast<uint8_t>((content.controls[0] & 0xe0) | content.control_bytes / 2 |
                             (content.data_bytes != 0 ? 0x10 : 0));
    if (content.data_bytes != 0) content.controls[1] = static_cast<uint8_t>(content.data_bytes - 1);
    return content;
  }

  ClientCommand Head() {
    static constexpr uint8_t kFlags[] = {0, 0, 1, 4, 5, 2, 0};
    return {.xpuid = static_cast<uint16_t>(Any(3) * 500),
            .vc = static_cast<uint8_t>(Any(3) == 0 ? Any(4) : 0),
            .flags = kFlags[Any(7)],
            .tag = Any(4) == 0 ? ~0ull - Any(30) : random_()};
  }

  // Command i of `count` to the queue of single commands.
  SendResult Single(const ClientCommand& head, const Content& content, uint32_t i, uint32_t count) {
    ClientCommand command = head;
    const std::vector<uint8_t> control = content.Control(i);
    command.control = control.data();
    command.data = content.Data(i);
    if (i + 1 != count) command.flags &= static_cast<uint8_t>(~SUEDE_RECORD_TRANSMIT_NOW);
    if ((command.flags & SUEDE_RECORD_COMPLETION) != 0) command.tag += i;
    return single_.queue.Send(command);
  }

  void Batch() {
    const uint32_t count = 1 + Any(40);
    const Content content = MakeContent(count);
    ClientCommand head = Head();
    head.control = content.controls.data();
    head.data = content.data.data();
    uint32_t expected = 0;
    SendResult result = SendResult::kOk;
    while (expected < count && result == SendResult::kOk) {
      result = Single(head, content, expected, count);
      if (result == SendResult::kOk) ++expected;
    }
    uint32_t sent;
    ASSERT_EQ(run_.queue.SendRun({.first = head,
                                  .control_stride = content.control_stride,
                                  .data_stride = content.data_stride},
                                 count, &sent),
              result);
    ASSERT_EQ(sent, expected);
    sent_ += sent;
  }

  void ReserveAndCommit() {
    const uint32_t count = 1 + Any(40);
    const Content content = MakeContent(count);
    ClientCommand head = Head();
    // Where the reservation reads what was given back, the other queue has read it, too.
    for (Daemon* daemon : {&single_, &run_}) daemon->queue.Credit(head.xpuid, head.vc);
    CommandSpan span;
    const std::vector<uint8_t> first = content.Control(0);
    const SendResult result = run_.queue.Reserve({.xpuid = head.xpuid,
                                                  .vc = head.vc,
                                                  .flags = head.flags,
                                                  .type = first[0],
                                                  .length = first[1],
                                                  .tag = head.tag},
                                                 count, &span);
    if (result != SendResult::kOk) {
      ASSERT_EQ(result, SendResult::kWouldBlock);
      ASSERT_EQ(Single(head, content, 0, count), result);
      return;
    }
    ASSERT_LE(span.count, count);
    const uint32_t commit = Any(3) == 0 ? Any(span.count + 1) : span.count;
    for (uint32_t i = 0; i < span.count; ++i) {
      const std::vector<uint8_t> control = content.Control(i);
      uint8_t* to = span.control + size_t{i} * span.stride;
      ASSERT_EQ(to[0], first[0]);
      std::memcpy(to + 2, control.data() + 2, control.size() - 2);
      if (content.data_bytes != 0) {
        std::memcpy(span.data + size_t{i} * span.stride, content.Data(i), content.data_bytes);
      }
    }
    switch (Any(4)) {
      case 0:
        return;  // abandoned
      case 1:
        return Batch();
      default:
        break;
    }
    ASSERT_EQ(run_.queue.Commit(commit), SendResult::kOk);
    Content same = content;  // bytes 0 and 1 are the first one's
    for (uint32_t i = 0; i < count; ++i) {
      std::memcpy(same.controls.data() + size_t{i} * same.control_stride, first.data(), 2);
    }
    for (uint32_t i = 0; i < commit; ++i) {
      ASSERT_EQ(Single(head, same, i, commit), SendResult::kOk);
    }
    sent_ += commit;
  }

  void SendOne() {
    const Content content = MakeContent(1);
    ClientCommand head = Head();
    head.control = content.controls.data();
    head.data = content.data.data();
    ASSERT_EQ(run_.queue.Send(head), single_.queue.Send(head));
  }

  // Both daemons take, complete and return the same; the records have to be the same.
  void Serve() {
    std::vector<TxRecord> expected;
    std::vector<TxRecord> got;
    const uint32_t max = 1 + Any(60);
    single_.Take(max, &expected);
    run_.Take(max, &got);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(BytesOf(got[i]), BytesOf(expected[i])) << i;
      ASSERT_EQ(got[i].verdict, expected[i].verdict);
      held_.push_back(got[i]);
      if ((got[i].flags() & SUEDE_RECORD_COMPLETION) == 0) continue;
      for (Daemon* daemon : {&single_, &run_}) {
        ASSERT_TRUE(daemon->completions.Push(got[i].tag(), got[i].xpuid(), got[i].vc(), 0));
        daemon->completions.Publish();
      }
    }
    std::shuffle(held_.begin(), held_.end(), random_);
    for (size_t keep = Any(static_cast<uint32_t>(held_.size()) + 1); held_.size() > keep;) {
      for (Daemon* daemon : {&single_, &run_}) daemon->Return(held_.back());
      held_.pop_back();
    }
    if (Any(2) == 0) {
      for (Daemon* daemon : {&single_, &run_}) daemon->reader.Release();
    }
    suede_completion out[32];
    const uint32_t polled = Any(32);
    const uint32_t completed = single_.queue.PollCompletions(out, polled);
    ASSERT_EQ(run_.queue.PollCompletions(out, polled), completed);
  }

  void Reset() {
    for (Daemon* daemon : {&single_, &run_}) {
      daemon->queue.Flush();
      TxRecord records[64];
      for (uint32_t n; (n = PollEach(daemon->reader, records, 64)) > 0;) {
        for (uint32_t i = 0; i < n; ++i) {
          if ((records[i].flags() & SUEDE_RECORD_COMPLETION) != 0) {
            daemon->completions.Push(records[i].tag(), 0, 0, SUEDE_STATUS_RESET);
          }
        }
      }
      daemon->completions.Publish();
      daemon->reader.Restart();
      daemon->credits.Restart();
      daemon->queue.Restart(false);
    }
  }

  std::mt19937_64 random_{GetParam()};
  const SegmentShape shape_{.tx_lines = 64u << Any(3),
                            .rx_lines = 64,
                            .completion_count = 64,
                            .credit_lines = 5 + Any(60),
                            .aggregate_lines = 30 + Any(200)};
  Daemon single_{shape_};
  Daemon run_{shape_};
  std::vector<TxRecord> held_;
  uint64_t sent_ = 0;
};

TEST_P(ClientRunModel, IsWhatSingleCommandsAre) {
  for (int step = 0; step < 6000; ++step) {
    switch (Any(10)) {
      case 0:
      case 1:
      case 2:
        Batch();
        break;
      case 3:
      case 4:
        ReserveAndCommit();
        break;
      case 5:
        SendOne();
        break;
      case 6:
        if (Any(40) == 0) Reset();
        break;
      case 7:
        single_.queue.Flush();
        run_.queue.Flush();
        break;
      default:
        Serve();
        break;
    }
    if (HasFatalFailure()) FAIL() << "step " << step;
    ASSERT_EQ(run_.queue.sent(), single_.queue.sent()) << step;
    ASSERT_EQ(run_.queue.seen_returned(), single_.queue.seen_returned()) << step;
    ASSERT_EQ(run_.memory.tx()->head.value, single_.memory.tx()->head.value) << step;
  }
  EXPECT_GT(sent_, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ClientRunModel, ::testing::Range<uint64_t>(0, 24));

}  // namespace
}  // namespace suede
