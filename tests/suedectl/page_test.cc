// SPDX-License-Identifier: Apache-2.0
// docs/frames.md has a row for each field of the headers. With SUEDE_UPDATE_DOCS=1 the table is
// written instead of compared.
#include "base/text.h"
#include "frame_bench.h"
#include "page_tables.h"
#include "suedectl/frame_fields.h"

namespace suede::ctl {
namespace {

// A text in which a cell of a table does not end.
std::string Cell(std::string text) {
  for (size_t at = text.find('|'); at != text.npos; at = text.find('|', at + 2)) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string FieldsAsMarkdown() {
  std::string out =
      "| field | in | value | default of encode | meaning |\n"
      "|---|---|---|---|---|\n";
  for (const FieldRow& row : FieldRows()) {
    const std::string in = row.encaps == kEveryEncap ? "all" : JoinEncaps(row.encaps, ", ", ", ");
    StrAppend(&out, "| `", row.name, "`", row.shown == Shown::kUnusual ? " *" : "", " | ", in,
              " | ", RangeOf(row), " | ", Cell(row.fallback), " | ", Cell(row.sentence), " |\n");
  }
  return out;
}

TEST(FramesPage, HasTheFields) { ExpectTable("docs/frames.md", "fields", FieldsAsMarkdown()); }

}  // namespace
}  // namespace suede::ctl
