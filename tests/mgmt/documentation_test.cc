// SPDX-License-Identifier: Apache-2.0
// docs/management.md and docs/events.md hold the declared methods and events. With
// SUEDE_UPDATE_DOCS=1 their tables are written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "mgmt/catalog.h"
#include "mgmt/events.h"

namespace suede {
namespace {

void HoldTable(const std::string& name, const std::string& table,
               const std::string& file = "management.md") {
  const std::string path = std::string(SUEDE_SOURCE_DIR) + "/docs/" + file;
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string page = text.str();
  const std::string begin = "<!-- " + name + ": begin -->\n";
  const size_t from = page.find(begin);
  const size_t to = page.find("<!-- " + name + ": end -->");
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos);
  const size_t start = from + begin.size();
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page.substr(0, start) << table << page.substr(to);
    return;
  }
  EXPECT_EQ(page.substr(start, to - start), table)
      << "run mgmt_test with SUEDE_UPDATE_DOCS=1 in the environment";
}

TEST(ManagementDocumentation, HasTheDeclaredMethods) {
  HoldTable("methods", MethodsAsMarkdown(EndpointCatalog()));
}

TEST(ManagementDocumentation, HasTheDeclaredEvents) {
  HoldTable("events", EventsAsMarkdown(), "events.md");
  HoldTable("fields", EventFieldsAsMarkdown(), "events.md");
}

TEST(ManagementDocumentation, HasTheSwitchsMethodsAndEvents) {
  HoldTable("switch-methods", MethodsAsMarkdown(SwitchCatalog(), &EndpointCatalog()));
  HoldTable("switch-events", SwitchEventsAsMarkdown(), "events.md");
  HoldTable("switch-fields", SwitchEventFieldsAsMarkdown(), "events.md");
}

TEST(ManagementDocumentation, HasTheDeclaredErrors) { HoldTable("errors", ErrorsAsMarkdown()); }

}  // namespace
}  // namespace suede
