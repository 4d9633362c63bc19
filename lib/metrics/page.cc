// SPDX-License-Identifier: Apache-2.0
#include "metrics/page.h"

#include <prometheus/text_serializer.h>

#include <cstdlib>
#include <sstream>

#include "base/text.h"

namespace suede {
namespace {

CellUnit UnitOf(const HistogramRow& row) {
  return row.unit == HistogramUnit::kNanoseconds ? CellUnit::kNanoseconds : CellUnit::kPlain;
}

prometheus::MetricType TypeOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

void SetValue(prometheus::MetricType type, double value, prometheus::ClientMetric* metric) {
  if (type == prometheus::MetricType::Counter) {
    metric->counter.value = value;
  } else {
    metric->gauge.value = value;
  }
}

prometheus::ClientMetric::Histogram ValuesOf(const SharedHistogram& histogram,
                                             const HistogramRow& row) {
  HistogramSum sum;
  sum.Add(histogram);
  const CellUnit unit = UnitOf(row);
  prometheus::ClientMetric::Histogram values;
  values.bucket.reserve(static_cast<size_t>(row.last_bound - row.first_bound) + 1);
  sum.ForEachBound(row.first_bound, row.last_bound, [&](int bound, uint64_t count) {
    values.bucket.push_back({count, InBaseUnit(uint64_t{1} << bound, unit)});
  });
  values.sample_count = sum.count();
  values.sample_sum = InBaseUnit(sum.sum(), unit);
  return values;
}

}  // namespace

double InBaseUnit(uint64_t value, CellUnit unit) {
  const auto number = static_cast<double>(value);
  switch (unit) {
    case CellUnit::kPlain:
      return number;
    case CellUnit::kNanoseconds:
      return number / 1e9;
    case CellUnit::kMillionths:
      return number / 1e6;
  }
  return number;
}

prometheus::MetricFamily FamilyOf(const MetricRow& row) {
  return {.name = StrCat("suede_", row.name),
          .help = row.sentence,
          .type = TypeOf(row.type),
          .metric = {}};
}

prometheus::ClientMetric SeriesOf(MetricType type, const MetricLabels& labels, double value) {
  prometheus::ClientMetric metric;
  metric.label.reserve(labels.size());
  for (const auto& [name, text] : labels) metric.label.push_back({std::string(name), text});
  SetValue(TypeOf(type), value, &metric);
  return metric;
}

std::string AsText(const std::vector<prometheus::MetricFamily>& families) {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

MetricsPage::MetricsPage(std::vector<MetricRow> rows, MetricLabels common)
    : rows_(std::move(rows)), common_(std::move(common)), sources_(rows_.size()) {
  families_.reserve(rows_.size());
  for (const MetricRow& row : rows_) families_.push_back(FamilyOf(row));
}

size_t MetricsPage::IndexOf(std::string_view family) const {
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].name == family) return i;
  }
  std::abort();
}

void MetricsPage::Add(std::string_view family, const MetricLabels& labels, const Source& source) {
  const size_t index = IndexOf(family);
  MetricLabels whole = common_;
  whole.insert(whole.end(), labels.begin(), labels.end());
  families_[index].metric.push_back(SeriesOf(rows_[index].type, whole, 0));
  sources_[index].push_back(source);
}

void MetricsPage::Add(std::string_view family, const MetricLabels& labels, const MetricCell* cell,
                      CellUnit unit) {
  Add(family, labels, Source{.cell = cell, .unit = unit});
}

void MetricsPage::Add(const HistogramRow& row, const MetricLabels& labels,
                      const SharedHistogram* histogram) {
  Add(row.name, labels, Source{.histogram = histogram, .row = &row});
}

MetricCell* MetricsPage::NewCell(std::string_view family, const MetricLabels& labels,
                                 CellUnit unit) {
  MetricCell* const cell = &cells_.emplace_back(0);
  Add(family, labels, cell, unit);
  return cell;
}

MetricCell* MetricsPage::NewSample(std::string_view family, const MetricLabels& labels,
                                   std::function<uint64_t()> read, CellUnit unit) {
  samples_.push_back({.read = std::move(read), .cell = NewCell(family, labels, unit)});
  return samples_.back().cell;
}

void MetricsPage::CopySamples() const {
  for (const Sample& sample : samples_) {
    sample.cell->store(sample.read(), std::memory_order_relaxed);
  }
}

std::vector<prometheus::MetricFamily> MetricsPage::Collect() const {
  std::vector<prometheus::MetricFamily> collected;
  collected.reserve(families_.size());
  for (size_t i = 0; i < families_.size(); ++i) {
    if (families_[i].metric.empty()) continue;
    prometheus::MetricFamily& family = collected.emplace_back(families_[i]);
    for (size_t s = 0; s < family.metric.size(); ++s) {
      const Source& source = sources_[i][s];
      if (source.histogram != nullptr) {
        family.metric[s].histogram = ValuesOf(*source.histogram, *source.row);
      } else {
        const uint64_t value = source.cell->load(std::memory_order_relaxed);
        SetValue(family.type, InBaseUnit(value, source.unit), &family.metric[s]);
      }
    }
  }
  return collected;
}

}  // namespace suede
