// SPDX-License-Identifier: Apache-2.0
// A switch from its start to its end.
#ifndef SUEDE_APP_SUEDE_SWITCH_SERVE_H_
#define SUEDE_APP_SUEDE_SWITCH_SERVE_H_

#include <string>

#include "config/switch_config.h"

namespace suede {

// Builds the switch, with its sockets, and serves until a signal or a request asks to end, then
// lets frames inside leave for `drain_seconds` at most. `file`: that the configuration came from.
// The exit code.
int RunSwitch(const SwitchConfig& config, const std::string& file, double drain_seconds);

}  // namespace suede

#endif  // SUEDE_APP_SUEDE_SWITCH_SERVE_H_
