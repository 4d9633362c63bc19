// SPDX-License-Identifier: Apache-2.0
#include "daemon/fabric_metrics.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "stats/switch_counters.h"

namespace suede {
namespace {

constexpr std::string_view kTotal = "_total";
struct DropFamily {
  std::string_view prefix;
  std::string_view family;
  std::string_view sentence;
};
constexpr DropFamily kDropFamilies[] = {
    {"rx_drop_", "rx_drops_total", "Received frames dropped, by reason"},
    {"class_drop_", "class_drops_total", "Frames of a class not sent, by reason"},
};

const DropFamily* FamilyWith(std::string_view counter) {
  for (const DropFamily& family : kDropFamilies) {
    if (counter.starts_with(family.prefix)) return &family;
  }
  return nullptr;
}

void Include(std::vector<MetricRow>& rows, std::string_view prefix, const CounterRow& counter,
             const std::string& labels) {
  const FabricMetricName name = FabricMetricNameOf(prefix, counter.name);
  const auto same = [&](const MetricRow& row) { return row.name == name.family; };
  if (std::any_of(rows.begin(), rows.end(), same)) return;
  const DropFamily* const drops = FamilyWith(counter.name);
  rows.push_back({.name = name.family,
                  .type = MetricType::kCounter,
                  .labels = drops != nullptr ? absl::StrCat(labels, " reason") : labels,
                  .sentence = std::string(drops != nullptr ? drops->sentence : counter.sentence)});
}

MetricLabels WithReason(MetricLabels labels, std::string_view reason) {
  if (!reason.empty()) labels.emplace_back("reason", std::string(reason));
  return labels;
}

// Adds a series for each counter of a block.
template <class Counter>
void AddCounters(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                 std::span<const CounterRow> rows, const auto& counters) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const FabricMetricName name = FabricMetricNameOf(prefix, rows[i].name);
    page.Add(name.family, WithReason(labels, name.reason), &counters.Cell(static_cast<Counter>(i)));
  }
}

}  // namespace

FabricMetricName FabricMetricNameOf(std::string_view prefix, std::string_view counter) {
  const DropFamily* const family = FamilyWith(counter);
  if (family == nullptr) return {absl::StrCat(std::string(prefix), std::string(counter)), {}};
  std::string_view reason = counter.substr(family->prefix.size());
  reason.remove_suffix(kTotal.size());
  return {absl::StrCat(std::string(prefix), std::string(family->family)), reason};
}

std::vector<MetricRow> FabricMetricRows(std::string_view prefix, std::string_view labels) {
  std::vector<MetricRow> rows;
  const std::string of_port(labels);
  for (const CounterRow& row : SwitchPortRows()) Include(rows, prefix, row, of_port);
  for (const CounterRow& row : SwitchClassRows()) Include(rows, prefix, row, of_port + " class");
  return rows;
}

MetricLabels LabelsOfClass(MetricLabels labels, uint32_t traffic_class) {
  labels.emplace_back("class", absl::StrCat(traffic_class));
  return labels;
}

void AddFabricMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                      const fabric::SwitchPort& port, uint32_t classes) {
  AddCounters<SwitchPortCounter>(page, prefix, labels, SwitchPortRows(), port.counters());
  for (; classes != 0; classes &= classes - 1) {
    const auto traffic_class = static_cast<uint32_t>(std::countr_zero(classes));
    AddCounters<SwitchClassCounter>(page, prefix, LabelsOfClass(labels, traffic_class),
                                    SwitchClassRows(), port.counters(traffic_class));
  }
}

}  // namespace suede
