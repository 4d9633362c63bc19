// SPDX-License-Identifier: Apache-2.0
// docs/registers.md and include/suede/registers.h hold the declared registers. With
// SUEDE_UPDATE_DOCS=1 they are written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "page_tables.h"
#include "registers/register_documents.h"

namespace suede {
namespace {

TEST(RegisterDocumentation, PageHasTheMap) {
  ExpectTable("docs/registers.md", "registers", RegistersAsMarkdown());
}

TEST(RegisterDocumentation, HeaderHasTheMap) {
  const std::string file = "include/suede/registers.h";
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(std::string(SUEDE_SOURCE_DIR) + "/" + file) << RegistersAsHeader();
    return;
  }
  EXPECT_EQ(ReadSource(file), RegistersAsHeader())
      << "run registers_test with SUEDE_UPDATE_DOCS=1 in the environment";
}

}  // namespace
}  // namespace suede
