// SPDX-License-Identifier: Apache-2.0
#include "base/line_counts.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

// Up to 2^23 lines: each number of the first ones, then those around each multiple of 2^10.
TEST(LineCountsTest, RecordsInIsTheQuotient) {
  constexpr uint32_t kMaxLines = 1u << 23;
  for (uint32_t per = 1; per <= kMaxRecordLines; ++per) {
    for (uint32_t lines = 0; lines < 2048; ++lines) {
      ASSERT_EQ(RecordsIn(lines, per), lines / per) << lines << " " << per;
    }
    for (uint32_t middle = 2048; middle <= kMaxLines; middle += 1024) {
      const uint32_t multiple = middle / per * per;
      ASSERT_EQ(RecordsIn(multiple, per), multiple / per) << multiple << " " << per;
      ASSERT_EQ(RecordsIn(multiple - 1, per), multiple / per - 1) << multiple << " " << per;
    }
  }
}

}  // namespace
}  // namespace suede
