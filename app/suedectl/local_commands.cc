// SPDX-License-Identifier: Apache-2.0
#include "suedectl/local_commands.h"

#include "suedectl/completion.h"
#include "suedectl/endpoints_command.h"
#include "suedectl/frame_commands.h"
#include "suedectl/switch_config_command.h"

namespace suede::ctl {
namespace {

constexpr LocalCommand kLocalCommands[] = {
    kFrameCommands[0],
    kFrameCommands[1],
    {"switch-config", "writes the configuration of the switch between endpoints", RunSwitchConfig},
    {"endpoints", "lists the endpoints that run on this machine", RunEndpoints, true},
    {"completion", "prints a completion script for bash or zsh", RunCompletion, false, "bash zsh"},
};

}  // namespace

std::span<const LocalCommand> LocalCommands() { return kLocalCommands; }

}  // namespace suede::ctl
