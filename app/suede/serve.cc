// SPDX-License-Identifier: Apache-2.0
#include "serve.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"
#include "endpoint/daemon_flags.h"

namespace suede {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTickMs = 10;

void LogCounters(const Served& s, bool nonzero_only) {
  std::string line = StrCat("counters", FormatCounters(s.endpoint.Counters(), nonzero_only));
#define SUEDE_LOG_SHM_COUNTER(id, name, sentence)                       \
  if (!nonzero_only || s.clients.server().counters().id != 0) {         \
    StrAppend(&line, " ", name, "=", s.clients.server().counters().id); \
  }
  SUEDE_SHM_COUNTERS(SUEDE_LOG_SHM_COUNTER)
#undef SUEDE_LOG_SHM_COUNTER
  s.log(EalLogLevel::kInfo, "counters", line);
}

class Loop {
 public:
  Loop(const Served& served, std::chrono::milliseconds drain)
      : s_(served), drain_(drain), progress_(served.endpoint.pipeline_count()) {}

  int Run() {
    while (true) {
      if (!Wait()) return kExitFailure;
      s_.clients.Poll();
      s_.management.Poll();
      s_.management.DrainCaptures();
      s_.packets.Poll();
      s_.peers.Poll(s_.management);
      s_.observer.Tick();
      const Clock::time_point now = Clock::now();
      if (now >= next_tick_) Tick(now);
      TakeSignals();
      if (s_.management.drains() && Drained()) break;
    }
    LogCounters(s_, true);
    return kExitDone;
  }

 private:
  bool Wait() {
    pollfd fds[] = {{.fd = s_.signals, .events = POLLIN, .revents = 0},
                    {.fd = s_.clients.fd(), .events = POLLIN, .revents = 0},
                    {.fd = s_.management.fd(), .events = POLLIN, .revents = 0},
                    {.fd = s_.packets.fd(), .events = POLLIN, .revents = 0},
                    {.fd = s_.peers.fd(), .events = POLLIN, .revents = 0},
                    {.fd = s_.management.record_fd(), .events = POLLIN, .revents = 0}};
    const int wait_ms = Hurries() ? 1 : kTickMs;
    if (poll(fds, std::size(fds), wait_ms) >= 0 || errno == EINTR) return true;
    s_.log(EalLogLevel::kError, "control", StrCat("poll: ", std::strerror(errno)));
    return false;
  }

  // Whether some work continues from iteration to iteration.
  bool Hurries() const {
    return s_.clients.busy() || s_.packets.busy() || s_.peers.busy() || s_.management.captures() ||
           s_.management.changing() || s_.management.recording();
  }

  void Tick(Clock::time_point now) {
    s_.endpoint.Tick();
    next_tick_ = now + std::chrono::milliseconds(kTickMs);
    for (uint32_t i = 0; i < progress_.size(); ++i) progress_[i] = s_.endpoint.Progress(i);
    if (const int stuck = s_.notifier.Beat(now, progress_); stuck >= 0) {
      s_.log(EalLogLevel::kError, "control",
             StrCat("lcore stalled: systemd watchdog not notified cpu=",
                    s_.endpoint.config().lcores[static_cast<size_t>(stuck)].cpu));
    }
    if (!s_.management.drains()) s_.notifier.Status(StatusLine(s_.endpoint));
  }

  void TakeSignals() {
    signalfd_siginfo signal;
    while (read(s_.signals, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
      if (signal.ssi_signo == SIGUSR1) {
        LogCounters(s_, false);
      } else if (!s_.management.drains()) {
        s_.log(EalLogLevel::kInfo, "control", StrCat("ending signal=", signal.ssi_signo));
        reason_ = StrCat("signal ", signal.ssi_signo);
        s_.management.BeginDrain();
      } else {
        drain_until_ = Clock::now();  // a second signal: end at once
      }
    }
  }

  // Whether the requested drain is over; the first call begins it.
  bool Drained() {
    if (drain_until_ == Clock::time_point::max()) {
      const double seconds = std::chrono::duration<double>(drain_).count();
      s_.endpoint.events().Raise(
          EventKind::kDrainBegan,
          {{EventField::kReason, reason_}, {EventField::kSeconds, static_cast<int64_t>(seconds)}});
      s_.notifier.Stopping(drain_ + kEndsWithin);
      drain_until_ = Clock::now() + drain_;
      s_.clients.BeginDrain();
      // The lcores send the last frames until the next iteration.
      if (s_.packets.lldp().Shutdown()) return false;
    }
    if (s_.clients.Drained()) return true;
    if (Clock::now() < drain_until_) return false;
    s_.log(EalLogLevel::kWarning, "control", "drain incomplete: not everything was acknowledged");
    return true;
  }

  // Max time to stop lcores and DPDK after the drain.
  static constexpr std::chrono::seconds kEndsWithin{30};

  const Served& s_;
  const std::chrono::milliseconds drain_;
  Clock::time_point drain_until_ = Clock::time_point::max();
  Clock::time_point next_tick_{};
  std::vector<uint64_t> progress_;
  std::string reason_ = "request";  // for the drain
};

}  // namespace

std::string StatusLine(const Endpoint& endpoint) {
  size_t up = 0;
  for (const auto& port : endpoint.ports()) up += port->link().up ? 1 : 0;
  return StrCat("serving ", endpoint.config().instances.size(), " instances; links up: ", up,
                " of ", endpoint.ports().size());
}

int Serve(const Served& served, double drain_seconds) {
  return Loop(served, std::chrono::milliseconds(static_cast<int64_t>(drain_seconds * 1000))).Run();
}

}  // namespace suede
