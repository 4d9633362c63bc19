// SPDX-License-Identifier: Apache-2.0
// What instances have before them, shown to the clients whose queues they serve, for a balancer
// that chooses among several (docs/shared-memory.md, "Load").
//
// Costs nothing without clients. With them, a turn looks at no more than a few queues, and at those
// whose instance does nothing at all it looks and leaves it at that.
#include <algorithm>
#include <chrono>
#include <limits>

#include "pipeline/pipeline.h"

namespace suede {
namespace {

constexpr Duration kRoundEvery = std::chrono::microseconds(64);  // of rounds over the queues
constexpr Duration kHeartbeat = std::chrono::milliseconds(10);  // where nothing happens
constexpr uint32_t kLooksPerTurn = 4;
// Destinations with each state that is shown: bounds what it costs, whatever their number.
constexpr uint32_t kDestinations = 16;

uint32_t Saturated(uint64_t n) {
  return static_cast<uint32_t>(std::min<uint64_t>(n, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

void Pipeline::PublishLoad(Time now) {
  for (uint32_t i = 0; i < kLooksPerTurn && load_next_ < serving_.size(); ++i) {
    LookAtLoad(queues_[serving_[load_next_++]], now);
  }
  if (load_next_ < serving_.size()) return;  // the next turn goes on
  load_next_ = 0;
  ++load_round_;
  load_due_ = now + kRoundEvery;
}

void Pipeline::LookAtLoad(QueueSlot& slot, Time now) {
  Instance& instance = *instances_[slot.instance];
  InstanceLoad& load = instance.load;
  if (load.round != load_round_) {
    const bool is_last = load.round + 1 == load_round_;
    load.credit_lines = is_last ? load.counted_lines : 0;
    load.counted_lines = 0;
    load.round = load_round_;
  }
  load.counted_lines += slot.credits.outstanding();
  const bool holds =
      (instance.inflight | instance.queued | load.credit_lines | load.counted_lines) != 0;
  if (!holds && !slot.held && now - slot.load_shown < kHeartbeat) return;
  slot.held = holds;
  ShowLoad(slot, now);
}

void Pipeline::ShowLoad(QueueSlot& slot, Time now) {
  Instance& instance = *instances_[slot.instance];
  const InstanceLoad& load = instance.load;
  slot.load_shown = now;
  LookAtDestinations(instance);
  const uint64_t inflight_lines = instance.inflight_bytes / SUEDE_LINE_BYTES;
  slot.load.Show({.flags = IsOutOfService(instance) ? SUEDE_LOAD_DOWN : 0,
                  .load = Saturated(load.credit_lines + inflight_lines),
                  .queued_pdus = instance.queued,
                  .inflight_pdus = instance.inflight,
                  .inflight_bytes = Saturated(instance.inflight_bytes),
                  .credit_lines = load.credit_lines,
                  .paused = load.paused,
                  .unreachable = load.unreachable});
  if (slot.map_changes != load.map_changes) {
    slot.map_changes = load.map_changes;
    slot.load.ShowMaps(load.unreachable_map, load.paused_map);
  }
  if (const std::optional<Wish> wish = slot.load.NextWish()) {
    slot.load.Answer(*wish, DestinationOf(instance, slot, wish->xpuid()));
  }
}

void Pipeline::LookAtDestinations(Instance& instance) {
  InstanceLoad& load = instance.load;
  const auto count = static_cast<uint32_t>(instance.params.peers.size());
  for (uint32_t i = std::min(count, kDestinations); i != 0; --i) {
    const uint32_t peer = load.next_peer;
    load.next_peer = peer + 1 < count ? peer + 1 : 0;
    const uint16_t xpuid = instance.params.peers[peer].xpuid;
    const bool unreachable = IsUnreachable(instance, peer);
    if (load.unreachable_map.Set(xpuid, unreachable)) {
      load.unreachable += unreachable ? 1 : ~0u;
      ++load.map_changes;
    }
    const bool paused = IsPaused(instance, peer);
    if (load.paused_map.Set(xpuid, paused)) {
      load.paused += paused ? 1 : ~0u;
      ++load.map_changes;
    }
  }
}

// By the operator: the instance, or each of its planes with its port.
bool Pipeline::IsOutOfService(const Instance& instance) {
  bool down = true;
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    down &= instance.ports[plane]->link.down() || instance.plane_admin[plane] == PlaneAdmin::kDown;
  }
  return instance.down || down;
}

// On at least one VC. What packing goes by: a peer that nobody can find is one of them.
bool Pipeline::IsUnreachable(Instance& instance, uint32_t peer) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (instance.scheduler.queue(Scheduler::QueueIndex(peer, vc)).lost) return true;
  }
  return false;
}

// On at least one VC of a plane that is in use.
bool Pipeline::IsPaused(const Instance& instance, uint32_t peer) {
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    if (instance.has_planes() && (instance.paths[peer].usable & 1u << plane) == 0) continue;
    const uint32_t first = instance.ConnectionIndex(peer, plane, 0);
    for (uint32_t i = 0; i < instance.connections_per_plane(); ++i) {
      if (instance.connections[first + i].paused()) return true;
    }
  }
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if (instance.tx_credit[Scheduler::QueueIndex(peer, vc)].waiting) return true;
  }
  return false;
}

DestinationState Pipeline::DestinationOf(Instance& instance, const QueueSlot& slot,
                                         uint16_t xpuid) {
  const uint32_t peer = instance.peer_of_xpu[xpuid];
  if (peer == Instance::kNoPeer) return {};
  DestinationState state{.flags = SUEDE_DESTINATION_KNOWN,
                         .queued_lines = slot.credits.OutstandingTo(xpuid)};
  if (IsUnreachable(instance, peer)) state.flags |= SUEDE_DESTINATION_UNREACHABLE;
  if (IsPaused(instance, peer)) state.flags |= SUEDE_DESTINATION_PAUSED;
  const uint32_t first = instance.ConnectionIndex(peer, 0, 0);
  const uint32_t count = instance.plane_count() * instance.connections_per_plane();
  for (uint32_t i = 0; i < count; ++i) {
    const Connection& connection = instance.connections[first + i];
    if (connection.lost()) continue;  // what was in flight on it has been given up
    state.inflight_pdus += connection.unacked_count();
    state.inflight_bytes += connection.unacked_bytes();
  }
  return state;
}

}  // namespace suede
