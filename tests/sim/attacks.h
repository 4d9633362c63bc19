// SPDX-License-Identifier: Apache-2.0
// The scenario of an attacker that sends frames blindly into every link, while hosts talk to each
// other and afterwards: nobody is deceived, and nobody stays dead.
#ifndef SUEDE_TESTS_SIM_ATTACKS_H_
#define SUEDE_TESTS_SIM_ATTACKS_H_

#include <algorithm>

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline WorldOptions Attacked(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xa77ac);
  WorldOptions options;
  Wiring& wiring = options.wiring;
  wiring.hosts = static_cast<uint32_t>(2 + dice.Below(2));
  wiring.switches = 1u << dice.Below(3);
  const auto encap = static_cast<Encap>(dice.Below(kEncapNames.size()));
  wiring.encaps = {encap};
  wiring.shifted = dice.Chance(0.3);
  if (wiring.switches > 1 && dice.Chance(0.2)) wiring.single = 0;
  options.transport = RandomTransport(dice);
  // The fewer PDUs are in flight, the fewer guesses are right.
  options.transport.window_pdus = 4u << dice.Below(3);
  options.transport.ack_every_pdus = static_cast<uint32_t>(1 + dice.Below(4));
  options.transport.hello_tries = 5;
  options.paths = RandomPaths(dice);
  options.faults = {{.loss = dice.Chance(0.3) ? 0 : 0.02,
                     .delay = Micros(1 + dice.Below(10)),
                     .bits_per_ns = 25}};
  options.attack.time = Micros(4000 + dice.Below(16'000));
  // The gap between frames of one kind is 26 to 260 us.
  options.attack.gap = dice.OfAnyScale(Micros(26), Micros(260)) / Attacker::kKinds;
  options.attack.replays = seed % 2 == 0;
  // On some seeds all is of one kind.
  if (dice.Chance(0.4)) options.attack.kinds = 1u << dice.Below(Attacker::kKinds);
  options.commands = static_cast<uint32_t>(200 + dice.Below(800));
  options.commands_after = 200;
  options.burst = static_cast<uint32_t>(4 + dice.Below(20));
  options.burst_gap = Micros(20 + dice.Below(100));
  options.pack_limit_bytes = static_cast<uint32_t>(276 + dice.Below(1200));
  options.tagged = 1;
  options.pauses = 0;
  options.time_limit = std::chrono::milliseconds(100);
  return options;
}

// The same on hosts with session groups, whose numbers the attacker forges: only they keep its
// frames off a session's PSNs, and it asks for numbers without end.
inline WorldOptions AttackedSessions(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x5e55a77);
  WorldOptions options = Attacked(seed);
  constexpr Encap kWithNumbers[] = {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1s, Encap::kAfh2};
  options.wiring.encaps = {kWithNumbers[dice.Below(4)]};
  options.wiring.single = ~0u;  // it would have one session
  const uint32_t vcs = options.transport.psn_scope == PsnScope::kVc ? kVcCount : 1;
  const uint32_t max = kMaxPeerConnections / (options.wiring.switches * vcs);
  const uint32_t wanted = 2u << dice.Below(5);
  options.sessions = [max, wanted](uint32_t) { return std::min(max, wanted); };
  options.paths.sessions.interval = Micros(20 + dice.Below(200));
  options.paths.sessions.open_percent = static_cast<uint32_t>(105 + dice.Below(100));
  options.attack.sessions = true;
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_ATTACKS_H_
