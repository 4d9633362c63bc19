// SPDX-License-Identifier: Apache-2.0
#include "stats/histograms.h"

#include <algorithm>
#include <cmath>

namespace suede {
namespace {

constexpr HistogramRow kRows[kHistogramCount] = {
#define SUEDE_HISTOGRAM_ROW(id, name, unit, first, last, sentence) \
  {name, HistogramUnit::k##unit, first, last, sentence},
    SUEDE_HISTOGRAMS(SUEDE_HISTOGRAM_ROW)
#undef SUEDE_HISTOGRAM_ROW
};

}  // namespace

std::span<const HistogramRow, kHistogramCount> HistogramRows() { return kRows; }

void HistogramSum::Add(const SharedHistogram& histogram) {
  sum_ += histogram.sum();
  for (size_t i = 0; i < cells_.size(); ++i) {
    const uint64_t n = histogram.InBucket(i);
    cells_[i] += n;
    count_ += n;
  }
}

uint64_t HistogramSum::Percentile(double percent) const {
  if (count_ == 0) return 0;
  const double share = std::min(percent, 100.0) / 100;
  const double rank = std::ceil(share * static_cast<double>(count_) - 1e-9);
  uint64_t seen = 0;
  for (size_t i = 0; i < cells_.size(); ++i) {
    seen += cells_[i];
    if (seen != 0 && static_cast<double>(seen) >= rank) return SharedHistogram::BoundOf(i);
  }
  return 0;  // not reached: a bucket holds the last value
}

}  // namespace suede
