// SPDX-License-Identifier: Apache-2.0
// The scenario of instances with several planes: of different rates, delays and losses, dying in
// every way and coming back, while daemons restart and sleep.
#ifndef SUEDE_TESTS_SIM_PLANES_H_
#define SUEDE_TESTS_SIM_PLANES_H_

#include "dice.h"
#include "world.h"

namespace suede {

inline Duration Micros(uint64_t count) { return std::chrono::microseconds(count); }

inline SimFaults RandomLink(Dice& dice, bool spared) {
  constexpr double kRates[] = {100, 50, 25, 10};
  SimFaults link;
  link.loss = spared ? 0.002 : dice.Chance(0.5) ? 0 : 0.02;
  link.reorder = dice.Chance(0.7) ? 0 : 0.02;
  link.reorder_delay = dice.OfAnyScale(Micros(5), Micros(500));
  link.duplicate = dice.Chance(0.7) ? 0 : 0.02;
  link.delay = Micros(1 + dice.Below(30));
  link.bits_per_ns = kRates[dice.Below(4)];
  return link;
}

inline TransportParams RandomTransport(Dice& dice) {
  TransportParams transport;
  transport.psn_scope = dice.Chance(0.5) ? PsnScope::kVc : PsnScope::kPort;
  transport.window_pdus = 4u << dice.Below(7);
  transport.ack_every_pdus = static_cast<uint32_t>(1 + dice.Below(16));
  transport.rto_initial = Micros(500);
  transport.rto_min = Micros(150 + dice.Below(200));
  transport.rto_max = Micros(2000);
  transport.nack_timeout = Micros(100);
  transport.max_tries = static_cast<uint32_t>(5 + dice.Below(6));
  transport.hello_timeout = Micros(200 + dice.Below(800));
  transport.hello_tries = dice.Chance(0.5) ? 250 : static_cast<uint32_t>(5 + dice.Below(20));
  return transport;
}

inline PathParams RandomPaths(Dice& dice) {
  PathParams paths;
  paths.ordering = dice.Chance(0.5) ? Ordering::kStrict : Ordering::kUnordered;
  paths.hello_interval = Micros(100 + dice.Below(200));
  paths.hello_multiplier = static_cast<uint32_t>(2 + dice.Below(3));
  paths.hello_idle = Micros(1000 + dice.Below(3000));
  paths.hold_down = Micros(1000 + dice.Below(2000));
  paths.hold_down_max = Micros(4000 + dice.Below(4000));
  paths.unreachable = Micros(20'000 + dice.Below(20'000));
  return paths;
}

inline Wiring RandomWiring(Dice& dice) {
  Wiring wiring;
  wiring.hosts = static_cast<uint32_t>(2 + dice.Below(3));
  wiring.switches = dice.Chance(0.25) ? 2 : 4;
  wiring.shifted = dice.Chance(0.5);
  if (dice.Chance(0.2)) wiring.encaps = {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1, Encap::kAfh2};
  if (dice.Chance(0.3)) {
    for (uint32_t s = 0; s < wiring.switches; ++s) {
      wiring.weights.push_back(static_cast<uint32_t>(1 + dice.Below(8)));
    }
  }
  if (dice.Chance(0.15)) wiring.single = static_cast<uint32_t>(dice.Below(wiring.hosts));
  return wiring;
}

// Four kinds of seeds. On even ones a switch is spared, so that only absent hosts are unreachable;
// on the others anything may be. Every second pair has restarts and sleep.
inline WorldOptions Planes(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32);
  WorldOptions options;
  options.wiring = RandomWiring(dice);
  options.transport = RandomTransport(dice);
  options.paths = RandomPaths(dice);
  TroubleOptions& trouble = options.trouble;
  const bool spares = seed % 2 == 0;
  const Wiring& wiring = options.wiring;
  if (spares) {
    trouble.spared = wiring.single < wiring.hosts
                         ? wiring.SwitchOf(wiring.single, 0)
                         : static_cast<uint32_t>(dice.Below(wiring.switches));
  }
  options.faults.clear();
  const bool corrupt = dice.Chance(0.3) && wiring.encaps.size() == 1;
  for (uint32_t s = 0; s < wiring.switches; ++s) {
    options.faults.push_back(RandomLink(dice, s == trouble.spared));
    if (corrupt) options.faults.back().corrupt = 0.002;
  }
  // A port that is stuck for less is paused, and no plane is dead by it.
  Dice pauses(uint64_t{seed} << 32 | 0x9a05e);
  options.transport.pause_limit =
      pauses.Chance(0.3) ? Duration{} : pauses.OfAnyScale(Micros(300), Micros(50'000));
  trouble.until = Micros(20'000 + dice.Below(40'000));
  trouble.gap = dice.OfAnyScale(Micros(300), Micros(5000));
  trouble.max = dice.OfAnyScale(Micros(2000), Micros(25'000));
  trouble.hosts = !spares;
  trouble.routes = uint64_t{seed} << 32 | 0x20f7e;
  if (seed % 4 >= 2) {
    options.restarts = static_cast<uint32_t>(1 + dice.Below(3));
    options.sleeps = static_cast<uint32_t>(dice.Below(3));
  }
  options.queues = static_cast<uint32_t>(1 + dice.Below(2));
  options.commands = 3000;
  options.burst = static_cast<uint32_t>(4 + dice.Below(60));
  options.burst_gap = Micros(100 + dice.Below(500));
  options.inflight_pdus = 64u << dice.Below(4);
  options.pack_limit_bytes = static_cast<uint32_t>(276 + dice.Below(1200));
  options.changes = dice.Chance(0.2);
  if (options.restarts == 0 && dice.Chance(0.2)) options.claim_after = dice.Up(Micros(20'000));
  options.tagged = seed % 4 == 0 ? 0.3 : 1;  // it must be known which are given up
  options.slow_receiver = dice.Chance(0.2) ? 0.97 : 0;
  options.rx_lines = options.slow_receiver == 0 ? 4096 : 1024;
  options.pauses = 0.0001;
  options.time_limit = std::chrono::milliseconds(200);
  return options;
}

// Hosts that send in bursts, at most so many microseconds apart on average, over links that lose little:
// for scenarios of how they get to know each other.
inline WorldOptions Meeting(Dice& dice, uint32_t gap_us) {
  WorldOptions options;
  options.transport = RandomTransport(dice);
  options.transport.hello_tries = 5;
  options.paths = RandomPaths(dice);
  options.faults = {{.loss = dice.Chance(0.5) ? 0 : 0.02,
                     .delay = Micros(1 + dice.Below(20)),
                     .bits_per_ns = 25}};
  options.burst = static_cast<uint32_t>(1 + dice.Below(30));
  options.burst_gap = Micros(50 + dice.Below(gap_us));
  options.inflight_pdus = 512;
  options.tagged = 1;
  options.pauses = 0;
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PLANES_H_
