// SPDX-License-Identifier: Apache-2.0
// Links on which frames of different classes go different ways: which class a world's PDUs have,
// and its effect in switches.
#ifndef SUEDE_TESTS_SIM_CLASSES_H_
#define SUEDE_TESTS_SIM_CLASSES_H_

#include <array>
#include <cstdint>

#include "base/sue.h"
#include "config/config.h"
#include "dice.h"
#include "sim/network.h"
#include "wire/encap.h"

namespace suede {

struct ClassOptions {
  SimClasses links;
  std::array<TrafficClass, kVcCount> vcs{};
  TrafficClass ack = ShippedAck();
  double pauses = 0;        // share of turns in which a class begins to be paused for a port
  Duration max_pause{};

  static TrafficClass ShippedAck() {
    const TrafficClass shipped = ClassesConfig{}.ack;
    return {.pcp = shipped.pcp, .dscp = shipped.dscp, .ecn = shipped.ecn};
  }
};

inline TrafficClass ClassOfNumber(uint64_t number) {
  return {.pcp = static_cast<uint8_t>(number), .dscp = static_cast<uint8_t>(number * 8)};
}

// Nothing of it on every fourth seed.
inline ClassOptions RandomClasses(uint64_t seed) {
  Dice dice(seed << 32 | 0xc1a55);
  ClassOptions options;
  if (dice.Below(4) == 0) return options;
  options.links.on = true;
  options.links.weighted = dice.Chance(0.3);
  options.links.max_held = 64u << dice.Below(5);
  // Acknowledgements with the data, above it as shipped, or below it.
  const uint64_t kind = dice.Below(4);
  if (kind == 0) options.ack = ClassOfNumber(0);
  if (kind == 1) {
    options.ack = ClassOfNumber(0);
    options.vcs.fill(ClassOfNumber(2));
  }
  // VCs of one class, or of several: a connection that spans them is then out of order on its way.
  if (dice.Chance(0.3)) {
    for (TrafficClass& vc : options.vcs) vc = ClassOfNumber(dice.Below(kSimClasses));
  }
  const bool lossy = dice.Chance(0.3);
  for (SimClasses::OfClass& of : options.links.of) {
    of.delay = dice.Chance(0.5) ? Duration{} : dice.Up(std::chrono::microseconds(30));
    of.loss = lossy && dice.Chance(0.3) ? 0.02 : 0;
    of.reorder = dice.Chance(0.1) ? 0.02 : 0;
  }
  options.pauses = dice.Chance(0.5) ? 0.002 : 0;
  options.max_pause =
      dice.OfAnyScale(std::chrono::microseconds(20), std::chrono::microseconds(600));
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_CLASSES_H_
