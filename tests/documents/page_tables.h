// SPDX-License-Identifier: Apache-2.0
// Compares generated parts of pages with the declarations that they are generated from. With
// SUEDE_UPDATE_DOCS=1 in the environment the parts are written instead.
#ifndef SUEDE_TESTS_DOCUMENTS_PAGE_TABLES_H_
#define SUEDE_TESTS_DOCUMENTS_PAGE_TABLES_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace suede {

// Returns the contents of a file, which is named from the root of the checkout.
inline std::string ReadSource(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(std::string(SUEDE_SOURCE_DIR) + "/" + file).rdbuf();
  return text.str();
}

inline void ExpectBetween(const std::string& file, const std::string& begin, const std::string& end,
                          const std::string& expected) {
  const std::string page = ReadSource(file);
  const size_t from = page.find(begin);
  ASSERT_NE(from, std::string::npos) << file << ": " << begin;
  const size_t start = from + begin.size();
  const size_t to = page.find(end, start);
  ASSERT_NE(to, std::string::npos) << file << ": " << end;
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(std::string(SUEDE_SOURCE_DIR) + "/" + file)
        << page.substr(0, start) << expected << page.substr(to);
    return;
  }
  EXPECT_EQ(page.substr(start, to - start), expected)
      << file << ": run this test with SUEDE_UPDATE_DOCS=1 in the environment";
}

// The same between the marks of a Markdown page.
inline void ExpectTable(const std::string& file, const std::string& name,
                        const std::string& table) {
  ExpectBetween(file, "<!-- " + name + ": begin -->\n", "<!-- " + name + ": end -->", table);
}

}  // namespace suede

#endif  // SUEDE_TESTS_DOCUMENTS_PAGE_TABLES_H_
