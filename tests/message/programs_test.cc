// SPDX-License-Identifier: Apache-2.0
// Random doings of five XPUs, by the thousand. SUEDE_SOCKET_SEEDS is their number,
// SUEDE_SOCKET_FIRST the first seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "socket_play.h"

namespace suede::message {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

struct Sums {
  uint64_t ended = 0;
  uint64_t received_bytes = 0;
  uint64_t spilled_bytes = 0;
  uint64_t starved = 0;
  uint64_t torn = 0;
  uint64_t refused[kRefusals] = {};
  uint64_t Refused(Status status) const {
    return refused[static_cast<uint8_t>(status) - kFirstRefusal];
  }
};

constexpr uint64_t kMany = 400;

Sums PlayAll(const PlayOptions& options) {
  const uint64_t first = FromEnvironment("SUEDE_SOCKET_FIRST", 1);
  const uint64_t count = FromEnvironment("SUEDE_SOCKET_SEEDS", 2000) / 4;
  Sums sums;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SocketPlay play(seed, options);
    const std::string wrong = play.Run(250);
    EXPECT_EQ(wrong, "") << "seed " << seed;
    if (!wrong.empty()) break;
    sums.ended += play.ended();
    sums.received_bytes += play.totals().received_bytes;
    sums.spilled_bytes += play.totals().spilled_bytes;
    sums.starved += play.totals().starved;
    sums.torn += play.totals().torn;
    for (uint32_t i = 0; i < kRefusals; ++i) sums.refused[i] += play.totals().refused[i];
  }
  // The programs did enough to be of use.
  EXPECT_GT(sums.ended, count);
  EXPECT_GT(sums.received_bytes, 10000 * count);
  EXPECT_GT(sums.spilled_bytes, 1000 * count);
  EXPECT_LT(sums.spilled_bytes, sums.received_bytes);
  EXPECT_GT(sums.starved, count);
  EXPECT_GT(sums.Refused(Status::kEpoch), count);
  // One program in many has torn messages and mismatches.
  if (count >= kMany) {
    EXPECT_GT(sums.torn, count / 200);
    EXPECT_GT(sums.Refused(Status::kMismatch), count / 20);
  }
  // Peers of this library send no more than was granted, and no malformed command.
  EXPECT_EQ(sums.Refused(Status::kCredit), 0u);
  EXPECT_EQ(sums.Refused(Status::kMalformed), 0u);
  return sums;
}

TEST(Programs, Plain) {
  const Sums sums = PlayAll({});
  EXPECT_EQ(sums.Refused(Status::kOrder), 0u);
}
TEST(Programs, WithFaults) { PlayAll({.has_faults = true}); }
TEST(Programs, WithRepeats) { PlayAll({.repeats = true}); }
TEST(Programs, WithFaultsAndRepeats) {
  const Sums sums = PlayAll({.has_faults = true, .repeats = true});
  EXPECT_GT(sums.Refused(Status::kOrder), 0u);
}

}  // namespace
}  // namespace suede::message
