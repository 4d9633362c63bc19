// SPDX-License-Identifier: Apache-2.0
// A log-linear histogram of durations or sizes: fixed memory, O(1) to record, under 1% error.
//
// Values below 128 are exact; above, each power of two is divided into 128 equal buckets, so that a
// bucket is never wider than 1/128 of its values. One thread records; Merge adds another histogram.
#ifndef SUEDE_BASE_HISTOGRAM_H_
#define SUEDE_BASE_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/log_linear.h"

namespace suede {

class Histogram {
 public:
  using Buckets = LogLinear<7, 40>;
  // Larger values are recorded as this value: 18 minutes in nanoseconds.
  static constexpr uint64_t kLargest = Buckets::kLargest;

  void Record(uint64_t value) { RecordMany(value, 1); }

  void RecordMany(uint64_t value, uint64_t times) {
    if (times == 0) return;
    value = std::min(value, kLargest);
    buckets_[Buckets::BucketOf(value)] += times;
    count_ += times;
    sum_ += value * times;
    const auto square = static_cast<double>(value) * static_cast<double>(value);
    squares_ += square * static_cast<double>(times);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  void Merge(const Histogram& other) {
    for (size_t i = 0; i < Buckets::kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  void Reset() { *this = Histogram(); }

  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Exact; 0 if empty.
  uint64_t min() const { return empty() ? 0 : min_; }
  uint64_t max() const { return max_; }
  double mean() const {
    return empty() ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  // Returns the standard deviation of the samples, not estimated from buckets; 0 if empty.
  double stdev() const {
    if (empty()) return 0;
    const double variance = squares_ / static_cast<double>(count_) - mean() * mean();
    return variance > 0 ? std::sqrt(variance) : 0;
  }

  // Calls visit(bucket, samples) for each bucket with samples, in order of values.
  template <class Visit>
  void ForEachBucket(const Visit& visit) const {
    for (size_t i = 0; i < Buckets::kBuckets; ++i) {
      if (buckets_[i] != 0) visit(i, buckets_[i]);
    }
  }

  // Returns the smallest value that at least `percent` per cent of the samples do not exceed,
  // rounded up to the end of its bucket. 0 gives the minimum, 100 the maximum.
  uint64_t Percentile(double percent) const {
    if (empty()) return 0;
    if (percent <= 0) return min_;
    const uint64_t rank = Rank(percent);
    uint64_t seen = 0;
    for (size_t i = Buckets::BucketOf(min_); i < Buckets::kBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= rank) return std::min(Buckets::LargestIn(i), max_);
    }
    return max_;
  }

 private:
  uint64_t Rank(double percent) const {
    const double exact = std::min(percent, 100.0) / 100 * static_cast<double>(count_);
    auto rank = static_cast<uint64_t>(exact);
    // A product such as 0.99 * 100 may be slightly above 99, which must not count as a further
    // sample.
    if (exact - static_cast<double>(rank) > 1e-9 * exact) ++rank;
    return std::clamp(rank, uint64_t{1}, count_);
  }

  std::array<uint64_t, Buckets::kBuckets> buckets_ = {};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  double squares_ = 0;  // sum of the values' squares
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

}  // namespace suede

#endif  // SUEDE_BASE_HISTOGRAM_H_
