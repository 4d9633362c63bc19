// SPDX-License-Identifier: Apache-2.0
// A memory behind a manager port, written and read through a subordinate port, against a plain
// array. The buses at both ends have any widths.
#include "axi/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "axi/subordinate.h"

namespace suede::axi {
namespace {

constexpr uint32_t kBytes = 8192;
constexpr Time kNow = TimeFromMs(1);

// Two ports, and the commands between them.
class Pair final : public BurstSink {
 public:
  Pair(uint32_t near_bytes, uint32_t far_bytes)
      : subordinate_({.bus_bytes = near_bytes}, AddressMap(Routes())),
        manager_({.bus_bytes = far_bytes}),
        server_(far_bytes) {}

  int Send(const Burst& burst) override {
    const bool is_request = burst.to.vc == 0;
    std::vector<uint8_t> control(burst.controls, burst.controls + (burst.controls[0] & 15) * 2);
    std::vector<uint8_t> data(burst.data, burst.data + burst.data_bytes);
    (is_request ? requests_ : answers_).push_back({control, data});
    return 1;
  }
  void Step() {
    subordinate_.Pump(*this, kNow);
    while (!requests_.empty()) {
      const Message& each = requests_.front();
      manager_.OnCommand({}, each.control.data(), static_cast<uint32_t>(each.control.size()),
                         each.data.data(), static_cast<uint32_t>(each.data.size()), kNow, *this);
      requests_.pop_front();
    }
    manager_.Pump(*this, kNow);
    server_.Serve(manager_, memory_, 3);
    while (!answers_.empty()) {
      const Message& each = answers_.front();
      subordinate_.OnCommand({.vc = 1}, each.control.data(),
                             static_cast<uint32_t>(each.control.size()), each.data.data(),
                             static_cast<uint32_t>(each.data.size()));
      answers_.pop_front();
    }
  }
  Subordinate& port() { return subordinate_; }
  std::array<uint8_t, kBytes>& memory() { return memory_; }

 private:
  struct Message {
    std::vector<uint8_t> control;
    std::vector<uint8_t> data;
  };
  static std::vector<suede_axi_route> Routes() {
    suede_axi_route all{};
    all.last = UINT64_MAX;
    return {all};
  }

  Subordinate subordinate_;
  Manager manager_;
  Memory server_;
  std::array<uint8_t, kBytes> memory_ = {};
  std::deque<Message> requests_;
  std::deque<Message> answers_;
};

Address Draw(std::mt19937& random, uint32_t bus_bytes) {
  Address burst{};
  do {
    burst.size = static_cast<uint8_t>(random() % (std::countr_zero(bus_bytes) + 1));
    burst.burst = static_cast<uint8_t>(random() % 3);
    burst.len = static_cast<uint8_t>(burst.burst == SUEDE_AXI_WRAP ? (2u << random() % 4) - 1
                                                                   : random() % 16);
    burst.address = random() % kBytes;
    if (burst.burst == SUEDE_AXI_WRAP) burst.address &= ~uint64_t{SizeOf(burst) - 1};
  } while (FindViolation(burst, bus_bytes) != nullptr);
  return burst;
}

void Write(Pair& pair, const Address& burst, uint32_t bus_bytes, std::mt19937& random,
           std::array<uint8_t, kBytes>& expected) {
  ASSERT_TRUE(pair.port().SendAw(burst));
  for (uint32_t number = 0; number < BeatsOf(burst); ++number) {
    WriteBeat beat{};
    beat.last = number == burst.len ? 1 : 0;
    for (uint8_t& octet : beat.data) octet = static_cast<uint8_t>(random());
    beat.strobes[0] = random() | uint64_t{random()} << 32;
    beat.strobes[1] = random() | uint64_t{random()} << 32;
    const uint64_t at = BeatAddress(burst, number);
    for (uint32_t i = 0; i < BeatBytes(burst, number); ++i) {
      const uint64_t lane = (at + i) % bus_bytes;
      if ((beat.strobes[lane / 64] >> lane % 64 & 1) != 0) expected[at + i] = beat.data[lane];
    }
    ASSERT_TRUE(pair.port().SendW(beat));
  }
  WriteResponse response{};
  while (!pair.port().TakeB(&response)) pair.Step();
  EXPECT_EQ(response.response, SUEDE_AXI_OKAY);
}

void Read(Pair& pair, const Address& burst, uint32_t bus_bytes,
          const std::array<uint8_t, kBytes>& expected) {
  ASSERT_TRUE(pair.port().SendAr(burst));
  for (uint32_t number = 0; number < BeatsOf(burst); ++number) {
    ReadBeat beat{};
    while (!pair.port().TakeR(&beat)) pair.Step();
    EXPECT_EQ(beat.response, SUEDE_AXI_OKAY);
    const uint64_t at = BeatAddress(burst, number);
    for (uint32_t i = 0; i < BeatBytes(burst, number); ++i) {
      ASSERT_EQ(beat.data[(at + i) % bus_bytes], expected[at + i]) << at + i;
    }
  }
}

TEST(Memory, HasWhatWasWritten) {
  std::mt19937 random(1);
  for (uint32_t near_bytes = 4; near_bytes <= kMaxBusBytes; near_bytes *= 2) {
    for (uint32_t far_bytes = 4; far_bytes <= kMaxBusBytes; far_bytes *= 2) {
      Pair pair(near_bytes, far_bytes);
      std::array<uint8_t, kBytes> expected = {};
      for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) {
        Write(pair, Draw(random, near_bytes), near_bytes, random, expected);
        Read(pair, Draw(random, near_bytes), near_bytes, expected);
      }
      EXPECT_EQ(pair.memory(), expected) << near_bytes << " to " << far_bytes;
    }
  }
}

TEST(Memory, EndsAtItsEnd) {
  Pair pair(32, 32);
  Address burst{};
  burst.burst = SUEDE_AXI_INCR;
  burst.size = 5;
  burst.address = kBytes;
  ASSERT_TRUE(pair.port().SendAr(burst));
  ReadBeat beat{};
  while (!pair.port().TakeR(&beat)) pair.Step();
  EXPECT_EQ(beat.response, SUEDE_AXI_DECERR);
  ASSERT_TRUE(pair.port().SendAw(burst));
  WriteBeat write{};
  write.strobes[0] = UINT32_MAX;
  write.last = 1;
  ASSERT_TRUE(pair.port().SendW(write));
  WriteResponse response{};
  while (!pair.port().TakeB(&response)) pair.Step();
  EXPECT_EQ(response.response, SUEDE_AXI_DECERR);
}

}  // namespace
}  // namespace suede::axi
