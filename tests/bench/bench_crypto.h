// SPDX-License-Identifier: Apache-2.0
// Libraries of ciphers of benchmarks, by the names of sealing.device.
#ifndef SUEDE_TESTS_BENCH_BENCH_CRYPTO_H_
#define SUEDE_TESTS_BENCH_BENCH_CRYPTO_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "dpdk/crypto.h"
#include "openssl/openssl_crypto.h"

namespace suede {

// "openssl", or a crypto device: "aesni_gcm", "aesni_mb". With another name, or where the device
// does not work here, the program ends with status 77, that of a test that is skipped.
inline std::unique_ptr<Crypto> OpenBenchCrypto(const std::string& library, uint32_t keys) {
  if (library == "openssl") return NewOpensslCrypto();
  auto crypto = OpenCryptoDevice({.driver = "crypto_" + library, .keys = keys}, NewOpensslCrypto());
  if (crypto.ok()) return *std::move(crypto);
  std::fprintf(stderr, "%s\n", std::string(crypto.status().message()).c_str());
  std::exit(77);
}

}  // namespace suede

#endif  // SUEDE_TESTS_BENCH_BENCH_CRYPTO_H_
