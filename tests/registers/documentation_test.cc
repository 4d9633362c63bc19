// SPDX-License-Identifier: Apache-2.0
// docs/registers.md holds the declared registers. With SUEDE_UPDATE_DOCS=1 it is written.
#include <gtest/gtest.h>

#include "page_tables.h"
#include "registers/register_documents.h"

namespace suede {
namespace {

TEST(RegisterDocumentation, PageHasTheMap) {
  ExpectTable("docs/registers.md", "registers", RegistersAsMarkdown());
}

}  // namespace
}  // namespace suede
