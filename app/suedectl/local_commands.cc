// SPDX-License-Identifier: Apache-2.0
#include "suedectl/local_commands.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "suedectl/command_line.h"
#include "suedectl/endpoints_command.h"
#include "suedectl/frame_commands.h"
#include "suedectl/help.h"
#include "suedectl/switch_config_command.h"

namespace suede::ctl {
namespace {

int PrintCompletion(std::span<const std::string_view> arguments, FILE*, FILE* out, FILE* err) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs("suedectl completion: prints a completion script for bash.\n\n"
               "  source <(suedectl completion)\n", out);
    return kExitDone;
  }
  if (!arguments.empty()) {
    std::fprintf(err, "suedectl: completion takes no arguments, and not '%s'\n",
                 std::string(arguments[0]).c_str());
    return kExitUsage;
  }
  const Commands all{.catalog = EndpointCatalog(),
                     .local = LocalCommands(),
                     .daemon = DaemonCommands(),
                     .switch_catalog = &SwitchCatalog()};
  std::fputs(Completion(all).c_str(), out);
  return kExitDone;
}

constexpr LocalCommand kLocalCommands[] = {
    kFrameCommands[0],
    kFrameCommands[1],
    {"switch-config", "writes the configuration of the switch between endpoints", RunSwitchConfig},
    {"endpoints", "lists the endpoints that run on this machine", RunEndpoints, true},
    {"completion", "prints a completion script for bash", PrintCompletion},
};

}  // namespace

std::span<const LocalCommand> LocalCommands() { return kLocalCommands; }

}  // namespace suede::ctl
