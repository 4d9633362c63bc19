// SPDX-License-Identifier: Apache-2.0
// Changes of a running daemon's configuration: the differences, the changes that take effect at
// once, and single values by number, for registers. All results pass the checks of a file.
#ifndef SUEDE_CONFIG_CONFIG_CHANGE_H_
#define SUEDE_CONFIG_CONFIG_CHANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "config/config.h"

namespace suede {

// A key whose value differs. An entry of instances or peers counts as one key, as does any entry
// that only one side has; these have no values here.
struct ConfigChange {
  std::string path;  // as in messages
  std::string from;  // as in a file
  std::string to;
  bool at_once = false;  // else after a restart
};

// Returns the differences, in the order of the documentation.
std::vector<ConfigChange> DiffConfigs(const Config& from, const Config& to);

struct ConfigPlan {
  Config config;  // the running one with all changes that take effect at once; checked
  std::vector<ConfigChange> changes;
};
// Plans the change of a daemon that was started with `started` and runs with `running` to `wanted`,
// a checked configuration. A value that would take effect at once but contradicts values that
// cannot change (a pack limit beyond the MTU) waits for the restart with them.
ConfigPlan PlanChange(const Config& started, const Config& running, const Config& wanted,
                      const MachineFacts& machine);

// Returns `config` with single values changed; checked like a file.
absl::StatusOr<Config> ChangeConfig(const Config& config, const std::vector<ConfigOverride>& values,
                                    const MachineFacts& machine);

// Returns the value of a key as a number: durations in microseconds, names by their position from
// 0. nullopt: the key has no numeric value, or is not set.
std::optional<uint64_t> ConfigNumber(const Config& config, std::string_view path);
// Returns the text for an override with a key's number. nullopt: no value has this number.
std::optional<std::string> ConfigText(std::string_view path, uint64_t number);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHANGE_H_
