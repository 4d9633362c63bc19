// SPDX-License-Identifier: Apache-2.0
// The library of ciphers that an lcore seals with.
#ifndef SUEDE_ENDPOINT_NEW_CRYPTO_H_
#define SUEDE_ENDPOINT_NEW_CRYPTO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "seal/crypto.h"

namespace suede {

struct ChosenCrypto {
  std::unique_ptr<Crypto> crypto;
  // With "auto": why the first choice does not work here, and what would mend it. Empty if it does.
  std::string passed_over;
};

// `preference` is the value of sealing.device: ipsec_mb, aesni_gcm, aesni_mb, openssl, or auto,
// which takes ipsec_mb where it works, else openssl. `keys` is how many keys the lcore can hold at
// once, 1 to 1048576, or as many as have room in locked memory. Control thread, while EAL runs; the
// Crypto ends before StopEal.
absl::StatusOr<ChosenCrypto> NewCrypto(std::string_view preference, uint32_t keys);

}  // namespace suede

#endif  // SUEDE_ENDPOINT_NEW_CRYPTO_H_
