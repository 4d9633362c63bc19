// SPDX-License-Identifier: Apache-2.0
// suedectl trace show (docs/trace.md).
#ifndef SUEDE_APP_SUEDECTL_TRACE_COMMAND_H_
#define SUEDE_APP_SUEDECTL_TRACE_COMMAND_H_

#include <cstdio>

#include "suedectl/daemon_command.h"

namespace suede::ctl {

absl::Status RunTraceShow(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags,
                          FILE* out, FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_TRACE_COMMAND_H_
