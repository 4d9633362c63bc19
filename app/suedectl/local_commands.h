// Commands that need no daemon.
#ifndef SUEDE_APP_SUEDECTL_LOCAL_COMMANDS_H_
#define SUEDE_APP_SUEDECTL_LOCAL_COMMANDS_H_

#include <span>
#include <string_view>

namespace suede::ctl {

struct LocalCommand {
  std::string_view name;  // words, with spaces between them: "frame decode"
  std::string_view sentence;
  // Gets its name as argv[0] and what stood behind it, --help included; returns the exit code.
  int (*run)(int argc, char** argv) = nullptr;
};

// All of them. A further one is a function in a file of its own and a row in local_commands.cc.
std::span<const LocalCommand> LocalCommands();

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_LOCAL_COMMANDS_H_
