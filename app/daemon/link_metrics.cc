// SPDX-License-Identifier: Apache-2.0
#include "daemon/link_metrics.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

template <typename Row>
void Include(std::vector<MetricRow>& rows, std::string_view prefix, const Row& row, MetricType type,
             std::string_view labels) {
  rows.push_back({.name = absl::StrCat(std::string(prefix), std::string(row.name)),
                  .type = type,
                  .labels = std::string(labels),
                  .sentence = std::string(row.sentence)});
}

}  // namespace

std::vector<MetricRow> LinkMetricRows(std::string_view prefix, std::string_view labels) {
  std::vector<MetricRow> rows;
  for (const CounterRow& row : LinkCounterRows()) {
    Include(rows, prefix, row, MetricType::kCounter, labels);
  }
  for (const LinkGaugeRow& row : LinkGaugeRows()) {
    Include(rows, prefix, row, MetricType::kGauge, labels);
  }
  for (const LinkCreditRow& row : LinkCreditRows()) {
    Include(rows, prefix, row, MetricType::kGauge, absl::StrCat(std::string(labels), " vc"));
  }
  return rows;
}

void AddLinkMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                    const LinkCounters& counters, bool has_credit) {
  const auto add = [&](std::string_view name, const MetricLabels& with, const MetricCell& cell) {
    page.Add(absl::StrCat(std::string(prefix), std::string(name)), with, &cell);
  };
  for (size_t i = 0; i < LinkCounterRows().size(); ++i) {
    add(LinkCounterRows()[i].name, labels, counters.Cell(static_cast<LinkCounter>(i)));
  }
  for (size_t i = 0; i < LinkGaugeRows().size(); ++i) {
    add(LinkGaugeRows()[i].name, labels, counters.Cell(static_cast<LinkGauge>(i)));
  }
  if (!has_credit) return;
  for (uint32_t vc = 0; vc < LinkCounters::kShownVcs; ++vc) {
    MetricLabels with = labels;
    with.emplace_back("vc", absl::StrCat(vc));
    for (const LinkCreditRow& row : LinkCreditRows()) {
      add(row.name, with, counters.credit_cells(vc).*row.cell);
    }
  }
}

}  // namespace suede
