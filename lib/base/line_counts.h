// SPDX-License-Identifier: Apache-2.0
// Number of records in a number of ring lines, without a division.
#ifndef SUEDE_BASE_LINE_COUNTS_H_
#define SUEDE_BASE_LINE_COUNTS_H_

#include <cstdint>

namespace suede {

// Maximum lines of one record, and of one command.
inline constexpr uint32_t kMaxRecordLines = 5;
// Max lines lost by wrapping around a ring's end: a record is never split.
inline constexpr uint32_t kWrapLines = kMaxRecordLines;

// Returns the number of records of `per` lines each, 1 to kMaxRecordLines, in `lines`, at most
// 2^23.
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
