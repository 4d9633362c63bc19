// SPDX-License-Identifier: Apache-2.0
// Keeps an lcore out of a port's bursts while another thread changes the port.
//
// The lcore pays two plain stores and a load per burst; the other thread issues the barrier that
// the protocol needs, by membarrier(2).
#ifndef SUEDE_PORT_BURST_GATE_H_
#define SUEDE_PORT_BURST_GATE_H_

#include <atomic>
#include <cstdint>

namespace suede {

class BurstGate {
 public:
  // For the lcore that owns the port: a burst runs between Enter() == true and Leave().
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

  // For any other thread. Close() returns true when no burst runs and none can begin; each Close()
  // needs its own Open(), and they nest. Returns false after one second: the lcore is then stopped
  // or starved.
  bool Close();
  void Open() { closed_.fetch_sub(1, std::memory_order_release); }

 private:
  alignas(64) std::atomic<bool> active_{false};  // written by the lcore
  alignas(64) std::atomic<uint32_t> closed_{1};  // a new port is closed until it is started
};

}  // namespace suede

#endif  // SUEDE_PORT_BURST_GATE_H_
