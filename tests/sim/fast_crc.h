// SPDX-License-Identifier: Apache-2.0
// Stands in for the R-CRC where throughput is measured: that would take most of the time and has
// nothing to find, as no byte is damaged there.
#ifndef SUEDE_TESTS_SIM_FAST_CRC_H_
#define SUEDE_TESTS_SIM_FAST_CRC_H_

#include <nmmintrin.h>

#include <cstdint>
#include <cstring>

#include "wire/rcrc.h"

namespace suede {

inline uint32_t FastCrc(const uint8_t* data, size_t bytes) {
  uint64_t crc = 0;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    uint64_t word;
    std::memcpy(&word, data, sizeof word);
    crc = _mm_crc32_u64(crc, word);
  }
  for (; bytes != 0; --bytes) crc = _mm_crc32_u8(static_cast<uint32_t>(crc), *data++);
  return static_cast<uint32_t>(crc);
}

inline void InstallFastCrc() { InstallRcrc(FastCrc); }

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_FAST_CRC_H_
