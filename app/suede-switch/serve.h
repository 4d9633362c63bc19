// SPDX-License-Identifier: Apache-2.0
// Runs a switch from start to end.
#ifndef SUEDE_APP_SUEDE_SWITCH_SERVE_H_
#define SUEDE_APP_SUEDE_SWITCH_SERVE_H_

#include <string>

#include "switch/switch_config.h"

namespace suede {

// Builds the switch, with its sockets, and serves until a signal or a drain request, then lets
// frames inside leave for at most `drain_seconds`. `file`: the configuration's file. Returns the
// exit code.
int RunSwitch(const SwitchConfig& config, const std::string& file, double drain_seconds);

}  // namespace suede

#endif  // SUEDE_APP_SUEDE_SWITCH_SERVE_H_
