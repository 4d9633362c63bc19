// SPDX-License-Identifier: Apache-2.0
// The metrics page, as prometheus-cpp collects and writes it (text format 0.0.4).
//
// The families, the series, and for each series the cell that its value is read from are settled
// once, before the first reader. Any thread may collect at any time: cells are atomics, so that no
// writer of one ever waits for a reader.
#ifndef SUEDE_METRICS_PAGE_H_
#define SUEDE_METRICS_PAGE_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/row.h"
#include "stats/histograms.h"

namespace suede {

using MetricCell = std::atomic<uint64_t>;

// The unit of a cell's value. Series have base units: seconds, ratios.
enum class CellUnit : uint8_t {
  kPlain,
  kNanoseconds,  // shown in seconds
  kMillionths,   // shown as a ratio
};
double InBaseUnit(uint64_t value, CellUnit unit);

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

class MetricsPage final : public prometheus::Collectable {
 public:
  // The families, in the order of the page. A family without series is not shown. Each series has
  // the `common` labels before its own.
  explicit MetricsPage(std::vector<MetricRow> rows, MetricLabels common = {});

  // The family must have been declared, and the cell or histogram outlives the page. Aborts
  // otherwise.
  void Add(std::string_view family, const MetricLabels& labels, const MetricCell* cell,
           CellUnit unit = CellUnit::kPlain);
  void Add(const HistogramRow& row, const MetricLabels& labels, const SharedHistogram* histogram);
  // A cell of the page's own, for values that another thread copies there.
  MetricCell* NewCell(std::string_view family, const MetricLabels& labels,
                      CellUnit unit = CellUnit::kPlain);

  // Any thread.
  std::vector<prometheus::MetricFamily> Collect() const override;
  std::span<const MetricRow> rows() const { return rows_; }
  const MetricLabels& common() const { return common_; }

 private:
  // The source of the value of a family's metric: a cell, or a histogram with its row.
  struct Source {
    const MetricCell* cell = nullptr;
    CellUnit unit = CellUnit::kPlain;
    const SharedHistogram* histogram = nullptr;
    const HistogramRow* row = nullptr;
  };

  size_t IndexOf(std::string_view family) const;
  void Add(std::string_view family, const MetricLabels& labels, const Source& source);

  const std::vector<MetricRow> rows_;
  const MetricLabels common_;
  std::vector<prometheus::MetricFamily> families_;  // as rows_, with labels and without values
  std::vector<std::vector<Source>> sources_;        // of each family's metrics
  std::deque<MetricCell> cells_;
};

// A family without series.
prometheus::MetricFamily FamilyOf(const MetricRow& row);
// A counter or gauge with that value; the other kinds of families take no such value.
prometheus::ClientMetric SeriesOf(MetricType type, const MetricLabels& labels, double value);
// The families as text.
std::string AsText(const std::vector<prometheus::MetricFamily>& families);

}  // namespace suede

#endif  // SUEDE_METRICS_PAGE_H_
