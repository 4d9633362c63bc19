// SPDX-License-Identifier: Apache-2.0
// The cost of frames that pass a device of a mesh: the middle one of a line of three. For
// callgrind, which counts the functions of Bench. Each argument is a run: BURST frames at once, of
// a class; with BURST+credit, on credit; with BURST+credit+vc, without a class, so that their VC
// counts. Under callgrind each run has a dump of its own.
#include <valgrind/callgrind.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "fabric_fixture.h"
#include "mesh/routing_table.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kTurns = 1000;
constexpr uint32_t kBegin = 200;  // turns until the links have their credit
constexpr uint32_t kMost = 32;    // frames at once
// Ports of a device.
constexpr uint32_t kCentre = 0;
constexpr uint32_t kWest = 1;
constexpr uint32_t kEast = 2;

SwitchParams ParamsOfDevice(uint32_t device, bool credit) {
  SwitchParams params{.forwarding = Forwarding::kMesh};
  params.levels = 4;
  params.ports.resize(3);
  params.ports[kCentre].centre = true;
  params.ports[kCentre].level = LevelRule::kFirst;
  params.ports[kWest].level = LevelRule::kNext;
  params.mesh.centre_of[0] = kCentre;
  for (const uint32_t port : {kWest, kEast}) {
    params.mesh.port_of[port] = static_cast<uint16_t>(port);
    params.ports[port].cbfc = credit;
    params.ports[port].link.secret[0] = static_cast<uint8_t>(2 * device + port);
  }
  for (ClassParams& of_class : params.of_class) {
    of_class.reserved_bytes = 512;
    of_class.credits = credit ? 64 : 0;
  }
  params.cbfc.largest_octets = 1522;
  return params;
}

class Device {
 public:
  Device(uint32_t number, bool credit) : the_switch(ParamsOfDevice(number, credit)) {
    mesh::RoutingTable table{.own = {.mesh = 0, .device = mesh::DeviceId(number)}};
    for (uint32_t to = 0; to < 3; ++to) {
      if (to != number) table.to_devices.Set(to, mesh::PortId(to < number ? kWest : kEast));
    }
    the_switch.SetRoutes(PlaneIndex(0), table);
  }
  Switch the_switch;
};

class Centre final : public Bypass {
 public:
  bool Take(uint32_t /*port*/, Frame* frame) override {
    frames.push_back(frame);
    return true;
  }
  std::vector<Frame*> frames;
};

class Bench {
 public:
  Bench(uint32_t burst, bool credit, uint8_t dscp)
      : burst_(burst),
        devices_{Device(0, credit), Device(1, credit), Device(2, credit)},
        bytes_(BytesOf({.encap = Encap::kAfh2,
                        .from = 0,
                        .to = 2,
                        .bytes = 192,
                        .traffic_class = {.dscp = dscp}})) {
    devices_[2].the_switch.port(kCentre).SetBypass(&centre_);
    centre_.frames.reserve(kMost);
  }

  // Returns the number of frames that have arrived.
  uint64_t Run() {
    uint64_t arrived = 0;
    for (uint32_t turn = 0; turn < kBegin + kTurns; ++turn) {
      now_ += std::chrono::microseconds(1);
      for (uint32_t i = 0; turn >= kBegin && i < burst_; ++i) Begin();
      Switch& first = devices_[0].the_switch;
      Switch& last = devices_[2].the_switch;
      count_ = first.Transmit(kEast, frames_.data(), kMost, now_);
      if (count_ != 0) Receive();
      Transmit();
      Arrive();
      count_ = middle().Transmit(kWest, frames_.data(), kMost, now_);
      first.Receive(kEast, frames_.data(), count_, now_);
      count_ = last.Transmit(kWest, frames_.data(), kMost, now_);
      middle().Receive(kEast, frames_.data(), count_, now_);
      free_.insert(free_.end(), centre_.frames.begin(), centre_.frames.end());
      arrived += centre_.frames.size();
      centre_.frames.clear();
      for (Device& device : devices_) Clean(device.the_switch);
    }
    return arrived;
  }

 private:
  Switch& middle() { return devices_[1].the_switch; }
  [[gnu::noinline]] void Receive() {
    middle().Receive(kWest, frames_.data(), count_, now_);
    middle().Poll(now_);
  }
  [[gnu::noinline]] void Transmit() {
    count_ = middle().Transmit(kEast, frames_.data(), kMost, now_);
  }
  // At the destination.
  [[gnu::noinline]] void Arrive() {
    devices_[2].the_switch.Receive(kWest, frames_.data(), count_, now_);
  }
  void Begin() {
    Frame* frame = Take();
    frame->data = frame->buffer + 128;
    frame->length = static_cast<uint32_t>(bytes_.size());
    std::copy(bytes_.begin(), bytes_.end(), frame->data);
    devices_[0].the_switch.Receive(kCentre, &frame, 1, now_);
  }
  Frame* Take() {
    if (free_.empty()) {
      owned_.push_back(std::make_unique<Frame>());
      buffers_.push_back(std::make_unique<std::array<uint8_t, 2048>>());
      owned_.back()->buffer = buffers_.back()->data();
      owned_.back()->capacity = 2048;
      return owned_.back().get();
    }
    Frame* const frame = free_.back();
    free_.pop_back();
    return frame;
  }
  void Clean(Switch& of) {
    free_.insert(free_.end(), of.ended().begin(), of.ended().end());
    of.ClearEnded();
    while (of.spares_wanted() != 0) of.GiveSpare(Take());
  }

  const uint32_t burst_;
  std::array<Device, 3> devices_;
  const std::vector<uint8_t> bytes_;
  Centre centre_;
  std::array<Frame*, kMost> frames_{};
  uint32_t count_ = 0;
  Time now_ = At(0);
  std::vector<std::unique_ptr<Frame>> owned_;
  std::vector<std::unique_ptr<std::array<uint8_t, 2048>>> buffers_;
  std::vector<Frame*> free_;
};

int Main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string run = argv[i];
    const auto burst = static_cast<uint32_t>(std::atoi(run.c_str()));
    const uint8_t dscp = run.ends_with("+vc") ? 0 : 24;
    Bench bench(burst, run.find("+credit") != std::string::npos, dscp);
    const uint64_t arrived = bench.Run();
    CALLGRIND_DUMP_STATS;  // which zeroes them
    std::printf("%s: %llu frames\n", run.c_str(), static_cast<unsigned long long>(arrived));
    if (arrived != uint64_t{burst} * kTurns) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace suede::fabric

int main(int argc, char** argv) { return suede::fabric::Main(argc, argv); }
