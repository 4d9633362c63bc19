// SPDX-License-Identifier: Apache-2.0
// Clients that break the rules of docs/shared-memory.md: they harm themselves, are counted by name,
// and nobody else notices.
#include <cstring>

#include "bench.h"

namespace suede {
namespace {

constexpr int kNoCredit = SUEDE_STATUS_NO_CREDIT;
constexpr int kMalformed = SUEDE_STATUS_MALFORMED;

// A transmit ring written without ClientQueue, so without its account of credit.
class RingByHand {
 public:
  explicit RingByHand(Client& client) : memory_(client.memory) {}

  // Writes a command with a tag behind the last one; the caller may spoil it before Publish.
  suede_record* Put(const TestCommand& command, uint64_t tag, uint16_t xpuid, uint8_t vc = 0) {
    suede_record* record = memory_.tx_record(head_);
    record->kind = static_cast<uint8_t>(command.data.empty() ? SUEDE_KIND_COMMAND
                                                             : SUEDE_KIND_COMMAND_DATA);
    record->vc = vc;
    record->xpuid = xpuid;
    std::memcpy(record->tag, &tag, sizeof tag);
    record->flags = SUEDE_RECORD_COMPLETION;
    const std::vector<uint8_t> bytes = command.bytes();
    std::memcpy(reinterpret_cast<uint8_t*>(record) + SUEDE_RECORD_CONTROL, bytes.data(),
                bytes.size());
    head_ += command.lines();
    return record;
  }
  suede_record* Put(uint64_t tag, uint16_t xpuid, uint8_t vc = 0) {
    return Put(TestCommand(8, 16, static_cast<uint8_t>(tag)), tag, xpuid, vc);
  }
  void Publish() { StoreRelease(memory_.tx()->head.value, head_); }
  // The same without the last `lines` of the written lines.
  void PublishAllBut(uint32_t lines) {
    head_ -= lines;
    Publish();
  }

 private:
  SegmentMemory& memory_;
  uint32_t head_ = 0;
};

class ClientsTest : public PipelineTest {
 protected:
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    hostile = &Attach(*a, 0);
    other = &Attach(*a);
    far = &Attach(*b);
  }
  const suede_credits& Credits(Client& client) {
    return *AtOffset<suede_credits>(client.memory.base(), client.memory.offsets.credits[0]);
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* hostile = nullptr;
  Client* other = nullptr;
  Client* far = nullptr;
};

TEST_F(ClientsTest, CommandWithoutCreditIsDiscardedAndOthersAreUndisturbed) {
  shape.credit_lines = 8;
  StartPair();
  RingByHand ring(*hostile);
  for (uint64_t tag = 0; tag < 12; ++tag) ring.Put(tag, 1);      // four too many
  for (uint64_t tag = 12; tag < 15; ++tag) ring.Put(tag, 1, 2);  // another VC's credit is its own
  ring.Publish();
  for (uint64_t tag = 0; tag < 8; ++tag) EXPECT_EQ(other->SendTagged(tag, 1), SendResult::kOk);

  EXPECT_EQ(Statuses(*hostile, 15),
            (std::vector<int>{kOk, kOk, kOk, kOk, kOk, kOk, kOk, kOk, kNoCredit, kNoCredit,
                              kNoCredit, kNoCredit, kOk, kOk, kOk}));
  EXPECT_EQ(Statuses(*other, 8), std::vector<int>(8, kOk));
  EXPECT_EQ(a->Count(Counter::kTxNoCredit), 4u);
  EXPECT_EQ(a->Count(Counter::kTxCommands), 19u);
  EXPECT_EQ(far->Receive(0).size(), 16u);
  EXPECT_EQ(far->Receive(2), (std::vector<uint8_t>{36, 39, 42}));
  // A command that was taken without credit gives none back.
  EXPECT_EQ(Credits(*hostile).returned[1 * kVcCount], 8u);
  EXPECT_EQ(Credits(*hostile).aggregate_returned, 11u);

  ring.Put(0, 1);
  ring.Publish();
  EXPECT_EQ(Statuses(*hostile, 1), std::vector<int>{kOk});
  ExpectNoFramesOut();
}

// Without tags the commands are taken as one run.
TEST_F(ClientsTest, OfARunWithoutTagsEachCommandCountsForItself) {
  shape.credit_lines = 8;
  StartPair();
  RingByHand ring(*hostile);
  constexpr uint16_t kNobody = 77;
  for (uint64_t tag = 0; tag < 5; ++tag) ring.Put(tag, kNobody)->flags = 0;
  for (uint64_t tag = 0; tag < 12; ++tag) ring.Put(tag, 1)->flags = 0;  // four too many
  for (uint64_t tag = 12; tag < 15; ++tag) ring.Put(tag, 1, 2)->flags = 0;
  ring.Put(0, 1, 3);
  ring.Publish();
  EXPECT_EQ(Statuses(*hostile, 1), std::vector<int>{kOk});
  EXPECT_EQ(a->Count(Counter::kTxUnknownXpu), 5u);
  EXPECT_EQ(a->Count(Counter::kTxNoCredit), 4u);
  EXPECT_EQ(a->Count(Counter::kTxCommands), 12u);
  EXPECT_EQ(far->Receive(0), (std::vector<uint8_t>{0, 3, 6, 9, 12, 15, 18, 21}));
  EXPECT_EQ(far->Receive(2), (std::vector<uint8_t>{36, 39, 42}));
  EXPECT_EQ(Credits(*hostile).returned[kNobody * kVcCount], 5u);
  EXPECT_EQ(Credits(*hostile).returned[1 * kVcCount], 8u);
  EXPECT_EQ(Credits(*hostile).aggregate_returned, 17u);
  ExpectNoFramesOut();
}

// With the hint each command of a run has a PDU of its own.
TEST_F(ClientsTest, ARunOfCommandsToBeSentNowIsAsManyPdus) {
  StartPair();
  RingByHand ring(*hostile);
  const uint64_t before = a->Count(Counter::kTxPdus);
  for (uint64_t tag = 0; tag < 10; ++tag) ring.Put(tag, 1)->flags = SUEDE_RECORD_TRANSMIT_NOW;
  ring.Put(0, 1);
  ring.Publish();
  EXPECT_EQ(Statuses(*hostile, 1), std::vector<int>{kOk});
  EXPECT_EQ(a->Count(Counter::kTxPdus), before + 11);
  EXPECT_EQ(far->Receive(0).size(), 11u);
  ExpectNoFramesOut();
}

TEST_F(ClientsTest, CommandBeyondTheAggregateCreditIsDiscarded) {
  shape.credit_lines = 8;
  shape.aggregate_lines = 10;
  StartPair();
  RingByHand ring(*hostile);
  for (uint64_t tag = 0; tag < 12; ++tag) ring.Put(tag, 1, static_cast<uint8_t>(tag % 4));
  ring.Publish();
  std::vector<int> want(12, kOk);
  want[10] = want[11] = kNoCredit;
  EXPECT_EQ(Statuses(*hostile, 12), want);
  EXPECT_EQ(a->Count(Counter::kTxNoCredit), 2u);
  EXPECT_EQ(Credits(*hostile).aggregate_returned, 10u);
}

TEST_F(ClientsTest, MalformedRecordsAreCountedAndTheQueueGoesOn) {
  StartPair();
  RingByHand ring(*hostile);
  ring.Put(0, 1);
  ring.Put(1, 1)->kind = 3;                        // unknown
  ring.Put(2, 1)->vc = kVcCount;
  ring.Put(3, 1)->xpuid = kMaxXpus;
  ring.Put(4, 1)->control[0] &= 0xf0;              // L of 0
  ring.Put(5, 1)->control[0] |= 0x0f;              // L of 15
  ring.Put(6, 1)->kind = SUEDE_KIND_COMMAND;       // against the D bit
  ring.Put(7, 1);
  ring.Publish();
  EXPECT_EQ(Statuses(*hostile, 8),
            (std::vector<int>{kOk, kMalformed, kMalformed, kMalformed, kMalformed, kMalformed,
                              kMalformed, kOk}));
  EXPECT_EQ(a->Count(Counter::kTxMalformed), 6u);
  EXPECT_EQ(hostile->queues[0].state(), SUEDE_QUEUE_READY);
  EXPECT_EQ(far->Receive(), (std::vector<uint8_t>{0, 21}));
  EXPECT_EQ(hostile->memory.tx()->tail.value, 8u);
  EXPECT_EQ(Credits(*hostile).aggregate_returned, 2u);
}

TEST_F(ClientsTest, CommandOnAVcThatIsNotTheClientsIsDiscardedAndGivesItsCreditBack) {
  shape.credit_lines = 8;
  shape.aggregate_lines = 10;
  StartPair();
  const std::vector<uint32_t> instances(SUEDE_MAX_QUEUES, 0);
  const std::vector<uint8_t> vc_masks(SUEDE_MAX_QUEUES, 0x2);
  Client bound(77, shape);
  ASSERT_EQ(Ask(*a, request::Attach{.client = bound.number,
                                    .queue_instances = instances.data(),
                                    .queue_vc_masks = vc_masks.data(),
                                    .segment = bound.memory.base(),
                                    .shape = &shape}),
            LcoreStatus::kDone);
  // Many times the credit.
  for (int round = 0; round < 20; ++round) {
    for (uint64_t tag = 0; tag < 3; ++tag) {
      constexpr uint8_t kForbidden[] = {0, 2, 3};
      ASSERT_EQ(bound.SendTagged(tag, 1, kForbidden[tag]), SendResult::kOk);
    }
    ASSERT_EQ(bound.SendTagged(3, 1, 1), SendResult::kOk);
    ASSERT_EQ(Statuses(bound, 4), (std::vector<int>{kMalformed, kMalformed, kMalformed, kOk}));
  }
  EXPECT_EQ(a->Count(Counter::kTxMalformed), 60u);
  EXPECT_EQ(a->Count(Counter::kTxCommands), 20u);
  EXPECT_EQ(far->Receive(1).size(), 20u);
  for (const uint32_t vc : {0u, 2u, 3u}) EXPECT_TRUE(far->Receive(vc).empty());
  // A reset of the queue makes it no other.
  EXPECT_EQ(Ask(*a, request::ResetQueue{.client = bound.number}), LcoreStatus::kDone);
  bound.queues[0].Restart(false);
  ASSERT_EQ(bound.SendTagged(0, 1, 0), SendResult::kOk);
  EXPECT_EQ(Statuses(bound, 1), std::vector<int>{kMalformed});
  a->pipeline->mailbox().requests.Push(request::Detach{.client = bound.number});
  Run(milliseconds(1));
  ExpectNoFramesOut();
}

TEST_F(ClientsTest, RecordPastThePublishedHeadIsMalformed) {
  StartPair();
  RingByHand ring(*hostile);
  ring.Put(TestCommand(8, 100, 1), 0, 1);  // two lines
  ring.PublishAllBut(1);
  EXPECT_EQ(Statuses(*hostile, 1), std::vector<int>{kMalformed});
  EXPECT_EQ(a->Count(Counter::kTxMalformed), 1u);
  EXPECT_EQ(hostile->memory.tx()->tail.value, 1u);
  ring.Put(0, 1);
  ring.Publish();
  EXPECT_EQ(Statuses(*hostile, 1), std::vector<int>{kOk});
}

// Without a valid tag there is nothing to complete.
TEST_F(ClientsTest, UntaggedRecordsThatAreDiscardedAreOnlyCounted) {
  shape.credit_lines = 5;
  StartPair();
  RingByHand ring(*hostile);
  for (uint64_t tag = 0; tag < 6; ++tag) ring.Put(tag, 1)->flags = 0;
  suede_record* malformed = ring.Put(6, 1);
  malformed->kind = 9;
  malformed->flags = 0;
  ring.Publish();
  Run(milliseconds(2));
  EXPECT_EQ(a->Count(Counter::kTxNoCredit), 1u);
  EXPECT_EQ(a->Count(Counter::kTxMalformed), 1u);
  EXPECT_EQ(a->Count(Counter::kCompletions), 0u);
  EXPECT_EQ(far->Receive().size(), 5u);
}

// However many records wait: other queues have their turn before the rest of them.
TEST_F(ClientsTest, ATurnTakesNoMoreThanSoManyRecordsOfAQueue) {
  shape.tx_lines = shape.credit_lines = shape.aggregate_lines = 4096;
  Host& host = AddHost(0, 2);
  Client& client = Attach(host);
  const TestCommand command(8, 16, 1);
  for (int i = 0; i < 600; ++i) {
    ASSERT_EQ(client.queues[0].Send(command.To(1, 0, 0, 0)), SendResult::kOk);
  }
  client.queues[0].Flush();
  for (uint32_t turn = 1; turn <= 2; ++turn) {
    host.pipeline->Poll(network.now());
    EXPECT_EQ(LoadAcquire(client.memory.tx()->tail.value), 256 * turn * command.lines());
  }
}

}  // namespace
}  // namespace suede
