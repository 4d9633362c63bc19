// SPDX-License-Identifier: Apache-2.0
// CRC-32 by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction", Intel 2009), for PDUs of any length.
//
// Zeros in front change no CRC that begins with 0, so the first block takes what is left of the
// length above a multiple of 16, at its end, and no block behind it is incomplete. The CRC begins
// with ones instead: they are added to the first four bytes, wherever those are.
#include <immintrin.h>

#include <cstring>

#include "wire/rcrc.h"

namespace suede {
namespace {

#define SUEDE_FOLDS [[gnu::target("pclmul,sse4.1")]]

constexpr size_t kBlock = 16;
// From so many blocks on, four at a time are folded: none waits for the product of the one before.
constexpr size_t kWideBlocks = 8;

// Of the paper, bits reversed: x^n modulo the polynomial, for the distance that is folded over.
SUEDE_FOLDS inline __m128i Over64Bytes() { return _mm_set_epi64x(0x01c6e41596, 0x0154442bd4); }
SUEDE_FOLDS inline __m128i Over16Bytes() { return _mm_set_epi64x(0x00ccaa009e, 0x01751997d0); }
SUEDE_FOLDS inline __m128i Over8Bytes() { return _mm_set_epi64x(0, 0x0163cd6124); }
// The polynomial, and the quotient of x^64 by it.
SUEDE_FOLDS inline __m128i Polynomial() { return _mm_set_epi64x(0x01f7011641, 0x01db710641); }

SUEDE_FOLDS inline __m128i Load(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}
// 8 to 15 bytes, behind which zeros follow: the last 8 of them, and the first 8. PDUs without
// commands have so many.
SUEDE_FOLDS inline __m128i LoadPart(const uint8_t* data, size_t bytes) {
  uint64_t first;
  uint64_t last;
  std::memcpy(&first, data, sizeof first);
  std::memcpy(&last, data + bytes - sizeof last, sizeof last);
  last = last >> 1 >> (8 * (kBlock - bytes) - 1);
  return _mm_set_epi64x(static_cast<int64_t>(last), static_cast<int64_t>(first));
}
SUEDE_FOLDS inline __m128i Fold(__m128i block, __m128i over, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(block, over, 0x00);
  const __m128i high = _mm_clmulepi64_si128(block, over, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// The CRC of a last block.
SUEDE_FOLDS inline uint32_t Reduce(__m128i block) {
  const __m128i low = _mm_set_epi32(0, ~0, 0, ~0);
  block = _mm_xor_si128(_mm_srli_si128(block, 8), _mm_clmulepi64_si128(block, Over16Bytes(), 0x10));
  block = _mm_xor_si128(_mm_srli_si128(block, 4),
                        _mm_clmulepi64_si128(_mm_and_si128(block, low), Over8Bytes(), 0x00));
  const __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(block, low), Polynomial(), 0x10);
  const __m128i product = _mm_clmulepi64_si128(_mm_and_si128(quotient, low), Polynomial(), 0x00);
  return ~static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(block, product), 1));
}

// From byte n on: a shuffle that moves the first n of 16 bytes to the end, behind zeros.
alignas(16) constexpr uint8_t kToEnd[32] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15};
// From byte n on: those of the four ones that are not in the first n bytes.
alignas(16) constexpr uint8_t kOnes[32] = {0xff, 0xff, 0xff, 0xff};

// The first `bytes` bytes, 1 to 16, of 16 that begin with those of the PDU.
SUEDE_FOLDS inline __m128i FirstBlock(__m128i block, size_t bytes) {
  return _mm_shuffle_epi8(_mm_xor_si128(block, Load(kOnes)), Load(kToEnd + bytes));
}

SUEDE_FOLDS [[gnu::noinline]] uint32_t CrcOfFew(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  uint8_t block[kBlock] = {};
  for (size_t i = 0; i < bytes; ++i) block[i] = data[i];
  // Ones that begin behind the last byte are still due: the CRC of fewer than four bytes ends with
  // what is left of them.
  const uint32_t crc = Reduce(FirstBlock(Load(block), bytes));
  return bytes >= 4 ? crc : crc ^ (~0u >> (8 * bytes));
}

}  // namespace

SUEDE_FOLDS uint32_t FoldedCrc(const uint8_t* data, size_t bytes) {
  if (bytes <= kBlock) {
    if (bytes < 8) return CrcOfFew(data, bytes);
    if (bytes < kBlock) return Reduce(FirstBlock(LoadPart(data, bytes), bytes));
    return Reduce(FirstBlock(Load(data), kBlock));
  }
  const size_t first = ((bytes - 1) & (kBlock - 1)) + 1;
  size_t blocks = (bytes - first) / kBlock;
  __m128i block = FirstBlock(Load(data), first);
  data += first;
  __m128i next = _mm_xor_si128(Load(data), Load(kOnes + first));
  if (blocks >= kWideBlocks) {
    __m128i b = next;
    __m128i c = Load(data + 16);
    __m128i d = Load(data + 32);
    for (data += 48, blocks -= 3; blocks >= 4; blocks -= 4, data += 64) {
      block = Fold(block, Over64Bytes(), Load(data));
      b = Fold(b, Over64Bytes(), Load(data + 16));
      c = Fold(c, Over64Bytes(), Load(data + 32));
      d = Fold(d, Over64Bytes(), Load(data + 48));
    }
    block = Fold(block, Over16Bytes(), b);
    block = Fold(block, Over16Bytes(), c);
    block = Fold(block, Over16Bytes(), d);
  } else {
    block = Fold(block, Over16Bytes(), next);
    data += kBlock;
    --blocks;
  }
  for (; blocks != 0; --blocks, data += kBlock) block = Fold(block, Over16Bytes(), Load(data));
  return Reduce(block);
}

bool HasFoldedCrc() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

}  // namespace suede
