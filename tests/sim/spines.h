// SPDX-License-Identifier: Apache-2.0
// Spines between the leaf switches of hosts: each leaf spreads the frames of its host over all of
// them frame by frame, by the code of a switch's groups (lib/fabric/group_spread.h). Frames
// overtake each other.
#ifndef SUEDE_TESTS_SIM_SPINES_H_
#define SUEDE_TESTS_SIM_SPINES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "dice.h"
#include "fabric/group_spread.h"
#include "sim/sim.h"

namespace suede {

struct SpineOptions {
  uint32_t count = 0;                                   // 0: leaves and spines are one switch
  fabric::Spread spread = fabric::Spread::kRoundRobin;  // or kQueue
  double bits_per_ns = 100;                             // of the link of a leaf to each spine
  Duration step{};   // the path by a spine is so much longer than that by the spine before it
  Duration dies{};   // from then on spine 0 loses all frames; 0: it does not die
  Duration finds{};  // after so much more, its links are down
};

class Spines {
 public:
  // The switches outlive it.
  Spines(const SpineOptions& options, const std::vector<std::unique_ptr<SimNetwork>>& switches)
      : options_(options) {
    if (options.count == 0) return;
    group_.ports.resize(options.count);
    std::iota(group_.ports.begin(), group_.ports.end(), uint16_t{0});
    for (const auto& network : switches) {
      network->SetWay([this](const SimPort* host, std::span<const uint8_t> frame, Time leaves) {
        Leaf& leaf = leaves_[host];
        if (leaf.spread == nullptr) leaf = Leaf(group_);
        return ArrivalOf(leaf, static_cast<uint32_t>(frame.size()), leaves);
      });
    }
  }

 private:
  struct Leaf {
    Leaf() = default;
    explicit Leaf(const fabric::PortGroup& group)
        : spread(std::make_unique<fabric::GroupSpread>(group)), free_at(group.ports.size()) {}
    std::unique_ptr<fabric::GroupSpread> spread;
    std::vector<Time> free_at;  // of the link to each spine
  };

  Time ArrivalOf(Leaf& leaf, uint32_t bytes, Time now) {
    const bool dead = options_.dies != Duration{} && now >= Time{} + options_.dies;
    if (dead && now >= Time{} + options_.dies + options_.finds) leaf.spread->SetDown(0, true);
    const uint32_t spine = leaf.spread->Next([&](uint16_t port) -> uint32_t {
      if (options_.spread == fabric::Spread::kRoundRobin) return 0;
      const auto waits = std::max(leaf.free_at[port] - now, Duration{});
      return static_cast<uint32_t>(static_cast<double>(waits.count()) * options_.bits_per_ns / 8);
    });
    Time& free_at = leaf.free_at[spine];
    free_at =
        std::max(free_at, now) + Duration(static_cast<int64_t>(bytes * 8 / options_.bits_per_ns));
    leaf.spread->Take(spine);
    if (dead && spine == 0) return kNever;
    return free_at + options_.step * static_cast<int64_t>(spine);
  }

  const SpineOptions options_;
  fabric::PortGroup group_;
  std::map<const SimPort*, Leaf> leaves_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_SPINES_H_
