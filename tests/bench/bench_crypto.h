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
#include "ipsec_mb/ipsec_mb_crypto.h"
#include "openssl/openssl_crypto.h"

namespace suede {

// "ipsec_mb", "openssl", or a crypto device: "aesni_gcm", "aesni_mb".
inline absl::StatusOr<std::unique_ptr<Crypto>> TryBenchCrypto(const std::string& library,
                                                              uint32_t keys) {
  if (library == "openssl") return OpenOpensslCrypto();
  if (library == "ipsec_mb") return OpenIpsecMbCrypto(keys, NewOpensslCrypto());
  return OpenCryptoDevice({.driver = "crypto_" + library, .keys = keys}, NewOpensslCrypto());
}

// The same. With another name, or where the library does not work here, the program ends with
// status 77, that of a test that is skipped.
inline std::unique_ptr<Crypto> OpenBenchCrypto(const std::string& library, uint32_t keys) {
  auto crypto = TryBenchCrypto(library, keys);
  if (crypto.ok()) return *std::move(crypto);
  std::fprintf(stderr, "%s\n", std::string(crypto.status().message()).c_str());
  std::exit(77);
}

}  // namespace suede

#endif  // SUEDE_TESTS_BENCH_BENCH_CRYPTO_H_
