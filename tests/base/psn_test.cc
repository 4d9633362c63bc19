// SPDX-License-Identifier: Apache-2.0
#include "base/psn.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

TEST(PsnTest, NextWraps) {
  EXPECT_EQ(Psn(0).Next(), Psn(1));
  EXPECT_EQ(Psn(65535).Next(), Psn(0));
  EXPECT_EQ(Psn(0).Plus(-1), Psn(65535));
  EXPECT_EQ(Psn(65000).Plus(kMaxWindowPdus), Psn(static_cast<uint16_t>(65000 + kMaxWindowPdus)));
}

TEST(PsnTest, DistanceAcrossTheWrap) {
  EXPECT_EQ(Psn(2).DistanceFrom(Psn(65534)), 4);
  EXPECT_EQ(Psn(65534).DistanceFrom(Psn(2)), -4);
  EXPECT_EQ(Psn(7).DistanceFrom(Psn(7)), 0);
  EXPECT_EQ(Psn(32767).DistanceFrom(Psn(0)), 32767);
  EXPECT_EQ(Psn(32768).DistanceFrom(Psn(0)), -32768);
}

TEST(PsnTest, OrderAcrossTheWrap) {
  EXPECT_TRUE(Psn(0).IsAfter(Psn(65535)));
  EXPECT_TRUE(Psn(65535).IsBefore(Psn(0)));
  EXPECT_FALSE(Psn(5).IsAfter(Psn(5)));
  EXPECT_FALSE(Psn(5).IsBefore(Psn(5)));
}

// Every PSN lies where it should from every start, as far as the largest window reaches.
TEST(PsnTest, WindowFromEveryStart) {
  for (int start = 0; start < 65536; ++start) {
    const Psn psn(static_cast<uint16_t>(start));
    for (const int n : {-kMaxWindowPdus, -1, 0, 1, kMaxWindowPdus}) {
      ASSERT_EQ(psn.Plus(n).DistanceFrom(psn), n);
    }
  }
}

}  // namespace
}  // namespace suede
