// SPDX-License-Identifier: Apache-2.0
// How deep a queue was for how long.
#ifndef SUEDE_TESTS_SIM_INCAST_DEPTH_H_
#define SUEDE_TESTS_SIM_INCAST_DEPTH_H_

#include <cstdint>
#include <map>

#include "base/time.h"

namespace suede {

class IncastDepth {
 public:
  void Add(uint32_t bytes, Duration time) {
    if (time.count() <= 0) return;
    times_[bytes] += time;
    sum_ += time;
  }
  // The smallest depth that was not exceeded for so many per cent of the time. 100: the maximum.
  uint32_t Percentile(double percent) const {
    const double wanted = static_cast<double>(sum_.count()) * percent / 100;
    double seen = 0;
    for (const auto& [bytes, time] : times_) {
      seen += static_cast<double>(time.count());
      if (seen >= wanted) return bytes;
    }
    return times_.empty() ? 0 : times_.rbegin()->first;
  }

 private:
  std::map<uint32_t, Duration> times_;
  Duration sum_{};
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_DEPTH_H_
