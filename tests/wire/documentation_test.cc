// SPDX-License-Identifier: Apache-2.0
// docs/encapsulations.md and the dissector have the tables that the headers' rows and declarations
// give. With SUEDE_UPDATE_DOCS=1 the tables are written instead of compared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "encap_documents.h"

namespace suede {
namespace {

void ExpectBetween(const std::string& file, const std::string& begin, const std::string& end,
                   const std::string& expected) {
  const std::string path = std::string(SUEDE_SOURCE_DIR) + "/" + file;
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string page = text.str();
  const size_t from = page.find(begin);
  ASSERT_NE(from, std::string::npos) << file << ": " << begin;
  const size_t start = from + begin.size();
  const size_t to = page.find(end, start);
  ASSERT_NE(to, std::string::npos) << file << ": " << end;
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page.substr(0, start) << expected << page.substr(to);
    return;
  }
  EXPECT_EQ(page.substr(start, to - start), expected)
      << file << ": run wire_test with SUEDE_UPDATE_DOCS=1 in the environment";
}

TEST(EncapDocumentation, PageHasTheTableOfHeaders) {
  ExpectBetween("docs/encapsulations.md", "<!-- headers: begin -->\n", "<!-- headers: end -->",
                EncapsAsMarkdown());
}

TEST(EncapDocumentation, PageHasTheFields) {
  ExpectBetween("docs/encapsulations.md", "<!-- fields: begin -->\n", "<!-- fields: end -->",
                FieldsAsMarkdown());
}

TEST(EncapDocumentation, DissectorHasTheHeaders) {
  ExpectBetween("tools/wireshark/suede.lua", "-- headers: begin\n", "-- headers: end",
                HeadersAsLua());
}

}  // namespace
}  // namespace suede
