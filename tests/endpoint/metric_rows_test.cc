// docs/metrics.md holds what is declared. With SUEDE_UPDATE_DOCS=1 its tables are written.
#include "endpoint/metric_rows.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace suede {
namespace {

const std::string kPage = SUEDE_SOURCE_DIR "/docs/metrics.md";

std::string Contents() {
  std::ostringstream text;
  text << std::ifstream(kPage).rdbuf();
  return text.str();
}

void ExpectTable(const std::string& name, const std::string& table) {
  const std::string page = Contents();
  const std::string begin = "<!-- " + name + ": begin -->\n";
  const size_t from = page.find(begin);
  const size_t to = page.find("<!-- " + name + ": end -->");
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << name;
  const size_t start = from + begin.size();
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(kPage) << page.substr(0, start) << table << page.substr(to);
    return;
  }
  EXPECT_EQ(page.substr(start, to - start), table)
      << "run metric_rows_test with SUEDE_UPDATE_DOCS=1 in the environment";
}

TEST(MetricRowsTest, DocumentationHasTheDeclaredMetrics) {
  ExpectTable("metrics", MetricsAsMarkdown(AllMetricRows()));
  ExpectTable("reasons", DropReasonsAsMarkdown());
  ExpectTable("peers", MetricsAsMarkdown(PeerMetricRows()));
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

}  // namespace
}  // namespace suede
