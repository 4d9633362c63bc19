// SPDX-License-Identifier: Apache-2.0
#include "client/client_table.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>
#include <random>

#include "client/client_load.h"
#include "segment_memory.h"

namespace suede {
namespace {

constexpr SegmentShape kTableShape{
    .queue_count = 2, .tx_lines = 64, .rx_lines = 64, .completion_count = 64};
constexpr uint32_t kNone = ClientTable::kNone;

class ClientTableTest : public ::testing::Test {
 protected:
  ClientTableTest() {
    table.AddInstance();
    table.AddInstance();
  }
  // Its queues send by instances 0 and 1.
  ClientVerdict Attach(uint32_t client, SegmentMemory& memory) {
    static constexpr std::array<uint32_t, 2> kInstances = {0, 1};
    return table.Attach({.client = client,
                         .segment = memory.base(),
                         .shape = &memory.shape,
                         .queue_instances = kInstances.data()});
  }
  SegmentMemory& Add(uint32_t client) {
    segments.push_back(std::make_unique<SegmentMemory>(kTableShape));
    EXPECT_EQ(Attach(client, *segments.back()), ClientVerdict::kDone);
    table.Open(client);
    return *segments.back();
  }
  static uint32_t QueueState(SegmentMemory& memory, uint32_t queue) {
    return memory.head()->queue_state[queue].value;
  }
  static uint32_t VcState(SegmentMemory& memory, uint32_t vc) {
    return memory.head()->rx_state[vc].value;
  }
  static void Send(SegmentMemory& memory) {
    ClientQueue queue(memory.base(), 0);
    ASSERT_EQ(queue.Send(TestCommand(8, 0, 1).To(1, 0)), SendResult::kOk);
    queue.Flush();
  }

  ClientTable table;
  CounterBlock counters;
  std::vector<std::unique_ptr<SegmentMemory>> segments;
};

TEST_F(ClientTableTest, ServesTheQueuesOfWhoAttaches) {
  SegmentMemory memory(kTableShape);
  memory.head()->queue_state[1].value = SUEDE_QUEUE_IN_RESET;
  ASSERT_EQ(Attach(7, memory), ClientVerdict::kDone);
  EXPECT_EQ(table.serving().size(), 2u);
  EXPECT_EQ(QueueState(memory, 1), SUEDE_QUEUE_IN_RESET) << "before it is opened";
  table.Open(7);
  EXPECT_EQ(QueueState(memory, 1), SUEDE_QUEUE_READY);
  EXPECT_EQ(table.Find(7), 0u);
  EXPECT_EQ(table.Find(8), kNone);
  EXPECT_EQ(table.queue(table.serving()[1]).instance, 1u);
  table.queue(table.serving()[1]).load.Show({.load = 5});
  LoadState state;
  ASSERT_TRUE(LoadReader(memory.base(), memory.offsets.bytes, 1).Read(&state));
  EXPECT_EQ(state.load, 5u);
  EXPECT_EQ(Attach(7, memory), ClientVerdict::kUnknown) << "it is there already";
  table.CheckInvariants();
}

TEST_F(ClientTableTest, RefusesMoreThanItHasRoomFor) {
  SegmentMemory memory(kTableShape);
  const uint32_t nobody = 2;
  const SegmentShape one{.queue_count = 1, .tx_lines = 64, .rx_lines = 64, .completion_count = 64};
  EXPECT_EQ(table.Attach(
                {.client = 1, .segment = memory.base(), .shape = &one, .queue_instances = &nobody}),
            ClientVerdict::kUnknown);
  EXPECT_TRUE(table.serving().empty());
  for (uint32_t client = 0; client < ClientTable::kMaxClients; ++client) {
    ASSERT_EQ(Attach(client, memory), ClientVerdict::kDone);
  }
  EXPECT_EQ(Attach(1000, memory), ClientVerdict::kBusy);
  table.CheckInvariants();
}

TEST_F(ClientTableTest, AClaimIsOfAllItsVcsOrOfNone) {
  Add(1);
  Add(2);
  EXPECT_EQ(table.Claim(1, 0, 0b0011), ClientVerdict::kDone);
  EXPECT_EQ(table.Claim(2, 0, 0b0110), ClientVerdict::kClaimed);
  EXPECT_EQ(table.claimant(0, 2), kNone);
  EXPECT_EQ(table.Claim(2, 1, 0b0110), ClientVerdict::kDone) << "another instance's";
  EXPECT_EQ(table.Claim(1, 0, 0b0001), ClientVerdict::kDone) << "its own again";
  EXPECT_EQ(table.Unclaim(2, 0, 0b0001), ClientVerdict::kClaimed) << "not its own";
  EXPECT_EQ(table.Unclaim(1, 0, 0b0101), ClientVerdict::kClaimed) << "nobody's, in part";
  EXPECT_EQ(table.claimant(0, 0), table.Find(1));
  EXPECT_EQ(table.Unclaim(1, 0, 0b0001), ClientVerdict::kDone);
  EXPECT_EQ(table.Claim(2, 0, 0b0001), ClientVerdict::kDone);
  EXPECT_EQ(table.claimant(0, 0), table.Find(2));
  EXPECT_EQ(table.claimant(0, 1), table.Find(1));
  EXPECT_EQ(table.Claim(3, 0, 0b1000), ClientVerdict::kUnknown);
  EXPECT_EQ(table.Claim(1, 2, 0b1000), ClientVerdict::kUnknown);
}

TEST_F(ClientTableTest, AClientIsGoneOnceWhatItHadHandedOverIsTaken) {
  SegmentMemory& memory = Add(1);
  ASSERT_EQ(table.Claim(1, 0, 0xf), ClientVerdict::kDone);
  Send(memory);
  EXPECT_EQ(table.Detach(2), ClientVerdict::kUnknown);
  EXPECT_FALSE(table.detaching());
  ASSERT_EQ(table.Detach(1), ClientVerdict::kDone);
  EXPECT_TRUE(table.detaching());
  EXPECT_EQ(table.claimant(0, 3), kNone) << "claims end at once";
  EXPECT_EQ(table.Claim(1, 0, 0xf), ClientVerdict::kUnknown) << "what is going claims nothing";
  table.RetireQueues();
  EXPECT_EQ(table.TakeDetached(), std::nullopt);
  EXPECT_TRUE(table.detaching());
  ASSERT_EQ(table.serving().size(), 1u) << "the one with a command is served yet";
  TakeRest(table.queue(table.serving()[0]).ring, 1, [](const TxRecord&) {});
  table.RetireQueues();
  EXPECT_EQ(table.TakeDetached(), 1u);
  EXPECT_EQ(table.TakeDetached(), std::nullopt);
  EXPECT_FALSE(table.detaching());
  EXPECT_TRUE(table.serving().empty());
  table.CheckInvariants();
}

// A client that comes where another one was finds nothing of it.
TEST_F(ClientTableTest, PlacesOfThoseWhoAreGoneAreAsNew) {
  SegmentMemory first(kTableShape);
  static constexpr std::array<uint32_t, 2> kInstances = {0, 1};
  static constexpr std::array<uint8_t, 2> kMasks = {0b0011, 0b1000};
  ASSERT_EQ(table.Attach({.client = 1,
                          .segment = first.base(),
                          .shape = &first.shape,
                          .queue_instances = kInstances.data(),
                          .queue_vc_masks = kMasks.data()}),
            ClientVerdict::kDone);
  const uint16_t number = table.serving()[0];
  EXPECT_EQ(table.queue(number).vc_mask, 0b0011);
  EXPECT_EQ(table.queue(table.serving()[1]).vc_mask, 0b1000);
  EXPECT_TRUE(ClientTable::ShowBroken(table.queue(number)));
  EXPECT_TRUE(ClientTable::MayEmitError(table.queue(number), TimeFromNs(1'000'000'000)));
  table.MarkReceived(table.client(table.Find(1)), 2);
  table.PublishReceived();
  ASSERT_EQ(table.Detach(1), ClientVerdict::kDone);
  table.RetireQueues();
  ASSERT_EQ(table.TakeDetached(), 1u);
  Add(2);
  ASSERT_EQ(table.serving()[0], number);
  EXPECT_EQ(table.queue(number).vc_mask, 0b1111);
  EXPECT_TRUE(ClientTable::ShowBroken(table.queue(number)));
  EXPECT_TRUE(ClientTable::MayEmitError(table.queue(number), TimeFromNs(1)));
  EXPECT_EQ(table.Claim(2, 0, 0b0001), ClientVerdict::kDone);
}

TEST_F(ClientTableTest, AnErrorIsToldOfAFewTimesASecond) {
  Add(1);
  QueueSlot& slot = table.queue(table.serving()[0]);
  const Time start = TimeFromNs(1'000'000'000);
  EXPECT_TRUE(ClientTable::MayEmitError(slot, start));
  EXPECT_FALSE(ClientTable::MayEmitError(slot, start));
  EXPECT_FALSE(ClientTable::MayEmitError(slot, start + std::chrono::milliseconds(99)));
  EXPECT_TRUE(ClientTable::MayEmitError(table.queue(table.serving()[1]), start))
      << "another queue's";
  EXPECT_TRUE(ClientTable::MayEmitError(slot, start + std::chrono::milliseconds(100)));
  EXPECT_FALSE(ClientTable::MayEmitError(slot, start + std::chrono::milliseconds(101)));
}

TEST_F(ClientTableTest, AQueueWhoseRunsAreOutIsNotUsedAgain) {
  Add(1);
  const uint16_t first = table.serving()[0];
  table.queue(first).runs = 2;
  ASSERT_EQ(table.Detach(1), ClientVerdict::kDone);
  table.RetireQueues();
  EXPECT_EQ(table.TakeDetached(), 1u);
  table.Complete(first, 9, 1, 0, SUEDE_STATUS_OK, counters);  // of no client any more
  EXPECT_EQ(counters.Get(Counter::kCompletions), 0u);
  Add(2);
  for (const uint16_t number : table.serving()) EXPECT_NE(number, first);
  ClientTable::EndRun(table.queue(first));
  table.CheckInvariants();
  ClientTable::EndRun(table.queue(first));
  EXPECT_EQ(table.queue(first).state, QueueSlot::State::kFree);
  Add(3);
  EXPECT_EQ(table.serving()[2], first);
}

TEST_F(ClientTableTest, AQueueInResetStartsOver) {
  SegmentMemory& memory = Add(1);
  Send(memory);
  EXPECT_EQ(table.BeginReset(1, 2), kNone);
  EXPECT_EQ(table.BeginReset(2, 0), kNone);
  const uint32_t number = table.BeginReset(1, 0);
  ASSERT_NE(number, kNone);
  EXPECT_EQ(QueueState(memory, 0), SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(QueueState(memory, 1), SUEDE_QUEUE_READY);
  table.Complete(static_cast<uint16_t>(number), 9, 1, 0, SUEDE_STATUS_RESET, counters);
  ASSERT_EQ(table.queue(number).credits.Take(1, 0, 3), 1u);
  table.EndReset(number);
  EXPECT_EQ(ClientQueue(memory.base(), 0).ReadReturned(), 0u - 3) << "lines under way";
  EXPECT_EQ(QueueState(memory, 0), SUEDE_QUEUE_READY);
  EXPECT_EQ(memory.tx()->head.value, 0u);
  EXPECT_EQ(memory.completions()->head.value, 1u) << "shown before the queue is ready again";
  EXPECT_FALSE(table.queue(number).ring.HasWork());
}

TEST_F(ClientTableTest, WhatIsOutOfServiceIsInReset) {
  SegmentMemory& memory = Add(1);
  ASSERT_EQ(table.Claim(1, 0, 0b0001), ClientVerdict::kDone);
  ASSERT_EQ(table.Claim(1, 1, 0b0011), ClientVerdict::kDone);
  table.SetService(1, false);
  table.ShowStates();
  EXPECT_EQ(QueueState(memory, 0), SUEDE_QUEUE_READY);
  EXPECT_EQ(QueueState(memory, 1), SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(VcState(memory, 0), SUEDE_QUEUE_READY) << "instance 0 delivers there, too";
  EXPECT_EQ(VcState(memory, 1), SUEDE_QUEUE_IN_RESET);
  EXPECT_EQ(VcState(memory, 2), SUEDE_QUEUE_READY) << "it has claimed nothing";
  ASSERT_EQ(table.Claim(1, 1, 0b0100), ClientVerdict::kDone);
  EXPECT_EQ(VcState(memory, 2), SUEDE_QUEUE_IN_RESET) << "at once";
  ASSERT_EQ(table.Unclaim(1, 1, 0b0100), ClientVerdict::kDone);
  EXPECT_EQ(VcState(memory, 2), SUEDE_QUEUE_READY);
  EXPECT_TRUE(ClientTable::ShowBroken(table.queue(table.serving()[0])));
  EXPECT_FALSE(ClientTable::ShowBroken(table.queue(table.serving()[0])));
  EXPECT_EQ(QueueState(memory, 0), SUEDE_QUEUE_BROKEN);
}

TEST_F(ClientTableTest, TheEndWaitsForWhatIsInTheRings) {
  SegmentMemory& memory = Add(1);
  Send(memory);
  table.BeginDrain();
  EXPECT_EQ(QueueState(memory, 0), SUEDE_QUEUE_IN_RESET);
  EXPECT_FALSE(table.IsDrained());
  TakeRest(table.queue(table.serving()[0]).ring, 1, [](const TxRecord&) {});
  EXPECT_TRUE(table.IsDrained());
  table.EndDrain();
  EXPECT_EQ(table.queue(table.serving()[0]).drain_records, 0u);
  Add(2);
  EXPECT_EQ(table.queue(table.serving()[2]).drain_records, 0u) << "of one that comes now nothing";
  segments.back()->tx()->head.value = 1;
  ASSERT_EQ(table.Detach(2), ClientVerdict::kDone);
  table.RetireQueues();
  EXPECT_EQ(table.TakeDetached(), 2u) << "its command is not taken";
}

TEST_F(ClientTableTest, PublishesWhatHasChangedOnce) {
  SegmentMemory& memory = Add(1);
  const uint16_t number = table.serving()[0];
  for (uint64_t tag = 0; tag < 64; ++tag) {
    table.Complete(number, tag, 1, 0, SUEDE_STATUS_OK, counters);
  }
  table.Complete(number, 64, 1, 0, SUEDE_STATUS_OK, counters);
  EXPECT_EQ(memory.completions()->head.value, 0u);
  table.CheckInvariants();
  table.PublishCompletions();
  EXPECT_EQ(memory.completions()->head.value, 64u);
  EXPECT_EQ(counters.Get(Counter::kCompletions), 64u);
  EXPECT_EQ(counters.Get(Counter::kCompletionsLost), 1u);
  ASSERT_NE(table.ring(table.Find(1), 2).Reserve(3), nullptr);
  table.MarkReceived(table.client(table.Find(1)), 2);
  table.MarkReceived(table.client(table.Find(1)), 2);
  EXPECT_EQ(memory.rx(2)->head.value, 0u);
  table.PublishReceived();
  EXPECT_EQ(memory.rx(2)->head.value, 3u);
  // Further ones as well.
  memory.completions()->tail.value = 64;
  table.Complete(number, 65, 1, 0, SUEDE_STATUS_OK, counters);
  table.PublishCompletions();
  EXPECT_EQ(memory.completions()->head.value, 65u);
  ASSERT_NE(table.ring(table.Find(1), 2).Reserve(2), nullptr);
  table.MarkReceived(table.client(table.Find(1)), 2);
  table.PublishReceived();
  EXPECT_EQ(memory.rx(2)->head.value, 5u);
}

// Random clients that come, claim, send, reset and go; a claim has the owner that was granted it.
TEST_F(ClientTableTest, KeepsItsInvariantsWhateverIsAsked) {
  std::mt19937 random(1);
  SegmentMemory memory(kTableShape);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> owners;  // of {instance, VC}: the client
  for (int step = 0; step < 20000; ++step) {
    const auto client = static_cast<uint32_t>(random() % 6);
    const auto instance = static_cast<uint32_t>(random() % 2);
    const auto vc = static_cast<uint32_t>(random() % kVcCount);
    const auto owner = owners.find({instance, vc});
    switch (random() % 7) {
      case 0:
        if (Attach(client, memory) == ClientVerdict::kDone) table.Open(client);
        break;
      case 1:
        if (table.Claim(client, InstanceIndex(instance), 1u << vc) == ClientVerdict::kDone) {
          ASSERT_TRUE(owner == owners.end() || owner->second == client);
          owners[{instance, vc}] = client;
        }
        break;
      case 2:
        if (table.Unclaim(client, InstanceIndex(instance), 1u << vc) == ClientVerdict::kDone) {
          ASSERT_TRUE(owner != owners.end() && owner->second == client);
          owners.erase(owner);
        }
        break;
      case 3:
        if (table.Detach(client) == ClientVerdict::kDone) {
          std::erase_if(owners, [&](const auto& item) { return item.second == client; });
        }
        break;
      case 4:
        table.RetireQueues();
        break;
      case 5:
        (void)table.TakeDetached();
        break;
      default: {
        const uint32_t number = table.BeginReset(client, static_cast<uint16_t>(random() % 3));
        if (number != kNone) table.EndReset(number);
        if (!table.serving().empty()) {
          QueueSlot& slot = table.queue(table.serving()[random() % table.serving().size()]);
          ++slot.runs;
          if (random() % 2 == 0) ClientTable::EndRun(slot);
        }
        break;
      }
    }
    for (uint32_t i = 0; i < ClientTable::kMaxQueues; ++i) {
      if (table.queue(i).runs != 0 && random() % 16 == 0) ClientTable::EndRun(table.queue(i));
    }
    for (const auto& [place, owning] : owners) {
      ASSERT_EQ(table.claimant(place.first, place.second), table.Find(owning));
    }
    table.CheckInvariants();
  }
}

}  // namespace
}  // namespace suede
