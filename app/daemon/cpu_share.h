// SPDX-License-Identifier: Apache-2.0
// Raises an event when an lcore that spins shares its CPU.
#ifndef SUEDE_APP_DAEMON_CPU_SHARE_H_
#define SUEDE_APP_DAEMON_CPU_SHARE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "config/config.h"
#include "mgmt/event_log.h"

namespace suede {

// Compares the CPU time of the lcore's thread with the time that passed, which covers other
// threads of any process, and interrupts.
class CpuShare {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(1);
  static constexpr Duration kRearm = std::chrono::minutes(1);
  static constexpr int64_t kMinPercent = 90;

  // To be called periodically by the control thread. Evaluates each kInterval the CPU time that
  // `cpu_time(cpu)` returns: nullopt before the lcore runs.
  template <typename CpuTime>
  void Check(const LcoreConfig& lcore, Time now, CpuTime&& cpu_time, EventLog& events) {
    if (lcore.idle != LcoreConfig::Idle::kSpin || now - checked_ < kInterval) return;
    const Duration passed = now - checked_;
    checked_ = now;
    const std::optional<Duration> before = std::exchange(used_, cpu_time(lcore.cpu));
    if (!used_ || !before) return;
    const int64_t percent = (*used_ - *before) * 100 / passed;
    if (percent >= kMinPercent) return;
    if (!shared_ || now - *shared_ > kRearm) {
      events.Raise(EventKind::kLcoreSharesCpu,
                   {{EventField::kLcore, lcore.cpu},
                    {EventField::kPercent, percent},
                    {EventField::kRemedy,
                     StrCat("keep CPU ", lcore.cpu, " for the lcore (isolcpus=", lcore.cpu,
                            "; ps -eLo psr,pid,comm lists threads), or set idle: yield")}});
    }
    shared_ = now;
  }

 private:
  Time checked_{};
  std::optional<Duration> used_;  // at `checked_`
  std::optional<Time> shared_;    // the last time with too little CPU time
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_CPU_SHARE_H_
