// SPDX-License-Identifier: Apache-2.0
// A bounded queue between two threads, item by item: a BurstRing whose bursts are of one.
#ifndef SUEDE_BASE_SPSC_RING_H_
#define SUEDE_BASE_SPSC_RING_H_

#include <cstdint>

#include "base/burst_ring.h"

namespace suede {

template <typename T, uint32_t kCapacity>
class SpscRing {
 public:
  // False where the queue is full.
  bool Push(const T& item) {
    if (!ring_.Push(item)) return false;
    ring_.Publish();
    return true;
  }
  // False where the queue is empty.
  bool Pop(T& item) { return ring_.Pop(&item, 1) == 1; }

  // Any thread: items that wait.
  uint32_t size() const { return ring_.size(); }

 private:
  BurstRing<T, kCapacity> ring_;
};

}  // namespace suede

#endif  // SUEDE_BASE_SPSC_RING_H_
