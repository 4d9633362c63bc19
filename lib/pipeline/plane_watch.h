// SPDX-License-Identifier: Apache-2.0
// The ports of planes: their links, and whether an operator has set them down (docs/planes.md).
// lib/peer decides the consequences for a peer. Owned by the lcore.
#ifndef SUEDE_PIPELINE_PLANE_WATCH_H_
#define SUEDE_PIPELINE_PLANE_WATCH_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "pipeline/effector.h"

namespace suede {

class PlaneWatch {
 public:
  // Both arguments outlive this object.
  PlaneWatch(Lcore& lcore, Effector& effector) : lcore_(lcore), effector_(effector) {}

  // Adds an instance, before the first poll iteration.
  void AddInstance(const OwnEnd& own) { watches_ |= own.has_sessions; }
  // Checks ports periodically; called once in a poll iteration.
  void Poll(Time now, Duration since_last_poll) {
    if (watches_ && now >= due_) Watch(now, since_last_poll);
  }
  // The port of a plane, or an operator's setting of the plane, has changed.
  void OnPlaneChange(Instance& instance, PlaneIndex plane, PlaneDownReason reason, Time now);
  // The neighbour of a port has long kept the port from sending acknowledgements and control PDUs:
  // checks soon whether other planes are alive, even if no PDU is in flight.
  void OnMute(const PortContext& port, Time now);

 private:
  void Watch(Time now, Duration since_last_poll);
  void ProbeFailedPlanes(Time now);
  void OnPause(Time now, Duration time);
  void OnPortChange(PortContext& port, bool up, Time now);

  Lcore& lcore_;
  Effector& effector_;
  bool watches_ = false;  // an instance has planes with sessions, which follow their ports
  Time due_{};
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_PLANE_WATCH_H_
