// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md holds the declared metrics. With SUEDE_UPDATE_DOCS=1 its tables are written.
#include "endpoint/metric_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "metric_tables.h"
#include "page_tables.h"
#include "stats/switch_counters.h"

namespace suede {
namespace {

std::string Contents(const std::string& page) {
  std::ostringstream text;
  text << std::ifstream(page).rdbuf();
  return text.str();
}

TEST(MetricRowsTest, DocumentationHasTheDeclaredMetrics) {
  ExpectTable("docs/metrics.md", "metrics", MetricsAsMarkdown(OwnMetricRows()));
  ExpectTable("docs/metrics.md", "reasons", DropReasonsAsMarkdown());
  ExpectTable("docs/metrics.md", "peers", MetricsAsMarkdown(PeerMetricRows()));
}

TEST(MetricRowsTest, NamesAreUniqueAndAsPrometheusWantsThem) {
  std::set<std::string> names;
  for (const auto& rows : {AllMetricRows(), PeerMetricRows()}) {
    for (const MetricRow& row : rows) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
      EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
                std::string::npos);
      EXPECT_EQ(row.name.ends_with("_total"), row.type == MetricType::kCounter) << row.name;
      EXPECT_FALSE(row.sentence.empty());
      EXPECT_EQ(row.sentence.find_first_of("\n\\|"), std::string::npos) << row.name;
    }
  }
}

bool IsOfSwitch(const std::string& name) {
  const auto has_name = [&](const CounterRow& row) { return row.name == name; };
  return std::ranges::any_of(SwitchPortRows(), has_name) ||
         std::ranges::any_of(SwitchClassRows(), has_name);
}

// The names of docs/metrics.md, and for each reason for drops its name as a counter: a table of
// reasons has the metric in its head.
std::set<std::string> NamesOfPage() {
  static const std::regex kRow("\\| `([a-z0-9_]+)` \\| (.*) \\|");
  std::set<std::string> names;
  std::istringstream page(ReadSource("docs/metrics.md"));
  std::string drops;  // "suede_rx_drop" in the table of its reasons
  for (std::string line; std::getline(page, line);) {
    std::smatch row;
    if (line.empty()) drops.clear();
    if (!std::regex_match(line, row, kRow)) continue;
    const std::string name = row.str(1);
    if (!name.starts_with("suede_")) {
      if (!drops.empty()) names.insert(drops + "_" + name + "_total");
      continue;
    }
    names.insert(name);
    if (row.str(2) == "Meaning") drops = name.substr(0, name.find("s_total"));
  }
  return names;
}

// Names of `suedectl counters get`, or of a switch's counters, that stand in backquotes, and are
// none.
std::string Unknown(const std::string& text) {
  static const std::set<std::string> known = NamesOfPage();
  static const std::regex kName("`([a-z][a-z0-9_]*_total)`");
  std::string unknown;
  for (std::sregex_iterator at(text.begin(), text.end(), kName), end; at != end; ++at) {
    const std::string name = (*at)[1];
    if (IsOfSwitch(name)) continue;
    if (!known.contains(name.starts_with("suede_") ? name : "suede_" + name)) unknown += name + " ";
  }
  return unknown;
}

TEST(MetricRowsTest, CountersThatOtherPagesNameExist) {
  int pages = 0;
  for (const auto& file : std::filesystem::directory_iterator(SUEDE_SOURCE_DIR "/docs")) {
    if (file.path().extension() != ".md") continue;
    ++pages;
    EXPECT_EQ(Unknown(Contents(file.path())), "") << file.path();
  }
  EXPECT_GT(pages, 10);
  EXPECT_EQ(Unknown("`rx_drop_nothing_total` `peer_reset_total` `nonsense_total`"),
            "rx_drop_nothing_total nonsense_total ");
}

// Each possible act of a neighbour is visible: each row of that table names a counter.
TEST(MetricRowsTest, WhatANeighbourDoesIsCounted) {
  std::istringstream page(ReadSource("docs/security.md"));
  std::string line;
  int rows = 0;
  for (bool in_table = false; std::getline(page, line);) {
    if (line.starts_with("| frame |")) in_table = true;
    else if (!line.starts_with("|")) in_table = false;
    else if (in_table && !line.starts_with("|---")) {
      ++rows;
      EXPECT_NE(line.rfind("_total`"), std::string::npos) << line;
      EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 5) << line;
    }
  }
  EXPECT_GT(rows, 10);
}

}  // namespace
}  // namespace suede
