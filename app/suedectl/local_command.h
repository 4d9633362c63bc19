// SPDX-License-Identifier: Apache-2.0
// A command of suedectl that needs no daemon: it works on files and streams alone.
#ifndef SUEDE_SUEDECTL_LOCAL_COMMAND_H_
#define SUEDE_SUEDECTL_LOCAL_COMMAND_H_

#include <cstdio>
#include <span>
#include <string_view>

namespace suede::ctl {

struct LocalCommand {
  std::string_view name;      // the words that choose it: "frame decode"
  std::string_view sentence;  // for the list of commands
  // Takes the arguments behind the name. Returns the program's exit code.
  int (*run)(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);
  bool takes_json = false;  // --json may stand before the name too
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_LOCAL_COMMAND_H_
