// SPDX-License-Identifier: Apache-2.0
// The command line of suede, and the configuration that it leads to.
#ifndef SUEDE_APP_SUEDE_COMMAND_LINE_H_
#define SUEDE_APP_SUEDE_COMMAND_LINE_H_

#include <gflags/gflags_declare.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "config/config.h"
#include "endpoint/config_origin.h"
#include "endpoint/daemon_flags.h"

#define SUEDE_DECLARE_FLAG(type, name, fallback, value, sentence) DECLARE_##type(name);
SUEDE_FLAGS(SUEDE_DECLARE_FLAG)
#undef SUEDE_DECLARE_FLAG

namespace suede {

struct CommandLine {
  std::vector<std::string> eal_arguments;  // the arguments behind "--"
  int exit_code = -1;                      // not to go on
};

// Answers --help and --version, and refuses flags that it does not know: gflags would do so in its
// own way, with its own exit codes.
CommandLine ParseCommandLine(int argc, char** argv);

// The configuration that the flags and the environment name.
absl::StatusOr<Config> ReadConfig(std::vector<std::string>* warnings, ConfigOrigin* origin);

}  // namespace suede

#endif  // SUEDE_APP_SUEDE_COMMAND_LINE_H_
