// SPDX-License-Identifier: Apache-2.0
// A counter that one thread adds to and any thread reads.
#ifndef SUEDE_BASE_TALLY_H_
#define SUEDE_BASE_TALLY_H_

#include <atomic>
#include <cstdint>

namespace suede {

class Tally {
 public:
  void Add(uint64_t count = 1) { value_.store(Get() + count, std::memory_order_relaxed); }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace suede

#endif  // SUEDE_BASE_TALLY_H_
