// SPDX-License-Identifier: Apache-2.0
// The command line of a daemon. Its flags belong to gflags; one of them is `set`.
#ifndef SUEDE_APP_DAEMON_COMMAND_LINE_H_
#define SUEDE_APP_DAEMON_COMMAND_LINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "config/config.h"
#include "config/config_fields.h"
#include "daemon/program.h"

namespace suede {

struct CommandLine {
  std::vector<std::string> eal_arguments;  // arguments after "--"
  int exit_code = -1;                      // -1: continue
};

// Handles --help and --version, and rejects unknown flags, for which gflags would use other exit
// codes. Joins the values of all --set into the flag `set`. `libraries`: appended to the output of
// --version.
CommandLine ParseCommandLine(const Program& program, int argc, char** argv,
                             const std::string& libraries = "");

// Returns the overrides of the environment, then those of the flag `set`: KEY=VALUE;KEY=VALUE...
// Fails if the flag `config`, the path of the file, is empty. `keys`: the program's configuration
// keys.
absl::StatusOr<std::vector<ConfigOverride>> ReadOverrides(std::string_view config,
                                                          std::string_view set,
                                                          const std::vector<ConfigKey>& keys);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_COMMAND_LINE_H_
