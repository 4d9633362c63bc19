// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "segment_memory.h"

namespace suede {
namespace {

constexpr SegmentShape kCreditShape{.tx_lines = 256,
                              .rx_lines = 64,
                              .completion_count = 64,
                              .credit_lines = 10,
                              .aggregate_lines = 100};

// As daemons have them.
constexpr SegmentShape kShippedShape{.tx_lines = 4096,
                                     .rx_lines = 64,
                                     .completion_count = 64,
                                     .credit_lines = 1024,
                                     .aggregate_lines = 4096};

class CreditTest : public ::testing::Test {
 protected:
  explicit CreditTest(const SegmentShape& shape = kCreditShape) : shape_(shape) {}
  uint32_t SendUntilBlocked(uint16_t xpuid, uint8_t vc) {
    uint32_t sent = 0;
    while (queue_.Send(one_.To(xpuid, vc)) == SendResult::kOk) ++sent;
    return sent;
  }
  // Takes everything out of the ring, as the daemon would.
  void Drain() {
    TxRecord records[64];
    for (uint32_t n; (n = PollEach(reader_, records, 64)) > 0;) {
      for (uint32_t i = 0; i < n; ++i) {
        ASSERT_TRUE(credits_.Take(records[i].xpuid(), records[i].vc(), records[i].lines));
      }
    }
    reader_.Release();
  }
  const TestCommand one_{16, 16, 1};
  const SegmentShape shape_;
  SegmentMemory memory_{shape_};
  ClientQueue queue_{memory_.base(), 0};
  TxRingReader reader_{memory_.base(), shape_, 0};
  CreditWriter credits_{memory_.base(), shape_, 0};
  CompletionWriter completions_{memory_.base(), shape_, 0};
};

class ShippedCreditTest : public CreditTest {
 protected:
  ShippedCreditTest() : CreditTest(kShippedShape) {}
};

TEST_F(CreditTest, OneDestinationDoesNotStopAnother) {
  EXPECT_EQ(SendUntilBlocked(1, 0), 10u);
  EXPECT_EQ(queue_.Credit(1, 0), 0u);
  EXPECT_EQ(SendUntilBlocked(2, 0), 10u);
  EXPECT_EQ(SendUntilBlocked(1, 1), 10u);
}

TEST_F(ShippedCreditTest, ManyDestinationsThatTakeNothingLeaveCreditForAnother) {
  uint32_t sum = 0;
  for (uint16_t xpuid = 1; xpuid <= 8; ++xpuid) {
    uint32_t sent = 0;
    for (uint8_t vc = 0; vc < kVcCount; ++vc) sent += SendUntilBlocked(xpuid, vc);
    EXPECT_GE(sent, SUEDE_MAX_RECORD_LINES) << xpuid;
    sum += sent;
    Drain();
  }
  EXPECT_GT(sum, 3000u);
  EXPECT_GE(queue_.Credit(9, 0), SUEDE_MAX_RECORD_LINES);
  EXPECT_EQ(queue_.Send(one_.To(9, 0)), SendResult::kOk);
  // Credit that it gives back is its own again, however often.
  for (int i = 0; i < 1000; ++i) {
    queue_.Flush();
    Drain();
    credits_.Return(9, 0, 1);
    ASSERT_EQ(queue_.Send(one_.To(9, 0)), SendResult::kOk) << i;
  }
}

TEST_F(ShippedCreditTest, OneDestinationAloneHasLessThanHalfOfTheAggregate) {
  const uint32_t first = SendUntilBlocked(1, 0);
  EXPECT_EQ(first, 1024u);
  for (uint8_t vc = 1; vc < kVcCount; ++vc) SendUntilBlocked(1, vc);
  EXPECT_LT(queue_.sent(), 4096u / 2);
}

// Unread records on one VC leave the XPU's other VCs enough for longest records on their way.
TEST_F(ShippedCreditTest, AVcThatIsNotReadLeavesCreditForTheOthersOfItsXpu) {
  SendUntilBlocked(1, 0);
  for (uint8_t vc = 1; vc < kVcCount; ++vc) {
    EXPECT_GE(SendUntilBlocked(1, vc), 8u * SUEDE_MAX_RECORD_LINES) << int{vc};
  }
}

// Shares of an aggregate of 2400 lines, of which an eighth is kept.
TEST(CreditShares, LinesOfOtherVcsCountHalf) {
  constexpr SegmentShape kShape{.tx_lines = 4096,
                                .rx_lines = 64,
                                .completion_count = 64,
                                .credit_lines = 4096,
                                .aggregate_lines = 2400};
  SegmentMemory memory(kShape);
  ClientQueue queue(memory.base(), 0);
  const TestCommand one(16, 16, 1);
  const auto send = [&](uint16_t xpuid, uint8_t vc, uint32_t count) {
    uint32_t sent;
    queue.SendRun({.first = one.To(xpuid, vc)}, count, &sent);
    return sent;
  };
  EXPECT_EQ(queue.Credit(1, 0), 700u) << "a third of 2100: as much is left over then, twice";
  EXPECT_EQ(send(1, 0, 4096), 700u);
  EXPECT_EQ(queue.Credit(1, 1), 233u) << "a third of 1400 less the 700 of the other VC";
  EXPECT_EQ(queue.Credit(2, 0), 466u) << "a third of 1400";
  EXPECT_EQ(send(2, 0, 60), 60u);
  EXPECT_EQ(queue.Credit(2, 0), 406u) << "a third of 1340 less twice 60";
  // Credit that was granted before another VC of the XPU sent counts no more.
  queue.Restart(false);
  for (uint8_t vc = 0; vc < 2; ++vc) EXPECT_EQ(queue.Credit(1, vc), 700u);
  EXPECT_EQ(send(1, 0, 4096), 700u);
  EXPECT_EQ(send(1, 1, 4096), 233u);
}

TEST_F(CreditTest, OutstandingLinesAreThoseOfAllVcsOfAnXpu) {
  EXPECT_EQ(credits_.OutstandingTo(3), 0u);
  for (uint8_t vc = 0; vc < kVcCount; ++vc) EXPECT_EQ(credits_.Take(3, vc, vc + 1u), 1u);
  credits_.Take(2, 3, 5);
  credits_.Take(4, 0, 5);
  EXPECT_EQ(credits_.OutstandingTo(3), 10u);
  credits_.Return(3, 2, 3);
  EXPECT_EQ(credits_.OutstandingTo(3), 7u);
  EXPECT_EQ(credits_.outstanding(), 17u);
}

TEST_F(CreditTest, NoMoreIsReturnedThanWasTaken) {
  EXPECT_EQ(credits_.Take(1, 0, 2, 2), 2u);
  credits_.Return(1, 0, 9);
  credits_.Return(1, 0, 9);
  EXPECT_EQ(credits_.outstanding(), 0u);
  EXPECT_EQ(queue_.ReadReturned(), 4u);
}

TEST_F(CreditTest, TakeTellsForHowManyThereWasCredit) {
  EXPECT_EQ(credits_.Take(1, 0, 3, 5), 3u) << "of 10 lines";
  EXPECT_EQ(credits_.outstanding(), 9u);
  for (uint16_t xpuid = 2; xpuid <= 10; ++xpuid) EXPECT_EQ(credits_.Take(xpuid, 0, 5, 3), 2u);
  EXPECT_EQ(credits_.Take(11, 0, 1, 3), 1u) << "of the aggregate of 100";
  EXPECT_EQ(credits_.outstanding(), 100u);
}

TEST_F(CreditTest, WouldBlockFlushes) {
  SendUntilBlocked(1, 0);
  EXPECT_TRUE(reader_.HasWork());
}

TEST_F(CreditTest, ReturnsComeBackToTheirDestination) {
  SendUntilBlocked(1, 0);
  SendUntilBlocked(2, 3);
  Drain();
  EXPECT_EQ(SendUntilBlocked(1, 0), 0u) << "taken from the ring is not returned";
  EXPECT_EQ(credits_.outstanding(), 20u);
  credits_.Return(1, 0, 4);
  EXPECT_EQ(queue_.Credit(1, 0), 4u);
  EXPECT_EQ(SendUntilBlocked(2, 3), 0u);
  EXPECT_EQ(SendUntilBlocked(1, 0), 4u);
}

TEST_F(CreditTest, PaddingCostsNoCredit) {
  const TestCommand big(18, 256, 1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(queue_.Send(big.To(static_cast<uint16_t>(i % 8), 0)), SendResult::kOk) << i;
    queue_.Flush();
    Drain();
    credits_.Return(static_cast<uint16_t>(i % 8), 0, 5);
    ASSERT_EQ(queue_.Credit(static_cast<uint16_t>(i % 8), 0), 10u);
  }
}

TEST_F(CreditTest, TakeRefusesWhatTheClientHadNoCreditFor) {
  EXPECT_TRUE(credits_.Take(1, 0, 10));
  EXPECT_FALSE(credits_.Take(1, 0, 1));
  EXPECT_TRUE(credits_.Take(2, 0, 10));
  for (uint16_t xpuid = 3; xpuid <= 10; ++xpuid) EXPECT_TRUE(credits_.Take(xpuid, 0, 10));
  EXPECT_FALSE(credits_.Take(11, 0, 1)) << "aggregate";
}

TEST_F(CreditTest, InvalidCommandsAreRefused) {
  EXPECT_EQ(queue_.Send(one_.To(1024, 0)), SendResult::kInvalid);
  EXPECT_EQ(queue_.Send(one_.To(0, 4)), SendResult::kInvalid);
  EXPECT_EQ(queue_.Send(one_.To(0, 0, 0x80)), SendResult::kInvalid);
  TestCommand bad(16, 16, 1);
  bad.control[0] = 0x10;
  EXPECT_EQ(queue_.Send(bad.To(0, 0)), SendResult::kInvalid);
  bad.control[0] = 0x1a;
  EXPECT_EQ(queue_.Send(bad.To(0, 0)), SendResult::kInvalid);
  ClientCommand no_data = one_.To(0, 0);
  no_data.data = nullptr;
  EXPECT_EQ(queue_.Send(no_data), SendResult::kInvalid);
  EXPECT_EQ(queue_.Credit(0, 0), 10u);
}

TEST_F(CreditTest, StatesStopTheProducer) {
  SetQueueState(memory_.base(), 0, SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(queue_.Send(one_.To(1, 0)), SendResult::kInReset);
  SetQueueState(memory_.base(), 0, SUEDE_QUEUE_BROKEN);
  EXPECT_EQ(queue_.Send(one_.To(1, 0)), SendResult::kBroken);
  SetQueueState(memory_.base(), 0, SUEDE_QUEUE_READY);
  EXPECT_EQ(queue_.Send(one_.To(1, 0)), SendResult::kOk);
}

TEST_F(CreditTest, RestartLeavesOutWhatIsUnderWay) {
  SendUntilBlocked(1, 0);
  Drain();
  for (int times = 0; times < 3; ++times) {
    reader_.Restart();
    credits_.Restart();
    queue_.Restart(false);
    EXPECT_EQ(queue_.sent(), 0u);
    EXPECT_EQ(queue_.seen_returned(), queue_.ReadReturned());
    EXPECT_EQ(queue_.seen_returned(), 0u - credits_.outstanding());
    EXPECT_EQ(SendUntilBlocked(1, 0), 0u);
    EXPECT_EQ(SendUntilBlocked(1, 1), 10u) << "another VC";
    Drain();
    credits_.Return(1, 1, 10);
  }
  credits_.Return(1, 0, 6);
  EXPECT_EQ(SendUntilBlocked(1, 0), 6u);
  Drain();
  credits_.Return(1, 0, 4);  // the others of before
  EXPECT_EQ(queue_.Credit(1, 0), 4u);
  credits_.Return(1, 0, 6);
  EXPECT_EQ(queue_.Credit(1, 0), 10u);
  EXPECT_EQ(credits_.outstanding(), 0u);
}

TEST_F(CreditTest, TagsAreBoundedByTheCompletionRing) {
  // Credit is returned at once, so only completions can run out.
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(queue_.Send(one_.To(1, 0, SUEDE_RECORD_COMPLETION, i)), SendResult::kOk);
    queue_.Flush();
    Drain();
    credits_.Return(1, 0, 1);
  }
  EXPECT_EQ(queue_.Send(one_.To(1, 0, SUEDE_RECORD_COMPLETION, 64)), SendResult::kWouldBlock);
  EXPECT_EQ(queue_.Send(one_.To(1, 0)), SendResult::kOk) << "untagged ones go on";
  for (uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(completions_.Push(i, 1, 0, SUEDE_STATUS_OK));
  EXPECT_FALSE(queue_.HasCompletions());
  completions_.Publish();
  EXPECT_TRUE(queue_.HasCompletions());
  suede_completion out[64];
  ASSERT_EQ(queue_.PollCompletions(out, 10), 10u);
  EXPECT_EQ(out[9].tag, 9u);
  EXPECT_EQ(out[9].xpuid, 1);
  EXPECT_EQ(out[9].reserved, 0);
  EXPECT_EQ(queue_.Send(one_.To(1, 0, SUEDE_RECORD_COMPLETION, 64)), SendResult::kOk);
}

TEST_F(CreditTest, CompletionsAreTakenOnce) {
  suede_completion out[4];
  for (uint64_t tag = 1; tag <= 3; ++tag) {
    EXPECT_EQ(queue_.PollCompletions(out, 4), 0u);
    ASSERT_TRUE(completions_.Push(tag, 1, 0, SUEDE_STATUS_OK));
    completions_.Publish();
    ASSERT_EQ(queue_.PollCompletions(out, 4), 1u);
    EXPECT_EQ(out[0].tag, tag);
    EXPECT_EQ(memory_.completions()->tail.value, tag);
  }
}

// Each destination is another one, so credit is read anew for each command.
TEST_F(CreditTest, AsManyTagsAsCompletionsWhereCreditIsRead) {
  for (uint16_t i = 0; i < 64; ++i) {
    ASSERT_EQ(queue_.Send(one_.To(i, 0, SUEDE_RECORD_COMPLETION, i)), SendResult::kOk) << i;
  }
  EXPECT_EQ(queue_.Send(one_.To(64, 0, SUEDE_RECORD_COMPLETION, 64)), SendResult::kWouldBlock);
  EXPECT_EQ(queue_.Send(one_.To(65, 0)), SendResult::kOk) << "an untagged one";
}

TEST_F(CreditTest, ABrokenQueuesTagsAreForgotten) {
  const auto send_tags = [&] {
    uint32_t sent = 0;
    while (queue_.Send(one_.To(static_cast<uint16_t>(sent), 0, SUEDE_RECORD_COMPLETION, sent)) ==
           SendResult::kOk) {
      ++sent;
    }
    return sent;
  };
  EXPECT_EQ(send_tags(), 64u);
  for (const bool was_broken : {false, true}) {
    reader_.Restart();
    credits_.Restart();
    queue_.Restart(was_broken);
    EXPECT_EQ(send_tags(), was_broken ? 64u : 0u);
  }
}

TEST_F(CreditTest, FullCompletionRingRefuses) {
  for (uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(completions_.Push(i, 1, 0, 0));
  EXPECT_FALSE(completions_.Push(64, 1, 0, 0));
  completions_.Publish();
  for (const uint32_t tail : {65u, 0xffffffffu}) {
    memory_.completions()->tail.value = tail;
    EXPECT_FALSE(completions_.Push(64, 1, 0, 0));
  }
  memory_.completions()->tail.value = 1;
  EXPECT_TRUE(completions_.Push(64, 1, 0, 0));
  EXPECT_FALSE(completions_.Push(65, 1, 0, 0));
}

}  // namespace
}  // namespace suede
