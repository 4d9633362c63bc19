// SPDX-License-Identifier: Apache-2.0
// Plays over simulated endpoints. SUEDE_AXI_SIM_SEEDS is the number of each kind.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "../sim/fast_crc.h"
#include "simulated_play.h"

namespace suede::axi {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

class Simulated : public testing::TestWithParam<PlayParams> {};

TEST_P(Simulated, IsAsTheOracleSays) {
  InstallFastCrc();
  const uint64_t first = FromEnvironment("SUEDE_AXI_FIRST", 1);
  const uint64_t count = FromEnvironment("SUEDE_AXI_SIM_SEEDS", 10);
  uint64_t repeated = 0;
  uint64_t failures = 0;
  PlayParams params = GetParam();
  params.has_own_target = false;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    params.seed = seed;
    SimulatedPlay play(params);
    ASSERT_EQ(play.Run(), "") << "seed " << seed;
    repeated += play.endpoints().Count(Counter::kTxRetransmissions);
    failures += play.endpoints().plane_failures();
  }
  // There was something to recover from.
  EXPECT_GT(repeated, count);
  EXPECT_GE(failures, count);
}

std::string NameOf(const testing::TestParamInfo<PlayParams>& info) {
  return std::string(info.param.is_unordered ? "Unordered" : "InOrder") +
         (info.param.is_tight ? "SmallestBuffers" : "") +
         (info.param.has_exclusives ? "Exclusives" : "") + (info.param.has_faults ? "Resets" : "");
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Simulated,
    testing::Values(PlayParams{}, PlayParams{.is_unordered = true},
                    PlayParams{.is_unordered = true, .is_tight = true},
                    PlayParams{.has_exclusives = true},
                    PlayParams{.transactions = 120, .has_faults = true},
                    PlayParams{.transactions = 120, .is_unordered = true, .has_faults = true}),
    NameOf);

}  // namespace
}  // namespace suede::axi
