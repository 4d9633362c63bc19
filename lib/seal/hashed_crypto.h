// SPDX-License-Identifier: Apache-2.0
// A library with ciphers but without hashes: another library provides HKDF.
#ifndef SUEDE_SEAL_HASHED_CRYPTO_H_
#define SUEDE_SEAL_HASHED_CRYPTO_H_

#include <memory>
#include <utility>

#include "seal/crypto.h"

namespace suede {

class HashedCrypto : public Crypto {
 public:
  // `hashes` is not null.
  explicit HashedCrypto(std::unique_ptr<Crypto> hashes) : hashes_(std::move(hashes)) {}
  void Extract(std::string_view salt, std::span<const uint8_t> secret,
               std::span<uint8_t, 32> out) final {
    hashes_->Extract(salt, secret, out);
  }
  void Expand(std::span<const uint8_t, 32> prk, std::span<const uint8_t> info,
              std::span<uint8_t> out) final {
    hashes_->Expand(prk, info, out);
  }

 private:
  const std::unique_ptr<Crypto> hashes_;
};

}  // namespace suede

#endif  // SUEDE_SEAL_HASHED_CRYPTO_H_
