// SPDX-License-Identifier: Apache-2.0
#include "pack/shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace suede {
namespace {

class SharesTest : public ::testing::Test {
 protected:
  SharesTest() { shares.Set(4, 100); }
  void TakeAll(uint32_t user) {
    while (shares.MayTake(has[user])) shares.OnTake(has[user]++);
  }
  Shares shares;
  std::vector<uint32_t> has = std::vector<uint32_t>(64);
};

TEST_F(SharesTest, OneAloneHasNearlyAll) {
  TakeAll(0);
  EXPECT_EQ(has[0], 4u + 80);
  EXPECT_EQ(shares.free(), 20);
  EXPECT_EQ(shares.Room(has[0]), 0u);
}

TEST_F(SharesTest, MuchIsMoreThanAFifthOfTheSharedPart) {
  EXPECT_FALSE(shares.IsMuch(4 + 25));  // a quarter of the 100 that are free: a fifth of both
  EXPECT_TRUE(shares.IsMuch(4 + 26));
  shares.Set(4, 0);
  EXPECT_FALSE(shares.IsMuch(4));
  EXPECT_TRUE(shares.IsMuch(5));
}

TEST_F(SharesTest, EveryUserHasItsOwnWhateverTheOthersDo) {
  for (uint32_t user = 0; user < 64; ++user) {
    TakeAll(user);
    EXPECT_GE(has[user], 4u);
  }
  uint32_t sum = 0;
  for (const uint32_t h : has) sum += h;
  EXPECT_LE(sum, 64u * 4 + 100);
}

TEST_F(SharesTest, WhatIsGivenBackIsThereAgain) {
  TakeAll(0);
  TakeAll(1);
  const uint32_t second = has[1];
  shares.OnReturn(has[0], has[0]);
  has[0] = 0;
  TakeAll(1);
  EXPECT_GT(has[1], second);
  shares.OnReturn(has[1], has[1] - 2);
  EXPECT_EQ(shares.free(), 100);
  EXPECT_TRUE(shares.Agrees(0));
}

TEST_F(SharesTest, RoomIsWhatMayBeTakenAtOnce) {
  EXPECT_EQ(shares.Room(0), 104u);
  for (uint32_t user = 0; user < 3; ++user) TakeAll(user);
  for (uint32_t h = 0; h < 60; ++h) EXPECT_EQ(shares.Room(h) != 0, shares.MayTake(h)) << h;
  EXPECT_EQ(shares.Room(has[0]), 0u);
}

TEST_F(SharesTest, TheLastOfTheSharedPartIsRoomForOne) {
  shares.Set(4, 1);
  EXPECT_EQ(shares.Room(4), 1u);
  EXPECT_EQ(shares.Room(0), 5u);
}

TEST_F(SharesTest, RoomIsLessByTheSharedPartThatAUserHasAlready) {
  TakeAll(0);
  shares.OnReturn(has[0], 4);
  has[0] -= 4;
  ASSERT_EQ(shares.free(), 24);
  EXPECT_EQ(shares.Room(has[0]), 4u * 24 - (has[0] - 4));
}

// Several taken at once are as many as would be taken one by one, and leave the same behind.
TEST_F(SharesTest, RoomInARowIsWhatOneByOneTakes) {
  for (uint32_t own = 1; own < 8; ++own) {
    for (uint32_t shared = 0; shared < 60; ++shared) {
      for (uint32_t before = 0; before < 12; ++before) {
        Shares one_by_one;
        one_by_one.Set(own, shared);
        uint32_t had = 0;
        while (had < before && one_by_one.MayTake(had)) one_by_one.OnTake(had++);
        Shares at_once = one_by_one;
        const uint32_t room = at_once.RoomInARow(had);
        at_once.OnTake(had, room);
        uint32_t taken = 0;
        for (; one_by_one.MayTake(had); ++taken) one_by_one.OnTake(had++);
        ASSERT_EQ(room, taken) << own << " " << shared << " " << before;
        ASSERT_EQ(at_once.free(), one_by_one.free());
      }
    }
  }
}

TEST_F(SharesTest, ASmallerBoundWaitsUntilEnoughIsGivenBack) {
  TakeAll(0);
  shares.Resize(50);
  EXPECT_FALSE(shares.MayTake(4));
  EXPECT_TRUE(shares.MayTake(3));
  shares.OnReturn(has[0], 60);
  has[0] -= 60;
  EXPECT_TRUE(shares.MayTake(has[0]));
}

TEST(SharesOwnTest, IsNoMoreThanHalfOfAllTogether) {
  EXPECT_EQ(Shares::OwnOf({4096, 1, 32}), 32u);
  EXPECT_EQ(Shares::OwnOf({4096, 1023, 32}), 2u);
  EXPECT_EQ(Shares::OwnOf({4096, 4092, 32}), 1u);
  EXPECT_EQ(Shares::OwnOf({1, 0, 32}), 32u);
}

}  // namespace
}  // namespace suede
