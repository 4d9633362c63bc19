// SPDX-License-Identifier: Apache-2.0
// Tables of configuration keys in pages.
#ifndef SUEDE_TESTS_DOCUMENTS_KEY_TABLES_H_
#define SUEDE_TESTS_DOCUMENTS_KEY_TABLES_H_

#include <string>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"

namespace suede {

// Returns the rows as a table; `has_effects`: with a column for the times at which changes take
// effect.
inline std::string KeysAsMarkdown(const std::vector<ConfigKey>& keys, bool has_effects = false) {
  std::string out = has_effects
                        ? "| Key | Unit | Range | Default | Changes take effect | Meaning |\n"
                          "|---|---|---|---|---|---|\n"
                        : "| Key | Unit | Range | Default | Meaning |\n"
                          "|---|---|---|---|---|\n";
  for (const ConfigKey& key : keys) {
    StrAppend(&out, "| `", key.path, "` | ", key.unit, " | ", key.range, " | ", key.default_value,
              has_effects ? " | " : "", has_effects && !key.is_section ? NameOf(key.effect) : "",
              " | ", key.sentence, " |\n");
  }
  return out;
}

}  // namespace suede

#endif  // SUEDE_TESTS_DOCUMENTS_KEY_TABLES_H_
