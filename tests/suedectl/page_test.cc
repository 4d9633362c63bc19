// SPDX-License-Identifier: Apache-2.0
// docs/frames.md has a row for each field of the headers. With SUEDE_UPDATE_DOCS=1 the table is
// written instead of compared.
#include <cstdlib>

#include "base/text.h"
#include "frame_bench.h"
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

TEST(FramesPage, HasTheFields) {
  const std::string path = SUEDE_SOURCE_DIR "/docs/frames.md";
  const std::string page = ReadFile(path);
  const std::string begin = "<!-- fields: begin -->\n";
  const size_t start = page.find(begin) + begin.size();
  const size_t end = page.find("<!-- fields: end -->");
  ASSERT_NE(end, std::string::npos);
  if (getenv("SUEDE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page.substr(0, start) << FieldsAsMarkdown() << page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(start, end - start), FieldsAsMarkdown())
      << "run suedectl_frames_test with SUEDE_UPDATE_DOCS=1 in the environment";
}

}  // namespace
}  // namespace suede::ctl
