// SPDX-License-Identifier: Apache-2.0
// A bounded lock-free queue between two threads: a BurstRing with bursts of one item.
#ifndef SUEDE_BASE_SPSC_RING_H_
#define SUEDE_BASE_SPSC_RING_H_

#include <cstdint>

#include "base/burst_ring.h"

namespace suede {

template <typename T, uint32_t kCapacity>
class SpscRing {
 public:
  // Returns false if the queue is full.
  bool Push(const T& item) {
    if (!ring_.Push(item)) return false;
    ring_.Publish();
    return true;
  }
  // Returns false if the queue is empty.
  bool Pop(T& item) { return ring_.Pop(&item, 1) == 1; }

  // Returns the number of waiting items. Any thread.
  uint32_t size() const { return ring_.size(); }

 private:
  BurstRing<T, kCapacity> ring_;
};

}  // namespace suede

#endif  // SUEDE_BASE_SPSC_RING_H_
