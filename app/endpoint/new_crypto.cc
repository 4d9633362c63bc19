// SPDX-License-Identifier: Apache-2.0
#include "endpoint/new_crypto.h"

#include <utility>

#include "base/text.h"
#include "dpdk/crypto.h"
#include "ipsec_mb/ipsec_mb_crypto.h"
#include "openssl/openssl_crypto.h"

namespace suede {

absl::StatusOr<ChosenCrypto> NewCrypto(std::string_view preference, uint32_t keys) {
  const bool is_auto = preference == "auto";
  const bool is_device = preference == "aesni_gcm" || preference == "aesni_mb";
  if (!is_auto && !is_device && preference != "ipsec_mb" && preference != "openssl") {
    return absl::InvalidArgumentError(
        StrCat("sealing.device: '", preference,
               "': must be auto, ipsec_mb, aesni_gcm, aesni_mb or openssl"));
  }
  // HKDF always comes from OpenSSL.
  absl::StatusOr<std::unique_ptr<Crypto>> openssl = OpenOpensslCrypto();
  if (!openssl.ok()) return openssl.status();
  if (preference == "openssl") return ChosenCrypto{.crypto = *std::move(openssl)};
  absl::StatusOr<std::unique_ptr<Crypto>> first =
      is_device ? OpenCryptoDevice({.driver = StrCat("crypto_", preference), .keys = keys},
                                   *std::move(openssl))
                : OpenIpsecMbCrypto(keys, *std::move(openssl));
  if (first.ok()) return ChosenCrypto{.crypto = *std::move(first)};
  // A wrong number of keys is not a property of the machine.
  if (!is_auto || absl::IsInvalidArgument(first.status())) return first.status();
  openssl = OpenOpensslCrypto();
  if (!openssl.ok()) return openssl.status();
  return ChosenCrypto{.crypto = *std::move(openssl),
                      .passed_over = std::string(first.status().message())};
}

}  // namespace suede
