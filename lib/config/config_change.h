// SPDX-License-Identifier: Apache-2.0
// Changes of a configuration while its daemon runs: the differences, those that take effect at
// once, and single values by number, for registers. All pass the checks that the file passes.
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

// A key whose value differs. An entry of a list of instances or peers stands for all its keys, and
// so does an entry that only one of the two has; those have no values here.
struct ConfigChange {
  std::string path;  // as in messages
  std::string from;  // as a file has it
  std::string to;
  bool at_once = false;  // otherwise after a restart
};

// The changes in the order of the documentation.
std::vector<ConfigChange> DiffConfigs(const Config& from, const Config& to);

struct ConfigPlan {
  Config config;  // with the changes that take effect at once: it has passed all checks
  std::vector<ConfigChange> changes;
};
// The plan for a daemon that was started with `started` and runs with `running` when it is given
// `wanted`, a checked configuration. A value that takes effect at once but does not fit the values
// that cannot change (a pack limit beyond the MTU) waits for the restart with them.
ConfigPlan PlanChange(const Config& started, const Config& running, const Config& wanted,
                      const MachineFacts& machine);

// `config` with single values changed, and checked as a file is.
absl::StatusOr<Config> ChangeConfig(const Config& config, const std::vector<ConfigOverride>& values,
                                    const MachineFacts& machine);

// The value of a key as a number: durations in microseconds, names by their position, from 0. None
// where the key has no such value, or is not set.
std::optional<uint64_t> ConfigNumber(const Config& config, std::string_view path);
// The text of a key's number in an override. None: no value of the key has this number.
std::optional<std::string> ConfigText(std::string_view path, uint64_t number);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHANGE_H_
