// SPDX-License-Identifier: Apache-2.0
#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace suede {
namespace {

TEST(HistogramTest, EmptyIsAllZero) {
  const Histogram h;
  EXPECT_TRUE(h.empty());
  EXPECT_EQ(h.min(), 0u);
  EXPECT_EQ(h.max(), 0u);
  EXPECT_EQ(h.mean(), 0);
  EXPECT_EQ(h.Percentile(50), 0u);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram h;
  for (uint64_t v = 1; v <= 100; ++v) h.Record(v);
  EXPECT_EQ(h.count(), 100u);
  EXPECT_EQ(h.min(), 1u);
  EXPECT_EQ(h.max(), 100u);
  EXPECT_DOUBLE_EQ(h.mean(), 50.5);
  for (int p = 1; p <= 100; ++p) EXPECT_EQ(h.Percentile(p), static_cast<uint64_t>(p)) << p;
  EXPECT_EQ(h.Percentile(0), 1u);
  EXPECT_EQ(h.Percentile(99.9), 100u);
}

TEST(HistogramTest, StandardDeviationIsExact) {
  Histogram h;
  EXPECT_EQ(h.stdev(), 0);
  for (const uint64_t v :
       {100'002u, 100'004u, 100'004u, 100'004u, 100'005u, 100'005u, 100'007u, 100'009u}) {
    h.Record(v);
  }
  EXPECT_NEAR(h.stdev(), 2, 1e-3);  // all in one bucket
  Histogram other;
  other.RecordMany(100'005, 8);
  h.Merge(other);
  EXPECT_NEAR(h.stdev(), std::sqrt(2.0), 1e-3);
}

TEST(HistogramTest, BucketsHoldTheirSamplesInOrder) {
  Histogram h;
  std::vector<uint64_t> values;
  for (uint64_t v = 1; v < Histogram::kLargest; v *= 3) values.push_back(v), h.Record(v);
  size_t at = 0;
  h.ForEachBucket([&](size_t bucket, uint64_t samples) {
    EXPECT_EQ(samples, 1u);
    ASSERT_LT(at, values.size());
    EXPECT_LE(Histogram::Buckets::SmallestIn(bucket), values[at]);
    EXPECT_GE(Histogram::Buckets::LargestIn(bucket), values[at++]);
  });
  EXPECT_EQ(at, values.size());
}

// Around each power of two: the value comes back no smaller, and by less than 1% larger.
TEST(HistogramTest, ErrorIsBelowOnePerCentOverTheWholeRange) {
  for (int bit = 0; bit < 40; ++bit) {
    for (int64_t delta : {-1, 0, 1, 77}) {
      const auto value = static_cast<uint64_t>((int64_t{1} << bit) + delta);
      if (value > Histogram::kLargest) continue;
      Histogram h;
      h.Record(value);
      h.Record(Histogram::kLargest);
      EXPECT_GE(h.Percentile(50), value);
      EXPECT_LE(static_cast<double>(h.Percentile(50)), static_cast<double>(value) * 1.01);
    }
  }
}

TEST(HistogramTest, PercentilesOfRandomValuesAgreeWithSorting) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> draw(8, 2);
  std::vector<uint64_t> values;
  Histogram h;
  for (int i = 0; i < 100000; ++i) {
    values.push_back(static_cast<uint64_t>(draw(random)));
    h.Record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (double p : {1.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    const auto rank = static_cast<size_t>(std::ceil(p / 100 * 100000 - 1e-6));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_GE(static_cast<double>(h.Percentile(p)), exact) << p;
    EXPECT_LE(static_cast<double>(h.Percentile(p)), exact * 1.01) << p;
  }
  EXPECT_EQ(h.Percentile(100), values.back());
}

TEST(HistogramTest, TooLargeValuesAreRecordedAsTheLargest) {
  Histogram h;
  h.Record(UINT64_MAX);
  EXPECT_EQ(h.count(), 1u);
  EXPECT_EQ(h.max(), Histogram::kLargest);
  EXPECT_EQ(h.Percentile(50), Histogram::kLargest);
}

TEST(HistogramTest, MergeIsAsIfAllHadBeenRecordedInOne) {
  Histogram a, b, both;
  for (uint64_t v : {5u, 500u, 50000u}) a.Record(v), both.Record(v);
  for (uint64_t v : {2u, 5000000u}) b.RecordMany(v, 3), both.RecordMany(v, 3);
  a.Merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.min(), 2u);
  EXPECT_EQ(a.max(), 5000000u);
  EXPECT_DOUBLE_EQ(a.mean(), both.mean());
  for (double p : {10.0, 40.0, 50.0, 75.0, 100.0}) EXPECT_EQ(a.Percentile(p), both.Percentile(p));
}

TEST(HistogramTest, MergeWithAnEmptyOneAndReset) {
  Histogram a;
  a.Record(9);
  a.Merge(Histogram());
  EXPECT_EQ(a.min(), 9u);
  EXPECT_EQ(a.count(), 1u);
  a.Reset();
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.max(), 0u);
}

}  // namespace
}  // namespace suede
