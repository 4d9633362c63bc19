// SPDX-License-Identifier: Apache-2.0
// Ciphers by OpenSSL's libcrypto.
#ifndef SUEDE_OPENSSL_OPENSSL_CRYPTO_H_
#define SUEDE_OPENSSL_OPENSSL_CRYPTO_H_

#include <memory>

#include "absl/status/statusor.h"
#include "seal/crypto.h"

namespace suede {

// Returns a Crypto for one lcore; a process may have several. Keys, with everything that OpenSSL
// derives from them, are kept in LockedMemory::OfProcess(). Fails if OpenSSL was used before this
// program's static initialization, or if the kernel locks no memory.
absl::StatusOr<std::unique_ptr<Crypto>> OpenOpensslCrypto();

// Returns the same, or null on failure.
std::unique_ptr<Crypto> NewOpensslCrypto();

}  // namespace suede

#endif  // SUEDE_OPENSSL_OPENSSL_CRYPTO_H_
