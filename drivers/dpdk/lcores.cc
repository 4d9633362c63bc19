// SPDX-License-Identifier: Apache-2.0
#include "dpdk/lcores.h"

#include <pthread.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <array>
#include <atomic>
#include <memory>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

// The clock of each worker's CPU time; CLOCK_REALTIME before its first body.
std::array<std::atomic<clockid_t>, RTE_MAX_LCORE> cpu_clocks{};
static_assert(CLOCK_REALTIME == 0);

int RunBody(void* argument) {
  clockid_t clock = CLOCK_REALTIME;
  pthread_getcpuclockid(pthread_self(), &clock);
  cpu_clocks[rte_lcore_id()].store(clock, std::memory_order_relaxed);
  const std::unique_ptr<std::function<int()>> body(static_cast<std::function<int()>*>(argument));
  return (*body)();
}

// Returns the worker pinned to `cpu`, or RTE_MAX_LCORE.
unsigned WorkerOf(unsigned cpu) {
  unsigned lcore = 0;
  RTE_LCORE_FOREACH_WORKER(lcore) {
    const rte_cpuset_t set = rte_lcore_cpuset(lcore);
    if (CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set)) return lcore;
  }
  return RTE_MAX_LCORE;
}

}  // namespace

absl::Status LaunchOnCpu(unsigned cpu, std::function<int()> body) {
  const unsigned lcore = WorkerOf(cpu);
  if (lcore == RTE_MAX_LCORE) {
    return absl::NotFoundError(absl::StrCat("no lcore on CPU ", cpu, ": name it under lcores"));
  }
  auto owned = std::make_unique<std::function<int()>>(std::move(body));
  if (rte_eal_remote_launch(RunBody, owned.get(), lcore) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("the lcore on CPU ", cpu, " is busy"));
  }
  static_cast<void>(owned.release());  // owned by RunBody now
  return absl::OkStatus();
}

int WaitForLcores() {
  int result = 0;
  unsigned lcore = 0;
  RTE_LCORE_FOREACH_WORKER(lcore) {
    const int one = rte_eal_wait_lcore(lcore);
    if (result == 0) result = one;
  }
  return result;
}

bool LcoresRunning() {
  unsigned lcore = 0;
  RTE_LCORE_FOREACH_WORKER(lcore) {
    if (rte_eal_get_lcore_state(lcore) == RUNNING) return true;
  }
  return false;
}

std::optional<Duration> CpuTimeOn(unsigned cpu) {
  const unsigned lcore = WorkerOf(cpu);
  if (lcore == RTE_MAX_LCORE) return std::nullopt;
  const clockid_t clock = cpu_clocks[lcore].load(std::memory_order_relaxed);
  timespec used{};
  if (clock == CLOCK_REALTIME || clock_gettime(clock, &used) != 0) return std::nullopt;
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

TscClock::TscClock() : hz_(rte_get_tsc_hz()), origin_(Cycles()) {
  factor_ = static_cast<uint64_t>((static_cast<Wide>(1'000'000'000) << kShift) / hz_);
}

void YieldCpu() { sched_yield(); }

void SleepNs(int64_t ns) {
  const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

void SleepExactly() { prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }

}  // namespace suede
