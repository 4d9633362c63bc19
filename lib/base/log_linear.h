// SPDX-License-Identifier: Apache-2.0
// Log-linear buckets: the arithmetic of histograms.
//
// Values below 2^(kBits + 1) have a bucket each; above, each power of two is divided into 2^kBits
// equal buckets, so that a bucket is never wider than 2^-kBits of its values.
#ifndef SUEDE_BASE_LOG_LINEAR_H_
#define SUEDE_BASE_LOG_LINEAR_H_

#include <bit>
#include <cstddef>
#include <cstdint>

namespace suede {

template <int kBits, int kValueBits>
struct LogLinear {
  static constexpr uint64_t kLargest = ~uint64_t{0} >> (64 - kValueBits);
  static constexpr uint32_t kHalf = uint32_t{1} << kBits;
  static constexpr size_t kBuckets = (kValueBits - kBits + 1) * size_t{kHalf};

  // With a shift of 0, the first two halves hold the values 0 to 2 * kHalf - 1 exactly; each
  // further shift adds the half whose top bit is set. `value`: at most kLargest.
  static constexpr size_t BucketOf(uint64_t value) {
    const int shift = static_cast<int>(std::bit_width(value | (2 * kHalf - 1))) - (kBits + 1);
    return static_cast<size_t>((static_cast<uint64_t>(shift) << kBits) + (value >> shift));
  }
  static constexpr uint64_t LargestIn(size_t bucket) {
    if (bucket < 2 * kHalf) return bucket;
    const uint64_t shift = (bucket >> kBits) - 1;
    const uint64_t top = bucket - (shift << kBits);
    return ((top + 1) << shift) - 1;
  }
  static constexpr uint64_t SmallestIn(size_t bucket) {
    return bucket == 0 ? 0 : LargestIn(bucket - 1) + 1;
  }
};

}  // namespace suede

#endif  // SUEDE_BASE_LOG_LINEAR_H_
