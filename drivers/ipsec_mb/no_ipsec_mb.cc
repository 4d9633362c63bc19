// SPDX-License-Identifier: Apache-2.0
// Replaces ipsec_mb_crypto.cc if the library is missing, which exists for x86-64 only.
#include "ipsec_mb/ipsec_mb_crypto.h"

namespace suede {

absl::StatusOr<std::unique_ptr<Crypto>> OpenIpsecMbCrypto(uint32_t, std::unique_ptr<Crypto>) {
  return absl::UnavailableError(
      "ipsec_mb: this program was built without it; set sealing.device to openssl");
}

}  // namespace suede
