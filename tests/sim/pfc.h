// SPDX-License-Identifier: Apache-2.0
// The scenario of ports that obey pauses by class and ask for them (docs/pfc.md). Frames of PFC
// that a host sends arrive at all others on its switch, as if the switch had passed the pause on at
// once; others come from nobody, at random or for ever.
#ifndef SUEDE_TESTS_SIM_PFC_H_
#define SUEDE_TESTS_SIM_PFC_H_

#include "config/config_checks.h"
#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline ClassOptions ClassesOfPfc() {
  ClassOptions classes;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) classes.vcs[vc] = ClassOfNumber(vc + 1);
  return classes;
}

// Three kinds of seeds: VC 0's class is paused at all ports for 40 ms, and all others are through
// by then, nothing is sent again and nobody given up; or pauses of random classes and times
// under loss, while receivers are slow; or the same while planes die, and hosts with them.
inline WorldOptions Pfc(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x9fc);
  WorldOptions options;
  if (seed % 3 == 2) options = Planes(seed);
  options.classes = ClassesOfPfc();
  PfcOptions& pfc = options.pfc;
  pfc.on = true;
  pfc.params.storm = dice.OfAnyScale(Micros(500), Micros(20'000));
  if (seed % 3 == 0) {
    options.wiring.hosts = 2 + seed / 3 % 3;
    options.transport.psn_scope = seed / 3 % 2 == 0 ? PsnScope::kVc : PsnScope::kPort;
    options.transport.pause_limit = dice.OfAnyScale(Micros(500), Micros(50'000));
    options.resends = false;
    options.deaths = false;
    options.pauses = 0;  // one is as long as a timeout
    options.commands = 2000;
    pfc.storm_of_vc0 = true;
    pfc.until = std::chrono::milliseconds(40);
    return options;
  }
  pfc.gap = dice.OfAnyScale(Micros(50), Micros(2000));
  pfc.max = dice.OfAnyScale(Micros(100), Micros(5000));
  pfc.until = options.trouble.until;
  options.counts_credit = dice.Chance(0.5);
  if (seed % 3 == 2) return options;
  options.wiring.hosts = 2 + seed / 3 % 3;
  options.transport = RandomTransport(dice);
  options.transport.max_tries = 40;
  options.faults = {{.loss = dice.Chance(0.5) ? 0.0 : 0.05, .reorder = 0.02, .duplicate = 0.02}};
  options.slow_receiver = dice.Chance(0.5) ? 0.97 : 0;
  options.rx_lines = 2048;
  options.commands = 2000;
  pfc.until = std::chrono::milliseconds(60);
  return options;
}

// The classes that an endpoint has by default where its ports have PFC.
inline ClassOptions ShippedClassesOfPfc() {
  const ClassesConfig shipped = ClassesOfControlledPorts();
  ClassOptions classes;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    classes.vcs[vc] = {.pcp = shipped.vc[vc].pcp, .dscp = shipped.vc[vc].dscp};
  }
  return classes;
}

// For 40 ms nobody reads VC 0, or has claimed it, while all hosts send requests there: each asks
// the others to pause its class. Responses and all else on the other VCs are through by then, and
// no watchdog fires.
inline WorldOptions PfcFullVc(uint32_t seed) {
  WorldOptions options;
  options.wiring.hosts = 2 + seed % 3;
  options.transport.psn_scope = PsnScope::kVc;
  options.transport.pause_limit = std::chrono::milliseconds(200);
  options.classes = ShippedClassesOfPfc();
  options.counts_credit = false;  // else senders stop before the ring is full
  options.deaths = false;
  options.pauses = 0;  // one is as long as a timeout
  options.ignored_for = std::chrono::milliseconds(40);
  options.ignored_unclaimed = seed / 4 % 2 == 0;
  options.rx_lines = 1024;
  options.commands = 4000;
  options.pfc.on = true;
  options.pfc.storms = false;
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PFC_H_
