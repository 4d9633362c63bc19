// SPDX-License-Identifier: Apache-2.0
#include "openssl/openssl_crypto.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "crypto_checks.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

class OpensslCryptoTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Crypto>> crypto = OpenOpensslCrypto();
    ASSERT_TRUE(crypto.ok()) << crypto.status();
    crypto_ = *std::move(crypto);
  }
  std::unique_ptr<Crypto> crypto_;
};

TEST_F(OpensslCryptoTest, GcmVectors) { CheckGcmVectors(*crypto_); }
TEST_F(OpensslCryptoTest, HkdfVectors) { CheckHkdfVectors(*crypto_); }
TEST_F(OpensslCryptoTest, Bursts) { CheckBursts(*crypto_); }
TEST_F(OpensslCryptoTest, FlippedBits) { CheckFlippedBits(*crypto_); }
TEST_F(OpensslCryptoTest, SealingFromElsewhere) { CheckSealingFromElsewhere(*crypto_); }
TEST_F(OpensslCryptoTest, Keys) { CheckKeys(*crypto_, 200); }

// Everything that OpenSSL makes of a key is in locked memory, and is given back.
TEST_F(OpensslCryptoTest, KeysLieInLockedMemory) {
  LockedMemory& memory = LockedMemory::OfProcess();
  const size_t before = memory.used_bytes();
  const Bytes bytes(32, 0x77);
  void* const key = crypto_->NewKey(SealCipher::kAes256Gcm, bytes);
  ASSERT_NE(key, nullptr);
  EXPECT_TRUE(memory.Holds(key));
  // A schedule of AES-256 alone has 240 bytes.
  EXPECT_GE(memory.used_bytes(), before + 240);
  Bytes text(64);
  SealJob job = JobOf(key, Bytes(kSealIvBytes), Bytes(18), text);
  const size_t with_key = memory.used_bytes();
  crypto_->Seal({&job, 1});
  crypto_->Open({&job, 1});
  text[3] ^= 1;
  crypto_->Open({&job, 1});
  EXPECT_EQ(memory.used_bytes(), with_key) << "a frame takes none";
  crypto_->EndKey(key);
  EXPECT_EQ(memory.used_bytes(), before);
  const size_t before_hash = memory.used_bytes();
  std::array<uint8_t, 32> prk;
  crypto_->Extract("salt", bytes, prk);
  Bytes out(100);
  for (int i = 0; i < 10; ++i) crypto_->Expand(prk, bytes, out);
  EXPECT_EQ(memory.used_bytes(), before_hash);
}

TEST_F(OpensslCryptoTest, ItsEndGivesAllBack) {
  LockedMemory& memory = LockedMemory::OfProcess();
  const size_t before = memory.used_bytes();
  for (int i = 0; i < 5; ++i) {
    const std::unique_ptr<Crypto> another = NewOpensslCrypto();
    EXPECT_GT(memory.used_bytes(), before);
  }
  EXPECT_EQ(memory.used_bytes(), before);
}

TEST_F(OpensslCryptoTest, LcoresHaveTheirOwn) {
  const size_t before = LockedMemory::OfProcess().used_bytes();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      const std::unique_ptr<Crypto> crypto = NewOpensslCrypto();
      ASSERT_NE(crypto, nullptr);
      CheckKeys(*crypto, 50);
      CheckHkdfVectors(*crypto);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(LockedMemory::OfProcess().used_bytes(), before);
}

}  // namespace
}  // namespace suede
