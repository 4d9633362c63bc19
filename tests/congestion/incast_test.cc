// SPDX-License-Identifier: Apache-2.0
// Both laws over the model of an incast (incast.h): the link is full, shares are fair, the queue is
// short; and whatever is lost, comes late, joins, leaves or dies, it ends well.
#include "incast.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int64_t kIncastBdp = 25'000;  // of 100 Gb/s and 2 us

IncastOptions OptionsOf(CongestionControl control, uint32_t sources) {
  IncastOptions options;
  options.params.control = control;
  options.params.base_rtt = options.rtt;
  options.sources = sources;
  if (control == CongestionControl::kNscc) {
    options.mark_above = kIncastBdp / 2;
    options.queue_limit = 40 * kIncastBdp;
  }
  return options;
}

void Print(const char* name, const IncastOptions& options, const IncastResult& result) {
  std::printf(
      "%s %4u:1  efficiency %.4f  Jain %.6f  queue p99 %.2f max %.2f BDP  resent %lu  "
      "requests %lu  grants %lu\n",
      name, options.sources, result.efficiency, result.jain,
      static_cast<double>(result.queue_p99) / kIncastBdp,
      static_cast<double>(result.queue_max) / kIncastBdp, result.resent, result.requests,
      result.grants);
}

uint64_t Seeds(uint64_t otherwise) {
  const char* const given = std::getenv("SUEDE_INCAST_SEEDS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(IncastOfRccc, FillsTheLinkFairlyWithAShortQueue) {
  for (const uint32_t sources : {4, 16, 64, 256}) {
    const IncastOptions options = OptionsOf(CongestionControl::kRccc, sources);
    const IncastResult result = Incast(options).Run();
    Print("RCCC", options, result);
    EXPECT_TRUE(result.complete);
    EXPECT_GE(result.efficiency, 0.98);
    EXPECT_GE(result.jain, 0.9999);
    EXPECT_LE(result.queue_p99, 2 * kIncastBdp);
    EXPECT_EQ(result.outstanding, 0u);
    // About one control message for three PDUs.
    EXPECT_LE(result.requests + result.grants, sources * options.pdus / 2);
  }
}

TEST(IncastOfRccc, OneSourceHasTheLinkForItself) {
  IncastOptions options = OptionsOf(CongestionControl::kRccc, 1);
  options.pdus = 2560;
  const IncastResult result = Incast(options).Run();
  Print("RCCC", options, result);
  EXPECT_GE(result.efficiency, 0.99);
  EXPECT_LE(result.queue_max, kIncastBdp);
}

TEST(IncastOfRccc, HoldsWithPdusOfAnySize) {
  for (const uint32_t octets : {300, 1000, 2222, 4150, 5400, 6700, 9000}) {
    IncastOptions options = OptionsOf(CongestionControl::kRccc, 64);
    options.octets = octets;
    options.pdus = 2'000'000 / octets;
    const IncastResult result = Incast(options).Run();
    EXPECT_GE(result.efficiency, 0.98) << octets;
    EXPECT_GE(result.jain, 0.9999) << octets;
    EXPECT_LE(result.queue_p99, 2 * kIncastBdp) << octets;
  }
}

TEST(IncastOfRccc, NoneOfManyStarves) {
  IncastOptions options = OptionsOf(CongestionControl::kRccc, 1023);
  options.pdus = 64;
  const IncastResult result = Incast(options).Run();
  Print("RCCC", options, result);
  EXPECT_TRUE(result.complete);
  EXPECT_GE(result.efficiency, 0.98);
  EXPECT_GE(result.jain, 0.999);
  EXPECT_EQ(result.outstanding, 0u);
}

TEST(IncastOfRccc, JoinsAndLeavesKeepTheLinkFull) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    IncastOptions options = OptionsOf(CongestionControl::kRccc, 32);
    options.seed = seed;
    options.kinds = 4;
    options.start_spread = microseconds(300);
    const IncastResult result = Incast(options).Run();
    EXPECT_TRUE(result.complete);
    EXPECT_GE(result.efficiency, 0.96) << seed;
    EXPECT_LE(result.queue_p99, 3 * kIncastBdp) << seed;
  }
}

TEST(IncastOfRccc, ASourceThatDiesCostsLittleAndIsForgotten) {
  for (uint32_t dies = 0; dies < 8; ++dies) {
    IncastOptions options = OptionsOf(CongestionControl::kRccc, 8);
    options.dies = dies;
    options.dies_at = TimeFromNs(20'000 * dies);
    const IncastResult result = Incast(options).Run();
    EXPECT_TRUE(result.complete);
    EXPECT_GE(result.efficiency, 0.75);  // what the dead source had sent does not count
    EXPECT_EQ(result.outstanding, 0u);
  }
}

TEST(IncastOfRccc, StaysWithinTheRoomOfTheRings) {
  // Eight PDUs of 16 sources: less than what each of them has left over at times.
  for (const int64_t room : {33'200, 66'400, 132'800, 265'600}) {
    IncastOptions options = OptionsOf(CongestionControl::kRccc, 16);
    options.room = static_cast<uint64_t>(room);
    const IncastResult result = Incast(options).Run();
    EXPECT_TRUE(result.complete);
    EXPECT_GE(result.efficiency, room < 100'000 ? 0.6 : 0.9) << room;
  }
}

TEST(IncastOfRccc, LossOfControlMessagesCostsLittle) {
  for (const uint32_t loss : {1, 10, 50}) {
    IncastOptions options = OptionsOf(CongestionControl::kRccc, 16);
    options.loss_permille = loss;
    options.jitter = microseconds(1);
    const IncastResult result = Incast(options).Run();
    Print("RCCC, loss,", options, result);
    EXPECT_TRUE(result.complete);
    EXPECT_GE(result.efficiency, loss < 20 ? 0.97 : 0.93);
    EXPECT_GE(result.jain, loss < 20 ? 0.9999 : 0.999);
  }
}

IncastOptions AnyOptions(CongestionControl control, uint64_t seed) {
  std::mt19937_64 random(seed);
  IncastOptions options = OptionsOf(control, 1 + static_cast<uint32_t>(random() % 32));
  options.seed = seed;
  options.pdus = 1 + static_cast<uint32_t>(random() % 200);
  options.kinds = 1 + static_cast<uint32_t>(random() % 4);
  options.octets = random() % 3 == 0 ? 4150 : 100 + static_cast<uint32_t>(random() % 9000);
  options.loss_permille = random() % 2 == 0 ? static_cast<uint32_t>(random() % 200) : 0;
  options.data_loss_permille = random() % 4 == 0 ? static_cast<uint32_t>(random() % 3) : 0;
  options.jitter = Duration(static_cast<int64_t>(random() % 3000));
  if (random() % 2 == 0) options.start_spread = Duration(static_cast<int64_t>(random() % 100'000));
  if (random() % 4 == 0) {
    options.dies = static_cast<uint32_t>(random() % options.sources);
    options.dies_at = TimeFromNs(static_cast<int64_t>(random() % 100'000));
  }
  if (random() % 4 == 0) options.room = 20'000 + random() % 1'000'000;
  options.trims = random() % 2 == 0;
  return options;
}

TEST(IncastOfRccc, EndsWellWhateverHappens) {
  for (uint64_t seed = 0; seed < Seeds(2000); ++seed) {
    const IncastResult result = Incast(AnyOptions(CongestionControl::kRccc, seed)).Run();
    ASSERT_TRUE(result.complete) << seed;
    ASSERT_EQ(result.outstanding, 0u) << seed;
  }
}

TEST(IncastOfNscc, FillsTheLinkFairly) {
  for (const uint32_t sources : {4, 16, 64, 256}) {
    const IncastOptions options = OptionsOf(CongestionControl::kNscc, sources);
    const IncastResult result = Incast(options).Run();
    Print("NSCC", options, result);
    EXPECT_TRUE(result.complete);
    EXPECT_GE(result.efficiency, 0.95);
    EXPECT_GE(result.jain, 0.99);
  }
}

TEST(IncastOfNscc, HoldsForAnyThresholdOfMarks) {
  for (const int64_t mark : {5'000, 12'500, 25'000, 50'000}) {
    for (const uint32_t sources : {4, 16, 64}) {
      IncastOptions options = OptionsOf(CongestionControl::kNscc, sources);
      options.mark_above = mark;
      const IncastResult result = Incast(options).Run();
      EXPECT_GE(result.efficiency, 0.95) << mark << ' ' << sources;
      EXPECT_GE(result.jain, 0.99) << mark << ' ' << sources;
    }
  }
}

TEST(IncastOfNscc, EndsWellWhateverHappens) {
  for (uint64_t seed = 0; seed < Seeds(1000); ++seed) {
    IncastOptions options = AnyOptions(CongestionControl::kNscc, seed);
    options.queue_limit = std::max<int64_t>(seed * 500, 10 * options.octets);
    const IncastResult result = Incast(options).Run();
    ASSERT_TRUE(result.complete) << seed;
  }
}

}  // namespace
}  // namespace suede
