// SPDX-License-Identifier: Apache-2.0
// The scenario of ports that their switch pauses, as PFC does it, for 1 to 50 ms, of each host one
// at a time, so that it can say so elsewhere: nobody takes it for a dead plane or a lost peer.
#ifndef SUEDE_TESTS_SIM_PAUSES_H_
#define SUEDE_TESTS_SIM_PAUSES_H_

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline WorldOptions Pauses(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x9a05e);
  WorldOptions options;
  Wiring& wiring = options.wiring;
  wiring.hosts = static_cast<uint32_t>(2 + dice.Below(2));
  wiring.switches = 1u << dice.Below(3);
  wiring.shifted = dice.Chance(0.5);
  options.transport = RandomTransport(dice);
  options.transport.pause_limit = std::chrono::seconds(1);  // several may follow upon each other
  options.paths = RandomPaths(dice);
  options.paths.unreachable = std::chrono::milliseconds(500);
  options.faults = {{.delay = Micros(1 + dice.Below(10)), .bits_per_ns = 25}};
  TroubleOptions& trouble = options.trouble;
  trouble.until = Micros(50'000 + dice.Below(100'000));
  trouble.gap = dice.OfAnyScale(Micros(2000), Micros(20'000));
  trouble.min = Micros(1000);
  trouble.max = Micros(50'000);
  trouble.spared = kMaxPlanes;  // nothing may be given up
  trouble.pauses = true;
  if (wiring.switches == 1) {
    // A host that waits for an answer that is held up at the other end has no other way to hear of
    // that.
    options.both_ways = false;
    trouble.of_first = true;
  }
  options.commands = 2000;
  options.commands_after = 0;
  options.burst = static_cast<uint32_t>(1 + dice.Below(30));
  options.burst_gap = Micros(100 + dice.Below(1000));
  options.inflight_pdus = 512;
  options.tagged = 1;
  options.deaths = false;
  options.pauses = 0;
  options.time_limit = std::chrono::milliseconds(300);
  return options;
}

// Daemons that share CPUs with much else: each runs for 50 us to 2 ms in 7 to 9 ms. No frame is
// lost, and no plane is dead.
inline WorldOptions ScarceCpu(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x5ca2ce);
  WorldOptions options;
  Wiring& wiring = options.wiring;
  wiring.hosts = static_cast<uint32_t>(2 + dice.Below(2));
  wiring.switches = dice.Chance(0.5) ? 2 : 4;
  wiring.shifted = dice.Chance(0.5);
  options.paths = RandomPaths(dice);
  options.paths.hello_interval = dice.OfAnyScale(Micros(100), Micros(1000));
  options.paths.hello_idle = dice.OfAnyScale(Micros(2000), Micros(1'000'000));
  options.paths.unreachable = std::chrono::milliseconds(500);
  options.faults = {{.delay = Micros(1 + dice.Below(10)), .bits_per_ns = 25}};
  options.scarce_for = std::chrono::milliseconds(200);
  options.commands = 2000;
  options.burst = static_cast<uint32_t>(1 + dice.Below(30));
  options.burst_gap = dice.OfAnyScale(Micros(100), Micros(10'000));
  options.tagged = 1;
  options.deaths = false;
  options.pauses = 0;
  options.time_limit = std::chrono::seconds(2);
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PAUSES_H_
