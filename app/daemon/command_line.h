// SPDX-License-Identifier: Apache-2.0
// The command line of a daemon. Its flags are gflags', and one of them is `set`.
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
  std::vector<std::string> eal_arguments;  // the arguments behind "--"
  int exit_code = -1;                      // not to go on
};

// Answers --help and --version, and refuses flags that it does not know: gflags would do so in its
// own way, with its own exit codes. Afterwards the flag `set` has the values of all of them.
// `libraries`: what --version says besides.
CommandLine ParseCommandLine(const Program& program, int argc, char** argv,
                             const std::string& libraries = "");

// The overrides of the environment, then those of the flag: KEY=VALUE;KEY=VALUE... `keys` are the
// program's.
absl::StatusOr<std::vector<ConfigOverride>> ReadOverrides(std::string_view set,
                                                          const std::vector<ConfigKey>& keys);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_COMMAND_LINE_H_
