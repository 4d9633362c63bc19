// SPDX-License-Identifier: Apache-2.0
// Acceptance of routing tables (docs/mesh.md, "Acceptance"): whether frames that follow them can
// wait for each other in a circle, and when a device may change from one set to the next.
#ifndef SUEDE_MESH_ACCEPTANCE_H_
#define SUEDE_MESH_ACCEPTANCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mesh/routes.h"

namespace suede::mesh {

// The queue of a port for frames of one level.
struct Channel {
  DevicePort at;
  uint32_t level = 0;
};
// Returns "M0D4P2", or "M0D4P2/1" for level 1.
std::string NameOf(const Channel& channel);
// Returns "M0D4P2 -> M0D5P1 -> M0D4P2", which ends where it begins.
std::string CycleText(std::span<const Channel> cycle);

// The channels that the frames of each channel wait for: those of the device behind the cable by
// which they leave. Frames that have arrived wait for nothing.
class Dependencies {
 public:
  // Frames follow any of `sets` at any device, all of which inject to all destinations.
  Dependencies(const Topology& topology, std::span<const Tables* const> sets,
               uint32_t levels = kLevels);

  enum class Cables : uint8_t { kLossless, kAll };
  // Returns channels that wait for each other, in order, each by one of those cables; empty: none.
  std::vector<Channel> FindCycle(Cables cables) const;

 private:
  struct State {
    DeviceIndex device;
    uint32_t level;
  };

  void Explore(std::span<const Tables* const> sets, DeviceIndex destination);
  uint32_t IndexOf(const State& state, PortId port) const {
    return (state.device * levels_ + state.level) * kMaxPorts + port;
  }
  State StateOf(uint32_t channel) const {
    return {.device = DeviceIndex(channel / kMaxPorts / levels_),
            .level = channel / kMaxPorts % levels_};
  }
  // Returns the device and level of frames behind the channel's cable.
  State Behind(uint32_t channel) const;
  Channel ChannelAt(uint32_t channel) const;
  bool Waits(uint32_t channel, Cables cables) const;

  const Topology& topology_;
  const uint32_t levels_;
  std::vector<uint16_t> follows_;  // ports of the device behind, a bit each, by channel
};

// The tables in use, and their successors. `topology` must outlive it.
class ActiveTables {
 public:
  enum class Decision : uint8_t {
    kRefused,   // the new tables deadlock: the old ones stay
    kDraining,  // old and new tables deadlock together: injection stops until OnDrained
    kSwapped,   // the new tables are in use
  };
  struct Verdict {
    Decision decision = Decision::kSwapped;
    // The reason; of kSwapped a warning: frames may be lost where these cables are lossy.
    std::vector<Channel> cycle;
  };

  // Starts without routes, at epoch 0.
  explicit ActiveTables(const Topology& topology);

  // Offers a table for each device. Replaces tables that wait for OnDrained.
  Verdict Offer(Tables next);
  // No frame is inside the meshes any more.
  void OnDrained();

  const Tables& tables() const { return tables_; }
  // Count of the swaps, as in each of the tables.
  uint32_t epoch() const { return epoch_; }
  // Whether devices must not inject frames.
  bool draining() const { return !next_.empty(); }

 private:
  void Swap(Tables next);

  const Topology& topology_;
  Tables tables_;
  Tables next_;  // empty: none waits
  uint32_t epoch_ = 0;
};

}  // namespace suede::mesh

#endif  // SUEDE_MESH_ACCEPTANCE_H_
