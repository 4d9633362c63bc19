// SPDX-License-Identifier: Apache-2.0
// The scenario of leaf switches that spread frames over spines: paths differ by up to a round trip,
// and on every second seed a spine dies, which leaves find out later.
#ifndef SUEDE_TESTS_SIM_SPRAYS_H_
#define SUEDE_TESTS_SIM_SPRAYS_H_

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline WorldOptions Sprayed(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x59a1e5);
  WorldOptions options;
  options.wiring.hosts = static_cast<uint32_t>(2 + dice.Below(3));
  options.paths.ordering = dice.Chance(0.5) ? Ordering::kStrict : Ordering::kUnordered;
  options.commands = 1000;
  options.spines = {
      .count = static_cast<uint32_t>(2 + dice.Below(3)),
      .spread = dice.Chance(0.5) ? fabric::Spread::kRoundRobin : fabric::Spread::kQueue,
      .bits_per_ns = static_cast<double>(10 + dice.Below(90)),
      .step = Duration(static_cast<int64_t>(dice.Below(3000))),
      .dies = seed % 2 == 0 ? Micros(100 + dice.Below(400)) : Duration{},
      .finds = Micros(10 + dice.Below(500))};
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_SPRAYS_H_
