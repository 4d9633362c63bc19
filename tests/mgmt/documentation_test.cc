// SPDX-License-Identifier: Apache-2.0
// docs/management.md, docs/events.md and docs/record.md hold what is declared. With
// SUEDE_UPDATE_DOCS=1 their tables are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_replace.h"
#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/events.h"
#include "mgmt/record_columns.h"
#include "mgmt/rpc.h"
#include "page_tables.h"

namespace suede {
namespace {

// Returns the permitted values of a parameter on the page, and its default. The kinds of events
// have a page; lengths of texts are not shown, and a boolean whose default is false needs neither.
std::string RangeOnPage(const Param& param) {
  constexpr auto kShown = 16;
  if (std::ranges::count(param.choices, '|') >= kShown) return " See [events.md](events.md)";
  if (param.type == Param::Type::kText) return "";
  if (param.type == Param::Type::kBoolean && param.fallback == "false") return "";
  const std::string range =
      param.type == Param::Type::kNumber ? StrCat(param.min, " to ", param.max) : param.Range();
  return StrCat(" ", range, param.fallback.empty() ? "" : StrCat("; default ", param.fallback));
}

std::string TextOnPage(const Param& param) {
  return StrCat(": ", param.sentence, RangeOnPage(param));
}

// The text of each parameter in the last row that has one of that name.
using Texts = std::map<std::string_view, std::string>;

// Returns the row of a method behind its name. A parameter whose text is that of the last one of
// its name is named alone, and a long result that is that of the method `before` is not repeated.
std::string MethodRow(const Method& method, Texts& texts, const Method* before = nullptr) {
  std::string params;
  for (const Param& param : method.params) {
    std::string text = TextOnPage(param);
    const bool is_repeated = std::exchange(texts[param.name], text) == text;
    StrAppend(&params, params.empty() ? "" : "<br>", param.required ? "`" : "[`", param.name,
              param.required ? "`" : "`]", is_repeated ? "" : text);
  }
  if (method.descriptor) {
    const bool required = method.descriptor->required;
    StrAppend(&params, params.empty() ? "" : "<br>", "descriptor ", required ? "`" : "[`",
              method.descriptor->name, required ? "`: " : "`]: ", method.descriptor->sentence);
  }
  const std::string result = method.ResultText();
  const bool is_same = before != nullptr && result == before->ResultText();
  return StrCat(" | ", params, " | ", method.sentence, " | ",
                is_same && result.size() > 40 ? "as above" : result, " |\n");
}

// `known`: where a method has the same row there, the last row names it.
std::string MethodsAsMarkdown(const Catalog& catalog, const Catalog* known = nullptr) {
  std::string out = "| Method | Parameters | Does | Result |\n|---|---|---|---|\n";
  std::string of_known;
  Texts texts;
  const auto is_of_known = [&](const Method& method) {
    const Method* same = known == nullptr ? nullptr : known->Find(method.name);
    if (same == nullptr) return false;
    Texts none, no_other;
    // `rpc.describe` differs in the types that parameters may have.
    return method.name == "rpc.describe" || MethodRow(*same, none) == MethodRow(method, no_other);
  };
  const Method* before = nullptr;
  for (const Method* method : catalog.methods()) {
    if (is_of_known(*method)) {
      StrAppend(&of_known, of_known.empty() ? "" : ", ", "`", method->name, "`",
                method->changes ? " ●" : "");
      continue;
    }
    StrAppend(&out, "| `", method->name, "`", method->changes ? " ●" : "",
              MethodRow(*method, texts, before));
    before = method;
  }
  if (!of_known.empty()) StrAppend(&out, "| ", of_known, " | | As of an endpoint. | |\n");
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
  std::string out = "| Kind | Severity | Means | Fields |\n|---|---|---|---|\n";
  for (auto kind = static_cast<size_t>(first); kind < static_cast<size_t>(end); ++kind) {
    const EventRow& row = RowOf(static_cast<EventKind>(kind));
    std::string fields;
    for (const EventField field : row.fields) {
      if (field == EventField::kNone) break;
      StrAppend(&fields, fields.empty() ? "" : ", ", RowOf(field).name);
    }
    fields = absl::StrReplaceAll(fields, {{"xpu, instance, peer, plane, port", "*path*"}});
    StrAppend(&out, "| `", row.name, "` | ", NameOf(row.severity),
              row.per_s != 0 ? StrCat(", ", row.per_s, "/s") : "", " | ", row.sentence, " | ",
              fields, " |\n");
  }
  return out;
}

std::string EventFieldsAsMarkdown(std::span<const EventFieldRow> rows) {
  std::string out = "| Field | Is |\n|---|---|\n";
  for (const EventFieldRow& row : rows) {
    StrAppend(&out, "| `", row.name, "`", row.type == EventFieldType::kInteger ? " (integer)" : "",
              " | ", row.sentence, " |\n");
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

TEST(ManagementDocumentation, HasTheColumnsOfRecordings) {
  ExpectTable("docs/record.md", "columns", RecordColumnsTable());
}

TEST(ManagementDocumentation, HasTheDeclaredErrors) {
  ExpectTable("docs/management.md", "errors", ErrorsAsMarkdown());
}

}  // namespace
}  // namespace suede
