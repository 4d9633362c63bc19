// SPDX-License-Identifier: Apache-2.0
#include "daemon/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

namespace suede {

int TakeSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

}  // namespace suede
