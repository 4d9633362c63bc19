// SPDX-License-Identifier: Apache-2.0
// How many records of a ring's lines there are in a number of lines, without a division.
#ifndef SUEDE_BASE_LINE_COUNTS_H_
#define SUEDE_BASE_LINE_COUNTS_H_

#include <cstdint>

namespace suede {

// The most lines that one record takes, and one command: they hold the largest of either.
inline constexpr uint32_t kMaxRecordLines = 5;

// Records of `per` lines each, 1 to kMaxRecordLines, in `lines`, up to 2^23.
inline uint32_t RecordsIn(uint32_t lines, uint32_t per) {
  static constexpr uint64_t kParts[kMaxRecordLines + 1] = {0,
                                                           (1ull << 32) + 1,
                                                           (1ull << 32) / 2 + 1,
                                                           (1ull << 32) / 3 + 1,
                                                           (1ull << 32) / 4 + 1,
                                                           (1ull << 32) / 5 + 1};
  return static_cast<uint32_t>(lines * kParts[per] >> 32);
}

}  // namespace suede

#endif  // SUEDE_BASE_LINE_COUNTS_H_
