// SPDX-License-Identifier: Apache-2.0
// suedectl endpoints: lists the endpoints that run on this machine or have left files behind.
#ifndef SUEDE_APP_SUEDECTL_ENDPOINTS_COMMAND_H_
#define SUEDE_APP_SUEDECTL_ENDPOINTS_COMMAND_H_

#include <string>
#include <vector>

#include "mgmt/json.h"
#include "suedectl/local_command.h"

namespace suede::ctl {

// Returns the directories that contain the endpoints' runtime directories: the system's and the
// caller's; for root those of all users.
std::vector<std::string> RuntimeRoots();

// Returns the endpoints below `roots`, sorted by name. Queries each for its state.
Json ListEndpoints(const std::vector<std::string>& roots);

int RunEndpoints(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_ENDPOINTS_COMMAND_H_
