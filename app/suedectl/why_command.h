// SPDX-License-Identifier: Apache-2.0
// suedectl why (docs/why.md).
#ifndef SUEDE_APP_SUEDECTL_WHY_COMMAND_H_
#define SUEDE_APP_SUEDECTL_WHY_COMMAND_H_

#include <cstdio>

#include "suedectl/daemon_command.h"

namespace suede::ctl {

absl::Status RunWhy(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_WHY_COMMAND_H_
