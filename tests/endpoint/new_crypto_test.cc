// SPDX-License-Identifier: Apache-2.0
// The choice of the library of ciphers.
#include "endpoint/new_crypto.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "crypto_checks.h"
#include "dpdk/eal.h"

namespace suede {
namespace {

// Keys that the test's 64 MB do not hold.
constexpr uint32_t kTooManyKeys = 1 << 20;

TEST(NewCrypto, OpensslWorksEverywhere) {
  const auto chosen = NewCrypto("openssl", 10);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->crypto->name(), "openssl");
  EXPECT_EQ(chosen->passed_over, "");
  CheckGcmVectors(*chosen->crypto);
}

TEST(NewCrypto, AutoTakesTheFirstThatWorks) {
  const auto chosen = NewCrypto("auto", 10);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  if (chosen->passed_over.empty()) {
    EXPECT_EQ(chosen->crypto->name(), "ipsec_mb");
  } else {
    EXPECT_EQ(chosen->crypto->name(), "openssl");
    EXPECT_FALSE(NewCrypto("ipsec_mb", 10).ok());
  }
  CheckGcmVectors(*chosen->crypto);
  CheckHkdfVectors(*chosen->crypto);
}

TEST(NewCrypto, AutoPassesOverWhatDoesNotWorkAndSaysWhy) {
  EXPECT_FALSE(NewCrypto("aesni_gcm", kTooManyKeys).ok());
  const auto device = NewCrypto("ipsec_mb", kTooManyKeys);
  ASSERT_FALSE(device.ok());
  const auto chosen = NewCrypto("auto", kTooManyKeys);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->crypto->name(), "openssl");
  EXPECT_EQ(chosen->passed_over, device.status().message());
  EXPECT_NE(chosen->passed_over.find("ipsec_mb"), std::string::npos);
  CheckHkdfVectors(*chosen->crypto);
}

TEST(NewCrypto, ADeviceThatIsNamedIsTakenOrRefused) {
  for (const std::string_view name : {"ipsec_mb", "aesni_gcm", "aesni_mb"}) {
    const auto chosen = NewCrypto(name, 10);
    if (chosen.ok()) {
      EXPECT_EQ(chosen->crypto->name(), name);
      CheckGcmVectors(*chosen->crypto);
    } else {
      EXPECT_TRUE(absl::IsUnavailable(chosen.status())) << chosen.status();
    }
  }
}

TEST(NewCrypto, WrongArguments) {
  EXPECT_EQ(NewCrypto("none", 10).status().message(),
            "sealing.device: 'none': must be auto, ipsec_mb, aesni_gcm, aesni_mb or openssl");
  if (NewCrypto("ipsec_mb", 1).ok()) {
    EXPECT_TRUE(absl::IsInvalidArgument(NewCrypto("auto", 0).status()));
  }
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  suede::EalOptions options;
  options.file_prefix = absl::StrCat("suede_new_crypto_test_", getpid());
  options.no_huge = true;
  options.memory_mb = 64;
  options.log = [](suede::EalLogLevel, std::string_view) {};
  if (const absl::Status status = suede::StartEal(options); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  return suede::StopEal() ? result : 1;
}
