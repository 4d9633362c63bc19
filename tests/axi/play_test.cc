// SPDX-License-Identifier: Apache-2.0
// Random transactions of three nodes against the oracle: the order and the content that AXI4
// requires, and an end for each transaction.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "plain_play.h"

namespace suede::axi {
namespace {

// Seeds of each test.
uint64_t Seeds() {
  const char* const seeds = std::getenv("SUEDE_AXI_SEEDS");
  return seeds == nullptr ? 20 : std::strtoull(seeds, nullptr, 10);
}

uint64_t FirstSeed() {
  const char* const first = std::getenv("SUEDE_AXI_FIRST");
  return first == nullptr ? 1 : std::strtoull(first, nullptr, 10);
}

struct Sums {
  uint64_t ok = 0;
  uint64_t failed = 0;
  uint64_t refused = 0;
};

Sums RunAll(PlayParams params) {
  Sums sums;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Seeds(); ++seed) {
    params.seed = seed;
    PlainPlay play(params);
    const std::string error = play.Run();
    EXPECT_EQ(error, "") << "seed " << seed;
    if (!error.empty()) break;
    sums.ok += play.Ended(Status::kOk);
    sums.refused += play.Refused();
    for (uint8_t code = 1; code < SUEDE_AXI_STATUSES; ++code) {
      sums.failed += play.Ended(static_cast<Status>(code));
    }
  }
  return sums;
}

TEST(Play, Strict) {
  const Sums sums = RunAll({});
  EXPECT_EQ(sums.ok, Seeds() * 120);
  EXPECT_EQ(sums.failed, 0u);
}

TEST(Play, Unordered) {
  const Sums sums = RunAll({.is_unordered = true});
  EXPECT_EQ(sums.ok, Seeds() * 120);
}

TEST(Play, SmallestBuffers) { EXPECT_EQ(RunAll({.is_tight = true}).ok, Seeds() * 120); }

TEST(Play, SmallestBuffersUnordered) {
  EXPECT_EQ(RunAll({.is_unordered = true, .is_tight = true}).ok, Seeds() * 120);
}

// Requests to a target that takes none fill all buffers towards it. Its own requests are answered
// all the same.
TEST(Play, AnswersPassAStoppedTarget) {
  for (const bool is_unordered : {false, true}) {
    const Sums sums = RunAll({.is_unordered = is_unordered,
                              .is_tight = true,
                              .has_own_target = false,
                              .is_first_stopped = true});
    EXPECT_EQ(sums.ok, Seeds() * 120);
  }
}

TEST(Play, AnAttackerHarmsNobodyElse) {
  for (const bool is_tight : {false, true}) {
    for (const bool is_unordered : {false, true}) {
      const Sums sums =
          RunAll({.is_unordered = is_unordered, .is_tight = is_tight, .has_attacker = true});
      EXPECT_EQ(sums.ok, Seeds() * 120);
      EXPECT_GT(sums.refused, Seeds() * 100);
    }
  }
}

TEST(Play, Exclusives) { EXPECT_EQ(RunAll({.has_exclusives = true}).ok, Seeds() * 120); }

TEST(Play, Faults) {
  const Sums sums = RunAll({.transactions = 150, .has_faults = true, .has_exclusives = true});
  EXPECT_NE(sums.ok, 0u);
  EXPECT_NE(sums.failed, 0u);
}

TEST(Play, FaultsUnordered) {
  const Sums sums = RunAll({.transactions = 150, .is_unordered = true, .has_faults = true});
  EXPECT_NE(sums.failed, 0u);
}

}  // namespace
}  // namespace suede::axi
