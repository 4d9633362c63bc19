// SPDX-License-Identifier: Apache-2.0
// Bursts by the formulas of AMBA AXI4, A3.4.1, beat by beat and octet by octet.
#include "axi/transfer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace suede::axi {
namespace {

constexpr uint64_t kPages[] = {0, 0x12'3456'7000, 0xffff'ffff'ffff'f000};
constexpr uint64_t kOffsets[] = {0,    1,    2,    3,    4,    5,    7,    8,    15,   16,  24,
                                 31,   32,   63,   64,   100,  127,  128,  255,  256,  512, 1000,
                                 1024, 2047, 2048, 3968, 4032, 4064, 4088, 4092, 4094, 4095};
constexpr uint8_t kLengths[] = {0, 1, 2, 3, 6, 7, 14, 15, 16, 30, 31, 63, 127, 254, 255};
constexpr uint32_t kBuses[] = {4, 8, 16, 32, 64, 128};

struct SpecifiedBeat {
  uint64_t address;
  uint32_t lower_byte_lane;
  uint32_t upper_byte_lane;
};

// The specification's names. WRAP starts at an aligned address.
std::vector<SpecifiedBeat> BeatsBySpecification(const Address& burst, uint64_t data_bus_bytes) {
  const uint64_t start_address = burst.address;
  uint64_t number_bytes = 1;
  for (int i = 0; i < burst.size; ++i) number_bytes *= 2;
  const uint64_t burst_length = uint64_t{burst.len} + 1;
  const uint64_t aligned_address = start_address / number_bytes * number_bytes;
  const uint64_t wrap_boundary =
      start_address / (number_bytes * burst_length) * (number_bytes * burst_length);
  std::vector<SpecifiedBeat> beats;
  bool has_wrapped = false;
  for (uint64_t n = 1; n <= burst_length; ++n) {
    uint64_t address = start_address;
    if (n > 1 && burst.burst != SUEDE_AXI_FIXED) address = aligned_address + (n - 1) * number_bytes;
    if (burst.burst == SUEDE_AXI_WRAP) {
      if (address == wrap_boundary + number_bytes * burst_length) has_wrapped = true;
      if (has_wrapped) {
        address = start_address + (n - 1) * number_bytes - number_bytes * burst_length;
      }
    }
    const uint64_t lower = address - address / data_bus_bytes * data_bus_bytes;
    const bool is_at_start = n == 1 || burst.burst == SUEDE_AXI_FIXED;
    const uint64_t upper = is_at_start ? aligned_address + (number_bytes - 1) -
                                             start_address / data_bus_bytes * data_bus_bytes
                                       : lower + number_bytes - 1;
    beats.push_back({.address = address,
                     .lower_byte_lane = static_cast<uint32_t>(lower),
                     .upper_byte_lane = static_cast<uint32_t>(upper)});
  }
  return beats;
}

void EachBurst(const std::function<void(const Address&)>& check) {
  for (const uint64_t page : kPages) {
    for (const uint64_t offset : kOffsets) {
      for (uint8_t size = 0; size <= 7; ++size) {
        for (const uint8_t len : kLengths) {
          for (uint8_t burst = 0; burst <= 3; ++burst) {
            check({.address = page + offset, .len = len, .size = size, .burst = burst});
          }
        }
      }
    }
  }
}

bool IsPowerOfTwoUpTo(uint64_t value, uint64_t max) {
  for (uint64_t power = 1; power <= max; power *= 2) {
    if (value == power) return true;
  }
  return false;
}

// The rules of docs/axi.md, in its order.
bool IsValidBySpecification(const Address& burst, uint32_t bus_bytes) {
  uint64_t number_bytes = 1;
  for (int i = 0; i < burst.size; ++i) number_bytes *= 2;
  const uint64_t beats = uint64_t{burst.len} + 1;
  if (burst.burst == 3 || number_bytes > bus_bytes) return false;
  if (burst.burst == SUEDE_AXI_INCR) {
    for (const SpecifiedBeat& beat : BeatsBySpecification(burst, bus_bytes)) {
      if (beat.address / 4096 != burst.address / 4096) return false;
    }
  }
  if (burst.burst == SUEDE_AXI_FIXED && beats > 16) return false;
  if (burst.burst == SUEDE_AXI_WRAP) {
    if (beats == 1 || !IsPowerOfTwoUpTo(beats, 16)) return false;
    if (burst.address % number_bytes != 0) return false;
  }
  if (burst.lock == 0) return true;
  const uint64_t bytes = beats * number_bytes;
  return beats <= 16 && IsPowerOfTwoUpTo(bytes, 128) && burst.address % bytes == 0;
}

std::string TextOf(const Address& burst) {
  return "address " + std::to_string(burst.address) + " len " + std::to_string(burst.len) +
         " size " + std::to_string(burst.size) + " burst " + std::to_string(burst.burst) +
         " lock " + std::to_string(burst.lock);
}

TEST(Bursts, HaveTheBeatsOfTheSpecification) {
  uint64_t bursts = 0;
  EachBurst([&](const Address& burst) {
    if (FindViolation(burst, kMaxBusBytes) != nullptr) return;
    ++bursts;
    const std::vector<SpecifiedBeat> beats = BeatsBySpecification(burst, kMaxBusBytes);
    ASSERT_EQ(beats.size(), BeatsOf(burst));
    uint32_t bytes = 0;
    for (uint32_t beat = 0; beat < beats.size(); ++beat) {
      const uint32_t lanes = beats[beat].upper_byte_lane - beats[beat].lower_byte_lane + 1;
      ASSERT_EQ(BeatAddress(burst, beat), beats[beat].address) << TextOf(burst) << ": " << beat;
      ASSERT_EQ(BeatBytes(burst, beat), lanes) << TextOf(burst) << ": " << beat;
      bytes += lanes;
    }
    ASSERT_EQ(ActiveBytes(burst), bytes) << TextOf(burst);
    ASSERT_LE(bytes, kMaxBurstBytes) << TextOf(burst);
  });
  EXPECT_GT(bursts, 2000u);
}

TEST(Bursts, HaveTheSameOctetsOnEachBus) {
  EachBurst([&](const Address& burst) {
    for (const uint32_t bus : kBuses) {
      if (FindViolation(burst, bus) != nullptr || burst.len > 16) continue;
      uint32_t n = 0;
      for (const SpecifiedBeat& beat : BeatsBySpecification(burst, bus)) {
        ASSERT_EQ(BeatAddress(burst, n) % bus, beat.lower_byte_lane) << TextOf(burst);
        ASSERT_EQ(BeatBytes(burst, n), beat.upper_byte_lane - beat.lower_byte_lane + 1)
            << TextOf(burst);
        ++n;
      }
    }
  });
}

TEST(Bursts, TouchTheRangeOfTheirBeats) {
  EachBurst([&](const Address& burst) {
    if (FindViolation(burst, kMaxBusBytes) != nullptr) return;
    Range range = {.first = UINT64_MAX, .last = 0};
    for (const SpecifiedBeat& beat : BeatsBySpecification(burst, kMaxBusBytes)) {
      const uint64_t last = beat.address + beat.upper_byte_lane - beat.lower_byte_lane;
      if (beat.address < range.first) range.first = beat.address;
      if (last > range.last) range.last = last;
    }
    ASSERT_EQ(RangeOf(burst), range) << TextOf(burst);
    if (burst.burst == SUEDE_AXI_WRAP) {
      ASSERT_EQ(WrapBoundary(burst), range.first) << TextOf(burst);
    }
  });
}

TEST(Bursts, AreValidByTheRulesOfThePage) {
  uint64_t valid = 0;
  uint64_t invalid = 0;
  EachBurst([&](Address burst) {
    for (const uint32_t bus : kBuses) {
      for (uint8_t lock = 0; lock <= 1; ++lock) {
        burst.lock = lock;
        const bool is_valid = FindViolation(burst, bus) == nullptr;
        ASSERT_EQ(is_valid, IsValidBySpecification(burst, bus)) << TextOf(burst) << " bus " << bus;
        ++(is_valid ? valid : invalid);
      }
    }
  });
  EXPECT_GT(valid, 20000u);
  EXPECT_GT(invalid, 20000u);
}

struct Rule {
  const char* violation;  // null: none
  uint32_t bus_bytes;
  Address burst;
};

// Both sides of each limit.
const Rule kRules[] = {
    {nullptr, 4, {.size = 2, .burst = 1}},
    {"AxSIZE exceeds the bus", 4, {.size = 3, .burst = 1}},
    {nullptr, 128, {.size = 7, .burst = 1}},
    {"AxSIZE exceeds the bus", 128, {.size = 8, .burst = 1}},
    {"AxSIZE exceeds the bus", 128, {.size = 255, .burst = 1}},
    {"AxBURST is 3", 128, {.burst = 3}},
    {"AxBURST is 3", 128, {.burst = 255}},
    {nullptr, 128, {.burst = 1, .cache = 15, .prot = 7, .qos = 15, .region = 15}},
    {"a field exceeds its bits", 128, {.burst = 1, .lock = 2}},
    {"a field exceeds its bits", 128, {.burst = 1, .cache = 16}},
    {"a field exceeds its bits", 128, {.burst = 1, .prot = 8}},
    {"a field exceeds its bits", 128, {.burst = 1, .qos = 16}},
    {"a field exceeds its bits", 128, {.burst = 1, .region = 16}},
    {nullptr, 128, {.len = 15, .burst = 0}},
    {"a FIXED burst has more than 16 beats", 128, {.len = 16, .burst = 0}},
    {nullptr, 128, {.address = 4095, .len = 15, .size = 7, .burst = 0}},
    {nullptr, 16, {.address = 0xf000, .len = 255, .size = 4, .burst = 1}},
    {nullptr, 16, {.address = 0xf00f, .len = 255, .size = 4, .burst = 1}},
    {"a burst crosses a 4 KiB boundary",
     16,
     {.address = 0xf010, .len = 255, .size = 4, .burst = 1}},
    {nullptr, 128, {.address = 4095, .burst = 1}},
    {"a burst crosses a 4 KiB boundary", 128, {.address = 4095, .len = 1, .burst = 1}},
    {nullptr, 128, {.address = UINT64_MAX, .size = 7, .burst = 1}},
    {"a burst crosses a 4 KiB boundary", 128, {.address = UINT64_MAX, .len = 1, .burst = 1}},
    {"a WRAP burst does not have 2, 4, 8 or 16 beats", 128, {.len = 0, .burst = 2}},
    {nullptr, 128, {.len = 1, .burst = 2}},
    {"a WRAP burst does not have 2, 4, 8 or 16 beats", 128, {.len = 2, .burst = 2}},
    {nullptr, 128, {.len = 15, .burst = 2}},
    {"a WRAP burst does not have 2, 4, 8 or 16 beats", 128, {.len = 31, .burst = 2}},
    {nullptr, 128, {.address = 0x1f80, .len = 15, .size = 7, .burst = 2}},
    {"a WRAP burst is not aligned", 128, {.address = 0x1f40, .len = 15, .size = 7, .burst = 2}},
    {nullptr, 128, {.address = 128, .len = 15, .size = 3, .burst = 1, .lock = 1}},
    {"an exclusive access has more than 16 beats",
     128,
     {.len = 31, .size = 0, .burst = 1, .lock = 1}},
    {"the bytes of an exclusive access are not a power of 2 up to 128",
     128,
     {.len = 15, .size = 4, .burst = 1, .lock = 1}},
    {"the bytes of an exclusive access are not a power of 2 up to 128",
     128,
     {.len = 2, .size = 3, .burst = 1, .lock = 1}},
    {nullptr, 128, {.address = 64, .len = 1, .size = 5, .burst = 1, .lock = 1}},
    {"an exclusive access is not aligned",
     128,
     {.address = 32, .len = 1, .size = 5, .burst = 1, .lock = 1}},
};

TEST(Bursts, ViolationsHaveNames) {
  for (const Rule& rule : kRules) {
    const char* const violation = FindViolation(rule.burst, rule.bus_bytes);
    EXPECT_STREQ(violation, rule.violation) << "rule " << &rule - kRules;
  }
}

TEST(Ranges, Overlap) {
  const Range range = {.first = 100, .last = 199};
  EXPECT_TRUE(range.Overlaps(range));
  EXPECT_TRUE(range.Overlaps({.first = 0, .last = 100}));
  EXPECT_TRUE(range.Overlaps({.first = 199, .last = 300}));
  EXPECT_TRUE(range.Overlaps({.first = 0, .last = UINT64_MAX}));
  EXPECT_TRUE(range.Overlaps({.first = 150, .last = 150}));
  EXPECT_FALSE(range.Overlaps({.first = 0, .last = 99}));
  EXPECT_FALSE(range.Overlaps({.first = 200, .last = 300}));
}

TEST(Responses, TheWorseCounts) {
  const uint8_t order[] = {SUEDE_AXI_OKAY, SUEDE_AXI_EXOKAY, SUEDE_AXI_SLVERR, SUEDE_AXI_DECERR};
  for (size_t i = 0; i < std::size(order); ++i) {
    for (size_t j = 0; j < std::size(order); ++j) {
      EXPECT_EQ(WorseOf(order[i], order[j]), order[i < j ? j : i]);
    }
  }
}

}  // namespace
}  // namespace suede::axi
