// SPDX-License-Identifier: Apache-2.0
// So many a second, and a quarter of that at once.
#ifndef SUEDE_MGMT_ALLOWANCE_H_
#define SUEDE_MGMT_ALLOWANCE_H_

#include <algorithm>
#include <cstdint>

namespace suede {

class Allowance {
 public:
  // Takes one; false where there is none at this time.
  bool Take(int64_t per_s, int64_t now_ms) {
    // In thousandths, of which `per_s` come in a millisecond.
    const int64_t max = std::max<int64_t>(kOne, per_s * 250);
    const int64_t passed = last_ms_ < 0 ? max : std::max<int64_t>(0, now_ms - last_ms_);
    thousandths_ = std::min(max, thousandths_ + std::min(passed, max) * per_s);
    last_ms_ = now_ms;
    if (thousandths_ < kOne) return false;
    thousandths_ -= kOne;
    return true;
  }

 private:
  static constexpr int64_t kOne = 1000;
  int64_t thousandths_ = 0;
  int64_t last_ms_ = -1;
};

}  // namespace suede

#endif  // SUEDE_MGMT_ALLOWANCE_H_
