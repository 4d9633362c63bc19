// SPDX-License-Identifier: Apache-2.0
// Histograms of the data path: one row each, like counters. A HistogramBlock has one writer (an
// lcore) and any number of readers.
#ifndef SUEDE_STATS_HISTOGRAMS_H_
#define SUEDE_STATS_HISTOGRAMS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/log_linear.h"

namespace suede {

// Unit of recorded values, which determines the exported unit: nanoseconds are exported in seconds.
enum class HistogramUnit : uint8_t { kNanoseconds, kCount };

// id, name (Prometheus: suede_NAME), unit, first and last exported bound (as powers of two of the
// recorded unit), sentence.
#define SUEDE_HISTOGRAMS(X)                                                                 \
  X(Rtt, "rtt_seconds", Nanoseconds, 10, 30,                                                \
    "Round trips from sending a PDU to its acknowledgement")                                \
  X(CommandLatency, "command_latency_seconds", Nanoseconds, 10, 33,                         \
    "From taking a command out of its client's ring to its acknowledgement; by the oldest " \
    "command of a PDU")                                                                     \
  X(PduCommands, "pdu_commands", Count, 0, 12, "Commands in each PDU that was sent")        \
  X(GoBackPdus, "go_back_pdus", Count, 0, 14, "PDUs sent again from a go-back to recovery") \
  X(GoBackTime, "go_back_seconds", Nanoseconds, 14, 33,                                     \
    "From a go-back until all that was in flight then is acknowledged")

enum class HistogramId : uint8_t {
#define SUEDE_HISTOGRAM_ID(id, name, unit, first, last, sentence) k##id,
  SUEDE_HISTOGRAMS(SUEDE_HISTOGRAM_ID)
#undef SUEDE_HISTOGRAM_ID
      kCount
};
inline constexpr size_t kHistogramCount = static_cast<size_t>(HistogramId::kCount);

struct HistogramRow {
  std::string_view name;
  HistogramUnit unit;
  int first_bound;  // 2^first_bound
  int last_bound;
  std::string_view sentence;
};

// Returns the rows, indexed by HistogramId.
std::span<const HistogramRow, kHistogramCount> HistogramRows();

// A bucket holds values above the bound of the previous bucket, up to and including its own, so
// that powers of two are exact bounds. Buckets are less than 7% wide.
class SharedHistogram {
 public:
  // Every 64-bit value has a bucket, so that recording needs no range check.
  using Buckets = LogLinear<4, 64>;

  // Writer's thread only.
  void Record(uint64_t value, uint64_t times = 1) {
    Bump(cells_[BucketOf(value)], times);
    Bump(sum_, value * times);
  }

  // ---- Any thread. A value that is being recorded may be in the bucket and not yet in the sum.

  uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  uint64_t InBucket(size_t bucket) const { return cells_[bucket].load(std::memory_order_relaxed); }
  static constexpr size_t kBuckets = Buckets::kBuckets;
  static constexpr size_t BucketOf(uint64_t value) {
    return Buckets::BucketOf(value - (value != 0 ? 1 : 0));
  }
  // Returns the largest value in a bucket.
  static constexpr uint64_t BoundOf(size_t bucket) { return Buckets::LargestIn(bucket) + 1; }

 private:
  static void Bump(std::atomic<uint64_t>& cell, uint64_t n) {
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> sum_{0};
  std::array<std::atomic<uint64_t>, kBuckets> cells_{};
};

class HistogramBlock {
 public:
  SharedHistogram& operator[](HistogramId id) { return all_[static_cast<size_t>(id)]; }
  const SharedHistogram& operator[](HistogramId id) const { return all_[static_cast<size_t>(id)]; }

 private:
  std::array<SharedHistogram, kHistogramCount> all_;
};

// A copy for evaluation; histograms of one kind can be added.
class HistogramSum {
 public:
  void Add(const SharedHistogram& histogram);
  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  // Calls `each` with each bound from `first` to `last` and the number of values up to 2^bound.
  template <typename Each>
  void ForEachBound(int first, int last, Each each) const {
    uint64_t count = 0;
    size_t next = 0;
    for (int bound = first; bound <= last; ++bound) {
      const size_t end = SharedHistogram::BucketOf(uint64_t{1} << bound) + 1;
      for (; next < end; ++next) count += cells_[next];
      each(bound, count);
    }
  }
  // Returns the bound of the bucket at or below which `percent` per cent of the values are; 0 if
  // empty.
  uint64_t Percentile(double percent) const;

 private:
  std::array<uint64_t, SharedHistogram::kBuckets> cells_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
};

}  // namespace suede

#endif  // SUEDE_STATS_HISTOGRAMS_H_
