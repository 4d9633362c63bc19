// SPDX-License-Identifier: Apache-2.0
// The programs of programs_test.cc over simulated endpoints. SUEDE_MEMORY_SIM_SEEDS is the number
// of each kind.
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
      if (step.call.xpuid == own && !step.IsFault()) step.call.xpuid = other;
      for (uint16_t& target : step.targets) target = target == own ? other : target;
    }
  }
  return programs;
}

struct Kind {
  bool is_unordered = false;
  bool is_on_lcore = false;
  bool with_restarts = false;
};

class Simulated : public testing::TestWithParam<Kind> {};

TEST_P(Simulated, IsAsTheModelSays) {
  InstallFastCrc();
  const Kind kind = GetParam();
  const uint64_t first = FromEnvironment("SUEDE_MEMORY_FIRST", 1);
  const uint64_t count = FromEnvironment("SUEDE_MEMORY_SIM_SEEDS", 100);
  uint64_t repeated = 0;
  uint64_t failures = 0;
  uint64_t restarts = 0;
  uint64_t executed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = PlayAndShrink(
        [&](const Programs& programs) {
          SimulatedPlay play(seed, kind.is_unordered, kind.is_on_lcore);
          std::string result = play.Run(programs);
          repeated += play.endpoints().Count(Counter::kTxRetransmissions);
          failures += play.endpoints().plane_failures();
          restarts += play.restarts();
          executed += play.endpoints().Count(Counter::kMemoryExecuted);
          if (play.endpoints().Count(Counter::kMemoryDropped) != 0)
            result += "the lcore dropped requests";
          return result;
        },
        WithoutOwn(WritePrograms(seed, kind.with_restarts)));
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
  // There was something to recover from.
  EXPECT_GT(repeated, count);
  EXPECT_GE(failures, count);
  EXPECT_EQ(restarts > count, kind.with_restarts);
  EXPECT_EQ(executed > count, kind.is_on_lcore);
}

std::string NameOf(const testing::TestParamInfo<Kind>& info) {
  return std::string(info.param.is_unordered ? "Unordered" : "InOrder") +
         (info.param.is_on_lcore ? "OnLcore" : "") +
         (info.param.with_restarts ? "WithRestarts" : "");
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Simulated,
    testing::Values(Kind{}, Kind{.is_unordered = true}, Kind{.is_on_lcore = true},
                    Kind{.is_unordered = true, .is_on_lcore = true}, Kind{.with_restarts = true},
                    Kind{.is_unordered = true, .with_restarts = true},
                    Kind{.is_on_lcore = true, .with_restarts = true},
                    Kind{.is_unordered = true, .is_on_lcore = true, .with_restarts = true}),
    NameOf);

}  // namespace
}  // namespace suede::mem
