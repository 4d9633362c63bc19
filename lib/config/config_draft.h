// SPDX-License-Identifier: Apache-2.0
// A configuration that has been read and not checked yet, with the places of its keys.
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
  std::map<std::string, ConfigLocation, std::less<>> places;  // of the values that were given
  std::vector<uint32_t> instance_entries;  // list entry that each of config.instances came from
  std::vector<uint32_t> peer_entries;      // list entry that each of config.peers came from
  std::vector<std::string> warnings;

  bool Has(std::string_view path) const { return places.contains(path); }
  // The error at the value of `path`, or at the nearest section around it that is in the file.
  absl::Status Error(std::string_view path, std::string_view problem) const;
};

// "list[index]", as in paths.
std::string Entry(std::string_view list, size_t index);

void Warn(ConfigDraft& draft, std::string_view path, std::string_view problem);

// Reads a file's text.
absl::StatusOr<std::string> ReadConfigFile(const std::string& path);
// The tree of a text with all overrides laid over it; the draft gets their places.
absl::StatusOr<ConfigNode> ParseTree(std::string_view text, std::string_view file_name,
                                     const std::vector<ConfigOverride>& overrides,
                                     ConfigDraft& draft);

// Reads the tree, each value by itself: unknown and missing keys, types, ranges, names
// that refer to nothing.
absl::Status ReadConfig(const ConfigNode& root, ConfigDraft& draft);

// Checks the rules that concern more than one value, and fills in values computed from others.
absl::Status CheckConfig(const MachineFacts& machine, ConfigDraft& draft);

// The part of those rules that every daemon has: EAL's arguments, lcores, names and devices of
// ports, the management socket. It reads only these keys of ports: name, device, socket_mode,
// mac.
absl::Status CheckDaemonConfig(const MachineFacts& machine, ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_DRAFT_H_
