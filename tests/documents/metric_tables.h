// SPDX-License-Identifier: Apache-2.0
// Tables of docs/metrics.md.
#ifndef SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_
#define SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// The reasons for drops: a table for each metric.
class ReasonTables {
 public:
  void Add(std::string_view family, std::string_view reason, std::string_view sentence) {
    auto table = std::ranges::find(tables_, family, &Table::first);
    if (table == tables_.end()) {
      tables_.emplace_back(family, StrCat("| `suede_", family, "` | Meaning |\n|---|---|\n"));
      table = std::prev(tables_.end());
    }
    StrAppend(&table->second, "| `", reason, "` | ", sentence, " |\n");
  }

  std::string AsMarkdown() const {
    std::string out;
    for (const auto& [family, text] : tables_) StrAppend(&out, out.empty() ? "" : "\n", text);
    return out;
  }

 private:
  using Table = std::pair<std::string, std::string>;  // metric, text
  std::vector<Table> tables_;
};

inline std::string DropReasonsAsMarkdown() {
  ReasonTables tables;
  for (const CounterRow& row : CounterRows()) {
    const MetricName metric = MetricNameOf(row.name);
    if (metric.label == "reason") tables.Add(metric.family, metric.value, row.sentence);
  }
  return tables.AsMarkdown();
}

}  // namespace suede

#endif  // SUEDE_TESTS_DOCUMENTS_METRIC_TABLES_H_
