// SPDX-License-Identifier: Apache-2.0
// The R-CRC by carry-less multiplication, and which function computes it.
#include "wire/rcrc.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <vector>

namespace suede {
namespace {

uint32_t ZlibOf(const std::vector<uint8_t>& bytes) {
  return static_cast<uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

struct Computed {
  const char* name;
  bool (*has)();
  uint32_t (*crc)(const uint8_t*, size_t);
  void (*crcs)(RcrcSpan*, size_t);
};

class CarrylessCrc : public ::testing::TestWithParam<Computed> {
 protected:
  void SetUp() override {
    if (!GetParam().has()) GTEST_SKIP() << "the CPU has no such carry-less multiplication";
  }
};

TEST_P(CarrylessCrc, EqualsTheCheckValue) {
  const auto* digits = reinterpret_cast<const uint8_t*>("123456789");
  EXPECT_EQ(GetParam().crc(digits, 9), 0xCBF43926u);
}

// A vector is exactly as long as its bytes, so a sanitizer sees each read beyond them.
TEST_P(CarrylessCrc, EqualsZlibsForEveryLength) {
  std::mt19937 random(7);
  for (size_t length = 0; length <= 5000; length += length < 1100 ? 1 : 13) {
    std::vector<uint8_t> bytes(length);
    for (int round = 0; round < 3; ++round) {
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      ASSERT_EQ(GetParam().crc(bytes.data(), length), ZlibOf(bytes)) << length;
    }
    const std::vector<uint8_t> zeros(length);
    ASSERT_EQ(GetParam().crc(zeros.data(), length), ZlibOf(zeros)) << length;
  }
}

TEST_P(CarrylessCrc, EqualsZlibsAtEveryAlignment) {
  std::mt19937 random(11);
  std::vector<uint8_t> bytes(5000 + 64);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t offset = 0; offset < 64; ++offset) {
    for (int round = 0; round < 200; ++round) {
      const size_t length = random() % (round < 100 ? 300 : 5000);
      const uint8_t* data = bytes.data() + offset;
      ASSERT_EQ(GetParam().crc(data, length), crc32_z(0, data, length)) << offset << " " << length;
    }
  }
}

TEST_P(CarrylessCrc, ComputesManyAsOne) {
  std::mt19937 random(13);
  std::vector<uint8_t> bytes(5000);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t count = 0; count <= 70; ++count) {
    for (const size_t max : {20u, 130u, 5000u}) {
      std::vector<RcrcSpan> spans(count + 1, {.crc = 5});
      for (size_t i = 0; i < count; ++i) {
        spans[i].data = bytes.data() + random() % 64;
        spans[i].bytes = static_cast<uint32_t>(random() % std::min<size_t>(max, 4900));
      }
      GetParam().crcs(spans.data(), count);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(spans[i].crc, crc32_z(0, spans[i].data, spans[i].bytes)) << spans[i].bytes;
      }
      ASSERT_EQ(spans[count].crc, 5u);
    }
  }
}

TEST_P(CarrylessCrc, SeesEveryFlippedBit) {
  for (const size_t length : {8u, 12u, 16u, 80u, 200u, 700u}) {
    std::vector<uint8_t> bytes(length, 0x5a);
    const uint32_t good = GetParam().crc(bytes.data(), length);
    for (size_t bit = 0; bit < length * 8; ++bit) {
      bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
      ASSERT_NE(GetParam().crc(bytes.data(), length), good) << length << " " << bit;
      bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, CarrylessCrc,
                         ::testing::Values(Computed{"Folded", HasFoldedCrc, FoldedCrc, FoldedCrcs},
                                           Computed{"Paired", HasPairedCrc, PairedCrc, PairedCrcs},
                                           Computed{"Wide", HasWideCrc, WideCrc, WideCrcs}),
                         [](const auto& test) { return test.param.name; });

TEST(Rcrcs, TellGoodFromBad) {
  std::vector<uint8_t> pdus(3 * 84, 0x11);
  RcrcSpan spans[3];
  for (uint32_t i = 0; i < 3; ++i) {
    StoreRcrc(pdus.data() + 84 * i, 80);
    spans[i] = RcrcSpanOf(pdus.data() + 84 * i, 84);
  }
  pdus[84 + 3] ^= 1;
  Rcrcs(spans, 3);
  EXPECT_TRUE(RcrcGood(spans[0]));
  EXPECT_FALSE(RcrcGood(spans[1]));
  EXPECT_TRUE(RcrcGood(spans[2]));
}

TEST(InstallRcrc, ComputesDataOfSoManyBytes) {
  const std::vector<uint8_t> bytes(64, 0x11);
  const uint32_t right = ZlibOf(bytes);
  EXPECT_EQ(Rcrc(bytes.data(), 64), right);
  InstallRcrc([](const uint8_t*, size_t) { return 5u; }, 64);
  EXPECT_EQ(Rcrc(bytes.data(), 64), 5u);
  EXPECT_EQ(Rcrc(bytes.data(), 63), ZlibOf(std::vector<uint8_t>(63, 0x11)));
  RcrcSpan spans[2] = {{.data = bytes.data(), .bytes = 64}, {.data = bytes.data(), .bytes = 63}};
  Rcrcs(spans, 2);
  EXPECT_EQ(spans[0].crc, 5u);
  EXPECT_EQ(spans[1].crc, ZlibOf(std::vector<uint8_t>(63, 0x11)));
  InstallRcrc(nullptr, SIZE_MAX);
  EXPECT_EQ(Rcrc(bytes.data(), 64), right);
}

}  // namespace
}  // namespace suede
