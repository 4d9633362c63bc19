// SPDX-License-Identifier: Apache-2.0
// The function that bench_watch.sv imports through DPI-C.
#include <svdpi.h>

#include <chrono>

extern "C" {

// Returns the microseconds of a steady clock.
long long suede_rtl_clock_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // extern "C"
