// SPDX-License-Identifier: Apache-2.0
#include "memif/copy.h"

#include <cstring>

#include "base/copy.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace suede::memif {
namespace {

void CopyBy16(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  if (bytes < 64) {
    std::memcpy(to, from, bytes);
  } else {
    CopyLong(to, from, bytes);
  }
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void CopyBy32(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  if (bytes < 32) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto copy = [&](uint32_t at) __attribute__((target("avx2"), always_inline)) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
  };
  uint32_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    copy(at);
    copy(at + 32);
  }
  if (at + 32 <= bytes) copy(at);
  copy(bytes - 32);  // the rest, and some bytes twice
}

// Writes each line of an aligned destination at once.
[[gnu::target("avx512f,avx512bw")]] void CopyBy64(uint8_t* to, const uint8_t* from,
                                                  uint32_t bytes) {
  uint32_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    _mm512_storeu_si512(to + at, _mm512_loadu_si512(from + at));
  }
  if (at == bytes) return;
  const __mmask64 rest = (uint64_t{1} << (bytes - at)) - 1;
  _mm512_mask_storeu_epi8(to + at, rest, _mm512_maskz_loadu_epi8(rest, from + at));
}
#endif

}  // namespace

CopyBytes BestCopy() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512bw")) return CopyBy64;
  if (__builtin_cpu_supports("avx2")) return CopyBy32;
#endif
  return CopyBy16;
}

}  // namespace suede::memif
