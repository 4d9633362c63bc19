// SPDX-License-Identifier: Apache-2.0
#include "client/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "segment_memory.h"

namespace suede {
namespace {

TEST(SegmentShape, RangesAreChecked) {
  EXPECT_TRUE(SegmentShape{}.IsValid());
  EXPECT_FALSE(SegmentShape{.queue_count = 0}.IsValid());
  EXPECT_FALSE(SegmentShape{.queue_count = 17}.IsValid());
  EXPECT_TRUE(SegmentShape{.queue_count = 16}.IsValid());
  for (const uint32_t bad : {0u, 32u, 65u, 1000u, 1u << 21}) {
    EXPECT_FALSE(SegmentShape{.tx_lines = bad}.IsValid()) << bad;
    EXPECT_FALSE(SegmentShape{.rx_lines = bad}.IsValid()) << bad;
    EXPECT_FALSE(SegmentShape{.completion_count = bad}.IsValid()) << bad;
  }
  constexpr uint32_t kMax = 1u << 20;
  for (const uint32_t size : {64u, kMax}) {
    EXPECT_TRUE(SegmentShape{.tx_lines = size}.IsValid()) << size;
    EXPECT_TRUE(SegmentShape{.rx_lines = size}.IsValid()) << size;
    EXPECT_TRUE(SegmentShape{.completion_count = size}.IsValid()) << size;
  }
  for (const uint32_t lines : {5u, kMax}) {
    EXPECT_TRUE(SegmentShape{.credit_lines = lines}.IsValid()) << lines;
    EXPECT_TRUE(SegmentShape{.aggregate_lines = lines}.IsValid()) << lines;
  }
  for (const uint32_t lines : {4u, kMax + 1}) {
    EXPECT_FALSE(SegmentShape{.credit_lines = lines}.IsValid()) << lines;
    EXPECT_FALSE(SegmentShape{.aggregate_lines = lines}.IsValid()) << lines;
  }
}

TEST(SegmentOffsets, PartsAreAlignedAndDoNotOverlap) {
  for (const uint32_t queues : {1u, 3u, 16u}) {
    const SegmentShape shape{
        .queue_count = queues, .tx_lines = 64, .rx_lines = 128, .completion_count = 64};
    const SegmentOffsets offsets(shape);
    std::vector<std::pair<uint64_t, uint64_t>> parts{{0, sizeof(suede_segment)}};
    for (uint32_t q = 0; q < queues; ++q) {
      parts.emplace_back(offsets.tx_ring[q], sizeof(suede_ring) + 64 * 64);
      parts.emplace_back(offsets.completion_ring[q], sizeof(suede_ring) + 64 * 16);
      parts.emplace_back(offsets.credits[q], sizeof(suede_credits));
    }
    for (const uint64_t ring : offsets.rx_ring) {
      parts.emplace_back(ring, sizeof(suede_ring) + 128 * 64);
    }
    parts.emplace_back(offsets.load, queues * sizeof(suede_load_area));
    EXPECT_EQ(std::max_element(parts.begin(), parts.end())->first, offsets.load)
        << "older clients know the places of all others";
    std::sort(parts.begin(), parts.end());
    for (size_t i = 1; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].first % 128, 0u);
      const uint64_t end = parts[i - 1].first + parts[i - 1].second;
      EXPECT_GE(parts[i].first, end);
      EXPECT_LT(parts[i].first, end + (i == 1 ? 4096 : 128)) << "nothing lies between them";
    }
    EXPECT_LE(parts.back().first + parts.back().second, offsets.bytes);
    EXPECT_LT(offsets.bytes, parts.back().first + parts.back().second + 4096);
    EXPECT_EQ(offsets.bytes % 4096, 0u);
  }
}

TEST(Segment, FormatTellsTheClientTheShape) {
  SegmentMemory memory({.queue_count = 2,
                        .tx_lines = 64,
                        .rx_lines = 128,
                        .completion_count = 256,
                        .credit_lines = 10,
                        .aggregate_lines = 20});
  const suede_segment* head = memory.head();
  EXPECT_EQ(head->magic, SUEDE_LAYOUT_MAGIC);
  EXPECT_EQ(head->version, SUEDE_LAYOUT_VERSION);
  EXPECT_EQ(head->size, memory.offsets.bytes);
  EXPECT_EQ(head->queue_count, 2u);
  EXPECT_EQ(head->tx_lines, 64u);
  EXPECT_EQ(head->rx_lines, 128u);
  EXPECT_EQ(head->completion_count, 256u);
  EXPECT_EQ(head->credit_lines, 10u);
  EXPECT_EQ(head->aggregate_lines, 20u);
  EXPECT_EQ(head->queue_state[1].value, SUEDE_QUEUE_READY);
  EXPECT_EQ(head->queue_state[2].value, 0u);
  EXPECT_EQ(head->rx_state[3].value, SUEDE_QUEUE_READY);
}

TEST(CopyBytes, CopiesEveryLengthAndNothingElse) {
  for (size_t n = 1; n <= 256; ++n) {
    std::vector<uint8_t> from(n);
    for (size_t i = 0; i < n; ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
    std::vector<uint8_t> to(n + 2, 0xee);
    CopyBytes(to.data() + 1, from.data(), n);
    EXPECT_EQ(to.front(), 0xee);
    EXPECT_EQ(to.back(), 0xee);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin() + 1)) << n;
  }
}

}  // namespace
}  // namespace suede
