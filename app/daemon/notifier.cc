// SPDX-License-Identifier: Apache-2.0
#include "daemon/notifier.h"

#include <systemd/sd-daemon.h>

#include <algorithm>

#include "base/text.h"

namespace suede {

bool LcoreWatch::AllMoved(std::span<const uint64_t> progress) {
  for (size_t i = 0; i < before_.size(); ++i) {
    if (progress[i] == before_[i]) continue;
    before_[i] = progress[i];
    moved_[i] = true;
  }
  return std::find(moved_.begin(), moved_.end(), false) == moved_.end();
}

size_t LcoreWatch::stuck() const {
  return static_cast<size_t>(std::find(moved_.begin(), moved_.end(), false) - moved_.begin());
}

Notifier::Notifier(size_t lcores) : watch_(lcores) {
  uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0) {
    interval_ = std::chrono::microseconds(microseconds);
  }
}

void Notifier::Starting(const std::string& status, std::chrono::seconds max) {
  const auto microseconds = std::chrono::microseconds(max).count();
  status_ = status;
  sd_notify(0, StrCat("STATUS=", status, "\nEXTEND_TIMEOUT_USEC=", microseconds).c_str());
}

void Notifier::Ready(const std::string& status) {
  status_ = status;
  sd_notify(0, StrCat("READY=1\nSTATUS=", status).c_str());
}

void Notifier::Status(const std::string& status) {
  if (status == status_) return;
  status_ = status;
  sd_notify(0, StrCat("STATUS=", status).c_str());
}

void Notifier::Stopping(std::chrono::milliseconds max) {
  const auto microseconds = std::chrono::microseconds(max).count();
  status_ = "draining";
  sd_notify(0, StrCat("STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=", microseconds).c_str());
}

int Notifier::Beat(Clock::time_point now, std::span<const uint64_t> progress) {
  if (interval_ == Clock::duration::zero()) return -1;
  const bool all = watch_.AllMoved(progress);
  if (now < next_beat_) return -1;
  if (!all) {
    if (stall_reported_ || now < next_beat_ + interval_ / 3) return -1;
    stall_reported_ = true;
    return static_cast<int>(watch_.stuck());
  }
  sd_notify(0, "WATCHDOG=1");
  watch_.Restart();
  stall_reported_ = false;
  next_beat_ = now + interval_ / 3;
  return -1;
}

}  // namespace suede
