// SPDX-License-Identifier: Apache-2.0
// The shim of both forms (docs/sealing.md, "The frame"): as it is written, and what is malformed.
#include "seal/shim.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace suede {
namespace {

constexpr uint32_t kBehindShim = kRcrcBytes + kSealTagBytes;

using ShimBytes = std::array<uint8_t, kHelloShimBytes>;

ShimBytes Encoded(const SealShim& shim) {
  ShimBytes bytes{};
  EncodeShim(shim, bytes.data());
  return bytes;
}

std::optional<SealShim> Decoded(const ShimBytes& bytes, uint32_t count = kHelloShimBytes) {
  return DecodeShim(bytes.data(), count + kBehindShim);
}

TEST(SealShim, OfASession) {
  const ShimBytes bytes = Encoded(
      {.secret_id = 0x85, .number = PacketNumber(63, 0x1122334455667), .epoch = 6, .echo = 5});
  EXPECT_EQ(bytes, (ShimBytes{0x09, 0x85, 63, 0x01, 0x12, 0x23, 0x34, 0x45, 0x56, 0x67}));
  const auto shim = Decoded(bytes, kSessionShimBytes);
  ASSERT_TRUE(shim.has_value());
  EXPECT_FALSE(shim->hello);
  EXPECT_EQ(shim->secret_id, 0x85);
  EXPECT_EQ(shim->epoch, 2);
  EXPECT_EQ(shim->echo, 1);
  EXPECT_EQ(shim->number.stream(), 63u);
  EXPECT_EQ(shim->number.count(), 0x1122334455667u);
}

TEST(SealShim, OfAHello) {
  const ShimBytes bytes = Encoded({.hello = true,
                                   .secret_id = 7,
                                   .number = PacketNumber(0, 0x0102),
                                   .cipher = 2,
                                   .identity = 0x1122334455667788});
  EXPECT_EQ(bytes, (ShimBytes{0x82, 7, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0, 0, 0,
                              0, 0, 0x01, 0x02}));
  const auto shim = Decoded(bytes);
  ASSERT_TRUE(shim.has_value());
  EXPECT_TRUE(shim->hello);
  EXPECT_EQ(shim->cipher, 2);
  EXPECT_EQ(shim->identity, 0x1122334455667788u);
  EXPECT_EQ(shim->number.value(), 0x0102u);
}

// The encrypted part has the R-CRC at least, and the tag is behind it.
TEST(SealShim, IsNotReadBeyondItsEnd) {
  const ShimBytes session = Encoded({.number = PacketNumber(1, 2)});
  EXPECT_TRUE(Decoded(session, kSessionShimBytes).has_value());
  EXPECT_FALSE(Decoded(session, kSessionShimBytes - 1).has_value());
  const ShimBytes hello = Encoded({.hello = true, .cipher = 1, .identity = 1});
  EXPECT_TRUE(Decoded(hello).has_value());
  for (uint32_t count = 0; count < kHelloShimBytes; ++count) {
    EXPECT_FALSE(Decoded(hello, count).has_value()) << count;
  }
}

TEST(SealShim, BitsThatAreZeroAreChecked) {
  for (const bool hello : {false, true}) {
    const ShimBytes good = Encoded({.hello = hello, .cipher = 1, .identity = 1});
    for (const int bit : {4, 5, 6}) {
      ShimBytes wrong = good;
      wrong[0] |= static_cast<uint8_t>(1 << bit);
      EXPECT_FALSE(Decoded(wrong).has_value()) << hello << " " << bit;
    }
  }
}

TEST(SealShim, HasAStreamThatThereIs) {
  EXPECT_FALSE(Decoded(Encoded({.number = PacketNumber(64, 0)})).has_value());
  EXPECT_FALSE(
      Decoded(Encoded({.hello = true, .number = PacketNumber(1, 0), .cipher = 1, .identity = 1}))
          .has_value());
  EXPECT_FALSE(Decoded(Encoded({.hello = true, .cipher = 1, .identity = 0})).has_value());
}

}  // namespace
}  // namespace suede
