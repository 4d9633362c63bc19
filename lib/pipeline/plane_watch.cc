// SPDX-License-Identifier: Apache-2.0
#include "pipeline/plane_watch.h"

namespace suede {
namespace {

// How often ports are looked at.
constexpr Duration kPortLook = std::chrono::microseconds(50);
// A turn that comes later than this was kept waiting by the machine.
constexpr Duration kPause = std::chrono::microseconds(500);

}  // namespace

[[gnu::noinline]] void PlaneWatch::Watch(Time now, Duration since_last_turn) {
  due_ = now + kPortLook;
  if (since_last_turn > kPause) OnPause(since_last_turn);
  for (const auto& port : lcore_.ports) {
    const bool up = !port->link.down() && port->link.state().up;
    if (up != port->usable) OnPortChange(*port, up, now);
  }
}

// This lcore has stood still: the time that it did so says nothing of peers.
void PlaneWatch::OnPause(Duration time) {
  for (const auto& instance : lcore_.instances) {
    for (Peer& peer : instance->peers) peer.OnStandstill(time);
  }
}

void PlaneWatch::OnPortChange(PortContext& port, bool up, Time now) {
  port.usable = up;
  for (const auto& instance : lcore_.instances) {
    for (uint32_t plane = 0; plane < instance->plane_count(); ++plane) {
      if (instance->ports[plane] != &port) continue;
      instance->NoteLinkSpeed(plane);
      if (!instance->own.SetPort(plane, up)) continue;
      OnPlaneChange(*instance, plane, PlaneDownReason::kLink, now);
    }
  }
}

void PlaneWatch::OnMute(const PortContext& port, Time now) {
  for (const auto& instance : lcore_.instances) {
    for (uint32_t plane = 0; plane < instance->plane_count(); ++plane) {
      if (instance->ports[plane] != &port) continue;
      for (uint32_t peer = 0; peer < instance->peers.size(); ++peer) {
        PlaneSession& session = instance->session(peer, plane);
        if (!session.up()) continue;
        session.OnTraffic(now, instance->params.paths);
        lcore_.timers.ArmSession(*instance, peer, plane);
      }
    }
  }
}

// The port of a plane, or an operator's wish for the plane, has changed.
void PlaneWatch::OnPlaneChange(Instance& instance, uint32_t plane, PlaneDownReason reason,
                               Time now) {
  for (uint32_t peer = 0; peer < instance.peers.size(); ++peer) {
    Effects effects;
    instance.peers[peer].OnPlaneChange(plane, reason, now, effects);
    effector_.Apply(instance, peer, effects);
  }
}

}  // namespace suede
