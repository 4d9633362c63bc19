// SPDX-License-Identifier: Apache-2.0
// Reads a tree of YAML nodes according to the declaration of the keys, up to the first error.
#ifndef SUEDE_CONFIG_CONFIG_READER_H_
#define SUEDE_CONFIG_CONFIG_READER_H_

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "config/config_draft.h"
#include "config/config_fields.h"

namespace suede {

class ConfigReader {
 public:
  explicit ConfigReader(ConfigDraft& draft) : draft_(draft) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

  // Reads the values of a section into `out`. `nested`: keys of the section that are sections
  // themselves, which the caller reads. Returns false after an error.
  template <class S>
  bool ReadFields(const ConfigNode& node, const std::string& path,
                  std::initializer_list<std::string_view> nested, S& out) {
    std::vector<std::string_view> known(nested);
    for (const ConfigField<S>& field : FieldsOf<S>()) known.push_back(field.key);
    if (!CheckKeys(node, path, known)) return false;
    for (const ConfigField<S>& field : FieldsOf<S>()) {
      const ConfigNode* value = Find(node, field.key);
      const std::string key_path = Join(path, field.key);
      if (value == nullptr) {
        if (field.required) return FailMissing(node, path, field.key);
        continue;
      }
      draft_.places[key_path] = value->place;
      const Problem problem = field.read(*value, field.limits, out);
      if (!problem.empty()) return Fail(*value, key_path, problem);
    }
    return true;
  }

  // Reads a section with only values, which may be absent; its key is the last part of the path.
  template <class S>
  bool ReadSection(const ConfigNode& parent, std::string_view path, S& out) {
    const ConfigNode* node = Find(parent, path.substr(path.rfind('.') + 1));  // npos + 1 is 0
    return node == nullptr || ReadFields(*node, std::string(path), {}, out);
  }

  // Reads a list of `min` to `max` entries with only values.
  template <class S>
  bool ReadList(const ConfigNode& parent, std::string_view parent_path, std::string_view key,
                size_t min, size_t max, std::vector<S>& out) {
    const std::string list = Join(parent_path, key);
    size_t i = 0;
    for (const ConfigNode& item : Items(parent, parent_path, key, min, max)) {
      if (!ReadFields(item, Entry(list, i++), {}, out.emplace_back())) return false;
    }
    return ok();
  }

  // Rejects keys of a section that do not apply to ports with encapsulation `e`.
  template <class S>
  bool CheckEncapsulation(const ConfigNode& node, const std::string& path, Encapsulation e) {
    for (const ConfigField<S>& field : FieldsOf<S>()) {
      const ConfigNode* value = field.only.Has(e) ? nullptr : Find(node, field.key);
      if (value != nullptr) {
        return FailEncapsulation(*value, Join(path, field.key), e, field.only, field.otherwise);
      }
    }
    return true;
  }

  // Checks the keys of a section that holds only sections.
  bool ReadNested(const ConfigNode& node, const std::string& path,
                  std::initializer_list<std::string_view> nested) {
    return CheckKeys(node, path, nested);
  }

  // Returns the entries of a list, which must be `min` to `max`; an empty span after an error.
  std::span<const ConfigNode> Items(const ConfigNode& parent, std::string_view parent_path,
                                    std::string_view key, size_t min, size_t max);

  // Returns the value of a key, or nullptr.
  static const ConfigNode* Find(const ConfigNode& map, std::string_view key);
  static std::string Join(std::string_view path, std::string_view key);

  // Records the error if it is the first; returns false.
  bool Fail(const ConfigNode& node, std::string_view path, std::string_view problem);
  // Checks that the file's format version, if given, is 1.
  bool CheckVersion(const ConfigNode& root);

 private:
  bool CheckKeys(const ConfigNode& node, const std::string& path,
                 std::span<const std::string_view> known);
  bool CheckKeys(const ConfigNode& node, const std::string& path,
                 std::initializer_list<std::string_view> known) {
    return CheckKeys(node, path, std::span(known.begin(), known.size()));
  }
  bool FailEncapsulation(const ConfigNode& value, const std::string& path, Encapsulation e,
                         const EncapsulationSet& only, std::string_view otherwise);
  bool FailMissing(const ConfigNode& section, const std::string& path, std::string_view key);

  ConfigDraft& draft_;
  absl::Status status_;
};

// Returns the mend for an unknown key: the nearest known key, or the section to which it belongs.
std::string SuggestKey(std::string_view key, std::string_view section,
                       std::span<const std::string_view> known);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_READER_H_
