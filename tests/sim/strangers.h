// SPDX-License-Identifier: Apache-2.0
// Scenarios of peers that are not as one would like them: one that speaks the framework alone, and
// two that go by one XPU id.
#ifndef SUEDE_TESTS_SIM_STRANGERS_H_
#define SUEDE_TESTS_SIM_STRANGERS_H_

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

// Host 0 knows no control PDU: none reaches it and none comes from it. On half of the seeds the
// others were told so (`hello: never`), else they find out. Nothing is given up.
inline WorldOptions PlainPeer(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x91a17);
  WorldOptions options = Meeting(dice, 300);
  options.wiring.hosts = static_cast<uint32_t>(2 + dice.Below(2));
  options.plain = true;
  options.plain_known = seed % 2 == 0;
  options.transport.max_tries = 200;
  options.paths.unreachable = std::chrono::milliseconds(500);
  options.commands = 1000;
  options.time_limit = std::chrono::milliseconds(800);
  return options;
}

// Another machine goes by host 1's XPU id and addresses for a while, and the switch takes the one
// for the other and back.
inline WorldOptions DoubleIdentity(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xd0b1e);
  WorldOptions options = Meeting(dice, 300);
  options.wiring.hosts = static_cast<uint32_t>(2 + dice.Below(2));
  options.doubled_from = Micros(dice.Below(4000));
  options.doubled_for = dice.OfAnyScale(Micros(2000), Micros(40'000));
  options.commands = 2000;
  options.commands_after = 200;
  options.time_limit = std::chrono::milliseconds(400);
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_STRANGERS_H_
