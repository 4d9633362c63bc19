// SPDX-License-Identifier: Apache-2.0
#include "mem/window_table.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace suede::mem {
namespace {

class WindowTables : public testing::Test {
 protected:
  Window Of(uint64_t bytes = 64) {
    return {.base = memory_, .bytes = bytes, .rights = Window::kAllRights};
  }
  Status StatusOf(const Request& request) const { return table.Check(request).status; }

  alignas(8) uint8_t memory_[64] = {};
  WindowTable table;
};

TEST_F(WindowTables, AnAccessInsideReachesItsOctets) {
  ASSERT_EQ(table.Add(7, Of()), WindowTable::Added::kOk);
  const Access access = table.Check({.window = 7, .bytes = 4, .offset = 60});
  EXPECT_EQ(access.status, Status::kOk);
  EXPECT_EQ(access.memory, memory_ + 60);
}

TEST_F(WindowTables, BoundsAreExact) {
  ASSERT_EQ(table.Add(7, Of()), WindowTable::Added::kOk);
  for (const Opcode opcode : {Opcode::kPut, Opcode::kGet, Opcode::kPutImmediate}) {
    EXPECT_EQ(StatusOf({.opcode = opcode, .window = 7, .bytes = 64}), Status::kOk);
    EXPECT_EQ(StatusOf({.opcode = opcode, .window = 7, .bytes = 64, .offset = 1}), Status::kBounds);
    EXPECT_EQ(StatusOf({.opcode = opcode, .window = 7, .bytes = 1, .offset = 64}), Status::kBounds);
    EXPECT_EQ(StatusOf({.opcode = opcode, .window = 7, .bytes = 256, .offset = kOffsetLimit - 1}),
              Status::kBounds);
  }
  EXPECT_EQ(StatusOf({.opcode = Opcode::kPutImmediate, .window = 7, .offset = 64}), Status::kOk);
  EXPECT_EQ(StatusOf({.opcode = Opcode::kPutImmediate, .window = 7, .offset = 65}),
            Status::kBounds);
}

TEST_F(WindowTables, EachRightPermitsItsKindAlone) {
  Window window = Of();
  for (const uint8_t rights : {Window::kRead, Window::kWrite, Window::kAtomic}) {
    window.rights = rights;
    ASSERT_EQ(table.Add(1, window), WindowTable::Added::kOk);
    for (int code = 1; code <= 8; ++code) {
      const auto opcode = static_cast<Opcode>(code);
      const uint8_t wants = opcode == Opcode::kGet ? Window::kRead
                            : code >= 4            ? Window::kAtomic
                                                   : Window::kWrite;
      EXPECT_EQ(StatusOf({.opcode = opcode, .window = 1, .bytes = 4}),
                wants == rights ? Status::kOk : Status::kRights)
          << code;
    }
    ASSERT_TRUE(table.Remove(1));
  }
}

TEST_F(WindowTables, AWindowWithAKeyAsksForIt) {
  Window window = Of();
  window.key = 5;
  ASSERT_EQ(table.Add(1, window), WindowTable::Added::kOk);
  EXPECT_EQ(StatusOf({.window = 1, .bytes = 1, .key = 5}), Status::kOk);
  for (const uint32_t key : {0u, 4u, UINT32_MAX}) {
    EXPECT_EQ(StatusOf({.window = 1, .bytes = 1, .key = key}), Status::kKey);
  }
  ASSERT_EQ(table.Add(2, Of()), WindowTable::Added::kOk);
  EXPECT_EQ(StatusOf({.window = 2, .bytes = 1, .key = 5}), Status::kOk) << "none is asked for";
}

TEST_F(WindowTables, AWindowOfAPartitionIsClosedInOthers) {
  Window window = Of();
  window.partition = 3;
  ASSERT_EQ(table.Add(1, window), WindowTable::Added::kOk);
  EXPECT_TRUE(table.NamesPartitions());
  EXPECT_EQ(StatusOf({.window = 1, .bytes = 1}), Status::kPartition) << "not known yet";
  table.SetPartition(3);
  EXPECT_EQ(StatusOf({.window = 1, .bytes = 1}), Status::kOk);
  table.SetPartition(4);
  EXPECT_EQ(StatusOf({.window = 1, .bytes = 1}), Status::kPartition);
  ASSERT_TRUE(table.Remove(1));
  EXPECT_FALSE(table.NamesPartitions());
  ASSERT_EQ(table.Add(1, Of()), WindowTable::Added::kOk);
  EXPECT_EQ(StatusOf({.window = 1, .bytes = 1}), Status::kOk);
}

TEST_F(WindowTables, AtomicsAreAligned) {
  ASSERT_EQ(table.Add(1, Of()), WindowTable::Added::kOk);
  for (const uint16_t bytes : {uint16_t{4}, uint16_t{8}}) {
    for (uint64_t offset = 0; offset <= 32; ++offset) {
      EXPECT_EQ(StatusOf({.opcode = Opcode::kSwap, .window = 1, .bytes = bytes, .offset = offset}),
                offset % bytes == 0 ? Status::kOk : Status::kAlignment);
    }
  }
}

TEST_F(WindowTables, ThereIsNoWindowBeforeItIsAddedAndAfterItIsRemoved) {
  EXPECT_EQ(StatusOf({.window = 9, .bytes = 1}), Status::kNoWindow);
  EXPECT_EQ(StatusOf({.window = UINT16_MAX, .bytes = 1}), Status::kNoWindow);
  EXPECT_FALSE(table.Remove(9));
  ASSERT_EQ(table.Add(9, Of()), WindowTable::Added::kOk);
  EXPECT_EQ(table.Add(9, Of()), WindowTable::Added::kTaken);
  EXPECT_TRUE(table.Remove(9));
  EXPECT_EQ(StatusOf({.window = 9, .bytes = 1}), Status::kNoWindow);
}

TEST_F(WindowTables, AWindowThatCannotBeIsRefused) {
  const auto refused = [&](uint32_t id, const Window& window) {
    return table.Add(id, window) == WindowTable::Added::kInvalid;
  };
  Window window = Of();
  EXPECT_TRUE(refused(kMaxWindows, window));
  window.base = nullptr;
  EXPECT_TRUE(refused(0, window));
  window.base = memory_ + 4;
  EXPECT_TRUE(refused(0, window));
  EXPECT_TRUE(refused(0, Of(7)));
  EXPECT_TRUE(refused(0, Of(kMaxWindowBytes + 1)));
  window = Of();
  window.rights = 0;
  EXPECT_TRUE(refused(0, window));
  window.rights = 8;
  EXPECT_TRUE(refused(0, window));
  window = Of();
  window.partition = 1024;
  EXPECT_TRUE(refused(0, window));
  // At the ends of the ranges.
  window = Of(kMinWindowBytes);
  window.partition = 1023;
  EXPECT_EQ(table.Add(0, window), WindowTable::Added::kOk);
  EXPECT_EQ(table.Add(kMaxWindows - 1, Of(kMaxWindowBytes)), WindowTable::Added::kOk);
}

}  // namespace
}  // namespace suede::mem
