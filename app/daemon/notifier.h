// SPDX-License-Identifier: Apache-2.0
// Notifies the service manager (sd_notify(3)) of readiness, liveness and stopping. No-op without
// $NOTIFY_SOCKET.
#ifndef SUEDE_APP_DAEMON_NOTIFIER_H_
#define SUEDE_APP_DAEMON_NOTIFIER_H_

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace suede {

// Detects a stalled lcore from numbers that grow with each lcore's poll iterations.
class LcoreWatch {
 public:
  explicit LcoreWatch(size_t lcores) : before_(lcores, 0), moved_(lcores, false) {}

  // Samples the progress. Returns whether every lcore has progressed since the last Restart().
  bool AllMoved(std::span<const uint64_t> progress);
  // Returns the first lcore without progress; only after AllMoved() returned false.
  size_t stuck() const;
  void Restart() { moved_.assign(moved_.size(), false); }

 private:
  std::vector<uint64_t> before_;
  std::vector<bool> moved_;
};

class Notifier {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Notifier(size_t lcores);

  // Reports that the start waits, for at most this time.
  void Starting(const std::string& status, std::chrono::seconds max);
  // Reports that the service has started.
  void Ready(const std::string& status);
  // Sends the line for `systemctl status`, if it changed.
  void Status(const std::string& status);
  // Reports that the service is stopping, within at most this time.
  void Stopping(std::chrono::milliseconds max);

  // To be called every few milliseconds. Sends WATCHDOG=1 every third of the manager's interval,
  // but only if all lcores have progressed since the last time, so that the manager ends a process
  // with a stalled lcore. Returns the index of an lcore that has delayed the message by another
  // third, once per stall; else -1.
  int Beat(Clock::time_point now, std::span<const uint64_t> progress);

 private:
  LcoreWatch watch_;
  Clock::duration interval_{};  // 0: no watchdog
  Clock::time_point next_beat_{};
  bool stall_reported_ = false;
  std::string status_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_NOTIFIER_H_
