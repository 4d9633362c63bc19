// SPDX-License-Identifier: Apache-2.0
#include "base/burst_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace suede {
namespace {

template <typename Ring>
std::vector<int> PopAll(Ring& ring, uint32_t max) {
  std::vector<int> items(max);
  items.resize(ring.Pop(items.data(), max));
  return items;
}

TEST(BurstRingTest, WhatIsPushedIsSeenOncePublished) {
  BurstRing<int, 4> ring;
  EXPECT_TRUE(ring.Push(1));
  EXPECT_TRUE(ring.Push(2));
  EXPECT_TRUE(PopAll(ring, 4).empty());
  ring.Publish();
  EXPECT_TRUE(ring.Push(3));
  EXPECT_EQ(ring.size(), 2u);
  EXPECT_EQ(PopAll(ring, 4), (std::vector<int>{1, 2}));
  EXPECT_EQ(ring.size(), 0u);
  ring.Publish();
  EXPECT_EQ(ring.size(), 1u);
  EXPECT_EQ(PopAll(ring, 4), (std::vector<int>{3}));
}

TEST(BurstRingTest, RefusesWhatItCannotHold) {
  BurstRing<int, 4> ring;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.Push(i));
  EXPECT_FALSE(ring.Push(4));
  ring.Publish();
  EXPECT_FALSE(ring.Push(4));
  EXPECT_EQ(PopAll(ring, 1), (std::vector<int>{0}));
  EXPECT_TRUE(ring.Push(4));
  EXPECT_FALSE(ring.Push(5));
  ring.Publish();
  EXPECT_EQ(PopAll(ring, 9), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(PopAll(ring, 9).empty());
}

TEST(BurstRingTest, BurstsOfAnySizeKeepOrderAcrossItsEnd) {
  BurstRing<int, 8> ring;
  int in = 0;
  int out = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < round % 9; ++i) in += ring.Push(in) ? 1 : 0;
    ring.Publish();
    for (const int item : PopAll(ring, static_cast<uint32_t>(round % 7))) EXPECT_EQ(item, out++);
  }
  for (const int item : PopAll(ring, 8)) EXPECT_EQ(item, out++);
  EXPECT_EQ(out, in);
}

// Items that are handed over: the one thread writes to them, the other reads the values.
TEST(BurstRingTest, TwoThreadsKeepOrderAndSeeWhatWasWritten) {
  constexpr int kCount = 100'000;
  BurstRing<int*, 64> ring;
  const auto things = std::make_unique<int[]>(kCount);
  std::thread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      things[i] = i;
      while (!ring.Push(&things[i])) {
        ring.Publish();
        std::this_thread::yield();
      }
      if (i % 5 == 0) ring.Publish();
    }
    ring.Publish();
  });
  for (int want = 0; want < kCount;) {
    int* items[16];
    const uint32_t count = ring.Pop(items, 16);
    if (count == 0) std::this_thread::yield();
    for (uint32_t i = 0; i < count; ++i, ++want) {
      ASSERT_EQ(*items[i], want);
      *items[i] = -1;  // its taker may write to it
    }
  }
  producer.join();
}

}  // namespace
}  // namespace suede
