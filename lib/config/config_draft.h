// SPDX-License-Identifier: Apache-2.0
// A configuration that was read but not checked yet, with the places of its keys.
#ifndef SUEDE_CONFIG_CONFIG_DRAFT_H_
#define SUEDE_CONFIG_CONFIG_DRAFT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "config/config.h"
#include "config/config_node.h"

namespace suede {

struct ConfigDraft {
  Config config;
  ConfigSources sources;
  std::map<std::string, ConfigLocation, std::less<>> places;  // of all given values
  std::vector<uint32_t> instance_entries;  // index of the list entry of each of config.instances
  std::vector<uint32_t> peer_entries;      // index of the list entry of each of config.peers
  std::vector<std::string> warnings;

  bool Has(std::string_view path) const { return places.contains(path); }
  // Returns an error at the value of `path`, or at the nearest enclosing section in the file.
  absl::Status Error(std::string_view path, std::string_view problem) const;
};

// Returns "list[index]", as in paths.
std::string Entry(std::string_view list, size_t index);

void Warn(ConfigDraft& draft, std::string_view path, std::string_view problem);

// Returns the text of a file.
absl::StatusOr<std::string> ReadConfigFile(const std::string& path);
// Returns the tree of a text with all overrides applied; sets the sources of the draft.
absl::StatusOr<ConfigNode> ParseTree(std::string_view text, std::string_view file_name,
                                     const std::vector<ConfigOverride>& overrides,
                                     ConfigDraft& draft);

// Reads the tree, with checks of each single value: unknown and missing keys, types, ranges, names
// that refer to nothing.
absl::Status ReadConfig(const ConfigNode& root, ConfigDraft& draft);

// Checks the rules that concern more than one value, and fills in computed values.
absl::Status CheckConfig(const MachineFacts& machine, ConfigDraft& draft);

// Checks the rules that all daemons share: EAL's arguments, lcores, names and devices of ports, the
// management socket. Uses only these keys of ports: name, device, socket_mode, mac.
absl::Status CheckDaemonConfig(const MachineFacts& machine, ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_DRAFT_H_
