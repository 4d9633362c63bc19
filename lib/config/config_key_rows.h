// SPDX-License-Identifier: Apache-2.0
// Makes rows of the documentation from the declaration of a program's keys.
#ifndef SUEDE_CONFIG_CONFIG_KEY_ROWS_H_
#define SUEDE_CONFIG_CONFIG_KEY_ROWS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"

namespace suede {

// The rows of a program's keys.
class ConfigKeyRows {
 public:
  // Adds the row of a section.
  void AddSection(std::string_view path, std::string_view sentence, bool required = false) {
    rows_.push_back({.path = std::string(path),
                     .default_value = required ? "required" : "",
                     .sentence = ExpandTraits(sentence),
                     .is_section = true});
  }
  // Adds the row of a section and those of its values; AddList: of a list, and of the values of an
  // entry.
  template <class S>
  void Add(std::string_view path, std::string_view sentence, const S& defaults,
           bool required = false) {
    AddSection(path, sentence, required);
    AddFields(StrCat(path, "."), defaults);
  }
  template <class S>
  void AddList(std::string_view path, std::string_view sentence, const S& defaults,
               bool required = false) {
    AddSection(path, sentence, required);
    AddFields(StrCat(path, "[]."), defaults);
  }
  template <class S>
  void AddFields(std::string_view prefix, const S& defaults) {
    for (const ConfigField<S>& field : FieldsOf<S>()) {
      std::string shown = ExpandTraits(field.shown_default);
      if (field.required) shown = "required";
      if (shown.empty()) shown = field.write(defaults, field.limits).value_or("");
      std::string sentence = ExpandTraits(field.sentence);
      if (field.only != kAnyEncapsulation) {
        StrAppend(&sentence, " Only with ", JoinNames(field.only), ".");
      }
      rows_.push_back({.path = StrCat(prefix, field.key),
                       .unit = std::string(field.unit),
                       .range = field.range(field.limits),
                       .default_value = shown,
                       .sentence = sentence,
                       .effect = field.effect});
    }
  }
  std::vector<ConfigKey> Take() { return std::move(rows_); }

 private:
  std::vector<ConfigKey> rows_;
};

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_KEY_ROWS_H_
