// SPDX-License-Identifier: Apache-2.0
#include "endpoint/new_crypto.h"

#include <utility>

#include "base/text.h"
#include "dpdk/crypto.h"
#include "openssl/openssl_crypto.h"

namespace suede {

absl::StatusOr<ChosenCrypto> NewCrypto(std::string_view preference, uint32_t keys) {
  const bool is_auto = preference == "auto";
  if (!is_auto && preference != "aesni_gcm" && preference != "aesni_mb" &&
      preference != "openssl") {
    return absl::InvalidArgumentError(
        StrCat("sealing.device: '", preference, "': must be auto, aesni_gcm, aesni_mb or openssl"));
  }
  // HKDF is OpenSSL's in any case.
  absl::StatusOr<std::unique_ptr<Crypto>> openssl = OpenOpensslCrypto();
  if (!openssl.ok()) return openssl.status();
  if (preference == "openssl") return ChosenCrypto{.crypto = *std::move(openssl)};
  const CryptoDeviceOptions options{.driver = StrCat("crypto_", is_auto ? "aesni_gcm" : preference),
                                    .keys = keys};
  absl::StatusOr<std::unique_ptr<Crypto>> device = OpenCryptoDevice(options, *std::move(openssl));
  if (device.ok()) return ChosenCrypto{.crypto = *std::move(device)};
  // A wrong number of keys is no matter of the machine's.
  if (!is_auto || absl::IsInvalidArgument(device.status())) return device.status();
  openssl = OpenOpensslCrypto();
  if (!openssl.ok()) return openssl.status();
  return ChosenCrypto{.crypto = *std::move(openssl),
                      .passed_over = std::string(device.status().message())};
}

}  // namespace suede
