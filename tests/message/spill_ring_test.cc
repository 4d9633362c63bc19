// SPDX-License-Identifier: Apache-2.0
#include "message/spill_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace suede::message {
namespace {

using Octets = std::vector<uint8_t>;

TEST(SpillRings, ACommandCostsAHeadAndItsOctetsInEights) {
  EXPECT_EQ(CostOf(0), 8u);
  EXPECT_EQ(CostOf(1), 16u);
  EXPECT_EQ(CostOf(8), 16u);
  EXPECT_EQ(CostOf(9), 24u);
  EXPECT_EQ(CostOf(256), 264u);
}

TEST(SpillRings, AStreamIsOctetsInOrderAcrossTheRingsEnd) {
  std::mt19937 random(1);
  SpillRing ring(4096, /*is_datagram=*/false);
  std::deque<uint8_t> expected;
  uint8_t next = 0;
  for (int step = 0; step < 20000; ++step) {
    Octets octets(1 + random() % 256);
    for (uint8_t& octet : octets) octet = next++;
    const auto bytes = static_cast<uint32_t>(octets.size());
    if (random() % 2 == 0 && ring.Fits(bytes)) {
      ring.Push(octets.data(), bytes, random() % 2 == 0);
      expected.insert(expected.end(), octets.begin(), octets.end());
    } else {
      next = static_cast<uint8_t>(next - bytes);
      Octets room(1 + random() % 700);
      const uint32_t taken = ring.TakeOctets(room.data(), static_cast<uint32_t>(room.size()));
      ASSERT_EQ(taken, std::min(room.size(), expected.size()));
      ASSERT_TRUE(std::equal(room.begin(), room.begin() + taken, expected.begin()));
      expected.erase(expected.begin(), expected.begin() + taken);
    }
    ASSERT_EQ(ring.octets(), expected.size());
    ring.CheckInvariants();
  }
}

TEST(SpillRings, DatagramsAreWholeAndOnesThatAreGivenUpLeaveNothing) {
  std::mt19937 random(2);
  SpillRing ring(8192, /*is_datagram=*/true);
  std::deque<Octets> expected;
  Octets partial;
  for (int step = 0; step < 20000; ++step) {
    const uint32_t kind = random() % 8;
    if (kind < 5) {
      Octets octets(random() % 257);
      if (octets.empty() && ring.has_partial()) continue;
      for (uint8_t& octet : octets) octet = static_cast<uint8_t>(random());
      if (!ring.Fits(static_cast<uint32_t>(octets.size()))) continue;
      const bool is_last = octets.empty() || random() % 2 == 0;
      ring.Push(octets.data(), static_cast<uint32_t>(octets.size()), is_last);
      partial.insert(partial.end(), octets.begin(), octets.end());
      if (is_last) {
        expected.push_back(partial);
        partial.clear();
      }
    } else if (kind == 5) {
      ring.DropPartial();
      partial.clear();
    } else if (!expected.empty()) {
      ASSERT_EQ(ring.FirstMessageBytes(), expected.front().size());
      Octets room(expected.front().size());
      ring.TakeMessage(room.data());
      ASSERT_EQ(room, expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(ring.messages(), expected.size());
    ring.CheckInvariants();
  }
}

TEST(SpillRings, CreditIsWhatWasReleased) {
  SpillRing ring(4096, /*is_datagram=*/false);
  const Octets octets(256);
  while (ring.Fits(256)) ring.Push(octets.data(), 256, false);
  EXPECT_EQ(ring.received(), 15u * 264);
  EXPECT_TRUE(ring.Fits(128));
  EXPECT_FALSE(ring.Fits(129));
  uint8_t room[300];
  ring.TakeOctets(room, 255);
  EXPECT_EQ(ring.released(), 0u) << "a record is released as a whole";
  ring.TakeOctets(room, 2);
  EXPECT_EQ(ring.released(), 264u);
  SpillRing other(4096, false);
  other.Pass(100);
  EXPECT_EQ(other.received(), CostOf(100));
  EXPECT_EQ(other.released(), CostOf(100));
}

}  // namespace
}  // namespace suede::message
