// SPDX-License-Identifier: Apache-2.0
// Checks that only the simulator can make, which abort on failure.
#ifndef SUEDE_SIM_CHECKS_H_
#define SUEDE_SIM_CHECKS_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace suede {

// Hashes by words for speed: each frame is hashed twice, and frames dominate a simulation's cost.
inline uint64_t Fingerprint(const uint8_t* data, uint32_t bytes) {
  uint64_t hash = bytes;
  while (bytes != 0) {
    const uint32_t step = std::min(bytes, 8u);
    uint64_t word = 0;
    std::memcpy(&word, data, step);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    data += step;
    bytes -= step;
  }
  return hash;
}

inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "sim: %s\n", what);
  std::abort();
}

}  // namespace suede

#endif  // SUEDE_SIM_CHECKS_H_
