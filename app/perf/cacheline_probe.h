// SPDX-License-Identifier: Apache-2.0
// The round trip of one cache line between two CPUs: the cost of everything that crosses between
// them on this machine at this moment, for printing beside a benchmark's figures.
#ifndef SUEDE_APP_PERF_CACHELINE_PROBE_H_
#define SUEDE_APP_PERF_CACHELINE_PROBE_H_

namespace suede {

// Median of several thousand round trips in ns; negative if the two CPUs cannot be had. Takes some
// milliseconds, and wants both CPUs idle. Any thread; the caller's affinity is left alone.
double CachelineRoundTripNs(int cpu_a, int cpu_b);

}  // namespace suede

#endif  // SUEDE_APP_PERF_CACHELINE_PROBE_H_
