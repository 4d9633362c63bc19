// SPDX-License-Identifier: Apache-2.0
// Idle behaviour of an lcore: the waiter of RunLoop, and its strategy from the configuration.
#ifndef SUEDE_APP_DAEMON_LCORE_IDLE_H_
#define SUEDE_APP_DAEMON_LCORE_IDLE_H_

#include "config/config.h"
#include "dpdk/lcores.h"
#include "lcore/lcore_loop.h"

namespace suede {

// Created by the thread that waits.
struct LcoreWaiter {
  LcoreWaiter() { SleepExactly(); }
  void Pause() { CpuPause(); }
  void Yield() { YieldCpu(); }
  void Sleep(Duration time) { SleepNs(time.count()); }
};

inline IdleStrategy ToIdle(LcoreConfig::Idle idle) {
  static_assert(static_cast<int>(LcoreConfig::Idle::kSleep) ==
                static_cast<int>(IdleStrategy::kSleep));
  return static_cast<IdleStrategy>(idle);
}

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LCORE_IDLE_H_
