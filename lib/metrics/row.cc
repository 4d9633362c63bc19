// SPDX-License-Identifier: Apache-2.0
#include "metrics/row.h"

#include <algorithm>

#include "base/text.h"
#include "stats/counters.h"
#include "stats/gauges.h"
#include "stats/histograms.h"

namespace suede {
namespace {

struct Shared {
  std::string_view prefix;
  std::string_view suffix;
  std::string_view family;
  std::string_view label;
  std::string_view sentence;
};
constexpr Shared kShared[] = {
    {"rx_drop_", "_total", "rx_drops_total", "reason", "Discarded frames and PDUs, by reason"},
    {"tx_drop_", "_total", "tx_drops_total", "reason",
     "Commands not delivered, by reason; no_mac: PDUs without commands"},
    {"mgmt_rx_drop_", "_total", "mgmt_rx_drops_total", "reason",
     "Frames that are not SUE's and were not handed up, by reason"},
    {"mgmt_tx_drop_", "_total", "mgmt_tx_drops_total", "reason",
     "Management packets not sent, by reason"},
    {"connections_", "", "connections", "state", "Connections by state"},
};

const Shared* SharedOf(std::string_view family) {
  for (const Shared& shared : kShared) {
    if (shared.family == family) return &shared;
  }
  return nullptr;
}

void Include(std::vector<MetricRow>& rows, std::string_view name, MetricType type,
             std::string_view owner, std::string_view sentence) {
  const MetricName metric = MetricNameOf(name);
  std::string labels = StrCat(owner, metric.label.empty() ? "" : " ", metric.label);
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const MetricRow& row) { return row.name == metric.family; });
  if (found == rows.end()) {
    const std::string_view said =
        metric.label.empty() ? sentence : SharedOf(metric.family)->sentence;
    rows.push_back({.name = std::string(metric.family),
                    .type = type,
                    .labels = std::move(labels),
                    .sentence = std::string(said)});
  } else if (found->labels.find(labels) == std::string::npos) {
    StrAppend(&found->labels, ", ", labels);
  }
}

}  // namespace

std::string_view NameOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return "counter";
    case MetricType::kGauge: return "gauge";
    case MetricType::kHistogram: break;
  }
  return "histogram";
}

MetricName MetricNameOf(std::string_view name) {
  for (const Shared& shared : kShared) {
    if (!name.starts_with(shared.prefix) || !name.ends_with(shared.suffix)) continue;
    std::string_view value = name.substr(shared.prefix.size());
    value.remove_suffix(shared.suffix.size());
    return {.family = shared.family, .label = shared.label, .value = value};
  }
  return {.family = name, .label = {}, .value = {}};
}

std::vector<MetricRow> Joined(std::initializer_list<std::vector<MetricRow>> parts) {
  std::vector<MetricRow> rows;
  for (const std::vector<MetricRow>& part : parts)
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

std::vector<MetricRow> StatsMetricRows() {
  constexpr std::string_view kInstance = "xpu instance";
  std::vector<MetricRow> rows;
  for (size_t i = 0; i < kCounterCount; ++i) {
    const CounterRow& row = CounterRows()[i];
    const auto counter = static_cast<Counter>(i);
    if (IsOfLcore(counter)) {
      Include(rows, row.name, MetricType::kCounter, "lcore", row.sentence);
    }
    if (IsOfInstance(counter)) {
      Include(rows, row.name, MetricType::kCounter, kInstance, row.sentence);
    }
  }
  for (const GaugeRow& row : GaugeRows()) {
    Include(rows, row.name, MetricType::kGauge, kInstance, row.sentence);
  }
  for (const HistogramRow& row : HistogramRows()) {
    Include(rows, row.name, MetricType::kHistogram, kInstance, row.sentence);
  }
  return rows;
}

}  // namespace suede
