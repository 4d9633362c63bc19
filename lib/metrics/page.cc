// SPDX-License-Identifier: Apache-2.0
#include "metrics/page.h"

#include <charconv>
#include <cstdlib>

#include "base/text.h"

namespace suede {
namespace {

constexpr std::string_view kPrefix = "suede_";

void AppendNumber(uint64_t value, std::string* out) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

// `value` * 10^-places, without zeros at its end.
void AppendDecimal(uint64_t value, int places, std::string* out) {
  uint64_t unit = 1;
  for (int i = 0; i < places; ++i) unit *= 10;
  AppendNumber(value / unit, out);
  uint64_t rest = value % unit;
  if (rest == 0) return;
  out->push_back('.');
  for (unit /= 10; rest != 0; unit /= 10) {
    out->push_back(static_cast<char>('0' + rest / unit));
    rest %= unit;
  }
}

CellUnit UnitOf(const HistogramRow& row) {
  return row.unit == HistogramUnit::kNanoseconds ? CellUnit::kNanoseconds : CellUnit::kPlain;
}

// A label's value, as the format escapes it.
void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    switch (c) {
      case '\\': out->append("\\\\"); break;
      case '"': out->append("\\\""); break;
      case '\n': out->append("\\n"); break;
      default: out->push_back(c);
    }
  }
}

}  // namespace

std::string SeriesPrefix(std::string_view name, const MetricLabels& labels) {
  std::string out = StrCat(kPrefix, name);
  char separator = '{';
  for (const auto& [label, value] : labels) {
    out.push_back(separator);
    StrAppend(&out, label, "=\"");
    AppendEscaped(value, &out);
    out.push_back('"');
    separator = ',';
  }
  out.append(labels.empty() ? " " : "} ");
  return out;
}

std::string FamilyHead(const MetricRow& row) {
  return StrCat("# HELP ", kPrefix, row.name, " ", row.sentence, "\n# TYPE ", kPrefix, row.name,
                " ", NameOf(row.type), "\n");
}

void AppendCell(uint64_t value, CellUnit unit, std::string* out) {
  switch (unit) {
    case CellUnit::kPlain: return AppendNumber(value, out);
    case CellUnit::kNanoseconds: return AppendDecimal(value, 9, out);
    case CellUnit::kMillionths: return AppendDecimal(value, 6, out);
  }
}

MetricsPage::MetricsPage(std::vector<MetricRow> rows, MetricLabels common)
    : rows_(std::move(rows)), common_(std::move(common)) {
  families_.reserve(rows_.size());
  for (const MetricRow& row : rows_) {
    families_.push_back({.head = FamilyHead(row), .series = {}, .histograms = {}});
  }
}

MetricLabels MetricsPage::Whole(const MetricLabels& labels) const {
  MetricLabels whole = common_;
  whole.insert(whole.end(), labels.begin(), labels.end());
  return whole;
}

MetricsPage::Family& MetricsPage::FamilyOf(std::string_view name) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].name == name) return families_[i];
  }
  std::abort();
}

void MetricsPage::Add(std::string_view family, const MetricLabels& labels, const MetricCell* cell,
                      CellUnit unit) {
  FamilyOf(family).series.push_back(
      {.prefix = SeriesPrefix(family, Whole(labels)), .cell = cell, .unit = unit});
}

void MetricsPage::Add(const HistogramRow& row, const MetricLabels& own,
                      const SharedHistogram* histogram) {
  const MetricLabels labels = Whole(own);
  std::string bucket = SeriesPrefix(StrCat(row.name, "_bucket"), labels);
  // Ends in "} ", or in a blank alone.
  bucket.resize(bucket.size() - (labels.empty() ? 1 : 2));
  StrAppend(&bucket, labels.empty() ? "{" : ",", "le=\"");
  FamilyOf(row.name).histograms.push_back(
      {.bucket = std::move(bucket),
       .sum = SeriesPrefix(StrCat(row.name, "_sum"), labels),
       .count = SeriesPrefix(StrCat(row.name, "_count"), labels),
       .histogram = histogram,
       .row = &row});
}

MetricCell* MetricsPage::NewCell(std::string_view family, const MetricLabels& labels,
                                 CellUnit unit) {
  MetricCell* const cell = &cells_.emplace_back(0);
  Add(family, labels, cell, unit);
  return cell;
}

void MetricsPage::AppendHistogram(const HistogramSeries& series, std::string* out) {
  HistogramSum sum;
  sum.Add(*series.histogram);
  const CellUnit unit = UnitOf(*series.row);
  sum.ForEachBound(series.row->first_bound, series.row->last_bound, [&](int bound, uint64_t count) {
    out->append(series.bucket);
    AppendCell(uint64_t{1} << bound, unit, out);
    out->append("\"} ");
    AppendNumber(count, out);
    out->push_back('\n');
  });
  StrAppend(out, series.bucket, "+Inf\"} ");
  AppendNumber(sum.count(), out);
  StrAppend(out, "\n", series.sum);
  AppendCell(sum.sum(), unit, out);
  StrAppend(out, "\n", series.count);
  AppendNumber(sum.count(), out);
  out->push_back('\n');
}

void MetricsPage::AppendTo(std::string* out) const {
  for (const Family& family : families_) {
    if (family.series.empty() && family.histograms.empty()) continue;
    out->append(family.head);
    for (const Series& series : family.series) {
      out->append(series.prefix);
      AppendCell(series.cell->load(std::memory_order_relaxed), series.unit, out);
      out->push_back('\n');
    }
    for (const HistogramSeries& series : family.histograms) AppendHistogram(series, out);
  }
}

}  // namespace suede
