// SPDX-License-Identifier: Apache-2.0
// The scenario of link-level retry (docs/link.md): cables that lose frames both ways, doubled and
// late ones, hosts that restart.
#ifndef SUEDE_TESTS_SIM_LINKS_H_
#define SUEDE_TESTS_SIM_LINKS_H_

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline LinkParams RandomLink(Dice& dice) {
  LinkParams link;
  link.hello = Micros(200 + dice.Below(2000));
  link.retry.on = true;
  link.retry.window_frames = static_cast<uint32_t>(1 + dice.Below(300));
  link.retry.window_octets = static_cast<uint32_t>(3000 + dice.Below(200'000));
  link.retry.replay_count = static_cast<uint32_t>(2 + dice.Below(4));
  link.retry.replay_timeout = Micros(20 + dice.Below(100));
  link.retry.ack_frames = static_cast<uint32_t>(1 + dice.Below(32));
  link.retry.ack_delay = Micros(dice.Below(5));
  return link;
}

inline WorldOptions Llr(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x11e);
  WorldOptions options;
  options.wiring.hosts = static_cast<uint32_t>(2 + dice.Below(3));
  options.wiring.encaps = {static_cast<Encap>(dice.Below(kEncapNames.size()))};
  options.link = RandomLink(dice);
  const double loss = seed % 3 == 0 ? 0.001 : seed % 3 == 1 ? 0.01 : 0.05;
  options.faults = {{.loss = loss, .loss_back = loss}};
  if (dice.Chance(0.3)) options.faults[0].duplicate = 0.02;
  if (dice.Chance(0.2)) options.faults[0].reorder = 0.01;
  options.transport = RandomTransport(dice);
  options.transport.max_tries = 40;
  options.restarts = seed % 5 == 0 ? 2 : 0;
  options.commands = 3000;
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_LINKS_H_
