// SPDX-License-Identifier: Apache-2.0
#include "peer/effects.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

TEST(Effects, AreInOrderUntilTheyAreCleared) {
  Effects effects;
  EXPECT_TRUE(effects.empty());
  effects.Add(effect::Unblock{1});
  effects.Add(effect::GiveUpQueued{2});
  EXPECT_FALSE(effects.empty());
  ASSERT_EQ(effects.all().size(), 2u);
  EXPECT_TRUE(std::holds_alternative<effect::Unblock>(effects.all()[0]));
  EXPECT_TRUE(std::holds_alternative<effect::GiveUpQueued>(effects.all()[1]));
  effects.Clear();
  EXPECT_TRUE(effects.empty());
  EXPECT_TRUE(effects.all().empty());
}

}  // namespace
}  // namespace suede
