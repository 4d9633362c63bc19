// SPDX-License-Identifier: Apache-2.0
// Tables of configuration keys in pages.
#ifndef SUEDE_TESTS_DOCUMENTS_KEY_TABLES_H_
#define SUEDE_TESTS_DOCUMENTS_KEY_TABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"

namespace suede {

// Returns the mark of a key whose changes do not wait for a restart.
inline std::string_view MarkOf(Effect effect) {
  switch (effect) {
    case Effect::kAtOnce:
      return " ●";
    case Effect::kAtOnceUpToStart:
      return " ◐";
    case Effect::kRestart:
      break;
  }
  return "";
}

// Returns the rows as a table; `has_effects`: with marks of keys that need no restart.
inline std::string KeysAsMarkdown(const std::vector<ConfigKey>& keys, bool has_effects = false) {
  std::string out = "| Key | Range | Default | Meaning |\n|---|---|---|---|\n";
  for (const ConfigKey& key : keys) {
    const bool is_marked = has_effects && !key.is_section;
    StrAppend(&out, "| `", key.path, "`", is_marked ? MarkOf(key.effect) : "", " | ", key.unit,
              key.unit.empty() ? "" : ": ", key.range, " | ", key.default_value, " | ",
              key.sentence, " |\n");
  }
  return out;
}

}  // namespace suede

#endif  // SUEDE_TESTS_DOCUMENTS_KEY_TABLES_H_
