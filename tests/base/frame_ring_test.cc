// SPDX-License-Identifier: Apache-2.0
#include "base/frame_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace suede {
namespace {

std::vector<uint8_t> FrameOf(uint32_t number, uint32_t bytes) {
  std::vector<uint8_t> frame(bytes);
  for (uint32_t i = 0; i < bytes; ++i) frame[i] = static_cast<uint8_t>(number * 31 + i);
  return frame;
}

TEST(FrameRingTest, RefusesWhatItCannotHoldAndKeepsTheOrder) {
  FrameRing ring(4, 100);
  EXPECT_TRUE(ring.empty());
  for (uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.Push(FrameOf(i, 14 + i)));
  EXPECT_FALSE(ring.Push(FrameOf(4, 20)));
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_FALSE(ring.empty());
    EXPECT_TRUE(std::ranges::equal(ring.Front(), FrameOf(i, 14 + i)));
    ring.Pop();
    EXPECT_TRUE(ring.Push(FrameOf(i + 4, 14 + i + 4)));
  }
}

TEST(FrameRingTest, HoldsTheLongestFrames) {
  FrameRing ring(2, 100);
  EXPECT_EQ(ring.frame_bytes(), 100u);
  EXPECT_TRUE(ring.Push(FrameOf(1, 100)));
  EXPECT_TRUE(ring.Push(FrameOf(2, 100)));
  EXPECT_TRUE(std::ranges::equal(ring.Front(), FrameOf(1, 100)));
  ring.Pop();
  EXPECT_TRUE(std::ranges::equal(ring.Front(), FrameOf(2, 100)));
}

TEST(FrameRingTest, TwoThreadsSeeWholeFramesInOrder) {
  constexpr uint32_t kCount = 50'000;
  FrameRing ring(16, 256);
  std::thread producer([&] {
    for (uint32_t i = 0; i < kCount; ++i) {
      const std::vector<uint8_t> frame = FrameOf(i, 14 + i * 37 % 243);
      while (!ring.Push(frame)) std::this_thread::yield();
    }
  });
  for (uint32_t i = 0; i < kCount; ++i) {
    while (ring.empty()) std::this_thread::yield();
    ASSERT_TRUE(std::ranges::equal(ring.Front(), FrameOf(i, 14 + i * 37 % 243)));
    ring.Pop();
  }
  producer.join();
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace suede
