// SPDX-License-Identifier: Apache-2.0
// suedectl switch-config: the configuration of the switch between endpoints (docs/switches.md).
#ifndef SUEDE_SUEDECTL_SWITCH_CONFIG_COMMAND_H_
#define SUEDE_SUEDECTL_SWITCH_CONFIG_COMMAND_H_

#include <cstdio>
#include <span>
#include <string_view>

namespace suede::ctl {

int RunSwitchConfig(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_SWITCH_CONFIG_COMMAND_H_
