// SPDX-License-Identifier: Apache-2.0
#include "local/sigbus.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace suede {
namespace {

// Read by the handler, hence only lock-free atomics. `base` is written last and cleared first.
struct Range {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> base{0};
  std::atomic<size_t> bytes{0};
  std::atomic<size_t> page_bytes{0};
  std::atomic<bool> broken{false};
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

Range ranges[SigbusGuard::kMaxRanges];
struct sigaction previous_action;

// Maps an anonymous page at `address`. Returns false if no range contains it.
bool Mend(uintptr_t address) {
  for (Range& range : ranges) {
    const uintptr_t base = range.base.load(std::memory_order_acquire);
    const size_t bytes = range.bytes.load(std::memory_order_relaxed);
    if (base == 0 || address < base || address - base >= bytes) continue;
    range.broken.store(true, std::memory_order_relaxed);
    const size_t page = range.page_bytes.load(std::memory_order_relaxed);
    void* at = reinterpret_cast<void*>(base + (address - base) / page * page);
    return mmap(at, page, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED;
  }
  return false;
}

void OnSigbus(int signal_number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const bool is_fault = info->si_code > 0;
  if (!is_fault || !Mend(reinterpret_cast<uintptr_t>(info->si_addr))) {
    // Restores the previous handler, which the fault reaches when it repeats on return.
    sigaction(SIGBUS, &previous_action, nullptr);
    if (!is_fault) raise(signal_number);
  }
  errno = saved_errno;
}

void Install() {
  struct sigaction action = {};
  action.sa_sigaction = OnSigbus;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous_action);
}

}  // namespace

int SigbusGuard::Register(void* base, size_t bytes, size_t page_bytes) {
  static std::once_flag once;
  std::call_once(once, Install);
  for (int i = 0; i < kMaxRanges; ++i) {
    Range& range = ranges[i];
    if (range.taken.exchange(true, std::memory_order_acquire)) continue;
    range.broken.store(false, std::memory_order_relaxed);
    range.bytes.store(bytes, std::memory_order_relaxed);
    range.page_bytes.store(page_bytes, std::memory_order_relaxed);
    range.base.store(reinterpret_cast<uintptr_t>(base), std::memory_order_release);
    return i;
  }
  return -1;
}

void SigbusGuard::Unregister(int range) {
  if (range < 0) return;
  ranges[range].base.store(0, std::memory_order_release);
  ranges[range].taken.store(false, std::memory_order_release);
}

bool SigbusGuard::IsBroken(int range) {
  return range >= 0 && ranges[range].broken.load(std::memory_order_relaxed);
}

}  // namespace suede
