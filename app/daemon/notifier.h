// SPDX-License-Identifier: Apache-2.0
// Tells the service manager (sd_notify(3)) that the daemon is ready, that it lives, that it ends.
// Says nothing where nobody asked ($NOTIFY_SOCKET is not set).
#ifndef SUEDE_APP_DAEMON_NOTIFIER_H_
#define SUEDE_APP_DAEMON_NOTIFIER_H_

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace suede {

// Tells lcores that turn from one that hangs, by numbers that grow with an lcore's turns.
class LcoreWatch {
 public:
  explicit LcoreWatch(size_t lcores) : before_(lcores, 0), moved_(lcores, false) {}

  // Takes a look. Whether every lcore has moved since the last Restart().
  bool AllMoved(std::span<const uint64_t> progress);
  // The first lcore that has not moved; only where AllMoved() said no.
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

  // The manager now takes the service for started.
  void Ready(const std::string& status);
  // A line for `systemctl status`; sent where it changed.
  void Status(const std::string& status);
  // The end has begun, and may take this long.
  void Stopping(std::chrono::milliseconds max);

  // Every few milliseconds. Sends WATCHDOG=1 at a third of the manager's interval, and only once
  // all lcores have turned since it did so last: one that hangs lets the manager end us. Returns
  // the index of an lcore that has kept the message back for as long as a third more, once; else
  // -1.
  int Beat(Clock::time_point now, std::span<const uint64_t> progress);

 private:
  LcoreWatch watch_;
  Clock::duration interval_{};  // 0: no watchdog
  Clock::time_point next_beat_{};
  bool complained_ = false;
  std::string status_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_NOTIFIER_H_
