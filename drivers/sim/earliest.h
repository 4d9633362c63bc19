// SPDX-License-Identifier: Apache-2.0
// Tracks the minimum of many times that change now and then, by a tournament tree.
#ifndef SUEDE_SIM_EARLIEST_H_
#define SUEDE_SIM_EARLIEST_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace suede {

class Earliest {
 public:
  explicit Earliest(uint32_t count = 0)
      : leaves_(std::bit_ceil(count | 1u)), times_(2 * size_t{leaves_}, kNever) {}

  Time operator[](uint32_t index) const { return times_[leaves_ + index]; }
  Time time() const { return times_[1]; }
  // Returns the index of the earliest time; the lowest of equals.
  uint32_t index() const {
    uint32_t at = 1;
    while (at < leaves_) at = times_[2 * at] == times_[at] ? 2 * at : 2 * at + 1;
    return at - leaves_;
  }
  void Set(uint32_t index, Time time) {
    uint32_t at = leaves_ + index;
    times_[at] = time;
    for (at /= 2; at != 0; at /= 2) {
      const Time first = times_[2 * at] <= times_[2 * at + 1] ? times_[2 * at] : times_[2 * at + 1];
      if (times_[at] == first) break;
      times_[at] = first;
    }
  }
  void Lower(uint32_t index, Time time) {
    if (time < (*this)[index]) Set(index, time);
  }

 private:
  uint32_t leaves_;
  std::vector<Time> times_;  // times_[i] is the earlier of times_[2 i] and times_[2 i + 1]
};

}  // namespace suede

#endif  // SUEDE_SIM_EARLIEST_H_
