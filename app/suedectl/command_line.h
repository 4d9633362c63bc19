// SPDX-License-Identifier: Apache-2.0
// The command line of suedectl: from the table of methods to commands.
//
// gflags does not fit here: which flags there are depends on the command.
#ifndef SUEDE_APP_SUEDECTL_COMMAND_LINE_H_
#define SUEDE_APP_SUEDECTL_COMMAND_LINE_H_

#include <cstdint>
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

// The flags that any command takes.
struct GlobalFlags {
  std::string endpoint = "suede";
  std::string socket;    // empty: the endpoint's
  bool json = false;
  bool wide = false;
  double every_s = 0;    // 0: once
  uint32_t times = 0;    // with every_s; 0: until somebody ends it
  bool help = false;
  bool version = false;

  size_t columns() const { return wide ? SIZE_MAX : kTextColumns; }
};

// A flag of GlobalFlags, for help and completion.
struct GlobalFlag {
  std::string_view name;   // with dashes
  std::string_view value;  // that it takes; empty: none
  std::string_view sentence;
};
std::span<const GlobalFlag> GlobalFlagRows();

// All commands there are.
struct Commands {
  const Catalog& catalog;
  std::span<const LocalCommand> local;
  std::span<const DaemonCommand> daemon{};
  const Catalog* switch_catalog = nullptr;  // null: no commands for switches

  // The declarations of the daemons' methods and of the daemon commands. Where endpoints and
  // switches have a method of the same name, the endpoint's.
  std::vector<const Method*> Declarations() const;
  // The method with which a daemon of the kind does that; null: none.
  const Method* Find(std::string_view method, DaemonKind kind) const;
};

struct Invocation {
  GlobalFlags flags;
  // At most one of the two. With neither, help or version was asked for.
  const Method* method = nullptr;
  const LocalCommand* local = nullptr;
  const DaemonCommand* daemon = nullptr;  // whose declaration `method` then is
  std::string group;                   // help of "counters"
  ForeignJson params = ForeignJson::object();
  std::string descriptor_path;         // of the method's descriptor
  std::vector<std::string> arguments;  // of a local command
};

// `arguments` are without the program's name; `environment` is NAME=VALUE entries, ended by
// nullptr. `kind`: of the daemon that the command is for. The message of an error is for stderr,
// and says how to mend it.
absl::StatusOr<Invocation> ParseCommandLine(const std::vector<std::string>& arguments,
                                            const Commands& commands,
                                            const char* const* environment,
                                            DaemonKind kind = DaemonKind::kEndpoint);

// "counters get" of "counters.get".
std::string CommandOf(const Method& method);

// The names of `names` that `word` may have been meant as, the likeliest first; three at most.
std::vector<std::string> Nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_COMMAND_LINE_H_
