// SPDX-License-Identifier: Apache-2.0
#include "base/secret_numbers.h"

#include <gtest/gtest.h>

#include <set>

namespace suede {
namespace {

// The key of the paper's test vectors; its message of eight bytes 00 … 07.
constexpr SecretKey kKey = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

TEST(SecretNumbers, SipHashAsPublished) {
  EXPECT_EQ(SipHash(kKey, 0x0706050403020100u), 0x93f5f5799a932462u);
}

TEST(SecretNumbers, SameKeySameNumbers) {
  SecretNumbers one(kKey);
  SecretNumbers two(kKey);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.Next(), two.Next());
}

TEST(SecretNumbers, NumbersAreNeitherZeroNorTheSame) {
  SecretNumbers one(kKey);
  SecretNumbers two({kKey[0], kKey[1] + 1});
  std::set<uint64_t> seen;
  for (int i = 0; i < 10000; ++i) {
    seen.insert(one.Next());
    seen.insert(two.Next());
  }
  EXPECT_EQ(seen.size(), 20000u);
  EXPECT_EQ(seen.count(0), 0u);
}

}  // namespace
}  // namespace suede
