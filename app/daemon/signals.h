// SPDX-License-Identifier: Apache-2.0
// The signals that a daemon handles.
#ifndef SUEDE_APP_DAEMON_SIGNALS_H_
#define SUEDE_APP_DAEMON_SIGNALS_H_

namespace suede {

// Blocks SIGTERM, SIGINT and SIGUSR1 for this thread and for threads started later, and ignores
// SIGPIPE. Returns a non-blocking signalfd that receives the former.
int TakeSignals();

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_SIGNALS_H_
