// SPDX-License-Identifier: Apache-2.0
#include "metrics/row.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "stats/counters.h"
#include "stats/gauges.h"

namespace suede {
namespace {

TEST(MetricNameTest, DropsAndConnectionsAreFamiliesWithALabel) {
  const MetricName rx = MetricNameOf("rx_drop_rcrc_total");
  EXPECT_EQ(rx.family, "rx_drops_total");
  EXPECT_EQ(rx.label, "reason");
  EXPECT_EQ(rx.value, "rcrc");
  EXPECT_EQ(MetricNameOf("tx_drop_unknown_xpu_total").value, "unknown_xpu");
  EXPECT_EQ(MetricNameOf("connections_lost").family, "connections");
  EXPECT_EQ(MetricNameOf("connections_lost").label, "state");
  const MetricName plain = MetricNameOf("tx_commands_total");
  EXPECT_EQ(plain.family, "tx_commands_total");
  EXPECT_TRUE(plain.label.empty());
}

TEST(MetricRowsTest, EveryRowOfTheStatisticsIsInAFamilyOnce) {
  std::set<std::string> names;
  for (const MetricRow& row : StatsMetricRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.sentence.empty());
    EXPECT_EQ(row.name.ends_with("_total"), row.type == MetricType::kCounter) << row.name;
  }
  std::set<std::string> series;
  for (const CounterRow& row : CounterRows()) {
    const MetricName name = MetricNameOf(row.name);
    EXPECT_TRUE(names.contains(std::string(name.family))) << row.name;
    EXPECT_TRUE(series.insert(std::string(name.family) + "/" + std::string(name.value)).second);
  }
  EXPECT_EQ(series.size(), kCounterCount);
}

TEST(MetricRowsTest, DropsSayWhoseTheyAre) {
  std::map<std::string, std::string> labels;
  for (const MetricRow& row : StatsMetricRows()) labels[row.name] = row.labels;
  EXPECT_EQ(labels["rx_drops_total"], "lcore reason, xpu instance reason");
  EXPECT_EQ(labels["tx_drops_total"], "xpu instance reason");
  EXPECT_EQ(labels["mgmt_tx_drops_total"], "lcore reason");
  EXPECT_EQ(labels["busy_cycles_total"], "lcore");
  EXPECT_EQ(labels["rtt_seconds"], "xpu instance");
}

}  // namespace
}  // namespace suede
