// SPDX-License-Identifier: Apache-2.0
// suedectl why (docs/why.md).
#ifndef SUEDE_APP_SUEDECTL_WHY_COMMAND_H_
#define SUEDE_APP_SUEDECTL_WHY_COMMAND_H_

#include <cstdio>

#include "suedectl/daemon_command.h"
#include "suedectl/why.h"

namespace suede::ctl {

// Adds a sample of the daemon's to `samples`; with `only_busy` none while nothing waits, is on the
// way or is not read. `wanted`: parameters of waits.list besides its limit.
absl::Status AddWhySample(Daemon& daemon, ForeignJson wanted, bool only_busy, WhySamples* samples);

absl::Status RunWhy(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_WHY_COMMAND_H_
