// SPDX-License-Identifier: Apache-2.0
// Round-trip time of a cache line between two CPUs: the current cost of communication between them,
// to be printed beside a benchmark's figures.
#ifndef SUEDE_APP_PERF_CACHELINE_PROBE_H_
#define SUEDE_APP_PERF_CACHELINE_PROBE_H_

#include <cstdint>

namespace suede {

// Returns the median of 4000 samples in ns; negative if a thread cannot be pinned to a CPU. Takes
// some milliseconds, and is accurate only if both CPUs are idle. Thread-safe. Keeps the caller's
// affinity.
double CachelineRoundTripNs(int cpu_a, int cpu_b);

// Pins the calling thread to a CPU. Returns false if that is not possible.
bool PinTo(uint32_t cpu);

}  // namespace suede

#endif  // SUEDE_APP_PERF_CACHELINE_PROBE_H_
