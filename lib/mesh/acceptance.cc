// SPDX-License-Identifier: Apache-2.0
#include "mesh/acceptance.h"

#include <array>
#include <bit>
#include <cassert>
#include <utility>

#include "base/text.h"

namespace suede::mesh {

std::string NameOf(const Channel& channel) {
  const std::string port = NameOf(channel.at);
  return channel.level == 0 ? port : StrCat(port, "/", channel.level);
}

std::string CycleText(std::span<const Channel> cycle) {
  std::string text;
  for (const Channel& channel : cycle) StrAppend(&text, NameOf(channel), " -> ");
  if (!cycle.empty()) text += NameOf(cycle.front());
  return text;
}

Dependencies::Dependencies(const Topology& topology, std::span<const Tables* const> sets,
                           uint32_t levels)
    : topology_(topology),
      levels_(levels),
      follows_(size_t{topology.device_count()} * levels * kMaxPorts) {
  for (uint32_t i = 0; i < topology.device_count(); ++i) Explore(sets, DeviceIndex(i));
}

Dependencies::State Dependencies::Behind(uint32_t channel) const {
  const State state = StateOf(channel);
  const auto& end = topology_.Across(state.device, PortId(channel % kMaxPorts));
  return {.device = end->device, .level = NextLevel(state.level, end->crosses, levels_)};
}

Channel Dependencies::ChannelAt(uint32_t channel) const {
  const State state = StateOf(channel);
  return {.at = {.device = topology_.At(state.device), .port = PortId(channel % kMaxPorts)},
          .level = state.level};
}

bool Dependencies::Waits(uint32_t channel, Cables cables) const {
  if (cables == Cables::kAll) return true;
  const auto& end = topology_.Across(StateOf(channel).device, PortId(channel % kMaxPorts));
  return end && end->lossless;
}

// Visits each {device, level} at which a frame to the destination can be. The source injects it at
// level 0.
void Dependencies::Explore(std::span<const Tables* const> sets, DeviceIndex destination) {
  const Device to = topology_.At(destination);
  // Ports with cables by which frames to the destination leave a device, a bit each.
  const auto ports_at = [&](DeviceIndex device) {
    uint32_t ports = 0;
    for (const Tables* tables : sets) {
      const NextHop next = (*tables)[device].Lookup(to);
      if (next.kind == NextHop::Kind::kPort && topology_.Across(device, next.port)) {
        ports |= 1u << next.port;
      }
    }
    return ports;
  };
  std::vector<bool> seen(size_t{topology_.device_count()} * levels_);
  std::vector<State> left;
  const auto visit = [&](const State& state) {
    if (seen[state.device * levels_ + state.level]) return;
    seen[state.device * levels_ + state.level] = true;
    left.push_back(state);
  };
  for (uint32_t i = 0; i < topology_.device_count(); ++i) visit({DeviceIndex(i), 0});
  while (!left.empty()) {
    const State state = left.back();
    left.pop_back();
    for (uint32_t ports = ports_at(state.device); ports != 0; ports &= ports - 1) {
      const uint32_t channel = IndexOf(state, Lowest<PortId>(ports));
      const State behind = Behind(channel);
      follows_[channel] |= static_cast<uint16_t>(ports_at(behind.device));
      visit(behind);
    }
  }
}

// Depth first; a channel that is reached again while it is on the path closes a cycle.
std::vector<Channel> Dependencies::FindCycle(Cables cables) const {
  enum class Mark : uint8_t { kNew, kOnPath, kDone };
  struct Step {
    uint32_t channel;
    uint32_t ports;  // not followed yet
  };
  std::vector<Mark> marks(follows_.size());
  std::vector<Step> path;
  const auto enter = [&](uint32_t channel) {
    marks[channel] = Mark::kOnPath;
    path.push_back({.channel = channel, .ports = follows_[channel]});
  };
  for (uint32_t start = 0; start < follows_.size(); ++start) {
    if (marks[start] != Mark::kNew || follows_[start] == 0 || !Waits(start, cables)) continue;
    enter(start);
    while (!path.empty()) {
      Step& step = path.back();
      if (step.ports == 0) {
        marks[step.channel] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const uint32_t next = IndexOf(Behind(step.channel), Lowest<PortId>(step.ports));
      step.ports &= step.ports - 1;
      if (!Waits(next, cables) || marks[next] == Mark::kDone) continue;
      if (marks[next] == Mark::kNew) {
        enter(next);
        continue;
      }
      std::vector<Channel> cycle;
      size_t first = path.size();
      while (path[--first].channel != next) {
      }
      for (; first < path.size(); ++first) cycle.push_back(ChannelAt(path[first].channel));
      return cycle;
    }
  }
  return {};
}

ActiveTables::ActiveTables(const Topology& topology)
    : topology_(topology), tables_(topology.device_count()) {
  for (uint32_t i = 0; i < tables_.size(); ++i) tables_[i].own = topology.At(DeviceIndex(i));
}

ActiveTables::Verdict ActiveTables::Offer(Tables next) {
  using Cables = Dependencies::Cables;
  assert(next.size() == tables_.size());
  const std::array<const Tables*, 2> both = {&next, &tables_};
  const Dependencies alone(topology_, std::span(both).first(1));
  std::vector<Channel> cycle = alone.FindCycle(Cables::kLossless);
  if (!cycle.empty()) return {.decision = Decision::kRefused, .cycle = std::move(cycle)};
  std::vector<Channel> warning = alone.FindCycle(Cables::kAll);
  // Frames that are inside already may follow the old tables up to any device.
  cycle = Dependencies(topology_, both).FindCycle(Cables::kLossless);
  if (cycle.empty()) {
    Swap(std::move(next));
    return {.decision = Decision::kSwapped, .cycle = std::move(warning)};
  }
  next_ = std::move(next);
  return {.decision = Decision::kDraining, .cycle = std::move(cycle)};
}

void ActiveTables::OnDrained() {
  if (draining()) Swap(std::move(next_));
}

void ActiveTables::Swap(Tables next) {
  ++epoch_;
  for (RoutingTable& table : next) table.epoch = epoch_;
  tables_ = std::move(next);
  next_.clear();
}

}  // namespace suede::mesh
