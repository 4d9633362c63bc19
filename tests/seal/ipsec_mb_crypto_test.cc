// SPDX-License-Identifier: Apache-2.0
#include "ipsec_mb/ipsec_mb_crypto.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "crypto_checks.h"
#include "openssl/openssl_crypto.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

absl::StatusOr<std::unique_ptr<Crypto>> Open(uint32_t keys) {
  return OpenIpsecMbCrypto(keys, NewOpensslCrypto());
}

class IpsecMbCryptoTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Crypto>> crypto = Open(200);
    if (absl::IsUnavailable(crypto.status())) GTEST_SKIP() << crypto.status();
    ASSERT_TRUE(crypto.ok()) << crypto.status();
    crypto_ = *std::move(crypto);
  }
  std::unique_ptr<Crypto> crypto_;
};

TEST_F(IpsecMbCryptoTest, GcmVectors) { CheckGcmVectors(*crypto_); }
TEST_F(IpsecMbCryptoTest, HkdfVectors) { CheckHkdfVectors(*crypto_); }
TEST_F(IpsecMbCryptoTest, Bursts) { CheckBursts(*crypto_); }
TEST_F(IpsecMbCryptoTest, FlippedBits) { CheckFlippedBits(*crypto_); }
TEST_F(IpsecMbCryptoTest, SealingFromElsewhere) { CheckSealingFromElsewhere(*crypto_); }
TEST_F(IpsecMbCryptoTest, Keys) { CheckKeys(*crypto_, 200); }

TEST_F(IpsecMbCryptoTest, KeysHaveABound) {
  const auto small = Open(2);
  ASSERT_TRUE(small.ok()) << small.status();
  std::vector<void*> keys;
  for (int i = 0; i < 2; ++i) {
    keys.push_back((*small)->NewKey(SealCipher::kAes128Gcm, Bytes(16)));
    EXPECT_NE(keys.back(), nullptr);
  }
  EXPECT_EQ((*small)->NewKey(SealCipher::kAes128Gcm, Bytes(16)), nullptr);
  EXPECT_EQ((*small)->NewKey(SealCipher::kAes256Gcm, Bytes(16)), nullptr) << "a wrong length";
  for (void* key : keys) (*small)->EndKey(key);
  EXPECT_TRUE(absl::IsInvalidArgument(Open(0).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(Open(1u << 20).status()));
}

TEST_F(IpsecMbCryptoTest, AllOfAKeyLiesInLockedMemory) {
  LockedMemory& memory = LockedMemory::OfProcess();
  const size_t before = memory.used_bytes();
  void* const key = crypto_->NewKey(SealCipher::kAes256Gcm, Bytes(32, 0x77));
  ASSERT_NE(key, nullptr);
  EXPECT_TRUE(memory.Holds(key));
  const size_t with_key = memory.used_bytes();
  EXPECT_GE(with_key, before + 240);
  Bytes text(64);
  SealJob job = JobOf(key, Bytes(kSealIvBytes), Bytes(18), text);
  crypto_->Seal({&job, 1});
  crypto_->Open({&job, 1});
  EXPECT_EQ(memory.used_bytes(), with_key) << "a frame takes none";
  crypto_->EndKey(key);
  EXPECT_EQ(memory.used_bytes(), before);
}

TEST_F(IpsecMbCryptoTest, LcoresHaveTheirOwn) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      const auto crypto = Open(50);
      ASSERT_TRUE(crypto.ok());
      CheckKeys(**crypto, 50);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(IpsecMbCryptoTest, AgreesWithOpenssl) { CheckAgreement(*crypto_, *NewOpensslCrypto()); }

}  // namespace
}  // namespace suede
