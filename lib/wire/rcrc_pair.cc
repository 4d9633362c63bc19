// SPDX-License-Identifier: Apache-2.0
// CRC-32 as in rcrc_fold.cc, by carry-less multiplication of two blocks of 16 bytes at once. The
// remainder of the length modulo 128 comes first and is processed with 128-bit vectors; its CRC
// replaces the initial ones of the rest.
#include <immintrin.h>

#include "wire/rcrc.h"

// GCC warns about the undefined halves of its own intrinsics (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace suede {
namespace {

#define SUEDE_PAIRS [[gnu::target("avx2,vpclmulqdq,pclmul")]]

constexpr size_t kVector = 32;
constexpr size_t kStep = 4 * kVector;
// Below this, the 128-bit function is faster.
constexpr size_t kMinBytes = 2 * kStep;

// x^n modulo the polynomial for the folding distance, as in rcrc_fold.cc.
SUEDE_PAIRS inline __m256i Both(uint64_t low, uint64_t high) {
  return _mm256_broadcastsi128_si256(
      _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low)));
}
SUEDE_PAIRS inline __m256i Over128Bytes() { return Both(0x1e88ef372, 0x14a7fe880); }
SUEDE_PAIRS inline __m256i Over64Bytes() { return Both(0x154442bd4, 0x1c6e41596); }
SUEDE_PAIRS inline __m256i Over32Bytes() { return Both(0xf1da05aa, 0x15a546366); }

SUEDE_PAIRS inline __m256i Load(const uint8_t* data) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}
SUEDE_PAIRS inline __m256i Fold(__m256i blocks, __m256i over, __m256i next) {
  return _mm256_xor_si256(_mm256_xor_si256(_mm256_clmulepi64_epi128(blocks, over, 0x00),
                                           _mm256_clmulepi64_epi128(blocks, over, 0x11)),
                          next);
}

SUEDE_PAIRS inline uint32_t Reduce(__m256i blocks) {
  const __m128i over_16 = _mm_set_epi64x(0xccaa009e, 0x1751997d0);
  const __m128i first = _mm256_castsi256_si128(blocks);
  const __m128i block = _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(first, over_16, 0x00),
                                                    _mm_clmulepi64_si128(first, over_16, 0x11)),
                                      _mm256_extracti128_si256(blocks, 1));
  const __m128i product =
      _mm_xor_si128(_mm_srli_si128(block, 8), _mm_clmulepi64_si128(block, over_16, 0x10));
  const __m128i barrett = _mm_set_epi64x(0x1db710640, static_cast<int64_t>(0xb4e5b025f7011641));
  const __m128i quotient = _mm_clmulepi64_si128(product, barrett, 0x00);
  const __m128i multiple = _mm_clmulepi64_si128(quotient, barrett, 0x10);
  return ~static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(product, multiple), 2));
}

// Returns the CRC of a multiple of kStep bytes, with `ones` XORed into the first four.
SUEDE_PAIRS inline uint32_t Crc(const uint8_t* data, size_t bytes, uint32_t ones) {
  const __m256i begin = _mm256_castsi128_si256(_mm_cvtsi32_si128(static_cast<int>(ones)));
  __m256i a = _mm256_xor_si256(Load(data), _mm256_inserti128_si256(begin, _mm_setzero_si128(), 1));
  __m256i b = Load(data + kVector);
  __m256i c = Load(data + 2 * kVector);
  __m256i d = Load(data + 3 * kVector);
  const uint8_t* const end = data + bytes;
  for (data += kStep; data != end; data += kStep) {
    a = Fold(a, Over128Bytes(), Load(data));
    b = Fold(b, Over128Bytes(), Load(data + kVector));
    c = Fold(c, Over128Bytes(), Load(data + 2 * kVector));
    d = Fold(d, Over128Bytes(), Load(data + 3 * kVector));
  }
  c = Fold(a, Over64Bytes(), c);
  d = Fold(b, Over64Bytes(), d);
  return Reduce(Fold(c, Over32Bytes(), d));
}

}  // namespace

SUEDE_PAIRS uint32_t PairedCrc(const uint8_t* data, size_t bytes) {
  if (bytes < kMinBytes) return FoldedCrc(data, bytes);
  const size_t front = bytes % kStep;
  // The CRC of no data is 0.
  return Crc(data + front, bytes - front, ~FoldedCrc(data, front));
}

SUEDE_PAIRS void PairedCrcs(RcrcSpan* spans, size_t count) {
  for (size_t i = 0; i < count; ++i) spans[i].crc = PairedCrc(spans[i].data, spans[i].bytes);
}

bool HasPairedCrc() {
  __builtin_cpu_init();
  return HasFoldedCrc() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
}

}  // namespace suede
