// SPDX-License-Identifier: Apache-2.0
// Pseudo-random numbers, reproducible from a seed on every machine (SplitMix64).
#ifndef SUEDE_FABRIC_RANDOM_H_
#define SUEDE_FABRIC_RANDOM_H_

#include <cstdint>

namespace suede::fabric {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  // 0 to end - 1; end is not 0.
  uint64_t Below(uint64_t end) { return Next() % end; }
  // Whether an event with a probability of `chance` of 2^32 occurs.
  bool Chance(uint32_t chance) { return chance != 0 && static_cast<uint32_t>(Next()) < chance; }

 private:
  uint64_t state_;
};

// The seed of one of many generators that share one seed.
inline uint64_t SeedOf(uint64_t seed, uint64_t generator) {
  return Random(Random(seed).Next() + generator).Next();
}

// Converts a probability, 0 to 1, for Random::Chance: 1 becomes 1 - 2^-32.
constexpr uint32_t ChanceOf(double probability) {
  return probability >= 1 ? UINT32_MAX : static_cast<uint32_t>(probability * 4294967296.0);
}

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_RANDOM_H_
