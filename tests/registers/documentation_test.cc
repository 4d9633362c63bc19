// SPDX-License-Identifier: Apache-2.0
// docs/registers.md and include/suede/registers.h hold the declared registers. With
// SUEDE_UPDATE_DOCS=1 they are written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "registers/register_documents.h"

namespace suede {
namespace {

std::string Contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(RegisterDocumentation, PageHasTheMap) {
  const std::string path = std::string(SUEDE_SOURCE_DIR) + "/docs/registers.md";
  const std::string begin = "<!-- registers: begin -->\n";
  const std::string page = Contents(path);
  const size_t from = page.find(begin);
  const size_t to = page.find("<!-- registers: end -->");
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos);
  const size_t start = from + begin.size();
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page.substr(0, start) << RegistersAsMarkdown() << page.substr(to);
    return;
  }
  EXPECT_EQ(page.substr(start, to - start), RegistersAsMarkdown())
      << "run registers_test with SUEDE_UPDATE_DOCS=1 in the environment";
}

TEST(RegisterDocumentation, HeaderHasTheMap) {
  const std::string path = std::string(SUEDE_SOURCE_DIR) + "/include/suede/registers.h";
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << RegistersAsHeader();
    return;
  }
  EXPECT_EQ(Contents(path), RegistersAsHeader())
      << "run registers_test with SUEDE_UPDATE_DOCS=1 in the environment";
}

}  // namespace
}  // namespace suede
