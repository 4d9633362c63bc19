// SPDX-License-Identifier: Apache-2.0
// The scenario of session groups (docs/sessions.md): the hosts of "planes", some of them with one
// plane, with several sessions behind each, over switches with inner links that die.
#ifndef SUEDE_TESTS_SIM_SESSIONS_H_
#define SUEDE_TESTS_SIM_SESSIONS_H_

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline WorldOptions Sessions(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x5e5510);
  WorldOptions options = Planes(seed);
  // AFH 1 has no number, and that of AFH 2 is short.
  if (options.wiring.encaps.size() > 1)
    options.wiring.encaps = {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1s, Encap::kAfh2};
  if (options.wiring.encaps.size() > 1) {
    for (SimFaults& faults : options.faults) faults.corrupt = 0;
  }
  const uint32_t vcs = options.transport.psn_scope == PsnScope::kVc ? kVcCount : 1;
  const uint32_t most = kMaxPeerConnections / (options.wiring.switches * vcs);
  options.sessions = [most, of_all = dice.Below(1u << 30)](uint32_t host) {
    Dice own(of_all << 8 | host);
    return std::min<uint32_t>(most, own.Chance(0.1) ? 1 : 2u << own.Below(4));
  };
  // One that has a single path to another host loses it with the inner link.
  bool several = options.wiring.single >= options.wiring.hosts;
  for (uint32_t host = 0; host < options.wiring.hosts; ++host)
    several &= options.sessions(host) > 1;
  SessionParams& sessions = options.paths.sessions;
  sessions.interval = Micros(20 + dice.Below(200));
  sessions.open_percent = static_cast<uint32_t>(105 + dice.Below(100));
  sessions.move_percent = static_cast<uint32_t>(150 + dice.Below(400));
  sessions.idle_intervals = static_cast<uint32_t>(1 + dice.Below(50));
  sessions.stall_timeouts = static_cast<uint32_t>(1 + dice.Below(3));
  sessions.max_age = dice.Chance(0.5) ? Duration{} : Micros(500 + dice.Below(10'000));
  options.inner = {.links = several ? static_cast<uint32_t>(2 + dice.Below(7)) : 0,
                   .until = options.trouble.until,
                   .gap = dice.OfAnyScale(Micros(300), Micros(10'000)),
                   .max = dice.OfAnyScale(Micros(200), Micros(20'000)),
                   .plain = dice.Chance(0.3)};
  return options;
}

// The same, where sessions open, drain, move and grow too old all the time, under load and faults.
inline WorldOptions SessionChurn(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xc4012);
  WorldOptions options = Sessions(seed);
  SessionParams& sessions = options.paths.sessions;
  sessions.interval = Micros(20 + dice.Below(40));
  sessions.open_percent = static_cast<uint32_t>(101 + dice.Below(10));
  sessions.move_percent = static_cast<uint32_t>(150 + dice.Below(100));
  sessions.idle_intervals = static_cast<uint32_t>(1 + dice.Below(3));
  sessions.max_age = Micros(300 + dice.Below(2'000));
  return options;
}

// Switches choose among eight links by the low bits of a number, and three links die for good: that
// of the first session, and those of the two that are requested first. No command is given up.
inline WorldOptions DeadLinks(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xdead11);
  WorldOptions options;
  options.wiring.hosts = static_cast<uint32_t>(2 + dice.Below(3));
  options.sessions = [](uint32_t /*host*/) { return 8; };
  options.paths.ordering = dice.Chance(0.5) ? Ordering::kStrict : Ordering::kUnordered;
  options.inner = {.links = 8, .until = Micros(500 + dice.Below(5000)), .lost = 3, .plain = true};
  options.burst = static_cast<uint32_t>(4 + dice.Below(60));
  options.burst_gap = Micros(100 + dice.Below(500));
  options.commands = 1000;
  options.tagged = 1;
  return options;
}

// The same with one or three dead links, and hosts that send a few commands every now and then:
// in between PLANEs and their answers are lost on the way.
inline WorldOptions IdleLinks(uint32_t seed) {
  WorldOptions options = DeadLinks(seed);
  options.inner.lost = seed % 2 == 0 ? 1 : 3;
  options.burst = 4;
  options.burst_gap = std::chrono::milliseconds(1500);
  options.commands = 20;
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_SESSIONS_H_
