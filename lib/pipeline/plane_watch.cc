// SPDX-License-Identifier: Apache-2.0
#include "pipeline/plane_watch.h"

namespace suede {
namespace {

// Interval of the checks of ports.
constexpr Duration kPortCheckInterval = std::chrono::microseconds(50);
// A poll iteration that begins later than this was delayed by the machine.
constexpr Duration kMinPause = std::chrono::microseconds(500);
// Max peers that are probed on failed planes in each check: half of the room in front of a burst.
constexpr uint32_t kMaxProbed = kBurst / 2;

}  // namespace

[[gnu::noinline]] void PlaneWatch::Watch(Time now, Duration since_last_poll) {
  due_ = now + kPortCheckInterval;
  if (since_last_poll > kMinPause) OnPause(now, since_last_poll);
  for (const auto& port : lcore_.ports) {
    const bool up = !port->link.down() && port->link.state().up;
    if (up != port->usable) OnPortChange(*port, up, now);
  }
  if (lcore_.has_failed_planes) ProbeFailedPlanes(now);
}

// Probes peers on failed planes. Each probe, and each report, takes a place in front of a burst: a
// few peers are probed in each check, whatever the number of peers and instances. A peer without
// sessions is only visited.
void PlaneWatch::ProbeFailedPlanes(Time now) {
  lcore_.has_failed_planes = false;
  uint32_t room = kMaxProbed;
  for (const auto& instance : lcore_.instances) {
    FailedPlanes& failed = instance->peers.own.failed;
    while (failed.has_work() && room != 0) {
      const PeerIndex peer(failed.NextPeer(static_cast<uint32_t>(instance->peers.size())));
      Effects effects;
      instance->peers[peer].probes().OnFailedPlanes(failed.report(), now, effects);
      if (!effects.empty()) --room;
      effector_.Apply(*instance, peer, effects);
      if (failed.has_work()) continue;
      failed.End();
      instance->stats.counters.Add(Counter::kPlaneSweeps);
    }
    lcore_.has_failed_planes |= failed.has_work();
  }
}

// This lcore has stalled: silence in that time is no evidence about peers.
void PlaneWatch::OnPause(Time now, Duration time) {
  for (const auto& instance : lcore_.instances) {
    for (Peer& peer : instance->peers.all) peer.health().OnStandstill(now, time);
  }
}

void PlaneWatch::OnPortChange(PortContext& port, bool up, Time now) {
  port.usable = up;
  for (const auto& instance : lcore_.instances) {
    for (PlaneIndex plane = 0; plane < instance->map.plane_count(); ++plane) {
      if (instance->ports[plane] != &port) continue;
      instance->NoteLinkSpeed(plane);
      if (!instance->peers.own.SetPort(plane, up)) continue;
      OnPlaneChange(*instance, plane, PlaneDownReason::kLink, now);
    }
  }
}

void PlaneWatch::OnMute(const PortContext& port, Time now) {
  for (const auto& instance : lcore_.instances) {
    for (PlaneIndex plane = 0; plane < instance->map.plane_count(); ++plane) {
      if (instance->ports[plane] != &port) continue;
      for (PeerIndex peer = 0; peer < instance->peers.size(); ++peer) {
        PlaneSession& session = instance->peers.session(peer, plane);
        if (!session.up()) continue;
        session.RequestReply(now + instance->params.paths.hello_interval);
        lcore_.timers.ArmSession(instance->peers, peer, plane);
      }
    }
  }
}

// The port of a plane, or an operator's setting of the plane, has changed.
void PlaneWatch::OnPlaneChange(Instance& instance, PlaneIndex plane, PlaneDownReason reason,
                               Time now) {
  for (PeerIndex peer = 0; peer < instance.peers.size(); ++peer) {
    Effects effects;
    instance.peers[peer].health().OnPlaneChange(plane, reason, now, effects);
    effector_.Apply(instance, peer, effects);
  }
}

}  // namespace suede
