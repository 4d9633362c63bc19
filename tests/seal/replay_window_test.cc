// SPDX-License-Identifier: Apache-2.0
#include "seal/replay_window.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace suede {
namespace {

TEST(ReplayWindow, TakesEachNumberOnce) {
  ReplayWindow window;
  EXPECT_TRUE(window.IsNew(0));
  EXPECT_TRUE(window.Accept(0));
  EXPECT_FALSE(window.IsNew(0));
  EXPECT_FALSE(window.Accept(0));
  EXPECT_TRUE(window.Accept(5));
  EXPECT_TRUE(window.Accept(3));
  EXPECT_FALSE(window.Accept(3));
  EXPECT_FALSE(window.Accept(5));
}

TEST(ReplayWindow, WhatIsTooOldIsNotTaken) {
  ReplayWindow window;
  ASSERT_TRUE(window.Accept(ReplayWindow::kNumbers));
  EXPECT_FALSE(window.Accept(0));
  EXPECT_TRUE(window.Accept(1));
  ASSERT_TRUE(window.Accept(1'000'000));
  EXPECT_FALSE(window.Accept(1'000'000 - ReplayWindow::kNumbers));
  EXPECT_TRUE(window.Accept(1'000'001 - ReplayWindow::kNumbers));
}

TEST(ReplayWindow, IsEmptyAgain) {
  ReplayWindow window;
  ASSERT_TRUE(window.Accept(1'000'000));
  window.Clear();
  EXPECT_TRUE(window.Accept(0));
  EXPECT_TRUE(window.Accept(1'000'000));
}

// Against a set, with steps of every size around the edges of words and of the window.
TEST(ReplayWindow, AsASetHasIt) {
  constexpr int kRuns = 200;
  constexpr int kSteps = 3000;
  for (uint32_t seed = 0; seed < kRuns; ++seed) {
    std::mt19937_64 random(seed);
    ReplayWindow window;
    std::set<uint64_t> seen;
    uint64_t end = 0;
    for (int step = 0; step < kSteps; ++step) {
      const uint64_t back = random() % (ReplayWindow::kNumbers + 70);
      const uint64_t ahead = random() % 16 == 0 ? random() % 5000 : random() % 70;
      const uint64_t number = random() % 2 == 0 ? end + ahead : end > back ? end - back : 0;
      const bool is_new =
          number >= end || (end - number <= ReplayWindow::kNumbers && !seen.contains(number));
      ASSERT_EQ(window.IsNew(number), is_new) << seed << " " << step;
      ASSERT_EQ(window.Accept(number), is_new);
      if (!is_new) continue;
      seen.insert(number);
      end = std::max(end, number + 1);
    }
  }
}

}  // namespace
}  // namespace suede
