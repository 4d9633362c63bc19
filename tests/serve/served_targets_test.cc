// SPDX-License-Identifier: Apache-2.0
#include "serve/served_targets.h"

#include "target_bench.h"

namespace suede {
namespace {

class ServedTargetsTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kTarget = 1u << 31;  // of the number of a client's target

  ServedTargetsTest() { clients.AddInstance(); }

  // A client and its target.
  struct Owner {
    explicit Owner(uint32_t client)
        : number(client),
          target(TestShape(), 1u << kRequestVc),
          side(target),
          receiver(segment.base(), kRequestVc) {}
    uint32_t number;
    alignas(8) uint8_t memory[64] = {};
    ServedTarget target;
    TargetSide side;
    SegmentMemory segment{TestShape()};
    ClientReceiver receiver;
    CounterBlock counters;
  };
  Owner& Add() {
    owners.push_back(std::make_unique<Owner>(static_cast<uint32_t>(owners.size() + 1)));
    Owner& owner = *owners.back();
    const uint32_t instance = 0;
    EXPECT_EQ(clients.Attach({.client = owner.number,
                              .segment = owner.segment.base(),
                              .shape = &owner.segment.shape,
                              .queue_instances = &instance}),
              ClientVerdict::kDone);
    targets.Add({.client = owner.number | kTarget,
                 .owner = owner.number,
                 .target = &owner.target,
                 .counters = &owner.counters,
                 .partition = &partition});
    EXPECT_TRUE(targets.SetWindow(owner.number | kTarget, 1,
                                  {.kind = ServedWindow::Kind::kLcore,
                                   .window = {.base = owner.memory,
                                              .bytes = sizeof owner.memory,
                                              .rights = mem::Window::kAllRights}}));
    return owner;
  }
  static void Flood(Owner& owner) {
    for (uint32_t number = 0; Deliver(owner.side.requests, Put(number), 5);) ++number;
  }
  static mem::Request Put(uint32_t number) {
    static const uint8_t kOctets[4] = {1, 2, 3, 4};
    return {
        .opcode = mem::Opcode::kPut, .window = 1, .bytes = 4, .number = number, .data = kOctets};
  }
  static uint64_t Executed(const Owner& owner) {
    return owner.counters.Get(Counter::kMemoryExecuted);
  }

  uint16_t partition = 3;
  ClientTable clients;
  ServedTargets targets{clients};
  std::vector<std::unique_ptr<Owner>> owners;
};

TEST_F(ServedTargetsTest, CountsWhatIsExecutedAndRefused) {
  Owner& owner = Add();
  EXPECT_FALSE(targets.empty());
  EXPECT_FALSE(targets.Poll());
  Deliver(owner.side.requests, Put(1), 5);
  mem::Request refused = Put(2);
  refused.window = 2;
  Deliver(owner.side.requests, refused, 5);
  Deliver(owner.side.requests, {.opcode = mem::Opcode::kGet, .window = 1, .bytes = 64, .number = 3},
          5);
  EXPECT_TRUE(targets.Poll());
  EXPECT_EQ(Executed(owner), 2u);
  EXPECT_EQ(owner.counters.Get(Counter::kMemoryWrittenBytes), 4u);
  EXPECT_EQ(owner.counters.Get(Counter::kMemoryReadBytes), 64u);
  EXPECT_EQ(owner.counters.Get(Counter::kMemoryRefused), 1u);
  EXPECT_EQ(owner.counters.Get(Counter::kMemoryForeign), 0u);
}

// Eight targets are flooded, and one has a request now and then: it never waits.
TEST_F(ServedTargetsTest, AFloodLeavesOthersTheirShare) {
  for (int i = 0; i < 8; ++i) Add();
  Owner& quiet = Add();
  for (uint32_t turn = 0; turn < 200; ++turn) {
    for (const auto& owner : owners) {
      if (owner.get() != &quiet) Flood(*owner);
    }
    Deliver(quiet.side.requests, Put(turn), 5);
    uint64_t before = 0;
    uint64_t after = 0;
    for (const auto& owner : owners) before += Executed(*owner);
    targets.Poll();
    for (const auto& owner : owners) after += Executed(*owner), owner->side.Take();
    EXPECT_LE(after - before, ServedTargets::kMaxRequestsPerPoll);
    // Each turn begins with the next of the nine targets, so one without a share soon has one.
    EXPECT_GE(Executed(quiet) + 6, turn + 1);
  }
  for (const auto& owner : owners) EXPECT_GT(Executed(*owner), 190u);
}

TEST_F(ServedTargetsTest, WhatIsRemovedIsServedNoMore) {
  Owner& first = Add();
  Owner& second = Add();
  EXPECT_TRUE(targets.Remove(first.number | kTarget));
  EXPECT_FALSE(targets.Remove(first.number | kTarget));
  EXPECT_FALSE(targets.SetWindow(first.number | kTarget, 1, {}));
  Deliver(first.side.requests, Put(1), 5);
  Deliver(second.side.requests, Put(1), 5);
  EXPECT_TRUE(targets.Poll());
  EXPECT_EQ(first.memory[0], 0);
  EXPECT_EQ(second.memory[0], 1);
}

TEST_F(ServedTargetsTest, WhatIsPassedOnIsShownToTheClient) {
  Owner& owner = Add();
  targets.SetWindow(owner.number | kTarget, 2, {.kind = ServedWindow::Kind::kProgram});
  mem::Request request = Put(1);
  request.window = 2;
  Deliver(owner.side.requests, request, 5);
  targets.Poll();
  EXPECT_TRUE(owner.receiver.HasWork());
  EXPECT_EQ(owner.counters.Get(Counter::kMemoryPassedOn), 1u);
  // A request does not go to a client that is going away.
  ReceivedCommand command;
  EXPECT_EQ(owner.receiver.Poll(&command, 1), 1u);
  EXPECT_EQ(clients.Detach(owner.number), ClientVerdict::kDone);
  Deliver(owner.side.requests, request, 5);
  targets.Poll();
  EXPECT_FALSE(owner.receiver.HasWork());
}

// Owners have slots of their own, which go from client to client.
TEST_F(ServedTargetsTest, NothingIsPassedOnToAClientThatHasTheSlotOfAnother) {
  Owner& first = Add();
  Owner& second = Add();
  for (Owner* owner : {&first, &second}) {
    targets.SetWindow(owner->number | kTarget, 2, {.kind = ServedWindow::Kind::kProgram});
  }
  mem::Request request = Put(1);
  request.window = 2;
  for (Owner* owner : {&first, &second}) {
    Deliver(owner->side.requests, request, 5);
    targets.Poll();
    ReceivedCommand command;
    EXPECT_EQ(owner->receiver.Poll(&command, 1), 1u);
  }
  const uint32_t slot = clients.Find(second.number);
  EXPECT_EQ(clients.Detach(second.number), ClientVerdict::kDone);
  clients.RetireQueues();
  EXPECT_EQ(clients.TakeDetached(), second.number);
  SegmentMemory segment{TestShape()};
  ClientReceiver receiver(segment.base(), kRequestVc);
  const uint32_t instance = 0;
  ASSERT_EQ(clients.Attach({.client = 77,
                            .segment = segment.base(),
                            .shape = &segment.shape,
                            .queue_instances = &instance}),
            ClientVerdict::kDone);
  ASSERT_EQ(clients.Find(77), slot);
  Deliver(second.side.requests, request, 5);
  targets.Poll();
  EXPECT_FALSE(receiver.HasWork());
  EXPECT_FALSE(second.receiver.HasWork());
  EXPECT_EQ(second.counters.Get(Counter::kMemoryPassedOn), 1u);
}

}  // namespace
}  // namespace suede
