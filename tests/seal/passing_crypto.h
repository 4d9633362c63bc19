// SPDX-License-Identifier: Apache-2.0
// A library of ciphers that has another one do everything, for those that look at a part of it.
#ifndef SUEDE_TESTS_SEAL_PASSING_CRYPTO_H_
#define SUEDE_TESTS_SEAL_PASSING_CRYPTO_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "seal/crypto.h"

namespace suede {

class PassingCrypto : public Crypto {
 public:
  // Outlives this.
  explicit PassingCrypto(Crypto& library) : library_(library) {}

  std::string_view name() const override { return library_.name(); }
  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override {
    return library_.NewKey(cipher, key);
  }
  void EndKey(void* key) override { library_.EndKey(key); }
  void Seal(std::span<SealJob> jobs) override { library_.Seal(jobs); }
  void Open(std::span<SealJob> jobs) override { library_.Open(jobs); }
  void Extract(std::string_view salt, std::span<const uint8_t> secret,
               std::span<uint8_t, 32> out) override {
    library_.Extract(salt, secret, out);
  }
  void Expand(std::span<const uint8_t, 32> prk, std::span<const uint8_t> info,
              std::span<uint8_t> out) override {
    library_.Expand(prk, info, out);
  }

 private:
  Crypto& library_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SEAL_PASSING_CRYPTO_H_
