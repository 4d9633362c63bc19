// SPDX-License-Identifier: Apache-2.0
// Reads the tree into a switch's configuration: one function for each section.
#include <algorithm>

#include "base/text.h"
#include "config/config_draft.h"
#include "config/config_reader.h"
#include "config/switch_check.h"
#include "config/switch_config.h"

namespace suede {
namespace {

constexpr size_t kMaxLcores = 64;
constexpr size_t kMaxAddresses = 65536;

class SwitchReader {
 public:
  SwitchReader(const MachineFacts& machine, ConfigDraft& draft, SwitchConfig& config)
      : max_ports_(machine.switch_ports), config_(config), reader_(draft) {}

  absl::Status Read(const ConfigNode& root) {
    // Evaluation stops at the first failure.
    ReadRoot(root) && Plain(root, "eal", config_.eal) && ReadLcores(root) &&
        Plain(root, "table", config_.table) && Plain(root, "buffer", config_.buffer) &&
        ReadClasses(root) && Plain(root, "trim", config_.trim) && Plain(root, "pfc", config_.pfc) &&
        Plain(root, "llr", config_.llr) && Plain(root, "cbfc", config_.cbfc) && ReadPorts(root) &&
        ReadList(root, "", "addresses", kMaxAddresses, config_.addresses) &&
        Plain(root, "management", config_.management) && Plain(root, "log", config_.log);
    return reader_.status();
  }

 private:
  bool ReadRoot(const ConfigNode& root) {
    if (!reader_.CheckVersion(root)) return false;
    return reader_.ReadFields(root, "",
                              {"eal", "lcores", "table", "buffer", "classes", "trim", "pfc", "llr",
                               "cbfc", "ports", "addresses", "management", "log"},
                              config_.root);
  }

  template <class S>
  bool Plain(const ConfigNode& parent, const std::string& path, S& out) {
    const ConfigNode* node = ConfigReader::Find(parent, path.substr(path.rfind('.') + 1));
    return node == nullptr || reader_.ReadFields(*node, path, {}, out);
  }

  template <class S>
  bool ReadList(const ConfigNode& parent, std::string_view parent_path, std::string_view key,
                size_t max, std::vector<S>& out) {
    const std::string list = ConfigReader::Join(parent_path, key);
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(parent, parent_path, key, 0, max)) {
      if (!reader_.ReadFields(item, Entry(list, i++), {}, out.emplace_back())) return false;
    }
    return reader_.ok();
  }

  bool ReadLcores(const ConfigNode& root) {
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "lcores", 1, kMaxLcores)) {
      if (!reader_.ReadFields(item, Entry("lcores", i++), {}, config_.lcores.emplace_back())) {
        return false;
      }
    }
    return reader_.ok();
  }

  bool ReadClasses(const ConfigNode& root) {
    const ConfigNode* node = ConfigReader::Find(root, "classes");
    if (node == nullptr) return true;
    if (!reader_.ReadFields(*node, "classes", {"dscp", "of"}, config_.classes) ||
        !ReadList(*node, "classes", "dscp", 64, config_.dscps)) {
      return false;
    }
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(*node, "classes", "of", 0, 8)) {
      const std::string path = Entry("classes.of", i++);
      SwitchClassConfig& one = config_.of_class.emplace_back();
      if (!reader_.ReadFields(item, path, {"ecn"}, one)) return false;
      const ConfigNode* ecn = ConfigReader::Find(item, "ecn");
      if (ecn != nullptr && !reader_.ReadFields(*ecn, path + ".ecn", {}, one.ecn.emplace())) {
        return false;
      }
    }
    return reader_.ok();
  }

  bool ReadPorts(const ConfigNode& root) {
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "ports", 2, max_ports_)) {
      const std::string path = Entry("ports", i++);
      SwitchPortConfig& port = config_.ports.emplace_back();
      if (!reader_.ReadFields(item, path, {"impair_in", "impair_out"}, port) ||
          !Plain(item, path + ".impair_in", port.impair_in) ||
          !Plain(item, path + ".impair_out", port.impair_out)) {
        return false;
      }
    }
    return reader_.ok();
  }

  const size_t max_ports_;
  SwitchConfig& config_;
  ConfigReader reader_;
};

}  // namespace

absl::StatusOr<SwitchConfig> ParseSwitchConfig(std::string_view text, std::string_view file_name,
                                               const MachineFacts& machine,
                                               const std::vector<ConfigOverride>& overrides) {
  ConfigDraft draft;
  SwitchConfig config;
  absl::StatusOr<ConfigNode> root = ParseTree(text, file_name, overrides, draft);
  if (!root.ok()) return root.status();
  if (absl::Status s = SwitchReader(machine, draft, config).Read(*root); !s.ok()) return s;
  if (absl::Status s = CheckSwitchConfig(machine, draft, config); !s.ok()) return s;
  return config;
}

absl::StatusOr<SwitchConfig> LoadSwitchConfig(const std::string& path, const MachineFacts& machine,
                                              const std::vector<ConfigOverride>& overrides) {
  absl::StatusOr<std::string> text = ReadConfigFile(path);
  if (!text.ok()) return text.status();
  return ParseSwitchConfig(*text, path, machine, overrides);
}

}  // namespace suede
