// SPDX-License-Identifier: Apache-2.0
// Keeps an lcore out of a port's bursts while somebody else changes the port under it.
//
// The lcore's side costs two plain stores and a load per burst: the barrier that such a protocol
// needs is paid by the other side, with membarrier(2).
#ifndef SUEDE_DPDK_BURST_GATE_H_
#define SUEDE_DPDK_BURST_GATE_H_

#include <atomic>
#include <cstdint>

namespace suede {

class BurstGate {
 public:
  // The lcore that owns the port: a burst runs between Enter() == true and Leave().
  bool Enter() {
    active_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (closed_.load(std::memory_order_acquire) != 0) [[unlikely]] {
      active_.store(false, std::memory_order_relaxed);
      return false;
    }
    return true;
  }
  void Leave() { active_.store(false, std::memory_order_release); }

  // Any other thread. Close() returns when no burst is under way and none can begin; it nests, and
  // each needs its Open(). Gives up waiting after a second and returns false: the lcore is then
  // not running at all (stopped, or starved).
  bool Close();
  void Open() { closed_.fetch_sub(1, std::memory_order_release); }

 private:
  alignas(64) std::atomic<bool> active_{false};  // written by the lcore
  alignas(64) std::atomic<uint32_t> closed_{1};  // a new port is closed until it is started
};

}  // namespace suede

#endif  // SUEDE_DPDK_BURST_GATE_H_
