// SPDX-License-Identifier: Apache-2.0
// Unaligned big-endian loads and stores.
#ifndef SUEDE_BASE_BIG_ENDIAN_H_
#define SUEDE_BASE_BIG_ENDIAN_H_

#include <bit>
#include <cstdint>
#include <cstring>

namespace suede {

static_assert(std::endian::native == std::endian::little, "suede targets little-endian hosts");

inline uint16_t LoadBe16(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}
inline uint32_t LoadBe32(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
inline uint64_t LoadBe64(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}
inline void StoreBe16(uint8_t* p, uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}
inline void StoreBe32(uint8_t* p, uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}
inline void StoreBe64(uint8_t* p, uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}

}  // namespace suede

#endif  // SUEDE_BASE_BIG_ENDIAN_H_
