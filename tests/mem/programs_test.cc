// SPDX-License-Identifier: Apache-2.0
// Random programs of eight XPUs against a sequential model, by the thousand; one that fails is
// shrunk to the steps that it takes. SUEDE_MEMORY_SEEDS is their number, SUEDE_MEMORY_FIRST the
// first seed.
#include <gtest/gtest.h>

#include "memory_network.h"
#include "memory_programs.h"

namespace suede::mem {
namespace {

void PlayAll(bool is_unordered, bool with_faults) {
  const uint64_t first = FromEnvironment("SUEDE_MEMORY_FIRST", 1);
  const uint64_t count = FromEnvironment("SUEDE_MEMORY_SEEDS", 2000) / 4;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = PlayAndShrink(
        [&](const Programs& programs) { return MemoryNetwork(seed, is_unordered).Run(programs); },
        WritePrograms(seed, with_faults));
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

TEST(Programs, InOrder) { PlayAll(/*is_unordered=*/false, /*with_faults=*/false); }
TEST(Programs, InOrderWithFaults) { PlayAll(false, true); }
TEST(Programs, Unordered) { PlayAll(true, false); }
TEST(Programs, UnorderedWithFaults) { PlayAll(true, true); }

}  // namespace
}  // namespace suede::mem
