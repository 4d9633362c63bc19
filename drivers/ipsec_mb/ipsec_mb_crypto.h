// SPDX-License-Identifier: Apache-2.0
// Ciphers by Intel's library ipsec-mb, called as it is.
#ifndef SUEDE_IPSEC_MB_IPSEC_MB_CRYPTO_H_
#define SUEDE_IPSEC_MB_IPSEC_MB_CRYPTO_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "seal/crypto.h"

namespace suede {

// One Crypto for an lcore, which can hold `keys` keys at once; any number in a process. HKDF is
// `hashes`'s. Keys, with all that the library makes of them, lie in LockedMemory::OfProcess().
//
// Fails where the CPU lacks AES-NI or PCLMULQDQ, where this program was built without the library,
// where `keys` keys have no room, and where the kernel locks no memory.
absl::StatusOr<std::unique_ptr<Crypto>> OpenIpsecMbCrypto(uint32_t keys,
                                                          std::unique_ptr<Crypto> hashes);

}  // namespace suede

#endif  // SUEDE_IPSEC_MB_IPSEC_MB_CRYPTO_H_
