// SPDX-License-Identifier: Apache-2.0
#include "port/burst_gate.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace suede {
namespace {

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Makes every running thread of the process pass a full barrier.
void BarrierEverywhere() {
  static const bool registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  if (registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  // Fallback if the kernel or a seccomp filter refuses: no store stays in a store buffer this long.
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

bool BurstGate::Close() {
  closed_.fetch_add(1, std::memory_order_seq_cst);
  BarrierEverywhere();
  constexpr int64_t kMaxWaitNs = 1'000'000'000;
  const int64_t deadline = NowNs() + kMaxWaitNs;
  for (uint32_t spins = 0; active_.load(std::memory_order_acquire); ++spins) {
    if (spins % 64 != 63) {
      __builtin_ia32_pause();
      continue;
    }
    if (NowNs() > deadline) return false;
    const timespec pause{0, 1000};  // the lcore may be waiting for this CPU
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace suede
