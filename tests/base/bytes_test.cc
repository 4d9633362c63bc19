// SPDX-License-Identifier: Apache-2.0
// Bytes of integers, and bytes that are copied.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "base/big_endian.h"
#include "base/copy.h"

namespace suede {
namespace {

TEST(BigEndianTest, TheFirstByteIsTheHighest) {
  const std::array<uint8_t, 9> bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(LoadBe16(&bytes[1]), 0x0102);
  EXPECT_EQ(LoadBe32(&bytes[1]), 0x01020304u);
  EXPECT_EQ(LoadBe64(&bytes[1]), 0x0102030405060708u);
  std::array<uint8_t, 9> stored = bytes;
  stored.fill(0xff);
  StoreBe16(&stored[1], 0x0102);
  EXPECT_EQ(stored, (std::array<uint8_t, 9>{0xff, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
  StoreBe32(&stored[1], 0x01020304);
  EXPECT_EQ(stored, (std::array<uint8_t, 9>{0xff, 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff}));
  StoreBe64(&stored[1], 0x0102030405060708);
  EXPECT_EQ(stored, (std::array<uint8_t, 9>{0xff, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(CopyTest, EveryLengthIsCopiedAndNothingBehindIsTouched) {
  std::array<uint8_t, 640> from{};
  std::iota(from.begin(), from.end(), uint8_t{1});
  for (uint32_t bytes = 1; bytes <= 512; ++bytes) {
    std::array<uint8_t, 640> to{};
    CopyCommand(to.data() + 8, from.data(), bytes);
    // A short one may be copied as kCopyBytes.
    const uint32_t end = std::max(bytes, kCopyBytes);
    for (uint32_t i = 0; i < to.size(); ++i) {
      if (i >= 8 && i < 8 + bytes) {
        ASSERT_EQ(to[i], from[i - 8]) << "byte " << i - 8 << " of " << bytes;
      } else if (i < 8 || i >= 8 + end) {
        ASSERT_EQ(to[i], 0) << "byte " << i << " beside " << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace suede
