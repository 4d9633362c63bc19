// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "base/fifo.h"
#include "base/spsc_ring.h"

namespace suede {
namespace {

TEST(FifoTest, KeepsOrderAcrossItsEnd) {
  Fifo<int> fifo;
  fifo.Reserve(4);
  int in = 0;
  int out = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 3; ++i) fifo.push_back(in++);
    EXPECT_EQ(fifo.size(), 3u);
    for (; !fifo.empty(); fifo.pop_front()) EXPECT_EQ(fifo.front(), out++);
  }
  EXPECT_EQ(in, out);
}

TEST(FifoTest, ReserveKeepsWhatIsQueued) {
  Fifo<int> fifo;
  fifo.Reserve(2);
  fifo.push_back(0);
  fifo.pop_front();
  fifo.push_back(1);
  fifo.push_back(2);
  fifo.Reserve(5);
  fifo.push_back(3);
  for (int want = 1; want <= 3; ++want, fifo.pop_front()) EXPECT_EQ(fifo.front(), want);
  EXPECT_TRUE(fifo.empty());
}

TEST(SpscRingTest, RefusesWhatItCannotHold) {
  SpscRing<int, 4> ring;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.Push(i));
  EXPECT_FALSE(ring.Push(4));
  int item = -1;
  EXPECT_TRUE(ring.Pop(item));
  EXPECT_EQ(item, 0);
  EXPECT_TRUE(ring.Push(4));
  for (int want = 1; want <= 4; ++want) {
    EXPECT_TRUE(ring.Pop(item));
    EXPECT_EQ(item, want);
  }
  EXPECT_FALSE(ring.Pop(item));
}

TEST(SpscRingTest, TwoThreadsKeepOrder) {
  constexpr int kCount = 100'000;
  SpscRing<int, 64> ring;
  std::thread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      while (!ring.Push(i)) std::this_thread::yield();
    }
  });
  for (int want = 0; want < kCount; ++want) {
    int item = -1;
    while (!ring.Pop(item)) std::this_thread::yield();
    ASSERT_EQ(item, want);
  }
  producer.join();
}

}  // namespace
}  // namespace suede
