// SPDX-License-Identifier: Apache-2.0
// An instance's load, as the daemon shows it and as the client reads it.
#include "client/load.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "client/client_load.h"
#include "segment_memory.h"

namespace suede {
namespace {

constexpr SegmentShape kAreaShape{.queue_count = 3,
                              .tx_lines = 64,
                              .rx_lines = 64,
                              .completion_count = 64,
                              .credit_lines = 20,
                              .aggregate_lines = 40};

LoadState StateOf(uint32_t n) {
  return {.flags = n,
          .load = n + 1,
          .queued_pdus = n + 2,
          .inflight_pdus = n + 3,
          .inflight_bytes = n + 4,
          .credit_lines = n + 5,
          .paused = n + 6,
          .unreachable = n + 7};
}

struct LoadTest : ::testing::Test {
  LoadReader Reader(uint32_t queue) {
    return LoadReader(memory.base(), memory.offsets.bytes, queue);
  }
  suede_load_area* Area(uint32_t queue) {
    return AtOffset<suede_load_area>(memory.base(), memory.offsets.load) + queue;
  }
  SegmentMemory memory{kAreaShape};
};

TEST_F(LoadTest, EachQueueHasItsOwn) {
  LoadWriter writers[3];
  for (uint32_t q = 0; q < 3; ++q) writers[q] = LoadWriter(memory.base(), kAreaShape, q);
  for (uint32_t q = 0; q < 3; ++q) writers[q].Show(StateOf(100 * q));
  writers[1].Show(StateOf(150));
  for (uint32_t q = 0; q < 3; ++q) {
    LoadState state;
    uint32_t updates = 0;
    ASSERT_TRUE(Reader(q).Read(&state, &updates));
    EXPECT_EQ(state, StateOf(q == 1 ? 150 : 100 * q));
    EXPECT_EQ(updates, q == 1 ? 2u : 1u);
  }
}

TEST_F(LoadTest, AnAreaThatIsNotThereOrNotInsideIsNone) {
  EXPECT_TRUE(Reader(0).has_area());
  const uint64_t at = memory.head()->load;
  EXPECT_EQ(at, memory.offsets.load);
  for (const uint64_t bad : {uint64_t{0}, at + 4, memory.offsets.bytes, ~uint64_t{0} - 63,
                             memory.offsets.bytes - sizeof(suede_load_area)}) {
    memory.head()->load = bad;
    EXPECT_FALSE(Reader(0).has_area()) << bad;
  }
}

TEST_F(LoadTest, AnAreaMayEndWhereTheSegmentDoes) {
  const uint64_t end = memory.offsets.load + 3 * sizeof(suede_load_area);
  EXPECT_TRUE(LoadReader(memory.base(), end, 2).has_area());
  EXPECT_FALSE(LoadReader(memory.base(), end - 1, 2).has_area());
}

TEST_F(LoadTest, AStateThatIsNotFinishedIsNotGiven) {
  LoadWriter writer(memory.base(), kAreaShape, 0);
  writer.Show(StateOf(1));
  LoadState state;
  Area(0)->state.sequence = 3;
  EXPECT_FALSE(Reader(0).Read(&state));
  // The daemon does not read it back.
  writer.Show(StateOf(9));
  uint32_t updates = 0;
  ASSERT_TRUE(Reader(0).Read(&state, &updates));
  EXPECT_EQ(state, StateOf(9));
  EXPECT_EQ(updates, 2u);
}

TEST_F(LoadTest, MapsNameTheDestinations) {
  LoadWriter writer(memory.base(), kAreaShape, 2);
  DestinationMap unreachable;
  DestinationMap paused;
  EXPECT_TRUE(unreachable.Set(1023, true));
  EXPECT_FALSE(unreachable.Set(1023, true));
  EXPECT_TRUE(unreachable.Set(32, true));
  EXPECT_TRUE(paused.Set(0, true));
  writer.ShowMaps(unreachable, paused);
  for (const uint16_t xpuid : std::array<uint16_t, 5>{31, 32, 33, 1022, 1023}) {
    EXPECT_EQ(unreachable.Has(xpuid), xpuid == 32 || xpuid == 1023) << xpuid;
  }
  for (const uint16_t xpuid : std::array<uint16_t, 6>{0, 31, 32, 33, 1022, 1023}) {
    EXPECT_EQ(Reader(2).IsUnreachable(xpuid), xpuid == 32 || xpuid == 1023) << xpuid;
    EXPECT_EQ(Reader(2).IsPaused(xpuid), xpuid == 0) << xpuid;
  }
  EXPECT_TRUE(unreachable.Set(32, false));
  writer.ShowMaps(unreachable, paused);
  EXPECT_FALSE(Reader(2).IsUnreachable(32));
  EXPECT_TRUE(Reader(2).IsUnreachable(1023));
}

TEST_F(LoadTest, WishesAreAnsweredInTheirPlace) {
  LoadWriter writer(memory.base(), kAreaShape, 1);
  LoadReader reader = Reader(1);
  const uint32_t word = SUEDE_WISH_VALID | 5u << 16 | 700;
  reader.SetWish(3, word);
  DestinationState state;
  EXPECT_FALSE(reader.ReadAnswer(3, word, &state));
  const std::optional<Wish> wish = writer.NextWish();
  ASSERT_TRUE(wish.has_value());
  EXPECT_EQ(wish->slot, 3u);
  EXPECT_EQ(wish->xpuid(), 700);
  writer.Answer(*wish, {.flags = 1, .queued_lines = 2, .inflight_pdus = 3, .inflight_bytes = 4});
  ASSERT_TRUE(reader.ReadAnswer(3, word, &state));
  EXPECT_EQ(state, (DestinationState{1, 2, 3, 4}));
  // The same destination, asked for once more: that answer does not count.
  EXPECT_FALSE(reader.ReadAnswer(3, SUEDE_WISH_VALID | 6u << 16 | 700, &state));
}

TEST_F(LoadTest, WishesTakeTurns) {
  LoadWriter writer(memory.base(), kAreaShape, 1);
  LoadReader reader = Reader(1);
  for (const uint32_t slot : {0u, 2u, 15u}) reader.SetWish(slot, SUEDE_WISH_VALID | slot);
  for (const uint32_t slot : {0u, 2u, 15u, 0u, 2u, 15u}) {
    const std::optional<Wish> wish = writer.NextWish();
    ASSERT_TRUE(wish.has_value());
    EXPECT_EQ(wish->slot, slot);
  }
  for (const uint32_t slot : {0u, 2u, 15u}) reader.SetWish(slot, 0);
  EXPECT_FALSE(writer.NextWish().has_value());
}

TEST_F(LoadTest, WhatIsNoWishIsNotGiven) {
  LoadWriter writer(memory.base(), kAreaShape, 0);
  const uint32_t bad[] = {0, 5, SUEDE_WISH_VALID | 1024, SUEDE_WISH_VALID | 0xffff, 0x7fff0001};
  for (uint32_t i = 0; i < SUEDE_WISHES; ++i) Area(0)->wishes[i] = bad[i % 5];
  for (uint32_t i = 0; i < 2 * SUEDE_WISHES; ++i) EXPECT_FALSE(writer.NextWish().has_value());
}

TEST_F(LoadTest, ReadersNeverSeeHalfAState) {
  constexpr uint32_t kUpdates = 200'000;
  std::atomic<bool> started{false};
  std::thread daemon([&] {
    LoadWriter writer(memory.base(), kAreaShape, 0);
    while (!started) std::this_thread::yield();
    for (uint32_t n = 1; n <= kUpdates; ++n) writer.Show(StateOf(n));
  });
  LoadReader reader = Reader(0);
  uint32_t updates = 0;
  started = true;
  while (updates != kUpdates) {
    LoadState state;
    const uint32_t before = updates;
    if (!reader.Read(&state, &updates) || updates == 0) continue;
    ASSERT_EQ(state, StateOf(updates));
    ASSERT_GE(updates, before);
  }
  daemon.join();
}

}  // namespace
}  // namespace suede
