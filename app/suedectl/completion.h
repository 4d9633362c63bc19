// SPDX-License-Identifier: Apache-2.0
// Completion by shells, generated from the declarations of commands. Names of endpoints and XPUs
// are queried when the shell completes.
#ifndef SUEDE_APP_SUEDECTL_COMPLETION_H_
#define SUEDE_APP_SUEDECTL_COMPLETION_H_

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "suedectl/command_line.h"

namespace suede::ctl {

enum class Shell : uint8_t { kBash, kZsh };

// Returns the script of suedectl.
std::string Completion(const Commands& commands, Shell shell);

// The command completion: prints the script for a shell, or the words endpoints, xpus or peers for
// it.
int RunCompletion(std::span<const std::string_view> arguments, FILE* in, FILE* out, FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_COMPLETION_H_
