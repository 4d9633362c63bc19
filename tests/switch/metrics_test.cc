// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md holds the metrics of a switch. With SUEDE_UPDATE_DOCS=1 its tables are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/fabric_metrics.h"
#include "daemon/link_metrics.h"
#include "daemon/memif_reports.h"
#include "metric_tables.h"
#include "page_tables.h"
#include "stats/switch_counters.h"
#include "switch/switch_metric_rows.h"

namespace suede {
namespace {

// Returns the rows of the page, which names metrics of links and memifs as those of an endpoint's
// port.
std::vector<MetricRow> RowsOfPage() {
  std::vector<MetricRow> rows = SwitchOwnMetricRows();
  const std::vector<MetricRow> of_ports =
      Joined({LinkMetricRows("switch_"), MemifMetricRows("switch_")});
  const auto is_of_port = [&](const MetricRow& row) {
    return std::ranges::any_of(of_ports, [&](const MetricRow& of) { return of.name == row.name; });
  };
  std::erase_if(rows, is_of_port);
  return rows;
}

std::string SwitchReasonsAsMarkdown() {
  ReasonTables tables;
  const auto add = [&](std::span<const CounterRow> rows) {
    for (const CounterRow& row : rows) {
      const FabricMetricName name = FabricMetricNameOf("switch_", row.name);
      if (!name.reason.empty()) tables.Add(name.family, name.reason, row.sentence);
    }
  };
  add(SwitchPortRows());
  add(SwitchClassRows());
  return tables.AsMarkdown();
}

TEST(SwitchMetrics, DocumentationHasThem) {
  ExpectTable("docs/metrics.md", "switch-metrics", MetricsAsMarkdown(RowsOfPage()));
  ExpectTable("docs/metrics.md", "switch-reasons", SwitchReasonsAsMarkdown());
}

TEST(SwitchMetrics, NamesAreUniqueAndAsPrometheusWantsThem) {
  std::set<std::string> names;
  for (const MetricRow& row : SwitchMetricRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.name.ends_with("_total"), row.type == MetricType::kCounter) << row.name;
    EXPECT_FALSE(row.sentence.empty());
    EXPECT_EQ(row.sentence.find_first_of("\n\\|"), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace suede
