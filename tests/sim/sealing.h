// SPDX-License-Identifier: Apache-2.0
// The scenarios of sealing (docs/sealing.md): hosts of other scenarios that seal, with epochs of
// some hundred PDUs; and those among which an attacker replays, changes and joins what it has
// recorded.
#ifndef SUEDE_TESTS_SIM_SEALING_H_
#define SUEDE_TESTS_SIM_SEALING_H_

#include "attacks.h"
#include "credits.h"
#include "dice.h"
#include "links.h"
#include "planes.h"
#include "rebirths.h"
#include "sessions.h"
#include "world.h"

namespace suede {

inline SealParams RandomSeal(Dice& dice) {
  return {.mode = dice.Chance(0.8) ? SealMode::kRequired : SealMode::kPreferred,
          .cipher = dice.Chance(0.5) ? SealCipher::kAes128Gcm : SealCipher::kAes256Gcm,
          .rotate = dice.Chance(0.5) ? Duration{} : Micros(50 + dice.Below(5000)),
          .rotate_pdus = static_cast<uint64_t>(1 + dice.Below(400))};
}

// In turn: planes in trouble, session groups, hosts that restart; most of the latter on links that
// lose, reorder and duplicate at the same time.
inline WorldOptions Sealed(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x5ea1);
  WorldOptions options = seed % 3 == 0   ? Planes(seed)
                         : seed % 3 == 1 ? Sessions(seed)
                                         : Restarts(seed);
  options.seal = RandomSeal(dice);
  options.secrets = static_cast<uint32_t>(1 + dice.Below(3));
  if (seed % 3 == 2 && dice.Chance(0.7)) {
    for (SimFaults& link : options.faults) {
      link.loss = link.reorder = link.duplicate = 0.02;
      link.reorder_delay = dice.OfAnyScale(Micros(5), Micros(200));
    }
  }
  return options;
}

// Hosts that seal and send on credit, every other seed with link-level retry, too.
inline WorldOptions SealedCbfc(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xcbfc5ea1);
  WorldOptions options = Cbfc(seed);
  if (seed % 4 >= 2) {
    const Duration hello = options.link.hello;
    options.link = RandomLink(dice);
    options.link.hello = hello;
    options.resends = true;  // a small window holds data up, and acknowledgements overtake it
  }
  options.seal = RandomSeal(dice);
  options.seal.mode = SealMode::kRequired;
  // PDUs that wait for credit are not overtaken by two epochs (docs/sealing.md).
  options.seal.rotate_pdus += 2000;
  if (options.seal.rotate != Duration{}) options.seal.rotate += std::chrono::milliseconds(20);
  return options;
}

// Only what is authentic and new has an effect, whatever an attacker on the path does with the
// rest.
inline WorldOptions AttackedSealed(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xa77ac5ea);
  WorldOptions options = seed % 2 == 0 ? Attacked(seed) : AttackedSessions(seed);
  options.seal = RandomSeal(dice);
  options.seal.mode = SealMode::kRequired;
  options.attack.kinds = ~0u;
  options.attack.mutates = true;
  // Partitions, too, come and go, so that keys come back of which the attacker has frames.
  options.changes = seed % 5 == 4;
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_SEALING_H_
