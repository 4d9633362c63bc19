// SPDX-License-Identifier: Apache-2.0
#include "local/call_limit.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <mutex>

namespace suede {
namespace {

constexpr long kPeriodNs = 10'000'000;

int Signal() { return SIGRTMIN + 7; }

// Interval timer of a thread. It repeats, because a signal that arrives just before the thread
// sleeps interrupts nothing.
class Alarm {
 public:
  Alarm() {
    static std::once_flag once;
    std::call_once(once, [] {
      struct sigaction action = {};
      action.sa_handler = [](int) {};  // without SA_RESTART: only interrupts the system call
      sigaction(Signal(), &action, nullptr);
    });
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, Signal());
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = Signal();
    event._sigev_un._tid = gettid();
    has_timer_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~Alarm() {
    if (has_timer_) timer_delete(timer_);
  }
  void Begin() {
    if (depth_++ == 0) Set(kPeriodNs);
  }
  void End() {
    if (--depth_ == 0) Set(0);
  }

 private:
  void Set(long period_ns) {
    const timespec period{.tv_sec = 0, .tv_nsec = period_ns};
    const itimerspec when{.it_interval = period, .it_value = period};
    if (has_timer_) timer_settime(timer_, 0, &when, nullptr);
  }

  timer_t timer_{};
  bool has_timer_ = false;
  size_t depth_ = 0;
};

thread_local Alarm alarm_of_thread;

}  // namespace

CallLimit::CallLimit() { alarm_of_thread.Begin(); }
CallLimit::~CallLimit() { alarm_of_thread.End(); }

}  // namespace suede
