// SPDX-License-Identifier: Apache-2.0
// docs/registers.md holds the declared registers. With SUEDE_UPDATE_DOCS=1 it is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "page_tables.h"
#include "registers/register_map.h"

namespace suede {
namespace {

// Counters differ in address and name alone.
void AppendCounters(const RegisterBlock& block, std::string& out) {
  out +=
      " All have 64 bits and are read-only; [metrics.md](metrics.md) has their meanings.\n\n"
      "| Address | Name |\n|---|---|\n";
  for (const RegisterRow& row : block.rows) {
    StrAppend(&out, absl::StrFormat("| 0x%06x | `", block.base + row.offset), block.name, ".",
              row.name, "` |\n");
  }
  out += "\n";
}

// Returns the meaning of a register on the page. A register of a key has the key's, which
// docs/configuration.md holds: the permitted values, and the key if it has another name.
std::string MeaningOf(const RegisterRow& row, std::string_view name) {
  if (row.source != RegisterRow::Source::kConfig) return row.sentence;
  std::string first = row.key;
  std::replace(first.begin(), first.end(), '#', '0');
  const ConfigKey* key = FindConfigKey(first);
  if (key == nullptr) std::abort();  // OfKey has found it
  const std::string values = row.sentence.substr(key->sentence.size() + 1);
  return key->path == name ? values : StrCat("`", key->path, "`: ", values);
}

void AppendBlock(const RegisterBlock& block, std::string& out) {
  StrAppend(&out, "### ", block.name, "\n\n", block.sentence);
  if (block.index != RegisterIndex::kNone) {
    StrAppend(&out, absl::StrFormat(" Index N is added %#x times N; there is room for %d.",
                                    block.stride, block.limit));
  }
  if (block.rows[0].source == RegisterRow::Source::kCounter) {
    AppendCounters(block, out);
    return;
  }
  out +=
      "\n\n| Address | Name | Bits | Access | Writes take effect | Reset | Unit | Meaning |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const std::string prefix =
      block.index == RegisterIndex::kNone ? std::string(block.name) : StrCat(block.name, ".N");
  for (const RegisterRow& row : block.rows) {
    std::string_view effect;
    if (row.access != RegisterAccess::kReadOnly) {
      effect = NameOf(row.source == RegisterRow::Source::kConfig ? row.effect : Effect::kAtOnce);
    }
    const std::string name = StrCat(prefix, ".", row.name);
    StrAppend(&out, absl::StrFormat("| 0x%06x | `", block.base + row.offset), name, "` | ",
              row.width_bits, " | ", NameOf(row.access), " | ", effect, " | ", row.reset, " | ",
              row.unit, " | ", MeaningOf(row, name), " |\n");
  }
  out += "\n";
}

std::string RegistersAsMarkdown() {
  std::string out;
  const auto& blocks = RegisterMap::Get().blocks();
  for (const RegisterBlock& block : blocks) {
    // One table serves the three counter blocks, which have the same rows.
    const bool is_copy = block.rows[0].source == RegisterRow::Source::kCounter &&
                         block.index != RegisterIndex::kNone;
    if (!is_copy) {
      AppendBlock(block, out);
      continue;
    }
    StrAppend(&out, "### ", block.name, "\n\n", block.sentence,
              absl::StrFormat(" The same from 0x%06x on, and %#x times N; there is room for %d.",
                              block.base, block.stride, block.limit),
              " Names: `", block.name, ".N.", block.rows[0].name, "` and so on.\n\n");
  }
  return out;
}

TEST(RegisterDocumentation, PageHasTheMap) {
  ExpectTable("docs/registers.md", "registers", RegistersAsMarkdown());
}

}  // namespace
}  // namespace suede
