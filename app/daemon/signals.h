// SPDX-License-Identifier: Apache-2.0
// The signals that a daemon takes.
#ifndef SUEDE_APP_DAEMON_SIGNALS_H_
#define SUEDE_APP_DAEMON_SIGNALS_H_

namespace suede {

// From here on SIGTERM, SIGINT and SIGUSR1 come to the signalfd that this returns, which does not
// block, and to no thread: threads started from here on inherit the mask. SIGPIPE is ignored.
int TakeSignals();

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_SIGNALS_H_
