// SPDX-License-Identifier: Apache-2.0
// Ciphers by OpenSSL's libcrypto.
#ifndef SUEDE_OPENSSL_OPENSSL_CRYPTO_H_
#define SUEDE_OPENSSL_OPENSSL_CRYPTO_H_

#include <memory>

#include "absl/status/statusor.h"
#include "seal/crypto.h"

namespace suede {

// One Crypto for an lcore; any number in a process. Keys, with all that OpenSSL derives from them,
// lie in LockedMemory::OfProcess(). Fails where that is impossible: the process has used OpenSSL
// before the program's static objects were made, or the kernel locks no memory.
absl::StatusOr<std::unique_ptr<Crypto>> OpenOpensslCrypto();

// The same; null where it fails.
std::unique_ptr<Crypto> NewOpensslCrypto();

}  // namespace suede

#endif  // SUEDE_OPENSSL_OPENSSL_CRYPTO_H_
