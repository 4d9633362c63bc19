// SPDX-License-Identifier: Apache-2.0
// Commands of suedectl that combine several calls of the daemon's methods.
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
  // Runs the command. Returns OK for exit code 0, otherwise the error.
  absl::Status (*run)(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags,
                      FILE* out, FILE* err) = nullptr;
  bool of_switch = false;  // switches support it, too
};

// Returns all commands. A new one takes a function in a file of its own and a row in
// daemon_commands.cc.
std::span<const DaemonCommand> DaemonCommands();

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_DAEMON_COMMAND_H_
