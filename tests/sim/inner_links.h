// SPDX-License-Identifier: Apache-2.0
// Inner links of simulated switches: a switch chooses one of them by the number of a frame's
// session (ECMP), and some die for a while or for good. At least half of them live.
#ifndef SUEDE_TESTS_SIM_INNER_LINKS_H_
#define SUEDE_TESTS_SIM_INNER_LINKS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dice.h"
#include "log.h"
#include "sim/network.h"

namespace suede {

struct InnerOptions {
  uint32_t links = 0;  // of each switch; 0: it chooses nothing
  Duration until{};    // no link dies later, and those that are dead come back
  Duration gap{};      // from one that dies to the next, on average; 0: none dies by itself
  Duration max{};      // that one is dead
  uint32_t lost = 0;   // the first links of each switch die at `until`, for good
  bool plain =
      false;  // by the low bits of the number alone: all numbers of a slot may take one link
};

class InnerLinks {
 public:
  // The switches outlive it.
  InnerLinks(const InnerOptions& options, uint64_t seed,
             const std::vector<std::unique_ptr<SimNetwork>>& switches, Log& log);

  void Turn(Time now);
  // Nothing passes a link of a switch, until it does again.
  void SetDead(size_t number, uint32_t link, bool dead);
  bool over() const { return over_; }
  // All live but the lost ones, and none dies any more.
  void End();

 private:
  bool Passes(size_t number, std::span<const uint8_t> bytes) const;

  const InnerOptions options_;
  Dice dice_;
  Log& log_;
  std::vector<std::vector<Time>> dead_until_;  // [switch][link]
  Time now_{};
  Time next_{};
  bool over_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INNER_LINKS_H_
