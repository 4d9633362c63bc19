// SPDX-License-Identifier: Apache-2.0
// CRC-32 as in rcrc_fold.cc, by carry-less multiplication of four blocks of 16 bytes at once. Here
// too the remainder of the length modulo 64 comes first, behind zeros.
#include <immintrin.h>

// GCC warns about the undefined halves of its own intrinsics (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "wire/rcrc.h"

namespace suede {
namespace {

#define SUEDE_WIDE [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,vpclmulqdq,pclmul")]]

constexpr size_t kVector = 64;

// x^n modulo the polynomial for the folding distance, as in rcrc_fold.cc.
SUEDE_WIDE inline __m512i Everywhere(uint64_t low, uint64_t high) {
  return _mm512_broadcast_i32x4(
      _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low)));
}
SUEDE_WIDE inline __m512i Over256Bytes() { return Everywhere(0x11542778a, 0x1322d1430); }
SUEDE_WIDE inline __m512i Over192Bytes() { return Everywhere(0x1821d8bc0, 0x12e958ac4); }
SUEDE_WIDE inline __m512i Over128Bytes() { return Everywhere(0x1e88ef372, 0x14a7fe880); }
SUEDE_WIDE inline __m512i Over64Bytes() { return Everywhere(0x154442bd4, 0x1c6e41596); }
// Folds each of the first three blocks over the blocks behind it, onto the last.
alignas(kVector) constexpr uint64_t kOntoLast[8] = {
    0x3db1ecdc, 0x174359406, 0xf1da05aa, 0x15a546366, 0x1751997d0, 0xccaa009e, 0, 0};
// The polynomial, and the quotient of x^95 by it.
alignas(16) constexpr uint64_t kBarrett[2] = {0xb4e5b025f7011641, 0x1db710640};
// From index n on: the part of the four 0xff bytes that is in the first n bytes, right-aligned.
alignas(kVector) constexpr uint8_t kOnes[3 * kVector] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0,   0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0,   0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};

SUEDE_WIDE inline __m512i Load(const uint8_t* data) { return _mm512_loadu_si512(data); }
// Returns the XOR of three vectors.
SUEDE_WIDE inline __m512i Sum(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
SUEDE_WIDE inline __m512i Fold(__m512i block, __m512i over, __m512i next) {
  return Sum(_mm512_clmulepi64_epi128(block, over, 0x00),
             _mm512_clmulepi64_epi128(block, over, 0x11), next);
}

SUEDE_WIDE inline uint32_t Reduce(__m512i blocks) {
  const __m512i onto_last = _mm512_load_si512(kOntoLast);
  const __m512i folded = _mm512_xor_si512(_mm512_clmulepi64_epi128(blocks, onto_last, 0x00),
                                          _mm512_clmulepi64_epi128(blocks, onto_last, 0x11));
  const __m256i halves =
      _mm256_xor_si256(_mm512_castsi512_si256(folded), _mm512_extracti64x4_epi64(folded, 1));
  const __m128i last = _mm512_extracti32x4_epi32(blocks, 3);
  const __m128i block = _mm_ternarylogic_epi64(_mm256_castsi256_si128(halves),
                                               _mm256_extracti128_si256(halves, 1), last, 0x96);
  const __m128i over_8 = _mm_set_epi64x(0, 0xccaa009e);
  const __m128i product =
      _mm_xor_si128(_mm_srli_si128(block, 8), _mm_clmulepi64_si128(block, over_8, 0x00));
  const __m128i barrett = _mm_load_si128(reinterpret_cast<const __m128i*>(kBarrett));
  const __m128i quotient = _mm_clmulepi64_si128(product, barrett, 0x00);
  const __m128i multiple = _mm_clmulepi64_si128(quotient, barrett, 0x10);
  return ~static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(product, multiple), 2));
}

// Requires at least 4 bytes.
SUEDE_WIDE inline uint32_t Crc(const uint8_t* data, size_t bytes) {
  const size_t first = ((bytes - 1) & (kVector - 1)) + 1;
  // The mask excludes the bytes in front of the data. The address is computed as an integer, as a
  // pointer must not point in front of the data.
  const uintptr_t aligned = reinterpret_cast<uintptr_t>(data) - (kVector - first);
  __m512i a = _mm512_maskz_loadu_epi8(
      ~uint64_t{0} << (kVector - first),
      reinterpret_cast<const void*>(aligned));  // NOLINT(performance-no-int-to-ptr)
  a = _mm512_xor_si512(a, Load(kOnes + first));
  size_t vectors = (bytes - first) / kVector;
  if (vectors == 0) return Reduce(a);
  data += first;
  __m512i b = _mm512_xor_si512(Load(data), Load(kOnes + kVector + first));
  if (vectors < 4) {
    a = Fold(a, Over64Bytes(), b);
    while (--vectors != 0) a = Fold(a, Over64Bytes(), Load(data += kVector));
    return Reduce(a);
  }
  __m512i c = Load(data + kVector);
  __m512i d = Load(data + 2 * kVector);
  for (data += 3 * kVector, vectors -= 3; vectors >= 4; vectors -= 4, data += 4 * kVector) {
    a = Fold(a, Over256Bytes(), Load(data));
    b = Fold(b, Over256Bytes(), Load(data + kVector));
    c = Fold(c, Over256Bytes(), Load(data + 2 * kVector));
    d = Fold(d, Over256Bytes(), Load(data + 3 * kVector));
  }
  d = Fold(a, Over192Bytes(), d);
  d = Fold(b, Over128Bytes(), d);
  d = Fold(c, Over64Bytes(), d);
  for (; vectors != 0; --vectors, data += kVector) d = Fold(d, Over64Bytes(), Load(data));
  return Reduce(d);
}

}  // namespace

SUEDE_WIDE uint32_t WideCrc(const uint8_t* data, size_t bytes) {
  if (bytes < 4) [[unlikely]]
    return FoldedCrc(data, bytes);
  return Crc(data, bytes);
}

SUEDE_WIDE void WideCrcs(RcrcSpan* spans, size_t count) {
  for (size_t i = 0; i < count; ++i) spans[i].crc = WideCrc(spans[i].data, spans[i].bytes);
}

bool HasWideCrc() {
  __builtin_cpu_init();
  return HasFoldedCrc() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("vpclmulqdq");
}

}  // namespace suede
