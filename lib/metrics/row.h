// SPDX-License-Identifier: Apache-2.0
// Exported names of metrics, and their meaning.
#ifndef SUEDE_METRICS_ROW_H_
#define SUEDE_METRICS_ROW_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace suede {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };
std::string_view NameOf(MetricType type);

// A family of series.
struct MetricRow {
  std::string name;  // without suede_
  MetricType type = MetricType::kGauge;
  std::string labels;  // of its series: "xpu instance"
  std::string sentence;
};

// Name of a counter or gauge as a metric: rows that differ only in one property share a family. The
// label is empty if the row is a family of its own.
struct MetricName {
  std::string_view family;
  std::string_view label;
  std::string_view value;
};
// rx_drop_rcrc_total is rx_drops_total{reason="rcrc"}, tx_drop_reset_total is
// tx_drops_total{reason="reset"}, connections_lost is connections{state="lost"}.
MetricName MetricNameOf(std::string_view row_name);

// Returns the rows of lib/stats, in order. Counters of an lcore have the labels of an lcore, all
// others those of an instance; if a family has both, a comma separates them.
std::vector<MetricRow> StatsMetricRows();

// Returns the rows of all parts, in order.
std::vector<MetricRow> Joined(std::initializer_list<std::vector<MetricRow>> parts);

}  // namespace suede

#endif  // SUEDE_METRICS_ROW_H_
