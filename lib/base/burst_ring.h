// SPDX-License-Identifier: Apache-2.0
// A bounded lock-free queue between two threads for items in bursts: one producer, one consumer.
// Each side reads the other's index once a burst, the producer only if the queue seems full, so
// that the shared cache lines rarely move.
#ifndef SUEDE_BASE_BURST_RING_H_
#define SUEDE_BASE_BURST_RING_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace suede {

template <typename T, uint32_t kCapacity>
class BurstRing {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  // ---- Producer.

  // Returns false if the queue is full. The consumer sees the item after the next Publish.
  bool Push(const T& item) {
    if (head_ - seen_tail_ == kCapacity) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (head_ - seen_tail_ == kCapacity) return false;
    }
    items_[head_++ & (kCapacity - 1)] = item;
    return true;
  }
  void Publish() {
    if (published_.load(std::memory_order_relaxed) != head_) {
      published_.store(head_, std::memory_order_release);
    }
  }

  // ---- Consumer.

  // Takes up to `max` items, the oldest first, and returns their number.
  uint32_t Pop(T* items, uint32_t max) {
    const uint32_t tail = tail_.load(std::memory_order_relaxed);
    const uint32_t count = std::min(published_.load(std::memory_order_acquire) - tail, max);
    if (count == 0) return 0;
    for (uint32_t i = 0; i < count; ++i) items[i] = items_[(tail + i) & (kCapacity - 1)];
    tail_.store(tail + count, std::memory_order_release);
    return count;
  }

  // ---- Any thread.

  // Returns the number of published items not yet taken.
  uint32_t size() const {
    const uint32_t tail = tail_.load(std::memory_order_acquire);
    return published_.load(std::memory_order_acquire) - tail;
  }

 private:
  alignas(64) std::atomic<uint32_t> published_{0};
  alignas(64) uint32_t head_ = 0;  // producer only, as is its copy of the consumer's index
  uint32_t seen_tail_ = 0;
  alignas(64) std::atomic<uint32_t> tail_{0};
  alignas(64) std::array<T, kCapacity> items_{};
};

}  // namespace suede

#endif  // SUEDE_BASE_BURST_RING_H_
