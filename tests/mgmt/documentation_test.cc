// SPDX-License-Identifier: Apache-2.0
// docs/management.md and docs/events.md hold the declared methods and events. With
// SUEDE_UPDATE_DOCS=1 their tables are written.
#include <gtest/gtest.h>

#include "mgmt/catalog.h"
#include "mgmt/events.h"
#include "page_tables.h"

namespace suede {
namespace {

TEST(ManagementDocumentation, HasTheDeclaredMethods) {
  ExpectTable("docs/management.md", "methods", MethodsAsMarkdown(EndpointCatalog()));
}

TEST(ManagementDocumentation, HasTheDeclaredEvents) {
  ExpectTable("docs/events.md", "events", EventsAsMarkdown());
  ExpectTable("docs/events.md", "fields", EventFieldsAsMarkdown());
}

TEST(ManagementDocumentation, HasTheSwitchsMethodsAndEvents) {
  ExpectTable("docs/management.md", "switch-methods",
              MethodsAsMarkdown(SwitchCatalog(), &EndpointCatalog()));
  ExpectTable("docs/events.md", "switch-events", SwitchEventsAsMarkdown());
  ExpectTable("docs/events.md", "switch-fields", SwitchEventFieldsAsMarkdown());
}

TEST(ManagementDocumentation, HasTheDeclaredErrors) {
  ExpectTable("docs/management.md", "errors", ErrorsAsMarkdown());
}

}  // namespace
}  // namespace suede
