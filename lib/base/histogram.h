// A log-linear histogram of durations or sizes: fixed memory, O(1) to record, under 1% error.
//
// Values below 128 are exact; above that each power of two is cut into 128 equal buckets, so that a
// bucket is never wider than 1/128 of the values in it. One thread records; Merge joins several.
#ifndef SUEDE_BASE_HISTOGRAM_H_
#define SUEDE_BASE_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace suede {

class Histogram {
 public:
  static constexpr int kSubBucketBits = 7;
  // Larger values are recorded as this one: 18 minutes, where the unit is a nanosecond.
  static constexpr uint64_t kLargest = (uint64_t{1} << 40) - 1;

  void Record(uint64_t value) { RecordMany(value, 1); }

  void RecordMany(uint64_t value, uint64_t times) {
    if (times == 0) return;
    value = std::min(value, kLargest);
    buckets_[BucketOf(value)] += times;
    count_ += times;
    sum_ += value * times;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  void Merge(const Histogram& other) {
    for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  void Reset() { *this = Histogram(); }

  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Exact; 0 where nothing was recorded.
  uint64_t min() const { return empty() ? 0 : min_; }
  uint64_t max() const { return max_; }
  double mean() const {
    return empty() ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  // The smallest value that at least `percent` per cent of the samples do not exceed, rounded up to
  // the end of its bucket. 0 gives the minimum, 100 the maximum.
  uint64_t Percentile(double percent) const {
    if (empty()) return 0;
    if (percent <= 0) return min_;
    const uint64_t rank = Rank(percent);
    uint64_t seen = 0;
    for (size_t i = BucketOf(min_); i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen >= rank) return std::min(LargestIn(i), max_);
    }
    return max_;
  }

 private:
  static constexpr uint32_t kHalf = uint32_t{1} << kSubBucketBits;
  static constexpr size_t kBuckets = (40 - kSubBucketBits + 1) * size_t{kHalf};

  // With a shift of 0 the first two halves are the values 0 to 255 themselves; each further shift
  // adds the half in which the top bit is set.
  static size_t BucketOf(uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - (kSubBucketBits + 1));
    return static_cast<size_t>((static_cast<uint64_t>(shift) << kSubBucketBits) + (value >> shift));
  }
  static uint64_t LargestIn(size_t bucket) {
    if (bucket < 2 * kHalf) return bucket;
    const uint64_t shift = (bucket >> kSubBucketBits) - 1;
    const uint64_t top = bucket - (shift << kSubBucketBits);
    return ((top + 1) << shift) - 1;
  }
  uint64_t Rank(double percent) const {
    const double exact = std::min(percent, 100.0) / 100 * static_cast<double>(count_);
    auto rank = static_cast<uint64_t>(exact);
    // A product such as 0.99 * 100 comes out a little above 99: that is no further sample.
    if (exact - static_cast<double>(rank) > 1e-9 * exact) ++rank;
    return std::clamp(rank, uint64_t{1}, count_);
  }

  std::array<uint64_t, kBuckets> buckets_ = {};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

}  // namespace suede

#endif  // SUEDE_BASE_HISTOGRAM_H_
