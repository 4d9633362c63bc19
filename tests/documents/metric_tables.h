// SPDX-License-Identifier: Apache-2.0
// Tables of docs/metrics.md.
#ifndef SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_
#define SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_

#include <span>
#include <string>

#include "base/text.h"
#include "metrics/row.h"
#include "stats/counters.h"

namespace suede {

inline std::string MetricsAsMarkdown(std::span<const MetricRow> rows) {
  std::string out = "| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n";
  for (const MetricRow& row : rows) {
    StrAppend(&out, "| `suede_", row.name, "` | ", NameOf(row.type), " | ", row.labels, " | ",
              row.sentence, " |\n");
  }
  return out;
}

inline std::string DropReasonsAsMarkdown() {
  std::string out = "| Metric | Reason | Meaning |\n|---|---|---|\n";
  for (const CounterRow& row : CounterRows()) {
    const MetricName metric = MetricNameOf(row.name);
    if (metric.label != "reason") continue;
    StrAppend(&out, "| `suede_", metric.family, "` | `", metric.value, "` | ", row.sentence,
              " |\n");
  }
  return out;
}

}  // namespace suede

#endif  // SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_
