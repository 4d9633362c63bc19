// SPDX-License-Identifier: Apache-2.0
// The page that Prometheus reads (text format 0.0.4).
//
// What is on it is settled once: families, series, and for each the cell that its value is read
// from. Rendering then is copying prefixes and printing numbers, and may be done by any thread at
// any time: cells are atomics, so that nobody who writes one ever waits for it.
#ifndef SUEDE_METRICS_PAGE_H_
#define SUEDE_METRICS_PAGE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/row.h"
#include "stats/histograms.h"

namespace suede {

using MetricCell = std::atomic<uint64_t>;

// What is in a cell, and so how it is shown.
enum class CellUnit : uint8_t {
  kPlain,
  kNanoseconds,  // shown in seconds
  kMillionths,   // shown as a ratio
};

// Names and values; values are escaped when they are shown.
using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

class MetricsPage {
 public:
  // The families, in the order of the page. One without series is not shown. Each series has the
  // `common` labels before its own.
  explicit MetricsPage(std::vector<MetricRow> rows, MetricLabels common = {});

  // The family must have been declared, and what is pointed at outlives the page. Aborts otherwise.
  void Add(std::string_view family, const MetricLabels& labels, const MetricCell* cell,
           CellUnit unit = CellUnit::kPlain);
  void Add(const HistogramRow& row, const MetricLabels& labels, const SharedHistogram* histogram);
  // A cell of the page's own, for values that somebody copies there.
  MetricCell* NewCell(std::string_view family, const MetricLabels& labels,
                      CellUnit unit = CellUnit::kPlain);

  // Any thread.
  void AppendTo(std::string* out) const;
  std::span<const MetricRow> rows() const { return rows_; }
  const MetricLabels& common() const { return common_; }

 private:
  struct Series {
    std::string prefix;  // name, labels, blank
    const MetricCell* cell;
    CellUnit unit;
  };
  struct HistogramSeries {
    std::string bucket;  // up to the bound
    std::string sum;
    std::string count;
    const SharedHistogram* histogram;
    const HistogramRow* row;
  };
  struct Family {
    std::string head;  // HELP and TYPE
    std::vector<Series> series;
    std::vector<HistogramSeries> histograms;
  };

  MetricLabels Whole(const MetricLabels& labels) const;
  Family& FamilyOf(std::string_view name);
  static void AppendHistogram(const HistogramSeries& series, std::string* out);

  const std::vector<MetricRow> rows_;
  const MetricLabels common_;
  std::vector<Family> families_;  // as rows_
  std::deque<MetricCell> cells_;
};

// "name{a="b"} ", for who writes lines of his own.
std::string SeriesPrefix(std::string_view name, const MetricLabels& labels);
// "# HELP" and "# TYPE".
std::string FamilyHead(const MetricRow& row);
void AppendCell(uint64_t value, CellUnit unit, std::string* out);

}  // namespace suede

#endif  // SUEDE_METRICS_PAGE_H_
