// SPDX-License-Identifier: Apache-2.0
// The ports of planes: their links, and whether somebody has set them down (docs/planes.md). What
// that means for a peer is lib/peer's to say.
#include "pipeline/pipeline.h"

namespace suede {
namespace {

// How often ports are looked at.
constexpr Duration kPortLook = std::chrono::microseconds(50);
// A turn that comes later than this was kept waiting by the machine.
constexpr Duration kPause = std::chrono::microseconds(500);

}  // namespace

[[gnu::noinline]] void Pipeline::WatchPorts(Time now, Duration since_last_turn) {
  ports_due_ = now + kPortLook;
  if (since_last_turn > kPause) OnPause(since_last_turn);
  for (const auto& port : ports_) {
    const bool up = !port->link.down() && port->link.state().up;
    if (up != port->usable) OnPortChange(*port, up, now);
  }
}

// This lcore has stood still: the time that it did so says nothing of peers.
void Pipeline::OnPause(Duration time) {
  for (const auto& instance : instances_) {
    for (Peer& peer : instance->peers) peer.OnStandstill(time);
  }
}

void Pipeline::OnPortChange(PortContext& port, bool up, Time now) {
  port.usable = up;
  for (const auto& instance : instances_) {
    for (uint32_t plane = 0; plane < instance->plane_count(); ++plane) {
      if (instance->ports[plane] != &port || !instance->own.SetPort(plane, up)) continue;
      OnPlaneChange(*instance, plane, PlaneDownReason::kLink, now);
    }
  }
}

// The port of a plane, or what an operator wants of it, has changed.
void Pipeline::OnPlaneChange(Instance& instance, uint32_t plane, PlaneDownReason reason, Time now) {
  for (uint32_t peer = 0; peer < instance.peers.size(); ++peer) {
    Effects effects;
    instance.peers[peer].OnPlaneChange(plane, reason, now, effects);
    Apply(instance, peer, effects);
  }
}

}  // namespace suede
