// SPDX-License-Identifier: Apache-2.0
// The R-CRC by carry-less multiplication, and which function computes it.
#include "wire/rcrc.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <vector>

namespace suede {
namespace {

uint32_t ZlibOf(const std::vector<uint8_t>& bytes) {
  return static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

// A vector is exactly as long as its bytes, so a sanitizer sees each read beyond them.
TEST(FoldedCrc, EqualsZlibsForEveryLength) {
  if (!HasFoldedCrc()) GTEST_SKIP() << "the CPU has no carry-less multiplication";
  std::mt19937 random(7);
  for (size_t length = 0; length <= 4400; length += length < 700 ? 1 : 13) {
    for (int round = 0; round < 3; ++round) {
      std::vector<uint8_t> bytes(length);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      ASSERT_EQ(FoldedCrc(bytes.data(), length), ZlibOf(bytes)) << length;
    }
    const std::vector<uint8_t> zeros(length);
    ASSERT_EQ(FoldedCrc(zeros.data(), length), ZlibOf(zeros)) << length;
  }
}

TEST(FoldedCrc, SeesEveryFlippedBit) {
  if (!HasFoldedCrc()) GTEST_SKIP() << "the CPU has no carry-less multiplication";
  for (const size_t length : {8u, 12u, 16u, 80u, 200u}) {
    std::vector<uint8_t> bytes(length, 0x5a);
    const uint32_t good = FoldedCrc(bytes.data(), length);
    for (size_t bit = 0; bit < length * 8; ++bit) {
      bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
      ASSERT_NE(FoldedCrc(bytes.data(), length), good) << length << " " << bit;
      bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    }
  }
}

TEST(InstallRcrc, ComputesDataOfSoManyBytes) {
  const std::vector<uint8_t> bytes(64, 0x11);
  const uint32_t right = ZlibOf(bytes);
  EXPECT_EQ(Rcrc(bytes.data(), 64), right);
  InstallRcrc([](const uint8_t*, size_t) { return 5u; }, 64);
  EXPECT_EQ(Rcrc(bytes.data(), 64), 5u);
  EXPECT_EQ(Rcrc(bytes.data(), 63), ZlibOf(std::vector<uint8_t>(63, 0x11)));
  InstallRcrc(nullptr, SIZE_MAX);
  EXPECT_EQ(Rcrc(bytes.data(), 64), right);
}

}  // namespace
}  // namespace suede
