// SPDX-License-Identifier: Apache-2.0
// A command of suedectl that makes more of the daemon's methods than one call of one.
#ifndef SUEDE_SUEDECTL_DAEMON_COMMAND_H_
#define SUEDE_SUEDECTL_DAEMON_COMMAND_H_

#include <cstdio>
#include <span>

#include "mgmt/method.h"
#include "suedectl/daemon.h"

namespace suede::ctl {

struct GlobalFlags;

struct DaemonCommand {
  // Declared like a method, for the command line, help and completion; it has no `run`.
  Method declaration;
  // Returns the error that ended it; OK is exit code 0.
  absl::Status (*run)(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags,
                      FILE* out, FILE* err) = nullptr;
  bool of_switch = false;  // a switch can do it, too
};

// All of them. A further one is a function in a file of its own and a row in daemon_commands.cc.
std::span<const DaemonCommand> DaemonCommands();

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_DAEMON_COMMAND_H_
