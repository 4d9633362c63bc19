// SPDX-License-Identifier: Apache-2.0
// The texts that suedectl makes from the declaration of its commands.
#ifndef SUEDE_APP_SUEDECTL_HELP_H_
#define SUEDE_APP_SUEDECTL_HELP_H_

#include <string>
#include <string_view>

#include "mgmt/method.h"
#include "suedectl/command_line.h"

namespace suede::ctl {

// All commands, or those of a group ("counters").
std::string Help(const Commands& commands, std::string_view group);
std::string HelpOf(const Method& method);
// A script for bash.
std::string Completion(const Commands& commands);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_HELP_H_
