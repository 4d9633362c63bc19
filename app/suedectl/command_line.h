// SPDX-License-Identifier: Apache-2.0
// The parser of suedectl's command line. Derives the commands from the table of methods.
//
// gflags is not suitable, because the set of flags depends on the command.
#ifndef SUEDE_APP_SUEDECTL_COMMAND_LINE_H_
#define SUEDE_APP_SUEDECTL_COMMAND_LINE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"
#include "suedectl/daemon_command.h"
#include "suedectl/exit_codes.h"
#include "suedectl/local_commands.h"
#include "suedectl/print.h"

namespace suede::ctl {

// Flags that every command accepts.
struct GlobalFlags {
  std::string endpoint = "suede";
  std::string socket;  // path; empty: derived from `endpoint`
  bool json = false;
  bool wide = false;
  double every_s = 0;    // 0: once
  uint32_t times = 0;    // with every_s; 0: until interrupted
  bool help = false;
  bool version = false;

  size_t columns() const { return wide ? SIZE_MAX : kTextColumns; }
};

// A flag of GlobalFlags, for help and completion.
struct GlobalFlag {
  std::string_view name;   // with dashes
  std::string_view value;  // name of the value; empty: takes none
  std::string_view sentence;
};
std::span<const GlobalFlag> GlobalFlagRows();

// All commands of suedectl.
struct Commands {
  const Catalog& catalog;
  std::span<const LocalCommand> local;
  std::span<const DaemonCommand> daemon{};
  const Catalog* switch_catalog = nullptr;  // null: no commands for switches

  // Returns the declarations of the daemons' methods and of the daemon commands. A method that
  // endpoints and switches share has the endpoint's declaration.
  std::vector<const Method*> Declarations() const;
  // Returns the declaration of a method for a kind of daemon; null if the daemon lacks it.
  const Method* Find(std::string_view method, DaemonKind kind) const;
};

struct Invocation {
  GlobalFlags flags;
  // At most one of `method` and `local` is set. Both are null if help or version was requested.
  const Method* method = nullptr;
  const LocalCommand* local = nullptr;
  const DaemonCommand* daemon = nullptr;  // then `method` is its declaration
  std::string group;                      // group of a request for help: "counters"
  ForeignJson params = ForeignJson::object();
  // Names of XPUs by parameter, which has the number 0 until they are resolved.
  std::map<std::string, std::string> xpu_names;
  std::string descriptor_path;         // path of the file for the method's descriptor
  std::vector<std::string> arguments;  // of a local command
};

// Parses `arguments`, without the program's name, for a daemon of `kind`. `environment`: NAME=VALUE
// entries, terminated by nullptr. The error's message is for stderr, and names the remedy.
absl::StatusOr<Invocation> ParseCommandLine(const std::vector<std::string>& arguments,
                                            const Commands& commands,
                                            const char* const* environment,
                                            DaemonKind kind = DaemonKind::kEndpoint);

// Returns the command of a method: "counters get" for "counters.get".
std::string CommandOf(const Method& method);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_COMMAND_LINE_H_
