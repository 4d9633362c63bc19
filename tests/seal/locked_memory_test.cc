// SPDX-License-Identifier: Apache-2.0
#include "seal/locked_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "memory_flags.h"

namespace suede {
namespace {

bool IsZero(const void* block, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(block);
  return std::all_of(at, at + bytes, [](uint8_t byte) { return byte == 0; });
}

TEST(LockedMemory, BlocksAreZeroAndDoNotOverlap) {
  LockedMemory& memory = LockedMemory::OfProcess();
  const size_t before = memory.used_bytes();
  std::mt19937 random(1);
  struct Held {
    uint8_t* block;
    size_t bytes;
    uint8_t fill;
  };
  std::vector<Held> held;
  for (int i = 0; i < 20'000; ++i) {
    if (held.size() < 200 && random() % 2 == 0) {
      const size_t bytes = 1 + random() % LockedMemory::kMaxBytes;
      auto* block = static_cast<uint8_t*>(memory.Allocate(bytes));
      ASSERT_NE(block, nullptr) << memory.Shortage();
      ASSERT_TRUE(memory.Holds(block));
      ASSERT_GE(memory.BytesOf(block), bytes);
      ASSERT_TRUE(IsZero(block, memory.BytesOf(block)));
      held.push_back({block, memory.BytesOf(block), static_cast<uint8_t>(1 + random() % 255)});
      std::memset(block, held.back().fill, held.back().bytes);
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const Held& last = held.back();
      ASSERT_EQ(std::count(last.block, last.block + last.bytes, last.fill),
                static_cast<std::ptrdiff_t>(last.bytes));
      memory.Free(last.block);
      // But for the list of free blocks.
      ASSERT_TRUE(IsZero(last.block + sizeof(void*), last.bytes - sizeof(void*)));
      held.pop_back();
    }
  }
  for (const Held& each : held) memory.Free(each.block);
  EXPECT_EQ(memory.used_bytes(), before);
}

TEST(LockedMemory, PiecesAreFullAndBlocksAreUsedAgain) {
  LockedMemory& memory = LockedMemory::OfProcess();
  constexpr size_t kPieceBytes = 64 << 10;
  constexpr size_t kPieces = 32;
  std::vector<void*> blocks;
  std::set<uintptr_t> pieces;
  for (size_t i = 0; i < kPieces * kPieceBytes / LockedMemory::kMaxBytes; ++i) {
    blocks.push_back(memory.Allocate(LockedMemory::kMaxBytes));
    ASSERT_NE(blocks.back(), nullptr) << memory.Shortage();
    pieces.insert(reinterpret_cast<uintptr_t>(blocks.back()) / kPieceBytes);
  }
  // Some more where pieces have blocks of other tests.
  EXPECT_LE(pieces.size(), kPieces * 3 / 2);
  const std::set<void*> before(blocks.begin(), blocks.end());
  for (void* block : blocks) memory.Free(block);
  std::set<void*> after;
  for (void*& block : blocks) after.insert(block = memory.Allocate(LockedMemory::kMaxBytes));
  EXPECT_EQ(after, before);
  for (void* block : blocks) memory.Free(block);
}

TEST(LockedMemory, WhatItDoesNotHold) {
  LockedMemory& memory = LockedMemory::OfProcess();
  EXPECT_EQ(memory.Allocate(0), nullptr);
  EXPECT_EQ(memory.Allocate(LockedMemory::kMaxBytes + 1), nullptr);
  const std::vector<int> other(4);
  EXPECT_FALSE(memory.Holds(other.data()));
  EXPECT_FALSE(memory.Holds(nullptr));
  memory.Free(nullptr);
}

TEST(LockedMemory, TheKernelLocksItAndDumpsItNever) {
  LockedMemory& memory = LockedMemory::OfProcess();
  void* const block = memory.Allocate(32);
  ASSERT_NE(block, nullptr) << memory.Shortage();
  const std::string flags = MemoryFlags(block);
  EXPECT_NE(flags.find(" lo "), std::string::npos) << flags;
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;
  memory.Free(block);
}

// While it lives, this process locks nothing more. Root may lock anything, so it is nobody.
class NothingCanBeLocked {
 public:
  NothingCanBeLocked() {
    getrlimit(RLIMIT_MEMLOCK, &before_);
    rlimit limit = before_;
    limit.rlim_cur = 64 << 10;
    setrlimit(RLIMIT_MEMLOCK, &limit);
    if (was_root_) {
      EXPECT_EQ(seteuid(65'534), 0);
    }
  }
  ~NothingCanBeLocked() {
    if (was_root_) {
      EXPECT_EQ(seteuid(0), 0);
    }
    setrlimit(RLIMIT_MEMLOCK, &before_);
  }

 private:
  const bool was_root_ = geteuid() == 0;
  rlimit before_{};
};

TEST(LockedMemory, WhereNothingCanBeLockedItSaysWhy) {
  LockedMemory& memory = LockedMemory::OfProcess();
  std::vector<void*> blocks;
  for (int i = 0; i < 384; ++i) blocks.push_back(memory.Allocate(LockedMemory::kMaxBytes));
  ASSERT_NE(blocks.back(), nullptr) << memory.Shortage();
  const size_t used_kib = memory.used_bytes() >> 10;
  {
    const NothingCanBeLocked limit;
    // Pieces that are there already have some blocks.
    while (blocks.back() != nullptr) blocks.push_back(memory.Allocate(LockedMemory::kMaxBytes));
  }
  const std::string shortage = memory.Shortage();
  size_t kib = 0;
  EXPECT_EQ(std::sscanf(shortage.c_str(), "cannot lock %zu KiB of memory for ", &kib), 1)
      << shortage;
  EXPECT_GT(kib, used_kib);
  EXPECT_NE(shortage.find("; the limit is 64 KiB: ulimit -l unlimited"), std::string::npos)
      << shortage;
  EXPECT_NE(shortage.find("LimitMEMLOCK=infinity"), std::string::npos) << shortage;
  for (void* block : blocks) memory.Free(block);
}

}  // namespace
}  // namespace suede
