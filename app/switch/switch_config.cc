// SPDX-License-Identifier: Apache-2.0
// Reads a tree into a switch's configuration, one function for each section, and dumps it.
#include "switch/switch_config.h"

#include "base/text.h"
#include "config/config_draft.h"
#include "config/config_dump.h"
#include "config/config_reader.h"
#include "fabric/params.h"
#include "switch/switch_check.h"

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
    ReadRoot(root) && reader_.ReadSection(root, "eal", config_.eal) &&
        reader_.ReadList(root, "", "lcores", 1, kMaxLcores, config_.lcores) &&
        reader_.ReadSection(root, "table", config_.table) &&
        reader_.ReadSection(root, "buffer", config_.buffer) && ReadClasses(root) &&
        reader_.ReadSection(root, "trim", config_.trim) &&
        reader_.ReadSection(root, "pfc", config_.pfc) &&
        reader_.ReadSection(root, "llr", config_.llr) &&
        reader_.ReadSection(root, "cbfc", config_.cbfc) && ReadPorts(root) &&
        reader_.ReadList(root, "", "groups", 0, fabric::kMaxGroups, config_.groups) &&
        reader_.ReadList(root, "", "addresses", 0, kMaxAddresses, config_.addresses) &&
        reader_.ReadSection(root, "management", config_.management) &&
        reader_.ReadSection(root, "log", config_.log);
    return reader_.status();
  }

 private:
  bool ReadRoot(const ConfigNode& root) {
    if (!reader_.CheckVersion(root)) return false;
    return reader_.ReadFields(root, "",
                              {"eal", "lcores", "table", "buffer", "classes", "trim", "pfc", "llr",
                               "cbfc", "ports", "groups", "addresses", "management", "log"},
                              config_.root);
  }

  bool ReadClasses(const ConfigNode& root) {
    const ConfigNode* node = ConfigReader::Find(root, "classes");
    if (node == nullptr) return true;
    if (!reader_.ReadFields(*node, "classes", {"dscp", "of"}, config_.classes) ||
        !reader_.ReadList(*node, "classes", "dscp", 0, 64, config_.dscps)) {
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
      if (!reader_.ReadFields(item, path, {"lldp_assign", "impair_in", "impair_out"}, port) ||
          !reader_.ReadSection(item, path + ".impair_in", port.impair_in) ||
          !reader_.ReadSection(item, path + ".impair_out", port.impair_out)) {
        return false;
      }
      const ConfigNode* assign = ConfigReader::Find(item, "lldp_assign");
      if (assign != nullptr &&
          !reader_.ReadFields(*assign, path + ".lldp_assign", {}, port.lldp_assign.emplace())) {
        return false;
      }
    }
    return reader_.ok();
  }

  const size_t max_ports_;
  SwitchConfig& config_;
  ConfigReader reader_;
};

// ---- The dump.

void AppendClasses(const SwitchConfig& config, std::string& out) {
  StrAppend(&out, "classes:\n  ", StrJoin(Lines(config.classes), "\n  "), "\n");
  AppendList("dscp", config.dscps, "  ", out);
  if (config.of_class.empty()) return;
  out += "  of:\n";
  for (const SwitchClassConfig& one : config.of_class) {
    StrAppend(&out, "    - ", StrJoin(Lines(one), "\n      "), "\n");
    if (one.ecn) StrAppend(&out, "      ecn: ", Inline(*one.ecn), "\n");
  }
}

void AppendPorts(const SwitchConfig& config, std::string& out) {
  out += "ports:\n";
  for (const SwitchPortConfig& port : config.ports) {
    StrAppend(&out, "  - ", StrJoin(Lines(port), "\n    "),
              "\n    impair_in: ", Inline(port.impair_in),
              "\n    impair_out: ", Inline(port.impair_out), "\n");
    if (port.lldp_assign) StrAppend(&out, "    lldp_assign: ", Inline(*port.lldp_assign), "\n");
  }
}

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

std::string DumpSwitchConfig(const SwitchConfig& config) {
  std::string out = StrCat("# Effective configuration of ", config.name(), ".\n");
  StrAppend(&out, StrJoin(Lines(config.root), "\n"), "\n");
  AppendSection("eal", config.eal, out);
  AppendList("lcores", config.lcores, "", out);
  AppendSection("table", config.table, out);
  AppendSection("buffer", config.buffer, out);
  AppendClasses(config, out);
  AppendSection("trim", config.trim, out);
  AppendSection("pfc", config.pfc, out);
  AppendSection("llr", config.llr, out);
  AppendSection("cbfc", config.cbfc, out);
  AppendPorts(config, out);
  AppendList("groups", config.groups, "", out);
  AppendList("addresses", config.addresses, "", out);
  AppendSection("management", config.management, out);
  AppendSection("log", config.log, out);
  return out;
}

}  // namespace suede
