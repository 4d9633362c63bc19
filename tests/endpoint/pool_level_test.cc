// SPDX-License-Identifier: Apache-2.0
#include "endpoint/pool_level.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

TEST(PoolLevelTest, SaysLowOnceUntilItHasRecovered) {
  PoolLevel level;
  using Change = PoolLevel::Change;
  EXPECT_EQ(level.Check(1000, 1000), Change::kNone);
  EXPECT_EQ(level.Check(125, 1000), Change::kNone);
  EXPECT_EQ(level.Check(124, 1000), Change::kLow);
  for (const uint64_t free : {0, 200, 124, 249}) EXPECT_EQ(level.Check(free, 1000), Change::kNone);
  EXPECT_EQ(level.Check(250, 1000), Change::kRecovered);
  EXPECT_EQ(level.Check(126, 1000), Change::kNone);
  EXPECT_EQ(level.Check(0, 1000), Change::kLow);
}

}  // namespace
}  // namespace suede
