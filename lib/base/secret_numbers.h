// SPDX-License-Identifier: Apache-2.0
// Numbers that only a holder of the key can predict: identities, nonces, first PSNs
// (docs/control-pdus.md). SipHash-2-4 of a counter: some of the numbers, which a peer knows, reveal
// nothing about the others. The same key gives the same numbers, for the simulator.
#ifndef SUEDE_BASE_SECRET_NUMBERS_H_
#define SUEDE_BASE_SECRET_NUMBERS_H_

#include <array>
#include <bit>
#include <cstdint>

namespace suede {

using SecretKey = std::array<uint64_t, 2>;

// SipHash-2-4 (Aumasson, Bernstein 2012) of the eight bytes of `word`, least significant first.
inline uint64_t SipHash(const SecretKey& key, uint64_t word) {
  uint64_t v0 = key[0] ^ 0x736f6d6570736575u;
  uint64_t v1 = key[1] ^ 0x646f72616e646f6du;
  uint64_t v2 = key[0] ^ 0x6c7967656e657261u;
  uint64_t v3 = key[1] ^ 0x7465646279746573u;
  const auto rounds = [&](int count) {
    for (; count != 0; --count) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };
  const uint64_t length = uint64_t{8} << 56;
  for (const uint64_t block : {word, length}) {
    v3 ^= block;
    rounds(2);
    v0 ^= block;
  }
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

class SecretNumbers {
 public:
  explicit SecretNumbers(const SecretKey& key) : key_(key) {}
  // Returns the next number; never 0.
  uint64_t Next() {
    for (;;) {
      if (const uint64_t number = SipHash(key_, count_++); number != 0) return number;
    }
  }

 private:
  SecretKey key_;
  uint64_t count_ = 0;
};

}  // namespace suede

#endif  // SUEDE_BASE_SECRET_NUMBERS_H_
