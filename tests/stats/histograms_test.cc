// SPDX-License-Identifier: Apache-2.0
#include "stats/histograms.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "stats/gauges.h"

namespace suede {
namespace {

TEST(HistogramRowsTest, NamesAreUniqueAndEndInTheirUnit) {
  std::set<std::string_view> names;
  for (const HistogramRow& row : HistogramRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.name.ends_with("_seconds"), row.unit == HistogramUnit::kNanoseconds) << row.name;
    EXPECT_LT(row.first_bound, row.last_bound);
    EXPECT_LT(row.last_bound, 63);
    EXPECT_FALSE(row.sentence.empty());
  }
  for (const GaugeRow& row : GaugeRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.name.ends_with("_total")) << row.name;
  }
  EXPECT_EQ(names.size(), kHistogramCount + kGaugeCount);
}

TEST(SharedHistogramTest, ABucketEndsWithItsBoundAndPowersOfTwoAreBounds) {
  for (int bit = 0; bit < 63; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    EXPECT_EQ(SharedHistogram::BoundOf(SharedHistogram::BucketOf(power)), power);
    EXPECT_GT(SharedHistogram::BoundOf(SharedHistogram::BucketOf(power + 1)), power);
  }
  for (uint64_t value : {0u, 1u, 2u, 31u, 32u, 33u, 1000u, 123456789u}) {
    const uint64_t bound = SharedHistogram::BoundOf(SharedHistogram::BucketOf(value));
    EXPECT_GE(bound, value);
    EXPECT_LE(static_cast<double>(bound), static_cast<double>(value) * 1.07 + 1);
  }
}

TEST(SharedHistogramTest, CountsUpToEachPowerOfTwoAreExact) {
  SharedHistogram histogram;
  for (uint64_t value = 0; value <= 4096; ++value) histogram.Record(value);
  histogram.Record(100'000, 5);
  HistogramSum sum;
  sum.Add(histogram);
  EXPECT_EQ(sum.count(), 4097 + 5);
  EXPECT_EQ(sum.sum(), 4096u * 4097 / 2 + 500'000);
  std::vector<uint64_t> counts;
  sum.ForEachBound(0, 12, [&](int bound, uint64_t count) {
    EXPECT_EQ(count, (uint64_t{1} << bound) + 1) << bound;
    counts.push_back(count);
  });
  EXPECT_EQ(counts.size(), 13);
  counts.clear();
  sum.ForEachBound(16, 17, [&](int, uint64_t count) { counts.push_back(count); });
  EXPECT_EQ(counts, (std::vector<uint64_t>{4097, 4102}));
}

TEST(SharedHistogramTest, EveryValueHasABucket) {
  SharedHistogram histogram;
  histogram.Record(UINT64_MAX);
  histogram.Record(uint64_t{1} << 63);
  histogram.Record(0);
  HistogramSum sum;
  sum.Add(histogram);
  EXPECT_EQ(sum.count(), 3);
  EXPECT_LT(SharedHistogram::BucketOf(UINT64_MAX), SharedHistogram::kBuckets);
}

TEST(HistogramSumTest, PercentilesAreBoundsAndHistogramsAddUp) {
  SharedHistogram a;
  SharedHistogram b;
  a.Record(10, 90);
  b.Record(1000, 9);
  b.Record(1'000'000);
  HistogramSum sum;
  EXPECT_EQ(sum.Percentile(50), 0);
  sum.Add(a);
  sum.Add(b);
  EXPECT_EQ(sum.Percentile(0), 10);
  EXPECT_EQ(sum.Percentile(90), 10);
  EXPECT_NEAR(static_cast<double>(sum.Percentile(99)), 1000, 70);
  EXPECT_NEAR(static_cast<double>(sum.Percentile(100)), 1e6, 7e4);
  EXPECT_EQ(sum.sum(), 900 + 9000 + 1'000'000);
}

TEST(GaugeBlockTest, HoldsWhatWasSetLast) {
  GaugeBlock block;
  block.Set(Gauge::kQueuedPdus, 5);
  block.Set(Gauge::kQueuedPdus, 3);
  EXPECT_EQ(block.Get(Gauge::kQueuedPdus), 3);
  EXPECT_EQ(block.Get(Gauge::kInflightPdus), 0);
}

}  // namespace
}  // namespace suede
