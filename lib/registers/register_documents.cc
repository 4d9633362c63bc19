// SPDX-License-Identifier: Apache-2.0
#include "registers/register_documents.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "registers/register_events.h"
#include "registers/register_map.h"

namespace suede {
namespace {

std::string Upper(std::string_view text) {
  std::string upper;
  for (const char c : text) {
    upper += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return upper;
}

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

}  // namespace

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

std::string RegistersAsHeader() {
  const RegisterMap& map = RegisterMap::Get();
  std::string out =
      "/* SPDX-License-Identifier: Apache-2.0 */\n"
      "/* Registers of suede: docs/registers.md. Written by lib/registers/register_map.cc.\n"
      " *\n"
      " * SUEDE_REG_X is the address, SUEDE_REG_X_BITS the width; where there is one for each "
      "index "
      "n,\n"
      " * it is SUEDE_REG_X(n). Read SUEDE_REG_ENDPOINT_MAP_HASH first: where it is not\n"
      " * SUEDE_REG_MAP_HASH, the daemon has another map, and addresses may mean something else.\n"
      " */\n"
      "#ifndef SUEDE_REGISTERS_H_\n#define SUEDE_REGISTERS_H_\n/* clang-format off */\n\n";
  absl::StrAppendFormat(
      &out, "#define SUEDE_REG_MAP_HASH 0x%08xu\n\n/* Bits of event.status and event.mask. */\n",
      map.hash());
  for (uint32_t bit = 0; bit < RegisterEventRows().size(); ++bit) {
    StrAppend(&out, "#define SUEDE_EVENT_", Upper(RegisterEventRows()[bit].name), " (1u << ", bit,
              ") /* ", RegisterEventRows()[bit].sentence, " */\n");
  }
  for (const RegisterBlock& block : map.blocks()) {
    StrAppend(&out, "\n/* ", block.name, ": ", block.sentence, " */\n");
    for (const RegisterRow& row : block.rows) {
      const std::string name = StrCat("SUEDE_REG_", Upper(block.name), "_", Upper(row.name));
      const uint32_t address = block.base + row.offset;
      if (block.index == RegisterIndex::kNone) {
        absl::StrAppendFormat(&out, "#define %s 0x%06xu\n", name, address);
      } else {
        absl::StrAppendFormat(&out, "#define %s(n) (0x%06xu + (n) * %#xu)\n", name, address,
                              block.stride);
      }
      absl::StrAppendFormat(&out, "#define %s_BITS %d /* %s */\n", name, row.width_bits,
                            std::string(NameOf(row.access)));
    }
  }
  return out + "\n#endif /* SUEDE_REGISTERS_H_ */\n";
}

}  // namespace suede
