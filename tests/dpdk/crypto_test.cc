// SPDX-License-Identifier: Apache-2.0
// DPDK's crypto devices as ciphers of sealing.
#include "dpdk/crypto.h"

#include <gtest/gtest.h>
#include <rte_mempool.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crypto_checks.h"
#include "dpdk/eal.h"
#include "memory_flags.h"
#include "openssl/openssl_crypto.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

constexpr char kMissing[] = "DPDK has no driver ";

class CryptoDeviceTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Crypto>> crypto = Open(200);
    if (!crypto.ok() && crypto.status().message().find(kMissing) == 0) {
      GTEST_SKIP() << crypto.status();
    }
    ASSERT_TRUE(crypto.ok()) << crypto.status();
    crypto_ = *std::move(crypto);
  }
  static absl::StatusOr<std::unique_ptr<Crypto>> Open(uint32_t keys) {
    return OpenCryptoDevice({.driver = GetParam(), .keys = keys}, NewOpensslCrypto());
  }
  std::unique_ptr<Crypto> crypto_;
};

TEST_P(CryptoDeviceTest, Name) { EXPECT_EQ("crypto_" + std::string(crypto_->name()), GetParam()); }
TEST_P(CryptoDeviceTest, GcmVectors) { CheckGcmVectors(*crypto_); }
TEST_P(CryptoDeviceTest, HkdfVectors) { CheckHkdfVectors(*crypto_); }
TEST_P(CryptoDeviceTest, Bursts) { CheckBursts(*crypto_); }
TEST_P(CryptoDeviceTest, FlippedBits) { CheckFlippedBits(*crypto_); }
TEST_P(CryptoDeviceTest, SealingFromElsewhere) { CheckSealingFromElsewhere(*crypto_); }
TEST_P(CryptoDeviceTest, Keys) { CheckKeys(*crypto_, 200); }

TEST_P(CryptoDeviceTest, KeysHaveABound) {
  absl::StatusOr<std::unique_ptr<Crypto>> small = Open(3);
  ASSERT_TRUE(small.ok()) << small.status();
  std::vector<void*> keys;
  for (int i = 0; i < 3; ++i) {
    keys.push_back((*small)->NewKey(SealCipher::kAes128Gcm, Bytes(16)));
    EXPECT_NE(keys.back(), nullptr);
  }
  EXPECT_EQ((*small)->NewKey(SealCipher::kAes128Gcm, Bytes(16)), nullptr);
  // The keys that are there take frames of every kind, for which they need other sessions.
  for (const size_t aad_bytes : {18, 26, 18}) {
    for (void* key : keys) {
      Bytes text(40, 5);
      SealJob job = JobOf(key, Bytes(kSealIvBytes), Bytes(aad_bytes), text);
      (*small)->Seal({&job, 1});
      (*small)->Open({&job, 1});
      EXPECT_TRUE(job.good);
    }
  }
  (*small)->EndKey(keys.back());
  keys.back() = (*small)->NewKey(SealCipher::kAes256Gcm, Bytes(32));
  EXPECT_NE(keys.back(), nullptr);
  for (void* key : keys) (*small)->EndKey(key);
}

TEST_P(CryptoDeviceTest, AgreesWithOpenssl) { CheckAgreement(*crypto_, *NewOpensslCrypto()); }

struct Search {
  const Bytes* key;
  int found = 0;
  const void* place = nullptr;
};

void LookForKey(rte_mempool* pool, void* search, void* object, unsigned) {
  auto* const state = static_cast<Search*>(search);
  const auto* bytes = static_cast<const uint8_t*>(object);
  const auto* end = bytes + pool->elt_size;
  const auto* const place = std::search(bytes, end, state->key->begin(), state->key->end());
  if (place == end) return;
  ++state->found;
  state->place = place;
}

void LookInPool(rte_mempool* pool, void* search) { rte_mempool_obj_iter(pool, LookForKey, search); }

// The first round key of AES-128 is the key itself, so that it can be looked for in the device's
// sessions.
TEST_P(CryptoDeviceTest, AKeyIsLockedAndNeverDumpedAndThenOverwritten) {
  const Bytes key = FromHex("d1c27a9340b85ef6712d0c9be4a83f56");
  const size_t before = LockedMemory::OfProcess().used_bytes();
  void* const handle = crypto_->NewKey(SealCipher::kAes128Gcm, key);
  Search search{.key = &key};
  rte_mempool_walk(LookInPool, &search);
  ASSERT_EQ(search.found, 1) << "else this test cannot see it";
  const std::string flags = MemoryFlags(search.place);
  EXPECT_NE(flags.find(" lo "), std::string::npos) << flags;
  EXPECT_NE(flags.find(" dd "), std::string::npos) << flags;
  crypto_->EndKey(handle);
  search.found = 0;
  rte_mempool_walk(LookInPool, &search);
  EXPECT_EQ(search.found, 0);
  EXPECT_EQ(LockedMemory::OfProcess().used_bytes(), before);
}

TEST_P(CryptoDeviceTest, WrongNumbersOfKeysAreRefused) {
  EXPECT_EQ(Open(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Open(1U << 21).status().code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Drivers, CryptoDeviceTest,
                         testing::Values("crypto_aesni_gcm", "crypto_aesni_mb"),
                         [](const auto& each) { return std::string(each.param); });

// The number in the name of the library of DPDK that this process has loaded.
std::string LoadedAbi() {
  std::ifstream maps("/proc/self/maps");
  const std::string library = "/librte_eal.so.";
  for (std::string line; std::getline(maps, line);) {
    const size_t found = line.find(library);
    if (found == std::string::npos) continue;
    const std::string version = line.substr(found + library.size());
    return version.substr(0, version.find('.'));
  }
  return "";
}

TEST(CryptoDevice, ADriverThatIsNotThereIsNamedWithItsPackage) {
  const auto crypto = OpenCryptoDevice({.driver = "crypto_nothing"}, NewOpensslCrypto());
  EXPECT_EQ(crypto.status().message(),
            "DPDK has no driver crypto_nothing here: apt-get install librte-crypto-ipsec-mb" +
                LoadedAbi() + ", or set sealing.device to openssl");
}

TEST(CryptoDevice, ADeviceThatComputesElsewhereIsRefused) {
  const auto crypto = OpenCryptoDevice({.driver = "crypto_null"}, NewOpensslCrypto());
  if (crypto.status().message().find(kMissing) == 0) GTEST_SKIP() << crypto.status();
  EXPECT_EQ(
      crypto.status().message(),
      "the crypto device crypto_null0 does not compute on the calling lcore: set sealing.device to "
      "aesni_gcm, aesni_mb or openssl");
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  suede::EalOptions options;
  options.file_prefix = "suede_crypto_test_" + std::to_string(getpid());
  options.no_huge = true;
  options.log = [](suede::EalLogLevel, std::string_view) {};
  if (const absl::Status status = suede::StartEal(options); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  const int failed = RUN_ALL_TESTS();
  return suede::StopEal() ? failed : 1;
}
