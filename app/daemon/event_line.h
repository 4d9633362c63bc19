// SPDX-License-Identifier: Apache-2.0
// Logs events.
#ifndef SUEDE_APP_DAEMON_EVENT_LINE_H_
#define SUEDE_APP_DAEMON_EVENT_LINE_H_

#include "daemon/logger.h"
#include "mgmt/event_log.h"

namespace suede {

void LogEvent(const Event& event, const LogSink& log);

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_EVENT_LINE_H_
