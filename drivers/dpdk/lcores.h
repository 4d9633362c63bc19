// SPDX-License-Identifier: Apache-2.0
// Worker lcores and the clock that they read. Nothing here includes a DPDK header.
#ifndef SUEDE_DPDK_LCORES_H_
#define SUEDE_DPDK_LCORES_H_

#include <x86intrin.h>

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "base/time.h"

namespace suede {

// Runs `body` on the worker lcore that StartEal() pinned to `cpu`. Control thread only; at most
// one body runs on an lcore at a time.
absl::Status LaunchOnCpu(unsigned cpu, std::function<int()> body);

// Waits until every worker's body has returned. The first value that is not 0 is the result.
int WaitForLcores();

// Whether a body runs on any worker.
bool LcoresRunning();

// Cycles of the TSC as Time. A value: copy it to where it is used.
class TscClock {
 public:
  TscClock();  // after StartEal()

  static uint64_t Cycles() { return __rdtsc(); }
  Time TimeAt(uint64_t cycles) const { return TimeFromNs(ToNsSinceStart(cycles - origin_)); }
  Time Now() const { return TimeAt(Cycles()); }
  // A duration in cycles, as nanoseconds.
  int64_t ToNsSinceStart(uint64_t cycles) const {
    return static_cast<int64_t>((static_cast<Wide>(cycles) * factor_) >> kShift);
  }
  uint64_t cycles_per_second() const { return hz_; }

 private:
  __extension__ using Wide = unsigned __int128;
  // 2^32: an error of under 1 ns in 4 s at 1 GHz, and the product stays within 128 bits for ever.
  static constexpr unsigned kShift = 32;
  uint64_t hz_;
  uint64_t factor_;  // ns per cycle * 2^kShift
  uint64_t origin_;
};

// Tells the CPU that this is a spin loop.
inline void CpuPause() { _mm_pause(); }
// Lets another thread have the CPU.
void YieldCpu();
// Sleeps; the kernel adds its timer slack of about 50 us.
void SleepNs(int64_t ns);

}  // namespace suede

#endif  // SUEDE_DPDK_LCORES_H_
