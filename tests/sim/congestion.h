// SPDX-License-Identifier: Apache-2.0
// The scenarios of congestion control: the hosts of other scenarios go by RCCC or NSCC, each by its
// own, with switches that mark and trim, and the oracle is as ever.
#ifndef SUEDE_TESTS_SIM_CONGESTION_H_
#define SUEDE_TESTS_SIM_CONGESTION_H_

#include "dice.h"
#include "incasts.h"
#include "planes.h"
#include "rebirths.h"
#include "world.h"

namespace suede {

inline constexpr uint8_t kTrimmedDscp = 40;  // of class 5

inline CongestionParams RandomCongestion(Dice& dice) {
  CongestionParams params;
  params.control = static_cast<CongestionControl>(dice.Below(3));
  params.base_rtt = dice.OfAnyScale(Micros(1), Micros(100));
  params.initial_percent = static_cast<uint32_t>(1 + dice.Below(100));
  params.ask_bdp = static_cast<uint32_t>(1 + dice.Below(16));
  params.repeat = dice.Chance(0.5) ? Duration{} : Micros(1 + dice.Below(100));
  params.repeat_max = std::max(4 * params.base_rtt, params.repeat) + Micros(dice.Below(500));
  params.target_percent = dice.Chance(0.5) ? 100 : 75;
  params.window_min_permille = dice.Chance(0.5) ? 10 : 1000;
  return params;
}

inline void Congest(Dice& dice, WorldOptions& options) {
  options.congestion = [seed = dice.Below(UINT32_MAX)](uint32_t host) {
    Dice own(seed << 16 | host);
    return RandomCongestion(own);
  };
  options.trimmed_dscp = kTrimmedDscp;
}

// Many to one through a small buffer: what finds no room is dropped, or trimmed; and marks.
inline WorldOptions CongestedIncast(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xc09);
  WorldOptions options = Incast(seed);
  Congest(dice, options);
  options.crowded = false;
  for (TrafficClass& vc : options.classes.vcs) vc.ecn = dice.Chance(0.8) ? 2 : 0;
  const bool trims = dice.Chance(0.7);
  const auto min = static_cast<uint32_t>(1 + dice.Below(16)) << 10;
  options.fabric = [trims, min, shared = options.fabric](fabric::SwitchParams& params) {
    shared(params);
    for (fabric::ClassParams& own : params.of_class) {
      own.ecn = {.least_bytes = min, .most_bytes = 4 * min};
    }
    params.trim = {.on = trims,
                   .dscps = 1,
                   .trimmed_dscp = kTrimmedDscp,
                   .trimmed_class = kTrimmedDscp >> 3};
  };
  return options;
}

// Faulty links, planes and daemons that die, receivers that take nothing, pulled cables.
inline WorldOptions Congested(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xc0991);
  WorldOptions options;
  switch (seed % 4) {
    case 0: options = Planes(seed / 4); break;
    case 1: options = Restarts(seed / 4); break;
    case 2: options = CongestedIncast(seed / 4); break;
    default:
      options.faults = {{.loss = 0.05, .reorder = 0.05, .duplicate = 0.05, .corrupt = 0.01}};
      options.transport = RandomTransport(dice);
      options.transport.max_tries = 40;
      options.wiring.hosts = static_cast<uint32_t>(2 + dice.Below(4));
      options.slow_receiver = dice.Chance(0.5) ? 0.97 : 0;
      options.rx_lines = 2048;
      options.commands = 1500;
  }
  Congest(dice, options);
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_CONGESTION_H_
