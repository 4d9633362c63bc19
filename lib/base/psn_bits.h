// SPDX-License-Identifier: Apache-2.0
// A bit for each of the PSNs from some first one on that selective repair keeps apart
// (docs/repair.md).
#ifndef SUEDE_BASE_PSN_BITS_H_
#define SUEDE_BASE_PSN_BITS_H_

#include <array>
#include <cstdint>

namespace suede {

inline constexpr uint32_t kPsnBits = 2048;
inline constexpr uint32_t kPsnWords = kPsnBits / 64;
// Bytes of the longest REPAIR (docs/control-pdus.md), between RH and R-CRC.
inline constexpr uint32_t kMaxReportBytes = 28 + kPsnBits / 4;
// Bit i of word j is that of the first PSN plus 64 j + i.
using PsnBits = std::array<uint64_t, kPsnWords>;

constexpr bool HasBit(const PsnBits& bits, uint32_t i) { return (bits[i / 64] >> i % 64 & 1) != 0; }
constexpr void SetBit(PsnBits& bits, uint32_t i) { bits[i / 64] |= uint64_t{1} << i % 64; }
constexpr void ClearBit(PsnBits& bits, uint32_t i) { bits[i / 64] &= ~(uint64_t{1} << i % 64); }
// Returns word `i` of the bits in another order: from bit `first` on, around the end.
constexpr uint64_t RotatedWord(const PsnBits& bits, uint32_t first, uint32_t i) {
  const uint32_t word = first / 64 + i, shift = first % 64;
  const uint64_t low = bits[word % kPsnWords] >> shift;
  return shift == 0 ? low : low | bits[(word + 1) % kPsnWords] << (64 - shift);
}

// PSNs that have arrived, and PSNs that are wanted again, from an expected one on: `count` words of
// each, in pairs.
struct PsnMarks {
  struct Word {
    uint64_t received = 0;
    uint64_t wanted = 0;
    friend bool operator==(const Word&, const Word&) = default;
  };
  uint8_t count = 0;
  std::array<Word, kPsnWords> words{};
  friend bool operator==(const PsnMarks&, const PsnMarks&) = default;
};

}  // namespace suede

#endif  // SUEDE_BASE_PSN_BITS_H_
