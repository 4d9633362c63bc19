// SPDX-License-Identifier: Apache-2.0
// The table of commands that need no daemon.
#ifndef SUEDE_SUEDECTL_LOCAL_COMMANDS_H_
#define SUEDE_SUEDECTL_LOCAL_COMMANDS_H_

#include <span>

#include "suedectl/local_command.h"

namespace suede::ctl {

// Returns all commands. A new one takes a function in a file of its own and a row in
// local_commands.cc.
std::span<const LocalCommand> LocalCommands();

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_LOCAL_COMMANDS_H_
