// SPDX-License-Identifier: Apache-2.0
// docs/registers.md holds the declared registers. With SUEDE_UPDATE_DOCS=1 it is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "page_tables.h"
#include "registers/register_map.h"

namespace suede {
namespace {

// Counters differ in address and name alone, and their addresses change with the version.
void AppendCounters(const RegisterBlock& block, std::string& out) {
  StrAppend(&out,
            absl::StrFormat(" Each has 64 bits and is read-only. From 0x%06x on in the order of ",
                            block.base),
            "`suede/registers.h`, as `", block.name, ".", block.rows[0].name,
            "`; [metrics.md](metrics.md) has their meanings.\n");
}

// Returns the meaning of a register on the page. docs/configuration.md has meaning, unit, range and
// default of a key: its register has the key if that has another name, and the numbers of names.
std::string MeaningOf(const RegisterRow& row, std::string_view name) {
  if (row.source != RegisterRow::Source::kConfig) {
    return row.reset.empty() ? row.sentence : StrCat(row.sentence, " At reset ", row.reset, ".");
  }
  std::string first = row.key;
  std::replace(first.begin(), first.end(), '#', '0');
  const ConfigKey* key = FindConfigKey(first);
  if (key == nullptr) std::abort();  // OfKey has found it
  const std::string values = row.sentence.substr(key->sentence.size() + 1);
  const std::string path = key->path == name ? "" : StrCat("`", key->path, "`");
  if (values.find(": ") == values.npos) return path;  // a range, which the row of the key has
  return path.empty() ? values : StrCat(path, ": ", values);
}

bool HasCounters(const RegisterBlock& block) {
  return block.rows[0].source == RegisterRow::Source::kCounter ||
         block.rows[0].source == RegisterRow::Source::kLinkCounter;
}
// Returns whether a block shares its table with its neighbours.
bool IsSingle(const RegisterBlock& block) {
  return block.index == RegisterIndex::kNone && !HasCounters(block);
}

void AppendRows(const RegisterBlock& block, std::string& out) {
  const std::string prefix = IsSingle(block) ? std::string(block.name) : StrCat(block.name, ".N");
  for (const RegisterRow& row : block.rows) {
    const std::string name = StrCat(prefix, ".", row.name);
    std::string marks;  // of a register that is not as most are
    if (row.access != RegisterAccess::kReadWrite) StrAppend(&marks, " ", NameOf(row.access));
    if (row.width_bits == 64) StrAppend(&marks, ", 64 bits");
    StrAppend(&out, absl::StrFormat("| 0x%06x | `", block.base + row.offset), name, "`", marks,
              " | ", MeaningOf(row, name), " |\n");
  }
}

constexpr char kTableHead[] = "| Address | Name | Meaning |\n|---|---|---|\n";

// Appends a block that is no single one.
void AppendBlock(const RegisterBlock& block, std::string& out) {
  StrAppend(&out, "### ", block.name, "\n\n", block.sentence);
  if (!HasCounters(block)) {
    StrAppend(&out,
              absl::StrFormat(" Index N is added %#x times N; there is room for %d.\n\n",
                              block.stride, block.limit),
              kTableHead);
    AppendRows(block, out);
  } else if (block.index == RegisterIndex::kNone) {
    AppendCounters(block, out);
  } else {
    StrAppend(&out,
              absl::StrFormat(" From 0x%06x on, and %#x times N; there is room for %d.", block.base,
                              block.stride, block.limit),
              " Names: `", block.name, ".N.", block.rows[0].name, "` and so on.\n");
  }
  out += "\n";
}

std::string RegistersAsMarkdown() {
  std::string out;
  const auto& blocks = RegisterMap::Get().blocks();
  for (auto block = blocks.begin(); block != blocks.end();) {
    if (!IsSingle(*block)) {
      AppendBlock(*block++, out);
      continue;
    }
    const auto end = std::find_if_not(block, blocks.end(), IsSingle);
    const std::string_view last = std::prev(end)->name;
    StrAppend(&out, "### ", block->name, block->name == last ? "" : StrCat(" to ", last), "\n\n",
              kTableHead);
    while (block != end) AppendRows(*block++, out);
    out += "\n";
  }
  return out;
}

TEST(RegisterDocumentation, PageHasTheMap) {
  ExpectTable("docs/registers.md", "registers", RegistersAsMarkdown());
}

}  // namespace
}  // namespace suede
