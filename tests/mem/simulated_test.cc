// SPDX-License-Identifier: Apache-2.0
// The programs of programs_test.cc over simulated endpoints. SUEDE_MEMORY_SIM_SEEDS is their
// number.
#include <gtest/gtest.h>

#include "../sim/fast_crc.h"
#include "memory_programs.h"
#include "simulated_play.h"

namespace suede::mem {
namespace {

// An endpoint is no peer of itself.
Programs WithoutOwn(Programs programs) {
  for (uint16_t own = 0; own < kNodes; ++own) {
    const auto other = static_cast<uint16_t>((own + 1) % kNodes);
    for (Step& step : programs[own]) {
      if (step.call.xpuid == own) step.call.xpuid = other;
      for (uint16_t& target : step.targets) target = target == own ? other : target;
    }
  }
  return programs;
}

void PlayAll(bool is_unordered) {
  InstallFastCrc();
  const uint64_t first = FromEnvironment("SUEDE_MEMORY_FIRST", 1);
  const uint64_t count = FromEnvironment("SUEDE_MEMORY_SIM_SEEDS", 500) / 2;
  uint64_t repeated = 0;
  uint64_t failures = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = PlayAndShrink(
        [&](const Programs& programs) {
          SimulatedPlay play(seed, is_unordered);
          const std::string result = play.Run(programs);
          repeated += play.Count(Counter::kTxRetransmissions);
          failures += play.plane_failures();
          return result;
        },
        WithoutOwn(WritePrograms(seed, /*with_faults=*/false)));
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
  // There was something to recover from.
  EXPECT_GT(repeated, count);
  EXPECT_GT(failures, count);
}

TEST(Simulated, InOrder) { PlayAll(/*is_unordered=*/false); }
TEST(Simulated, Unordered) { PlayAll(/*is_unordered=*/true); }

}  // namespace
}  // namespace suede::mem
