// SPDX-License-Identifier: Apache-2.0
// Prints the round trip of one cache line between CPU 0 and CPU 1 in nanoseconds.
#include <cstdio>

#include "perf/cacheline_probe.h"

int main() {
  std::printf("%.0f ns\n", suede::CachelineRoundTripNs(0, 1));
  return 0;
}
