// SPDX-License-Identifier: Apache-2.0
// Help texts, generated from the declarations of commands.
#ifndef SUEDE_APP_SUEDECTL_HELP_H_
#define SUEDE_APP_SUEDECTL_HELP_H_

#include <string>
#include <string_view>

#include "mgmt/method.h"
#include "suedectl/command_line.h"

namespace suede::ctl {

// Returns the help on all commands, or on those of a group ("counters"); "": all.
std::string Help(const Commands& commands, std::string_view group);
std::string HelpOf(const Method& method);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_HELP_H_
