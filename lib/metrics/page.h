// SPDX-License-Identifier: Apache-2.0
// The metrics page, which prometheus-cpp collects and serializes (text format 0.0.4).
//
// The families, the series and the source cell of each series are fixed before the first reader.
// Any thread may collect at any time: cells are atomics, so that a writer never waits for a reader.
#ifndef SUEDE_METRICS_PAGE_H_
#define SUEDE_METRICS_PAGE_H_

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/row.h"
#include "stats/histograms.h"

namespace suede {

using MetricCell = std::atomic<uint64_t>;

// Unit of a cell's value. Series have base units: seconds, ratios.
enum class CellUnit : uint8_t {
  kPlain,
  kNanoseconds,  // shown in seconds
  kMillionths,   // shown as a ratio
};
double InBaseUnit(uint64_t value, CellUnit unit);

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

class MetricsPage final : public prometheus::Collectable {
 public:
  // `rows`: the families, in the order of the page. A family without series is omitted. Each series
  // has the `common` labels in front of its own.
  explicit MetricsPage(std::vector<MetricRow> rows, MetricLabels common = {});

  // Adds a series. Aborts if the family was not declared. The cell or histogram must outlive the
  // page.
  void Add(std::string_view family, const MetricLabels& labels, const MetricCell* cell,
           CellUnit unit = CellUnit::kPlain);
  void Add(const HistogramRow& row, const MetricLabels& labels, const SharedHistogram* histogram);
  // Adds a series with a cell that the page owns, for values that another thread copies there.
  MetricCell* NewCell(std::string_view family, const MetricLabels& labels,
                      CellUnit unit = CellUnit::kPlain);

  // Adds a series whose value CopySamples reads. One thread calls CopySamples, at any time.
  MetricCell* NewSample(std::string_view family, const MetricLabels& labels,
                        std::function<uint64_t()> read, CellUnit unit = CellUnit::kPlain);
  // The same for a value in memory.
  MetricCell* NewSample(std::string_view family, const MetricLabels& labels, const uint64_t* from) {
    return NewSample(family, labels, [from] { return *from; });
  }
  void CopySamples() const;

  // Any thread.
  std::vector<prometheus::MetricFamily> Collect() const override;
  std::span<const MetricRow> rows() const { return rows_; }
  const MetricLabels& common() const { return common_; }

 private:
  // Source of a series' value: a cell, or a histogram with its row.
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
  std::vector<std::vector<Source>> sources_;        // of each family's series
  std::deque<MetricCell> cells_;
  struct Sample {
    std::function<uint64_t()> read;
    MetricCell* cell;
  };
  std::vector<Sample> samples_;
};

// Returns a family without series.
prometheus::MetricFamily FamilyOf(const MetricRow& row);
// Returns a counter or gauge with `value`; `type` must not be kHistogram.
prometheus::ClientMetric SeriesOf(MetricType type, const MetricLabels& labels, double value);
// Returns the families as text.
std::string AsText(const std::vector<prometheus::MetricFamily>& families);

}  // namespace suede

#endif  // SUEDE_METRICS_PAGE_H_
