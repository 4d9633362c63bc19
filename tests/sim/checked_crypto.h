// SPDX-License-Identifier: Apache-2.0
// A library of ciphers that aborts where a key seals with a nonce twice, whoever does so: hosts of
// a world share the record, and a key is known by its bytes.
#ifndef SUEDE_TESTS_SIM_CHECKED_CRYPTO_H_
#define SUEDE_TESTS_SIM_CHECKED_CRYPTO_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../seal/passing_crypto.h"

namespace suede {

// Nonces of all keys of a world that were used.
struct UsedNonces {
  using Nonce = std::array<uint8_t, kSealIvBytes>;
  std::map<std::string, std::set<Nonce>> by_key;
  uint64_t sealed = 0;
  uint64_t opened = 0;
  uint64_t refused = 0;
};

class CheckedCrypto final : public PassingCrypto {
 public:
  // Both outlive this.
  CheckedCrypto(Crypto& library, UsedNonces& used) : PassingCrypto(library), used_(used) {}

  void* NewKey(SealCipher cipher, std::span<const uint8_t> key) override;
  void EndKey(void* key) override;
  void Seal(std::span<SealJob> jobs) override;
  void Open(std::span<SealJob> jobs) override;

 private:
  struct Key {
    void* key;
    std::set<UsedNonces::Nonce>* used;
  };
  template <class Do>
  void With(std::span<SealJob> jobs, Do act);

  UsedNonces& used_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_CHECKED_CRYPTO_H_
