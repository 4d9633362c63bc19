// SPDX-License-Identifier: Apache-2.0
// The program suedectl, except for main.
#ifndef SUEDE_APP_SUEDECTL_RUN_H_
#define SUEDE_APP_SUEDECTL_RUN_H_

#include <cstdio>
#include <string>
#include <vector>

#include "suedectl/command_line.h"

namespace suede::ctl {

// Runs suedectl. Prints results and help to `out`, messages to `err`. Returns the exit code.
int Run(const std::vector<std::string>& arguments, const Commands& commands,
        const char* const* environment, const std::string& version, std::FILE* out, std::FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_RUN_H_
