// SPDX-License-Identifier: Apache-2.0
// suedectl endpoints: which endpoints run on this machine, and which have left something behind.
#ifndef SUEDE_APP_SUEDECTL_ENDPOINTS_COMMAND_H_
#define SUEDE_APP_SUEDECTL_ENDPOINTS_COMMAND_H_

#include <string>
#include <vector>

#include "mgmt/json.h"
#include "suedectl/local_command.h"

namespace suede::ctl {

// The directories whose subdirectories are endpoints': those of the system's daemons and of the
// caller's own, and for root those of everybody.
std::vector<std::string> RuntimeRoots();

// The endpoints found below `roots`, by name; each is asked.
Json ListEndpoints(const std::vector<std::string>& roots);

int RunEndpoints(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_ENDPOINTS_COMMAND_H_
