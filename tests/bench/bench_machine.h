// SPDX-License-Identifier: Apache-2.0
// The machine as benchmarks use it: the EAL, devices and CRCs of DPDK, and the rate of the TSC.
#ifndef SUEDE_TESTS_BENCH_BENCH_MACHINE_H_
#define SUEDE_TESTS_BENCH_BENCH_MACHINE_H_

#include <unistd.h>
#include <x86intrin.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "dpdk/eal.h"

namespace suede {

// Without hugepages and without a word. False: it does not start, and the standard error says why;
// the program's exit code is kNoEal then.
inline constexpr int kNoEal = 5;
inline bool StartBenchEal(uint32_t memory_mb) {
  const absl::Status eal = StartEal({.file_prefix = "suede_bench_" + std::to_string(getpid()),
                                     .no_huge = true,
                                     .memory_mb = memory_mb,
                                     .log = [](EalLogLevel, std::string_view) {}});
  if (!eal.ok()) std::fprintf(stderr, "%s\n", std::string(eal.message()).c_str());
  return eal.ok();
}

// Takes 50 ms.
inline double CyclesPerNanosecond() {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t cycles = __rdtsc();
  std::chrono::nanoseconds took{};
  while ((took = std::chrono::steady_clock::now() - start) < std::chrono::milliseconds(50)) {
  }
  return static_cast<double>(__rdtsc() - cycles) / static_cast<double>(took.count());
}

}  // namespace suede

#endif  // SUEDE_TESTS_BENCH_BENCH_MACHINE_H_
