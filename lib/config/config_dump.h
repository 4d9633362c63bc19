// SPDX-License-Identifier: Apache-2.0
// Writes sections as YAML, by the declaration of their keys.
#ifndef SUEDE_CONFIG_CONFIG_DUMP_H_
#define SUEDE_CONFIG_CONFIG_DUMP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"

namespace suede {

// Returns "key: value" of each field that is written; for a port, only of fields that its
// encapsulation has.
template <class S>
std::vector<std::string> Lines(const S& section, std::optional<Encapsulation> of_port = {}) {
  std::vector<std::string> lines;
  for (const ConfigField<S>& field : FieldsOf<S>()) {
    if (of_port && !field.only.Has(*of_port)) continue;
    if (const Written value = field.write(section, field.limits)) {
      lines.push_back(StrCat(field.key, ": ", *value));
    }
  }
  return lines;
}

template <class S>
std::string Inline(const S& section) {
  return StrCat("{", StrJoin(Lines(section), ", "), "}");
}

template <class S>
void AppendSection(std::string_view key, const S& section, std::string& out) {
  StrAppend(&out, key, ":\n  ", StrJoin(Lines(section), "\n  "), "\n");
}

// Appends a list with an entry a line; nothing if it is empty.
template <class List>
void AppendList(std::string_view key, const List& list, std::string_view indent, std::string& out) {
  if (list.empty()) return;
  StrAppend(&out, indent, key, ":\n");
  for (const auto& one : list) StrAppend(&out, indent, "  - ", Inline(one), "\n");
}

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_DUMP_H_
