// SPDX-License-Identifier: Apache-2.0
#include "seal/locked_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
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

// In a process of its own, which may lock nothing.
TEST(LockedMemory, WhereNothingCanBeLockedItSaysWhy) {
  EXPECT_EXIT(
      {
        const rlimit none{};
        setrlimit(RLIMIT_MEMLOCK, &none);
        // Root may lock anything.
        if (geteuid() == 0 && setresuid(65'534, 65'534, 65'534) != 0) _exit(2);
        LockedMemory& memory = LockedMemory::OfProcess();
        std::vector<void*> blocks;  // of pieces that are there already
        for (int i = 0; i < 100'000; ++i) {
          blocks.push_back(memory.Allocate(LockedMemory::kMaxBytes));
          if (blocks.back() == nullptr) break;
        }
        if (blocks.back() != nullptr) _exit(3);
        std::fprintf(stderr, "%s\n", memory.Shortage().c_str());
        _exit(0);
      },
      testing::ExitedWithCode(0), "cannot lock .* KiB of memory .*LimitMEMLOCK=infinity");
}

}  // namespace
}  // namespace suede
