// SPDX-License-Identifier: Apache-2.0
#include "daemon/lldp_metrics.h"

#include <cstdint>
#include <string>

#include "base/text.h"

namespace suede {

std::vector<MetricRow> LldpMetricRows(std::string_view prefix) {
  std::vector<MetricRow> rows;
  const auto add = [&](std::string_view name, MetricType type, std::string_view sentence) {
    rows.push_back({.name = StrCat(prefix, name),
                    .type = type,
                    .labels = "port",
                    .sentence = std::string(sentence)});
  };
  for (const CounterRow& row : LldpCounterRows()) add(row.name, MetricType::kCounter, row.sentence);
  for (const LinkGaugeRow& row : LldpGaugeRows()) add(row.name, MetricType::kGauge, row.sentence);
  return rows;
}

void AddLldpMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                    const LldpCounters& counters) {
  for (size_t i = 0; i < LldpCounterRows().size(); ++i) {
    page.Add(StrCat(prefix, LldpCounterRows()[i].name), labels,
             &counters.Cell(static_cast<LldpCounter>(i)));
  }
  for (size_t i = 0; i < LldpGaugeRows().size(); ++i) {
    page.Add(StrCat(prefix, LldpGaugeRows()[i].name), labels,
             &counters.Cell(static_cast<LldpGauge>(i)));
  }
}

}  // namespace suede
