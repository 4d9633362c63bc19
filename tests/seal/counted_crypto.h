// SPDX-License-Identifier: Apache-2.0
// A library of ciphers that counts what is slow: the keys that are derived and made.
#ifndef SUEDE_TESTS_SEAL_COUNTED_CRYPTO_H_
#define SUEDE_TESTS_SEAL_COUNTED_CRYPTO_H_

#include <cstdint>
#include <span>
#include <utility>

#include "passing_crypto.h"

namespace suede {

class CountedCrypto final : public PassingCrypto {
 public:
  using PassingCrypto::PassingCrypto;

  // Since the last call.
  uint32_t TakeKeys() { return std::exchange(keys_, 0); }
  uint32_t TakeEnded() { return std::exchange(ended_, 0); }

  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override {
    ++keys_;
    return PassingCrypto::NewKey(cipher, key);
  }
  void EndKey(void* key) override {
    ++ended_;
    PassingCrypto::EndKey(key);
  }

 private:
  uint32_t keys_ = 0;
  uint32_t ended_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SEAL_COUNTED_CRYPTO_H_
