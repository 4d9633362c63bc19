// SPDX-License-Identifier: Apache-2.0
// A library of ciphers that counts what is slow: the keys that are derived and made.
#ifndef SUEDE_TESTS_SEAL_COUNTED_CRYPTO_H_
#define SUEDE_TESTS_SEAL_COUNTED_CRYPTO_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "seal/crypto.h"

namespace suede {

class CountedCrypto final : public Crypto {
 public:
  // Outlives this.
  explicit CountedCrypto(Crypto& library) : library_(library) {}

  // Since the last call.
  uint32_t TakeKeys() { return std::exchange(keys_, 0); }
  uint32_t TakeEnded() { return std::exchange(ended_, 0); }

  std::string_view name() const override { return library_.name(); }
  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override {
    ++keys_;
    return library_.NewKey(cipher, key);
  }
  void EndKey(void* key) override {
    ++ended_;
    library_.EndKey(key);
  }
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
  uint32_t keys_ = 0;
  uint32_t ended_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SEAL_COUNTED_CRYPTO_H_
