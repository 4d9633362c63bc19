// A bounded queue between two threads: one producer, one consumer, no waiting.
#ifndef SUEDE_BASE_SPSC_RING_H_
#define SUEDE_BASE_SPSC_RING_H_

#include <array>
#include <atomic>
#include <cstddef>

namespace suede {

template <typename T, size_t kCapacity>
class SpscRing {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  // False where the queue is full.
  bool Push(const T& item) {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == kCapacity) return false;
    items_[head & (kCapacity - 1)] = item;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  // False where the queue is empty.
  bool Pop(T& item) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return false;
    item = items_[tail & (kCapacity - 1)];
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(64) std::atomic<size_t> head_{0};
  alignas(64) std::atomic<size_t> tail_{0};
  alignas(64) std::array<T, kCapacity> items_{};
};

}  // namespace suede

#endif  // SUEDE_BASE_SPSC_RING_H_
