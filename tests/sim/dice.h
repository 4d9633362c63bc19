// SPDX-License-Identifier: Apache-2.0
// The random choices of a world: all of them follow from the seed.
#ifndef SUEDE_TESTS_SIM_DICE_H_
#define SUEDE_TESTS_SIM_DICE_H_

#include <cmath>
#include <cstdint>
#include <random>

#include "base/time.h"

namespace suede {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(double probability) {
    return probability > 0 && std::uniform_real_distribution<>(0, 1)(random_) < probability;
  }
  Duration Up(Duration max) {
    return Duration(static_cast<int64_t>(Below(static_cast<uint64_t>(max.count()) + 1)));
  }
  // As often of 20 to 40 us as of 10 to 20 ms.
  Duration OfAnyScale(Duration min, Duration max) {
    const double low = std::log(static_cast<double>(min.count()));
    const double high = std::log(static_cast<double>(max.count()));
    return Duration(static_cast<int64_t>(
        std::exp(std::uniform_real_distribution<>(low, high)(random_))));
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_DICE_H_
