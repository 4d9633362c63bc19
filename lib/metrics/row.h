// SPDX-License-Identifier: Apache-2.0
// The exported name of a metric, and its meaning.
#ifndef SUEDE_METRICS_ROW_H_
#define SUEDE_METRICS_ROW_H_

#include <cstdint>
#include <span>
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
  std::string labels;  // those of its series: "xpu instance"
  std::string sentence;
};

// The name of a counter or gauge as a metric: rows that tell one thing apart share a family. The
// label is empty where the row is a family of its own.
struct MetricName {
  std::string_view family;
  std::string_view label;
  std::string_view value;
};
// rx_drop_rcrc_total is rx_drops_total{reason="rcrc"}, tx_drop_reset_total is
// tx_drops_total{reason="reset"}, connections_lost is connections{state="lost"}.
MetricName MetricNameOf(std::string_view row_name);

// The rows of lib/stats, in order. Counters that belong to an lcore have its label, the others and
// the rest those of an instance; of a family that both share the labels are told by a comma.
std::vector<MetricRow> StatsMetricRows();

// The reasons of both families of drops: family, reason, sentence.
struct DropReason {
  std::string_view family;
  std::string_view reason;
  std::string_view sentence;
};
std::vector<DropReason> DropReasons();

// The tables of docs/metrics.md.
std::string MetricsAsMarkdown(std::span<const MetricRow> rows);
std::string DropReasonsAsMarkdown();

}  // namespace suede

#endif  // SUEDE_METRICS_ROW_H_
