// SPDX-License-Identifier: Apache-2.0
// Worker lcores and their clock. Nothing here includes a DPDK header.
#ifndef SUEDE_DPDK_LCORES_H_
#define SUEDE_DPDK_LCORES_H_

#include <x86intrin.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "base/time.h"

namespace suede {

// Runs `body` on the worker lcore that StartEal() pinned to `cpu`. Control thread only; at most one
// body runs on an lcore at a time.
absl::Status LaunchOnCpu(unsigned cpu, std::function<int()> body);

// Waits until every worker's body has returned. Returns the first result that is not 0.
int WaitForLcores();

// Whether a body runs on any worker.
bool LcoresRunning();

// Returns the CPU time of the thread of the worker on `cpu`; nullopt before its first body. Any
// thread.
std::optional<Duration> CpuTimeOn(unsigned cpu);

// Converts TSC cycles to Time. A value type: copy it to its user.
class TscClock {
 public:
  TscClock();  // to be created after StartEal()

  static uint64_t Cycles() { return __rdtsc(); }
  Time TimeAt(uint64_t cycles) const { return TimeFromNs(ToNsSinceStart(cycles - origin_)); }
  Time Now() const { return TimeAt(Cycles()); }
  // Converts a duration from cycles to nanoseconds.
  int64_t ToNsSinceStart(uint64_t cycles) const {
    return static_cast<int64_t>((static_cast<Wide>(cycles) * factor_) >> kShift);
  }
  uint64_t cycles_per_second() const { return hz_; }

 private:
  __extension__ using Wide = unsigned __int128;
  // 2^32: an error below 1 ns in 4 s at 1 GHz; the product never exceeds 128 bits.
  static constexpr unsigned kShift = 32;
  uint64_t hz_;
  uint64_t factor_;  // ns per cycle * 2^kShift
  uint64_t origin_;
};

// Hints a spin loop to the CPU.
inline void CpuPause() { _mm_pause(); }
// Yields the CPU to another thread.
void YieldCpu();
// Sleeps; the kernel adds its timer slack of about 50 us, unless the thread has called
// SleepExactly().
void SleepNs(int64_t ns);
void SleepExactly();

}  // namespace suede

#endif  // SUEDE_DPDK_LCORES_H_
