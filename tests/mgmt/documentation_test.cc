// SPDX-License-Identifier: Apache-2.0
// docs/management.md and docs/events.md hold the declared methods and events. With
// SUEDE_UPDATE_DOCS=1 their tables are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/events.h"
#include "mgmt/rpc.h"
#include "page_tables.h"

namespace suede {
namespace {

// Returns the permitted values of a parameter on the page; the kinds of events have a page.
std::string RangeOnPage(const Param& param) {
  constexpr auto kShown = 16;
  if (std::ranges::count(param.choices, '|') < kShown) return param.Range();
  return "See [events.md](events.md)";
}

// Returns the row of a method behind its name.
std::string MethodRow(const Method& method) {
  std::string params;
  for (const Param& param : method.params) {
    if (!params.empty()) params += "<br>";
    StrAppend(&params, param.required ? "`" : "[`", param.name, param.required ? "`" : "`]", ": ",
              param.sentence, " ", RangeOnPage(param),
              param.fallback.empty() ? "" : StrCat("; default ", param.fallback));
  }
  if (method.descriptor) {
    const bool required = method.descriptor->required;
    StrAppend(&params, params.empty() ? "" : "<br>", "descriptor ", required ? "`" : "[`",
              method.descriptor->name, required ? "`: " : "`]: ", method.descriptor->sentence);
  }
  return StrCat(" | ", params, " | ", method.sentence, " | ", method.ResultText(), " |\n");
}

// `known`: where a method has the same row there, the table says so instead.
std::string MethodsAsMarkdown(const Catalog& catalog, const Catalog* known = nullptr) {
  std::string out = "| Method | Parameters | Does | Result |\n|---|---|---|---|\n";
  for (const Method* method : catalog.methods()) {
    const std::string row = MethodRow(*method);
    const Method* same = known == nullptr ? nullptr : known->Find(method->name);
    const bool is_known = same != nullptr && MethodRow(*same) == row;
    StrAppend(&out, "| `", method->name, "`", method->changes ? " ●" : "",
              is_known ? " | as of an endpoint | | |\n" : row);
  }
  return out;
}

std::string ErrorsAsMarkdown() {
  std::string out = "| Code | Name | Meaning |\n|---|---|---|\n";
  for (const RpcErrorRow& row : RpcErrorRows()) {
    StrAppend(&out, "| ", static_cast<int>(row.code), " | ", row.name, " | ", row.sentence, " |\n");
  }
  return out;
}

// Returns the events from `first` to before `end`.
std::string EventsAsMarkdown(EventKind first, EventKind end) {
  std::string out =
      "| Kind | Severity | Max per second | Means | Fields |\n|---|---|---|---|---|\n";
  for (auto kind = static_cast<size_t>(first); kind < static_cast<size_t>(end); ++kind) {
    const EventRow& row = RowOf(static_cast<EventKind>(kind));
    std::string fields;
    for (const EventField field : row.fields) {
      if (field == EventField::kNone) break;
      StrAppend(&fields, fields.empty() ? "" : ", ", RowOf(field).name);
    }
    StrAppend(&out, "| `", row.name, "` | ", NameOf(row.severity), " | ",
              row.per_s != 0 ? StrCat(row.per_s) : "", " | ", row.sentence, " | ", fields, " |\n");
  }
  return out;
}

std::string EventFieldsAsMarkdown(std::span<const EventFieldRow> rows) {
  std::string out = "| Field | Type | Is |\n|---|---|---|\n";
  for (const EventFieldRow& row : rows) {
    StrAppend(&out, "| `", row.name, "` | ",
              row.type == EventFieldType::kInteger ? "integer" : "text", " | ", row.sentence,
              " |\n");
  }
  return out;
}

TEST(ManagementDocumentation, HasTheDeclaredMethods) {
  ExpectTable("docs/management.md", "methods", MethodsAsMarkdown(EndpointCatalog()));
}

TEST(ManagementDocumentation, HasTheDeclaredEvents) {
  ExpectTable("docs/events.md", "events", EventsAsMarkdown({}, kFirstSwitchEvent));
  ExpectTable("docs/events.md", "fields", EventFieldsAsMarkdown(EventFieldRows()));
}

TEST(ManagementDocumentation, HasTheSwitchsMethodsAndEvents) {
  ExpectTable("docs/management.md", "switch-methods",
              MethodsAsMarkdown(SwitchCatalog(), &EndpointCatalog()));
  ExpectTable("docs/events.md", "switch-events",
              EventsAsMarkdown(kFirstSwitchEvent, EventKind::kCount));
  ExpectTable("docs/events.md", "switch-fields", EventFieldsAsMarkdown(SwitchEventFieldRows()));
}

TEST(ManagementDocumentation, HasTheDeclaredErrors) {
  ExpectTable("docs/management.md", "errors", ErrorsAsMarkdown());
}

}  // namespace
}  // namespace suede
