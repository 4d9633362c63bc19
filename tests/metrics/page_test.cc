// SPDX-License-Identifier: Apache-2.0
// The page as its readers get it: families, series, values, labels.
#include "metrics/page.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace suede {
namespace {

std::string Rendered(const MetricsPage& page) { return AsText(page.Collect()); }

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(MetricsPageTest, FamiliesComeInOrderWithTheirSeriesAndWithoutEmptyOnes) {
  const HistogramRow row{.name = "delay_seconds", .unit = HistogramUnit::kNanoseconds,
                         .first_bound = 10, .last_bound = 12, .sentence = "How long"};
  MetricsPage page({{"frames_total", MetricType::kCounter, "port", "Frames"},
                    {"delay_seconds", MetricType::kHistogram, "xpu", "How long"},
                    {"unused", MetricType::kGauge, "", "Has no series"},
                    {"ready", MetricType::kGauge, "", "Is it"}});
  *page.NewCell("frames_total", {{"port", "a \"b\" \\ c\nd"}}) = 12345678;
  *page.NewCell("frames_total", {{"port", "p1"}}) = 0;
  *page.NewCell("ready", {}) = 1;
  SharedHistogram histogram;
  for (const uint64_t ns : {900, 1024, 1025, 4096, 5000}) histogram.Record(ns);
  page.Add(row, {{"xpu", "7"}}, &histogram);
  EXPECT_EQ(LinesOf(Rendered(page)),
            (std::vector<std::string>{
                "# HELP suede_frames_total Frames", "# TYPE suede_frames_total counter",
                "suede_frames_total{port=\"a \\\"b\\\" \\\\ c\\nd\"} 12345678",
                "suede_frames_total{port=\"p1\"} 0", "# HELP suede_delay_seconds How long",
                "# TYPE suede_delay_seconds histogram",
                "suede_delay_seconds_count{xpu=\"7\"} 5",
                "suede_delay_seconds_sum{xpu=\"7\"} 1.2045e-05",
                "suede_delay_seconds_bucket{xpu=\"7\",le=\"1.024e-06\"} 2",
                "suede_delay_seconds_bucket{xpu=\"7\",le=\"2.048e-06\"} 3",
                "suede_delay_seconds_bucket{xpu=\"7\",le=\"4.096e-06\"} 4",
                "suede_delay_seconds_bucket{xpu=\"7\",le=\"+Inf\"} 5",
                "# HELP suede_ready Is it", "# TYPE suede_ready gauge", "suede_ready 1"}));
}

TEST(MetricsPageTest, UnitsAreBaseUnits) {
  EXPECT_EQ(InBaseUnit(1u << 31, CellUnit::kPlain), 2147483648.0);
  EXPECT_EQ(InBaseUnit(0, CellUnit::kNanoseconds), 0.0);
  EXPECT_EQ(InBaseUnit(1, CellUnit::kNanoseconds), 1e-9);
  EXPECT_EQ(InBaseUnit(1'500'000'000, CellUnit::kNanoseconds), 1.5);
  EXPECT_EQ(InBaseUnit(250'000, CellUnit::kMillionths), 0.25);
}

// A counter of bytes or cycles is shown to the last one for months.
TEST(MetricsPageTest, LargeCountsKeepTheirDigits) {
  MetricsPage page({{"cycles_total", MetricType::kCounter, "", "Cycles"}});
  *page.NewCell("cycles_total", {}) = 9'007'199'254'740'991;  // 2^53 - 1
  EXPECT_EQ(LinesOf(Rendered(page)).back(), "suede_cycles_total 9007199254740991");
}

TEST(MetricsPageDeathTest, AFamilyIsDeclaredBeforeItHasSeries) {
  MetricsPage page({{"a", MetricType::kGauge, "", "A"}});
  EXPECT_DEATH(page.NewCell("b", {}), "");
}

// For every source of a series: a cell of the page's, another's, a histogram.
TEST(MetricsPageTest, EachSeriesHasTheCommonLabels) {
  const HistogramRow row{.name = "delay_seconds", .unit = HistogramUnit::kNanoseconds,
                         .first_bound = 10, .last_bound = 11, .sentence = "How long"};
  MetricsPage page({{"frames_total", MetricType::kCounter, "port", "Frames"},
                    {"ready", MetricType::kGauge, "", "Is it"},
                    {"delay_seconds", MetricType::kHistogram, "", "How long"}},
                   {{"endpoint", "left"}});
  page.NewCell("frames_total", {{"port", "p0"}});
  const MetricCell other = 1;
  page.Add("ready", {}, &other);
  const SharedHistogram histogram;
  page.Add(row, {}, &histogram);
  const std::string text = Rendered(page);
  for (const char* series :
       {"suede_frames_total{endpoint=\"left\",port=\"p0\"} 0\n",
        "suede_ready{endpoint=\"left\"} 1\n", "suede_delay_seconds_count{endpoint=\"left\"} 0\n",
        "suede_delay_seconds_bucket{endpoint=\"left\",le=\"+Inf\"} 0\n"}) {
    EXPECT_NE(text.find(series), std::string::npos) << series << text;
  }
}

}  // namespace
}  // namespace suede
