// SPDX-License-Identifier: Apache-2.0
#include "perf/histogram_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"

namespace suede::perf {
namespace {

using Buckets = Histogram::Buckets;

constexpr size_t kMaxRows = 24;
constexpr size_t kBarColumns = 40;

// Returns the number of low bits of a bucket's index that a row leaves out: the fewest for which
// `first` to `last` fit into kMaxRows, at most all within a power of two.
uint32_t BitsPerRow(size_t first, size_t last) {
  constexpr uint32_t kMaxBits = 7;
  uint32_t bits = 0;
  while (bits < kMaxBits && (last >> bits) - (first >> bits) >= kMaxRows) ++bits;
  return bits;
}

}  // namespace

std::string HistogramText(const Histogram& ns) {
  if (ns.empty()) return "";
  const size_t first = Buckets::BucketOf(ns.min());
  const size_t last = Buckets::BucketOf(ns.max());
  const uint32_t bits = BitsPerRow(first, last);
  std::vector<uint64_t> rows((last >> bits) - (first >> bits) + 1);
  ns.ForEachBucket([&](size_t bucket, uint64_t samples) {
    rows[(bucket >> bits) - (first >> bits)] += samples;
  });
  const auto max = static_cast<double>(*std::max_element(rows.begin(), rows.end()));
  const auto count = static_cast<double>(ns.count());
  std::string text =
      absl::StrFormat("#%13s %13s %12s %7s %7s\n", "from[us]", "to[us]", "samples", "%", "up to %");
  double below = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t row = (first >> bits) + i;
    const uint64_t from = Buckets::SmallestIn(row << bits);
    const uint64_t to = Buckets::LargestIn(((row + 1) << bits) - 1);
    const auto samples = static_cast<double>(rows[i]);
    below += samples;
    // One mark at least where there is a sample.
    const double marks = samples == 0 ? 0 : std::max(1.0, samples / max * kBarColumns);
    const std::string bar(static_cast<size_t>(marks), '*');
    absl::StrAppendFormat(&text, "#%13.3f %13.3f %12d %7.3f %7.3f%s%s\n",
                          static_cast<double>(std::max(from, ns.min())) / 1e3,
                          static_cast<double>(std::min(to, ns.max())) / 1e3, rows[i],
                          samples / count * 100, below / count * 100, bar.empty() ? "" : " ", bar);
  }
  return text;
}

}  // namespace suede::perf
