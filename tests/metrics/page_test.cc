// SPDX-License-Identifier: Apache-2.0
// The page, held against the text that prometheus-cpp makes of the same figures.
#include "metrics/page.h"

#include <gtest/gtest.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace suede {
namespace {

// Series to value. prometheus-cpp prints floating point: only numbers are comparable.
std::map<std::string, double> SamplesOf(const std::string& text) {
  std::map<std::string, double> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const size_t blank = line.rfind(' ');
    EXPECT_NE(blank, std::string::npos) << line;
    EXPECT_TRUE(samples.emplace(line.substr(0, blank), std::stod(line.substr(blank + 1))).second)
        << line;
  }
  return samples;
}
std::vector<std::string> CommentsOf(const std::string& text) {
  std::vector<std::string> comments;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) comments.push_back(line);
  }
  return comments;
}
std::string Rendered(const MetricsPage& page) {
  std::string text;
  page.AppendTo(&text);
  return text;
}

TEST(MetricsPageTest, SaysWhatPrometheusCppSaysOfTheSame) {
  const HistogramRow row{.name = "delay_seconds", .unit = HistogramUnit::kNanoseconds,
                         .first_bound = 10, .last_bound = 12, .sentence = "How long"};
  MetricsPage page({{"frames_total", MetricType::kCounter, "port", "Frames"},
                    {"delay_seconds", MetricType::kHistogram, "xpu", "How long"},
                    {"unused", MetricType::kGauge, "", "Has no series"}});
  const std::string odd = "a \"b\" \\ c\nd";
  *page.NewCell("frames_total", {{"port", odd}}) = 12345678;
  *page.NewCell("frames_total", {{"port", "p1"}}) = 0;
  SharedHistogram histogram;
  for (const uint64_t ns : {900, 1024, 1025, 4096, 5000}) histogram.Record(ns);
  page.Add(row, {{"xpu", "7"}}, &histogram);

  using prometheus::ClientMetric;
  prometheus::MetricFamily frames{"suede_frames_total", "Frames",
                                  prometheus::MetricType::Counter, {}};
  for (const auto& [port, value] : {std::pair<std::string, double>{odd, 12345678}, {"p1", 0}}) {
    ClientMetric metric;
    metric.label = {{"port", port}};
    metric.counter.value = value;
    frames.metric.push_back(metric);
  }
  prometheus::MetricFamily delay{"suede_delay_seconds", "How long",
                                 prometheus::MetricType::Histogram, {}};
  ClientMetric metric;
  metric.label = {{"xpu", "7"}};
  metric.histogram.sample_count = 5;
  metric.histogram.sample_sum = (900 + 1024 + 1025 + 4096 + 5000) * 1e-9;
  metric.histogram.bucket = {{2, 1.024e-6}, {3, 2.048e-6}, {4, 4.096e-6}};
  delay.metric.push_back(metric);
  const std::string theirs = prometheus::TextSerializer().Serialize({frames, delay});

  const std::string ours = Rendered(page);
  EXPECT_EQ(CommentsOf(ours), CommentsOf(theirs));
  const auto expected = SamplesOf(theirs);
  const auto got = SamplesOf(ours);
  // Bounds are the same numbers, written with fewer digits.
  EXPECT_EQ(got.size(), expected.size());
  for (const auto& [series, value] : expected) {
    if (series.find("le=\"") != std::string::npos && series.find("+Inf") == std::string::npos) {
      continue;
    }
    ASSERT_TRUE(got.contains(series)) << series;
    EXPECT_DOUBLE_EQ(got.at(series), value) << series;
  }
  EXPECT_EQ(got.at("suede_delay_seconds_bucket{xpu=\"7\",le=\"0.000001024\"}"), 2);
  EXPECT_EQ(got.at("suede_delay_seconds_bucket{xpu=\"7\",le=\"0.000002048\"}"), 3);
  EXPECT_EQ(got.at("suede_delay_seconds_bucket{xpu=\"7\",le=\"0.000004096\"}"), 4);
}

TEST(MetricsPageTest, UnitsAreShownInBaseUnits) {
  const auto shown = [](uint64_t value, CellUnit unit) {
    std::string out;
    AppendCell(value, unit, &out);
    return out;
  };
  EXPECT_EQ(shown(UINT64_MAX, CellUnit::kPlain), "18446744073709551615");
  EXPECT_EQ(shown(0, CellUnit::kNanoseconds), "0");
  EXPECT_EQ(shown(1, CellUnit::kNanoseconds), "0.000000001");
  EXPECT_EQ(shown(1'500'000'000, CellUnit::kNanoseconds), "1.5");
  EXPECT_EQ(shown(2'000'000'000, CellUnit::kNanoseconds), "2");
  EXPECT_EQ(shown(20'000'000'001, CellUnit::kNanoseconds), "20.000000001");
  EXPECT_EQ(shown(250'000, CellUnit::kMillionths), "0.25");
}

TEST(MetricsPageTest, AHistogramWithoutLabelsAndAtZero) {
  const HistogramRow row{.name = "size", .unit = HistogramUnit::kCount, .first_bound = 0,
                         .last_bound = 1, .sentence = "Size"};
  MetricsPage page({{"size", MetricType::kHistogram, "", "Size"}});
  SharedHistogram histogram;
  page.Add(row, {}, &histogram);
  EXPECT_EQ(Rendered(page),
            "# HELP suede_size Size\n# TYPE suede_size histogram\n"
            "suede_size_bucket{le=\"1\"} 0\nsuede_size_bucket{le=\"2\"} 0\n"
            "suede_size_bucket{le=\"+Inf\"} 0\nsuede_size_sum 0\nsuede_size_count 0\n");
}

TEST(MetricsPageDeathTest, AFamilyIsDeclaredBeforeItHasSeries) {
  MetricsPage page({{"a", MetricType::kGauge, "", "A"}});
  EXPECT_DEATH(page.NewCell("b", {}), "");
}

// Whatever a series is made of: a cell of the page's, another's, a histogram.
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
