// SPDX-License-Identifier: Apache-2.0
#include "stats/counters.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace suede {
namespace {

TEST(CountersTest, NamesAreUniqueAndFitForPrometheus) {
  std::set<std::string> names;
  for (const CounterRow& row : CounterRows()) {
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    EXPECT_TRUE(row.name.ends_with("_total")) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos);
    EXPECT_FALSE(row.sentence.empty()) << row.name;
    EXPECT_NE(row.sentence.back(), '.') << row.name;
  }
  EXPECT_EQ(names.size(), kCounterCount);
}

TEST(CountersTest, DropsAreNotInfo) {
  for (const CounterRow& row : CounterRows()) {
    if (row.name.find("_drop_") == std::string_view::npos) continue;
    EXPECT_NE(row.severity, Severity::kInfo) << row.name;
  }
}

TEST(CountersTest, BlocksAddUpPerCounter) {
  CounterBlock a, b;
  a.Add(Counter::kTxPdus);
  a.Add(Counter::kTxPdus, 4);
  b.Add(Counter::kTxPdus, 10);
  b.Add(Counter::kHelloMismatch);
  EXPECT_EQ(a.Get(Counter::kTxPdus), 5u);
  EXPECT_EQ(a.Get(Counter::kHelloMismatch), 0u);
  CounterSnapshot sum{};
  a.AddTo(sum);
  b.AddTo(sum);
  EXPECT_EQ(sum[static_cast<size_t>(Counter::kTxPdus)], 15u);
  EXPECT_EQ(sum[static_cast<size_t>(Counter::kHelloMismatch)], 1u);
  EXPECT_EQ(sum[static_cast<size_t>(Counter::kRxPdus)], 0u);
}

TEST(CountersTest, AreFormattedForALog) {
  CounterSnapshot snapshot{};
  EXPECT_EQ(FormatCounters(snapshot, true), "");
  EXPECT_TRUE(FormatCounters(snapshot, false).starts_with(" tx_commands_total=0 "));
  snapshot[static_cast<size_t>(Counter::kRxPdus)] = 7;
  snapshot[static_cast<size_t>(Counter::kTxPdus)] = 5;
  EXPECT_EQ(FormatCounters(snapshot, true), " tx_pdus_total=5 rx_pdus_total=7");
}

}  // namespace
}  // namespace suede
