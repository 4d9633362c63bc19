// SPDX-License-Identifier: Apache-2.0
// Commands of suedectl that work only on files and streams, without a daemon.
#ifndef SUEDE_SUEDECTL_LOCAL_COMMAND_H_
#define SUEDE_SUEDECTL_LOCAL_COMMAND_H_

#include <cstdio>
#include <span>
#include <string_view>

namespace suede::ctl {

struct LocalCommand {
  std::string_view name;      // the words of the command: "frame decode"
  std::string_view sentence;  // description, for help
  // Runs the command with the arguments behind its name. Returns the program's exit code.
  int (*run)(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);
  bool takes_json = false;   // --json and --wide may also precede the name
  std::string_view words{};  // that may follow, for completion
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_LOCAL_COMMAND_H_
