// SPDX-License-Identifier: Apache-2.0
// What instances have before them, shown to the clients whose queues they serve, for a balancer
// that chooses among several (docs/shared-memory.md, "Congestion").
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

void Pipeline::PublishCongestion(Time now) {
  for (uint32_t i = 0; i < kLooksPerTurn && congestion_next_ < serving_.size(); ++i) {
    LookAtCongestion(queues_[serving_[congestion_next_++]], now);
  }
  if (congestion_next_ < serving_.size()) return;  // the next turn goes on
  congestion_next_ = 0;
  ++congestion_round_;
  congestion_due_ = now + kRoundEvery;
}

void Pipeline::LookAtCongestion(QueueSlot& slot, Time now) {
  Instance& instance = *instances_[slot.instance];
  InstanceCongestion& congestion = instance.congestion;
  if (congestion.round != congestion_round_) {
    const bool is_last = congestion.round + 1 == congestion_round_;
    congestion.credit_lines = is_last ? congestion.counted_lines : 0;
    congestion.counted_lines = 0;
    congestion.round = congestion_round_;
  }
  congestion.counted_lines += slot.credits.outstanding();
  const bool holds = (instance.inflight | instance.queued | congestion.credit_lines |
                      congestion.counted_lines) != 0;
  if (!holds && !slot.held && now - slot.congestion_shown < kHeartbeat) return;
  slot.held = holds;
  ShowCongestion(slot, now);
}

void Pipeline::ShowCongestion(QueueSlot& slot, Time now) {
  Instance& instance = *instances_[slot.instance];
  const InstanceCongestion& congestion = instance.congestion;
  slot.congestion_shown = now;
  LookAtDestinations(instance);
  const uint64_t inflight_lines = instance.inflight_bytes / SUEDE_LINE_BYTES;
  slot.congestion.Show({.flags = IsOutOfService(instance) ? SUEDE_CONGESTION_DOWN : 0,
                        .load = Saturated(congestion.credit_lines + inflight_lines),
                        .queued_pdus = instance.queued,
                        .inflight_pdus = instance.inflight,
                        .inflight_octets = Saturated(instance.inflight_bytes),
                        .credit_lines = congestion.credit_lines,
                        .paused = congestion.paused,
                        .unreachable = congestion.unreachable});
  if (slot.map_changes != congestion.map_changes) {
    slot.map_changes = congestion.map_changes;
    slot.congestion.ShowMaps(congestion.unreachable_map, congestion.paused_map);
  }
  if (const std::optional<Wish> wish = slot.congestion.NextWish()) {
    slot.congestion.Answer(*wish, DestinationOf(instance, slot, wish->xpuid()));
  }
}

void Pipeline::LookAtDestinations(Instance& instance) {
  InstanceCongestion& congestion = instance.congestion;
  const auto count = static_cast<uint32_t>(instance.params.peers.size());
  for (uint32_t i = std::min(count, kDestinations); i != 0; --i) {
    const uint32_t peer = congestion.next_peer;
    congestion.next_peer = peer + 1 < count ? peer + 1 : 0;
    const uint16_t xpuid = instance.params.peers[peer].xpuid;
    const bool unreachable = IsUnreachable(instance, peer);
    if (congestion.unreachable_map.Set(xpuid, unreachable)) {
      congestion.unreachable += unreachable ? 1 : ~0u;
      ++congestion.map_changes;
    }
    const bool paused = IsPaused(instance, peer);
    if (congestion.paused_map.Set(xpuid, paused)) {
      congestion.paused += paused ? 1 : ~0u;
      ++congestion.map_changes;
    }
  }
}

// By the operator: the instance, or each of its planes with its port.
bool Pipeline::IsOutOfService(const Instance& instance) {
  bool down = true;
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    down &= instance.ports[plane]->down || instance.plane_admin[plane] == PlaneAdmin::kDown;
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
    state.inflight_octets += connection.unacked_bytes();
  }
  return state;
}

}  // namespace suede
