// SPDX-License-Identifier: Apache-2.0
// Ciphers by Intel's library ipsec-mb, called directly.
#ifndef SUEDE_IPSEC_MB_IPSEC_MB_CRYPTO_H_
#define SUEDE_IPSEC_MB_IPSEC_MB_CRYPTO_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "seal/crypto.h"

namespace suede {

// Returns a Crypto for one lcore, with up to `keys` concurrent keys; a process may have several.
// HKDF comes from `hashes`. Keys, with everything that the library derives from them, are kept in
// LockedMemory::OfProcess().
//
// Fails if the CPU lacks AES-NI or PCLMULQDQ, if this program was built without the library, if the
// locked memory cannot hold `keys` keys, and if the kernel locks no memory.
absl::StatusOr<std::unique_ptr<Crypto>> OpenIpsecMbCrypto(uint32_t keys,
                                                          std::unique_ptr<Crypto> hashes);

}  // namespace suede

#endif  // SUEDE_IPSEC_MB_IPSEC_MB_CRYPTO_H_
