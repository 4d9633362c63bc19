// SPDX-License-Identifier: Apache-2.0
#include "mem/execute.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "mem/memory_access.h"

namespace suede::mem {
namespace {

template <class Word>
struct Cell {
  uint64_t Do(Request request) {
    request.is_wide = sizeof(Word) == 8;
    return ExecuteAtomic(request, reinterpret_cast<uint8_t*>(&word));
  }
  alignas(8) Word word = 0;
  Word behind = static_cast<Word>(0x5555555555555555);
};

template <class Word>
class Atomics : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(cell.behind, static_cast<Word>(0x5555555555555555)); }
  Cell<Word> cell;
  static constexpr Word kMax = static_cast<Word>(~Word{0});
};
using Words = testing::Types<uint32_t, uint64_t>;
TYPED_TEST_SUITE(Atomics, Words);

TYPED_TEST(Atomics, FetchAddWrapsAtItsWidth) {
  this->cell.word = this->kMax;
  EXPECT_EQ(this->cell.Do({.opcode = Opcode::kFetchAdd, .operand = 2}), this->kMax);
  EXPECT_EQ(this->cell.word, 1u);
}

TYPED_TEST(Atomics, SwapReturnsWhatWasThere) {
  this->cell.word = 5;
  EXPECT_EQ(this->cell.Do({.opcode = Opcode::kSwap, .operand = 9}), 5u);
  EXPECT_EQ(this->cell.word, 9u);
}

TYPED_TEST(Atomics, CompareSwapStoresOnlyWhereItIsAsExpected) {
  this->cell.word = 5;
  EXPECT_EQ(this->cell.Do({.opcode = Opcode::kCompareSwap, .operand = 4, .desired = 9}), 5u);
  EXPECT_EQ(this->cell.word, 5u);
  EXPECT_EQ(this->cell.Do({.opcode = Opcode::kCompareSwap, .operand = 5, .desired = 9}), 5u);
  EXPECT_EQ(this->cell.word, 9u);
}

TYPED_TEST(Atomics, IncrementWrapsAtItsBoundary) {
  for (uint8_t boundary = 0; boundary < sizeof(TypeParam) * 8; ++boundary) {
    const TypeParam max = static_cast<TypeParam>((TypeParam{2} << boundary) - 1);
    this->cell.word = max;
    for (const Opcode opcode : {Opcode::kIncrement, Opcode::kReadIncrement}) {
      this->cell.word = max;
      EXPECT_EQ(this->cell.Do({.opcode = opcode, .boundary = boundary, .operand = 1}), max);
      EXPECT_EQ(this->cell.word, 0u) << int{boundary};
    }
  }
  // 4: from 0 to 31.
  this->cell.word = 30;
  this->cell.Do({.opcode = Opcode::kIncrement, .boundary = 4, .operand = 1});
  EXPECT_EQ(this->cell.word, 31u);
  this->cell.Do({.opcode = Opcode::kIncrement, .boundary = 4, .operand = 34});
  EXPECT_EQ(this->cell.word, 1u);
}

TYPED_TEST(Atomics, AreAtomicAgainstLocalThreads) {
  constexpr uint64_t kTimes = 20000;
  auto& word = reinterpret_cast<std::atomic<TypeParam>&>(this->cell.word);
  std::thread local([&] {
    for (uint64_t i = 0; i < kTimes; ++i) word.fetch_add(1);
  });
  for (uint64_t i = 0; i < kTimes; ++i) {
    this->cell.Do({.opcode = i % 2 == 0 ? Opcode::kFetchAdd : Opcode::kReadIncrement,
                   .boundary = sizeof(TypeParam) * 8 - 1,
                   .operand = 1});
  }
  local.join();
  EXPECT_EQ(word.load(), 2 * kTimes);
}

TEST(Octets, AreStoredAndLoadedAtAnyPlace) {
  alignas(8) uint8_t memory[300];
  uint8_t octets[256];
  for (uint32_t i = 0; i < sizeof octets; ++i) octets[i] = static_cast<uint8_t>(i * 7 + 1);
  for (uint32_t at = 0; at < 16; ++at) {
    for (const uint32_t bytes : {0u, 1u, 3u, 4u, 5u, 8u, 9u, 255u, 256u}) {
      std::fill(std::begin(memory), std::end(memory), uint8_t{0xee});
      StoreOctets(memory + at, octets, bytes);
      for (uint32_t i = 0; i < sizeof memory; ++i) {
        const bool inside = i >= at && i < at + bytes;
        ASSERT_EQ(memory[i], inside ? octets[i - at] : 0xee) << at << " " << bytes << " " << i;
      }
      uint8_t back[256] = {};
      LoadOctets(memory + at, back, bytes);
      ASSERT_TRUE(std::equal(back, back + bytes, octets));
    }
  }
}

}  // namespace
}  // namespace suede::mem
