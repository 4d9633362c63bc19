// SPDX-License-Identifier: Apache-2.0
// Scenarios of beginnings: daemons that die and come back in quick succession, with any identity, and
// endpoints whose links are down when they start.
#ifndef SUEDE_TESTS_SIM_REBIRTHS_H_
#define SUEDE_TESTS_SIM_REBIRTHS_H_

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline WorldOptions Beginning(Dice& dice) {
  const auto hosts = static_cast<uint32_t>(2 + dice.Below(2));
  const uint32_t switches = 1u << dice.Below(3);
  WorldOptions options = Meeting(dice, 500);
  options.wiring.hosts = hosts;
  options.wiring.switches = switches;
  options.time_limit = std::chrono::milliseconds(200);
  return options;
}

inline WorldOptions Restarts(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x2eb0);
  WorldOptions options = Beginning(dice);
  options.quick = true;
  options.restarts = static_cast<uint32_t>(2 + dice.Below(8));
  options.commands = 3000;
  // Time for them, and no other trouble: no switch has the spared number.
  options.trouble.until = Micros(10'000 + dice.Below(40'000));
  options.trouble.gap = std::chrono::seconds(10);
  options.trouble.spared = kMaxPlanes;
  return options;
}

inline WorldOptions Dark(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xda4c);
  WorldOptions options = Beginning(dice);
  options.dark = dice.OfAnyScale(std::chrono::milliseconds(10), std::chrono::milliseconds(900));
  options.dark_switch = seed % 2 == 0;
  options.commands = 300;
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_REBIRTHS_H_
