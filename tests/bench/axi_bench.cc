// SPDX-License-Identifier: Apache-2.0
// AXI4 transactions through both ports in one thread, without an endpoint between them: the cost of
// the mapping. Prints transactions per second of writes and reads of one size.
//
//   axi_bench [BYTES [TRANSACTIONS [BUS-BYTES]]]
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "axi/manager.h"
#include "axi/memory.h"
#include "axi/subordinate.h"

namespace suede::axi {
namespace {

constexpr uint32_t kInflight = 32;
constexpr Time kNow = TimeFromMs(1);

// Commands between the ports, in place of an endpoint.
class Commands final : public BurstSink {
 public:
  int Send(const Burst& burst) override {
    Command& command = commands_[burst.to.vc][count_[burst.to.vc]++];
    command.control_bytes = (burst.controls[0] & 15u) * 2;
    command.data_bytes = burst.data_bytes;
    std::memcpy(command.control, burst.controls, command.control_bytes);
    if (burst.data_bytes != 0) std::memcpy(command.data, burst.data, burst.data_bytes);
    return 1;
  }
  template <typename Each>
  void Deliver(uint8_t vc, Each&& each) {
    for (uint32_t i = 0; i < count_[vc]; ++i) {
      const Command& command = commands_[vc][i];
      each(command.control, command.control_bytes, command.data, command.data_bytes);
    }
    count_[vc] = 0;
  }

 private:
  struct Command {
    uint32_t control_bytes = 0;
    uint32_t data_bytes = 0;
    uint8_t control[kMaxControlBytes];
    uint8_t data[kMaxDataBytes];
  };
  std::array<std::vector<Command>, 2> commands_ = {std::vector<Command>(kInflight * kMaxParts),
                                                   std::vector<Command>(kInflight* kMaxParts)};
  std::array<uint32_t, 2> count_ = {};
};

std::vector<suede_axi_route> Everywhere() {
  suede_axi_route all{};
  all.last = UINT64_MAX;
  return {all};
}

class Bench {
 public:
  Bench(uint32_t bytes, uint32_t bus_bytes)
      : bus_bytes_(bus_bytes),
        beats_((bytes + bus_bytes - 1) / bus_bytes),
        subordinate_({.bus_bytes = bus_bytes, .address_places = 64, .beat_places = 256 * 32},
                     AddressMap(Everywhere())),
        manager_({.bus_bytes = bus_bytes, .address_places = 64, .beat_places = 256 * 32}),
        server_(bus_bytes),
        memory_(kInflight * kMaxBurstBytes) {
    write_.strobes[0] = write_.strobes[1] = UINT64_MAX;
  }

  // Executes kInflight transactions.
  [[gnu::noinline]] void Turn(bool is_read) {
    for (uint32_t i = 0; i < kInflight; ++i) Start(i, is_read);
    subordinate_.Pump(commands_, kNow);
    commands_.Deliver(
        0, [&](auto... command) { manager_.OnCommand({}, command..., kNow, commands_); });
    manager_.Pump(commands_, kNow);
    server_.Serve(manager_, memory_, UINT32_MAX);
    manager_.Pump(commands_, kNow);
    commands_.Deliver(1, [&](auto... command) { subordinate_.OnCommand({.vc = 1}, command...); });
    subordinate_.Pump(commands_, kNow);
    WriteResponse response;
    while (subordinate_.TakeB(&response)) ++ended_;
    ReadBeat beat;
    while (subordinate_.TakeR(&beat)) ended_ += beat.last;
  }
  uint64_t ended() const { return ended_; }

 private:
  void Start(uint32_t place, bool is_read) {
    Address burst{};
    burst.address = uint64_t{place} * kMaxBurstBytes;
    burst.id = place;
    burst.size = static_cast<uint8_t>(std::countr_zero(bus_bytes_));
    burst.len = static_cast<uint8_t>(beats_ - 1);
    burst.burst = SUEDE_AXI_INCR;
    if (is_read) {
      subordinate_.SendAr(burst);
      return;
    }
    subordinate_.SendAw(burst);
    for (uint32_t beat = 0; beat < beats_; ++beat) {
      write_.last = beat + 1 == beats_ ? 1 : 0;
      subordinate_.SendW(write_);
    }
  }

  const uint32_t bus_bytes_;
  const uint32_t beats_;
  Subordinate subordinate_;
  Manager manager_;
  Memory server_;
  std::vector<uint8_t> memory_;
  Commands commands_;
  WriteBeat write_{};
  uint64_t ended_ = 0;
};

void Run(const char* name, bool is_read, uint32_t bytes, uint32_t transactions,
         uint32_t bus_bytes) {
  Bench bench(bytes, bus_bytes);
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t i = 0; i < transactions; i += kInflight) bench.Turn(is_read);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::printf("%s of %u bytes on %u bits: %.0f transactions/s, %.1f ns each\n", name, bytes,
              bus_bytes * 8, static_cast<double>(bench.ended()) / time.count(),
              time.count() * 1e9 / static_cast<double>(bench.ended()));
}

}  // namespace
}  // namespace suede::axi

int main(int argc, char** argv) {
  const auto argument = [&](int at, uint32_t otherwise) {
    return at < argc ? static_cast<uint32_t>(std::atoi(argv[at])) : otherwise;
  };
  const uint32_t bytes = std::clamp(argument(1, 64), 1u, 4096u);
  const uint32_t transactions = argument(2, 1'000'000);
  const uint32_t bus_bytes = argument(3, 32);
  suede::axi::Run("write", false, bytes, transactions, bus_bytes);
  suede::axi::Run("read", true, bytes, transactions, bus_bytes);
}
