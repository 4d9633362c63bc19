// SPDX-License-Identifier: Apache-2.0
#include "pdu/pdu_list.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace suede {
namespace {

class PduListTest : public ::testing::Test {
 protected:
  PduListTest() {
    for (uint16_t i = 0; i < pdus.size(); ++i) pdus[i].psn = Psn(i);
  }
  PduList ListOf(size_t begin, size_t end) {
    PduList list;
    for (size_t i = begin; i < end; ++i) list.PushBack(&pdus[i]);
    return list;
  }
  static std::vector<uint16_t> Take(PduList& list) {
    std::vector<uint16_t> psns;
    while (!list.empty()) psns.push_back(list.PopFront()->psn.value());
    return psns;
  }

  using Psns = std::vector<uint16_t>;
  std::array<Pdu, 6> pdus;
};

TEST_F(PduListTest, IsAFifo) {
  PduList list = ListOf(0, 3);
  EXPECT_EQ(list.head(), &pdus[0]);
  EXPECT_EQ(list.tail(), &pdus[2]);
  EXPECT_EQ(Take(list), (Psns{0, 1, 2}));
  EXPECT_EQ(list.tail(), nullptr);
}

TEST_F(PduListTest, APduEndsTheListThatItIsPutOn) {
  pdus[1].next = &pdus[5];  // left over from elsewhere
  PduList list = ListOf(0, 2);
  EXPECT_EQ(Take(list), (Psns{0, 1}));
}

TEST_F(PduListTest, APduThatWasTakenHasNoNext) {
  PduList list = ListOf(0, 3);
  EXPECT_EQ(list.PopFront()->next, nullptr);
  PduList taken = list.TakeUpTo(&pdus[1]);
  EXPECT_EQ(taken.tail()->next, nullptr);
  EXPECT_EQ(Take(taken), (Psns{1}));
  EXPECT_EQ(Take(list), (Psns{2}));
}

TEST_F(PduListTest, TakingAllLeavesAnEmptyList) {
  PduList list = ListOf(0, 3);
  PduList taken = list.TakeUpTo(&pdus[2]);
  EXPECT_TRUE(list.empty());
  list.PushBack(&pdus[3]);
  EXPECT_EQ(Take(taken), (Psns{0, 1, 2}));
  EXPECT_EQ(Take(list), (Psns{3}));
}

TEST_F(PduListTest, OtherListsGoInFrontOrBehindAndAreEmptyThen) {
  PduList list = ListOf(2, 4);
  PduList front = ListOf(0, 2);
  PduList behind = ListOf(4, 6);
  list.Prepend(front);
  list.Append(behind);
  EXPECT_TRUE(front.empty());
  EXPECT_TRUE(behind.empty());
  EXPECT_EQ(Take(list), (Psns{0, 1, 2, 3, 4, 5}));
  PduList none;
  list.Prepend(none);
  list.Append(none);
  EXPECT_TRUE(list.empty());
  PduList late = ListOf(0, 1);
  list.Prepend(late);
  EXPECT_EQ(list.tail(), &pdus[0]);
}

}  // namespace
}  // namespace suede
