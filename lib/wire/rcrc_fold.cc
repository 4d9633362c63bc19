// SPDX-License-Identifier: Apache-2.0
// CRC-32 by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction", Intel 2009), for PDUs of any length.
//
// Leading zeros do not change a CRC whose initial value is 0, so the first block holds the
// remainder of the length modulo 16, right-aligned, and all later blocks are full. The initial
// value of all ones is instead XORed into the first four bytes of data.
#include <immintrin.h>

#include <cstring>

#include "wire/rcrc.h"

namespace suede {
namespace {

#define SUEDE_FOLDS [[gnu::target("pclmul,sse4.1")]]

constexpr size_t kBlock = 16;
// More blocks than this are folded four at a time. Up to this number, each block is folded directly
// over the distance to the end, so that none waits for the product of the block before.
constexpr size_t kWideBlocks = 8;

// Constants of the paper, bit-reversed: x^n modulo the polynomial, for the folding distance. The
// first of each pair applies to the first eight bytes of a block.
alignas(16) constexpr uint64_t kOver[kWideBlocks][2] = {{},  // no distance
                                                        {0x1751997d0, 0x0ccaa009e},
                                                        {0x0f1da05aa, 0x15a546366},
                                                        {0x03db1ecdc, 0x174359406},
                                                        {0x154442bd4, 0x1c6e41596},
                                                        {0x1c7569e54, 0x0ae0b5394},
                                                        {0x0df068dc2, 0x18cb44e58},
                                                        {0x1ea89367e, 0x1d7cfc6ac}};
// The polynomial, and the quotient of x^95 by it.
alignas(16) constexpr uint64_t kBarrett[2] = {0xb4e5b025f7011641, 0x1db710640};

SUEDE_FOLDS inline __m128i Constants(const uint64_t* pair) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(pair));
}
SUEDE_FOLDS inline __m128i Over64Bytes() { return Constants(kOver[4]); }
SUEDE_FOLDS inline __m128i Over16Bytes() { return Constants(kOver[1]); }

SUEDE_FOLDS inline __m128i Load(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}
// Loads 8 to 15 bytes, followed by zeros, by two overlapping loads. PDUs without commands have this
// length.
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

// Returns the CRC of the last block. Its product with x^32 has 96 bits after the first eight bytes
// are folded over the others; Barrett reduction leaves 32 bits.
SUEDE_FOLDS inline uint32_t Reduce(__m128i block) {
  const __m128i product =
      _mm_xor_si128(_mm_srli_si128(block, 8), _mm_clmulepi64_si128(block, Over16Bytes(), 0x10));
  const __m128i quotient = _mm_clmulepi64_si128(product, Constants(kBarrett), 0x00);
  const __m128i multiple = _mm_clmulepi64_si128(quotient, Constants(kBarrett), 0x10);
  return ~static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(product, multiple), 2));
}

// From index n on: a shuffle mask that moves the first n of 16 bytes to the end, behind zeros.
alignas(16) constexpr uint8_t kToEnd[32] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15};
// From index n on: the part of the four 0xff bytes that is not in the first n bytes.
alignas(16) constexpr uint8_t kOnes[32] = {0xff, 0xff, 0xff, 0xff};

// Returns the block with the first `bytes` bytes, 1 to 16, right-aligned. `block` begins with the
// PDU.
SUEDE_FOLDS inline __m128i FirstBlock(__m128i block, size_t bytes) {
  return _mm_shuffle_epi8(_mm_xor_si128(block, Load(kOnes)), Load(kToEnd + bytes));
}

SUEDE_FOLDS [[gnu::noinline]] uint32_t CrcOfFew(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  uint8_t block[kBlock] = {};
  for (size_t i = 0; i < bytes; ++i) block[i] = data[i];
  // With fewer than four bytes, the rest of the initial ones is XORed into the result.
  const uint32_t crc = Reduce(FirstBlock(Load(block), bytes));
  return bytes >= 4 ? crc : crc ^ (~0u >> (8 * bytes));
}

// Returns the CRC of 17 bytes to kWideBlocks blocks.
SUEDE_FOLDS inline uint32_t CrcOfBlocks(const uint8_t* data, size_t bytes) {
  const size_t first = ((bytes - 1) & (kBlock - 1)) + 1;
  const __m128i ones = Load(kOnes + first);
  __m128i block = FirstBlock(Load(data), first);
  const uint8_t* const last = data + bytes - kBlock;
  data += first;
  __m128i next = _mm_xor_si128(Load(data), ones);
  size_t left = static_cast<size_t>(last - data);
  if (left == 0) return Reduce(Fold(block, Over16Bytes(), next));
  __m128i sum = Fold(block, Constants(kOver[left / kBlock + 1]), Load(last));
  switch (left / kBlock) {
    case 6:
      sum = Fold(Load(last - 80), Constants(kOver[5]), sum);
      [[fallthrough]];
    case 5:
      sum = Fold(Load(last - 64), Constants(kOver[4]), sum);
      [[fallthrough]];
    case 4:
      sum = Fold(Load(last - 48), Constants(kOver[3]), sum);
      [[fallthrough]];
    case 3:
      sum = Fold(Load(last - 32), Constants(kOver[2]), sum);
      [[fallthrough]];
    case 2:
      sum = Fold(Load(last - 16), Constants(kOver[1]), sum);
      [[fallthrough]];
    default:
      sum = Fold(next, Constants(kOver[left / kBlock]), sum);
  }
  return Reduce(sum);
}

// Returns the CRC of more than kWideBlocks blocks.
SUEDE_FOLDS inline uint32_t CrcOfMany(const uint8_t* data, size_t bytes) {
  const size_t first = ((bytes - 1) & (kBlock - 1)) + 1;
  size_t blocks = (bytes - first) / kBlock;
  __m128i a = FirstBlock(Load(data), first);
  data += first;
  __m128i b = _mm_xor_si128(Load(data), Load(kOnes + first));
  __m128i c = Load(data + 16);
  __m128i d = Load(data + 32);
  for (data += 48, blocks -= 3; blocks >= 4; blocks -= 4, data += 64) {
    a = Fold(a, Over64Bytes(), Load(data));
    b = Fold(b, Over64Bytes(), Load(data + 16));
    c = Fold(c, Over64Bytes(), Load(data + 32));
    d = Fold(d, Over64Bytes(), Load(data + 48));
  }
  a = Fold(a, Over16Bytes(), b);
  a = Fold(a, Over16Bytes(), c);
  a = Fold(a, Over16Bytes(), d);
  for (; blocks != 0; --blocks, data += kBlock) a = Fold(a, Over16Bytes(), Load(data));
  return Reduce(a);
}

SUEDE_FOLDS inline uint32_t Crc(const uint8_t* data, size_t bytes) {
  if (bytes > kBlock * kWideBlocks) return CrcOfMany(data, bytes);
  if (bytes > kBlock) [[likely]]
    return CrcOfBlocks(data, bytes);
  if (bytes < 8) return CrcOfFew(data, bytes);
  if (bytes < kBlock) return Reduce(FirstBlock(LoadPart(data, bytes), bytes));
  return Reduce(FirstBlock(Load(data), kBlock));
}

}  // namespace

SUEDE_FOLDS uint32_t FoldedCrc(const uint8_t* data, size_t bytes) { return Crc(data, bytes); }

SUEDE_FOLDS void FoldedCrcs(RcrcSpan* spans, size_t count) {
  for (size_t i = 0; i < count; ++i) spans[i].crc = Crc(spans[i].data, spans[i].bytes);
}

bool HasFoldedCrc() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

}  // namespace suede
