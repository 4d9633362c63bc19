// SPDX-License-Identifier: Apache-2.0
// Tables of docs/metrics.md.
#ifndef SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_
#define SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_

#include <span>
#include <string>

#include "absl/strings/str_replace.h"
#include "base/text.h"
#include "metrics/row.h"
#include "stats/counters.h"

namespace suede {

inline std::string MetricsAsMarkdown(std::span<const MetricRow> rows) {
  std::string out = "| Metric | Meaning |\n|---|---|\n";
  for (const MetricRow& row : rows) {
    // Most are of an instance, and the XPU of an instance goes without saying.
    std::string labels = absl::StrReplaceAll(row.labels, {{"xpu instance", "instance"}});
    labels = labels == "instance"
                 ? ""
                 : StrCat(" {", absl::StrReplaceAll(labels, {{", ", "} or {"}, {" ", ","}}), "}");
    StrAppend(&out, "| `suede_", row.name, "` | ", row.sentence,
              row.type == MetricType::kHistogram ? " (histogram)" : "", labels, " |\n");
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
