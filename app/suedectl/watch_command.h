// SPDX-License-Identifier: Apache-2.0
// suedectl watch events (docs/events.md).
#ifndef SUEDE_SUEDECTL_WATCH_COMMAND_H_
#define SUEDE_SUEDECTL_WATCH_COMMAND_H_

#include <cstdio>
#include <string>

#include "suedectl/daemon_command.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {

absl::Status RunWatchEvents(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags,
                            FILE* out, FILE* err);

// Formats an event of events.list as a line of text, with newline.
std::string EventLine(const Json& event, const XpuNames& names = {});

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_WATCH_COMMAND_H_
