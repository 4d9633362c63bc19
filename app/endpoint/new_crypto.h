// SPDX-License-Identifier: Apache-2.0
// The crypto library with which an lcore seals.
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
  // With "auto": why the first choice does not work here, and the mend. Empty if it works.
  std::string passed_over;
};

// Opens a crypto library. `preference`: the value of sealing.device: ipsec_mb, aesni_gcm, aesni_mb,
// openssl, or auto, which is ipsec_mb if it works, else openssl. `keys`: max concurrent keys of the
// lcore, 1 to 1048576, limited by locked memory. Control thread, while EAL runs; the Crypto must be
// destroyed before StopEal.
absl::StatusOr<ChosenCrypto> NewCrypto(std::string_view preference, uint32_t keys);

}  // namespace suede

#endif  // SUEDE_ENDPOINT_NEW_CRYPTO_H_
