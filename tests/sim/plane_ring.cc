// SPDX-License-Identifier: Apache-2.0
#include "plane_ring.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "fast_crc.h"
#include "world.h"

namespace suede {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr uint32_t kHosts = 8;
constexpr uint32_t kStep = 32;  // commands that a host sends to the next one before it waits
constexpr uint32_t kDead = 1;   // the plane that dies
constexpr Duration kMaxTime = std::chrono::seconds(2);
// Max time for which the ring may stand still, in times of the detection of one plane.
constexpr double kMaxDetections = 2.25;

WorldOptions Options() {
  WorldOptions options;
  options.wiring.hosts = kHosts;
  options.wiring.switches = 2;
  options.wiring.shifted = true;
  options.shift = 1;
  options.commands = 0;
  options.faults = {{.delay = microseconds(2), .bits_per_ns = 25}};
  options.transport.psn_scope = PsnScope::kVc;
  options.paths.ordering = Ordering::kUnordered;
  options.paths.hello_interval = microseconds(500);
  options.paths.hello_idle = milliseconds(200);
  options.paths.hold_down = milliseconds(10);
  options.paths.hold_down_max = milliseconds(20);
  options.pauses = 0;
  return options;
}

// Returns the time after which a plane without answers is found dead, by docs/planes.md.
Duration DetectionTime(const PathParams& paths) {
  return paths.hello_interval * (paths.hello_multiplier + 1);
}

// The steps of an all-reduce: each host sends one to the next host when it has all of the step of
// the host before it. `in_turn`: one host begins each round, so one after the other sends;
// otherwise all of them do at once.
class Ring {
 public:
  Ring(uint64_t seed, bool in_turn)
      : in_turn_(in_turn), dice_(seed), world_(seed, Options()), steps_(kHosts) {}

  // Returns the time of a round in which the plane dies, less that of a round before. 0: it failed.
  Duration StandsStill() {
    RunRounds(50);
    const Time began = world_.now();
    RunRounds(20);
    const Duration usual = (world_.now() - began) / 20;
    const Time cut = world_.now() + dice_.Up(usual);
    while (world_.now() < cut) Turn();
    SetDead(true);
    const Time dead = world_.now();
    RunRounds(1);
    const Duration round = world_.now() - dead;
    return round < kMaxTime ? std::max(Duration{1}, round - usual) : Duration{};
  }
  // Lets the plane live again, and asks the oracle.
  std::string Finish() {
    SetDead(false);
    return world_.Run();
  }

 private:
  // Runs until a step of each host has gone round the ring, `rounds` times.
  void RunRounds(uint32_t rounds) {
    std::vector<uint32_t> until = steps_;
    for (uint32_t& steps : until) steps += rounds * (in_turn_ ? 1 : kHosts);
    const Time end = world_.now() + kMaxTime;
    const auto is_over = [&] {
      for (uint32_t h = 0; h < kHosts; ++h) {
        if (steps_[h] < until[h] || world_.host(h).to_send != 0) return false;
      }
      return true;
    };
    while (!is_over() && world_.now() < end && world_.failure().empty()) Turn();
  }
  void Turn() {
    for (uint32_t h = 0; h < kHosts; ++h) {
      Host& host = world_.host(h);
      const bool begins = !in_turn_ || h == 0;
      const uint64_t needed = uint64_t{kStep} * (steps_[h] + (begins ? 0 : 1));
      if (host.to_send != 0 || host.Count(Counter::kRxCommands) < needed) continue;
      host.to_send = kStep;
      ++steps_[h];
    }
    world_.Turn();
  }
  void SetDead(bool dead) {
    const Wiring& wiring = Options().wiring;
    for (uint32_t h = 0; h < kHosts; ++h) {
      for (uint32_t plane = 0; plane < wiring.switches; ++plane) {
        if (wiring.SwitchOf(h, plane) != kDead) continue;
        world_.host(h).ports[plane]->SetSilent(dead, dead);
      }
    }
  }

  const bool in_turn_;
  Dice dice_;
  World world_;
  std::vector<uint32_t> steps_;  // that each host has begun
};

}  // namespace

int RunPlaneRing(uint64_t first_seed, uint64_t count) {
  InstallFastCrc();
  const Duration one = DetectionTime(Options().paths);
  uint32_t failed = 0;
  for (const bool in_turn : {false, true}) {
    double max = 0;
    for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
      Ring ring(seed, in_turn);
      const Duration time = ring.StandsStill();
      const std::string failure = ring.Finish();
      const double detections =
          static_cast<double>(time.count()) / static_cast<double>(one.count());
      max = std::max(max, detections);
      if (time != Duration{} && detections <= kMaxDetections && failure.empty()) continue;
      ++failed;
      std::printf("seed %llu, %s: stood still for %.2f times the detection of one plane %s\n",
                  static_cast<unsigned long long>(seed), in_turn ? "in turn" : "all at once",
                  detections, failure.c_str());
    }
    std::printf(
        "plane_ring, %u hosts %s: %llu seeds, longest %.2f times the detection of one plane\n",
        kHosts, in_turn ? "in turn" : "all at once", static_cast<unsigned long long>(count), max);
  }
  std::printf("plane_ring: %u failed; at most %.2f times wanted\n", failed, kMaxDetections);
  return failed == 0 ? 0 : 1;
}

}  // namespace suede
